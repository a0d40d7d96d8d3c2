package libimpi

import (
	stdcontext "context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/background"
	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/startup/links"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// Jobs of several engines in one process, over real segments and real sockets.
//
// Most tests step the engines from one goroutine, by nonblocking calls and settle, so that what has arrived at
// which point is certain. Tests of what blocks give each rank a thread (together).

// segmentOf is the shared memory below an engine of makeWorld.
func segmentOf(e *Engine) *shm.Segment { return e.bell.(*shm.Segment) }

// patience bounds what a test waits for. Nothing is decided by it but that a test has failed.
const patience = time.Minute

var byteT, intT, longT, doubleT = datatype.Named(abi.MPI_BYTE), datatype.Named(abi.MPI_INT),
	datatype.Named(abi.MPI_LONG), datatype.Named(abi.MPI_DOUBLE)

// options change how a job is made.
type options struct {
	clients []int // processes of each client; nil: one client
	noRead  bool
	readAll bool
	direct  bool // the kernel is said to copy quickly between processes, and else not to
	thread  bool // engines have progress threads, and the test ends them
	tune    func(*transport.Job)
	fake    *fake.Options // the job is one of transport/fake, and this says what else than its machines it is
}

// world is a job of n ranks of one client.
func world(tb testing.TB, n int) []*Engine { return makeWorld(tb, options{clients: []int{n}}) }

func makeWorld(tb testing.TB, o options) []*Engine {
	tb.Helper()
	if o.fake != nil {
		return makeFake(tb, o)
	}
	job := transport.Job{Clients: int32(len(o.clients)), MaxDataLen: 64 << 10, TagUB: 1<<31 - 1, AckMark: 10,
		HiWater: 20, XSize: 1024, MaxLinear: 4}
	var listeners []*tcp.Listener
	var configs []links.Config
	for client, n := range o.clients {
		fd, err := shm.Create(n)
		if err != nil {
			tb.Fatal(err)
		}
		var ranks []int32
		for local := range n {
			me := int32(len(job.Procs))
			l, err := tcp.ListenBetween(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0, 0)
			if err != nil {
				tb.Fatal(err)
			}
			listeners = append(listeners, l)
			job.Hosts = append(job.Hosts, transport.Host{Addr: l.Addr(), Client: int32(client), First: me, NProcs: 1,
				SameImpl: true, Exchange: true})
			job.Procs = append(job.Procs, transport.Proc{HostID: [16]byte{15: 1}, PID: int64(me) + 1, Host: me,
				Client: int32(client)})
			ranks = append(ranks, me)
			configs = append(configs, links.Config{Segment: attach(tb, fd, local), Listener: l, NoRead: o.noRead})
		}
		unix.Close(fd)
		for i := range n {
			configs[len(configs)-n+i].World = ranks
		}
	}
	if o.tune != nil {
		o.tune(&job)
	}
	thread := background.Never
	if o.thread {
		thread = background.Always
	}
	es := make([]*Engine, len(configs))
	errs := make([]error, len(configs))
	ctx, cancel := stdcontext.WithTimeout(stdcontext.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for i := range configs {
		wg.Go(func() {
			mine := job
			mine.Me = int32(i)
			c := configs[i]
			c.Job = &mine
			es[i], errs[i] = New(ctx, Config{Job: &mine, Home: c.Segment.Home(c.World), Open: c.Open,
				ReadAll: o.readAll, Thread: thread})
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			tb.Fatalf("rank %d: %v", i, err)
		}
		es[i].kernelCopies(o.direct || o.readAll)
		listeners[i].Close()
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			return // a thread may still be inside
		}
		for _, e := range es {
			e.Abort()
			e.thread.Dismiss()
		}
		for _, c := range configs {
			if err := c.Segment.Close(); err != nil {
				tb.Error(err)
			}
		}
	})
	return es
}

// kernelCopies says whether the kernel copies quickly between processes, whatever has been measured.
func (e *Engine) kernelCopies(quickly bool) {
	e.protocol.Rules.On = quickly
	e.findAll(false) // no read is slow
}

func attach(tb testing.TB, fd, local int) *shm.Segment {
	tb.Helper()
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := shm.Attach(own, local)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// step lets each engine poll once.
func step(es []*Engine) bool {
	did := false
	for _, e := range es {
		e.mu.Lock()
		did = e.pollAll() || did
		e.mu.Unlock()
	}
	return did
}

// settle polls until nothing moves: inside a machine, all that was sent has then arrived.
func settle(es ...*Engine) {
	for step(es) {
	}
}

// until polls until cond holds.
func until(tb testing.TB, es []*Engine, what string, cond func() bool) {
	tb.Helper()
	for end := time.Now().Add(patience); !cond(); {
		if !step(es) {
			runtime.Gosched()
			if time.Now().After(end) {
				tb.Fatalf("waited in vain for %s", what)
			}
		}
	}
}

// finish polls until all requests are done and returns their statuses.
func finishAll(tb testing.TB, es []*Engine, e *Engine, ids ...*uint64) []CStatus {
	tb.Helper()
	st := make([]CStatus, len(ids))
	for i, id := range ids {
		until(tb, es, "a request", func() bool {
			done, err := e.Test(id, &st[i])
			if err != nil {
				tb.Fatalf("request %d: %v", i, err)
			}
			return done
		})
	}
	return st
}

// together runs body for each rank on a thread of its own and returns when all are done. In a fake job it has its
// turns.
func together(tb testing.TB, es []*Engine, body func(e *Engine)) {
	tb.Helper()
	if w := fakeOf(es[0]); w != nil {
		runFake(tb, w, es, body)
		return
	}
	var wg sync.WaitGroup
	done := make(chan struct{})
	for _, e := range es {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			body(e)
		})
	}
	go func() {
		wg.Wait()
		close(done)
	}()
	limit := patience
	if _, ok := tb.(*testing.B); ok {
		limit = time.Hour
	}
	select {
	case <-done:
	case <-time.After(limit):
		buf := make([]byte, 1<<20)
		fmt.Fprintf(os.Stderr, "%s\n", buf[:runtime.Stack(buf, true)])
		tb.Fatalf("the ranks have not come to an end")
	}
}

