package onesided

import (
	"errors"
	"sync"

	"github.com/libimpi/libimpi/transport"
)

// segments is the memory that the processes of some machines share, as all of them are one process, and how much of it
// there is.
type segments struct {
	mu    sync.Mutex // guards all
	parts map[segment][]byte
	last  uint64
	made  int // how often memory was made
	open  int // mappings that nobody has forgotten

	foundFrom int // memory is found that was made from this time on; 0: all is
}

type segment struct {
	machine int
	id      uint64
}

func newSegments() *segments { return &segments{parts: map[segment][]byte{}} }

// memory is what a process of a machine sees of it.
type memory struct {
	*segments
	machine int
}

var _ transport.Memory = memory{}

// Share implements transport.Memory.
func (m memory) Share(n, align int) (mem []byte, id uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	m.made++
	m.open++
	mem = aligned(n, align)
	if m.made >= m.foundFrom {
		m.parts[segment{m.machine, m.last}] = mem
	}
	return mem, m.last, nil
}

// Hide implements transport.Memory.
func (m memory) Hide(id uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.parts, segment{m.machine, id})
}

// Find implements transport.Memory.
func (m memory) Find(_ int, id uint64, n, _ int) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mem := m.parts[segment{m.machine, id}]
	if len(mem) != n {
		return nil, errors.New("there is no such memory")
	}
	m.open++
	return mem, nil
}

// Forget implements transport.Memory.
func (m memory) Forget([]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open--
}

// Ring implements transport.Memory.
func (m memory) Ring(int) {}
