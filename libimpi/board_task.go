package libimpi

import (
	"cmp"
	"slices"

	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/transport/futex"
)

// Operations of tasks on boards. A task that has a boardOperation takes no steps of its own:
//
//	begin -> advance, until it is over or has to wait -> stands in Engine.onBoards: whoever polls advances it
//	     -> is over -> its messages, if there are any, are done -> the request is complete
//
// An operation that was recorded as several on a board, as long ones are (coll/pieces.go), gets the numbers and slots
// of all of them when it begins, so that all members give the same ones to what they begin afterwards; what comes later
// waits until its slots are free. Persistent operations stand in lanes. The engine's lock is held throughout.

// boardOperation is an operation of a task on a board.
type boardOperation interface {
	// begin begins it, each time that it is started.
	begin(e *Engine) error
	// advance goes on with it as far as the contributions of others are there, and reports whether it is over.
	advance() (over bool, err error)
	// leave ends what it has on the board after begin.
	leave()
	// longest is how many bytes its longest contribution has, if it takes a while; 0: it does not.
	longest() int64
}

// taskBoard is memory for a task's operation on a board, of any type, and its lane. Tasks keep it when they are idle.
type taskBoard struct {
	single   single
	exchange exchangeOnBoard
	pieces   pieces
	lane     board.Lane
}

// inBoard returns the memory, without what an earlier operation has left there.
func (t *Task) inBoard() *taskBoard {
	if t.memory == nil {
		t.memory = new(taskBoard)
	}
	return t.memory
}

// single is one operation, at a place or in a lane.
type single struct {
	t         *Task
	place     board.Place
	operation collboard.Operation
	laid      collboard.Operation // what it is before it begins; of a lane
	inLane    bool
}

// onBoard makes the task an operation on the board of its communicator.
func (t *Task) onBoard(o *collboard.Operation) {
	s := &t.inBoard().single
	s.t, s.operation, s.inLane = t, *o, false
	t.board = s
}

// inLane makes the task an operation in a lane of a board that has room for one.
func (t *Task) inLane(b *commBoard, o *collboard.Operation) error {
	m := t.inBoard()
	if err := m.lane.Open(&b.Board, o.Most()); err != nil {
		return err
	}
	s := &m.single
	if s.t, s.laid, s.inLane = t, *o, true; b.lay != nil {
		m.lane.CountIn(b.lay(m.lane.Memory, &s.laid))
	}
	t.board = s
	return nil
}

func (s *single) begin(e *Engine) error {
	if s.inLane {
		s.operation = s.laid
		s.t.memory.lane.Begin(s.operation.Most())
		return nil
	}
	s.t.comm.tasks.once.takeBack(s.t) // its number is the board's, as that of those that C has carried out
	s.place.Enter(&s.t.comm.board.Board, s.operation.Most())
	return nil
}

func (s *single) advance() (over bool, err error) {
	if s.inLane {
		return s.t.memory.lane.Run(&s.operation)
	}
	return s.operation.Run(&s.place)
}

func (s *single) leave() {
	if !s.inLane {
		s.place.Leave()
	}
}

func (s *single) longest() int64 { return 0 }

// pieces is an operation that was recorded as several. It goes on after an error, as the others expect.
type pieces struct {
	t         *Task
	place     board.Place
	operation collboard.Operation // under way
	inLane    bool
	begun     bool // there is one
	first     bool // none has begun
	err       error
}

// asPieces makes the task one of several operations on a board, if it has been recorded as such.
func (t *Task) asPieces() {
	if len(t.schedule.OnBoard()) > 0 {
		p := &t.inBoard().pieces
		p.t, p.inLane, t.board = t, t.form == coll.Persistent, p
	}
}

func (p *pieces) longest() (n int64) {
	all := p.t.schedule.OnBoard()
	for i := range all {
		n = max(n, all[i].Most())
	}
	return n
}

func (p *pieces) begin(e *Engine) error {
	p.t.schedule.Begin()
	p.begun, p.first, p.err = false, true, nil
	if p.inLane {
		return nil
	}
	b := &p.t.comm.board
	if err := b.ReserveFor(p.longest()); err != nil {
		return err
	}
	p.place.EnterAll(&b.Board, p.t.schedule.OnBoard())
	return nil
}

