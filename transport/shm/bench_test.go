package shm

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
)

// Benchmarks between two processes, each on a core of its own.

// pair starts the other side in a role and returns this one, and what ends the role.
func pair(b *testing.B, role string, r *receiver) (*Transport, func()) {
	fd := create(b, 2)
	cmd := start(b, role, fd, 1) // first: it closes a duplicate of fd, which would end our lock
	pin(0)                       // later: the core is inherited
	s := attach(b, fd, 0)
	r.lost = func(_ int32, err error) { b.Fatal(err) }
	t := newTransport(b, s, r)
	return t, func() {
		t.Send(&transport.Header{Dst: t.world[1], Tag: tagEnd}, nil)
		if err := cmd.Wait(); err != nil {
			b.Error(err)
		}
		s.Close()
	}
}

// best runs f about n times and reports the quickest batch of ten to a thousand, per call times scale: what the
// machine can do when nobody else has its cores.
func best(b *testing.B, n int, scale float64, f func()) {
	batch := max(10, min(n/100, 1000))
	quickest := time.Duration(1 << 62)
	for done := 0; done < n; done += batch {
		start := time.Now()
		for range batch {
			f()
		}
		quickest = min(quickest, time.Since(start))
	}
	b.ReportMetric(float64(quickest)/float64(batch)*scale, "best-ns")
}

// BenchmarkLatency is half a round trip: best-ns is one way.
func BenchmarkLatency(b *testing.B) {
	for _, size := range []int{0, 8, 40, 64, 256, 1 << 10, 4 << 10, 8 << 10, 16<<10 - 64} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			got := 0
			room := make([]byte, size)
			r := &receiver{deliver: func(_ *transport.Header, p []byte) { got++; copy(room, p) }}
			t, end := pair(b, "echo", r)
			h := transport.Header{Dst: t.world[1], MsgLen: uint64(size), Len: size}
			trip := func() {
				for !t.Send(&h, room) {
					b.Fatal("no room")
				}
				for want := got + 1; got < want; {
					await(t, 1)
				}
			}
			for range 1000 {
				trip()
			}
			b.ReportAllocs()
			b.ResetTimer()
			best(b, b.N, 0.5, trip)
			b.StopTimer()
			end()
		})
	}
}

// BenchmarkRate is a stream of messages one way; BenchmarkRing the same as a bandwidth of long messages in pieces.
func BenchmarkRate(b *testing.B) {
	for _, size := range []int{0, 8, 64, 1 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { stream(b, size, uint64(size)) })
	}
}

func BenchmarkRing(b *testing.B) {
	for _, size := range []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 65536 - 64} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { b.SetBytes(int64(size)); stream(b, size, 1<<40) })
	}
}

func stream(b *testing.B, size int, msgLen uint64) {
	got := 0
	t, end := pair(b, "sink", &receiver{deliver: func(*transport.Header, []byte) { got++ }})
	data := make([]byte, 4<<20)
	h := transport.Header{Dst: t.world[1], MsgLen: msgLen, Len: size}
	at, sent := 0, 0
	send := func(tag int32) {
		h.Tag = tag
		for !t.Send(&h, data[at:at+size]) {
			futex.Pause(1)
		}
		if size > 1<<10 {
			if at += size; at+size > len(data) {
				at = 0
			}
		}
	}
	sync := func() {
		send(1)
		for want := got + 1; got < want; {
			await(t, 1)
		}
	}
	sync()
	b.ReportAllocs()
	b.ResetTimer()
	best(b, b.N/100, 0.01, func() {
		for range 99 {
			send(0)
		}
		if sent++; sent%10 == 0 {
			sync()
		} else {
			send(0)
		}
	})
	sync()
	b.StopTimer()
	end()
}

// BenchmarkRead copies out of the other process.
func BenchmarkRead(b *testing.B) {
	for _, size := range []int{8, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var lent uint64
			t, end := pair(b, "lend", &receiver{deliver: func(h *transport.Header, _ []byte) { lent = h.Addr }})
			for lent == 0 {
				await(t, 1)
			}
			dst := make([]byte, size)
			if !t.Read(t.world[1], lent, dst) {
				end()
				b.Skip("the kernel does not let us read another process")
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.ResetTimer()
			best(b, b.N, 1, func() { t.Read(t.world[1], lent, dst) })
			b.StopTimer()
			end()
		})
	}
}

// BenchmarkOverhead is a message sent and received by one core: what the code costs without the hand-over.
func BenchmarkOverhead(b *testing.B) {
	from, to := two(b, 2, &receiver{})
	data := make([]byte, 8)
	h := transport.Header{Dst: from.world[1], Len: 8, MsgLen: 8}
	b.ReportAllocs()
	best(b, b.N, 1, func() {
		from.Send(&h, data)
		to.PollFrom(0)
	})
}

// BenchmarkRelease compares ways to publish a word.
func BenchmarkRelease(b *testing.B) {
	var word [64]uint32
	b.Run("Release32", func(b *testing.B) {
		best(b, b.N, 1, func() { futex.Release32(&word[0], 1) })
	})
	b.Run("atomic.Store", func(b *testing.B) {
		best(b, b.N, 1, func() { atomic.StoreUint32(&word[0], 1) })
	})
}
