package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// pairs makes n connections inside this machine, whose buffers hold little.
func pairs(t testing.TB, n int) (a, b []int) {
	t.Helper()
	for range n {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, fd := range fds {
			unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1)
		}
		a, b = append(a, fds[0]), append(b, fds[1])
	}
	return a, b
}

// closeAtEnd gives descriptors of the test's own back.
func closeAtEnd(t testing.TB, fds []int) {
	t.Cleanup(func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	})
}

func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// carry sends data from one bundle to the other, epoll telling of room, and returns what came.
func carry(t *testing.T, from, to *Bundle, data []byte, cut func() int) []byte {
	t.Helper()
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(epoll)
	if err := from.Register(epoll, 7, unix.EPOLLIN); err != nil {
		t.Fatal(err)
	}
	var got []byte
	var events [64]unix.EpollEvent
	for total := len(data); len(got) < total; {
		if len(data) > 0 {
			n := min(cut(), len(data))
			third := n / 3
			k, errno := from.Send(data[:third], data[third:third], data[third:n])
			if errno != 0 && errno != unix.EAGAIN {
				t.Fatal(errno)
			}
			data = data[k:]
		}
		n, _ := unix.EpollWait(epoll, events[:], 0)
		for _, e := range events[:n] {
			if e.Fd != 7 {
				t.Fatalf("an event of %d", e.Fd)
			}
			if errno := from.Writable(int(e.Pad)); errno != 0 {
				t.Fatal(errno)
			}
		}
		x, y := make([]byte, cut()), make([]byte, 1+cut())
		k, err := to.Receive(x, y)
		if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
		got = append(got, x[:min(k, len(x))]...)
		got = append(got, y[:k-min(k, len(x))]...)
	}
	return got
}

func TestTheStreamArrivesInOrderWhateverThePieces(t *testing.T) {
	for _, n := range []int{1, 2, 3, 16} {
		for _, most := range []int{40, 5000, 3 * pieceMax} {
			a, b := pairs(t, n)
			from, to := New(a), New(b)
			r := rand.New(rand.NewPCG(2, uint64(n)))
			data := noise(min(1<<20, 1000*most))
			want := bytes.Clone(data)
			got := []byte{}
			for len(data) > 0 { // in portions, so that the bundle is registered anew
				k := min(len(data), 200<<10)
				got = append(got, carryAll(t, from, to, data[:k], func() int { return r.IntN(most) + 3 })...)
				data = data[k:]
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d connections, pieces up to %d: another stream", n, most)
			}
			from.CloseWrite()
			for k := range n {
				from.Writable(k)
			}
			if _, err := to.Receive(nil, make([]byte, 9)); err != io.EOF {
				t.Errorf("%d connections: the end is %v", n, err)
			}
			from.Close()
			to.Close()
		}
	}
}

// carryAll is carry of everything.
func carryAll(t *testing.T, from, to *Bundle, data []byte, cut func() int) (got []byte) {
	t.Helper()
	defer from.Unregister()
	return carry(t, from, to, data, cut)
}

func TestAllConnectionsCarryWhatIsLong(t *testing.T) {
	a, b := pairs(t, 3)
	closeAtEnd(t, b)
	from := New(a)
	defer from.Close()
	if n, errno := from.Send(noise(100<<10), nil, nil); errno != 0 || n != 100<<10 {
		t.Fatalf("%d, %v", n, errno) // the first takes some and keeps the rest of one piece
	}
	for range 2 {
		if n, errno := from.Send(noise(100<<10), nil, nil); errno != 0 || n == 0 {
			t.Fatalf("%d, %v", n, errno)
		}
	}
	if n, errno := from.Send(noise(100<<10), nil, nil); errno != unix.EAGAIN {
		t.Fatalf("all are full, and %d bytes were taken: %v", n, errno)
	}
	for k, fd := range b {
		head := make([]byte, headSize)
		if n, err := unix.Read(fd, head); n != headSize || err != nil {
			t.Errorf("connection %d carries nothing: %v", k, err)
		}
		if at := binary.BigEndian.Uint64(head); at != uint64(k)*100<<10 {
			t.Errorf("connection %d begins at %d", k, at)
		}
	}
}