func (p *pieces) advance() (over bool, err error) {
	for {
		st, err := p.t.schedule.Next()
		switch {
		case err != nil:
		case st == nil:
			return true, p.err
		case st.Kind == coll.StepBoard:
			if over, err = p.operate(st); !over {
				return false, nil
			}
		default:
			err = st.Do()
		}
		p.err = cmp.Or(p.err, err)
		p.t.schedule.Took()
	}
}

// operate goes on with the operation of a step, and reports whether it is over.
func (p *pieces) operate(st *coll.Step) (over bool, err error) {
	l := &p.t.memory.lane
	if !p.begun {
		if p.operation = p.t.schedule.OnBoard()[st.Req]; p.inLane {
			l.Begin(p.operation.Most())
		} else if !p.first {
			p.place.Next()
		}
		p.begun, p.first = true, false
	}
	if p.inLane {
		over, err = l.Run(&p.operation)
	} else {
		over, err = p.operation.Run(&p.place)
	}
	p.begun = !over
	return over, err
}

func (p *pieces) leave() {
	if !p.inLane {
		p.place.Leave()
	}
}

// exchangeOnBoard is an exchange (coll.Exchange): one of the v-forms, or with neighbors. Blocks that do not stand on
// the board are messages of the task, which start as soon as the exchange finds that they are needed, and which the
// task awaits after it.
type exchangeOnBoard struct {
	coll.Exchange
	*collective
	t        *Task
	place    board.Place
	receives []*Request // by coll.Req, as far as they are under way
}

// exchanges makes the task an exchange, and returns it for the caller to say which one.
func (t *Task) exchanges() *coll.Exchange {
	x := &t.inBoard().exchange
	x.t, x.collective, x.receives = t, &t.comm.ops, x.receives[:0]
	t.board = x
	return &x.Exchange
}

func (x *exchangeOnBoard) begin(e *Engine) error {
	x.t.comm.tasks.once.takeBack(x.t)
	x.place.Enter(&x.t.comm.board.Board, collboard.AnyLength)
	return nil
}

func (x *exchangeOnBoard) advance() (over bool, err error) { return x.Run(x, &x.place) }
func (x *exchangeOnBoard) leave()                          { x.place.Leave() }
func (x *exchangeOnBoard) longest() int64                  { return 0 }

// exchangeTags are added to the tags of their messages: a task of another kind may have the same number.
const exchangeTags = 1 << (taskTagBits - 1)

// step is the step that starts a message.
func (x *exchangeOnBoard) step(b coll.Buf, peer, tag int) *coll.Step {
	number := int(x.place.Number()%mostTasks) + 1
	return &coll.Step{Peer: int32(peer), Tag: int32(tag + exchangeTags + number<<taskTagBits),
		Req: coll.Req(len(x.t.parts)), A: b}
}

// Isend implements coll/board.Messages, as the following do.
func (x *exchangeOnBoard) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	st := x.step(b, to, tag)
	x.t.send(x.c.engine, st)
	return st.Req, nil
}

// Irecv starts to receive a block.
func (x *exchangeOnBoard) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	st := x.step(b, from, tag)
	for len(x.receives) < int(st.Req) {
		x.receives = append(x.receives, nil)
	}
	x.receives = append(x.receives, x.t.receive(x.c.engine, st))
	return st.Req, nil
}

// Withdraw takes a receive back.
func (x *exchangeOnBoard) Withdraw(id coll.Req) bool {
	if x.t.parts[id] == partDone || !x.receives[id].isPosted() {
		return false
	}
	x.c.engine.withdraw(x.receives[id])
	return true
}

// beginOnBoard begins a task's operation on a board. The contributions of others that start a persistent one at about
// the same time are worth a few looks, since what follows otherwise takes longer.
func (t *Task) beginOnBoard(e *Engine) {
	t.parts, t.special = t.parts[:0], t.special[:0]
	if err := t.board.begin(e); err != nil {
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

// advanceOnBoard goes on with a task's operation on a board, and reports whether that is over. Its messages may not be.
func (t *Task) advanceOnBoard(e *Engine) bool {
	over, err := t.board.advance()
	if !over {
		return false
	}
	t.note(err)
	t.note(t.err)
	t.board.leave()
	t.missing = 0
	for i := range t.parts {
		t.await(&t.parts[i])
	}
	if t.missing == 0 || t.first != nil {
		t.end(e, t.first)
	}
	return true
}

// leaveBoard gives the operation of a task on a board up.
func (t *Task) leaveBoard(e *Engine) {
	t.board.leave()
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
