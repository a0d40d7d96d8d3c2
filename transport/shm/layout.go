package shm

import (
	"math/bits"

	"github.com/libimpi/libimpi/transport"
)

// What follows is data, not code: every byte that two processes, or Go and C, see of each other.
// All integers are in the machine's own byte order. z_layout.h says the same to C and is generated from here.
//
// The segment, one memfd for all ranks of one machine (n of them):
//
//	0                      header, one line
//	controlOffset          n control blocks of controlBytes(n)
//	boardMapOffset(n)      one line: u64 [4] bit i%64 of word i/64: board i is in use
//	positionOffset(n)      n*n position lines: that of src -> dst is number dst*n+src
//	ringOffset(n)          n*n rings of ringSize(n): that of src -> dst is number dst*n+src
//	boardOffset(n)         Boards boards of boardBytes(n)
//	segmentBytes(n)        memory of windows, if their members cannot have each other's descriptors: annex.go. The file
//	                       grows by it
//
// Header:
//
//	 0  u64  magic
//	 8  u32  version
//	12  u32  n, the number of local ranks
//	16  u64  size of the segment in bytes
//	24  u32  size of one ring in bytes
//	28  u32  pid of the creator, or of another process that all ranks descend from
//	32  u32  number of cores that the creator may use
//	40  u64  when a rank last looked whether the others live, in nanoseconds of the machine's clock, see alive.go
//	48  u32  how many of them were found dead
//	52  u32  1: a rank could not open a descriptor of another
//	56  u64  bytes of windows behind the end of the segment that have been given away, in all
//
// Control block of a rank, four lines or more:
//
//	  0  u32  bell: counts the times somebody rang; the futex word
//	  4  u32  sleepers: bits 0-30 how many threads of the rank wait for the bell to leave its present value,
//	          bit 31 "I cannot membarrier, fence before you look here"
//	 64  u32  state: 0 not here yet, 1 attached, 2 detached in good order, 3 found dead
//	 68  u32  pid
//	 72  u64  address of a probe word in the rank's memory
//	 80  u64  what a reader must find there
//	 88  u32  attention: whom a sender of a long message should wake while no thread of the rank is in MPI, see
//	          attention.go
//	 92  u32  the NUMA node that the rank is bound to, and 1; 0: none
//	 96  u64  a number that only its process has
//	128  u64  [bitmapWords(n)] bit s%64 of word s/64: rank s has opened its ring to this rank
//
// Position line of a ring:
//
//	0  u64  read: bytes the receiver has consumed since the start, skipped ones included. It is allowed to
//	        lag behind by less than a quarter of the ring
//	8  u32  hold: 1 if the receiver wants no more messages that it has not asked for. The sender looks here when it
//	        reads the position, and as long as it finds 1 sets its limit to its tail, so that it looks each time
//	16 u64  [6] claims: which process moves which section of a long message from src to dst, see libimpi/direct
//
// Ring: records, each at a multiple of 64 bytes, contiguous. The record after one that ends at the end of
// the ring is at 0. A record is at most a quarter of the ring long. Its first line:
//
//	 0  u32  state: 0 not published; else bits 0-7 the form, bits 8-31 the payload's length in bytes
//	 4  i32  tag
//	 8  u64  context id
//	16  i32  lsrank
//	20  u32  formShort: srqid; formFull: the packet's kind
//	24       formShort: payload of at most 40 bytes; formGrowing: u32 filled; formFull: u64 msglen, u64 srqid, u64 drqid,
//	         u64 addr
//	64       the payload, if it is not in the first line
//
// formShort is a whole eager message: kind Data, msglen equal to the payload's length, drqid and addr 0,
// srqid below 2^32. formGrowing is one of more than 40 bytes that is published while its sender still gathers the
// payload: as many bytes as filled says are there, and no other record is published before it has all of them. A
// receiver may scatter what is there, or regard the message as not yet there. formSkip has no other field: the next
// record is at 0. The line that follows the last published record has state 0: the sender clears it before it
// publishes.
//
// Board: where the members of a communicator meet for short collective operations (gobridge/executor/board.h); all zero
// while nobody uses it. They are at most BoardMembers ranks, in the order of their ranks in the communicator. The first
// line:
//
//	 0  u32  present: members that have not left. The last one to leave clears all lines and then the bit in the map
//	 8  u32  pieces: 1 if slots for pieces of long operations may have been used
//	16  u64  lanes: so many bytes of the memory for lanes may have been used
//	64       a block for each member:
//	   0  u64  done: operations that the member has completed
//	   8  u32  left: 1 if others have left for the member, which has died
//	  64       slots of two lines: that of operation s, counted from 1, is number s%BoardSlots:
//	     0  u64  word: bits 0-7 the length of the payload in bytes, bits 8-63 the operation, stored last
//	     8       payload of at most 120 bytes
//	         for each member 16 wide slots, whose first line begins with a word as above, of 16 bits for the length; a
//	         payload of at most 16 KiB and a line follows
//	         from a new page on, room for lanes, 2 MiB for each member. A lane begins with a new page, and is zero
//	         when an operation gets it. It has slots of the size that the operation needs, one member's after the
//	         other's; round s of the operation, counted from 1, uses slot s modulo their number. They are 128 like those
//	         above; or 16 of a line, which begins with a word as that of a wide slot, a payload of at most 16 KiB,
//	         and 1 KiB that nobody uses; or 4 with a word as that of a piece, and a payload of 64 KiB. The word has
//	         the number of the round. Memory stands behind those lanes that are used
//	         from a new page on, for each member slots for pieces of long operations, 16 of them if there are up to 8
//	         members, and else 4: a page that begins with a word as above, of 24 bits for the length, and a payload of
//	         at most 64 KiB. Memory stands behind them from the first such operation on
//
// A member writes the slot of operation s when all members have completed operation s-BoardSlots. Operations with more
// data use the wide slots one after the other, each when all members have completed the operation that had it before.
// Long operations consist of pieces, each of which is an operation and uses a slot for pieces. A lane belongs to one
// persistent operation at a time, whose start takes one round, or, if it is long, a round for each of its pieces. Each
// member publishes a slot of the lane in each round. If there are n slots, it writes that of round s when it sees that
// all others have published round s-n+1: they have then completed the round before that.
//
// The memory of a pair, a memfd for each two processes that are each other's guests (guest.go). End 0 has offered it:
//
//	   0  u64  magic
//	   8  u32  version
//	  12  u32  room for a ring in bytes
//	  16  u64  size of it all in bytes
//	  64       two lines, for end 0 and end 1:
//	   0  u32  left: 0 no, 1 in good order and nothing more will come, 2 the link is broken
//	 192       two position lines: that of what end 0 sends, and of what end 1 sends
//	4096       two rings of maxRingBytes, likewise. A sender uses as much of its own as a ring of its segment has
//
// Of a guest's segment a process uses the guest's control block only, and the record lock on its rank.
//
// Private memory, one anonymous mapping in each process: the positions that a peer must not be able to
// change, and the engine's lock, where C can reach them.
//
//	  0  u32  lock: 0 free, 1 held, 2 held and somebody may sleep (futex, private)
//	 64  ptr  base of the segment in this process
//	 72  u32  n
//	 76  u32  own local rank
//	 80  u32  ring size in bytes, of all rings that this process sends by
//	 84  u32  unused
//	 88  u32  1: senders of this process fence before they look at sleepers
//	 92  u32  unused
//	 96  u64  the probe word
//	128       MaxLocal peers of 128 bytes: the n of the segment, then guests. There is memory for those in use only
//	   0  u64  tail: bytes sent, skipped ones included
//	   8  u64  limit: tail may grow up to here before the position must be read again
//	  16  ptr  ring to the peer, 0 as long as it is not open
//	  24  ptr  its position line
//	  32  ptr  the peer's control block, if the ring was ever open; a rank's own, and a guest's, always
//	  64  u64  read: bytes consumed
//	  72  u64  told: the value last written to the position line; when read-told reaches a quarter of the
//	           ring, it is written anew and the peer's sleepers are looked at
//	  80  ptr  ring from the peer, 0 as long as it is not open. A ring that was open can be read for ever: whoever looks
//	           at it without the lock finds nothing in it once it is closed
//	  88  ptr  its position line
//	  96  ptr  the peer's control block, if the ring was ever open
//	 104  u32  size of the ring in bytes: a guest's own rings may be smaller or larger than ours
//	 108  u32  largest payload of a record in it, bytes
//
// Pointers take 8 bytes. The peers' lines are used under the lock.
const (
	magic   = 0x314d4853_49504d49 // "IMPISHM1" on a little-endian machine
	version = 15

	// MaxLocal is the largest number of ranks that share a segment. Rings of pairs that never talk take addresses, and
	// no memory: 35 TiB of 128 for so many ranks.
	MaxLocal = transport.MaxLocal

	// lineBytes is the unit of records and of everything else that two cores hand to each other.
	lineBytes = 64

	headerBytes   = lineBytes
	controlOffset = headerBytes
	controlHead   = 2 * lineBytes

	pageBytes    = transport.LanePage
	maxRingBytes = 256 << 10
	minRingBytes = 8 << 10
	inboundBytes = 2 << 20 // aim of all rings to one rank together

	// BoardMembers is the largest number of ranks that share a board.
	BoardMembers = transport.BoardMembers
	// Boards is the number of boards in a segment.
	Boards = 256

	boardSlots      = 128
	boardSlotBytes  = 2 * lineBytes // which processors fetch together
	boardPayload    = boardSlotBytes - 8
	boardWordShift  = 8
	boardMemberSize = (1 + boardSlots) * boardSlotBytes

	boardWideSlots   = transport.BoardWideSlots
	boardLongest     = transport.BoardLongest // of one contribution; a list of blocks may have a line beside it
	boardWidePayload = lineBytes + boardLongest
	boardWideShift   = 16
	boardWideSize    = lineBytes + boardWidePayload

	boardLaneSlots = 128 // of boardSlotBytes
	boardLongSlots = 16
	boardLongGap   = 1 << 10 // between two of them: what a core reads ahead of one is not what another writes next
	boardLaneBytes = 2 << 20 // of all lanes, for each member

	boardPieces       = transport.BoardPieces // of few members
	boardPiecesOfMany = 4
	boardFewMembers   = 8
	boardLanePieces   = 4 // of a lane, or twice as many that are shorter
	boardPiecePayload = 64 << 10
	boardPieceShift   = 24
	boardPieceSize    = pageBytes + boardPiecePayload

	pairMagic     = 0x31524950_49504d49 // "IMPIPIR1" on a little-endian machine
	pairVersion   = 1
	pairEnds      = lineBytes
	pairPositions = pairEnds + 2*lineBytes
	pairRings     = pageBytes
	pairBytes     = pairRings + 2*maxRingBytes

	privateHead = 2 * lineBytes
	privatePeer = 2 * lineBytes
)

