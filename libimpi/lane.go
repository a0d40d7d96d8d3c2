package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport/futex"
)

// Lanes: where persistent operations meet on their communicator's board. Members may start those in different orders
// (MPI 5.0, 6.13), so that they cannot have the numbers of the board's other operations. The first ones that are short
// enough get a lane each when they are made, which all members do in the same order, and so nobody is asked: a lane is
// counted, and never given a second time. Later ones go by messages. There are lanes for parts of a line, and fewer, of
// fewer slots, for longer ones (transport/shm/layout.go). How long the parts of an exchange are the members ask each
// other before (board_exchange.go).
//
//	X_init    -> takes a lane, and keeps its turn as it was laid out, or its exchange
//	MPI_Start -> C carries a simple one out (gobridge/executor/board.h), or has done nothing that matters
//	          -> the turn goes on as far as the parts of this start are there -> stands in Engine.onBoards, as the
//	          nonblocking ones -> the request is complete
//
// A lane is a few slots at each member, which starts use in turn. Each member publishes one at each start, an empty
// part if it has none. An operation is complete before it is started again: so a member that sees start n of all others
// knows that they have completed start n-1, and may write its slot of that anew.

// lane is a persistent operation's (coll.Board). It never blocks.
type lane struct {
	*commBoard               // nil: the operation has none
	laid       coll.Turn     // the turn before it begins
	settled    *coll.Settled // the exchange, if it is one
	number     int           // of the lane on the board
	long       bool          // it is one for long parts
	starts     *uint64       // how many there were, and the one under way
	known      *uint64       // all others have published so many, as far as is known
	shown      bool          // the part of the one under way
	inC        LaidLane
}

func (v Collectives) persistent() bool { return v.task != nil && v.task.form == coll.Persistent }

// lanes are how many were given to persistent operations.
type lanes struct{ short, long int }

// of answers the count of those for parts of at most n bytes.
func (l *lanes) of(long bool) *int {
	if long {
		return &l.long
	}
	return &l.short
}

// isLong says whether parts of at most n bytes are for a long lane.
func (b *commBoard) isLong(n int64) bool {
	_, _, bytes, _ := b.shared.Lanes(false)
	return n > int64(bytes)
}

// hasLane says whether there is a lane for one more operation, whose parts have at most n bytes.
func (b *commBoard) hasLane(n int64) bool {
	long := b.isLong(n)
	lanes, _, bytes, _ := b.shared.Lanes(long)
	return n <= int64(bytes) && *b.lanes.of(long) < lanes
}

// takeLane gives a task the next lane, for parts of at most n bytes.
func (t *Task) takeLane(b *commBoard, n int64) (*lane, error) {
	long := b.isLong(n)
	given := b.lanes.of(long)
	*given++ // whatever comes of it here
	l := &t.lane
	*l = lane{commBoard: b, number: *given - 1, long: long, starts: new(uint64), known: new(uint64)}
	if long {
		return l, b.shared.ReserveLong(l.number)
	}
	return l, nil
}

// countIn has C start the operation, if it has been laid out, which then counts.
func (l *lane) countIn(laid LaidLane) {
	if l.inC = laid; laid.At != 0 {
		l.starts, l.known = laid.Starts, laid.Known
	}
}

// letGo gives up what C has of the lane.
func (l *lane) letGo() {
	if l.inC.Free != nil {
		l.inC.Free()
	}
}

// enterLane begins the next start of a task. The parts of others that start at about the same time are worth a few
// looks, since what follows otherwise takes longer. Engine lock held.
func (t *Task) enterLane(e *Engine) {
	if t.err = nil; t.lane.settled != nil {
		t.lane.settled.Begin()
	} else {
		t.turn = t.lane.laid
	}
	t.lane.Begin(coll.AnyLength)
	looks := laneLooks
	if e.patient || e.shared.UnderWay > 1 {
		looks = 0
	}
	for ; !t.goOnLane(e); looks-- {
		if looks == 0 {
			e.onBoards = append(e.onBoards, t)
			return
		}
		futex.Pause(1)
	}
	if t.err == nil {
		e.leaveToC(t.request)
	}
}

// laneLooks is as often as C looks for the parts of a nonblocking operation (executor/board_run.h).
const laneLooks = 32

// goOnLane goes on with the turn of a task, and says whether it is over. Engine lock held.
func (t *Task) goOnLane(e *Engine) bool {
	l := &t.lane
	if l.settled != nil {
		over, err := l.settled.Run(l)
		if over {
			t.end(e, err)
		}
		return over
	}
	if !l.shown && !t.turn.Shows() {
		if mem, _ := l.Put(0); mem == nil {
			return false
		}
		l.Publish(0)
	}
	over, err := t.turn.Run(l)
	if over {
		t.end(e, err)
	}
	return over
}

// slot is a member's of a start.
func (l *lane) slot(member int, start uint64) (word *uint64, payload []byte) {
	_, slots, _, _ := l.shared.Lanes(l.long)
	return l.shared.Lane(l.long, member, l.number, int(start%uint64(slots)))
}

// Begin implements coll.Board.
func (l *lane) Begin(int64) {
	*l.starts++
	l.shown = false
}

// End implements coll.Board.
func (l *lane) End() {}

// Put implements coll.Board.
func (l *lane) Put(n int64) ([]byte, error) {
	_, slots, _, _ := l.shared.Lanes(l.long)
	if starts := *l.starts; starts > *l.known+uint64(slots)-1 && !l.haveStarted(starts+1-uint64(slots)) {
		return nil, nil
	}
	_, mem := l.slot(l.Rank(), *l.starts)
	if n > int64(len(mem)) {
		return nil, errorf(abi.MPI_ERR_TRUNCATE, "this rank has %d bytes, and the operation is one of at most %d", n,
			len(mem))
	}
	return mem, nil
}

// haveStarted says whether all others have published so many starts, and notes how many.
func (l *lane) haveStarted(least uint64) bool {
	known := *l.starts - 1
	for r := range l.local {
		for ; r != l.Rank(); known-- {
			if word, _ := l.slot(r, known); atomic.LoadUint64(word) >= l.word(known) {
				break
			}
			if known == least {
				return false
			}
		}
	}
	*l.known = known
	return true
}

// word is what the word of a start's slot is at least.
func (l *lane) word(start uint64) uint64 {
	_, _, _, shift := l.shared.Lanes(l.long)
	return start << shift
}

// Publish implements coll.Board.
func (l *lane) Publish(n int64) {
	word, _ := l.slot(l.Rank(), *l.starts)
	futex.Release64(word, l.word(*l.starts)|uint64(n))
	l.shown = true
	l.wake()
}

// Get implements coll.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (l *lane) Get(rank int) ([]byte, error) {
	word, mem := l.slot(rank, *l.starts)
	there := l.word(*l.starts)
	got := atomic.LoadUint64(word)
	if got < there {
		return nil, nil
	}
	return mem[:min(got-there, uint64(len(mem)))], nil
}
