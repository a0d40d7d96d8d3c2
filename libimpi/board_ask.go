package libimpi

import (
	"encoding/binary"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport"
)

// Memory that others have been told to read, and cannot: it could be read once, and has been given back to the system
// since, which now has something else at its addresses, as the memory of a device. A member that cannot read a block
// asks its owner for it, which sends it as a message: the owner is in the operation until all who read its memory have
// ended it.

// Tags of what members ask for, and of what they are sent, above those of votes.
const (
	askTag = voteTag + 1<<28 + iota
	askedTag
)

// askBytes is an address and a length.
const askBytes = 16

// copied is the message that brings a block which could not be read.
type copied struct {
	nothing
	over bool
	n    int64 // what the owner has sent
	err  *Error
}

// partDone implements compound.
func (c *copied) partDone(_ *Engine, message *Request) {
	c.over, c.n, c.err = true, message.status.Bytes, message.failure()
}

// ask gets a block by messages, and returns how much of it is there: all of it, or nothing so far if the operation does
// not block.
func (p *boardPlace) ask(rank int, from uint64, to []byte) (n int, err error) {
	e := p.c.engine
	if p.waits {
		e.mu.Lock()
		defer e.mu.Unlock()
	}
	c := p.asked
	if c == nil {
		c = &copied{}
		p.asked = c
		in := coll.Bytes(to)
		e.postRecv(e.newRecv(p.c.coll, in.Base, in.Count, in.Type, rank, askedTag).join(c, 0))
		words := binary.NativeEndian.AppendUint64(make([]byte, 0, askBytes), from)
		p.c.sendBytes(rank, binary.NativeEndian.AppendUint64(words, uint64(len(to))), askTag)
	}
	if p.waits {
		if e.waitFor(func() bool { return c.over }, p.c.group.World(rank)); !c.over {
			return 0, e.failure()
		}
	}
	if !c.over {
		return 0, nil
	}
	p.asked = nil
	switch {
	case c.err != nil:
		return 0, c.err
	case c.n < int64(len(to)):
		return 0, errorf(abi.MPI_ERR_OTHER, "%d bytes of the memory of rank %d cannot be read", len(to), rank)
	}
	return len(to), nil
}

// sendBytes sends bytes to a member, which expects them. Engine lock held.
func (c *Comm) sendBytes(rank int, mem []byte, tag int32) {
	e, b, world := c.engine, coll.Bytes(mem), c.group.World(rank)
	e.start(e.newSend(c.coll, b.Base, b.Count, b.Type, world, tag, modeStandard).join(nothing{}, 0))
}

// serveReaders makes this member answer those who cannot read its memory.
func (b *commBoard) serveReaders() {
	e := b.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	b.c.coll.serve = b
	for r := range b.Size() {
		b.arrived(int32(r)) // who was here first
	}
}

// arrived implements server. What is asked for must be what others have been told of: nothing else is touched, and
// there is an empty answer.
func (b *commBoard) arrived(source int32) {
	ctx, e := b.c.coll, b.c.engine
	for {
		m := ctx.space.Find(source, askTag)
		if m == nil {
			return
		}
		ctx.take(m)
		if e.watch.on {
			e.countReceived(ctx, m.peer, m.length)
		}
		if m.kind != uint8(transport.Data) || len(m.payload) != askBytes {
			e.breach(m.peer, "request for memory that makes no sense")
			e.giveBack(m)
			return
		}
		at, n := binary.NativeEndian.Uint64(m.payload), binary.NativeEndian.Uint64(m.payload[8:])
		e.giveBack(m)
		b.doubts.Store(true)
		var mem []byte
		if x := (extent{at, at + n}); x.upTo > at && b.readable.has(x) {
			mem = bytesAt(pointerAt(at), int64(n))
		}
		b.c.sendBytes(int(source), mem, askedTag)
	}
}
