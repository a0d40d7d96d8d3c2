package agent

import (
	"bytes"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bundle"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// long is a packet whose bytes tell where they belong.
func (h *house) long(src, dst int32, n int) []byte {
	p := h.continuation(src, dst, n)
	rand.NewChaCha8([32]byte{byte(src), byte(dst)}).Read(p[wire.PacketSize:])
	return p
}

// roomy is a house whose hosts take long packets.
func roomy(t *testing.T) *house { return housed(t, 1000, [2]uint32{unbufferedMax, unbufferedMax}) }

// until waits for a state of the agent.
func (h *house) until(what string, is func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Microsecond) {
		h.agent.mu.Lock()
		ok := is()
		h.agent.mu.Unlock()
		if ok {
			return
		}
		if time.Now().After(end) {
			h.t.Fatal("not so:", what)
		}
	}
}

func TestAPacketThatAProcessHasBegunHoldsNobodyUp(t *testing.T) {
	h := roomy(t)
	p, q := h.long(1, 0, 100_000), h.packet(transport.Data, 2, 0, "in between")
	l := h.agent.byProc[0][0]
	for _, cut := range []int{40, 60_000} {
		h.procs[0][0].Write(p[:cut])
		h.until("it waits for the rest", func() bool { return l.in.wants > cut && l.in.w == 0 })
		h.procs[1][0].Write(q)
		expect(t, h.hosts[0], q, "another process")
		h.procs[0][0].Write(p[cut:])
		expect(t, h.hosts[0], p, "the whole packet")
	}
}

func TestAnAgentSleepsWhileAPacketIsNotWhole(t *testing.T) {
	h := roomy(t)
	p := h.long(1, 0, 100_000)
	l := h.agent.byProc[0][0]
	h.procs[0][0].Write(p[:70_000])
	h.until("it waits for the rest", func() bool { return l.in.wants == len(p) })
	idles(t)
	h.procs[0][0].Write(p[70_000:])
	expect(t, h.hosts[0], p, "the whole packet")
}

// begins has the beginning of a packet of host 0's come in two pieces: what comes with its header is copied.
func (h *house) begins(l, to *link, p []byte) {
	h.t.Helper()
	h.hosts[0].Write(p[:1000])
	h.until("its header is there", func() bool { return l.in.w == 1000 })
	h.hosts[0].Write(p[1000:])
	h.until("it has a place in the ring", func() bool { return l.in.to == to && l.in.got == len(p) })
}

func TestAPacketThatAHostHasBegunHoldsNobodyUp(t *testing.T) {
	h := roomy(t)
	p, q := h.long(0, 3, 100_000), h.packet(transport.Data, 4, 2, "elsewhere")
	l, to := h.agent.byHost[0], h.agent.byProc[2][0]
	h.begins(l, to, p[:60_000])
	h.hosts[2].Write(q)
	expect(t, h.procs[1][1], q, "another process")

	// Something for the same process, before the rest comes.
	r := h.packet(transport.Data, 0, 3, "first")
	h.agent.mu.Lock()
	h.agent.put(to, r)
	evicted := l.in.to == nil && l.in.w == 60_000 && to.out.writer == nil
	h.agent.mu.Unlock()
	if !evicted {
		t.Error("the place was not given up")
	}
	expect(t, h.procs[2][0], r, "what was whole first")
	h.hosts[0].Write(p[60_000:])
	expect(t, h.procs[2][0], p, "the whole packet")
}

func TestAHostThatDiesInTheMiddleOfALongPacketLeavesNothingOfIt(t *testing.T) {
	h := roomy(t)
	p := h.long(0, 3, 100_000)
	l, to := h.agent.byHost[0], h.agent.byProc[2][0]
	h.begins(l, to, p[:50_000])
	h.hosts[0].(*net.TCPConn).CloseWrite()
	if err := <-h.lost; !strings.Contains(err.Error(), "50000 bytes into a packet") {
		t.Error(err)
	}
	h.until("the place is given up", func() bool { return to.out.writer == nil && l.in.to == nil })
}

func TestAProcessThatDiesInTheMiddleOfALongPacketLeavesNothingOfIt(t *testing.T) {
	h := roomy(t)
	p, q := h.long(1, 0, 100_000), h.packet(transport.Data, 2, 0, "on")
	l := h.agent.byProc[0][0]
	h.procs[0][0].Write(p[:50_000])
	h.until("it waits for the rest", func() bool { return l.in.wants > 0 })
	h.procs[0][0].Close()
	h.until("it is gone", func() bool { return l.in.ended })
	h.procs[1][0].Write(q)
	expect(t, h.hosts[0], q, "another process")
}

