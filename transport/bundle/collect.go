package bundle

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

// Receive reads the next bytes of the stream, first into x and then into y, and returns how many. One of the two may be
// empty. It returns EAGAIN if there are none now, and io.EOF at the end of the stream.
func (b *Bundle) Receive(x, y []byte) (int, error) {
	for b.failed == nil {
		if b.cur < 0 {
			if err := b.seek(); err != nil {
				return 0, err
			}
		}
		n, err := b.read(x, y)
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, b.failed
}

// read reads from the piece whose turn it is. In the same system call it reads the head of the piece behind it.
func (b *Bundle) read(x, y []byte) (int, error) {
	k := b.cur
	c := &b.conns[k]
	x = x[:min(len(x), c.left)]
	y = y[:min(len(y), c.left-len(x))]
	var head []byte
	if len(x)+len(y) == c.left {
		head = c.head[:]
	}
	n, errno := b.vec.Receive(c.fd, x, y, head)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return 0, unix.EAGAIN
	case errno != 0:
		return 0, b.early(k, errno)
	case n == 0:
		return 0, b.early(k, nil)
	}
	placed := min(n, len(x)+len(y))
	b.got += uint64(placed)
	c.at += uint64(placed)
	if c.left -= placed; c.left == 0 {
		b.cur, c.nhead = -1, n-placed
		if c.nhead == headSize {
			b.failed = b.begin(k)
		}
		if b.failed == nil {
			b.failed = b.unpark()
		}
	}
	return placed, nil
}

// unpark has epoll watch the connection whose piece is next again, if that piece arrived before its turn.
func (b *Bundle) unpark() error {
	for k := range b.conns {
		c := &b.conns[k]
		if !c.parked || c.at > b.got {
			continue
		}
		if c.at < b.got || b.cur >= 0 {
			return b.misplaced(k)
		}
		c.parked = false
		b.cur = k
		if err := b.update(k); err != nil {
			return err
		}
	}
	return nil
}

// seek finds the connection whose piece is next. It returns EAGAIN if that piece has not arrived.
func (b *Bundle) seek() error {
	waiting, ended := 0, 0
	for k := range b.conns {
		c := &b.conns[k]
		if !c.parked && !c.ended {
			come, err := b.readHead(k)
			if err != nil {
				b.failed = err
				return err
			}
			if b.cur >= 0 {
				return nil
			}
			if !come {
				waiting++
			}
		}
		if c.ended {
			ended++
		}
	}
	switch {
	case ended == len(b.conns):
		b.failed = b.end()
		return b.failed
	case waiting == 0:
		b.failed = ErrGap
		return b.failed
	}
	return unix.EAGAIN
}

// readHead reads the head of the next piece on a connection. It reports whether that is whole.
func (b *Bundle) readHead(k int) (bool, error) {
	c := &b.conns[k]
	for c.nhead < headSize {
		n, errno := kernel.Recv(c.fd, c.head[c.nhead:])
		switch {
		case errno == unix.EAGAIN || errno == unix.EINTR:
			return false, nil
		case errno != 0:
			return false, b.early(k, errno)
		case n == 0:
			return false, b.early(k, nil)
		}
		c.nhead += n
	}
	return true, b.begin(k)
}

// begin checks and takes over the head of a piece that connection k has brought.
func (b *Bundle) begin(k int) error {
	c := &b.conns[k]
	at, n := binary.BigEndian.Uint64(c.head[:]), binary.BigEndian.Uint32(c.head[8:])
	if n > pieceMax {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrLong, n, pieceMax)
	}
	if at < b.got || at-b.got > aheadMax {
		c.at = at
		return b.misplaced(k)
	}
	c.at, c.left, c.nhead = at, int(n), 0
	switch {
	case n == 0:
		c.ended = true
	case at == b.got && b.cur < 0:
		b.cur = k
	default:
		c.parked = true
	}
	return b.update(k)
}

func (b *Bundle) misplaced(k int) error {
	return fmt.Errorf("%w: connection %d goes on at byte %d of the stream, of which %d are here", ErrOrder, k,
		b.conns[k].at, b.got)
}

// end is called when every connection has ended. It returns io.EOF if the whole stream has arrived, and else an error.
func (b *Bundle) end() error {
	for k := range b.conns {
		if b.conns[k].at != b.got {
			return b.misplaced(k)
		}
	}
	return io.EOF
}
