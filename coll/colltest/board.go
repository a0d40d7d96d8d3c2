package colltest

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/coll"
)

// boards is a board in memory for goroutines. A slot is taken again when all have ended the operation that had it.
type boards struct {
	mu     sync.Mutex
	change *sync.Cond
	parts  [][]part   // by rank and slot
	ended  []uint64   // by rank
	turn   uint64     // how often something has changed
	memory [][][]byte // that the ranks expose
}

// part is what stands in a slot: of which operation, and how much.
type part struct {
	operation uint64
	mem       []byte
	n         int64
}

// Board is a board as a rank sees it (coll.Board).
type Board struct {
	all    *boards
	blocks bool
	rank   int
	number uint64
	most   int64
}

// NewBoards makes a board for p ranks, of so many slots of so many bytes each. It blocks, or answers that something is
// not there.
func NewBoards(p, slots, bytes int, blocks bool) []*Board {
	all := &boards{ended: make([]uint64, p), memory: make([][][]byte, p)}
	all.change = sync.NewCond(&all.mu)
	members := make([]*Board, p)
	for r := range p {
		own := make([]part, slots)
		for i := range own {
			own[i].mem = make([]byte, bytes)
		}
		all.parts = append(all.parts, own)
		members[r] = &Board{all: all, blocks: blocks, rank: r}
	}
	return members
}

// Blocks reports whether the board blocks.
func (b *Board) Blocks() bool { return b.blocks }

// Do carries a turn out.
func (b *Board) Do(t *coll.Turn) error {
	defer b.Hide()
	if b.blocks {
		return t.Do(b)
	}
	run := func() (bool, error) { return t.Run(b) }
	if !t.Reads() {
		return b.Repeat(t.Most(), run, nil)
	}
	return b.Repeat(t.Most(), run, func() (bool, error) { return t.Left(b) })
}

// Repeat carries an operation out that begins with so many bytes, and goes on as far as parts are there. left, if not
// nil, reports whether all others have read its memory.
func (b *Board) Repeat(most int64, run, left func() (over bool, err error)) error {
	b.Begin(most)
	err := b.repeat(run)
	b.End()
	if left == nil {
		return err
	}
	return cmp.Or(err, b.repeat(left))
}

func (b *Board) repeat(run func() (over bool, err error)) error {
	for {
		before := b.all.turns()
		if over, err := run(); over || err != nil {
			return err
		}
		b.all.await(before)
	}
}

func (a *boards) turns() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.turn
}

// await returns when something has changed since.
func (a *boards) await(turn uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.turn == turn {
		a.change.Wait()
	}
}

func (b *Board) Rank() int { return b.rank }
func (b *Board) Size() int { return len(b.all.ended) }

func (b *Board) slot(rank int) *part {
	slots := b.all.parts[rank]
	return &slots[b.number%uint64(len(slots))]
}

// Begin implements coll.Board.
func (b *Board) Begin(n int64) {
	b.number++
	if b.most = n; n == coll.AnyLength {
		b.most = int64(len(b.slot(b.rank).mem))
	}
}

// Put implements coll.Board.
func (b *Board) Put(n int64) ([]byte, error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	slots := uint64(len(b.all.parts[b.rank]))
	for b.least()+slots < b.number {
		if !b.blocks {
			return nil, nil
		}
		b.all.change.Wait()
	}
	return b.slot(b.rank).mem[:min(n, b.most)], nil
}

// least is how many operations all have ended.
func (b *Board) least() uint64 {
	least := b.number
	for _, n := range b.all.ended {
		least = min(least, n)
	}
	return least
}

// Publish implements coll.Board.
func (b *Board) Publish(n int64) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	s := b.slot(b.rank)
	s.operation, s.n = b.number, n
	b.all.turn++
	b.all.change.Broadcast()
}

// Get implements coll.Board.
func (b *Board) Get(rank int) ([]byte, error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	s := b.slot(rank)
	for s.operation < b.number {
		if b.all.ended[rank] >= b.number {
			return nil, fmt.Errorf("rank %d has ended operation %d without its part", rank, b.number)
		}
		if !b.blocks {
			return nil, nil
		}
		b.all.change.Wait()
	}
	return s.mem[:s.n], nil
}

// Fail implements coll.Board: End says the same.
func (b *Board) Fail(error) {}

// End implements coll.Board.
func (b *Board) End() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.ended[b.rank] = b.number
	b.all.turn++
	b.all.change.Broadcast()
}

// Expose implements coll.Exposer. Nobody may read the memory after the rank has left the operation.
func (b *Board) Expose(mem []byte) uint64 {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	own := &b.all.memory[b.rank]
	*own = append(*own, mem)
	return addressOf(mem)
}

// Hide ends the time in which the rank's memory may be read.
func (b *Board) Hide() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.memory[b.rank] = nil
}

// Read implements coll.Exposer. Who does not block reads a few bytes at a time.
func (b *Board) Read(rank int, from uint64, to []byte) (n int, err error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if n = len(to); !b.blocks {
		n = min(n, 1000)
		b.all.turn++ // there may be more to do
	}
	for _, mem := range b.all.memory[rank] {
		if at := from - addressOf(mem); at <= uint64(len(mem)) && uint64(n) <= uint64(len(mem))-at {
			return copy(to[:n], mem[at:]), nil
		}
	}
	return 0, fmt.Errorf("rank %d reads %d bytes at %#x of rank %d, who does not expose them", b.rank, n, from, rank)
}

// Ended implements coll.Exposer.
func (b *Board) Ended(rank int) (bool, error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	for b.all.ended[rank] < b.number {
		if !b.blocks {
			return false, nil
		}
		b.all.change.Wait()
	}
	return true, nil
}
