package shm

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"golang.org/x/sys/unix"
)

// forever makes a test of wake-ups hang if one is lost, instead of being late.
const forever = time.Hour

// sleepUntil is the engine's way to wait: poll, announce, poll again, sleep.
func sleepUntil(t *Transport, done func() bool) {
	for !done() {
		if t.Poll() {
			continue
		}
		s := t.seg
		v := s.Bell()
		if !s.PrepareSleep(v) {
			continue
		}
		if !t.Poll() && !done() {
			s.Wait(v, s.maxWait)
		}
		s.DoneSleep(v)
	}
}

// sleepyRole sends back each message and sleeps in between, always.
func sleepyRole(fd, rank int) {
	end := false
	r := &receiver{lost: func(int32, error) { end = true }}
	t := join(fd, rank, r)
	t.seg.maxWait = forever
	r.deliver = func(h *transport.Header, p []byte) {
		end = h.Tag == tagEnd
		back := *h
		back.Src, back.Dst = h.Dst, h.Src
		t.Send(&back, p)
	}
	sleepUntil(t, func() bool { t.CheckPeers(); return end })
	t.seg.Close()
}

// sourceRole sends numbered messages of random sizes for ever, with pauses at times.
func sourceRole(fd, rank int) {
	t := join(fd, rank, &receiver{})
	r := rand.New(rand.NewPCG(3, 4))
	buf := make([]byte, t.limits.Packet)
	for k := uint64(0); ; k++ {
		n := 8 + r.IntN(len(buf)-8)>>r.IntN(12)
		fill(buf[:n], k)
		h := transport.Header{Src: 101, Dst: 100, Tag: int32(n), CID: k, Len: n, MsgLen: uint64(n)}
		for !t.Send(&h, buf) {
			runtime.Gosched()
		}
		if r.IntN(100) == 0 {
			time.Sleep(time.Duration(r.IntN(100)) * time.Microsecond)
		}
	}
}

func fill(b []byte, k uint64) {
	binary.NativeEndian.PutUint64(b, k)
	for i := 8; i < len(b); i++ {
		b[i] = byte(k) + byte(i)
	}
}

// TestAKilledPeerIsLostOnceAfterAllItSent kills a process in the middle of its sending.
func TestAKilledPeerIsLostOnceAfterAllItSent(t *testing.T) {
	for round := range 3 {
		fd := create(t, 2)
		cmd := start(t, "source", fd, 1)
		s := attach(t, fd, 0)
		r := &receiver{}
		x := newTransport(t, s, r)
		next := uint64(0)
		want := make([]byte, x.limits.Packet)
		r.deliver = func(h *transport.Header, p []byte) {
			fill(want[:len(p)], next)
			if r.nlost != 0 || h.CID != next || int(h.Tag) != len(p) || string(p) != string(want[:len(p)]) {
				t.Fatalf("message %d: %+v, %d bytes, lost %d", next, *h, len(p), r.nlost)
			}
			next++
		}
		for target := uint64(300 + 177*round); next < target; {
			if !x.Poll() {
				runtime.Gosched()
			}
		}
		now := uint64(0)
		s.clock = func() uint64 { now += uint64(time.Second); return now } // each is a look
		if x.CheckPeers(); r.nlost != 0 {
			t.Fatal("lost while it lived")
		}
		cmd.Process.Kill()
		cmd.Wait()
		for range 3 {
			x.CheckPeers()
			x.Poll()
		}
		if r.nlost != 1 {
			t.Fatalf("Lost %d times", r.nlost)
		}
		s.Close()
	}
}

