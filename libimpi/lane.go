package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Lanes: where persistent operations meet on their communicator's board. Members may start those in different orders
// (MPI 5.0, 6.13), so that they cannot have the numbers of the board's other operations. They get a lane each when
// they are made, which all members do in the same order: each member gives the lanes alike, and asks nobody. A lane
// stays its operation's, since members free requests when they like. When the room for lanes is used up, operations go
// by messages. A lane has as much memory as the parts of its operation need (transport/shm/layout.go). An operation of
// several turns, as a long one has (board_long.go), takes them in its lane one after the other, as if each were a
// start.
//
//	X_init    -> takes a lane, and keeps its turn
//	MPI_Start -> C carries a simple one out (gobridge/executor/board.h), or has done nothing that matters
//	          -> the turn goes on as far as the parts of this start are there -> stands in Engine.onBoards, as the
//	          nonblocking ones -> the request is complete
//
// A lane is some slots at each member, which turns use one after the other. Each member publishes one in each turn, an
// empty part if it has none. A turn is complete before the next one begins: so a member that sees turn n of all others
// knows that they have completed turn n-1, and may write its slot of that anew.

// lane is a persistent operation's (coll.Board). It never blocks.
type lane struct {
	*commBoard // nil: the operation has none
	mem        transport.Lane
	slots      uint64
	shift      uint      // bits of the length in a slot's word
	laid       coll.Turn // the turn before it begins, if there is one at each start
	starts     *uint64   // how many turns there were, and the one under way
	known      *uint64   // all others have published so many, as far as is known
	shown      bool      // the part of the one under way
	pieces     bool      // turns are those of a schedule
	inC        LaidLane
}

func (v Collectives) persistent() bool { return v.task != nil && v.task.form == coll.Persistent }

// laneSeating is what the members have for the next long operation that is persistent. All of them call it.
func (c *Comm) laneSeating() coll.Seating {
	s := c.seating()
	if s.Part == 0 {
		return s
	}
	// If all turns are shorter than a piece, a lane has more slots, and may be longer.
	for _, n := range []int64{s.Part, s.Part - transport.LanePage, longestOnBoard} {
		if !c.board.hasLane(n) {
			s.Part = 0
			break
		}
	}
	return s
}

// hasLane reports whether there is a lane for one more operation, whose parts have at most n bytes. All members find
// the same.
func (b *commBoard) hasLane(n int64) bool { return b.shared.LaneEnd(b.laneBytes, n) >= 0 }

// takeLane gives a task the next lane, for parts of at most n bytes, for which there is room.
func (t *Task) takeLane(b *commBoard, n int64) (*lane, error) {
	at := b.laneBytes
	b.laneBytes = b.shared.LaneEnd(at, n)
	mem, err := b.shared.OpenLane(at, n)
	if err != nil {
		return nil, err
	}
	slots, _, shift := mem.Slots()
	t.lane = lane{commBoard: b, mem: mem, slots: uint64(slots), shift: shift, starts: new(uint64), known: new(uint64)}
	return &t.lane, nil
}

// countIn has C start the operation, if it has been laid out, which then counts.
func (l *lane) countIn(laid LaidLane) {
	if l.inC = laid; laid.At != 0 {
		l.starts, l.known = laid.Starts, laid.Known
	}
}

// letGo gives up what C has of the lane, if there is one.
func (l *lane) letGo() {
	if l.inC.Free != nil {
		l.inC.Free()
	}
}

// enterLane begins the next start of a task. The parts of others that start at about the same time are worth a few
// looks, since what follows otherwise takes longer. Engine lock held.
func (t *Task) enterLane(e *Engine) {
	t.err, t.first = nil, nil
	switch n := t.schedule.Turns(); {
	case n > 0:
		t.schedule.Begin()
		t.pieces = taskPieces{left: n}
		t.request.mem.size = t.longest
		e.bringOn(t.request)
	default:
		t.turn = t.lane.laid
		t.lane.Begin(t.turn.Most())
	}
	looks := laneLooks
	if e.waiting.patient.Load() || e.shared.UnderWay > 1 {
		looks = 0
	}
	for ; !t.goOnBoard(e); looks-- {
		if looks == 0 {
			e.collectives.onBoards = append(e.collectives.onBoards, t)
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

// goOnLane goes on with the turn of a task, and reports whether it is over. Engine lock held.
func (t *Task) goOnLane(e *Engine) bool {
	over, err := t.lane.run(&t.turn)
	if over {
		t.end(e, err)
	}
	return over
}

// run goes on with a turn, and reports whether it is over.
func (l *lane) run(t *coll.Turn) (over bool, err error) {
	if !l.shown && !t.Shows() {
		if mem, _ := l.Put(0); mem == nil {
			return false, nil
		}
		l.Publish(0)
	}
	return t.Run(l)
}

// slot is a member's of a turn.
func (l *lane) slot(member int, turn uint64) (word *uint64, payload []byte) {
	return l.mem.Slot(member, int(turn&(l.slots-1)))
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
	if starts := *l.starts; starts > *l.known+l.slots-1 && !l.haveStarted(starts+1-l.slots) {
		return nil, nil
	}
	_, mem := l.slot(l.Rank(), *l.starts)
	if n > int64(len(mem)) {
		return nil, errorf(abi.MPI_ERR_TRUNCATE, "this rank has %d bytes, and the operation is one of at most %d", n,
			len(mem))
	}
	return mem, nil
}

// haveStarted reports whether all others have published so many starts, and notes how many.
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

// word is what the word of a turn's slot is at least.
func (l *lane) word(turn uint64) uint64 { return turn << l.shift }

// Publish implements coll.Board.
func (l *lane) Publish(n int64) {
	word, _ := l.slot(l.Rank(), *l.starts)
	futex.Release64(word, l.word(*l.starts)|uint64(n))
	l.shown = true
	l.wake()
	if l.pieces {
		l.alertOthers()
	}
}

// Fail implements coll.Board: it shows that there is no part.
func (l *lane) Fail(error) { l.Publish(1<<l.shift - 1) }

// Get implements coll.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (l *lane) Get(rank int) ([]byte, error) {
	word, mem := l.slot(rank, *l.starts)
	there := l.word(*l.starts)
	got := atomic.LoadUint64(word)
	switch {
	case got < there:
		return nil, nil
	case got == there|(1<<l.shift-1):
		return nil, errorf(abi.MPI_ERR_OTHER, "rank %d has failed in the operation, on %s", rank, l.c)
	}
	return mem[:min(got-there, uint64(len(mem)))], nil
}
