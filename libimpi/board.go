package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Boards: memory of a machine on which the members of a communicator meet for short collective operations. The shortest
// and most frequent ones the bridge's C carries out there (gobridge/executor/board.h), the others package coll; both
// follow one protocol (transport/shm/layout.go) and share the counters of operations. Which operations take place on
// the board is decided by what is the same at all members.

// BoardCounters are what a member has to remember of a board.
type BoardCounters struct {
	Begun *uint64 // operations that this member has begun
	Known *uint64 // all members have completed so many, as far as is known
}

// commBoard is a communicator's board (coll.Board).
type commBoard struct {
	c      *Comm
	shared transport.Board
	BoardCounters
	local []int32 // local ranks of the members
	none  bool    // there is none, for good

	wideTurns uint64   // operations that have used wide slots
	wideUsers []uint64 // the last one to use each wide slot

	// The operation under way.
	number uint64
	wide   bool
	slot   int
	shift  uint   // bits of the length in a slot's word
	free   uint64 // so many operations have to be completed by all before the slot is free
}

// MayHaveBoard says whether the communicator can have a board: each member gets the same answer, without a message.
func (c *Comm) MayHaveBoard() bool {
	n := c.group.Size()
	boards := c.engine.home.Boards
	if boards == nil || c.engine.verifies || c.local != nil || n < 2 || n > boards.BoardMembers() {
		return false
	}
	for r := range n {
		if w := c.group.World(r); w != c.engine.me && c.engine.peers[w].local < 0 {
			return false
		}
	}
	return true
}

// OpenBoard finds a board for a communicator that may have one, and answers nil if all are taken. It is a collective
// operation, and blocks until rank 0 has called it.
func (c *Comm) OpenBoard() (transport.Board, error) {
	number := []uint64{none}
	if c.rank == 0 {
		if taken := c.engine.home.Boards.TakeBoard(c.group.Size()); taken >= 0 {
			number[0] = uint64(taken)
		}
	}
	if err := coll.Bcast(&c.ops, countBuf(number), 0); err != nil || number[0] == none {
		return nil, err
	}
	board, err := c.engine.home.Boards.OpenBoard(int(number[0]))
	if err != nil {
		return nil, err
	}
	c.board.shared = board
	return board, nil
}

// UseBoard makes the board that OpenBoard has answered the one of the communicator's operations. If there is none, or
// UseBoard is not called, they go by messages.
func (c *Comm) UseBoard(counters BoardCounters) {
	b := &c.board
	b.c, b.BoardCounters = c, counters
	b.local = make([]int32, c.group.Size())
	for r := range b.local {
		b.local[r] = int32(c.engine.LocalRank(c.group.World(r)))
	}
	slots, _, _ := b.shared.Slots(true)
	b.wideUsers = make([]uint64, slots)
}

// NoBoard ends the operations on the communicator's board, before the memory of its counters goes.
func (c *Comm) NoBoard() { c.board.BoardCounters, c.board.none = BoardCounters{}, true }

// boardFor answers the board for an operation with parts of so many blocks of n bytes, nil if it does not take place on
// one.
func (v Collectives) boardFor(n int64, blocks int) (*commBoard, error) {
	if n <= 0 || n > longestOnBoard/int64(blocks) {
		return nil, nil
	}
	return v.board()
}

// board is boardFor an operation that is short enough. Where nobody knows yet whether there is one, it is opened.
func (v Collectives) board() (*commBoard, error) {
	c := v.c
	if v.task != nil {
		return nil, nil
	}
	if c.Bridge == nil || c.engine.openBoard == nil || c.board.none {
		return nil, nil
	}
	if c.board.Begun == nil {
		if !c.MayHaveBoard() {
			c.board.none = true
			return nil, nil
		}
		if err := c.engine.openBoard(c); err != nil {
			return nil, err
		}
		if c.board.Begun == nil {
			c.board.none = true
			return nil, nil
		}
	}
	return &c.board, nil
}

// boardForVector is boardFor a reduction of a vector, whose elements have no gaps.
func (v Collectives) boardForVector(vector coll.Buf) (*commBoard, error) {
	if vector.Count == 0 || !coll.Dense(vector.Type) {
		return nil, nil
	}
	return v.boardFor(vector.Size(), 1)
}

