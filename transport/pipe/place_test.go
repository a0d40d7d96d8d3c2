package pipe

import (
	"bytes"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatIsPutInPlaceIsSeenWhenItIsPublished(t *testing.T) {
	a, b := ends(t)
	want := make([]byte, RingBytes/3)
	rand.NewChaCha8([32]byte{}).Read(want)
	got := make([]byte, len(want))
	for range 7 { // past the end of the ring
		if room, errno := a.Free(); room != RingBytes || errno != 0 {
			t.Fatal(room, errno)
		}
		x, y := a.Space(0, 1000)
		copy(y, want[copy(x, want[:1000]):])
		x, y = a.Space(1000, len(want)-1000)
		copy(y, want[1000+copy(x, want[1000:]):])
		if b.readable() {
			t.Fatal("seen before it was published")
		}
		a.Publish(len(want))
		if !b.Holds(len(want)) || b.Holds(len(want)+1) {
			t.Error("not the length that was published")
		}
		if n, errno := b.Read(got, nil); n != len(want) || errno != 0 || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %v: not what was put there", n, errno)
		}
	}
}

func TestWhatIsReadInPlaceStaysUntilItIsDiscarded(t *testing.T) {
	a, b := ends(t)
	want := make([]byte, RingBytes/3)
	rand.NewChaCha8([32]byte{}).Read(want)
	for range 7 {
		a.Write(want, nil, nil)
		if n, errno := b.Ahead(); n != len(want) || errno != 0 {
			t.Fatal(n, errno)
		}
		for _, cut := range []int{0, 5000} { // again, and what is left of it
			x, y := b.Peek(100, len(want)-cut-100)
			if got := append(bytes.Clone(x), y...); !bytes.Equal(got, want[cut+100:]) {
				t.Fatal("not what was written")
			}
			b.Discard(5000 - cut)
		}
		b.Discard(len(want) - 5000)
		if n, errno := b.Ahead(); n != 0 || errno != 0 || b.readable() {
			t.Fatalf("%d bytes left, %v", n, errno)
		}
	}
}

func TestRoomThatIsGivenBackInPlaceWakesTheWriter(t *testing.T) {
	a, b := ends(t)
	a.Write(make([]byte, 2*RingBytes), nil, nil)
	a.Arm()
	b.Discard(enoughRoom)
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(a.Descriptor()), Events: unix.POLLIN}}, 0); n != 1 || !a.Room() {
		t.Error("not woken")
	}
	b.Discard(RingBytes - enoughRoom)
	b.Arm()
	a.Publish(10)
	if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(b.Descriptor()), Events: unix.POLLIN}}, 0); n != 1 {
		t.Error("the reader is not woken")
	}
}

func TestTheEndIsToldWhereverLessIsThereThanIsWaitedFor(t *testing.T) {
	a, b := ends(t)
	a.Write([]byte("half"), nil, nil)
	if b.Holds(8) || b.Ended() {
		t.Error("there is less, and more may come")
	}
	a.CloseWrite()
	if !b.Holds(8) || !b.Ended() {
		t.Error("no more will come")
	}
	c, d := ends(t)
	c.Close()
	d.Signal()
	if !d.Ended() {
		t.Error("the other end is gone")
	}
}

func TestSpoiledPositionsAreAnErrorInPlace(t *testing.T) {
	for _, bad := range []uint64{RingBytes + 1, 1 << 63, 1<<64 - 1<<32} {
		a, b := ends(t)
		atomic.StoreUint64(&b.in.shared.written, bad)
		if n, errno := b.Ahead(); errno != unix.EPROTO {
			t.Errorf("written %x: %d, %v", bad, n, errno)
		}
		atomic.StoreUint64(&a.out.shared.read, bad)
		if n, errno := a.Free(); errno != unix.EPROTO {
			t.Errorf("read %x: %d, %v", bad, n, errno)
		}
	}
}
