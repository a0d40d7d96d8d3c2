package board

import (
	"fmt"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Lane is where a persistent operation stands on its communicator's board (coll/board.Board). Members may start those
// in different orders (MPI 5.0, 6.13), so that they cannot have the numbers of the board's other operations. They get a
// lane each when they are made, which all members do in the same order: each member gives the lanes alike, and asks
// nobody. A lane stays its operation's, since members free requests when they like. When the room for lanes is used up,
// operations go by messages. A lane has as much memory as the contributions of its operation need
// (transport/shm/layout.go). An operation that consists of several, as a long one does, makes them in its lane one
// after the other, as if each were a start.
//
// A lane is some slots at each member, which are used one after the other. Each member publishes one in each round, an
// empty contribution if it has none. A round is complete before the next one begins: so a member that sees round n of
// all others knows that they have completed round n-1, and may write its slot of that anew. It never blocks, and is
// used under the engine's lock.
type Lane struct {
	*Board // nil: the operation has none
	Memory transport.Lane
	Long   bool // others' progress threads wait for what is published

	slots uint64
	shift uint // bits of the length in a slot's word
	shown bool // the contribution to the round under way
	inC   LaneInC
}

// LaneInC is what C has of a lane. It counts there, too.
type LaneInC struct {
	At     uint64  // the address; 0: C does not start the operation
	Starts *uint64 // how many rounds there were, and the one that Go has under way
	Known  *uint64 // all others have published so many, as far as is known
	Free   func()
}

// HasLane reports whether there is a lane for one more operation, whose contributions have at most n bytes. All members
// find the same.
func (b *Board) HasLane(n int64) bool { return b.shared.LaneEnd(b.laneBytes, n) >= 0 }

// LaneBytes is how much of the memory for lanes has been given.
func (b *Board) LaneBytes() int { return b.laneBytes }

// Open makes the lane the next one of a board, for contributions of at most n bytes, for which there is room.
func (l *Lane) Open(b *Board, n int64) error {
	at := b.laneBytes
	b.laneBytes = b.shared.LaneEnd(at, n)
	mem, err := b.shared.OpenLane(at, n)
	if err != nil {
		return err
	}
	slots, _, shift := mem.Slots()
	*l = Lane{Board: b, Memory: mem, slots: uint64(slots), shift: shift}
	l.inC.Starts, l.inC.Known = new(uint64), new(uint64)
	return nil
}

// CountIn lets C start the operation, and count, if it knows how.
func (l *Lane) CountIn(c LaneInC) {
	if c.At != 0 {
		l.inC = c
	}
}

// InC is the address of what C has of the lane; 0: nothing.
func (l *Lane) InC() uint64 { return l.inC.At }

// Close gives up what C has of the lane.
func (l *Lane) Close() {
	if l.inC.Free != nil {
		l.inC.Free()
	}
	*l = Lane{}
}

// Run goes on with an operation of a round that has begun, and reports whether it is over.
func (l *Lane) Run(o *board.Operation) (over bool, err error) {
	if !l.shown && !o.Shows() {
		if mem, _ := l.Put(0); mem == nil {
			return false, nil
		}
		l.Publish(0)
	}
	if over, err = o.Run(l); err != nil && !l.shown {
		l.publish(l.failed())
	}
	return over, err
}

// failed is the length that is said of a contribution that does not come.
func (l *Lane) failed() uint64 { return 1<<l.shift - 1 }

// at is where a member's contribution to a round stands.
func (l *Lane) at(member int, round uint64) (word *uint64, payload []byte) {
	return l.Memory.Slot(member, int(round&(l.slots-1)))
}

// Begin implements coll/board.Board.
func (l *Lane) Begin(int64) {
	*l.inC.Starts++
	l.shown = false
}

// End implements coll/board.Board.
func (l *Lane) End() {}

// Put implements coll/board.Board.
func (l *Lane) Put(n int64) ([]byte, error) {
	if round := *l.inC.Starts; round > *l.inC.Known+l.slots-1 && !l.haveStarted(round+1-l.slots) {
		return nil, nil
	}
	_, mem := l.at(l.rank, *l.inC.Starts)
	if n > int64(len(mem)) {
		return nil, &board.Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf(
			"this rank has %d bytes, and the operation is one of at most %d", n, len(mem))}
	}
	return mem, nil
}

// haveStarted reports whether all others have published so many rounds, and notes how many.
func (l *Lane) haveStarted(least uint64) bool {
	known := *l.inC.Starts - 1
	for r := range l.local {
		for ; r != l.rank; known-- {
			if word, _ := l.at(r, known); atomic.LoadUint64(word) >= known<<l.shift {
				break
			}
			if known == least {
				return false
			}
		}
	}
	*l.inC.Known = known
	return true
}

// Publish implements coll/board.Board.
func (l *Lane) Publish(n int64) { l.publish(uint64(n)) }

func (l *Lane) publish(length uint64) {
	word, _ := l.at(l.rank, *l.inC.Starts)
	futex.Release64(word, *l.inC.Starts<<l.shift|length)
	l.shown = true
	if l.wake(); l.Long {
		l.alert()
	}
}

// Get implements coll/board.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (l *Lane) Get(rank int) ([]byte, error) {
	word, mem := l.at(rank, *l.inC.Starts)
	there, got := *l.inC.Starts<<l.shift, atomic.LoadUint64(word)
	switch {
	case got < there:
		return nil, nil
	case got == there|l.failed():
		return nil, &board.Error{Class: abi.MPI_ERR_OTHER, Msg: fmt.Sprintf("rank %d has failed in the operation", rank)}
	}
	return mem[:min(got-there, uint64(len(mem)))], nil
}