// Forms of a record: the low byte of its state word.
const (
	formShort   = 1
	formFull    = 2
	formSkip    = 3
	formGrowing = 4
)

const (
	inlineBytes = 40 // payload that fits into the first line of formShort
	lengthShift = 8
	formMask    = 1<<lengthShift - 1
)

const (
	stateAbsent   = 0
	stateAttached = 1
	stateDetached = 2
	stateDead     = 3

	sleepersNoBarrier = 1 << 31

	leftInOrder = 1
	leftBroken  = 2
)

// ringSize is the size in bytes, a power of two, of each ring of a segment for n ranks.
func ringSize(n int) int {
	return min(maxRingBytes, max(minRingBytes, 1<<(bits.Len(uint(inboundBytes/n))-1)))
}

// maxPayload is the largest payload of a record in bytes: record and first line fill a quarter of a ring.
func maxPayload(ringBytes int) int { return ringBytes/4 - lineBytes }

func bitmapWords(n int) int { return (n + 63) / 64 }

func controlBytes(n int) int { return controlHead + alignLine(max(2*lineBytes, 8*bitmapWords(n))) }

func boardMapOffset(n int) int { return controlOffset + n*controlBytes(n) }

func positionOffset(n int) int { return boardMapOffset(n) + lineBytes }

