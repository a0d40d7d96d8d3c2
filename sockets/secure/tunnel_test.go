package secure

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// tunnels are two ends of one: plain sockets with TLS between them.
func tunnels(t *testing.T) (a, b net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conf, err := ServerTLS(nil)
	if err != nil {
		t.Fatal(err)
	}
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	open := func(c *tls.Conn, to *net.Conn, done chan error) {
		err := c.Handshake()
		if err == nil {
			var fd int
			if fd, err = Tunnel(c); err == nil {
				f := os.NewFile(uintptr(fd), "")
				*to, err = net.FileConn(f)
				f.Close()
			}
		}
		done <- err
	}
	done := make(chan error, 2)
	go open(tls.Client(dialed, ClientTLS(nil)), &a, done)
	go open(tls.Server(accepted, conf), &b, done)
	for range 2 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []net.Conn{a, b} {
		c.SetDeadline(time.Now().Add(10 * time.Second))
		t.Cleanup(func() { c.Close() })
	}
	return a, b
}

func TestATunnelCarriesBothDirectionsAndEndsThemAlone(t *testing.T) {
	a, b := tunnels(t)
	data := bytes.Repeat([]byte("libimpi "), 1<<17)
	go func() {
		a.Write(data)
		a.(*net.UnixConn).CloseWrite()
	}()
	if got, err := io.ReadAll(b); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d of %d bytes, %v", len(got), len(data), err)
	}
	if _, err := b.Write([]byte("back")); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if got, err := io.ReadAll(a); err != nil || string(got) != "back" {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestWhatWasWrittenBeforeCloseArrives(t *testing.T) {
	a, b := tunnels(t)
	data := bytes.Repeat([]byte{1}, 300<<10)
	go func() {
		a.Write(data)
		a.Close()
	}()
	go b.Write([]byte("nobody reads this"))
	if got, _ := io.ReadAll(b); len(got) != len(data) {
		t.Fatalf("%d of %d bytes", len(got), len(data))
	}
}

func TestTheConnectionBehindATunnelIsKnownAsLongAsItIsThere(t *testing.T) {
	a, b := tunnels(t)
	f, err := a.(*net.UnixConn).File() // the same socket, under another number
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fd, is := int(f.Fd()), false
	ask := func() bool {
		return Channel(fd, func(tcp int) {
			_, err := unix.GetsockoptTCPInfo(tcp, unix.IPPROTO_TCP, unix.TCP_INFO)
			is = err == nil
		})
	}
	if !ask() || !is {
		t.Error("no TCP connection behind it")
	}
	a.(*net.UnixConn).CloseWrite()
	b.Close()
	io.ReadAll(a)
	for end := time.Now().Add(10 * time.Second); ask(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is known after its end")
		}
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if Channel(pair[0], func(int) {}) || Channel(-1, func(int) {}) {
		t.Error("any socket is a tunnel's")
	}
}
