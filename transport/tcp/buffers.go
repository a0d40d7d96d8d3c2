package tcp

import (
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Socket buffers. What a connection can have on its way is bounded by the buffer of its sender. Linux lets that grow
// with the need, up to 4 MiB as it comes: plenty inside a building, and less than a fast link between two continents
// holds. So for a connection whose round trip is long the buffer is made larger, if the system allows more than what it
// would grow to; and what is not sent yet is kept short, so that a short message does not stand behind megabytes. The
// receiving side grows far enough by itself, where there is one connection.

const (
	longTrip  = 5 * time.Millisecond // the round trip from which it matters
	wanRate   = 10e9 / 8             // bytes a second that the buffer shall be good for
	wanBuffer = 32 << 20             // bytes; and not more than this
	wanUnsent = 4 << 20              // bytes

	shareUnsent = 512 << 10 // bytes, on one of several connections
)

// widen makes room for what is on its way on a new connection.
func widen(fd int) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return
	}
	rtt := time.Duration(info.Rtt) * time.Microsecond
	size := bufferFor(rtt)
	if size == 0 || granted(size) <= grows() {
		return
	}
	setSendBuffer(fd, size)
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, wanUnsent)
}

// share keeps what is not sent yet short on one of several connections: what stands in the buffer of a slow one is lost
// to the others. On a long way it also gives it a receive buffer of fixed size. One that the system sizes grows with
// what is read, and here what has come before its turn is not read for some time.
func share(fd int) {
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, shareUnsent)
	if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
		fixReceiveBuffer(fd, time.Duration(info.Rtt)*time.Microsecond)
	}
}

func fixReceiveBuffer(fd int, rtt time.Duration) {
	if size := bufferFor(rtt); size > 0 && unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, size)
	}
}

// inside reports whether a connection stays inside this machine.
func inside(local, remote net.Addr) bool {
	a, ok := local.(*net.TCPAddr)
	b, ok2 := remote.(*net.TCPAddr)
	return ok && ok2 && (a.IP.IsLoopback() || a.IP.Equal(b.IP))
}

// unpace gives a connection inside this machine the oldest congestion control, which sends as fast as the window lets
// it. There is nothing on the way that could be congested, but bbr, where it is the system's, takes a process that has
// not been scheduled for a slow path, and holds back for seconds. Every Linux has reno, and everybody may ask for it.
func unpace(fd int) { unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "reno") }

// bufferFor is the right size for a round trip, in bytes; 0: leave it to the system.
func bufferFor(rtt time.Duration) int {
	if rtt < longTrip {
		return 0
	}
	return int(min(rtt.Seconds()*wanRate, wanBuffer))
}

// granted is what the system makes of a size, tried on a socket that is not used: one whose buffer has been set does
// not grow any more.
func granted(size int) int {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	setSendBuffer(fd, size)
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
	if err != nil {
		return 0
	}
	return n
}

func setSendBuffer(fd, size int) {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, size) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, size)
	}
}

// grows is the size to which a buffer grows by itself, in bytes, as the system counts.
func grows() int {
	var least, first, most int
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_wmem")
	if err == nil {
		_, err = fmt.Sscan(string(text), &least, &first, &most)
	}
	if err != nil {
		return wanBuffer
	}
	return most
}
