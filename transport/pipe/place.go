package pipe

import (
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// In place: who relays what comes out of a ring, or fills one from a socket, has the kernel copy from the ring and into
// it. What is read so stays in the ring until it is discarded; what is written is not seen before it is published. A
// run of bytes that passes the end of the ring is in two parts, of which the second is empty otherwise.

// Ahead is how many bytes there are to read. EPROTO: the other process has spoiled the memory.
func (e *End) Ahead() (int, syscall.Errno) {
	n := atomic.LoadUint64(&e.in.shared.written) - e.in.at
	if n > RingBytes {
		return 0, unix.EPROTO
	}
	return int(n), 0
}

// Peek is where n bytes are, skip bytes behind the next one. The caller knows that they are there (Ahead). The other
// process may still change them, and only them.
func (e *End) Peek(skip, n int) (a, b []byte) { return e.in.run(skip, n) }

// Discard takes n bytes that are there, unread.
func (e *End) Discard(n int) {
	e.in.at += uint64(n)
	e.release(&e.in)
}

// Free is how many bytes there is room for. EPROTO: the other process has spoiled the memory.
func (e *End) Free() (int, syscall.Errno) {
	used := e.out.at - atomic.LoadUint64(&e.out.shared.read)
	if used > RingBytes {
		return 0, unix.EPROTO
	}
	return int(RingBytes - used), 0
}

// Space is where n bytes belong, skip bytes behind the last one that was written. The caller knows that there is room
// (Free). The other process may change them.
func (e *End) Space(skip, n int) (a, b []byte) { return e.out.run(skip, n) }

// Publish makes n bytes that have been put into Space seen.
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

// Holds says whether there are n bytes to read, or, with fewer, the end of the stream that CloseWrite has made.
func (e *End) Holds(n int) bool {
	s := e.in.shared
	return !e.over.Load() && (atomic.LoadUint64(&s.written)-atomic.LoadUint64(&s.read) >= uint64(max(n, 1)) ||
		atomic.LoadUint32(&s.closed) != 0)
}

// Ended says whether nothing more will be written: CloseWrite, or, after Signal, the other end is gone.
func (e *End) Ended() bool { return e.gone || atomic.LoadUint32(&e.in.shared.closed) != 0 }
