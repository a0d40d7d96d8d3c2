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
	pieces  int // where the slots for pieces begin in the segment
}

var (
	errNoBoard = errors.New("shm: there is no board of this number")
	errNoLane  = errors.New("shm: the board has no room for one more lane")
)

// BoardMembers is the largest number of members that a board has.
func (s *Segment) BoardMembers() int { return BoardMembers }

// TakeBoard takes a board for members, by their local ranks, of whom the caller is one, and returns its number; -1 if
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
	return &Board{s, number, s.membersOf(at), off + boardWideOffset(s.n), off + boardPieceOffset(s.n)}, nil
}

// reserveBoard makes sure that memory stands behind a board, but for its lanes and slots for pieces. Another rank
// may have done that, or says so; once is enough for this one.
func (s *Segment) reserveBoard(number int) error {
	if s.reserved[number].Load() {
		return nil
	}
	off, _ := s.boardAt(number)
	if err := s.reserve(off, boardLaneOffset(s.n)); err != nil {
		return err
	}
	s.reserved[number].Store(true)
	return nil
}

// Lane is a lane of a board.
type Lane struct {
	mem     []byte
	slots   int  // of each member
	Bytes   int  // from one slot to the next
	head    int  // bytes of a slot before the payload
	payload int  // bytes
	shift   uint // bits of the length in its word
}

// laneFor is a lane for parts of at most n bytes, which has no memory yet.
func laneFor(n int64) *Lane {
	l := &Lane{slots: boardLaneSlots, head: boardSlotBytes - boardPayload, payload: boardPayload, shift: boardWordShift}
	if n > boardPayload {
		l = &Lane{slots: boardLongSlots, head: lineBytes, payload: alignLine(int(n)), shift: boardWideShift}
	}
	if n > boardLongest {
		l = &Lane{slots: boardLanePieces, head: lineBytes, payload: alignPage(int(n)), shift: boardPieceShift}
		if l.payload < boardPiecePayload {
			l.slots *= 2
		}
	}
	if l.Bytes = l.head + l.payload; l.slots == boardLongSlots {
		l.Bytes += boardLongGap
	}
	return l
}

// LaneEnd implements transport.Board.
func (b *Board) LaneEnd(at int, n int64) int {
	l, members := laneFor(n), len(b.members)
	end := at + alignPage(members*l.slots*l.Bytes)
	if n > boardPiecePayload || end > members*boardLaneBytes {
		return -1
	}
	return end
}

// OpenLane implements transport.Board.
func (b *Board) OpenLane(at int, n int64) (transport.Lane, error) {
	l, end := laneFor(n), b.LaneEnd(at, n)
	if end < 0 {
		return nil, errNoLane
	}
	if err := b.reserveLanes(at, end); err != nil {
		return nil, err
	}
	l.mem = b.allLanes()[at:][:len(b.members)*l.slots*l.Bytes]
	return l, nil
}

// reserveLanes makes sure that memory stands behind some bytes of lanes, and that they are cleared with the board.
func (b *Board) reserveLanes(at, end int) error {
	off, head := b.segment.boardAt(b.number)
	if err := b.segment.reserve(off+boardLaneOffset(b.segment.n)+at, end-at); err != nil {
		return err
	}
	for used := atomic.LoadUint64(&head.lanes); used < uint64(end); used = atomic.LoadUint64(&head.lanes) {
		atomic.CompareAndSwapUint64(&head.lanes, used, uint64(end))
	}
	return nil
}

// Slots implements transport.Lane.
func (l *Lane) Slots() (slots, bytes int, shift uint) { return l.slots, l.payload, l.shift }

// allLanes is the memory for lanes.
func (b *Board) allLanes() []byte {
	off, _ := b.segment.boardAt(b.number)
	return b.segment.mem[off+boardLaneOffset(b.segment.n):][:len(b.members)*boardLaneBytes]
}

// lanesKept is how many bytes of lanes a free board keeps: to clear them takes less time than to get new ones.
const lanesKept = 8 << 20

// clearLanes clears the memory of lanes, or gives it back if it is much.
func (b *Board) clearLanes(bytes int) {
	off, _ := b.segment.boardAt(b.number)
	off += boardLaneOffset(b.segment.n)
	if bytes <= lanesKept || b.segment.release(off, bytes) != nil {
		clear(b.allLanes()[:bytes])
	}
}

// ReserveLong implements transport.Board.
func (b *Board) ReserveLong() error {
	_, at := b.segment.boardAt(b.number)
	if err := b.segment.reserve(b.pieces, len(b.members)*b.places()*boardPieceSize); err != nil {
		return err
	}
	atomic.StoreUint32(&at.pieces, 1)
	return nil
}

// places is how many slots for pieces each member has.
func (b *Board) places() int { return placesOf(len(b.members)) }

// Slots implements transport.Board.
func (b *Board) Slots(size transport.SlotSize) (slots, bytes int, shift uint) {
	switch size {
	case transport.NarrowSlot:
		return boardSlots, boardPayload, boardWordShift
	case transport.WideSlot:
		return boardWideSlots, boardWidePayload, boardWideShift
	}
	return b.places(), boardPiecePayload, boardPieceShift
}

// Slot implements transport.Board.
func (b *Board) Slot(size transport.SlotSize, member, i int) (word *uint64, payload []byte) {
	switch size {
	case transport.NarrowSlot:
		slot := &b.members[member].slots[i]
		return &slot.word, slot.payload[:]
	case transport.WideSlot:
		return b.segment.wideSlot(b.wide + (member*boardWideSlots+i)*boardWideSize)
	}
	return b.segment.placeFor(b.pieces + (member*b.places()+i)*boardPieceSize)
}

// Done implements transport.Board.
func (b *Board) Done(m int) *uint64 { return &b.members[m].done }

// Vote implements transport.Board.
func (b *Board) Vote(m, i int) (word, value *uint64) {
	v := &b.members[m].votes[i]
	return &v.word, &v.value
}

// Wake implements transport.Board.
func (b *Board) Wake(local int) {
	if c := b.segment.control(local); atomic.LoadUint32(&c.sleepers)|b.segment.priv.fence != 0 {
		ring(c)
	}
}

// Alert implements transport.Board. It fences, unlike others that alert (attention.go): no other part follows the last
// one of an operation, so a rank that both sides overlook would not be alerted again.
func (b *Board) Alert(local int) {
	fullFence()
	alert(b.segment.control(local))
}

// Leave implements transport.Board. The board stays as it is until the caller itself has left, so that all members that
// survive may leave for the same dead one; only the first does.
func (b *Board) Leave(dead ...int) {
	s := b.segment
	_, at := s.boardAt(b.number)
	leaving := uint32(1)
	for _, m := range dead {
		if atomic.SwapUint32(&b.members[m].left, 1) == 0 {
			leaving++
		}
	}
	if atomic.AddUint32(&at.present, -leaving) != 0 {
		return
	}
	clear(b.members)
	for i := range len(b.members) * boardWideSlots {
		word, _ := s.wideSlot(b.wide + i*boardWideSize)
		atomic.StoreUint64(word, 0)
	}
	if used := min(atomic.SwapUint64(&at.lanes, 0), uint64(len(b.members)*boardLaneBytes)); used > 0 {
		b.clearLanes(int(used))
	}
	if atomic.SwapUint32(&at.pieces, 0) != 0 {
		for i := range len(b.members) * b.places() {
			word, _ := b.Slot(transport.LongSlot, 0, i)
			atomic.StoreUint64(word, 0)
		}
	}
	atomic.AndUint64(&s.boardMap()[b.number/64], ^(uint64(1) << (b.number % 64)))
}
