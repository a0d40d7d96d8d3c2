package libimpi

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Buffered sends (MPI 5.0, 3.4 and 3.6): the message is copied aside and the call is done; what the program has
// attached bounds how much may be copied at a time. The copy stands in memory of our own, in the representation
// that the message has on its way, so that it goes out as bytes.

// attachedBuffer is the accounting of the buffer that the program has attached.
type attachedBuffer struct {
	attached bool
	size     int64 // bytes
	used     int64 // by messages that are not out yet, overhead included
}

var byteType = datatype.Named(abi.MPI_BYTE)

// AttachBuffer makes size bytes available to buffered sends.
func (e *Engine) AttachBuffer(size int64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.buffer.attached {
		return errorf(abi.MPI_ERR_BUFFER, "a buffer of %d bytes is attached already", e.buffer.size)
	}
	e.buffer = attachedBuffer{attached: true, size: size}
	return nil
}

// DetachBuffer waits until all buffered messages are out and takes the buffer away.
func (e *Engine) DetachBuffer() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.buffer.attached {
		return errorf(abi.MPI_ERR_BUFFER, "no buffer is attached")
	}
	e.drainBuffer()
	e.buffer = attachedBuffer{}
	return e.failure()
}

// FlushBuffer waits until all buffered messages are out.
func (e *Engine) FlushBuffer() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drainBuffer()
	return e.failure()
}

func (e *Engine) drainBuffer() {
	e.waitFor(func() bool { return e.buffer.used == 0 }, anyPeer)
}

// Bsend copies a message aside and starts to send the copy.
func (c *Comm) Bsend(base unsafe.Pointer, count int64, t *datatype.Type, dest int, tag int32) error {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bsend(c.p2p, base, count, t, int32(dest), tag)
}

// Ibsend is Bsend that answers a request, which is done.
func (c *Comm) Ibsend(base unsafe.Pointer, count int64, t *datatype.Type, dest int, tag int32) (uint64, error) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.bsend(c.p2p, base, count, t, int32(dest), tag); err != nil {
		return nullRequest, err
	}
	return e.newDone(c.p2p, emptyStatus), nil
}

func (e *Engine) bsend(ctx *context, base unsafe.Pointer, count int64, t *datatype.Type, dest, tag int32) error {
	if dest == abi.MPI_PROC_NULL {
		return nil
	}
	world := ctx.comm.group.ranks[dest]
	rep := e.peers[world].rep
	n := t.PackedSize(count, rep)
	if err := e.reserve(n); err != nil {
		return err
	}
	copied := make([]byte, n)
	if n > 0 {
		var cur datatype.Cursor
		cur.Init(base, count, t, rep)
		cur.Pack(copied)
		if err := cur.Err(); err != nil {
			e.buffer.used -= n + abi.MPI_BSEND_OVERHEAD
			return err
		}
	}
	r := e.newSend(ctx, unsafe.Pointer(unsafe.SliceData(copied)), n, byteType, world, tag, modeBuffered)
	r.reserved = n + abi.MPI_BSEND_OVERHEAD
	r.detached = true
	e.start(r)
	return nil
}

// reserve takes room for a message of n bytes from the attached buffer, once what is on its way out has been given
// a chance to leave.
func (e *Engine) reserve(n int64) error {
	b := &e.buffer
	if !b.attached {
		return errorf(abi.MPI_ERR_BUFFER, "a buffered send needs a buffer: call MPI_Buffer_attach")
	}
	for !b.fits(n) && n < b.size && e.pollAll() {
	}
	if !b.fits(n) {
		return errorf(abi.MPI_ERR_BUFFER, "a buffered send needs %d bytes and %d of overhead, and %d of the attached %d are free",
			n, abi.MPI_BSEND_OVERHEAD, b.size-b.used, b.size)
	}
	b.used += n + abi.MPI_BSEND_OVERHEAD
	return nil
}

// fits says whether there is room for a message of n bytes, which may be as large as a number can be.
func (b *attachedBuffer) fits(n int64) bool { return n <= b.size-b.used-abi.MPI_BSEND_OVERHEAD }
