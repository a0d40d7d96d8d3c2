package colltest

import (
	"fmt"
	"sync"

	"github.com/libimpi/libimpi/coll/board"
)

// boards is a board in memory for goroutines. A slot is taken again when all have ended the operation that had it.
type boards struct {
	mu     sync.Mutex
	change *sync.Cond
	parts  [][]part // by rank and slot
	ended  []uint64 // by rank
	turn   uint64   // how often something has changed
}

// part is what stands in a slot: of which operation, and how much.
type part struct {
	operation uint64
	mem       []byte
	n         int64
}

// Board is a board as a rank sees it (board.Board).
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
	all := &boards{ended: make([]uint64, p)}
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

// Do carries an operation out.
func (b *Board) Do(o *board.Operation) error {
	if b.blocks {
		return o.Do(b)
	}
	return b.Repeat(o.Most(), func() (bool, error) { return o.Run(b) })
}

// Repeat carries an operation out that begins with so many bytes, and goes on as far as parts are there.
func (b *Board) Repeat(most int64, run func() (over bool, err error)) error {
	b.Begin(most)
	defer b.End()
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

// Begin implements board.Board.
func (b *Board) Begin(n int64) {
	b.number++
	if b.most = n; n == board.AnyLength {
		b.most = int64(len(b.slot(b.rank).mem))
	}
}

// Put implements board.Board.
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

// Publish implements board.Board.
func (b *Board) Publish(n int64) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	s := b.slot(b.rank)
	s.operation, s.n = b.number, n
	b.all.turn++
	b.all.change.Broadcast()
}

// Get implements board.Board.
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

// End implements board.Board.
func (b *Board) End() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.ended[b.rank] = b.number
	b.all.turn++
	b.all.change.Broadcast()
}
