package board

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/buffer"
)

// Messages carry blocks that do not stand on the board.
type Messages interface {
	// Isend and Irecv start a message, Wait ends the given ones; each Req is waited for exactly once.
	Isend(b Buf, to, tag int) (Req, error)
	Irecv(b Buf, from, tag int) (Req, error)
	Wait(reqs ...Req) error
	// Withdraw takes a receive back, if no message has come for it. It is not waited for then.
	Withdraw(r Req) bool
	// Copy moves data of the rank's own.
	Copy(dst, src Buf) error
}

// Req names a message under way.
type Req uint64

// Exchange is an operation whose blocks have lengths that not all ranks know: the v-forms, and those of neighborhoods.
// Each rank decides alone which of its blocks it puts on the board. Its contribution begins with a list of all of them
// (list.go). A block that does not fit, or is longer than what is said to Begin, is sent as a message at once. Whoever
// needs a block finds its entry, and takes the block from the contribution or receives the message. So nobody has to
// know the lengths of others, and the list costs no round of its own.
//
//	Begin -> Give, Take, Keep for each block -> Do
//
// The ends of a block agree on its length (MPI 5.0, 6.1), so that a receive of a long one is posted before the list is
// read: the message then finds its place. Such messages have tags of their own, as receives of others are posted later.
// A receiver that only has more room than it needs takes the receive back.
//
// An Exchange uses the memory of an earlier one again. It does not keep the lists of the arguments: a program has to
// leave those alone until the operation is complete (MPI 5.0, 6.12), but mpi4py 4.1 does not.
type Exchange struct {
	long     int64   // blocks that are longer are messages
	most     int64   // bytes of a contribution in a long slot; 0: there are none
	ordered  bool    // entries are found by their number, and not by the rank that they are for
	out      []block // in the order of the list; none: the rank has no contribution
	in       []block // from other ranks
	own      []kept  // from this one
	list     list
	reqs     []Req // of messages that have been started
	expected int   // the first of reqs whose entry has not been read
}

// block is a block that another rank gives or gets.
type block struct {
	Buf
	peer int32 // below 0: nobody else needs it
	tag  int32
	nth  int32 // of in: its number in the list of the peer, or of those there that are for this rank
}

// kept is a block of the rank for itself.
type kept struct{ to, from Buf }

// LongBlock is the length of a block, in bytes, from which on both cores had better copy at the same time, as with
// messages. A block for one rank that copies all of them has all the room (transport.BoardLongest).
const LongBlock = 8 << 10

// Begin begins a new exchange, of blocks on the board that have at most so many bytes, where a contribution in a long
// slot has `most`; 0: there are none. ordered says that all ranks know the number of entries of others.
func (x *Exchange) Begin(long, most int64, ordered bool) {
	x.long, x.most, x.ordered, x.expected = long, most, ordered, 0
	x.out, x.in, x.own, x.reqs = x.out[:0], x.in[:0], x.own[:0], x.reqs[:0]
}

// Give adds a block for another rank; below 0, an entry that nobody needs.
func (x *Exchange) Give(b Buf, to, tag int) {
	e := another(&x.out)
	e.Base, e.Count, e.Type = b.Base, b.Count, b.Type
	e.peer, e.tag = int32(to), int32(tag)
}

// Take adds a block from another rank: the one of this number in the list of that rank or, if entries are not ordered,
// of those there that are for this rank.
func (x *Exchange) Take(b Buf, from, nth, tag int) {
	e := another(&x.in)
	e.Base, e.Count, e.Type = b.Base, b.Count, b.Type
	e.peer, e.nth, e.tag = int32(from), int32(nth), int32(tag)
}

// Keep adds a block of the rank for itself.
func (x *Exchange) Keep(to, from Buf) {
	e := another(&x.own)
	e.to, e.from = to, from
}

// another makes a list longer by an entry, and returns it for the caller to fill field by field: a struct that was just
// made of fields, and is copied into the list as a whole, is read before the processor has stored it.
func another[T any](list *[]T) *T {
	l := *list
	if len(l) == cap(l) {
		l = slices.Grow(l, 1)
	}
	l = l[:len(l)+1]
	*list = l
	return &l[len(l)-1]
}

// Do carries an exchange out, on a board that blocks. After an error of a block the others are taken all the same.
func (x *Exchange) Do(m Messages, b Board) error {
	b.Begin(AnyLength)
	err := x.move(m, b)
	b.End()
	if len(x.reqs) == 0 {
		return err
	}
	return cmp.Or(err, m.Wait(x.reqs...))
}

