package board

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// memory is a board in memory of this process, of few slots.
type memory struct {
	slots [3][]int // by size: how many, bytes, bits of the length
	words [3][]uint64
	mem   [3][][]byte
	lanes []*memoryLane
	done  []uint64
	votes [][2][2]uint64 // by member and place: the word, and the value
	room  int            // bytes of all lanes
	mu    sync.Mutex
}

func newMemory(members int) *memory {
	m := &memory{slots: [3][]int{{4, 120, 8}, {2, 1000, 16}, {3, 5000, 24}}, done: make([]uint64, members),
		votes: make([][2][2]uint64, members), room: 40_000}
	for size, s := range m.slots {
		m.words[size] = make([]uint64, members*s[0])
		for range members * s[0] {
			m.mem[size] = append(m.mem[size], make([]byte, s[1]))
		}
	}
	return m
}

func (m *memory) Slots(size transport.SlotSize) (slots, bytes int, shift uint) {
	s := m.slots[size]
	return s[0], s[1], uint(s[2])
}

func (m *memory) Slot(size transport.SlotSize, member, i int) (word *uint64, payload []byte) {
	at := member*m.slots[size][0] + i
	return &m.words[size][at], m.mem[size][at]
}

func (m *memory) LaneEnd(at int, n int64) int {
	if end := at + int(n)*4; end <= m.room {
		return end
	}
	return -1
}

// OpenLane returns the same lane to all members.
func (m *memory) OpenLane(at int, n int64) (transport.Lane, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lanes {
		if l.at == at {
			return l, nil
		}
	}
	l := &memoryLane{at: at, words: make([]uint64, 2*len(m.done))}
	for range l.words {
		l.mem = append(l.mem, make([]byte, n))
	}
	m.lanes = append(m.lanes, l)
	return l, nil
}

func (m *memory) ReserveLong() error      { return nil }
func (m *memory) Done(member int) *uint64 { return &m.done[member] }
func (m *memory) Vote(member, i int) (word, value *uint64) {
	return &m.votes[member][i][0], &m.votes[member][i][1]
}
func (m *memory) Wake(int)     {}
func (m *memory) Alert(int)    {}
func (m *memory) Leave(...int) {}

// memoryLane is a lane of two slots a member.
type memoryLane struct {
	at    int
	words []uint64
	mem   [][]byte
}

func (l *memoryLane) Slots() (slots, bytes int, shift uint) { return 2, len(l.mem[0]), 16 }
func (l *memoryLane) Slot(member, i int) (word *uint64, payload []byte) {
	return &l.words[2*member+i], l.mem[2*member+i]
}

// engine is one that does nothing but wait. Once lost is set, it waits no more.
type engine struct {
	sync.Mutex
	lost atomic.Bool
}

var errLost = errors.New("a peer is lost")

func (e *engine) Busy() bool    { return false }
func (e *engine) Turn()         {}
func (e *engine) Patient() bool { return true }

func (e *engine) Await(word *uint64, least uint64, inVain Condition) (raised bool, err error) {
	e.WaitFor(condition(func() bool { return atomic.LoadUint64(word) >= least || inVain.Holds() }))
	if raised = atomic.LoadUint64(word) >= least; raised || inVain.Holds() {
		return raised, nil
	}
	return false, errLost
}

func (e *engine) WaitFor(c Condition) {
	for !c.Holds() && !e.lost.Load() {
		yield()
	}
}

type condition func() bool

func (c condition) Holds() bool { return c() }

// members are those of a new board.
func members(n int) ([]*Board, *memory) {
	m, local := newMemory(n), make([]int32, n)
	all := make([]*Board, n)
	for r := range all {
		local[r] = int32(r)
		all[r] = new(Board)
		all[r].Use(new(engine), m, r, local, NewCounters(m))
	}
	return all, m
}

// together runs f for each member at the same time.
func together(t *testing.T, all []*Board, f func(b *Board) error) {
	t.Helper()
	errs := make([]error, len(all))
	var ended sync.WaitGroup
	for r, b := range all {
		ended.Go(func() { errs[r] = f(b) })
	}
	ended.Wait()
	for r, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}
