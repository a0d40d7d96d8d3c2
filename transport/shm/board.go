package shm

import (
	"errors"
	"math/bits"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
)

// A board is taken by one rank, which tells its number to the other members. Each of them opens it, uses it, and leaves
// it; the last to leave clears it, and it can be taken again. What members write on it is said in layout.go.

// Board is a board that this rank is a member of.
type Board struct {
	segment *Segment
	number  int
	members []boardMember
	wide    int // where the wide slots begin in the segment
	long    []boardLong
	pieces  int // where the places for pieces begin in the segment
}

var errNoBoard = errors.New("shm: there is no board of this number")

// BoardMembers is the largest number of members that a board has.
func (s *Segment) BoardMembers() int { return BoardMembers }

// TakeBoard takes a board for members, by their local ranks, of whom the caller is one, and answers its number; -1 if
// all are taken, or there is no memory for one more.
func (s *Segment) TakeBoard(members []int32) int {
	words := s.boardMap()
	for w := range words {
		for used := atomic.LoadUint64(&words[w]); used != ^uint64(0); used = atomic.LoadUint64(&words[w]) {
			bit := (used + 1) &^ used // the lowest that is 0
			if !atomic.CompareAndSwapUint64(&words[w], used, used|bit) {
				continue
			}
			number := w*64 + bits.TrailingZeros64(bit)
			if !s.reserved[number].Load() {
				s.placeBoard(number, members)
			}
			if s.reserveBoard(number) != nil {
				atomic.AndUint64(&words[w], ^bit)
				return -1
			}
			_, b := s.boardAt(number)
			atomic.StoreUint32(&b.present, uint32(len(members)))
			return number
		}
	}
	return -1
}

// OpenBoard is called by each member, once. Errors: there is no such board, or no memory.
func (s *Segment) OpenBoard(number int) (transport.Board, error) {
	if number < 0 || number >= Boards {
		return nil, errNoBoard
	}
	if err := s.reserveBoard(number); err != nil {
		return nil, err
	}
	off, at := s.boardAt(number)
	return &Board{s, number, s.membersOf(at), off + boardWideOffset(s.n), s.longLanesOf(off),
		off + boardPieceOffset(s.n)}, nil
}

// reserveBoard makes sure that memory stands behind a board, but for its long lanes and places for pieces. Another rank
// may have done that, or says so; once is enough for this one.
func (s *Segment) reserveBoard(number int) error {
	if s.reserved[number].Load() {
		return nil
	}
	off, _ := s.boardAt(number)
	if err := s.reserve(off, boardLongOffset(s.n)); err != nil {
		return err
	}
	s.reserved[number].Store(true)
	return nil
}

// ReserveLong implements transport.Board.
func (b *Board) ReserveLong(lane int) error {
	off, at := b.segment.boardAt(b.number)
	size := len(b.members) * boardLongSize
	if err := b.segment.reserve(off+boardLongOffset(b.segment.n)+lane*size, size); err != nil {
		return err
	}
	for used := atomic.LoadUint32(&at.long); int(used) <= lane; used = atomic.LoadUint32(&at.long) {
		atomic.CompareAndSwapUint32(&at.long, used, uint32(lane)+1)
	}
	return nil
}

// ReservePieces implements transport.Board.
func (b *Board) ReservePieces() error {
	_, at := b.segment.boardAt(b.number)
	if err := b.segment.reserve(b.pieces, len(b.members)*boardPieces*boardPieceSize); err != nil {
		return err
	}
	atomic.StoreUint32(&at.pieces, 1)
	return nil
}

// Pieces implements transport.Board.
func (b *Board) Pieces() (places, bytes int, shift uint) {
	return boardPieces, boardPiecePayload, boardPieceShift
}

// Piece implements transport.Board.
func (b *Board) Piece(member, i int) (word *uint64, payload []byte) {
	return b.segment.placeFor(b.pieces + (member*boardPieces+i)*boardPieceSize)
}

// Slots implements transport.Board.
func (b *Board) Slots(wide bool) (slots, bytes int, shift uint) {
	if wide {
		return boardWideSlots, boardWidePayload, boardWideShift
	}
	return boardSlots, boardPayload, boardWordShift
}

// Slot implements transport.Board.
func (b *Board) Slot(wide bool, member, i int) (word *uint64, payload []byte) {
	if wide {
		return b.segment.wideSlot(b.wide + (member*boardWideSlots+i)*boardWideSize)
	}
	slot := &b.members[member].slots[i]
	return &slot.word, slot.payload[:]
}

// Lanes implements transport.Board.
func (b *Board) Lanes(long bool) (lanes, slots, bytes int, shift uint) {
	if long {
		return boardLongLanes, boardLongSlots, boardLongPayload, boardWideShift
	}
	return boardLanes, boardLaneSlots, boardPayload, boardWordShift
}

// Lane implements transport.Board.
func (b *Board) Lane(long bool, member, lane, i int) (word *uint64, payload []byte) {
	if long {
		slot := &b.long[lane*len(b.members)+member].slots[i]
		return &slot.word, slot.payload[:]
	}
	slot := &b.members[member].lanes[lane][i]
	return &slot.word, slot.payload[:]
}

// Done implements transport.Board.
func (b *Board) Done(m int) *uint64 { return &b.members[m].done }

// Wake implements transport.Board.
func (b *Board) Wake(local int) {
	if c := b.segment.control(local); atomic.LoadUint32(&c.sleepers)|b.segment.priv.fence != 0 {
		ring(c)
	}
}

// Alert implements transport.Board.
func (b *Board) Alert(local int) { alert(b.segment.control(local)) }

// Leave gives the board up. The caller has completed all its operations on it, and makes no more.
func (b *Board) Leave() {
	s := b.segment
	_, at := s.boardAt(b.number)
	if atomic.AddUint32(&at.present, ^uint32(0)) != 0 {
		return
	}
	clear(b.members)
	for i := range len(b.members) * boardWideSlots {
		word, _ := s.wideSlot(b.wide + i*boardWideSize)
		atomic.StoreUint64(word, 0)
	}
	long := b.long[:int(atomic.SwapUint32(&at.long, 0))*len(b.members)]
	for i := range long {
		for k := range long[i].slots {
			atomic.StoreUint64(&long[i].slots[k].word, 0)
		}
	}
	if atomic.SwapUint32(&at.pieces, 0) != 0 {
		for i := range len(b.members) * boardPieces {
			word, _ := b.Piece(0, i)
			atomic.StoreUint64(word, 0)
		}
	}
	atomic.AndUint64(&s.boardMap()[b.number/64], ^(uint64(1) << (b.number % 64)))
}