// must reports an error of a call that cannot fail.
func must(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Error(err)
	}
}

// pattern is n bytes that tell who made them.
func pattern(n int, seed int) []byte {
	from := seed * 7919 % (1 << 20)
	return append(make([]byte, 0, n), noise()[from:from+n]...)
}

var noise = sync.OnceValue(func() []byte {
	p := make([]byte, 6<<20)
	x := uint32(12345)
	for i := range p {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
})

// wantClass checks the MPI class of an error.
func wantClass(tb testing.TB, err error, class int) {
	tb.Helper()
	if err == nil {
		tb.Errorf("no error, want %s", ClassName(class))
	} else if got := AsError(err).Class; got != class {
		tb.Errorf("%v: want %s", err, ClassName(class))
	}
}

// idle checks that an engine holds nothing back: no request in use but those given, nothing queued or waiting.
func idle(tb testing.TB, e *Engine, used int) {
	tb.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.requests.slots) - len(e.requests.idle) - 1; n != used { // but for Engine.sent
		tb.Errorf("rank %d: %d requests in use, want %d", e.me, n, used)
	}
	if s := *e.shared; s != (Shared{}) && used == 0 {
		tb.Errorf("rank %d: counted for the fast path: %+v", e.me, s)
	}
	seen := map[*Request]bool{}
	for _, r := range e.requests.idle {
		if seen[r] {
			tb.Errorf("rank %d: a request is twice in the pool", e.me)
		}
		seen[r] = true
		if r.kind != noRequest || r.state.done || r.state.detached || r.state.active || r.wire.Expects() || r.waits.Waits() {
			tb.Errorf("rank %d: a request in the pool is not blank: %+v", e.me, *r)
		}
	}
	for i := range e.peers {
		if wrong := e.protocol.Idle(&e.peers[i].Peer); wrong != "" {
			tb.Errorf("rank %d: %s (rank %d)", e.me, wrong, i)
		}
	}
	for _, c := range e.contexts.low {
		if c != nil && (!c.quiet() || c.space.Waiting() != 0) {
			tb.Errorf("rank %d: context %d holds receives or messages, and counts %d", e.me, c.cid, c.space.Waiting())
		}
	}
	if n := e.contexts.early.Contexts(); n != 0 {
		tb.Errorf("rank %d: early messages for %d contexts", e.me, n)
	}
	if e.predefined.buffer.used != 0 {
		tb.Errorf("rank %d: %d bytes of the attached buffer in use", e.me, e.predefined.buffer.used)
	}
}

// quiet says that nothing waits in the context.
func (c *context) quiet() bool {
	n := 0
	c.space.Each(func(*Request) { n++ }, func(*message) { n++ })
	return n == 0
}

func noFailure(tb testing.TB, es []*Engine) {
	tb.Helper()
	for _, e := range es {
		must(tb, e.failure())
	}
}

// only reports whether a message is all that waits for room on its way to a peer.
func only(p *peer, r *Request) bool {
	return slices.Equal(slices.Collect(p.Messages()), []*protocol.Transfer{&r.wire})
}
