// Package bundle makes one stream of bytes out of several connected sockets (not in IMPI 0.0). It is for long distances
// that lose a packet now and then: a loss holds back one connection, and the others go on.
//
//	bundle.go      the connections, epoll's interest in each, the end
//	deal.go        outward: pieces of the stream to the connections that take them
//	collect.go     inward: pieces off the connections, in the order of the stream
//
// The stream is cut into pieces. A piece travels on one connection, behind a head that says where in the stream it
// belongs:
//
//	bytes 0-7   position of its first byte in the stream, from 0; on any one connection they rise
//	bytes 8-11  its length, 1 to pieceMax; 0: the end, the position is the length of the stream, nothing follows
//
// Short pieces go over the first connection as long as it takes them, so that one read there can bring several of them.
// Long pieces go to the connections in turn; a full one is passed over, so a slow connection gets less.
//
// The receiver does not copy to restore the order. The next piece of the stream is always the first on one of the
// connections, and the receiver reads it from there into its place. Pieces that arrive before their turn wait in their
// sockets. So pieces never overlap, and a peer has no buffer to fill. A peer that leaves a gap is found out when all
// connections have come to pieces behind the gap.
//
// The sockets do not block. The caller serialises the methods of a bundle.
package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/libimpi/libimpi/transport/kernel"
	"golang.org/x/sys/unix"
)

const (
	headSize = 12
	// pieceMax is the longest piece, in bytes. It bounds what is copied when a socket takes only a part of one.
	pieceMax = 128 << 10
	// shortMax is the longest piece, in bytes, that prefers the first connection.
	shortMax = 16 << 10
	// aheadMax is how many bytes of the stream a piece may be ahead of its turn: more than all sockets hold.
	aheadMax = 1 << 40
)

// Errors of a peer that does not keep to the rules, or of connections that end before the stream does.
var (
	ErrOrder = errors.New("piece out of order")
	ErrLong  = errors.New("piece of impossible length")
	ErrGap   = errors.New("bytes are missing between the pieces of all connections")
	ErrEarly = errors.New("closed before the end of what it carries: the peer terminated abnormally")
)

// Bundle is one stream over several connections.
type Bundle struct {
	conns []conn
	vec   kernel.Vector

	head [headSize]byte
	sent uint64 // bytes of the stream that have been dealt
	turn int    // whose turn it is to get a long piece
	full int    // connections that take no more

	got    uint64 // bytes of the stream that have been received
	cur    int    // the connection whose piece is due; -1: not known
	failed error  // what is wrong with what has been received

	epoll  int // -1: not registered
	id     int32
	events uint32
}

// conn is one connection.
type conn struct {
	fd int

	full    bool   // it has not taken all that it was given, and epoll will say when there is room
	rest    []byte // rest[off:] of its last piece has not left
	off     int
	closing bool // the end stands in rest, or has left: no more after it
	halved  bool

	head   [headSize]byte // of the piece that comes next
	nhead  int            // bytes of it that are here
	at     uint64         // where in the stream the piece goes on
	left   int            // bytes of it that have not been read
	parked bool           // it has come before its turn: epoll does not look at the connection
	ended  bool           // the end has come

	interest uint32 // what epoll looks for; 0: it does not know the connection
}

// New makes a bundle of connected stream sockets that do not block, in the same order at both ends. They are the
// bundle's from now on.
func New(fds []int) *Bundle {
	b := &Bundle{conns: make([]conn, len(fds)), cur: -1, epoll: -1}
	for i, fd := range fds {
		b.conns[i].fd = fd
	}
	return b
}

// Register adds the connections to an epoll, which reports the given read events. The bundle itself asks for EPOLLOUT
// when a connection is full. In an event Fd is id, and Pad is the number of the connection.
func (b *Bundle) Register(epoll int, id int32, events uint32) error {
	b.epoll, b.id, b.events = epoll, id, events
	for k := range b.conns {
		if err := b.update(k); err != nil {
			return err
		}
	}
	return nil
}

// Unregister takes the connections out of the epoll.
func (b *Bundle) Unregister() {
	for k := range b.conns {
		if c := &b.conns[k]; c.interest != 0 {
			unix.EpollCtl(b.epoll, unix.EPOLL_CTL_DEL, c.fd, nil)
			c.interest = 0
		}
	}
	b.epoll = -1
}

// update tells the epoll which events of a connection are of interest now.
func (b *Bundle) update(k int) error {
	c := &b.conns[k]
	if b.epoll < 0 || c.fd < 0 {
		return nil
	}
	want := uint32(0)
	if !c.parked && !c.ended {
		want = b.events
	}
	if c.full {
		want |= unix.EPOLLOUT | b.events&unix.EPOLLET
	}
	if want == c.interest {
		return nil
	}
	do := unix.EPOLL_CTL_MOD
	switch {
	case c.interest == 0:
		do = unix.EPOLL_CTL_ADD
	case want == 0:
		do = unix.EPOLL_CTL_DEL
	}
	c.interest = want
	return os.NewSyscallError("epoll_ctl",
		unix.EpollCtl(b.epoll, do, c.fd, &unix.EpollEvent{Events: want, Fd: b.id, Pad: int32(k)}))
}

// Each calls f with every descriptor.
func (b *Bundle) Each(f func(k, fd int)) {
	for k := range b.conns {
		f(k, b.conns[k].fd)
	}
}

// Close shuts down and closes the sockets. The shutdown tells the other end even if a forked child has copies.
func (b *Bundle) Close() {
	b.Unregister()
	for k := range b.conns {
		if c := &b.conns[k]; c.fd >= 0 {
			unix.Shutdown(c.fd, unix.SHUT_RDWR)
			unix.Close(c.fd)
			c.fd, c.rest = -1, nil
		}
	}
}

// early says that a connection has ended before the stream.
func (b *Bundle) early(k int, cause error) error {
	if cause == nil {
		return fmt.Errorf("connection %d of %d %w", k, len(b.conns), ErrEarly)
	}
	return fmt.Errorf("connection %d of %d: %w", k, len(b.conns), cause)
}

// putHead writes the head of a piece.
func putHead(head []byte, at uint64, n int) {
	binary.BigEndian.PutUint64(head, at)
	binary.BigEndian.PutUint32(head[8:], uint32(n))
}

// would reports whether an error means that the call would have blocked: nothing to read, or no room to write.
func would(errno syscall.Errno) bool {
	return errno == unix.EAGAIN || errno == unix.EINTR || errno == unix.ENOBUFS || errno == unix.ENOMEM
}