func (x *Exchange) move(m Messages, b Board) (first error) {
	for i := range x.in {
		if in := &x.in[i]; x.isLong(in) {
			if err := x.add(m.Irecv(in.Buf, int(in.peer), LongTag(int(in.tag)))); err != nil {
				return err
			}
		}
	}
	if err := x.show(m, b); err != nil {
		return err
	}
	for i := range x.own { // while the contributions of others are on their way
		first = cmp.Or(first, m.Copy(x.own[i].to, x.own[i].from))
	}
	for i := range x.in {
		in := &x.in[i]
		part, err := b.Get(int(in.peer))
		if err != nil {
			return err
		}
		nth := int(in.nth)
		if !x.ordered {
			nth = nthFor(part, b.Rank(), nth)
		}
		first = cmp.Or(first, x.take(m, part, in, nth))
	}
	return first
}

// isLong reports whether a block is a message, which both ends know.
func (x *Exchange) isLong(b *block) bool { return b.Size() > x.long }

// add notes a message, or passes on the error of the call that started it.
func (x *Exchange) add(r Req, err error) error {
	if err == nil {
		x.reqs = append(x.reqs, r)
	}
	return err
}

// show shows the own contribution.
func (x *Exchange) show(m Messages, b Board) error {
	if len(x.out) == 0 {
		return nil
	}
	mem, err := b.Put(room(x.out, x.long, x.most))
	if err != nil {
		return err
	}
	x.list.begin(mem, len(x.out))
	for i := range x.out {
		if err := x.give(m, &x.out[i]); err != nil {
			return err
		}
	}
	b.Publish(int64(x.list.used))
	return nil
}

// give writes the entry that comes next, and its block or a message to the destination.
func (x *Exchange) give(m Messages, b *block) error {
	size, to := b.Size(), int(b.peer)
	switch {
	case to < 0:
		x.list.add(newEntry(to, 0, 0))
		return nil
	case x.isLong(b):
		x.list.add(newEntry(to, 0, ByLongMessage))
		return x.add(m.Isend(b.Buf, to, LongTag(int(b.tag))))
	}
	mem, at := x.list.place(size)
	if mem == nil {
		x.list.add(newEntry(to, 0, ByMessage))
		return x.add(m.Isend(b.Buf, to, int(b.tag)))
	}
	x.list.add(newEntry(to, at, int(size)))
	return buffer.PackShown(mem, b.Buf)
}

// longTags are added to the tags of long messages.
const longTags = 1 << 9

// LongTag is the tag of a long message where it is tag for others.
func LongTag(tag int) int { return tag + longTags }

// take moves what entry i of a contribution stands for to its place, or starts to receive it.
func (x *Exchange) take(m Messages, part []byte, in *block, i int) error {
	e, long, from := entry(ByMessage), x.isLong(in), int(in.peer)
	if i < entries(part) {
		e = entryOf(part, i)
	} else if long {
		e = ByLongMessage // as of all that have no entry
	}
	at, n, size := e.at(), e.bytes(), in.Size()
	switch {
	case n == ByLongMessage && long:
		x.expected++
		return nil
	case n < ByLongMessage && at+n > len(part):
		return &Error{Class: abi.MPI_ERR_INTERN,
			Msg: fmt.Sprintf("rank %d shows a block that ends beyond its contribution", from)}
	case long:
		if err := x.takeBack(m, from, size); err != nil {
			return err
		}
	}
	switch {
	case n == ByLongMessage:
		return x.add(m.Irecv(in.Buf, from, LongTag(int(in.tag))))
	case n == ByMessage:
		return x.add(m.Irecv(in.Buf, from, int(in.tag)))
	case int64(n) > size:
		return &Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", from, n, size)}
	}
	return buffer.Unpack(in.Buf, part[at:at+n], 0)
}

// takeBack takes back the receive of a block that has been expected, but does not come as a long message.
func (x *Exchange) takeBack(m Messages, from int, room int64) error {
	if !m.Withdraw(x.reqs[x.expected]) {
		x.expected++
		return &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf("rank %d has not the %d bytes that this rank expects",
			from, room)}
	}
	x.reqs = slices.Delete(x.reqs, x.expected, x.expected+1)
	return nil
}
