package libimpi

import (
	"runtime"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// No message costs an allocation, once pools have grown.

// volley sends a message from a to b and one back, from one goroutine.
type volley struct {
	a, b    *Engine
	c, d    *Comm
	buf, in []byte
	count   int64
	typ     *datatype.Type
	tb      testing.TB

	// As in a program's memory, not the stack of a goroutine.
	send, recv uint64
	st         CStatus
}

func newVolley(tb testing.TB, o options, n int) *volley {
	es := makeWorld(tb, o)
	return &volley{a: es[0], b: es[1], c: es[0].World(), d: es[1].World(), buf: make([]byte, n), in: make([]byte, n),
		count: int64(n), typ: byteT, tb: tb}
}

// blocking is for messages that are sent before anybody receives.
func (v *volley) blocking() {
	check := func(err error) {
		if err != nil {
			v.tb.Fatal(err)
		}
	}
	var st Status
	check(v.c.Send(at(v.buf), v.count, v.typ, 1, 0, Standard))
	check(v.d.Recv(at(v.in), v.count, v.typ, 0, 0, &st))
	check(v.d.Send(at(v.buf), v.count, v.typ, 0, 0, Standard))
	check(v.c.Recv(at(v.in), v.count, v.typ, abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
}

// spaced makes the messages every other block of 4 bytes of the buffers.
func (v *volley) spaced() *volley {
	v.typ, v.count = strided(int64(len(v.buf)/8)), 1
	return v
}

func (v *volley) nonblocking() {
	v.pass(v.a, v.b, v.c, v.d, 1, 0, Standard, false)
	v.pass(v.b, v.a, v.d, v.c, 0, 1, Synchronous, true)
}

func (v *volley) pass(a, b *Engine, from, to *Comm, dest, source int, mode SendMode, early bool) {
	if early {
		v.send = from.Isend(at(v.buf), v.count, v.typ, dest, 0, mode)
		b.progress()
	}
	v.recv = to.Irecv(at(v.in), v.count, v.typ, source, 0)
	if !early {
		v.send = from.Isend(at(v.buf), v.count, v.typ, dest, 0, mode)
	}
	for sent, received := false, false; !sent || !received; {
		var err1, err2 error
		sent, err1 = a.Test(&v.send, &v.st)
		received, err2 = b.Test(&v.recv, &v.st)
		if err1 != nil || err2 != nil {
			v.tb.Fatal(err1, err2)
		}
	}
	if err := a.Wait(&v.send, &v.st); err != nil {
		v.tb.Fatal(err)
	}
}

// probes is a flood of messages that arrive early and are probed for, some with a matched probe.
func (v *volley) probes() {
	for range 5 {
		if err := v.c.Send(at(v.buf), v.count, v.typ, 1, 0, Standard); err != nil {
			v.tb.Fatal(err)
		}
	}
	for range 5 {
		var st Status
		if err := v.d.Probe(0, 0, &st); err != nil {
			v.tb.Fatal(err)
		}
		if err := v.d.Recv(at(v.in), v.count, v.typ, 0, 0, &st); err != nil {
			v.tb.Fatal(err)
		}
	}
}

func (v *volley) toItself() {
	v.send = v.c.Isend(at(v.buf), v.count, v.typ, 0, 0, Standard)
	var st Status
	if err := v.c.Recv(at(v.in), v.count, v.typ, 0, 0, &st); err != nil {
		v.tb.Fatal(err)
	}
	if err := v.a.Wait(&v.send, nil); err != nil {
		v.tb.Fatal(err)
	}
}

func (v *volley) persistent() func() {
	send, recv := v.c.SendInit(at(v.buf), v.count, v.typ, 1, 0, Standard), v.d.RecvInit(at(v.in), v.count, v.typ, 0, 0)
	return func() {
		if err := v.b.Start(recv); err != nil {
			v.tb.Fatal(err)
		}
		if err := v.a.Start(send); err != nil {
			v.tb.Fatal(err)
		}
		for sent, received := false, false; !sent || !received; {
			sent, _ = v.a.Test(&send, nil)
			received, _ = v.b.Test(&recv, nil)
		}
	}
}

var shmWorld, tcpWorld = options{clients: []int{2}}, options{clients: []int{1, 1}}

func TestMessagesDoNotAllocate(t *testing.T) {
	if raceOn {
		t.Skip("the race detector allocates")
	}
	for _, tt := range []struct {
		name string
		o    options
		n    int
		run  func(v *volley) func()
	}{
		{"shm, 8 bytes, blocking", shmWorld, 8, func(v *volley) func() { return v.blocking }},
		{"shm, 8 bytes, nonblocking", shmWorld, 8, func(v *volley) func() { return v.nonblocking }},
		{"shm, 4 KiB, blocking", shmWorld, 4 << 10, func(v *volley) func() { return v.blocking }},
		{"shm, 64 KiB, nonblocking", shmWorld, 64 << 10, func(v *volley) func() { return v.nonblocking }},
		{"shm, 64 KiB, nonblocking, not reading", options{clients: []int{2}, noRead: true}, 64 << 10,
			func(v *volley) func() { return v.nonblocking }},
		{"shm, 64 KiB, nonblocking, reading all", options{clients: []int{2}, readAll: true}, 64 << 10,
			func(v *volley) func() { return v.nonblocking }},
		{"shm, 1 MiB, nonblocking", shmWorld, 1 << 20, func(v *volley) func() { return v.nonblocking }},
		{"shm, blocks, 4 KiB, blocking", shmWorld, 8 << 10, func(v *volley) func() { return v.spaced().blocking }},
		{"shm, blocks, 512 KiB, nonblocking", shmWorld, 1 << 20, func(v *volley) func() { return v.spaced().nonblocking }},
		{"tcp, blocks, 128 KiB, nonblocking", tcpWorld, 256 << 10, func(v *volley) func() { return v.spaced().nonblocking }},
		{"shm, 8 bytes, probed", shmWorld, 8, func(v *volley) func() { return v.probes }},
		{"shm, 8 bytes, persistent", shmWorld, 8, func(v *volley) func() { return v.persistent() }},
		{"shm, 64 KiB, persistent", shmWorld, 64 << 10, func(v *volley) func() { return v.persistent() }},
		{"itself, 8 bytes", shmWorld, 8, func(v *volley) func() { return v.toItself }},
		{"itself, 64 KiB", shmWorld, 64 << 10, func(v *volley) func() { return v.toItself }},
		{"tcp, 8 bytes, blocking", tcpWorld, 8, func(v *volley) func() { return v.blocking }},
		{"tcp, 8 bytes, nonblocking", tcpWorld, 8, func(v *volley) func() { return v.nonblocking }},
		{"tcp, 100 KiB, nonblocking", tcpWorld, 100 << 10, func(v *volley) func() { return v.nonblocking }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := tt.run(newVolley(t, tt.o, tt.n))
			for range 50 {
				run()
			}
			if n := testing.AllocsPerRun(200, run); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// rally is a ping-pong of n bytes between two threads, rounds times.
func rally(tb testing.TB, es []*Engine, n, rounds int, nonblocking bool) {
	together(tb, es, func(e *Engine) {
		c, peer := e.World(), 1-int(e.me)
		out, in := make([]byte, n), make([]byte, n)
		var st Status
		id, cs := new(uint64), new(CStatus)
		send := func() error {
			if !nonblocking {
				return c.Send(at(out), int64(n), byteT, peer, 0, Standard)
			}
			*id = c.Isend(at(out), int64(n), byteT, peer, 0, Standard)
			return e.Wait(id, cs)
		}
		recv := func() error {
			if !nonblocking {
				return c.Recv(at(in), int64(n), byteT, peer, 0, &st)
			}
			*id = c.Irecv(at(in), int64(n), byteT, peer, 0)
			return e.Wait(id, cs)
		}
		first, second := send, recv
		if e.me == 1 {
			first, second = recv, send
		}
		for range rounds {
			if err := first(); err != nil {
				tb.Error(err)
				return
			}
			if err := second(); err != nil {
				tb.Error(err)
				return
			}
		}
	})
}

var rallies = []struct {
	name        string
	o           options
	n           int
	nonblocking bool
}{
	{"shm/8", shmWorld, 8, false},
	{"shm/8/nonblocking", shmWorld, 8, true},
	{"shm/64KiB", shmWorld, 64 << 10, false},
	{"shm/64KiB/nonblocking", shmWorld, 64 << 10, true},
	{"tcp/8", tcpWorld, 8, false},
	{"tcp/8/nonblocking", tcpWorld, 8, true},
}

// The same between threads that wait, spin and sleep. What the test itself allocates is much less than the rounds. The
// socket watcher is left out: what a turn of it costs depends on how often a thread happens to sleep.
func TestPingPongDoesNotAllocate(t *testing.T) {
	if raceOn {
		t.Skip("the race detector allocates")
	}
	for _, r := range rallies {
		if len(r.o.clients) > 1 {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			es := makeWorld(t, r.o)
			rally(t, es, r.n, 100, r.nonblocking)
			const rounds = 500
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			rally(t, es, r.n, rounds, r.nonblocking)
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n > rounds/4 {
				t.Errorf("%d allocations in %d round trips", n, rounds)
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func BenchmarkPingPong(b *testing.B) {
	for _, r := range rallies {
		b.Run(r.name, func(b *testing.B) {
			es := makeWorld(b, r.o)
			rally(b, es, r.n, 100, r.nonblocking)
			b.ReportAllocs()
			b.ResetTimer()
			rally(b, es, r.n, b.N, r.nonblocking)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(2*b.N), "ns/message")
		})
	}
}

// What the engine costs by itself: both ends on one thread, no waiting.
func BenchmarkOneThread(b *testing.B) {
	for name, run := range map[string]func(v *volley) func(){
		"blocking":    func(v *volley) func() { return v.blocking },
		"nonblocking": func(v *volley) func() { return v.nonblocking },
		"persistent":  func(v *volley) func() { return v.persistent() },
	} {
		b.Run(name, func(b *testing.B) {
			f := run(newVolley(b, shmWorld, 8))
			b.ReportAllocs()
			for b.Loop() {
				f()
			}
		})
	}
}
