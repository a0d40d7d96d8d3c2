package shm

import (
	"unsafe"

	"github.com/libimpi/libimpi/transport"
)

// The layout as Go types. layout_test.go checks every offset against what layout.go says.

type header struct {
	magic     uint64
	version   uint32
	localSize uint32
	bytes     uint64
	ringBytes uint32
	creator   uint32
	cores     uint32
	_         uint32
	looked    uint64
	deaths    uint32
	apart     uint32
	given     uint64
}

type control struct {
	bell       uint32
	sleepers   uint32
	_          [14]uint32
	state      uint32
	pid        uint32
	probeAddr  uint64
	probeValue uint64
	attention  uint32
	node       uint32
	self       uint64
	_          [6]uint32
}

type position struct {
	read   uint64
	hold   uint32
	_      uint32
	claims [transport.ClaimSlots]uint64
}

// record is the first line of a record in formShort.
type record struct {
	state  uint32
	tag    int32
	cid    uint64
	lsrank int32
	srqid  uint32
	body   [inlineBytes]byte
}

// growingRecord is the first line of a record in formGrowing.
type growingRecord struct {
	state  uint32
	tag    int32
	cid    uint64
	lsrank int32
	srqid  uint32
	filled uint32
	_      [9]uint32
}

// fullRecord is the first line of a record in formFull.
type fullRecord struct {
	state  uint32
	tag    int32
	cid    uint64
	lsrank int32
	kind   uint32
	msgLen uint64
	srqID  uint64
	drqID  uint64
	addr   uint64
	_      uint64
}

// boardSlot is what a member of a board publishes in one operation.
type boardSlot struct {
	word    uint64
	payload [boardPayload]byte
}

type boardMember struct {
	done  uint64
	left  uint32
	_     uint32
	votes [2]boardVote
	_     [2]uint64
	slots [boardSlots]boardSlot // the first one begins a pair of lines, as a board has one before its members
	_     [8]uint64
}

type boardVote struct{ word, value uint64 }

// board is the first line of a board; its members' blocks follow.
type board struct {
	present uint32
	_       uint32
	pieces  uint32
	_       uint32
	lanes   uint64
	_       [5]uint64
}

type pointerPad [8 - unsafe.Sizeof(uintptr(0))]byte

type private struct {
	lock      uint32
	_         [15]uint32
	segment   unsafe.Pointer
	_         pointerPad
	localSize uint32
	localRank uint32
	ringBytes uint32
	_         uint32
	fence     uint32
	_         uint32
	probe     uint64
	_         [3]uint64
}

type outbound struct {
	tail, limit uint64
	ring        unsafe.Pointer
	_           pointerPad
	pos         *position
	_           pointerPad
	ctl         *control
	_           pointerPad
	_           [3]uint64
}

type inbound struct {
	read, told uint64
	ring       unsafe.Pointer
	_          pointerPad
	pos        *position
	_          pointerPad
	ctl        *control
	_          pointerPad
	size, max  uint32 // of the ring; of a payload
	_          [2]uint64
}

type peer struct {
	out outbound
	in  inbound
}

// views of the mapped segment; ranks are in 0..localSize-1: the callers' affair. control knows guests, too.

func (s *Segment) control(rank int) *control {
	if rank >= s.n {
		return s.peers[rank].out.ctl
	}
	return (*control)(unsafe.Pointer(&s.mem[controlOffset+rank*controlBytes(s.n)]))
}

// inbound are the bits of those that have opened their rings to a rank.
func (s *Segment) inbound(rank int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(s.control(rank)), controlHead)), bitmapWords(s.n))
}

func (s *Segment) positionAt(src, dst int) (int, *position) {
	off := positionOffset(s.n) + (dst*s.n+src)*lineBytes
	return off, (*position)(unsafe.Pointer(&s.mem[off]))
}

func (s *Segment) ringAt(src, dst int) (int, unsafe.Pointer) {
	off := ringOffset(s.n) + (dst*s.n+src)*s.ringBytes
	return off, unsafe.Pointer(&s.mem[off])
}

func (s *Segment) boardMap() *[Boards / 64]uint64 {
	return (*[Boards / 64]uint64)(unsafe.Pointer(&s.mem[boardMapOffset(s.n)]))
}

func (s *Segment) boardAt(i int) (int, *board) {
	off := boardOffset(s.n) + i*boardBytes(s.n)
	return off, (*board)(unsafe.Pointer(&s.mem[off]))
}

// Members is where the blocks of the members begin.
func (b *Board) Members() unsafe.Pointer { return unsafe.Pointer(&b.members[0]) }

// Wide is where the wide slots of the board begin.
func (b *Board) Wide() unsafe.Pointer { return unsafe.Pointer(&b.segment.mem[b.wide]) }

// First is the first slot of a lane's first member; the others follow, one of Bytes after the other.
func (l *Lane) First() unsafe.Pointer { return unsafe.Pointer(&l.mem[0]) }

// Slot implements transport.Lane.
func (l *Lane) Slot(member, i int) (word *uint64, payload []byte) {
	n := l.head + l.payload
	slot := l.mem[(member*l.slots+i)*l.Bytes:][:n:n]
	return (*uint64)(unsafe.Pointer(&slot[0])), slot[l.head:]
}

// membersOf are the blocks of all members that a board can have.
func (s *Segment) membersOf(b *board) []boardMember {
	return unsafe.Slice((*boardMember)(unsafe.Add(unsafe.Pointer(b), lineBytes)), min(s.n, BoardMembers))
}

// wideSlot is the word of the wide slot of a board at an offset, and its payload.
func (s *Segment) wideSlot(off int) (*uint64, []byte) {
	payload := s.mem[off+lineBytes : off+boardWideSize : off+boardWideSize]
	return (*uint64)(unsafe.Pointer(&s.mem[off])), payload
}

// placeFor is the word of a place for pieces at an offset, and its payload.
func (s *Segment) placeFor(off int) (*uint64, []byte) {
	payload := s.mem[off+pageBytes : off+boardPieceSize : off+boardPieceSize]
	return (*uint64)(unsafe.Pointer(&s.mem[off])), payload
}

// lastWord is the last word of some pages.
func lastWord(b []byte) *uint64 { return (*uint64)(unsafe.Pointer(&b[len(b)-8])) }

func headerOf(b []byte) *header { return (*header)(unsafe.Pointer(&b[0])) }

// Control is the address of a local rank's control block, for a fast path in C.
func (s *Segment) Control(rank int) unsafe.Pointer { return unsafe.Pointer(s.control(rank)) }

// Private is the address of the process's private memory, laid out as layout.go says, for a fast path in C.
func (s *Segment) Private() unsafe.Pointer { return unsafe.Pointer(s.priv) }

func (s *Segment) mapPrivate(b []byte) {
	s.priv = (*private)(unsafe.Pointer(&b[0]))
	s.peers = unsafe.Slice((*peer)(unsafe.Pointer(&b[privateHead])), MaxLocal)
	s.priv.segment = unsafe.Pointer(&s.mem[0])
	s.priv.localSize, s.priv.localRank = uint32(s.n), uint32(s.rank)
	s.priv.ringBytes = uint32(s.ringBytes)
	own := &s.peers[s.rank]
	own.out.ctl, own.in.ctl = s.control(s.rank), s.control(s.rank)
}

func (s *Segment) probeAddress() uint64 { return uint64(uintptr(unsafe.Pointer(&s.priv.probe))) }
