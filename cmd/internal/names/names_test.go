package names

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// serve starts a server and returns its address.
func serve(t *testing.T, config Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, config) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func client(t *testing.T, address, secret string) *Client {
	c := NewClient(At(address), secret)
	t.Cleanup(c.Close)
	return c
}

func TestNamesArePublishedOnceFoundByAllAndTakenBackByTheirOwner(t *testing.T) {
	for _, secret := range []string{"", "open sesame"} {
		at := serve(t, Config{Secret: secret})
		a, b := client(t, at, secret), client(t, at, secret)
		if _, err := b.Lookup("s"); !errors.Is(err, ErrNoName) {
			t.Errorf("got %v", err)
		}
		if err := a.Publish("s", "port"); err != nil {
			t.Fatal(err)
		}
		if err := b.Publish("s", "other"); !errors.Is(err, ErrExists) {
			t.Errorf("got %v", err)
		}
		if port, err := b.Lookup("s"); port != "port" || err != nil {
			t.Errorf("got %q, %v", port, err)
		}
		if err := b.Unpublish("s"); !errors.Is(err, ErrNoName) {
			t.Errorf("got %v", err)
		}
		if err := a.Unpublish("s"); err != nil {
			t.Error(err)
		}
		if err := b.Publish("s", "other"); err != nil {
			t.Error(err)
		}
	}
}

// lines is a listener without a network: connections are pipes in memory, so that a test may run in a bubble whose time
// is its own.
type lines struct {
	to     chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newLines() *lines { return &lines{to: make(chan net.Conn), closed: make(chan struct{})} }

func (l *lines) Accept() (net.Conn, error) {
	select {
	case c := <-l.to:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *lines) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *lines) Addr() net.Addr { return nil }

func (l *lines) dial(context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.to <- there:
		return here, nil
	case <-l.closed:
		return nil, ErrNoServer
	}
}

func TestNamesGoWithWhoHasPublishedThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLines()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go Serve(ctx, l, Config{})
		a, b := NewClient(l.dial, ""), NewClient(l.dial, "")
		defer b.Close()
		if err := a.Publish("s", "port"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Lookup("s"); err != nil {
			t.Fatal(err)
		}
		a.Close()
		synctest.Wait() // the server has seen the end of the connection
		if _, err := b.Lookup("s"); !errors.Is(err, ErrNoName) {
			t.Errorf("got %v", err)
		}
	})
}

// Time here is that of the bubble: an hour takes none.
func TestAServerStaysWhileItIsNeededAndEndsWhenItHasBeenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLines()
		var ended atomic.Bool
		go func() {
			if err := Serve(t.Context(), l, Config{Idle: time.Minute}); err != nil {
				t.Error(err)
			}
			ended.Store(true)
		}()
		at := func(later time.Duration, want bool) {
			t.Helper()
			time.Sleep(later)
			synctest.Wait()
			if ended.Load() != want {
				t.Fatalf("ended: %v, want %v", !want, want)
			}
		}
		at(50*time.Second, false)
		a := NewClient(l.dial, "")
		if err := a.Publish("s", "port"); err != nil {
			t.Fatal(err)
		}
		at(time.Hour, false)
		a.Close()
		at(59*time.Second, false)
		at(time.Second, true)
	})
}

func TestTheSecretIsProvedByBoth(t *testing.T) {
	closed, open := serve(t, Config{Secret: "one"}), serve(t, Config{})
	for _, tt := range []struct{ at, secret, said string }{{closed, "", "asks for the secret"},
		{closed, "two", "does not take the secret"}, {open, "one", "does not know the secret"}} {
		if err := client(t, tt.at, tt.secret).Publish("s", "p"); err == nil || !strings.Contains(err.Error(), tt.said) {
			t.Errorf("%q: %v", tt.secret, err)
		}
	}
	// A server that only pretends.
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	defer l.Close()
	go func() {
		c, _ := l.Accept()
		send(c, greeting{version, make([]byte, nonceSize)}, time.Time{})
		var p proof
		receive(c, &p, time.Time{})
		send(c, proof{MAC: p.MAC}, time.Time{})
	}()
	if err := client(t, l.Addr().String(), "one").Publish("s", "p"); err == nil {
		t.Error("it is believed")
	}
}

