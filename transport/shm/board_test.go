package shm

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/transport"
)

// members are n ranks of a segment.
func members(t *testing.T, n int) []*Segment {
	fd := create(t, n)
	all := make([]*Segment, n)
	for i := range all {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = attach(t, own, i)
		t.Cleanup(func() { all[i].Close() })
	}
	return all
}

// opened is the view that a rank has of a board.
func opened(t *testing.T, s *Segment, number int) *Board {
	t.Helper()
	b, err := s.OpenBoard(number)
	if err != nil {
		t.Fatal(err)
	}
	return b.(*Board)
}

func (b *Board) view() (*board, []boardMember) {
	_, at := b.segment.boardAt(b.number)
	return at, b.segment.membersOf(at)
}

func TestBoardsLieBehindTheRings(t *testing.T) {
	for n := 1; n <= MaxLocal; n++ {
		if boardOffset(n)%pageBytes != 0 || boardOffset(n) < ringOffset(n)+n*n*ringSize(n) {
			t.Fatalf("%d ranks: boards at %d", n, boardOffset(n))
		}
		if boardBytes(n) < lineBytes+min(n, BoardMembers)*boardMemberSize {
			t.Fatalf("%d ranks: boards of %d bytes", n, boardBytes(n))
		}
		if segmentBytes(n) != boardOffset(n)+Boards*boardBytes(n) {
			t.Fatalf("%d ranks: a segment of %d bytes", n, segmentBytes(n))
		}
	}
}

func TestAllMembersSeeTheSameBoard(t *testing.T) {
	all := members(t, 3)
	number := all[1].TakeBoard([]int32{0, 1, 2})
	for i, s := range all {
		_, m := opened(t, s, number).view()
		atomic.StoreUint64(&m[i].slots[7].word, uint64(i)+1)
	}
	_, m := opened(t, all[0], number).view()
	for i := range all {
		if got := atomic.LoadUint64(&m[i].slots[7].word); got != uint64(i)+1 {
			t.Errorf("the word of member %d is %d", i, got)
		}
	}
}

// lanes opens lanes one after the other, as many as there is room for, and calls f with the last slot of a member.
func (b *Board) lanes(t *testing.T, member int, f func(word *uint64)) {
	t.Helper()
	lengths := []int64{0, boardPayload, boardPayload + 1, 1000, boardLongest, boardLongest + 1, boardPiecePayload}
	for at, i := 0, 0; b.LaneEnd(at, lengths[i%len(lengths)]) > 0; i++ {
		n := lengths[i%len(lengths)]
		l, err := b.OpenLane(at, n)
		if err != nil {
			t.Fatal(err)
		}
		slots, bytes, shift := l.Slots()
		word, payload := l.Slot(member, slots-1)
		if slots&(slots-1) != 0 || int64(bytes) < n || len(payload) != bytes || bytes >= 1<<shift {
			t.Errorf("lane %d: %d slots of %d bytes", i, slots, bytes)
		}
		f(word)
		at = b.LaneEnd(at, n)
	}
	if b.LaneEnd(0, boardPiecePayload+1) >= 0 {
		t.Error("there is a lane for parts that are longer than a piece")
	}
}

func TestTheLastMemberToLeaveClearsTheBoard(t *testing.T) {
	all := members(t, 3)
	number := all[0].TakeBoard([]int32{0, 1, 2})
	var boards []*Board
	for i, s := range all {
		b := opened(t, s, number)
		_, m := b.view()
		m[i].done, m[i].slots[1].word, m[i].slots[1].payload[55] = 9, 9, 9
		if err := b.ReserveLong(); err != nil {
			t.Fatal(err)
		}
		places, bytes, shift := b.Slots(transport.LongSlot)
		word, payload := b.Slot(transport.LongSlot, i, places-1)
		if *word = 9; len(payload) != bytes || bytes >= 1<<shift {
			t.Errorf("a piece of %d bytes, not %d", len(payload), bytes)
		}
		b.lanes(t, i, func(word *uint64) { *word = 9 })
		boards = append(boards, b)
	}
	boards[2].Leave()
	boards[0].Leave()
	at, m := boards[1].view()
	if m[0].done != 9 || m[2].slots[1].word != 9 {
		t.Error("cleared while a member was there")
	}
	if other := all[0].TakeBoard([]int32{0, 1, 2}); other == number {
		t.Error("taken while a member was there")
	}
	boards[1].Leave()
	if *at != (board{}) || slices.ContainsFunc(m, func(m boardMember) bool { return m != boardMember{} }) {
		t.Error("not cleared")
	}
	for i := range all {
		boards[1].lanes(t, i, func(word *uint64) {
			if *word != 0 {
				t.Errorf("a lane of member %d is not cleared", i)
			}
		})
	}
	for i := range all {
		if word, _ := boards[1].Slot(transport.LongSlot, i, boards[1].places()-1); *word != 0 {
			t.Errorf("the last place for pieces of member %d is not cleared", i)
		}
	}
	if again := all[2].TakeBoard([]int32{0, 2}); again != number {
		t.Errorf("took board %d, not %d", again, number)
	}
}

