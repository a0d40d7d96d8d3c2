package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Boards: memory of a machine on which the members of a communicator meet for short collective operations. Simple
// ones the bridge's C carries out there (gobridge/executor/board.h), the others package coll; both follow one protocol
// (transport/shm/layout.go) and share the counters of operations. Which operations take place on the board is decided
// by what is the same at all members.
//
//	blocking    -> its turn is carried out at once, after all others that the member has begun
//	nonblocking -> gets its number, and goes on as far as parts are there -> stands in Engine.onBoards: whoever polls
//	               goes on with it -> its request is complete
//
// While nonblocking ones are under way the engine's lock guards the board, and C leaves it alone. A member's `done`
// is the number of its oldest unfinished operation minus 1. No nonblocking operation opens a board: so all
// members know alike which others may use it. Persistent ones have places of their own there (lane.go).

// BoardCounters are what a member has to remember of a board.
type BoardCounters struct {
	Begun *uint64 // operations that this member has begun
	Known *uint64 // all members have completed so many, as far as is known
	Tasks *uint32 // how many nonblocking ones are under way
	Left  *uint64 // the last one that C has begun and left to the engine

	WideUsers []uint64 // the last one to use each wide slot

	// Lay makes a plan of a persistent operation's turn, by which C may start it; nil: nothing is for C.
	Lay func(lane transport.Lane, turn *coll.Turn) LaidLane
}

// LaidLane is what C has of a lane. It counts there, too.
type LaidLane struct {
	At     uint64  // the address; 0: C does not start the operation
	Starts *uint64 // how many there were, and the one that the engine has under way
	Known  *uint64 // all others have published so many, as far as is known
	Free   func()
}

// commBoard is a communicator's board.
type commBoard struct {
	c      *Comm
	shared transport.Board
	BoardCounters
	local []int32 // local ranks of the members
	none  bool    // there is none, for good

	laneBytes int // of the memory for lanes that are given: each member gives them alike

	blocking boardPlace    // of the blocking operation under way
	exchange coll.Exchange // likewise, if it is one
	tasks    []*Task       // nonblocking ones under way, by their numbers

	pieceUsers []uint64 // the last operation to use each place for pieces; nil: there is no memory for them yet
}

// MayHaveBoard reports whether the communicator can have a board: each member gets the same answer, without a message.
func (c *Comm) MayHaveBoard() bool {
	n := c.group.Size()
	boards := c.engine.home.Boards
	if boards == nil || c.engine.collectives.verifies.Load() || c.inter.local != nil || n < 2 ||
		n > boards.BoardMembers() {
		return false
	}
	for r := range n {
		if w := c.group.World(r); w != c.engine.me && c.engine.peer(w).local < 0 {
			return false
		}
	}
	return true
}

// OpenBoard finds a board for a communicator that may have one, and returns nil if all are taken, or a member cannot
// use one: well says whether this one can. It is a collective operation, and blocks until all have called it.
func (c *Comm) OpenBoard(well bool) (transport.Board, error) {
	number := []uint64{none}
	if c.rank == 0 {
		members := make([]int32, c.group.Size())
		for r := range members {
			members[r] = int32(c.engine.LocalRank(c.group.World(r)))
		}
		if taken := c.engine.home.Boards.TakeBoard(members); taken >= 0 {
			number[0] = uint64(taken)
		}
	}
	if err := coll.Bcast(&c.ops, countBuf(number), 0); err != nil || number[0] == none {
		return nil, err
	}
	board, failed := c.engine.home.Boards.OpenBoard(int(number[0]))
	mine, all := []uint64{0}, []uint64{0}
	if well && failed == nil {
		mine[0] = 1
	}
	err := coll.Allreduce(&c.ops, countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MIN))
	if err == nil && all[0] == 1 {
		c.board.shared = board
		return board, nil
	}
	if failed == nil {
		board.Leave()
	}
	return nil, err
}

// UseBoard makes the board that OpenBoard has answered the one of the communicator's operations. If there is none, or
// UseBoard is not called, they go by messages.
func (c *Comm) UseBoard(counters BoardCounters) {
	b := &c.board
	b.c, b.BoardCounters = c, counters
	b.blocking = boardPlace{commBoard: b, waits: true}
	b.local = make([]int32, c.group.Size())
	for r := range b.local {
		b.local[r] = int32(c.engine.LocalRank(c.group.World(r)))
	}
}

// NewBoardCounters are those of a member whose operations the engine alone carries out.
func NewBoardCounters(board transport.Board) BoardCounters {
	slots, _, _ := board.Slots(true)
	return BoardCounters{Begun: new(uint64), Known: new(uint64), Tasks: new(uint32), Left: new(uint64),
		WideUsers: make([]uint64, slots)}
}

// NoBoard ends the operations on the communicator's board, before the memory of its counters goes. It returns when
// those under way are done: all members have begun them, or do so before they come here.
func (c *Comm) NoBoard() {
	b, e := &c.board, c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	b.awaitTasks()
	for len(b.tasks) > 0 { // a peer is lost
		t := b.tasks[0]
		t.leaveBoard(e)
		t.end(e, e.failure())
	}
	b.BoardCounters, b.none = BoardCounters{}, true
}

