package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/transport"
)

// Boards: memory of a machine on which the members of a communicator meet for short collective operations, and for
// pieces of long ones (package board). Here stands which operations take place there, which is decided by what is the
// same at all members.
//
//	blocking    -> is carried out at once, after all others that the member has begun
//	nonblocking -> gets its number, and goes on as far as contributions are there (board_task.go)
//
// No nonblocking operation opens a board: so all members know alike which others may use it. Persistent ones have
// lanes.

// What the bridge knows of boards and lanes.
type (
	BoardCounters = board.Counters
	LaneInC       = board.LaneInC
)

// NewBoardCounters are those of a member whose operations the engine alone carries out.
func NewBoardCounters(shared transport.Board) BoardCounters { return board.NewCounters(shared) }

// commBoard is a communicator's board.
type commBoard struct {
	board.Board
	shared transport.Board
	none   bool // there is none, for good

	operation collboard.Operation // memory for the one that begins
	exchange  coll.Exchange       // the blocking one under way

	// lay makes a plan of a persistent operation, by which C may start it; nil: nothing is for C.
	lay func(lane transport.Lane, o *collboard.Operation) LaneInC
}

// longestOnBoard is the largest contribution, in bytes, but of pieces.
const longestOnBoard = transport.BoardLongest

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

// localRanks are those of the members.
func (c *Comm) localRanks() []int32 {
	local := make([]int32, c.group.Size())
	for r := range local {
		local[r] = int32(c.engine.LocalRank(c.group.World(r)))
	}
	return local
}

// OpenBoard finds a board for a communicator that may have one, and returns nil if all are taken, or a member cannot
// use one: well says whether this one can. It is a collective operation, and blocks until all have called it.
func (c *Comm) OpenBoard(well bool) (transport.Board, error) {
	const none = ^uint64(0)
	number := []uint64{none}
	if c.rank == 0 {
		if taken := c.engine.home.Boards.TakeBoard(c.localRanks()); taken >= 0 {
			number[0] = uint64(taken)
		}
	}
	if err := coll.Bcast(&c.ops, countBuf(number), 0); err != nil || number[0] == none {
		return nil, err
	}
	opened, failed := c.engine.home.Boards.OpenBoard(int(number[0]))
	mine, all := []uint64{0}, []uint64{0}
	if well && failed == nil {
		mine[0] = 1
	}
	err := coll.Allreduce(&c.ops, countBuf(mine), countBuf(all), op.Predefined(abi.MPI_MIN))
	if err == nil && all[0] == 1 {
		c.board.shared = opened
		return opened, nil
	}
	if failed == nil {
		board.Abstain(opened, int(c.rank))
		c.engine.mu.Lock()
		defer c.engine.mu.Unlock()
		opened.Leave(c.dead()...)
	}
	return nil, err
}

// dead are the members that are lost, by rank. Engine lock held.
func (c *Comm) dead() (ranks []int) {
	for _, world := range c.losses.failed {
		if r := c.group.Rank(world); r != abi.MPI_UNDEFINED {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// UseBoard makes the board that OpenBoard has returned the one of the communicator's operations. If there is none, or
// UseBoard is not called, they go by messages. lay may be nil.
func (c *Comm) UseBoard(counters BoardCounters, lay func(lane transport.Lane, o *collboard.Operation) LaneInC) {
	c.board.Use((*boardEngine)(c), c.board.shared, int(c.rank), c.localRanks(), counters)
	c.board.lay = lay
}

// NoBoard ends the operations on the communicator's board, before the memory of its counters goes. It returns when
// those under way are done: all members have begun them, or do so before they come here.
func (c *Comm) NoBoard() {
	b, e := &c.board, c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if b.Is() {
		b.AwaitOthers()
	}
	for _, t := range slices.Clone(e.collectives.onBoards) {
		if t.comm == c && t.form != coll.Persistent { // a peer is lost
			t.leaveBoard(e)
			t.end(e, c.failure())
		}
	}
	b.Counters, b.none = BoardCounters{}, true
}

// leaveBoard gives the communicator's board up, if it has one. Nothing uses that any more. Engine lock held.
func (c *Comm) leaveBoard() {
	if c.board.shared != nil {
		c.board.shared.Leave(c.dead()...)
		c.board.shared = nil
	}
}

// AwaitOnBoard waits for C until a word of the board is at least so large, and reports whether it is: not if it is that
// of a contribution which does not come.
func (c *Comm) AwaitOnBoard(word *uint64, least uint64) (is bool, err error) {
	return c.board.AwaitForC(word, least)
}

// seating is what the members have for long operations.
func (c *Comm) seating() coll.Seating {
	s := coll.Seating{Crowded: c.seats.crowded, TwoCores: c.seats.twoCores}
	if c.board.Is() && !c.engine.collectives.noBoards.Load() {
		s.Part = c.board.Longest()
	}
	return s
}

// laneSeating is what the members have for the next long operation that is persistent. All of them call it.
func (c *Comm) laneSeating() coll.Seating {
	s := c.seating()
	if s.Part == 0 {
		return s
	}
	// If all operations are shorter than a piece, a lane has more slots, and may be longer.
	for _, n := range []int64{s.Part, s.Part - transport.LanePage, longestOnBoard} {
		if !c.board.HasLane(n) {
			s.Part = 0
			break
		}
	}
	return s
}

// Board implements coll.Boarded.
func (k *collective) Board() coll.Seating { return k.c.seating() }

// Operate implements coll.Boarded.
func (k *collective) Operate(o *collboard.Operation) error {
	if err := k.c.board.ReserveFor(o.Most()); err != nil {
		return err
	}
	return o.Do(&k.c.board.Blocking)
}

// boardEngine is an engine as the board of a communicator sees it (board.Engine).
type boardEngine Comm

func (b *boardEngine) Lock()         { b.engine.mu.Lock() }
func (b *boardEngine) Unlock()       { b.engine.mu.Unlock() }
func (b *boardEngine) Busy() bool    { return b.engine.shared.hasWork() }
func (b *boardEngine) Turn()         { b.engine.Turn() }
func (b *boardEngine) Patient() bool { return b.engine.waiting.patient.Load() }

// Await implements board.Engine.
func (b *boardEngine) Await(word *uint64, least uint64, inVain board.Condition) (raised bool, err error) {
	e := b.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c := (*Comm)(b)
	e.waitFor(func() bool {
		return atomic.LoadUint64(word) >= least || inVain.Holds() || c.losses.first != nil
	}, anyPeer, cause{what: report.ForMembers, comm: c, word: word})
	if raised = atomic.LoadUint64(word) >= least; raised || inVain.Holds() && c.losses.first == nil {
		return raised, nil
	}
	return false, c.failure()
}

// WaitFor implements board.Engine.
func (b *boardEngine) WaitFor(c board.Condition) {
	b.engine.waitFor(func() bool { return c.Holds() || b.losses.first != nil }, anyPeer, forMembers((*Comm)(b)))
}
