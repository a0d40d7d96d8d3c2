package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Buffered sends (MPI 5.0, 3.4 and 3.6): the message is copied aside and the call is done; what the program has
// attached bounds how much may be copied at a time. The copy stands in memory of our own, in the representation
// that the message has on its way, so that it goes out as bytes.

// bsendOverhead is what a message counts beyond its bytes. It is the least MPI_BSEND_OVERHEAD of all headers that
// programs are compiled with: the standard ABI's is 512, Open MPI's 128, MPICH's 96.
const bsendOverhead = 96

// attachedBuffer is the accounting of a buffer that the program has attached: to the process, or to a communicator,
// whose messages then use that one (MPI 5.0, 3.6).
type attachedBuffer struct {
	attached bool
	size     int64 // bytes
	used     int64 // by messages that are not out yet, overhead included

	messages uint64     // counts the messages that have been put in
	flushes  []*Request // that wait for the messages put in before them
	inside   uint64     // messages that are not out yet
}

var byteType = datatype.Named(abi.MPI_BYTE)

// AttachBuffer makes size bytes available to the buffered sends of all communicators that have no buffer of their own.
func (e *Engine) AttachBuffer(size int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.predefined.buffer.attach(size, "the process")
}

// AttachBuffer makes size bytes available to the buffered sends of a communicator.
func (c *Comm) AttachBuffer(size int64) error {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.buffer.attach(size, c.describe())
}

func (b *attachedBuffer) attach(size int64, to string) error {
	if b.attached {
		return errorf(abi.MPI_ERR_BUFFER, "a buffer of %d bytes is attached to %s already", b.size, to)
	}
	b.attached, b.size = true, size
	return nil
}

// DetachBuffer waits until all messages in the process's buffer are out and takes it away.
func (e *Engine) DetachBuffer() error { return e.detachBuffer(&e.predefined.buffer, "the process") }

// DetachBuffer waits until all messages in the communicator's buffer are out and takes it away.
func (c *Comm) DetachBuffer() error { return c.engine.detachBuffer(&c.buffer, c.describe()) }

func (e *Engine) detachBuffer(b *attachedBuffer, from string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !b.attached {
		return errorf(abi.MPI_ERR_BUFFER, "no buffer is attached to %s", from)
	}
	e.waitFor(func() bool { return b.used == 0 }, anyPeer, forRoom)
	if err := e.failure(); err != nil {
		return err
	}
	b.attached, b.size = false, 0
	return nil
}

// FlushBuffer waits until all messages that are in the process's buffer are out.
func (e *Engine) FlushBuffer() error { return e.flushBuffer(e.predefined.self, &e.predefined.buffer) }

// FlushBuffer waits until all messages that are in the communicator's buffer are out.
func (c *Comm) FlushBuffer() error { return c.engine.flushBuffer(c, &c.buffer) }

// Buffer is one that several communicators share: those of a session.
type Buffer struct {
	attachedBuffer
	engine *Engine
}

// NewBuffer makes a buffer without room.
func (e *Engine) NewBuffer() *Buffer { return &Buffer{engine: e} }

// Attach makes size bytes available to the buffered sends of communicators that use it and have none of their own.
func (b *Buffer) Attach(size int64) error {
	b.engine.mu.Lock()
	defer b.engine.mu.Unlock()
	return b.attach(size, "the session")
}

// Detach waits until all messages in the buffer are out and takes it away.
func (b *Buffer) Detach() error { return b.engine.detachBuffer(&b.attachedBuffer, "the session") }

// Flush waits until all messages that are in the buffer are out.
func (b *Buffer) Flush() error {
	return b.engine.flushBuffer(b.engine.predefined.self, &b.attachedBuffer)
}

// Iflush returns a request that is done when all messages that are in the buffer are out.
func (b *Buffer) Iflush() uint64 {
	return b.engine.iflushBuffer(b.engine.predefined.self, &b.attachedBuffer)
}

// UseBuffer lets a communicator use a buffer that others use, too.
func (c *Comm) UseBuffer(b *Buffer) { c.shared = b }

func (e *Engine) flushBuffer(c *Comm, b *attachedBuffer) error {
	id := e.iflushBuffer(c, b)
	return e.Wait(&id, nil)
}

// IflushBuffer returns a request that is done when all messages that are in the process's buffer are out.
func (e *Engine) IflushBuffer() uint64 {
	return e.iflushBuffer(e.predefined.self, &e.predefined.buffer)
}

// IflushBuffer returns a request that is done when all messages that are in the communicator's buffer are out.
func (c *Comm) IflushBuffer() uint64 { return c.engine.iflushBuffer(c, &c.buffer) }

