package fake

import (
	"fmt"
	"sync"
)

// memory is what the processes of a World share, as all of them are one process.
type memory struct {
	sync.Mutex
	parts map[uint64][]byte
	last  uint64
}

// Share implements transport.Memory.
func (p *proc) Share(n, align int) (mem []byte, id uint64, err error) {
	m := &p.w.memory
	m.Lock()
	defer m.Unlock()
	if m.parts == nil {
		m.parts = map[uint64][]byte{}
	}
	m.last++
	mem = aligned(n, align)
	m.parts[m.last] = mem
	return mem, m.last, nil
}

// Hide implements transport.Memory.
func (p *proc) Hide(id uint64) {
	m := &p.w.memory
	m.Lock()
	defer m.Unlock()
	delete(m.parts, id)
}

// Find implements transport.Memory.
func (p *proc) Find(local int, id uint64, n, align int) ([]byte, error) {
	m := &p.w.memory
	m.Lock()
	defer m.Unlock()
	if mem := m.parts[id]; len(mem) == n {
		return mem, nil
	}
	return nil, fmt.Errorf("fake: no memory %d of %d bytes", id, n)
}

// Forget implements transport.Memory.
func (p *proc) Forget([]byte) {}

// Ring implements transport.Memory.
func (p *proc) Ring(local int) { p.w.procs[p.world[local]].Wake() }
