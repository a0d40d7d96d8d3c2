package tcp

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// processor reports the processor time of an operation, which does not depend on who else is on the machine.
func processor(bm *testing.B) func() {
	used := func() int64 {
		var u unix.Rusage
		unix.Getrusage(unix.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := used()
	return func() { bm.ReportMetric(float64(used()-start)/float64(bm.N), "cpu-ns/op") }
}

// idle polls, and lets others have the processor when that is in vain for long, as an engine does.
func (s *sink) idle(spins *int) {
	if s.host.Poll() {
		*spins = 0
	} else if *spins++; *spins%64 == 0 {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// sink counts what is delivered.
type sink struct {
	n    int
	host *Host
}

func (s *sink) Deliver(*transport.Header, []byte) { s.n++ }
func (s *sink) Lost(peer int32, err error)        { panic(err) }

// couple is two hosts without locks; only one thread at a time may use each.
func couple(t testing.TB) (a, b *sink) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	a, b = &sink{host: es[0].host}, &sink{host: es[1].host}
	a.host.recv, b.host.recv = a, b
	slow(es...)
	for _, e := range es {
		e.host.watch.wake = func() {}
	}
	return a, b
}

// zeros is a Packer.
type zeros struct{}

func (zeros) Pack(dst []byte) { clear(dst) }

func TestNoMessageAllocates(t *testing.T) {
	a, b := couple(t)
	var p transport.Packer = zeros{}
	for _, size := range []int{0, 8, inlineMax + 1, 65536} {
		payload := make([]byte, size)
		h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: size, MsgLen: uint64(size)}
		back := transport.Header{Kind: transport.Data, Src: 1, Dst: 0, Len: size, MsgLen: uint64(size)}
		trip := func() {
			for want := b.n + 2; b.n < want; b.host.Poll() {
				if b.n == want-2 && a.host.Send(&h, payload) {
					for !a.host.SendFrom(&h, p) {
						a.host.Poll()
						b.host.Poll()
					}
				}
				a.host.Poll()
			}
			for want := a.n + 1; a.n < want; a.host.Poll() {
				if a.n == want-1 && b.host.Send(&back, payload) {
					for a.n < want {
						a.host.Poll()
						b.host.Poll()
					}
				}
			}
		}
		trip()
		if n := testing.AllocsPerRun(100, trip); n != 0 {
			t.Errorf("%d bytes: %v allocations a round trip", size, n)
		}
	}
}

// Half a round trip with one thread in both roles: what the two ends cost in processor time, without the
// machine's way of waking threads.
func BenchmarkOneThread(bm *testing.B) {
	for _, size := range []int{8, 65536} {
		bm.Run(fmt.Sprint(size), func(bm *testing.B) {
			a, b := couple(bm)
			payload := make([]byte, size)
			bm.SetBytes(int64(size))
			defer processor(bm)()
			bm.ResetTimer()
			for i := range bm.N {
				from, to := a, b
				if i%2 == 1 {
					from, to = b, a
				}
				me := int32(i % 2)
				h := transport.Header{Kind: transport.Data, Src: me, Dst: 1 - me, Len: size, MsgLen: uint64(size)}
				for !from.host.Send(&h, payload) {
					from.host.Poll()
				}
				for n := to.n; to.n == n; to.host.Poll() {
					if from.host.links[1-me].blocked {
						from.host.Poll()
					}
				}
			}
		})
	}
}

// Half a round trip, on two threads that poll.
func BenchmarkPingPong(bm *testing.B) {
	for _, size := range []int{8, 4096, 65536} {
		bm.Run(fmt.Sprint(size), func(bm *testing.B) {
			a, b := couple(bm)
			payload := make([]byte, size)
			side := func(s *sink, me int32, n int) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				h := transport.Header{Kind: transport.Data, Src: me, Dst: 1 - me, Len: size, MsgLen: uint64(size)}
				spins := 0
				for i := range n {
					for me == 1 && s.n <= i {
						s.idle(&spins)
					}
					for !s.host.Send(&h, payload) {
						s.idle(&spins)
					}
					for me == 0 && s.n <= i {
						s.idle(&spins)
					}
				}
			}
			done := make(chan bool)
			n := bm.N/2 + 1
			bm.ResetTimer()
			go func() { side(b, 1, n); close(done) }()
			side(a, 0, n)
			<-done
		})
	}
}

// Packets in one direction as fast as they go.
func BenchmarkStream(bm *testing.B) {
	for _, size := range []int{8, 65536} {
		bm.Run(fmt.Sprint(size), func(bm *testing.B) {
			a, b := couple(bm)
			payload := []byte(strings.Repeat("x", size))
			h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: size, MsgLen: uint64(size)}
			bm.SetBytes(int64(size))
			done := make(chan bool)
			bm.ResetTimer()
			go func() {
				runtime.LockOSThread()
				spins := 0
				for b.n < bm.N {
					b.idle(&spins)
				}
				close(done)
			}()
			theirs := 0
			for range bm.N {
				for !a.host.Send(&h, payload) {
					a.idle(&theirs)
				}
			}
			<-done
		})
	}
}

// A Poll that finds nothing.
func BenchmarkIdlePoll(bm *testing.B) {
	a, _ := couple(bm)
	defer processor(bm)()
	for range bm.N {
		a.host.Poll()
	}
}