func (e *Engine) iflushBuffer(c *Comm, b *attachedBuffer) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newCompound(c.p2p, nothing{})
	if b.inside == 0 {
		e.complete(r)
		return r.id
	}
	r.buffered.turn, r.mem.count = b.messages, int64(b.inside)
	b.flushes = append(b.flushes, r)
	return r.id
}

// release gives back the room of a buffered send that is out.
func (e *Engine) release(r *Request) {
	b := r.buffered.buffer
	b.used -= r.buffered.reserved
	b.inside--
	waiting := b.flushes[:0]
	for _, f := range b.flushes {
		if r.buffered.turn <= f.buffered.turn {
			f.mem.count--
		}
		if f.mem.count == 0 {
			e.complete(f)
		} else {
			waiting = append(waiting, f)
		}
	}
	b.flushes = waiting
}

// Bsend copies a message aside and starts to send the copy.
func (c *Comm) Bsend(base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32) error {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bsend(c.p2p, base, count, t, int32(dest), tag)
}

// Ibsend is Bsend that answers a request, which is done.
func (c *Comm) Ibsend(base datatype.Pointer, count int64, t *datatype.Type, dest int, tag int32) (uint64, error) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.bsend(c.p2p, base, count, t, int32(dest), tag); err != nil {
		return nullRequest, err
	}
	return sentRequest, nil
}

func (e *Engine) bsend(ctx *context, base datatype.Pointer, count int64, t *datatype.Type, dest, tag int32) error {
	if dest == abi.MPI_PROC_NULL {
		return nil
	}
	world := ctx.comm.group.World(int(dest))
	rep := ctx.rep(world)
	n := t.PackedSize(count, rep)
	b := &ctx.comm.buffer
	if shared := ctx.comm.shared; !b.attached && shared != nil {
		b = &shared.attachedBuffer
	}
	if !b.attached {
		b = &e.predefined.buffer
	}
	if err := e.reserve(b, n); err != nil {
		return err
	}
	copied, err := packed(base, count, t, rep)
	if err != nil {
		b.used -= n + bsendOverhead
		return err
	}
	r := e.newSendOfCopy(ctx, copied, count, t, world, tag, modeBuffered)
	b.messages++
	b.inside++
	r.buffered.buffer, r.buffered.turn = b, b.messages
	r.buffered.reserved = n + bsendOverhead
	r.state.detached = true
	e.start(r)
	return nil
}

// newSendOfCopy is newSend of what packed has copied. It says of itself what the program sends.
func (e *Engine) newSendOfCopy(ctx *context, copied []byte, count int64, t *datatype.Type, world, tag int32,
	mode sendMode) *Request {
	r := e.newSend(ctx, startOf(copied), int64(len(copied)), byteType, world, tag, mode)
	r.declared = declaration{elements: count, dtype: t.ID(), types: e.types(ctx, e.peer(world), count, t), copied: true}
	return r
}

// packed copies a message aside, as the bytes that go out.
func packed(base datatype.Pointer, count int64, t *datatype.Type, rep datatype.Rep) ([]byte, error) {
	copied := make([]byte, t.PackedSize(count, rep))
	if len(copied) > 0 {
		var cur datatype.Cursor
		cur.Init(base, count, t, rep)
		cur.Pack(copied)
		if err := cur.Err(); err != nil {
			return nil, err
		}
	}
	return copied, nil
}

// reserve takes room for a message of n bytes from a buffer, once what is on its way out has been given a chance to
// leave.
func (e *Engine) reserve(b *attachedBuffer, n int64) error {
	if !b.attached {
		return errorf(abi.MPI_ERR_BUFFER, "a buffered send needs a buffer: call MPI_Buffer_attach")
	}
	if n < b.size {
		e.makeRoom(b, n)
	}
	if !b.fits(n) {
		return errorf(abi.MPI_ERR_BUFFER,
			"a buffered send needs %d bytes and %d of overhead, and %d of the attached %d are free",
			n, bsendOverhead, b.size-b.used, b.size)
	}
	b.used += n + bsendOverhead
	return nil
}

// reservePolls is how many polls in a row may pass without a buffered message leaving, before there is no room: many
// more than it takes to see all that has come, and a bound where others send without pause.
const reservePolls = 256

// makeRoom lets messages leave until there is room for one of n bytes, or nothing moves, or only what others send.
func (e *Engine) makeRoom(b *attachedBuffer, n int64) {
	for polls, used := 0, b.used; !b.fits(n) && polls < reservePolls && e.pollAll(); polls++ {
		if b.used < used {
			polls, used = 0, b.used
		}
	}
}

// fits reports whether there is room for a message of n bytes, which may be as large as a number can be.
func (b *attachedBuffer) fits(n int64) bool { return n <= b.size-b.used-bsendOverhead }
