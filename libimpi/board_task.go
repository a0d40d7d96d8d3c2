package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/transport/futex"
)

// Operations of tasks on boards. A task that has a boardOperation takes no steps of its own:
//
//	begin -> advance, until it is over or has to wait -> stands in Engine.onBoards: whoever polls advances it
//	     -> is over: the request is complete
//
// An operation that was recorded as several on a board, as long ones are (coll/pieces.go), gets the numbers and slots
// of all of them when it begins, so that all members give the same ones to what they begin afterwards; what comes later
// waits until its slots are free. Persistent operations stand in lanes. The engine's lock is held throughout.

// boardOperation is an operation of a task on a board.
type boardOperation interface {
	// begin begins it, each time that it is started.
	begin() error
	// advance goes on with it as far as the contributions of others are there, and reports whether it is over.
	advance() (over bool, err error)
	// leave ends what it has on the board after begin, and abandon does without telling the others.
	leave()
	abandon()
	// longest is how many bytes its longest contribution has.
	longest() int64
}

// taskBoard is memory for a task's operation on a board, and its lane. Tasks keep it when they are idle.
type taskBoard struct {
	recorded recorded
	lane     board.Lane
}

// recorded is one operation on a board, or several, with steps on the rank's own memory between them. It goes on after
// an error, as the others expect.
type recorded struct {
	t         *Task
	place     board.Place
	operation collboard.Operation // under way
	inLane    bool
	begun     bool // there is one
	first     bool // none has begun
	err       error
}

// asRecorded makes the task an operation on a board, if it has been recorded as such.
func (t *Task) asRecorded() *recorded {
	if len(t.schedule.OnBoard()) == 0 {
		return nil
	}
	if t.memory == nil {
		t.memory = new(taskBoard)
	}
	r := &t.memory.recorded
	r.t, r.inLane, t.board = t, false, r
	return r
}

// takeLane makes the task an operation in a lane, if it has been recorded as one on a board. There is room for it.
func (t *Task) takeLane() error {
	r, b := t.asRecorded(), &t.comm.board
	if r == nil {
		return nil
	}
	l := &t.memory.lane
	if err := l.Open(&b.Board, r.longest()); err != nil {
		t.board = nil
		return err
	}
	r.inLane = true
	if !t.schedule.IsOneOnBoard() || r.longest() > longestOnBoard {
		l.Long = true // C wakes no progress threads
	} else if b.lay != nil {
		l.CountIn(b.lay(l.Memory, &t.schedule.OnBoard()[0]))
	}
	return nil
}

func (r *recorded) longest() (n int64) {
	all := r.t.schedule.OnBoard()
	for i := range all {
		n = max(n, all[i].Most())
	}
	return n
}

func (r *recorded) begin() error {
	if lost := r.t.comm.losses.first; lost != nil {
		return lost
	}
	r.t.schedule.Begin()
	r.begun, r.first, r.err = false, true, nil
	if r.inLane {
		return nil
	}
	b := &r.t.comm.board
	r.t.comm.tasks.once.TakeBack(&r.t.numbered) // its number is the board's, as that of those that C has carried out
	if err := b.ReserveFor(r.longest()); err != nil {
		return err
	}
	r.place.Enter(&b.Board, r.t.schedule.OnBoard())
	return nil
}

func (r *recorded) advance() (over bool, err error) {
	for {
		st, err := r.t.schedule.Next()
		switch {
		case err != nil:
		case st == nil:
			return true, r.err
		case st.Kind == coll.StepBoard:
			if over, err = r.operate(st); !over {
				return false, nil
			}
		default:
			err = st.Do()
		}
		if r.err == nil {
			r.err = err
		}
		r.t.schedule.Took()
	}
}

// operate goes on with the operation of a step, and reports whether it is over.
func (r *recorded) operate(st *coll.Step) (over bool, err error) {
	l := &r.t.memory.lane
	if !r.begun {
		if r.operation = r.t.schedule.OnBoard()[st.Req]; r.inLane {
			l.Begin(r.operation.Most())
		} else if !r.first {
			r.place.Next()
		}
		r.begun, r.first = true, false
	}
	if r.inLane {
		over, err = l.Run(&r.operation)
	} else {
		over, err = r.operation.Run(&r.place)
	}
	r.begun = !over
	return over, err
}

func (r *recorded) leave() {
	if !r.inLane {
		r.place.Leave()
	}
}

// beginOnBoard begins a task's operation on a board. The contributions of others that start a persistent one at about
// the same time are worth a few looks, since what follows otherwise takes longer.
func (t *Task) beginOnBoard(e *Engine) {
	if err := t.board.begin(); err != nil {
		t.end(e, err)
		return
	}
	looks := 0
	if t.form == coll.Persistent {
		if t.request.mem.size = t.board.longest(); t.request.mem.size > 0 {
			e.bringOn(t.request)
		}
		if !e.waiting.patient.Load() && e.shared.UnderWay <= 1 {
			looks = laneLooks
		}
	}
	for ; !t.advanceOnBoard(e); looks-- {
		if looks == 0 {
			e.collectives.onBoards = append(e.collectives.onBoards, t)
			return
		}
		futex.Pause(1)
	}
	if t.form == coll.Persistent && t.err == nil {
		e.leaveToC(t.request)
	}
}

// laneLooks is as often as C looks for the contributions to a nonblocking operation (executor/board_run.h).
const laneLooks = 32

// advanceOnBoard goes on with a task's operation on a board, and reports whether it is over.
func (t *Task) advanceOnBoard(e *Engine) bool {
	over, err := t.board.advance()
	if over {
		t.board.leave()
		t.end(e, err)
	}
	return over
}

func (r *recorded) abandon() {
	if !r.inLane {
		r.place.Abandon()
	}
}

// leaveBoard gives the operation of a task on a board up, and abandonBoard does where a member is lost.
func (t *Task) leaveBoard(e *Engine) {
	t.board.leave()
	t.goneFromBoard(e)
}

func (t *Task) abandonBoard(e *Engine) {
	t.board.abandon()
	t.goneFromBoard(e)
}

func (t *Task) goneFromBoard(e *Engine) {
	if i := slices.Index(e.collectives.onBoards, t); i >= 0 {
		e.collectives.onBoards = slices.Delete(e.collectives.onBoards, i, i+1)
	}
}

// advanceOnBoards goes on with the operations of all tasks on boards, and reports whether one is over.
func (e *Engine) advanceOnBoards() bool {
	under := e.collectives.onBoards
	e.collectives.onBoards = e.collectives.onBoards[:0]
	for _, t := range under {
		if !t.advanceOnBoard(e) {
			e.collectives.onBoards = append(e.collectives.onBoards, t)
		}
	}
	clear(under[len(e.collectives.onBoards):])
	return len(e.collectives.onBoards) < len(under)
}