func TestAServerThatHasGoneIsAnErrorAndOneThatComesBackLearnsTheNames(t *testing.T) {
	folder := folderOf(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	start := func() error { go func() { done <- ServeIn(ctx, folder, 0) }(); return nil }
	a := NewClient(In(folder, start), "")
	defer a.Close()
	if err := a.Publish("s", "port"); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	a.dial = In(folder, nil)
	if _, err := a.Lookup("s"); !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	a.dial = In(folder, start)
	if err := a.Publish("t", "second"); err != nil {
		t.Fatal(err)
	}
	b := NewClient(In(folder, nil), "")
	defer b.Close()
	if port, err := b.Lookup("s"); port != "port" || err != nil {
		t.Errorf("got %q, %v", port, err)
	}
	cancel()
	<-done
}

// folderOf is where a test's server makes its folder.
func folderOf(t *testing.T) string { return filepath.Join(t.TempDir(), "libimpi") }

func TestALocalServerIsAloneAndEndsWhenNobodyNeedsIt(t *testing.T) {
	folder := folderOf(t)
	done := make(chan error, 1)
	start := func() error { go func() { done <- ServeIn(t.Context(), folder, 300*time.Millisecond) }(); return nil }
	a := NewClient(In(folder, start), "")
	if err := a.Publish("s", "port"); err != nil {
		t.Fatal(err)
	}
	if err := ServeIn(t.Context(), folder, time.Hour); err != nil { // it ends at once
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(folder, socketName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	a.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its folder is left behind: %v", err)
	}
}

func TestAFolderThatOthersMayEnterIsRefused(t *testing.T) {
	run := t.TempDir()
	dir := Folder(func(string) string { return run })
	if dir != filepath.Join(run, "libimpi") {
		t.Fatal(dir)
	}
	refused := func(what string) {
		t.Helper()
		start := func() error { t.Errorf("%s: a server is started", what); return nil }
		if err := NewClient(In(dir, start), "").Publish("s", "port"); err == nil || errors.Is(err, ErrNoServer) {
			t.Errorf("%s is accepted by a client: %v", what, err)
		}
		if err := ServeIn(t.Context(), dir, time.Millisecond); err == nil {
			t.Errorf("%s is accepted by a server", what)
		}
	}
	os.Mkdir(dir, 0o700)
	os.Chmod(dir, 0o755)
	refused("mode 0755")
	os.Remove(dir)
	os.Symlink(t.TempDir(), dir)
	refused("a symbolic link")
	os.Remove(dir)
	os.WriteFile(dir, nil, 0o600)
	refused("a file")
}

// Servers come and go while clients publish: there is never more than one, each client gets its answers, and nothing is
// left. Those who look up start no server, and make no folder.
func TestServersThatComeAndGoLeaveNothing(t *testing.T) {
	folder := folderOf(t)
	if _, err := NewClient(In(folder, nil), "").Lookup("s"); !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("who looks up has made the folder: %v", err)
	}
	var servers, clients sync.WaitGroup
	var serving atomic.Int32
	start := func() error {
		for range 3 {
			servers.Go(func() {
				lock, err := lockIn(folder)
				if err != nil || lock == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if n := serving.Add(1); n != 1 {
					t.Errorf("%d servers have the lock", n)
				}
				serving.Add(-1)
				unlock(lock, folder)
			})
			servers.Go(func() {
				if err := ServeIn(t.Context(), folder, time.Millisecond); err != nil {
					t.Error(err)
				}
			})
		}
		return nil
	}
	for i := range 8 {
		clients.Go(func() {
			for round := range 10 {
				c := NewClient(In(folder, start), "")
				name := fmt.Sprint(i, round)
				if err := c.Publish(name, name); err != nil {
					t.Errorf("client %d: %v", i, err)
				}
				if port, err := c.Lookup(name); port != name || err != nil {
					t.Errorf("client %d: %q, %v", i, port, err)
				}
				c.Close()
			}
		})
	}
	clients.Wait()
	servers.Wait()
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is left behind: %v", err)
	}
}

func TestGarbageAndCrowdsDoNoHarm(t *testing.T) {
	for _, secret := range []string{"", "one"} {
		at := serve(t, Config{Secret: secret})
		good := client(t, at, secret)
		if err := good.Publish("s", "port"); err != nil {
			t.Fatal(err)
		}
		for _, junk := range []string{"", "x", "\xff\xff\xff\xff", "\x00\x00\x00\x00", "\x00\x00\x00\x02[]",
			"\x00\x00\x00\x04null", "\x00\x00\x00\x10{\"what\":\"burn\"}..", "GET / HTTP/1.0\r\n\r\n"} {
			c, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			c.Write([]byte(junk))
			c.(*net.TCPConn).CloseWrite()
			c.SetReadDeadline(time.Now().Add(5 * time.Second))
			buf := make([]byte, 1024)
			for err == nil {
				_, err = c.Read(buf)
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%q keeps its connection", junk)
			}
			c.Close()
		}
		var crowd []net.Conn
		for range 3 * maxStrangers {
			if c, err := net.Dial("tcp", at); err == nil {
				crowd = append(crowd, c)
			}
		}
		if port, err := client(t, at, secret).Lookup("s"); port != "port" || err != nil {
			t.Errorf("in a crowd: %q, %v", port, err)
		}
		for _, c := range crowd {
			c.Close()
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	at := serve(t, Config{})
	c := client(t, at, "")
	for i := range maxOfOne {
		if err := c.Publish(fmt.Sprint(i), "p"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Publish("one more", "p"); !errors.Is(err, ErrFull) {
		t.Errorf("got %v", err)
	}
	if err := client(t, at, "").Publish("another's", "p"); err != nil {
		t.Error(err)
	}
	if err := client(t, at, "").Publish(strings.Repeat("x", MaxText+1), "p"); err == nil {
		t.Error("a name without end is accepted")
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	at := serve(t, Config{Secret: "one"})
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			c := NewClient(At(at), "one")
			defer c.Close()
			name := fmt.Sprint("service ", i)
			if err := c.Publish(name, name); err != nil {
				t.Error(err)
			}
			if port, err := c.Lookup(name); port != name || err != nil {
				t.Errorf("%q, %v", port, err)
			}
		})
	}
	all.Wait()
}