// TestADeadPeerMayHaveOurPid: ranks in process namespaces of their own may all be process 1.
func TestADeadPeerMayHaveOurPid(t *testing.T) {
	fd := create(t, 2)
	cmd := start(t, "idle", fd, 1)
	s := attach(t, fd, 0)
	for !s.Arrived(1) {
		runtime.Gosched()
	}
	atomic.StoreUint32(&s.control(1).pid, uint32(os.Getpid()))
	if s.Dead(1) {
		t.Error("dead while it lives")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !s.Dead(1) || s.Dead(0) {
		t.Errorf("dead: %v, and this process itself: %v", s.Dead(1), s.Dead(0))
	}
	s.Close()
}

// TestOneRankLooksForAll: to look takes a system call for each rank, which goes through the locks of all; a thousand
// ranks that each did so once a second had no time for anything else.
func TestOneRankLooksForAll(t *testing.T) {
	fd := create(t, 3)
	cmd := start(t, "idle", fd, 2)
	now := uint64(time.Hour)
	var rank [2]*Transport
	var lost [2]receiver
	for i := range rank {
		s := attach(t, fd, i)
		defer s.Close()
		s.clock = func() uint64 { return now }
		rank[i] = newTransport(t, s, &lost[i])
	}
	sleepUntil(rank[0], func() bool { return rank[0].seg.peers[2].in.ring != nil })
	check := func(when string, first, want int) {
		t.Helper()
		for _, i := range []int{first, 1 - first} {
			if rank[i].CheckPeers(); lost[i].nlost != want {
				t.Fatalf("%s: rank %d has lost %d, want %d", when, i, lost[i].nlost, want)
			}
		}
	}
	check("while all live", 0, 0)
	cmd.Process.Kill()
	cmd.Wait()
	now += 3*uint64(lookEvery) - 1
	check("before the next look is due", 0, 0)
	now++
	check("when the other one has looked", 1, 1)
	now -= uint64(time.Minute) // nonsense in the segment is no reason not to look
	if !rank[0].seg.takeLook() {
		t.Error("no look before a time to come")
	}
	now += uint64(time.Hour)
	check("later", 0, 1)
}

func TestAPeerThatDetachesIsNotLost(t *testing.T) {
	fd := create(t, 2)
	cmd := start(t, "sleepy", fd, 1)
	s := attach(t, fd, 0)
	defer s.Close()
	r := &receiver{}
	x := newTransport(t, s, r)
	x.Send(&transport.Header{Src: 100, Dst: 101, Tag: tagEnd}, nil)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if x.CheckPeers(); r.nlost != 0 {
		t.Error("lost")
	}
}

func TestALocalRankIsLockedOnce(t *testing.T) {
	fd := create(t, 2)
	start(t, "idle", fd, 1)
	s := attach(t, fd, 0)
	defer s.Close()
	x := newTransport(t, s, &receiver{})
	sleepUntil(x, func() bool { return x.seg.peers[1].in.ring != nil })
	d := dup(t, fd)
	if again, err := Attach(d, 1); err == nil {
		again.Close()
		t.Fatal("two processes are local rank 1")
	}
	unix.Close(d)
}

// TestNoRingIsLost passes a message to and fro between two processes that sleep for each.
func TestNoRingIsLost(t *testing.T) {
	fd := create(t, 2)
	cmd := start(t, "sleepy", fd, 1)
	s := attach(t, fd, 0)
	defer s.Close()
	s.maxWait = forever
	got := 0
	x := newTransport(t, s, &receiver{deliver: func(*transport.Header, []byte) { got++ }})
	r := rand.New(rand.NewPCG(5, 6))
	h := transport.Header{Src: 100, Dst: 101}
	for k := range 20000 {
		if !x.Send(&h, nil) {
			t.Fatal("no room")
		}
		if n := r.IntN(300); n > 0 {
			futex.Pause(uint32(n))
		}
		sleepUntil(x, func() bool { return got > k })
	}
	h.Tag = tagEnd
	x.Send(&h, nil)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestASenderIsWokenWhenThereIsRoom has a sender sleep on a full ring.
func TestASenderIsWokenWhenThereIsRoom(t *testing.T) {
	from, to := two(t, 2, &receiver{})
	from.seg.maxWait, to.seg.maxWait = forever, forever
	const total = 100000
	var wg sync.WaitGroup
	wg.Go(func() {
		h := transport.Header{Src: 100, Dst: 101}
		for range total {
			sent := false // asked again once it is true
			sleepUntil(from, func() bool { sent = sent || from.Send(&h, nil); return sent })
		}
	})
	got := 0
	to.rx = &receiver{deliver: func(*transport.Header, []byte) { got++ }}
	sleepUntil(to, func() bool { return got == total })
	wg.Wait()
}

// TestEveryThreadThatSleepsIsWoken has several threads of one rank sleep at once for different words.
func TestEveryThreadThatSleepsIsWoken(t *testing.T) {
	s := attach(t, create(t, 1), 0)
	defer s.Close()
	s.maxWait = forever
	const threads, rounds = 4, 300
	var word [threads]atomic.Uint32
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for want := uint32(1); want <= rounds; want++ {
				for word[i].Load() < want {
					v := s.Bell()
					if s.PrepareSleep(v) {
						if word[i].Load() < want {
							s.Wait(v, forever)
						}
						s.DoneSleep(v)
					}
				}
			}
		})
	}
	for n := range threads * rounds {
		word[n%threads].Add(1)
		s.Ring(0)
	}
	wg.Wait()
	if w := s.loadBell(); w.sleepers() != 0 {
		t.Errorf("%d sleepers are left", w.sleepers())
	}
}

