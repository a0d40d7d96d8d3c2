package secure

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lingerTime is how long a tunnel whose one side has gone waits for the other side to end.
const lingerTime = 2 * time.Second

// Tunnel makes a plain stream socket of a TLS connection, for callers that poll descriptors. What is written to the
// socket leaves encrypted, what arrives can be read from it, and the end of each direction is passed on separately. The
// socket does not block and belongs to the caller. c belongs to the tunnel, even if there is an error.
func Tunnel(c *tls.Conn) (fd int, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		c.Close()
		return -1, os.NewSyscallError("socketpair", err)
	}
	f := os.NewFile(uintptr(pair[1]), "tunnel")
	inner, err := net.FileConn(f)
	f.Close()
	if err != nil {
		c.Close()
		unix.Close(pair[0])
		return -1, err
	}
	t := &tunnel{channel: c, socket: inner.(*net.UnixConn), outDone: make(chan struct{})}
	if t.cookie, err = cookie(pair[0]); err == nil {
		channels.Store(t.cookie, c)
	}
	go t.out()
	go t.in()
	return pair[0], nil
}

// tunnel passes bytes between a TLS channel and a socket.
type tunnel struct {
	channel *tls.Conn
	socket  *net.UnixConn
	outDone chan struct{} // closed when nothing more leaves
	cookie  uint64        // of the socket that Tunnel has answered, for Channel; 0: the system has none
}

// channels are the TLS channels of all tunnels by the kernel's cookies of their sockets, which are never used again.
var channels sync.Map

func cookie(fd int) (uint64, error) {
	return unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
}

// Channel calls f with the TCP connection behind a socket of Tunnel, so that the caller can ask for its state. It
// returns false if fd is no such socket, or its tunnel has ended.
func Channel(fd int, f func(tcp int)) bool {
	id, err := cookie(fd)
	if err != nil {
		return false
	}
	c, ok := channels.Load(id)
	if !ok {
		return false
	}
	tcp, ok := c.(*tls.Conn).NetConn().(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := tcp.SyscallConn()
	return err == nil && raw.Control(func(fd uintptr) { f(int(fd)) }) == nil
}

// tunnelBuffer is a few records of TLS.
const tunnelBuffer = 64 << 10

// out encrypts and sends what the process writes, and then closes that direction.
func (t *tunnel) out() {
	defer close(t.outDone)
	_, err := io.CopyBuffer(t.channel, onlyReader{t.socket}, make([]byte, tunnelBuffer))
	if err != nil {
		// The other end is gone, or the process is, with something unread: that is no orderly end, and must not look so.
		t.socket.Close()
		t.channel.NetConn().Close()
		return
	}
	t.channel.CloseWrite()
}

// in hands the process what arrives, and then ends the tunnel.
func (t *tunnel) in() {
	defer channels.Delete(t.cookie)
	_, err := io.CopyBuffer(onlyWriter{t.socket}, t.channel, make([]byte, tunnelBuffer))
	switch {
	case err == nil:
		t.socket.CloseWrite()
		<-t.outDone
	case errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET):
		// The process has closed the socket. What it wrote before must still arrive: do not reset the connection.
		<-t.outDone
		t.channel.SetReadDeadline(time.Now().Add(lingerTime))
		io.Copy(io.Discard, t.channel)
	}
	t.socket.Close()
	t.channel.NetConn().Close()
}

// onlyReader and onlyWriter hide the shortcuts of io.Copy, which would keep the buffer from being used.
type onlyReader struct{ io.Reader }
type onlyWriter struct{ io.Writer }
