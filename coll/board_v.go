package coll

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Operations on a board whose blocks have lengths that not all ranks know: the v-forms, and those of neighborhoods.
// Each rank decides alone which of its blocks it puts on the board. Its part begins with a list of all of them:
//
//	number of entries | entry: destination, where the block begins in the part, its bytes or byMessage | ... | blocks
//
// A block that does not fit is sent as a message at once. Whoever needs a block finds its entry, and takes the block from
// the part or receives the message. So the board tells nobody's lengths beforehand, and costs no round of its own. An
// empty part says that all blocks are messages.
//
// room is how long a part may be, the same at all ranks; it is less than 64 KiB.

const (
	entryBytes = 8
	offsetBits = 16
	lengthMask = 1<<offsetBits - 1
	byMessage  = lengthMask // stands for a length
)

// listing is the own part, as it is written, and the messages of the operation.
type listing struct {
	c       Comm
	b       Board
	mem     []byte
	entries int
	written int // entries
	used    int // bytes
	s       *Scratch
}

// list begins a part with so many entries.
func (l *listing) list(entries int) error {
	mem, err := l.b.Put()
	if err != nil {
		return err
	}
	l.mem, l.entries, l.used = mem, entries, (1+entries)*entryBytes
	if l.used > len(mem) {
		l.mem, l.used = nil, 0
		return nil
	}
	binary.NativeEndian.PutUint64(mem, uint64(entries))
	return nil
}

// add writes the entry that comes next, and its block or a message to the destination, below 0 for none.
func (l *listing) add(block Buf, to, tag int) error {
	n, at := byMessage, l.used
	if size := block.Size(); to < 0 {
		n = 0
	} else if l.mem != nil && size <= int64(len(l.mem)-at) && size < byMessage {
		n = int(size)
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
	if n != byMessage {
		return nil
	}
	s := l.messages()
	return s.Add(l.c.Isend(block, to, tag))
}

func (l *listing) messages() *Scratch {
	if l.s == nil {
		l.s = l.c.Scratch()
	}
	return l.s
}

// take moves the block that entry i of a rank's part stands for, or starts to receive it.
func (l *listing) take(to Buf, from, i, tag int) error {
	part, err := l.b.Get(from)
	if err != nil {
		return err
	}
	return l.unload(part, to, from, i, tag)
}

// takeNth is take of the entry that is number nth, from 0 on, of those for this rank.
func (l *listing) takeNth(to Buf, from, nth, tag int) error {
	part, err := l.b.Get(from)
	if err != nil {
		return err
	}
	me := uint64(l.b.Rank())
	for i := 0; (i+2)*entryBytes <= len(part); i++ {
		if entryOf(part, i)>>(2*offsetBits) != me {
			continue
		}
		if nth == 0 {
			return l.unload(part, to, from, i, tag)
		}
		nth--
	}
	return l.unload(nil, to, from, 0, tag) // there are too many for a list
}

func entryOf(part []byte, i int) uint64 { return binary.NativeEndian.Uint64(part[(i+1)*entryBytes:]) }

func (l *listing) unload(part []byte, to Buf, from, i, tag int) error {
	if (i+2)*entryBytes > len(part) || entryOf(part, i)&lengthMask == byMessage {
		s := l.messages()
		return s.Add(l.c.Irecv(to, from, tag))
	}
	entry := entryOf(part, i)
	at, n := int(entry>>offsetBits&lengthMask), int(entry&lengthMask)
	if at+n > len(part) {
		return &Error{Class: abi.MPI_ERR_INTERN, Msg: fmt.Sprintf("rank %d shows a block that ends beyond its part", from)}
	}
	if int64(n) > to.Size() {
		return &Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", from, n,
			to.Size())}
	}
	return Unpack(to, part[at:at+n], 0)
}

// show shows the part to the others.
func (l *listing) show() { l.b.Publish(int64(l.used)) }

