package bundle

import (
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// Send deals a prefix of x, y and z to the connections, any of which may be empty, but not all, and answers how many
// bytes that is. If it is not all, every connection is full. EAGAIN: it is nothing.
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

// choose answers who gets the next piece; -1: all are full.
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

// put gives a connection the size bytes from skip on. What it does not take, though it has taken some, is kept.
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

// Full says whether a connection takes no more, so that epoll is to be asked.
func (b *Bundle) Full() bool { return b.full > 0 }

// Pending says whether anything that Send has taken has not left yet.
func (b *Bundle) Pending() bool {
	for k := range b.conns {
		if b.conns[k].off < len(b.conns[k].rest) {
			return true
		}
	}
	return false
}

// Writable takes epoll's word that a connection has room.
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

// CloseWrite sends the end of the stream, after what has not left yet: it may leave later (Writable).
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

// GiveUp drops what has not left: writing leads nowhere.
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