// boardFor returns the board for an operation with parts of so many blocks of n bytes, nil if it does not take place on
// one.
func (v Collectives) boardFor(n int64, blocks int) (*commBoard, error) {
	if n <= 0 || n > longestOnBoard/int64(blocks) {
		return nil, v.openForPieces(n)
	}
	return v.board(n * int64(blocks))
}

// board is boardFor an operation that is short enough, with parts of n bytes.
func (v Collectives) board(n int64) (*commBoard, error) {
	b, err := v.opened()
	if b != nil && v.persistent() && !b.hasLane(n) {
		return nil, err
	}
	return b, err
}

// opened returns the board. Where nobody knows yet whether there is one, it is opened, by an operation that may wait
// for the other members: not by a nonblocking one.
func (v Collectives) opened() (*commBoard, error) {
	c := v.c
	if c.engine.collectives.noBoards.Load() {
		return nil, nil
	}
	if v.task != nil && !v.persistent() {
		if c.board.Begun == nil {
			return nil, nil
		}
		return &c.board, nil
	}
	if c.board.none {
		return nil, nil
	}
	if c.board.Begun == nil {
		if c.Bridge == nil || c.engine.collectives.openBoard == nil {
			return nil, nil
		}
		if !c.MayHaveBoard() {
			c.board.none = true
			return nil, nil
		}
		if err := c.engine.collectives.openBoard(c); err != nil {
			return nil, err
		}
		if c.board.Begun == nil {
			c.board.none = true
			return nil, nil
		}
	}
	return &c.board, nil
}

// boardForVector is boardFor a reduction of a vector, whose elements have no gaps. Progress calls no functions of the
// program, so that nonblocking ones with an operation of its own go by messages.
func (v Collectives) boardForVector(vector coll.Buf, op coll.Op) (*commBoard, error) {
	if vector.Count == 0 || !vector.Type.Dense() {
		return nil, nil
	}
	board, err := v.boardFor(vector.Size(), 1)
	if board != nil && v.task != nil && op.OfProgram() {
		return nil, nil
	}
	return board, err
}

// onBoard carries out an operation's turn, or leaves it to the task.
func (v Collectives) onBoard(b *commBoard, t *coll.Turn) error {
	switch {
	case v.task == nil:
		return t.Do(&b.blocking)
	case v.persistent():
		l, err := v.task.takeLane(b, t.Most())
		if err != nil {
			return err
		}
		if l.laid = *t; b.Lay != nil {
			l.countIn(b.Lay(l.mem, &l.laid))
		}
		return nil
	}
	v.task.turn, v.task.place = *t, boardPlace{commBoard: b}
	return nil
}

// twoOnBoard is onBoard for an operation of two turns. The second one takes place after an error in the first one, too,
// as the others expect.
func (v Collectives) twoOnBoard(b *commBoard, first, second *coll.Turn) error {
	if v.task == nil {
		err := first.Do(&b.blocking)
		if later := second.Do(&b.blocking); err == nil {
			err = later
		}
		return err
	}
	on := &v.task.sides[0].on
	if err := on.Turn(first); err != nil {
		return err
	}
	return on.Turn(second)
}

// longestOnBoard is the largest part but of a piece, in bytes, of an operation on a board.
const longestOnBoard = 16 << 10

// Rank implements coll.Board.
func (b *commBoard) Rank() int { return int(b.c.rank) }

// Size implements coll.Board.
func (b *commBoard) Size() int { return len(b.local) }

// mayBlock gives what is under way its turn, and returns when no operation of this board is.
func (b *commBoard) mayBlock() {
	e := b.c.engine
	if e.shared.hasWork() {
		e.Turn()
	}
	if atomic.LoadUint32(b.Tasks) > 0 {
		e.mu.Lock()
		b.awaitTasks()
		e.mu.Unlock()
	}
}

// awaitTasks returns when no nonblocking operation of the board is under way, or a peer is lost. Engine lock held.
func (b *commBoard) awaitTasks() {
	if len(b.tasks) > 0 {
		b.c.engine.waitFor(func() bool { return len(b.tasks) == 0 }, anyPeer)
	}
}

// haveDone reports whether all members have completed so many operations.
func (b *commBoard) haveDone(least uint64) bool {
	known := ^uint64(0)
	for r := range b.local {
		known = min(known, atomic.LoadUint64(b.shared.Done(r)))
	}
	*b.Known = known
	return known >= least
}

// allDone waits until all members have completed so many operations, fewer than this one has.
func (b *commBoard) allDone(least uint64) error {
	for r := range b.local {
		if err := b.await(b.shared.Done(r), least); err != nil {
			return err
		}
	}
	b.haveDone(least)
	return nil
}

// await returns when a word of the board is at least so large that rises in any case.
func (b *commBoard) await(word *uint64, least uint64) error {
	if b.finds(word, least) {
		return nil
	}
	return b.c.engine.AwaitWord(word, least)
}

