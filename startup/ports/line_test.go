package ports

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// patience bounds the wait for what must come.
const patience = time.Minute

// deadline is a context in which what must come, comes.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// soon is done after a moment.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// sockets are the two ends of a TCP connection.
func sockets(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); d.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

// exchange has both leaders give each other something at the same time.
func exchange(t testing.TB, a, b transport.Line, ofA, ofB []byte) {
	t.Helper()
	type result struct {
		got []byte
		err error
	}
	done := make(chan result, 1)
	go func() {
		got, err := b.Exchange(deadline(t), ofB)
		done <- result{got, err}
	}()
	got, err := a.Exchange(deadline(t), ofA)
	r := <-done
	if err != nil || r.err != nil || !bytes.Equal(got, ofB) || !bytes.Equal(r.got, ofA) {
		t.Fatalf("%d bytes, %v, and %d bytes, %v", len(got), err, len(r.got), r.err)
	}
}

func TestLeadersExchangeWhateverTheyLikeAtTheSameTime(t *testing.T) {
	c, d := sockets(t)
	a, b := &line{stream: connection{c}}, &line{stream: connection{d}}
	for _, n := range []int{0, 1, frameStep, frameStep + 1, 20 << 20} {
		exchange(t, a, b, bytes.Repeat([]byte("a"), n), bytes.Repeat([]byte("bb"), n))
	}
	if _, err := a.Exchange(deadline(t), make([]byte, transport.MaxExchange+1)); err == nil {
		t.Error("more than the most was taken")
	}
	exchange(t, a, b, []byte("it is"), []byte("whole yet"))
}

func TestTheDeathOfALeaderIsAnErrorAtOnce(t *testing.T) {
	for name, die := range map[string]func(c *net.TCPConn){
		"before":                 func(c *net.TCPConn) { c.Close() },
		"by a reset":             func(c *net.TCPConn) { c.SetLinger(0); c.Close() },
		"within the length":      func(c *net.TCPConn) { c.Write([]byte{frameExchange, 0, 0}); c.Close() },
		"within the bytes":       func(c *net.TCPConn) { c.Write([]byte{frameExchange, 0, 0, 1, 0, 7}); c.Close() },
		"while all wait for all": func(c *net.TCPConn) { time.AfterFunc(20*time.Millisecond, func() { c.Close() }) },
	} {
		c, d := sockets(t)
		a := &line{stream: connection{c}}
		die(d)
		if _, err := a.Exchange(deadline(t), make([]byte, 30<<20)); err == nil || !strings.Contains(err.Error(), "has gone") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := a.Exchange(deadline(t), nil); err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%s, and afterwards: %v", name, err)
		}
	}
}

func TestAnExchangeWaitsNoLongerThanItsContext(t *testing.T) {
	c, d := sockets(t)
	a := &line{stream: connection{c}}
	if _, err := a.Exchange(soon(t), make([]byte, 30<<20)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	d.Close()
}

func TestAContextThatIsDoneLaterDisturbsNobody(t *testing.T) {
	c, d := sockets(t)
	a, b := &line{stream: connection{c}}, &line{stream: connection{d}}
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := b.Exchange(deadline(t), nil)
			done <- err
		}()
		_, err := a.Exchange(ctx, nil)
		cancel()
		if err := errors.Join(err, <-done); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	var b bytes.Buffer
	writeFrame(&b, frameExchange, []byte("payload"))
	f.Add(b.Bytes())
	f.Add([]byte{frameExchange, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Add([]byte{frameHere, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		const most = 100
		r := bytes.NewReader(b)
		kind, payload, err := readFrame(r, most)
		if err != nil {
			return
		}
		var again bytes.Buffer
		writeFrame(&again, kind, payload)
		if used := b[:len(b)-r.Len()]; len(payload) > most || !bytes.Equal(again.Bytes(), used) {
			t.Errorf("%x is read as %x", used, again.Bytes())
		}
	})
}

// ends are the descriptors of a pair of connected sockets, as a program has them.
func ends(t testing.TB, mode int) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|mode, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// over makes lines over both ends.
func over(t testing.TB, a, b int) (la, lb transport.Line) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		var err error
		lb, err = Over(deadline(t), b)
		done <- err
	}()
	la, err := Over(deadline(t), a)
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	return la, lb
}