// end ends the operation, and then its messages.
func (l *listing) end(err error) error {
	l.b.End()
	if l.s == nil {
		return err
	}
	if err == nil {
		err = l.s.Wait(l.c)
	}
	l.s.Done(&err)
	return err
}

// BoardGatherv is Gatherv.
func BoardGatherv(c Comm, b Board, room int64, send Buf, recv VBuf, root int) error {
	l := listing{c: c, b: b}
	b.Begin(room)
	return l.end(l.gatherv(send, recv, root))
}

func (l *listing) gatherv(send Buf, recv VBuf, root int) error {
	if l.b.Rank() != root {
		if err := l.list(1); err != nil {
			return err
		}
		err := l.add(send, root, tagGather)
		l.show()
		return err
	}
	if err := copyOwn(l.c, recv.Block(root), send); err != nil {
		return err
	}
	for r := range l.b.Size() {
		if r == root {
			continue
		}
		if err := l.take(recv.Block(r), r, 0, tagGather); err != nil {
			return err
		}
	}
	return nil
}

// BoardScatterv is Scatterv.
func BoardScatterv(c Comm, b Board, room int64, send VBuf, recv Buf, root int) error {
	l := listing{c: c, b: b}
	b.Begin(room)
	return l.end(l.scatterv(send, recv, root))
}

func (l *listing) scatterv(send VBuf, recv Buf, root int) error {
	if l.b.Rank() != root {
		return l.take(recv, root, l.b.Rank(), tagScatter)
	}
	blocks := Blocks{v: send, kind: varying}
	if err := l.addAll(&blocks, tagScatter); err != nil || recv.IsInPlace() {
		return err
	}
	return l.c.Copy(recv, blocks.At(root))
}

// addAll is the part with a block for each rank but this one.
func (l *listing) addAll(blocks *Blocks, tag int) error {
	p, me := l.b.Size(), l.b.Rank()
	if err := l.list(p); err != nil {
		return err
	}
	for r := range p {
		to, block := r, Buf{}
		if r == me {
			to = -1
		} else {
			block = blocks.At(r)
		}
		if err := l.add(block, to, tag); err != nil {
			return err
		}
	}
	l.show()
	return nil
}

// BoardAlltoallv is Alltoallv and Alltoallw, not in place.
func BoardAlltoallv(c Comm, b Board, room int64, send, recv *Blocks) error {
	l := listing{c: c, b: b}
	b.Begin(room)
	return l.end(l.alltoallv(send, recv))
}

func (l *listing) alltoallv(send, recv *Blocks) error {
	me := l.b.Rank()
	if err := l.addAll(send, tagAlltoall); err != nil {
		return err
	}
	if err := l.c.Copy(recv.At(me), send.At(me)); err != nil {
		return err
	}
	for r := range l.b.Size() {
		if r == me {
			continue
		}
		if err := l.take(recv.At(r), r, me, tagAlltoall); err != nil {
			return err
		}
	}
	return nil
}

// BoardNeighbors is Neighbors.
func BoardNeighbors(c Comm, b Board, room int64, e *Edges, send, recv *Blocks) error {
	l := listing{c: c, b: b}
	b.Begin(room)
	return l.end(l.neighbors(e, send, recv))
}

func (l *listing) neighbors(e *Edges, send, recv *Blocks) error {
	me := l.b.Rank()
	if err := l.list(len(e.Out)); err != nil {
		return err
	}
	for i, r := range e.Out {
		to := int(r)
		if to == me {
			to = -1
		}
		block := Buf{}
		if to >= 0 {
			block = send.At(i)
		}
		if err := l.add(block, to, e.outTag(i)); err != nil {
			return err
		}
	}
	l.show()
	if err := e.copyOwn(l.c, send, recv); err != nil {
		return err
	}
	for i, r := range e.In {
		from := int(r)
		if from < 0 || from == me {
			continue
		}
		var err error
		if e.Grid {
			err = l.take(recv.At(i), from, i^1, e.inTag(i))
		} else {
			err = l.takeNth(recv.At(i), from, e.nth[i], e.inTag(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