// finds looks a few times whether a word of the board is at least so large.
func (b *commBoard) finds(word *uint64, least uint64) bool {
	if atomic.LoadUint64(word) >= least {
		return true
	}
	e := b.c.engine
	b.wake()
	patient, looks := e.waiting.patient.Load(), boardLooks
	if patient {
		looks = patientLooks
	}
	for ; looks > 0 && !e.shared.hasWork(); looks-- {
		if patient {
			kernel.Yield()
		} else {
			futex.Pause(1)
		}
		if atomic.LoadUint64(word) >= least {
			return true
		}
	}
	return false
}

// boardLooks is how often a word is looked at before the engine waits, which costs a lock and polls; patientLooks is
// the same where each look is a turn of the core's.
const (
	boardLooks   = 500
	patientLooks = 32
)

// enterBoard begins the turn of a task. Engine lock held.
func (t *Task) enterBoard(e *Engine) {
	b := t.place.commBoard
	b.c.tasks.once.takeBack(t) // its number is the board's, as that of those that C has carried out
	b.beginAgain()
	if t.exchanges {
		t.place.Begin(coll.AnyLength)
	} else {
		t.place.Begin(t.turn.Most())
	}
	b.enter(t)
	if !t.goOnBoard(e) {
		e.collectives.onBoards = append(e.collectives.onBoards, t)
	}
}

// beginAgain lets the operation that begins be the one that C has left, if there is one: it shows the same part.
func (b *commBoard) beginAgain() {
	if *b.Left > 0 && *b.Left == *b.Begun {
		*b.Left, *b.Begun = 0, *b.Begun-1
	}
}

// enter notes that a task is under way, the last one to begin.
func (b *commBoard) enter(t *Task) {
	b.tasks = append(b.tasks, t)
	atomic.StoreUint32(b.Tasks, uint32(len(b.tasks)))
}

// goOnBoard goes on with the turn of a task, and reports whether it is over. Engine lock held.
func (t *Task) goOnBoard(e *Engine) bool {
	if t.pieces.left > 0 {
		t.advance(e)
		return t.pieces.left == 0
	}
	if t.lane.commBoard != nil {
		return t.goOnLane(e)
	}
	if t.exchanges {
		return t.goOnExchange(e)
	}
	over, err := t.turn.Run(&t.place)
	if over {
		t.leave()
		t.end(e, err)
	}
	return over
}

// leave ends the turn of a task.
func (t *Task) leave() {
	b := t.place.commBoard
	i := slices.Index(b.tasks, t)
	b.tasks = slices.Delete(b.tasks, i, i+1)
	t.place.End()
	atomic.StoreUint32(b.Tasks, uint32(len(b.tasks)))
}

// leaveBoard gives the turn of a task up. Engine lock held.
func (t *Task) leaveBoard(e *Engine) {
	t.leave()
	if i := slices.Index(e.collectives.onBoards, t); i >= 0 {
		e.collectives.onBoards = slices.Delete(e.collectives.onBoards, i, i+1)
	}
}

// goOnBoards goes on with the turns of all tasks, and reports whether one is over. Engine lock held.
func (e *Engine) goOnBoards() bool {
	under := e.collectives.onBoards
	e.collectives.onBoards = e.collectives.onBoards[:0]
	for _, t := range under {
		if !t.goOnBoard(e) {
			e.collectives.onBoards = append(e.collectives.onBoards, t)
		}
	}
	clear(under[len(e.collectives.onBoards):])
	return len(e.collectives.onBoards) < len(under)
}

// wake wakes the members that sleep, after something was stored that they may wait for.
func (b *commBoard) wake() {
	for r, local := range b.local {
		if r != b.Rank() {
			b.shared.Wake(int(local))
		}
	}
}

// none is no board's number.
const none = ^uint64(0)

// leaveBoard gives the communicator's board up, if it has one. Nothing uses that any more.
func (c *Comm) leaveBoard() {
	if c.board.shared != nil {
		c.board.shared.Leave()
		c.board.shared = nil
	}
}

// awaitWord returns when a word of shared memory is at least so large, and reports whether it is, or when it is in vain
// to wait for that. It makes progress until then. Who raises the word, or is why it is in vain, rings this process's
// bell. Errors: a peer is lost.
func (e *Engine) awaitWord(word *uint64, least uint64, inVain func() bool) (raised bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitFor(func() bool { return atomic.LoadUint64(word) >= least || inVain() }, anyPeer)
	if raised = atomic.LoadUint64(word) >= least; raised || inVain() {
		return raised, nil
	}
	return false, e.failure()
}

// AwaitWord is awaitWord of a word that rises in any case.
func (e *Engine) AwaitWord(word *uint64, least uint64) error {
	_, err := e.awaitWord(word, least, func() bool { return false })
	return err
}

// Turn brings requests under way on, and waits for nothing.
func (e *Engine) Turn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	e.look()
}

// Crowded reports whether ranks outnumber the cores of this machine: a thread that spins keeps others from running.
func (e *Engine) Crowded() bool { return e.waiting.patient.Load() }