func TestASocketOfTheProgramBecomesALineAndIsItsOwnAgain(t *testing.T) {
	c, d := sockets(t)
	fc, _ := c.File()
	fd, _ := d.File()
	defer fc.Close()
	defer fd.Close()
	u, v := ends(t, 0)
	x, y := ends(t, unix.SOCK_NONBLOCK)
	for name, pair := range map[string][2]int{"TCP": {int(fc.Fd()), int(fd.Fd())}, "Unix": {u, v}, "no blocking": {x, y}} {
		mode, _ := unix.FcntlInt(uintptr(pair[0]), unix.F_GETFL, 0)
		seen := map[[32]byte]bool{}
		for range 3 {
			a, b := over(t, pair[0], pair[1])
			if a.Secret() != b.Secret() || a.First() == b.First() || seen[a.Secret()] || a.Secret() == [32]byte{} {
				t.Errorf("%s: secrets %x and %x, first %v and %v", name, a.Secret(), b.Secret(), a.First(), b.First())
			}
			seen[a.Secret()] = true
			exchange(t, a, b, bytes.Repeat([]byte("a"), 5<<20), bytes.Repeat([]byte("b"), 3<<20))
			// One may go on with its socket while the other has not closed its line yet.
			if err := errors.Join(a.Close(), sayAll(pair[0], "after"), b.Close()); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 100)
			n, err := unix.Read(pair[1], got)
			if err != nil || string(got[:n]) != "after" {
				t.Errorf("%s: the socket brings %q afterwards, %v", name, got[:n], err)
			}
		}
		if now, _ := unix.FcntlInt(uintptr(pair[0]), unix.F_GETFL, 0); now != mode {
			t.Errorf("%s: mode %#x was %#x", name, now, mode)
		}
	}
}

func sayAll(fd int, text string) error {
	_, err := unix.Write(fd, []byte(text))
	return err
}

func TestWhatIsNoConnectedStreamSocketBecomesNoLine(t *testing.T) {
	f, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lonely, _ := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	defer unix.Close(lonely)
	packets, _ := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
	defer unix.Close(packets[0])
	defer unix.Close(packets[1])
	for fd, what := range map[int]string{-1: "no socket", int(f.Fd()): "no socket", lonely: "no connected socket",
		packets[0]: "no stream socket"} {
		if _, err := Over(deadline(t), fd); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%d: %v", fd, err)
		}
	}
}

func TestASocketThatLeadsToNoOtherProcessIsAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(fd int)
		want string
	}{
		"closed":         {func(fd int) { unix.Shutdown(fd, unix.SHUT_RDWR) }, "has gone"},
		"other words":    {func(fd int) { sayAll(fd, "GET / HTTP/1.1\r\n\r\n") }, "frame of kind 71"},
		"another frame":  {func(fd int) { sayAll(fd, "\x01\x00\x00\x00\x00") }, "frame of kind 1"},
		"another length": {func(fd int) { sayAll(fd, "\x06\x00\x00\x00\x04IMPI") }, "was it empty"},
		"too long":       {func(fd int) { sayAll(fd, "\x06\xff\xff\xff\xff") }, "are the most"},
		"an echo": {func(fd int) {
			b := make([]byte, frameHead+joinSize)
			for n := 0; n < len(b); {
				k, err := unix.Read(fd, b[n:])
				if err != nil || k == 0 {
					return
				}
				n += k
			}
			unix.Write(fd, b)
		}, "comes back"},
	} {
		a, b := ends(t, 0)
		go tt.do(b)
		if _, err := Over(deadline(t), a); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a, _ := ends(t, 0)
	if _, err := Over(soon(t), a); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("silence: %v", err)
	}
}

func FuzzJoins(f *testing.F) {
	f.Add([]byte(joinMagic + strings.Repeat("\x00", joinSize-8)))
	f.Add([]byte("\x00\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if key, err := parseJoin(b); err == nil && !bytes.Equal(key.Bytes(), b[len(b)-joinKey:]) {
			t.Errorf("%x", b)
		}
	})
}