// longestOnBoard is the largest part, in bytes, of an operation on a board.
const longestOnBoard = 16 << 10

// Rank implements coll.Board.
func (b *commBoard) Rank() int { return int(b.c.rank) }

// Size implements coll.Board.
func (b *commBoard) Size() int { return len(b.local) }

// Begin implements coll.Board.
func (b *commBoard) Begin(n int64) {
	if e := b.c.engine; e.shared.hasWork() {
		e.Turn()
	}
	*b.Begun++
	b.number, b.free = *b.Begun, 0
	slots, bytes, shift := b.shared.Slots(false)
	if b.wide, b.shift = n > int64(bytes), shift; !b.wide {
		b.slot = int(b.number % uint64(slots))
		b.free = max(b.number, uint64(slots)) - uint64(slots)
		return
	}
	_, _, b.shift = b.shared.Slots(true)
	b.slot = int(b.wideTurns % uint64(len(b.wideUsers)))
	b.wideTurns++
	b.free, b.wideUsers[b.slot] = b.wideUsers[b.slot], b.number
}

// Put implements coll.Board.
func (b *commBoard) Put() ([]byte, error) {
	if *b.Known < b.free {
		if err := b.allDone(b.free); err != nil {
			return nil, err
		}
	}
	_, mem := b.shared.Slot(b.wide, b.Rank(), b.slot)
	return mem, nil
}

// allDone waits until all members have completed so many operations, fewer than this one has.
func (b *commBoard) allDone(least uint64) error {
	known := ^uint64(0)
	for r := range b.local {
		done := b.shared.Done(r)
		if err := b.await(done, least); err != nil {
			return err
		}
		known = min(known, atomic.LoadUint64(done))
	}
	*b.Known = known
	return nil
}

// await returns when a word of the board is at least so large.
func (b *commBoard) await(word *uint64, least uint64) error {
	if atomic.LoadUint64(word) >= least {
		return nil
	}
	e := b.c.engine
	b.wake()
	if !e.patient && !e.shared.hasWork() {
		for range boardLooks {
			futex.Pause(1)
			if atomic.LoadUint64(word) >= least {
				return nil
			}
		}
	}
	return e.AwaitWord(word, least)
}

// boardLooks is how often a word is looked at before the engine waits, which costs a lock and polls.
const boardLooks = 500

// Publish implements coll.Board.
func (b *commBoard) Publish(n int64) {
	word, _ := b.shared.Slot(b.wide, b.Rank(), b.slot)
	atomic.StoreUint64(word, b.number<<b.shift|uint64(n))
}

// Get implements coll.Board. What others wrote is another process's: a length is not taken from there unchecked.
func (b *commBoard) Get(rank int) ([]byte, error) {
	word, mem := b.shared.Slot(b.wide, rank, b.slot)
	if err := b.await(word, b.number<<b.shift); err != nil {
		return nil, err
	}
	n := atomic.LoadUint64(word) & (1<<b.shift - 1)
	return mem[:min(n, uint64(len(mem)))], nil
}

// End implements coll.Board.
func (b *commBoard) End() {
	atomic.StoreUint64(b.shared.Done(b.Rank()), b.number)
	b.wake()
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

// leaveBoard gives the communicator's board up, if it has one.
func (c *Comm) leaveBoard() {
	if c.board.shared != nil {
		c.board.shared.Leave()
		c.board.shared = nil
	}
}

// AwaitWord returns when a word of shared memory is at least so large, and makes progress until then. Who raises the
// word rings this process's bell. Errors: a peer is lost.
func (e *Engine) AwaitWord(word *uint64, least uint64) error {
	raised := func() bool { return atomic.LoadUint64(word) >= least }
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waitFor(raised, anyPeer)
	if raised() {
		return nil
	}
	return e.failure()
}

// Turn brings requests under way on, and waits for nothing.
func (e *Engine) Turn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle()
	e.look()
}

// Crowded says whether ranks outnumber the cores of this machine: a thread that spins keeps others from running.
func (e *Engine) Crowded() bool { return e.patient }
