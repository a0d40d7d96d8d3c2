package members

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/file"
)

// Space is what files find that are opened on a communicator. The members of the communicator change it alike.
type Space struct {
	mu     sync.Mutex // guards what follows
	all    []*Members
	idle   uint64 // which of them are not in use, as bits
	closed bool   // the communicator is freed
}

const (
	// mostKept is how many files may be open on a communicator that share what they need with later ones.
	mostKept = 62
	// keptMemory is how much of Memory a closed file leaves to the next one, in bytes of each member.
	keptMemory = 64 << 10
	// allWellBit is set in what members say when they look for idle ones, unless the call was refused.
	allWellBit = 1 << 63
)

// Take finds what a new file needs. All members of the communicator call it, and it blocks. refused is why this member
// cannot open a file, or nil: then nobody does, and all get an error.
func (s *Space) Take(on Comm, refused error) (*Members, error) {
	mine, made := s.offer(refused)
	idle := []uint64{mine}
	if on.Size() > 1 {
		if err := on.Allreduce(masks([]uint64{mine}), masks(idle), op.Predefined(abi.MPI_BAND)); err != nil {
			return nil, err
		}
	}
	if idle[0]&allWellBit == 0 {
		if refused == nil {
			refused = &file.Error{Class: abi.MPI_ERR_OTHER,
				Text: fmt.Sprintf("another process of %s calls it with wrong arguments", on)}
		}
		return nil, refused
	}
	if idle[0] &^= allWellBit; idle[0] != 0 {
		return s.use(bits.TrailingZeros64(idle[0])), nil
	}
	m, err := newMembers(on, s)
	if err != nil {
		return nil, err
	}
	if m.index = made; made == mostKept {
		m.index = notKept
		return m, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, m)
	return m, nil
}

// offer returns which are idle here, as bits, and how many there are.
func (s *Space) offer(refused error) (idle uint64, made int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused == nil {
		idle = s.idle | allWellBit
	}
	return idle, len(s.all)
}

// use takes those that are idle at all members.
func (s *Space) use(index int) *Members {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.all[index]
	s.idle &^= 1 << index
	if m.own.Rank() == 0 {
		m.pointer.reset()
	}
	return m
}

// keep makes members idle for a later file, and reports whether it does.
func (s *Space) keep(m *Members) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := m.index != notKept && !s.closed && m.own.Loss() == nil
	if keep {
		s.idle |= 1 << m.index
	}
	return keep
}

// Leave gives up what files may find on a communicator that is freed, but for those that are open.
func (s *Space) Leave() {
	s.mu.Lock()
	all, idle := s.all, s.idle
	s.all, s.idle, s.closed = nil, 0, true
	s.mu.Unlock()
	for _, m := range all {
		if idle&(1<<m.index) != 0 {
			m.discard()
		}
	}
}
