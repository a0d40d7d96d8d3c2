package coll

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
)

// Operations on a board whose blocks have lengths that not all ranks know: the v-forms, and those of neighborhoods
// (board_exchange.go). Each rank decides alone which of its blocks it puts on the board. Its part begins with a list
// of all of them:
//
//	number of entries | entry: destination, where the block begins in the part, its bytes or ByMessage ... | ... | blocks
//
// A block that does not fit, or is longer than longBlock, is sent as a message at once. Whoever needs a block finds its
// entry, and takes the block from the part or receives the message. So nobody has to know the lengths of others, and
// the list costs no round of its own. An empty part says that all blocks are messages.
//
// The ends of a block agree on its length (MPI 5.0, 6.1), so that a receive of more than longBlock is posted before the
// list is read: a long message then finds its place. Such messages have tags of their own, as receives of others are
// posted later. A receiver that only has more room than it needs takes the receive back.

// AnyLength is said to Begin where each rank says with Put how long its own part is.
const AnyLength = -1

const (
	longBlock   = 8 << 10  // in bytes; from there on both cores had better copy at the same time, as with messages
	mostRoom    = 16 << 10 // of a part, without a line
	leastRoom   = 120      // a part that is not longer is cheaper
	mostShare   = 32 << 10 // of a block among others in a piece
	pieceBlocks = 2 << 10  // where they begin in a piece, if there is room: long buffers of programs begin with a page
	blockAlign  = 64       // of blocks from alignFrom on, in memory
	alignFrom   = 128      // so that what is shorter finds room in a short part
	entryBytes  = 8
	offsetBits  = 16
	lengthMask  = 1<<offsetBits - 1

	// These stand for a length.
	ByMessage     = lengthMask
	ByLongMessage = lengthMask - 1
)

// listing is an operation under way: the own part as it is written, and the messages.
type listing struct {
	c        Comm
	b        Board
	mem      []byte
	written  int // entries
	used     int // bytes
	s        *Scratch
	entries  int   // of a part
	long     int64 // blocks that are longer are messages
	piece    int64 // bytes of a piece; 0: there are none
	inPiece  bool  // the part is one
	others   bool  // an entry for each rank, with no block for the own one
	seen     byte
	expected int // the request of the receive that has been posted first, of those whose entries have not been read
}

// share lets blocks be so long that as many as each rank has in its part, of the same length, find room in a piece.
func (l *listing) share(blocks int) {
	if l.piece > 0 && blocks > 0 {
		l.long = max(l.long, shareOf(l.piece, l.entries, blocks))
	}
}

// shareOf is the length of blocks of which so many find room in a piece, behind a list of so many entries.
func shareOf(piece int64, entries, blocks int) int64 {
	return min((piece-int64((1+entries)*entryBytes))/int64(blocks)-blockAlign, mostShare)
}

// room is how many bytes a part asks for, and how many of them it uses, of which some are its list.
func (l *listing) room(blocks []exchanged) (room int64, used int) {
	used = l.used
	for i := range blocks {
		if n := blocks[i].Size(); n <= l.long {
			used = behind(placeFor(used, n), n)
		}
	}
	switch {
	case used <= leastRoom:
		return int64(used), used
	case used <= mostRoom+blockAlign || l.piece == 0:
		return mostRoom + blockAlign, used
	}
	return l.piece, used
}

// placeFor is where a block of n bytes begins in a part of which so many bytes are used; behind is what is used then.
func placeFor(used int, n int64) int {
	if n >= alignFrom {
		return aligned(used)
	}
	return used
}

func behind(at int, n int64) int { return (at + int(n) + entryBytes - 1) &^ (entryBytes - 1) }

// begin begins a part with an entry for each of some blocks, if there is memory for it now.
func (l *listing) begin(blocks []exchanged) (begun bool, err error) {
	l.used = (1 + len(blocks)) * entryBytes
	room, used := l.room(blocks)
	mem, err := l.b.Put(room)
	if mem == nil || err != nil {
		return false, err
	}
	if l.inPiece = room == l.piece && int64(len(mem)) >= room; l.inPiece && used+pieceBlocks <= len(mem) {
		l.used = max(l.used, pieceBlocks)
	}
	if l.used > len(mem) {
		l.used = 0
		return true, nil
	}
	l.mem = mem
	binary.NativeEndian.PutUint64(mem, uint64(len(blocks)))
	return true, nil
}

