package libimpi

import (
	"fmt"
	"slices"
	"sync"
)

// Memory of freed windows, for the next ones of the same members and length: to make, map and fill memory anew takes
// longer than all else that a short window does.
//
// MPI_Win_free keeps the mapping at all members. When the next window is made, the first member, which has made the
// memory, looks among what it keeps. The others find theirs by the number that it tells, or say that they have none:
// they have let go of it, or another thread of theirs is still in MPI_Win_free, and waits at words in that memory. Then
// all make new memory. If all of them keep it, each clears a piece, so that it is as new.

// mapped is memory that some members of a machine map.
type mapped struct {
	bytes   []byte
	members []int32 // the first of them has made it
	serial  uint64  // the number that it has given it
	align   int     // its address is a multiple of that
}

// spares are those that nobody uses, the oldest first.
type spares struct {
	mu   sync.Mutex
	kept []mapped
	made uint64
}

const (
	mostSpares = 4
	spareBytes = 1 << 20 // of the longest
)

// number gives out a serial number. None is 0.
func (s *spares) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return s.made
}

// take finds memory of some members that is so long and aligned, with a serial number; 0: any.
func (s *spares) take(members []int32, bytes, align int, serial uint64) (mapped, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(m mapped) bool {
		return len(m.bytes) == bytes && m.align >= align && (serial == 0 || m.serial == serial) &&
			slices.Equal(m.members, members)
	})
	if i < 0 {
		return mapped{}, false
	}
	m := s.kept[i]
	s.kept = slices.Delete(s.kept, i, i+1)
	return m, true
}

// keep takes memory that is used no more, and answers what there is no room for.
func (s *spares) keep(m mapped) (out mapped) {
	if len(m.bytes) > spareBytes {
		return m
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept = append(s.kept, m); len(s.kept) > mostSpares {
		out = s.kept[0]
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	return out
}

// unmap gives memory back to the system, if it is any.
func (e *Engine) unmap(m mapped) {
	if m.bytes != nil {
		e.home.Memory.Forget(m.bytes)
	}
}

// releaseSpares gives up all that is kept.
func (e *Engine) releaseSpares() {
	e.spares.mu.Lock()
	defer e.spares.mu.Unlock()
	for _, m := range e.spares.kept {
		e.unmap(m)
	}
	e.spares.kept = nil
}

// obtain is memory for the first of some members: kept, if it may be, or new. hide ends what its number, by which the
// others find it, is good for; kept memory has the number none.
func (c *Comm) obtain(members []int32, bytes, align int, again bool) (m mapped, number uint64, hide func(), err error) {
	e := c.engine
	if again {
		if kept, ok := e.spares.take(members, bytes, align, 0); ok {
			return kept, none, func() {}, nil
		}
	}
	m = mapped{members: members, serial: e.spares.number(), align: align}
	if m.bytes, number, err = e.home.Memory.Share(bytes, align); err != nil {
		return mapped{}, none, func() {}, err
	}
	return m, number, func() { e.home.Memory.Hide(number) }, nil
}

// find is the same memory for another member.
func (c *Comm) find(members []int32, bytes, align int, number, serial uint64) (m mapped, err error) {
	e := c.engine
	switch {
	case serial == 0:
		return m, fmt.Errorf("process %d has none", members[0])
	case number != none:
		m = mapped{members: members, serial: serial, align: align}
		m.bytes, err = e.home.Memory.Find(e.LocalRank(members[0]), number, bytes, align)
		return m, err
	}
	m, ok := e.spares.take(members, bytes, align, serial)
	if !ok {
		return m, fmt.Errorf("memory %d of process %d is not kept here", serial, members[0])
	}
	return m, nil
}
