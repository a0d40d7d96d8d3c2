package bundle

import (
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// Send writes a prefix of x, y and z, one after the other, to the connections, and returns how many bytes it has taken.
// Any of the three may be empty, but not all. If n is less than was given, every connection is full; that is not an
// error unless n is 0, which is EAGAIN.
func (b *Bundle) Send(x, y, z []byte) (n int, errno syscall.Errno) {
	all := len(x) + len(y) + len(z)
	for n < all {
		size := min(all-n, pieceMax)
		k := b.choose(size)
		if k < 0 {
			break
		}
		if errno = b.put(k, [3][]byte{x, y, z}, n, size); errno == 0 {
			n += size
		} else if !would(errno) {
			return n, errno
		}
	}
	if n == 0 {
		return 0, unix.EAGAIN
	}
	return n, 0
}

// choose returns which connection gets the next piece, or -1 if all are full. size is the length of the piece in bytes.
func (b *Bundle) choose(size int) int {
	if size <= shortMax && !b.conns[0].full {
		return 0
	}
	for range b.conns {
		k := b.turn
		if b.turn++; b.turn == len(b.conns) {
			b.turn = 0
		}
		if !b.conns[k].full {
			return k
		}
	}
	return -1
}

// put writes a piece, size bytes of from behind the first skip bytes, to connection k. If the connection takes only a
// part of the piece, put keeps a copy of the rest for Writable.
func (b *Bundle) put(k int, from [3][]byte, skip, size int) syscall.Errno {
	c := &b.conns[k]
	putHead(b.head[:], b.sent, size)
	parts := [4][]byte{b.head[:]}
	for i, p := range from {
		cut := min(skip, len(p))
		p, skip = p[cut:], skip-cut
		parts[i+1] = p[:min(size, len(p))]
		size -= len(parts[i+1])
	}
	n, errno := b.vec.Send(c.fd, parts[:]...)
	if errno != 0 {
		if would(errno) {
			b.fill(k)
		}
		return errno
	}
	for _, p := range parts {
		cut := min(n, len(p))
		n -= cut
		c.rest = append(c.rest, p[cut:]...)
	}
	if len(c.rest) > 0 {
		b.fill(k)
	}
	for _, p := range parts[1:] {
		b.sent += uint64(len(p))
	}
	return 0
}

func (b *Bundle) fill(k int) {
	if c := &b.conns[k]; !c.full {
		c.full = true
		b.full++
		b.update(k)
	}
}

// Full reports whether a connection is full, so that the caller should wait for EPOLLOUT.
func (b *Bundle) Full() bool { return b.full > 0 }

// Pending reports whether anything that Send has taken has not left yet.
func (b *Bundle) Pending() bool {
	for k := range b.conns {
		if b.conns[k].off < len(b.conns[k].rest) {
			return true
		}
	}
	return false
}

// Writable is called when epoll says that connection k has room. It writes what put has kept.
func (b *Bundle) Writable(k int) syscall.Errno {
	if k < 0 || k >= len(b.conns) || b.conns[k].fd < 0 || !b.conns[k].full {
		return 0
	}
	c := &b.conns[k]
	for c.off < len(c.rest) {
		n, errno := kernel.Send(c.fd, c.rest[c.off:])
		if would(errno) {
			return 0
		}
		if errno != 0 {
			return errno
		}
		c.off += n
	}
	c.rest, c.off, c.full = c.rest[:0], 0, false
	b.full--
	b.update(k)
	if c.closing {
		b.halve(k)
	}
	return 0
}

// CloseWrite sends the end of the stream behind all data. What does not leave now leaves in Writable.
func (b *Bundle) CloseWrite() {
	for k := range b.conns {
		c := &b.conns[k]
		if c.closing || c.fd < 0 {
			continue
		}
		var end [headSize]byte
		putHead(end[:], b.sent, 0)
		c.closing = true
		c.rest = append(c.rest, end[:]...)
		b.fill(k)
		b.Writable(k)
	}
}

func (b *Bundle) halve(k int) {
	if c := &b.conns[k]; !c.halved {
		c.halved = true
		unix.Shutdown(c.fd, unix.SHUT_WR)
	}
}

// GiveUp drops what has not left, because a connection is broken for writing. Reading goes on.
func (b *Bundle) GiveUp() {
	for k := range b.conns {
		c := &b.conns[k]
		c.rest, c.off, c.closing = nil, 0, true
		if c.full {
			c.full = false
			b.full--
			b.update(k)
		}
	}
}
