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
//	number of entries | entry: destination, where the block begins in the part, its bytes or ByMessage | ... | blocks
//
// A block that does not fit, or is longer than longBlock, is sent as a message at once. Whoever needs a block finds its
// entry, and takes the block from the part or receives the message. So nobody has to know the lengths of others, and
// the list costs no round of its own. An empty part says that all blocks are messages.
//
// The ends of a block agree on its length (MPI 5.0, 6.1), so that a receive of more than longBlock is posted before the
// list is read: a long message then finds its place. A receiver that only has more room than it needs takes the receive
// back.

// AnyLength is said to Begin where each rank says with Put how long its own part is.
const AnyLength = -1

const (
	longBlock  = 8 << 10  // in bytes; from there on both cores had better copy at the same time, as with messages
	mostRoom   = 16 << 10 // of a part, without a line
	leastRoom  = 56       // a part that is not longer is cheaper
	blockAlign = 64       // of blocks that are not shorter, in memory
	partLead   = 8        // so many bytes into such a piece of memory a part begins
	entryBytes = 8
	offsetBits = 16
	lengthMask = 1<<offsetBits - 1
	ByMessage  = lengthMask // stands for a length
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
	foreseen bool  // such messages are received before the list is read
	others   bool  // an entry for each rank, with no block for the own one
	laid     *Laid // what is done is noted here; nil: nowhere
	seen     byte
	expected int // the request of the receive that has been posted first, of those whose entries have not been read
}

// begin begins a part with an entry for each of some blocks, if there is memory for it now.
func (l *listing) begin(entries int, blocks func(i int) Buf) (begun bool, err error) {
	l.used = (1 + entries) * entryBytes
	need := int64(l.used)
	for i := 0; i < entries && need <= leastRoom; i++ {
		need += (blocks(i).Size() + entryBytes - 1) &^ (entryBytes - 1)
	}
	if need > leastRoom {
		need = mostRoom + blockAlign
	}
	mem, err := l.b.Put(need)
	if mem == nil || err != nil {
		return false, err
	}
	if l.used > len(mem) {
		l.used = 0
		return true, nil
	}
	l.mem = mem
	binary.NativeEndian.PutUint64(mem, uint64(entries))
	return true, nil
}

// add writes the entry that comes next, and its block or a message to the destination, below 0 for none.
func (l *listing) add(block Buf, to, tag int) error {
	n, at, size := ByMessage, l.used, block.Size()
	if size >= blockAlign {
		at = aligned(at)
	}
	switch {
	case to < 0:
		n = 0
	case size <= l.long && size <= int64(len(l.mem)-at) && l.mem != nil:
		n = int(size)
		l.laid.put(block, at)
		if err := Pack(l.mem[at:at+n], block, 0); err != nil {
			return err
		}
		l.used = min((at+n+entryBytes-1)&^(entryBytes-1), len(l.mem))
	}
	if l.mem != nil {
		l.written++
		entry := uint64(uint32(to))<<(2*offsetBits) | uint64(at)<<offsetBits | uint64(n)
		binary.NativeEndian.PutUint64(l.mem[l.written*entryBytes:], entry)
	}
	if n != ByMessage {
		return nil
	}
	s := l.messages()
	return s.Add(l.c.Isend(block, to, tag))
}

// aligned is the place of a part that comes next and is a whole number of lines into the memory.
func aligned(at int) int { return (at+partLead+blockAlign-1)&^(blockAlign-1) - partLead }

func (l *listing) messages() *Scratch {
	if l.s == nil {
		l.s = l.c.Scratch()
	}
	return l.s
}

// expect starts to receive a block that is so long that it comes as a message. Blocks are taken in the order in which
// they are expected.
func (l *listing) expect(to Buf, from, tag int) error {
	if to.Size() <= l.long {
		return nil
	}
	l.foreseen = true
	s := l.messages()
	return s.Add(l.c.Irecv(to, from, tag))
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
	if size >= blockAlign && size <= l.long {
		l.foresee(part, from, i, int(size))
	}
	long := l.foreseen && size > l.long
	if i >= entriesOf(part) || entryOf(part, i)&lengthMask == ByMessage {
		if long {
			l.expected++
			return nil
		}
		s := l.messages()
		return s.Add(l.c.Irecv(to, from, tag))
	}
	entry := entryOf(part, i)
	at, n := int(entry>>offsetBits&lengthMask), int(entry&lengthMask)
	if at+n > len(part) {
		return &Error{Class: abi.MPI_ERR_INTERN, Msg: fmt.Sprintf("rank %d shows a block that ends beyond its part", from)}
	}
	if int64(n) > size {
		return &Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", from, n, size)}
	}
	if long {
		if err := l.takeBack(from, n, size); err != nil {
			return err
		}
	}
	return Unpack(to, part[at:at+n], 0)
}

// copyOwn copies the block of this rank for itself.
func (l *listing) copyOwn(to, own Buf) error {
	if own.Size() > 0 {
		l.laid.take(LaidBlock{Buf: to, From: l.b.Rank(), Own: own})
	}
	return l.c.Copy(to, own)
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

// takeBack takes back the receive that was expected next.
func (l *listing) takeBack(from, got int, room int64) error {
	w, can := l.c.(Withdrawer)
	if !can || !w.Withdraw(l.s.reqs[l.expected]) {
		l.expected++
		return &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf("rank %d has %d bytes, and this rank expects %d", from, got,
			room)}
	}
	l.s.reqs = slices.Delete(l.s.reqs, l.expected, l.expected+1)
	return nil
}

// show shows the part to the others.
func (l *listing) show() {
	l.laid.show(l.mem, l.used)
	l.b.Publish(int64(l.used))
}

// end ends the operation, and then its messages.
func (l *listing) end(err error) error {
	l.b.End()
	if l.s == nil {
		return err
	}
	l.laid.drop()
	if failed := l.s.Wait(l.c); err == nil {
		err = failed
	}
	l.s.Done(&err)
	return err
}