func TestSleepersAreCountedOnlyForTheirBell(t *testing.T) {
	s := attach(t, create(t, 1), 0)
	defer s.Close()
	v := s.Bell()
	//lint:ignore SA4000 two sleepers
	if !s.PrepareSleep(v) || !s.PrepareSleep(v) || s.loadBell().sleepers() != 2 {
		t.Fatal("two threads have announced themselves")
	}
	s.DoneSleep(v)
	if n := s.loadBell().sleepers(); n != 1 {
		t.Errorf("%d sleepers, want 1", n)
	}
	s.Ring(0)
	if n := s.loadBell().sleepers(); n != 0 || s.Bell() != v+1 {
		t.Errorf("after the ring: %d sleepers, bell %d", n, s.Bell())
	}
	if s.PrepareSleep(v) {
		t.Error("the bell has rung")
	}
	s.PrepareSleep(v + 1)
	s.DoneSleep(v) // of the thread that was woken: not the new one's count
	if n := s.loadBell().sleepers(); n != 1 {
		t.Errorf("%d sleepers, want 1", n)
	}
	s.Wait(v, time.Hour) // returns at once: the bell is not v
}

func TestMemoryOfAPeerIsReadAndWritten(t *testing.T) {
	fd := create(t, 2)
	start(t, "lend", fd, 1)
	s := attach(t, fd, 0)
	defer s.Close()
	var lent transport.Header
	x := newTransport(t, s, &receiver{deliver: func(h *transport.Header, _ []byte) { lent = *h }})
	sleepUntil(x, func() bool { return lent.Addr != 0 })
	if !x.CanRead(101) {
		t.Skip("the kernel does not let us read another process")
	}
	dst := make([]byte, lent.MsgLen)
	if !x.Read(101, lent.Addr, dst) {
		t.Fatal("cannot read")
	}
	for i, b := range dst {
		if b != byte(i*7) {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
	if !x.Write(101, lent.Addr+100, []byte("written")) || !x.Read(101, lent.Addr+99, dst[:9]) {
		t.Error("cannot write")
	}
	if got, want := string(dst[:9]), string([]byte{99 * 7 & 255})+"written"+string([]byte{107 * 7 & 255}); got != want {
		t.Errorf("there is %q, want %q", got, want)
	}
	got, list := make([]byte, 6), func(runs ...transport.Run) []transport.Run { return runs }
	here, base := addressOf(got), lent.Addr
	if !x.Move(101, list(transport.Run{Addr: here, Len: 1}, transport.Run{Addr: here + 1, Len: 5}),
		list(transport.Run{Addr: base + 20, Len: 4}, transport.Run{Addr: base + 10, Len: 2}), false) ||
		!x.Move(101, list(transport.Run{Addr: here + 4, Len: 2}, transport.Run{Addr: here, Len: 4}),
			list(transport.Run{Addr: base + 200, Len: 3}, transport.Run{Addr: base + 300, Len: 3}), true) {
		t.Error("cannot move runs")
	}
	if want := []byte{20 * 7 & 255, 21 * 7 & 255, 22 * 7 & 255, 23 * 7 & 255, 70, 77}; !bytes.Equal(got, want) {
		t.Errorf("the runs are %v, want %v", got, want)
	}
	if !x.Read(101, base+200, dst[:3]) || !x.Read(101, base+300, dst[3:6]) ||
		!bytes.Equal(dst[:6], append(append([]byte{}, got[4:]...), got[:4]...)) {
		t.Errorf("there is %v, of %v", dst[:6], got)
	}
	nowhere := transport.Run{Addr: 8, Len: 1}
	if x.Move(101, list(transport.Run{Addr: here, Len: 1}), list(nowhere), false) ||
		x.Move(7, list(transport.Run{Addr: here, Len: 1}), list(nowhere), true) {
		t.Error("moved where nothing is")
	}
	if x.Read(101, 8, dst) || x.Read(7, lent.Addr, dst) || x.Write(101, 8, dst) {
		t.Error("read or written where nothing is")
	}
	if n := testing.AllocsPerRun(100, func() { x.Read(101, lent.Addr, dst[:64]) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	off, err := New(Config{Segment: s, World: worldOf(2), Receiver: &receiver{}, NoRead: true})
	if err != nil || off.CanRead(101) || off.Read(101, lent.Addr, dst) {
		t.Error("reads although it is forbidden")
	}
	s.control(1).probeValue++
	other := newTransport(t, s, &receiver{})
	if other.CanRead(101) {
		t.Error("believes a process that has not the word it published")
	}
}
