package pipe

import (
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reading and writing without a copy, for an agent: the kernel copies from the ring to a socket, or from a socket into
// the ring. What Peek answers stays in the ring until Discard; what is written to Space is not seen before Publish.
// Both answer a run of bytes in two parts, because it may pass the end of the ring; the second part may be empty.

// Ahead is how many bytes there are to read. EPROTO is as for Write.
func (e *End) Ahead() (int, syscall.Errno) {
	n := atomic.LoadUint64(&e.in.shared.written) - e.in.at
	if n > RingBytes {
		return 0, unix.EPROTO
	}
	return int(n), 0
}

// Peek returns n bytes of the ring, from skip bytes behind our position on. The caller must know that they are there
// (Ahead). The other process may still change them.
func (e *End) Peek(skip, n int) (a, b []byte) { return e.in.run(skip, n) }

// Discard skips n bytes that are there.
func (e *End) Discard(n int) {
	e.in.at += uint64(n)
	e.release(&e.in)
}

// Free is how many bytes there is room for. EPROTO is as for Write.
func (e *End) Free() (int, syscall.Errno) {
	used := e.out.at - atomic.LoadUint64(&e.out.shared.read)
	if used > RingBytes {
		return 0, unix.EPROTO
	}
	return int(RingBytes - used), 0
}

// Space returns room for n bytes of the ring, from skip bytes behind our position on. The caller must know that there
// is room (Free). The other process may write there, too.
func (e *End) Space(skip, n int) (a, b []byte) { return e.out.run(skip, n) }

// Publish lets the other side see n bytes that were written to Space.
func (e *End) Publish(n int) {
	e.out.at += uint64(n)
	e.publish(&e.out.shared.written, e.out.at, &e.out.shared.wantsData)
}

// run is n bytes of the ring, skip bytes behind our position.
func (h *half) run(skip, n int) (a, b []byte) {
	at := int((h.at + uint64(skip)) % RingBytes)
	first := min(n, RingBytes-at)
	return h.ring[at : at+first : at+first], h.ring[: n-first : n-first]
}

// Holds reports whether there are n bytes to read, or, with fewer, the end of the stream that CloseWrite has made.
func (e *End) Holds(n int) bool {
	s := e.in.shared
	return !e.over.Load() && (atomic.LoadUint64(&s.written)-atomic.LoadUint64(&s.read) >= uint64(max(n, 1)) ||
		atomic.LoadUint32(&s.closed) != 0)
}

// Ended reports whether nothing more will be written: CloseWrite, or, after Signal, the other end is gone.
func (e *End) Ended() bool { return e.gone || atomic.LoadUint32(&e.in.shared.closed) != 0 }