// add writes the entry that comes next, and its block or a message to the destination.
func (l *listing) add(block *exchanged) error {
	n, size, to := ByMessage, block.Size(), int(block.peer)
	at := placeFor(l.used, size)
	if l.foreseen(size) {
		n = ByLongMessage
	}
	switch {
	case to < 0:
		n = 0
	case size <= l.long && size <= int64(len(l.mem)-at) && l.mem != nil:
		n = int(size)
		if err := packShown(l.mem[at:at+n], block.Buf); err != nil {
			return err
		}
		l.used = min(behind(at, size), len(l.mem))
	}
	if l.mem != nil {
		l.written++
		entry := uint64(uint32(to))<<(2*offsetBits) | uint64(at)<<offsetBits | uint64(n)
		binary.NativeEndian.PutUint64(l.mem[l.written*entryBytes:], entry)
	}
	if n < ByLongMessage {
		return nil
	}
	s := l.messages()
	return s.Add(l.c.Isend(block.Buf, to, tagOf(n, int(block.tag))))
}

// longTags are added to the tags of long messages.
const longTags = 1 << 9

// tagOf is the tag of the message that stands for a block.
func tagOf(entry, tag int) int {
	if entry&lengthMask == ByLongMessage {
		return tag + longTags
	}
	return tag
}

// LongTag is the tag of a long message where it is tag for others.
func LongTag(tag int) int { return tagOf(ByLongMessage, tag) }

// foreseen reports whether a block of so many bytes is so long that it comes as a message.
func (l *listing) foreseen(n int64) bool { return n > l.long }

// aligned is the place of a part that comes next and begins a line.
func aligned(at int) int { return (at + blockAlign - 1) &^ (blockAlign - 1) }

func (l *listing) messages() *Scratch {
	if l.s == nil {
		l.s = l.c.Scratch()
	}
	return l.s
}

// expect starts to receive a block that comes as a long message. Blocks are taken in the order in which they are
// expected.
func (l *listing) expect(to Buf, from, tag int) error {
	if !l.foreseen(to.Size()) {
		return nil
	}
	s := l.messages()
	return s.Add(l.c.Irecv(to, from, LongTag(tag)))
}

// entriesOf is how many entries a part has, as far as it can be believed.
func entriesOf(part []byte) int {
	if len(part) < entryBytes {
		return 0
	}
	return int(min(binary.NativeEndian.Uint64(part), uint64(len(part)/entryBytes-1)))
}

func entryOf(part []byte, i int) uint64 { return binary.NativeEndian.Uint64(part[(i+1)*entryBytes:]) }

// unload moves what entry i of a rank's part stands for to its place, or has it received.
func (l *listing) unload(part []byte, to Buf, from, i, tag int) error {
	size := to.Size()
	if size >= alignFrom && size <= l.long {
		l.foresee(part, from, i, int(size))
	}
	entry := uint64(ByMessage)
	if i < entriesOf(part) {
		entry = entryOf(part, i)
	} else if l.foreseen(size) {
		entry = ByLongMessage // as of all that have no entry
	}
	at, n := int(entry>>offsetBits&lengthMask), int64(entry&lengthMask)
	if n == ByLongMessage && l.foreseen(size) {
		l.expected++
		return nil
	}
	if n < ByLongMessage && at+int(n) > len(part) {
		return &Error{Class: abi.MPI_ERR_INTERN,
			Msg: fmt.Sprintf("rank %d shows a block that ends beyond its part", from)}
	}
	if err := l.takeBack(from, size); err != nil {
		return err
	}
	switch {
	case n >= ByLongMessage:
		s := l.messages()
		return s.Add(l.c.Irecv(to, from, tagOf(int(n), tag)))
	case n > size:
		return &Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", from, n, size)}
	}
	return Unpack(to, part[at:at+int(n)], 0)
}

// foresee looks where the block of an entry begins if all blocks are as long, while the entry is on its way from the
// other core's cache. It does not matter what is there.
func (l *listing) foresee(part []byte, from, i, size int) {
	if l.others && i > from {
		i-- // the rank has no block for itself
	}
	at := aligned((1+l.entries)*entryBytes) + i*((size+blockAlign-1)&^(blockAlign-1))
	if at < len(part) {
		l.seen += part[at]
	}
}

// Withdrawer is a Comm that can take a receive back, if no message has come for it.
type Withdrawer interface{ Withdraw(r Req) bool }

// takeBack takes back the receive of a block that has been expected, but does not come as a long message.
func (l *listing) takeBack(from int, room int64) error {
	if !l.foreseen(room) {
		return nil
	}
	w, can := l.c.(Withdrawer)
	if !can || !w.Withdraw(l.s.reqs[l.expected]) {
		l.expected++
		return &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf("rank %d has not the %d bytes that this rank expects", from,
			room)}
	}
	l.s.reqs = slices.Delete(l.s.reqs, l.expected, l.expected+1)
	return nil
}

// show shows the part to the others.
func (l *listing) show() { l.b.Publish(int64(l.used)) }

// end ends the operation, and then its messages.
func (l *listing) end(err error) error {
	l.b.End()
	return l.await(err)
}

// await returns when all messages are over. The operation is over, with this error.
func (l *listing) await(err error) error {
	if l.s == nil {
		return err
	}
	if failed := l.s.Wait(l.c); err == nil {
		err = failed
	}
	l.s.Done(&err)
	return err
}
