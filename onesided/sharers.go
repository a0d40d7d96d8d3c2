package onesided

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
)

// Sharers are the members of a communicator that can map the same memory, since they are on one machine. The first of
// them makes it, and the others find it by the number that it tells them.
type Sharers struct {
	On     coll.Comm        // these members, in their order
	Ranks  []int            // their ranks in the communicator
	World  []int32          // which processes they are
	First  int              // the local rank of the first of them
	Memory transport.Memory // of this process
	Spares *Spares          // of this process
}

// Map maps memory that the first of some members makes. Either all of them get it, or all an error. again says that it
// may be what an earlier window has left (spare.go): all members have left that.
func (s *Sharers) Map(bytes, align int, again bool) (Mapped, error) {
	if again {
		if m, more, err := s.try(bytes, align, true); !more {
			return m, err
		}
	}
	m, more, err := s.try(bytes, align, false)
	if more {
		m, _, err = s.try(bytes, align, false)
	}
	return m, err
}

// try is a try of Map. more: not all have found the memory, and the next try may have another way.
func (s *Sharers) try(bytes, align int, again bool) (m Mapped, more bool, err error) {
	id := []uint64{none, 0} // its number, and its serial number
	if s.On.Rank() == 0 {
		var hide func()
		m, id[0], hide, err = s.obtain(bytes, align, again)
		defer hide()
		id[1] = m.serial
	}
	if err := coll.Bcast(s.On, countBuf(id), 0); err != nil {
		return Mapped{}, false, err
	}
	if s.On.Rank() != 0 {
		m, err = s.find(bytes, align, id[0], id[1])
	}
	all, failed := AllWell(s.On, err)
	if failed == nil && all {
		if kept := id[0] == none; kept {
			n, i := len(m.Bytes), s.On.Rank()
			clear(m.Bytes[n*i/len(s.World) : n*(i+1)/len(s.World)])
		}
		return m, false, nil
	}
	if err == nil {
		m.Forget(s.Memory)
		err = fmt.Errorf("another process cannot map it")
	}
	if failed != nil {
		return Mapped{}, false, failed
	}
	return Mapped{}, true, err
}

// none is the number of memory that is kept, and no other's.
const none = ^uint64(0)

// obtain is memory for the first of some members: kept, if it may be, or new. hide ends what its number, by which the
// others find it, is good for; kept memory has the number none.
func (s *Sharers) obtain(bytes, align int, again bool) (m Mapped, number uint64, hide func(), err error) {
	if again {
		if kept, ok := s.Spares.take(s.World, bytes, align, 0); ok {
			return kept, none, func() {}, nil
		}
	}
	m = Mapped{members: s.World, serial: s.Spares.number(), align: align}
	if m.Bytes, number, err = s.Memory.Share(bytes, align); err != nil {
		return Mapped{}, none, func() {}, err
	}
	return m, number, func() { s.Memory.Hide(number) }, nil
}

// find is the same memory for another member.
func (s *Sharers) find(bytes, align int, number, serial uint64) (m Mapped, err error) {
	switch {
	case serial == 0:
		return m, fmt.Errorf("process %d has none", s.World[0])
	case number != none:
		m = Mapped{members: s.World, serial: serial, align: align}
		m.Bytes, err = s.Memory.Find(s.First, number, bytes, align)
		return m, err
	}
	m, ok := s.Spares.take(s.World, bytes, align, serial)
	if !ok {
		return m, fmt.Errorf("memory %d of process %d is not kept here", serial, s.World[0])
	}
	return m, nil
}

// AllWell says to all members whether none of them has an error.
func AllWell(on coll.Comm, err error) (bool, error) {
	mine, least := []uint64{1}, []uint64{0}
	if err != nil {
		mine[0] = 0
	}
	failed := coll.Allreduce(on, countBuf(mine), countBuf(least), op.Predefined(abi.MPI_MIN))
	return least[0] == 1, failed
}