func TestLanesAreClearedWhereTheSystemTakesNoMemoryBack(t *testing.T) {
	all := members(t, 3)
	b := opened(t, all[0], all[0].TakeBoard([]int32{0, 1, 2}))
	b.lanes(t, 0, func(word *uint64) { *word = 9 })
	fd := all[0].fd
	all[0].fd = -1
	b.clearLanes(len(all) * boardLaneBytes) // more than is kept
	all[0].fd = fd
	b.lanes(t, 0, func(word *uint64) {
		if *word != 0 {
			t.Error("a lane is not cleared")
		}
	})
}

func TestBoardsRunOutAndComeBack(t *testing.T) {
	all := members(t, 2)
	seen := map[int]bool{}
	for range Boards {
		n := all[len(seen)%2].TakeBoard([]int32{0})
		if n < 0 || n >= Boards || seen[n] {
			t.Fatalf("took board %d after %d others", n, len(seen))
		}
		seen[n] = true
	}
	if n := all[0].TakeBoard([]int32{0}); n != -1 {
		t.Fatalf("took board %d when all were taken", n)
	}
	opened(t, all[1], 200).Leave()
	if n := all[0].TakeBoard([]int32{0}); n != 200 {
		t.Errorf("took board %d, and 200 alone was free", n)
	}
}

// Of three members one dies on each board, and the others leave for it, in any order: more boards are used than there
// are.
func TestBoardsOfMembersThatDieComeBack(t *testing.T) {
	all := members(t, 3)
	for i := range 2 * Boards {
		dead := i % 3
		left, right := all[(dead+1)%3], all[(dead+2)%3]
		n := left.TakeBoard([]int32{0, 1, 2})
		if n < 0 {
			t.Fatalf("no board is left after %d deaths", i)
		}
		one, other := opened(t, left, n), opened(t, right, n)
		one.Leave(dead)
		if again := left.TakeBoard([]int32{0}); again == n {
			t.Fatalf("board %d is taken while a member has it", n)
		} else if again >= 0 {
			opened(t, left, again).Leave()
		}
		other.Leave(dead)
	}
}

func TestABoardIsTakenOnce(t *testing.T) {
	all := members(t, 4)
	var users [Boards]atomic.Int32
	var wg sync.WaitGroup
	for i, s := range all {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			var mine []*Board
			for range 5000 {
				if len(mine) > 0 && r.IntN(2) == 0 {
					b := mine[len(mine)-1]
					mine = mine[:len(mine)-1]
					users[b.number].Add(-1)
					b.Leave()
				} else if n := s.TakeBoard([]int32{0}); n >= 0 {
					if users[n].Add(1) != 1 {
						t.Errorf("board %d is taken twice", n)
					}
					b, err := s.OpenBoard(n)
					if err != nil {
						t.Error(err)
						return
					}
					mine = append(mine, b.(*Board))
				}
			}
		})
	}
	wg.Wait()
}

func TestThereAreNoOtherBoards(t *testing.T) {
	s := members(t, 1)[0]
	for _, n := range []int{-1, Boards, 1 << 40} {
		if _, err := s.OpenBoard(n); err == nil {
			t.Errorf("opened board %d", n)
		}
	}
}

// TestPlacesForPiecesLieWithinTheirBoard counts the places of boards of all sizes, in segments of all.
func TestPlacesForPiecesLieWithinTheirBoard(t *testing.T) {
	for n := 1; n <= 2*BoardMembers; n++ {
		room := boardBytes(n) - boardPieceOffset(n)
		for members := 1; members <= min(n, BoardMembers); members++ {
			if need := members * placesOf(members) * boardPieceSize; need > room || placesOf(members) > boardPieces {
				t.Errorf("%d ranks: %d members need %d bytes for pieces of %d", n, members, need, room)
			}
		}
	}
}