func TestWhatIsShortKeepsToTheFirstConnection(t *testing.T) {
	a, b := pairs(t, 3)
	closeAtEnd(t, b)
	from := New(a)
	defer from.Close()
	for range 5 {
		from.Send([]byte("short"), nil, nil)
	}
	if n, _ := unix.Read(b[0], make([]byte, 1000)); n != 5*(headSize+5) {
		t.Errorf("%d bytes on the first", n)
	}
	if n, err := unix.Read(b[1], make([]byte, 1000)); err != unix.EAGAIN {
		t.Errorf("%d bytes on the second: %v", n, err)
	}
}

// piece is a piece as a peer may make it.
func piece(at uint64, n int, payload string) []byte {
	b := make([]byte, headSize, headSize+len(payload))
	putHead(b, at, n)
	return append(b, payload...)
}

// drain receives until nothing comes any more.
func drain(b *Bundle) (got string, err error) {
	x := make([]byte, 100)
	for {
		n, err := b.Receive(x[:3], x[3:])
		if got += string(x[:n]); err != nil {
			return got, err
		}
	}
}

func TestPeersThatBreakTheRulesAreFoundOut(t *testing.T) {
	hello := piece(0, 5, "hello")
	for _, tt := range []struct {
		name   string
		says   [2][]byte
		closed [2]bool
		got    string
		want   error
	}{
		{"nothing", [2][]byte{}, [2]bool{}, "", unix.EAGAIN},
		{"in order", [2][]byte{piece(5, 1, "!"), hello}, [2]bool{}, "hello!", unix.EAGAIN},
		{"the end", [2][]byte{append(piece(5, 1, "!"), piece(6, 0, "")...), append(hello, piece(6, 0, "")...)}, [2]bool{},
			"hello!", io.EOF},
		{"a gap", [2][]byte{piece(9, 1, "!"), piece(8, 1, "?")}, [2]bool{}, "", ErrGap},
		{"a gap before the end", [2][]byte{piece(9, 1, "!"), piece(0, 0, "")}, [2]bool{}, "", ErrGap},
		{"the end too soon", [2][]byte{append(hello, piece(5, 0, "")...), piece(4, 0, "")}, [2]bool{}, "hello", ErrOrder},
		{"ends that differ", [2][]byte{piece(1, 0, ""), piece(0, 0, "")}, [2]bool{}, "", ErrOrder},
		{"twice", [2][]byte{hello, hello}, [2]bool{}, "hello", ErrOrder},
		{"overlap", [2][]byte{hello, piece(4, 3, "abc")}, [2]bool{}, "hello", ErrOrder},
		{"backwards", [2][]byte{append(hello, piece(2, 1, "x")...)}, [2]bool{}, "hello", ErrOrder},
		{"too many bytes ahead", [2][]byte{piece(aheadMax+1, 1, "x")}, [2]bool{}, "", ErrOrder},
		{"the largest position", [2][]byte{piece(1<<64-1, 1, "x")}, [2]bool{}, "", ErrOrder},
		{"too long", [2][]byte{piece(0, pieceMax+1, "x")}, [2]bool{}, "", ErrLong},
		{"negative length", [2][]byte{piece(0, -1, "x")}, [2]bool{}, "", ErrLong},
		{"one ends", [2][]byte{hello}, [2]bool{false, true}, "hello", ErrEarly},
		{"one ends inside", [2][]byte{hello[:9]}, [2]bool{true, false}, "", ErrEarly},
	} {
		a, others := pairs(t, 2)
		b := New(a)
		for k, fd := range others {
			unix.Write(fd, tt.says[k])
			if tt.closed[k] {
				unix.Shutdown(fd, unix.SHUT_WR)
			}
		}
		got, err := drain(b)
		if got != tt.got || !errors.Is(err, tt.want) {
			t.Errorf("%s: got %q, %v; want %q, %v", tt.name, got, err, tt.got, tt.want)
		}
		if _, again := drain(b); err != unix.EAGAIN && !errors.Is(again, tt.want) {
			t.Errorf("%s: then %v", tt.name, again)
		}
		b.Close()
		for _, fd := range others {
			unix.Close(fd)
		}
	}
}

func TestAConnectionThatEndsAtAnyByteIsNoEndOfTheStream(t *testing.T) {
	whole := append(append(piece(0, 5, "hello"), piece(5, 6, " there")...), piece(11, 0, "")...)
	for cut := range whole {
		a, others := pairs(t, 2)
		b := New(a)
		unix.Write(others[0], whole[:cut])
		unix.Write(others[1], piece(11, 0, ""))
		unix.Shutdown(others[0], unix.SHUT_WR)
		if got, err := drain(b); !errors.Is(err, ErrEarly) || !strings.HasPrefix("hello there", got) ||
			!strings.Contains(err.Error(), "connection 0 of 2") {
			t.Errorf("after %d bytes: %q, %v", cut, got, err)
		}
		b.Close()
		closeAtEnd(t, others)
	}
}

