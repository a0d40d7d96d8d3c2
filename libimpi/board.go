package libimpi

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
)

// Boards: lines of a machine's shared memory on which the members of a communicator meet for short collective
// operations. What happens on them is the bridge's affair (gobridge/executor/board.h); the engine says which
// communicators have one, and waits.

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
	if err := c.Bcast(countBuf(number), 0); err != nil || number[0] == none {
		return nil, err
	}
	board, err := c.engine.home.Boards.OpenBoard(int(number[0]))
	if err != nil {
		return nil, err
	}
	c.board = board
	return board, nil
}

// none is no board's number.
const none = ^uint64(0)

// leaveBoard gives the communicator's board up, if it has one.
func (c *Comm) leaveBoard() {
	if c.board != nil {
		c.board.Leave()
		c.board = nil
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