// unixPair is a connection as tcpPair is one. It takes as much as fits into its buffer, and no more before the test
// reads; TCP still takes more while acknowledgements are on their way.
func unixPair(t *testing.T) (int, net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fds[1]), "host")
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return fds[0], c
}

// A host that reads nothing: what its socket does not take stays in the ring of who sent it.
func TestWhatASocketDoesNotTakeIsOwed(t *testing.T) {
	const limit = 1 << 20
	fd, host := unixPair(t)
	h := furnished(t, 1000, limit, func(c *Config) {
		c.Job.Hosts[0].Stream, c.Job.Hosts[2].Stream = unbufferedMax, unbufferedMax
		unix.Close(c.Peers[0][0])
		c.Peers[0] = []int{fd}
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<16)
	})
	h.hosts[0] = host
	p, q := h.long(1, 0, 200_000), h.packet(transport.Data, 2, 0, "behind it")
	o := &h.agent.byHost[0].out
	var all sync.WaitGroup
	const times = 100
	all.Go(func() {
		for range times {
			if _, err := h.procs[0][0].Write(p); err != nil {
				t.Error(err)
			}
		}
	})
	h.until("something is owed", func() bool { return o.debtor == h.agent.byProc[0][0] })
	h.procs[1][0].Write(q)
	h.until("it waits behind it", func() bool { return o.waits() > 0 && len(o.queue) >= len(q) })
	r := h.packet(transport.Data, 4, 1, "other ways are free")
	h.hosts[2].Write(r)
	expect(t, h.procs[0][1], r, "the other side")
	seen := 0
	for range times + 1 {
		head := make([]byte, wire.PacketSize)
		expectAny(t, h.hosts[0], head)
		want := p
		if wire.Packet(head).PayloadLen() != 200_000 {
			want = q
			seen++
		}
		if !bytes.Equal(head, want[:wire.PacketSize]) {
			t.Fatal("not a header of ours")
		}
		expect(t, h.hosts[0], want[wire.PacketSize:], "payload")
	}
	if seen != 1 {
		t.Errorf("the short packet came %d times", seen)
	}
	all.Wait()
	h.until("nothing is owed", func() bool {
		return o.debtor == nil && o.waits() == 0 && h.agent.byProc[0][0].in.owed == 0
	})
}