func TestAPieceBeforeItsTurnCallsNobody(t *testing.T) {
	a, others := pairs(t, 2)
	closeAtEnd(t, others)
	b := New(a)
	defer b.Close()
	epoll, _ := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	defer unix.Close(epoll)
	if err := b.Register(epoll, 1, unix.EPOLLIN); err != nil {
		t.Fatal(err)
	}
	events := make([]unix.EpollEvent, 4)
	unix.Write(others[1], piece(5, 1, "!"))
	drain(b)
	if n, _ := unix.EpollWait(epoll, events, 0); n != 0 {
		t.Errorf("%d connections call", n)
	}
	unix.Write(others[0], piece(0, 5, "hello"))
	if n, _ := unix.EpollWait(epoll, events, 0); n != 1 || events[0].Pad != 0 {
		t.Errorf("%d connections call", n)
	}
	if n, err := b.Receive(make([]byte, 9), nil); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, _ := unix.EpollWait(epoll, events, 0); n != 1 || events[0].Pad != 1 {
		t.Errorf("when its turn has come, %d connections call", n)
	}
	if got, _ := drain(b); got != "!" {
		t.Errorf("got %q", got)
	}
	unix.Write(others[1], piece(6, 1, "?"))
	if n, _ := unix.EpollWait(epoll, events, 0); n != 1 || events[0].Pad != 1 {
		t.Errorf("after its turn %d connections call", n)
	}
}

func TestWritingToAPeerThatIsGoneFailsAndCallsNobody(t *testing.T) {
	a, others := pairs(t, 2)
	b := New(a)
	defer b.Close()
	for _, fd := range others {
		unix.Close(fd)
	}
	if _, errno := b.Send([]byte("x"), nil, nil); errno != syscall.EPIPE {
		t.Errorf("%v", errno)
	}
	b.GiveUp()
	if b.Full() || b.Pending() {
		t.Error("something is left to be written")
	}
}

func TestNeitherDirectionAllocates(t *testing.T) {
	a, others := pairs(t, 3)
	from, to := New(a), New(others)
	defer from.Close()
	defer to.Close()
	data, room := noise(20<<10), make([]byte, 20<<10+1)
	round := func() {
		if n, errno := from.Send(data[:10], nil, data[10:]); n != len(data) || errno != 0 {
			t.Fatal(n, errno)
		}
		for got := 0; got < len(data); {
			for k := range a {
				from.Writable(k)
			}
			n, err := to.Receive(room[got:], nil)
			if err != nil && err != unix.EAGAIN {
				t.Fatal(err)
			}
			got += n
		}
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Whatever arrives on three connections, in whatever portions: what is handed on has a place in the stream, and it
// ends.
func FuzzReceive(f *testing.F) {
	f.Add(append(piece(0, 5, "hello"), piece(6, 0, "")...), append(piece(5, 1, "!"), piece(6, 0, "")...),
		piece(6, 0, ""), uint8(7))
	f.Add(piece(3, 2, "lo"), piece(0, 3, "hel"), []byte{1}, uint8(1))
	f.Fuzz(func(t *testing.T, x, y, z []byte, step uint8) {
		a, others := pairs(t, 3)
		b := New(a)
		defer b.Close()
		says, total := [][]byte{x, y, z}, len(x)+len(y)+len(z)
		received, open := 0, 3
		for rounds := 0; ; rounds++ {
			for k := range says {
				n := min(len(says[k]), 1+int(step))
				if n > 0 {
					unix.Write(others[k], says[k][:n])
					says[k] = says[k][n:]
				} else if says[k] != nil {
					unix.Close(others[k])
					says[k] = nil
					open--
				} else if others[k] >= 0 && rounds == 0 {
					unix.Close(others[k])
					open--
				}
			}
			got, err := drain(b)
			if received += len(got); received > total {
				t.Fatalf("%d bytes from %d", received, total)
			}
			if err != unix.EAGAIN {
				break
			}
			if open == 0 {
				t.Fatal("all connections have ended, and the stream has not")
			}
		}
		for k, fd := range others {
			if says[k] != nil {
				unix.Close(fd)
			}
		}
	})
}
