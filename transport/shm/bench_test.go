package shm

import (
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// Benchmarks between two processes, each on a core of its own.

// pair starts the other side in a role and answers this one, and what ends the role.
func pair(b *testing.B, role string, r *receiver) (*Transport, func()) {
	fd := create(b, 2)
	pin(0)
	cmd := start(b, role, fd, 1) // first: it closes a duplicate of fd, which would end our claim
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

// BenchmarkLatency is half a round trip: ns/op is one way.
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
			for i := 0; i < b.N; i += 2 {
				trip()
			}
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
	at := 0
	send := func(tag int32) {
		h.Tag = tag
		for !t.Send(&h, data[at:at+size]) {
			Pause(1)
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
	for i := 1; i < b.N; i++ {
		send(0)
	}
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
			for range b.N {
				t.Read(t.world[1], lent, dst)
			}
			b.StopTimer()
			end()
		})
	}
}