// expectAny fills b.
func expectAny(t *testing.T, c net.Conn, b []byte) {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(patience))
	for n := 0; n < len(b); {
		m, err := c.Read(b[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
}

func TestWhatIsOwedToAHostThatIsLostIsDropped(t *testing.T) {
	h := furnished(t, 1000, 1<<20, func(c *Config) {
		c.Job.Hosts[0].Stream, c.Job.Hosts[2].Stream = unbufferedMax, unbufferedMax
		unix.SetsockoptInt(c.Peers[0][0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<16)
	})
	p := h.long(2, 0, 200_000)
	o := &h.agent.byHost[0].out
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			if _, err := h.procs[1][0].Write(p); err != nil {
				t.Error(err)
			}
		}
	}()
	h.until("something is owed", func() bool { return o.debtor != nil })
	h.hosts[0].(*net.TCPConn).SetLinger(0)
	h.hosts[0].Close()
	<-h.lost
	<-done // the process is not held up
	h.until("nothing is owed", func() bool { return o.debtor == nil && h.agent.byProc[1][0].in.owed == 0 })
}

// A process that reads nothing has a full ring: packets for it go aside, and those behind them to their processes.
func TestPacketsForAFullRingGoAside(t *testing.T) {
	h := roomy(t)
	p := h.long(0, 1, 200_000)
	q := h.packet(transport.Data, 0, 3, "behind them")
	const times = 4
	for range times {
		h.hosts[0].Write(p)
	}
	h.hosts[0].Write(q)
	expect(t, h.procs[2][0], q, "process 3")
	for range times {
		expect(t, h.procs[0][0], p, "process 1")
	}
}

// Short and long packets of all kinds of length, from everybody to everybody, through one socket and through three.
func TestLongAndShortPacketsOfAllDirectionsAtOnce(t *testing.T) {
	for _, streams := range []int{1, 3} {
		var others *bundle.Bundle
		h := furnished(t, 1000, 256<<10, func(c *Config) {
			c.Job.Hosts[0].Stream, c.Job.Hosts[2].Stream = unbufferedMax+40_000, unbufferedMax
			if streams > 1 {
				unix.Close(c.Peers[0][0])
				var ours, theirs []int
				for range streams {
					pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
					if err != nil {
						t.Fatal(err)
					}
					ours, theirs = append(ours, pair[0]), append(theirs, pair[1])
				}
				c.Peers[0], others = ours, bundle.New(theirs)
			}
		})
		host0 := h.hosts[0]
		if others != nil {
			b := &bundled{many: others}
			host0 = b
			t.Cleanup(others.Close)
		}
		end := func(r, other int32) net.Conn {
			switch r {
			case 0:
				return host0
			case 4:
				return h.hosts[2]
			}
			return h.procs[r-1][side(other, r)]
		}
		const each = 30
		var all sync.WaitGroup
		mu := map[net.Conn]*sync.Mutex{}
		due := map[net.Conn]int{}
		got := map[[2]int32]int{}
		var gotMu sync.Mutex
		for _, pair := range [][2]int32{{0, 1}, {0, 3}, {1, 0}, {2, 0}, {4, 3}, {4, 1}, {3, 4}, {1, 4}, {3, 0}} {
			src, dst := pair[0], pair[1]
			from, to := end(src, dst), end(dst, src)
			if mu[from] == nil {
				mu[from] = new(sync.Mutex)
			}
			lock := mu[from]
			due[to] += each
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(src), uint64(dst)))
				for i := range each {
					n := r.IntN(1000)
					if r.IntN(2) == 0 {
						n = 2 + r.IntN(unbufferedMax-2)
					}
					p := h.continuation(src, dst, n)
					if n > 8 {
						p[wire.PacketSize], p[len(p)-1] = byte(i), byte(i)
					}
					lock.Lock()
					_, err := from.Write(p)
					lock.Unlock()
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for c, n := range due {
			all.Go(func() {
				for range n {
					head := make([]byte, wire.PacketSize)
					expectAny(t, c, head)
					p := wire.Packet(head)
					body := make([]byte, p.PayloadLen())
					expectAny(t, c, body)
					key := [2]int32{int32(p.Src().PID), int32(p.Dst().PID)}
					gotMu.Lock()
					i := byte(got[key])
					got[key]++
					gotMu.Unlock()
					if k := len(body); k > 8 && (body[0] != i || body[k-1] != i || bytes.Count(body[1:k-1], []byte("c")) != k-2) {
						t.Errorf("packet %d of %v: not what was sent", i, key)
					}
				}
			})
		}
		all.Wait()
		h.agent.Close()
	}
}

// bundled is the other end of several connections, in place of one.
type bundled struct {
	net.Conn
	mu   sync.Mutex
	many *bundle.Bundle
}

func (b *bundled) try(do func() (int, error)) (int, error) {
	for {
		b.mu.Lock()
		for k := range 3 {
			b.many.Writable(k)
		}
		n, err := do()
		b.mu.Unlock()
		if err != unix.EAGAIN {
			return n, err
		}
		time.Sleep(20 * time.Microsecond)
	}
}

func (b *bundled) Read(p []byte) (int, error) {
	return b.try(func() (int, error) { return b.many.Receive(nil, p) })
}

func (b *bundled) Write(p []byte) (n int, err error) {
	for n < len(p) {
		k, err := b.try(func() (int, error) {
			k, errno := b.many.Send(p[n:], nil, nil)
			if errno != 0 {
				return k, errno
			}
			return k, nil
		})
		if n += k; err != nil {
			return n, err
		}
	}
	_, err = b.try(func() (int, error) { // what the sockets have not taken leaves
		if b.many.Pending() {
			return 0, unix.EAGAIN
		}
		return 0, nil
	})
	return n, err
}

func (b *bundled) SetReadDeadline(time.Time) error { return nil }

func TestAgentsTakeShortContinuations(t *testing.T) {
	if !isUnbuffered(wire.PacketSize+Stream) || 4*(wire.PacketSize+Stream) > pipe.RingBytes {
		t.Error("four of them do not fit into a ring")
	}
	j := makeJob(1000)
	j.Hosts[0].Stream, j.Hosts[2].Stream, j.Me = 1<<20, 1<<20, 1
	if v := View(j); v.Hosts[0].Stream != Stream || v.Hosts[0].StreamIn != 1<<20 {
		t.Errorf("%+v", v.Hosts[0])
	}
}

func TestNothingAllocatesOnTheUnbufferedWay(t *testing.T) {
	if race {
		t.Skip("the race detector allocates")
	}
	h := roomy(t)
	p, q := h.long(1, 0, 100_000), h.long(0, 1, 100_000)
	buf := make([]byte, len(p))
	through := func(from, to net.Conn, p []byte) {
		from.Write(p)
		for n := 0; n < len(p); {
			m, err := to.Read(buf[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += m
		}
	}
	if n := testing.AllocsPerRun(50, func() {
		through(h.procs[0][0], h.hosts[0], p)
		through(h.hosts[0], h.procs[0][0], q)
	}); n > 1 { // a poll of the test's own process
		t.Errorf("%v allocations", n)
	}
}
