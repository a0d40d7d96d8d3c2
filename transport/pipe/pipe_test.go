package pipe

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func ends(t testing.TB) (a, b *End) {
	t.Helper()
	a, fd, err := New()
	if err != nil {
		t.Fatal(err)
	}
	if b, err = Open(fd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// sleep waits until an end is to be looked at.
func sleep(t testing.TB, e *End) {
	e.Arm()
	if e.Pending() {
		return
	}
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(e.Descriptor()), Events: unix.POLLIN}}, 60_000)
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Errorf("nobody rang: %v", err)
		}
		e.Signal()
		return
	}
}

// drain reads to the end of the stream, in pieces of random lengths.
func drain(t testing.TB, e *End) []byte {
	var got []byte
	a, b := make([]byte, 70000), make([]byte, 70000)
	for {
		k, l := rand.IntN(len(a)), 1+rand.IntN(len(b)-1)
		n, errno := e.Read(a[:k], b[:l])
		switch {
		case errno == unix.EAGAIN:
			sleep(t, e)
		case errno != 0:
			t.Errorf("read: %v", errno)
			return got
		case n == 0:
			return got
		default:
			got = append(append(got, a[:min(n, k)]...), b[:max(n-k, 0)]...)
		}
	}
}

// pour writes all of p, in three pieces at a time, and ends the direction.
func pour(t testing.TB, e *End, p []byte) {
	for len(p) > 0 {
		i := rand.IntN(len(p) + 1)
		j := i + rand.IntN(len(p)-i+1)
		n, errno := e.Write(p[:i], p[i:j], p[j:])
		if errno != 0 && errno != unix.EAGAIN {
			t.Errorf("write: %v", errno)
			return
		}
		if p = p[n:]; len(p) > 0 && !e.Room() {
			sleep(t, e)
		}
	}
	e.CloseWrite()
}

func TestWhatIsWrittenIsReadWhateverSleepsAndPieces(t *testing.T) {
	for range 20 {
		a, b := ends(t)
		want := make([]byte, 1+rand.IntN(20*RingBytes))
		rand.NewChaCha8([32]byte{1}).Read(want)
		carry(t, a, b, want)
	}
}

// carry sends all of want from one end to the other.
func carry(t *testing.T, from, to *End, want []byte) {
	t.Helper()
	var all sync.WaitGroup
	all.Go(func() { pour(t, from, want) })
	got := drain(t, to)
	all.Wait()
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes arrived of %d", len(got), len(want))
	}
}

func TestBothDirectionsAtOnce(t *testing.T) {
	a, b := ends(t)
	p, q := bytes.Repeat([]byte("there"), 100_000), bytes.Repeat([]byte("back"), 100_000)
	echoed := make(chan []byte)
	turn := func(e *End, out []byte, done chan<- []byte) { // one thread for both directions, as the engine's
		var got []byte
		buf := make([]byte, 10_000)
		for ended := false; !ended || len(out) > 0; {
			idle := true
			if n, _ := e.Write(out, nil, nil); n > 0 {
				idle = false
				if out = out[n:]; len(out) == 0 {
					e.CloseWrite()
				}
			}
			switch n, errno := e.Read(buf, nil); {
			case errno == 0 && n == 0:
				ended = true
			case errno == 0:
				got = append(got, buf[:n]...)
				idle = false
			case errno != unix.EAGAIN:
				t.Error(errno)
				ended, out = true, nil
			}
			if idle && (!ended || len(out) > 0) {
				sleep(t, e)
				e.Room()
			}
		}
		done <- got
	}
	back := make(chan []byte)
	go turn(a, p, back)
	go turn(b, q, echoed)
	if got := <-back; !bytes.Equal(got, q) {
		t.Errorf("back: %d bytes of %d", len(got), len(q))
	}
	if got := <-echoed; !bytes.Equal(got, p) {
		t.Errorf("there: %d bytes of %d", len(got), len(p))
	}
}

func TestAFullRingTakesNoMoreAndSaysWhenItDoes(t *testing.T) {
	a, b := ends(t)
	big := make([]byte, 2*RingBytes)
	if n, errno := a.Write(big, nil, nil); n != RingBytes || errno != 0 {
		t.Fatal(n, errno)
	}
	if n, errno := a.Write(big, nil, nil); n != 0 || errno != unix.EAGAIN {
		t.Fatal(n, errno)
	}
	a.Arm()
	if a.Pending() || a.Room() {
		t.Fatal("there is no room")
	}
	b.Read(big[:enoughRoom-1], nil)
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(a.Descriptor()), Events: unix.POLLIN}}, 0); n != 0 || a.Pending() {
		t.Error("woken for too little room")
	}
	b.Read(big[:1], nil)
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(a.Descriptor()), Events: unix.POLLIN}}, 0); n != 1 || !a.Pending() ||
		!a.Room() {
		t.Error("not woken")
	}
}