func ringOffset(n int) int { return alignPage(positionOffset(n) + n*n*lineBytes) }

func boardOffset(n int) int { return ringOffset(n) + n*n*ringSize(n) }

// boardBytes is the size in bytes of each board of a segment for n ranks.
func boardBytes(n int) int {
	n = min(n, BoardMembers)
	return boardPieceOffset(n) + max(min(n, boardFewMembers)*boardPieces, n*boardPiecesOfMany)*boardPieceSize
}

// placesOf is how many slots for pieces each of some members has.
func placesOf(members int) int {
	if members > boardFewMembers {
		return boardPiecesOfMany
	}
	return boardPieces
}

// boardPieceOffset is where the slots for pieces of a board begin.
func boardPieceOffset(n int) int {
	return boardLaneOffset(n) + min(n, BoardMembers)*boardLaneBytes
}

// boardLaneOffset is where the lanes of a board begin.
func boardLaneOffset(n int) int {
	return alignPage(boardWideOffset(n) + min(n, BoardMembers)*boardWideSlots*boardWideSize)
}

// boardWideOffset is where the wide slots of a board begin.
func boardWideOffset(n int) int { return lineBytes + min(n, BoardMembers)*boardMemberSize }

func segmentBytes(n int) int { return boardOffset(n) + Boards*boardBytes(n) }

// privateBytes is what private memory takes for n peers.
func privateBytes(n int) int { return alignPage(privateHead + n*privatePeer) }

func alignLine(x int) int { return (x + lineBytes - 1) &^ (lineBytes - 1) }

func alignPage(x int) int { return (x + pageBytes - 1) &^ (pageBytes - 1) }

// recordBytes is the room that a record with a payload of n bytes takes in the ring.
func recordBytes(form uint32, n uint64) uint64 {
	if form == formShort && n <= inlineBytes {
		return lineBytes
	}
	return lineBytes + (n+lineBytes-1)&^(lineBytes-1)
}
