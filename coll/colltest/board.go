package colltest

import (
	"sync"

	"github.com/libimpi/libimpi/coll"
)

// boards is a board in memory for goroutines. A slot is taken again when all have ended the operation that had it.
type boards struct {
	mu     sync.Mutex
	change *sync.Cond
	parts  [][]part // by rank and slot
	ended  []uint64 // by rank
}

// part is what stands in a slot: of which operation, and how much.
type part struct {
	operation uint64
	mem       []byte
	n         int64
}

// memberBoard is a board as a rank sees it.
type memberBoard struct {
	all    *boards
	rank   int
	number uint64
	most   int64
}

// NewBoards makes a board for p ranks, of so many slots of so many bytes each.
func NewBoards(p, slots, bytes int) []coll.Board {
	all := &boards{ended: make([]uint64, p)}
	all.change = sync.NewCond(&all.mu)
	members := make([]coll.Board, p)
	for r := range p {
		own := make([]part, slots)
		for i := range own {
			own[i].mem = make([]byte, bytes)
		}
		all.parts = append(all.parts, own)
		members[r] = &memberBoard{all: all, rank: r}
	}
	return members
}

func (b *memberBoard) Rank() int { return b.rank }
func (b *memberBoard) Size() int { return len(b.all.ended) }

func (b *memberBoard) slot(rank int) *part {
	slots := b.all.parts[rank]
	return &slots[b.number%uint64(len(slots))]
}

// Begin implements coll.Board.
func (b *memberBoard) Begin(n int64) {
	b.number++
	b.most = n
}

// Put implements coll.Board.
func (b *memberBoard) Put() ([]byte, error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	slots := uint64(len(b.all.parts[b.rank]))
	for b.least()+slots < b.number {
		b.all.change.Wait()
	}
	return b.slot(b.rank).mem[:b.most], nil
}

// least is how many operations all have ended.
func (b *memberBoard) least() uint64 {
	least := b.number
	for _, n := range b.all.ended {
		least = min(least, n)
	}
	return least
}

// Publish implements coll.Board.
func (b *memberBoard) Publish(n int64) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	s := b.slot(b.rank)
	s.operation, s.n = b.number, n
	b.all.change.Broadcast()
}

// Get implements coll.Board.
func (b *memberBoard) Get(rank int) ([]byte, error) {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	s := b.slot(rank)
	for s.operation < b.number {
		b.all.change.Wait()
	}
	return s.mem[:s.n], nil
}

// End implements coll.Board.
func (b *memberBoard) End() {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	b.all.ended[b.rank] = b.number
	b.all.change.Broadcast()
}
