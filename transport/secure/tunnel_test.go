package secure

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"os"
	"testing"
	"time"
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
