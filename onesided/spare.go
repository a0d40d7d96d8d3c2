package onesided

import (
	"slices"
	"sync"

	"github.com/libimpi/libimpi/transport"
)

// Memory of freed windows, for the next ones of the same members and length: to make, map and fill memory anew takes
// longer than all else that a short window does.
//
// MPI_Win_free keeps the mapping at all members. When the next window is made, the first member, which has made the
// memory, looks among what it keeps. The others find theirs by the number that it tells, or say that they have none:
// they have let go of it, or another thread of theirs is still in MPI_Win_free, and waits at words in that memory. Then
// all make new memory. If all of them keep it, each clears a piece, so that it is as new.

// Mapped is memory that some members of a machine map.
type Mapped struct {
	Bytes   []byte  // nil: there is none
	members []int32 // the first of them has made it
	serial  uint64  // the number that it has given it
	align   int     // its address is a multiple of that
}

// Forget gives memory back to the system, if it is any.
func (m Mapped) Forget(memory transport.Memory) {
	if m.Bytes != nil {
		memory.Forget(m.Bytes)
	}
}

// Spares are those of a process that nobody uses.
type Spares struct {
	mu   sync.Mutex // guards what follows
	kept []Mapped   // the oldest first
	made uint64
}

const (
	mostSpares = 4
	spareBytes = 1 << 20 // of the longest
)

// number gives out a serial number. None is 0.
func (s *Spares) number() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return s.made
}

// take finds memory of some members that is so long and aligned, with a serial number; 0: any.
func (s *Spares) take(members []int32, bytes, align int, serial uint64) (Mapped, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(m Mapped) bool {
		return len(m.Bytes) == bytes && m.align >= align && (serial == 0 || m.serial == serial) &&
			slices.Equal(m.members, members)
	})
	if i < 0 {
		return Mapped{}, false
	}
	m := s.kept[i]
	s.kept = slices.Delete(s.kept, i, i+1)
	return m, true
}

// keep takes memory that is used no more, and returns what there is no room for.
func (s *Spares) keep(m Mapped) (out Mapped) {
	if len(m.Bytes) > spareBytes {
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

// Release gives up all that is kept.
func (s *Spares) Release(memory transport.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.kept {
		m.Forget(memory)
	}
	s.kept = nil
}