func TestABellRingsOncePerWish(t *testing.T) {
	a, b := ends(t)
	rung := func() int {
		n, _ := unix.IoctlGetInt(b.Descriptor(), unix.TIOCINQ)
		return n
	}
	a.Write([]byte("x"), nil, nil)
	if rung() != 0 {
		t.Error("rang for nobody")
	}
	b.Arm()
	a.Write([]byte("x"), nil, nil)
	a.Write([]byte("x"), nil, nil)
	if rung() != 1 {
		t.Errorf("rang %d times", rung())
	}
	b.Signal()
	b.Arm()
	b.Disarm()
	a.Write([]byte("x"), nil, nil)
	if rung() != 0 {
		t.Error("rang for a wish that was taken back")
	}
}

func TestWhatWasWrittenBeforeADeathIsRead(t *testing.T) {
	a, b := ends(t)
	a.Write([]byte("last words"), nil, nil)
	a.Close()
	b.Signal()
	buf := make([]byte, 100)
	if n, errno := b.Read(nil, buf); n != 10 || errno != 0 {
		t.Error(n, errno)
	}
	if n, errno := b.Read(nil, buf); n != 0 || errno != 0 {
		t.Errorf("no end: %d, %v", n, errno)
	}
	a.Arm() // a thread that was about to sleep
}

// epoll tells once of a byte and of the end behind it.
func TestTheEndBehindAByteIsNoticed(t *testing.T) {
	a, b := ends(t)
	b.Arm()
	a.Write([]byte("last words"), nil, nil)
	a.Close()
	if b.Signal(); !b.Ended() {
		t.Error("not noticed")
	}
}

func TestWhoHasClosedItsDirectionStillRingsForRoom(t *testing.T) {
	a, b := ends(t)
	a.CloseWrite()
	if !b.Pending() {
		t.Error("the end is nothing to look at")
	}
	if n, errno := b.Read(make([]byte, 1), nil); n != 0 || errno != 0 || b.Pending() {
		t.Errorf("no end, or not once: %d, %v", n, errno)
	}
	want := bytes.Repeat([]byte("more than a ring "), RingBytes/8)
	carry(t, b, a, want)
}

func TestTheEndWakesWhoSleeps(t *testing.T) {
	a, b := ends(t)
	b.Arm()
	if b.Pending() {
		t.Error("nothing has happened")
	}
	a.CloseWrite()
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(b.Descriptor()), Events: unix.POLLIN}}, 0); n != 1 {
		t.Error("not woken")
	}
}

func TestSpoiledPositionsAreAnError(t *testing.T) {
	for _, bad := range []uint64{RingBytes + 1, 1 << 63, 1<<64 - 1<<32} {
		a, b := ends(t)
		atomic.StoreUint64(&b.in.shared.written, bad)
		if n, errno := b.Read(make([]byte, 10), nil); errno != unix.EPROTO {
			t.Errorf("read, written %x: %d, %v", bad, n, errno)
		}
		atomic.StoreUint64(&a.out.shared.read, bad)
		if n, errno := a.Write(make([]byte, 10), nil, nil); errno != unix.EPROTO {
			t.Errorf("write, read %x: %d, %v", bad, n, errno)
		}
	}
	a, _ := ends(t)
	atomic.StoreUint64(&a.out.shared.read, 1) // more than was written
	if _, errno := a.Write(make([]byte, 10), nil, nil); errno != unix.EPROTO {
		t.Error("more was read than written:", errno)
	}
}

func TestOnlyTheEndOfAPipeIsOpened(t *testing.T) {
	plain, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(plain[0])
	defer unix.Close(plain[1])
	if _, err := Open(plain[0]); err == nil {
		t.Error("a socket with nothing on it")
	}
	unix.Write(plain[1], []byte{0})
	if _, err := Open(plain[0]); err == nil {
		t.Error("a socket without memory")
	}
	loose, err := unix.MemfdCreate("loose", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(loose)
	unix.Ftruncate(loose, memBytes)
	unix.Sendmsg(plain[1], []byte{0}, unix.UnixRights(loose), nil, 0)
	if _, err := Open(plain[0]); err == nil {
		t.Error("memory that can shrink")
	}
	if _, err := Open(-1); err == nil {
		t.Error("no descriptor")
	}
}

func TestTheOtherEndMayBeInAnotherProcess(t *testing.T) {
	if os.Getenv("PIPE_ECHO") != "" {
		e, err := Open(3)
		if err != nil {
			t.Fatal(err)
		}
		pour(t, e, drain(t, e))
		return
	}
	a, fd, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	end := os.NewFile(uintptr(fd), "end")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(self, []string{self, "-test.run=TestTheOtherEndMayBeInAnotherProcess"}, &os.ProcAttr{
		Env: append(os.Environ(), "PIPE_ECHO=1"), Files: []*os.File{nil, nil, os.Stderr, end}})
	if err != nil {
		t.Fatal(err)
	}
	end.Close()
	want := bytes.Repeat([]byte("over there and back "), 50_000)
	pour(t, a, want)
	if got := drain(t, a); !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d came back", len(got), len(want))
	}
	if state, err := p.Wait(); err != nil || !state.Success() {
		t.Error(state, err)
	}
}

func TestNothingAllocates(t *testing.T) {
	a, b := ends(t)
	p := make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() {
		a.Write(p, nil, nil)
		b.Arm()
		b.Read(p, nil)
		b.Disarm()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
