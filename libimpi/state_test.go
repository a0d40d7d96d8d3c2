package libimpi

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/file/filetest"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport/fake"
	"github.com/libimpi/libimpi/transport/kernel"
)

// inWords puts what a process tells of its blocked threads into words.
func inWords(p *report.Process) string {
	var all []string
	for _, t := range p.Threads {
		text := string(t.For)
		if c := p.Find(t.Comm); c != nil && c.Name != "" {
			text += " on " + c.Name
		}
		if t.Peer != report.None {
			text += fmt.Sprintf(" peer %d", t.Peer)
		}
		if t.World != report.None && t.World != t.Peer {
			text += fmt.Sprintf(" (%d)", t.World)
		}
		if t.Tag != report.None {
			text += fmt.Sprintf(" tag %d", t.Tag)
		}
		if t.Number != 0 {
			text += fmt.Sprintf(" number %d", t.Number)
		}
		if t.Object != "" {
			text += fmt.Sprintf(" %q", t.Object)
		}
		for _, m := range t.Waits {
			text += fmt.Sprintf("; %s %s%s %d", m.Kind, m.State, m.Routine, m.Bytes)
		}
		if t.Requests > 0 {
			text += fmt.Sprintf("; %d of %d", t.WaitCount, t.Requests)
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// waitCase is a wait of rank 0 of two. Rank 1 looks at it, and ends it.
type waitCase struct {
	name  string
	setup func(t *testing.T, e *Engine) any // both ranks, before
	wait  func(t *testing.T, e *Engine, x any)
	end   func(t *testing.T, e *Engine, x any)
	want  string
}

// collectively is the case of an operation that both ranks call.
func collectively(name, want string, call func(t *testing.T, e *Engine, x any)) waitCase {
	return waitCase{name: name, wait: call, end: call, want: want}
}

const longMessage = 1 << 20

func sendTo1(mode SendMode, n, tag int) func(t *testing.T, e *Engine, _ any) {
	return func(t *testing.T, e *Engine, _ any) {
		must(t, e.World().Send(at(make([]byte, n)), int64(n), byteT, 1, int32(tag), mode))
	}
}

func recvFrom0(n, tag int) func(t *testing.T, e *Engine, _ any) {
	return func(t *testing.T, e *Engine, _ any) {
		must(t, e.World().Recv(at(make([]byte, n)), int64(n), byteT, 0, int32(tag), nil))
	}
}

func sendsTo0(tags ...int32) func(t *testing.T, e *Engine, _ any) {
	return func(t *testing.T, e *Engine, _ any) {
		for _, tag := range tags {
			must(t, e.World().Send(at(make([]byte, 3)), 3, byteT, 0, tag, Standard))
		}
	}
}

func irecvs(e *Engine, tags ...int32) (ids []uint64) {
	for _, tag := range tags {
		ids = append(ids, e.World().Irecv(at(make([]byte, 4)), 4, byteT, 1, tag))
	}
	return ids
}

func windowOf(flavor int) func(t *testing.T, e *Engine) any {
	return func(t *testing.T, e *Engine) any {
		w, err := e.World().NewWindow(onesided.Config{Flavor: flavor, Base: at(make([]byte, 64)), Size: 64, Unit: 1})
		must(t, err)
		w.Rename("counts")
		return w
	}
}

func fileOn(disk *filetest.Disk) func(t *testing.T, e *Engine) any {
	return func(t *testing.T, e *Engine) any { return openOn(t, e.World(), disk) }
}

var waitCases = []waitCase{
	{name: "receive", want: "requests on MPI_COMM_WORLD peer 1 tag 7; recv posted 4; 1 of 1",
		wait: func(t *testing.T, e *Engine, _ any) {
			must(t, e.World().Recv(at(make([]byte, 4)), 4, byteT, 1, 7, nil))
		}, end: sendsTo0(7)},
	{name: "receive from any source", want: "requests on MPI_COMM_WORLD peer -1 tag -2; recv posted 4; 1 of 1",
		wait: func(t *testing.T, e *Engine, _ any) {
			must(t, e.World().Recv(at(make([]byte, 4)), 4, byteT, anySource, anyTag, nil))
		}, end: sendsTo0(7)},
	{name: "long send", want: fmt.Sprintf("requests on MPI_COMM_WORLD peer 1 tag 8; send asked %d; 1 of 1", longMessage),
		wait: sendTo1(Standard, longMessage, 8), end: recvFrom0(longMessage, 8)},
	{name: "synchronous send", want: "requests on MPI_COMM_WORLD peer 1 tag 8; ssend asked 3; 1 of 1",
		wait: sendTo1(Synchronous, 3, 8), end: recvFrom0(3, 8)},
	{name: "send to itself", want: "any; ssend asked 3; recv posted 4; 2 of 2",
		wait: func(t *testing.T, e *Engine, _ any) {
			id := e.Self().Isend(at(make([]byte, 3)), 3, byteT, 0, 5, Synchronous)
			ids := append([]uint64{id}, irecvs(e, 1)...)
			_, err := e.WaitAny(ids, nil)
			must(t, err)
			must(t, e.Self().Recv(at(make([]byte, 3)), 3, byteT, 0, 5, nil))
			must(t, e.WaitAll(ids, nil))
		}, end: sendsTo0(1)},
	{name: "wait for all", want: "requests on MPI_COMM_WORLD; recv posted 4; recv posted 4; 2 of 4",
		setup: func(t *testing.T, e *Engine) any {
			if e.Me() == 1 {
				sendsTo0(1)(t, e, nil)
			}
			must(t, e.World().Barrier())
			return nil
		},
		wait: func(t *testing.T, e *Engine, _ any) {
			must(t, e.WaitAll(append(irecvs(e, 1, 2, 3), nullRequest), nil))
		}, end: sendsTo0(3, 2)},
	{name: "wait for any", want: "any on MPI_COMM_WORLD; recv posted 4; recv posted 4; 2 of 2",
		wait: func(t *testing.T, e *Engine, _ any) {
			ids := irecvs(e, 2, 3)
			_, err := e.WaitAny(ids, nil)
			must(t, err)
			must(t, e.WaitAll(ids, nil))
		}, end: sendsTo0(3, 2)},
	{name: "probe", want: "message on MPI_COMM_WORLD peer -1 tag 4",
		wait: func(t *testing.T, e *Engine, _ any) {
			must(t, e.World().Probe(anySource, 4, new(Status)))
			must(t, e.World().Recv(at(make([]byte, 4)), 4, byteT, 1, 4, nil))
		}, end: sendsTo0(4)},
	collectively("barrier", "members on MPI_COMM_WORLD peer 1", func(t *testing.T, e *Engine, _ any) {
		must(t, e.World().Barrier())
	}),
	collectively("nonblocking barrier", "requests on MPI_COMM_WORLD; collective MPI_Ibarrier 0; 1 of 1",
		func(t *testing.T, e *Engine, _ any) {
			task, err := e.World().Later(coll.Nonblocking)
			must(t, err)
			task.Is(coll.OpBarrier)
			must(t, task.Operations().Barrier())
			id := task.Start()
			must(t, e.Wait(&id, nil))
		}),
	{name: "communicator with a name", want: "members on halves peer 1",
		setup: func(t *testing.T, e *Engine) any {
			c, err := e.World().Dup()
			must(t, err)
			c.Rename("halves")
			return c
		},
		wait: func(t *testing.T, e *Engine, c any) { must(t, c.(*Comm).Barrier()) },
		end:  func(t *testing.T, e *Engine, c any) { must(t, c.(*Comm).Barrier()) }},
	{name: "fence, by words", want: "window peer 1 \"counts\"", setup: windowOf(abi.MPI_WIN_FLAVOR_ALLOCATE),
		wait: func(t *testing.T, e *Engine, w any) { must(t, w.(*Window).Fence(0)) },
		end:  func(t *testing.T, e *Engine, w any) { must(t, w.(*Window).Fence(0)) }},
	{name: "start", want: "window peer 1 \"counts\"", setup: windowOf(abi.MPI_WIN_FLAVOR_ALLOCATE),
		wait: func(t *testing.T, e *Engine, w any) {
			must(t, w.(*Window).Start([]int{1}, 0))
			must(t, w.(*Window).Complete())
		},
		end: func(t *testing.T, e *Engine, w any) {
			must(t, w.(*Window).Post([]int{0}, 0))
			must(t, w.(*Window).Wait())
		}},
	{name: "lock", want: "window peer 0 \"counts\"",
		setup: func(t *testing.T, e *Engine) any {
			w := windowOf(abi.MPI_WIN_FLAVOR_ALLOCATE)(t, e).(*Window)
			if e.Me() == 1 {
				must(t, w.Lock(0, true, 0))
			}
			must(t, e.World().Barrier())
			return w
		},
		wait: func(t *testing.T, e *Engine, w any) {
			must(t, w.(*Window).Lock(0, true, 0))
			must(t, w.(*Window).Unlock(0))
		},
		end: func(t *testing.T, e *Engine, w any) { must(t, w.(*Window).Unlock(0)) }},
	{name: "attached buffer", want: "room",
		wait: func(t *testing.T, e *Engine, _ any) {
			must(t, e.AttachBuffer(2*longMessage))
			must(t, e.World().Bsend(at(make([]byte, longMessage)), longMessage, byteT, 1, 8))
			must(t, e.DetachBuffer())
		}, end: recvFrom0(longMessage, 8)},
	{name: "file", want: "file \"data\"",
		setup: fileOn(filetest.NewDisk()),
		wait: func(t *testing.T, e *Engine, x any) {
			fe, id := newFileEngine(e, x.(*File)), irecvs(e, 1)
			fe.Lock()
			must(t, fe.WaitFor(func() bool { return e.requests.find(id[0]).state.done }))
			fe.Unlock()
			must(t, e.Wait(&id[0], nil))
		}, end: sendsTo0(1)},
	{name: "end", want: "end",
		wait: func(t *testing.T, e *Engine, _ any) {
			id := e.World().Isend(at(make([]byte, 3)), 3, byteT, 1, 8, Synchronous)
			must(t, e.FreeRequest(&id))
			must(t, e.finishRemote(e.hasLetGo))
		}, end: recvFrom0(3, 8)},
}

func TestEachWaitShowsAsWhatItIs(t *testing.T) {
	for _, c := range waitCases {
		t.Run(c.name, func(t *testing.T) {
			es := late(t, 2, 5)
			got, after := "", "?"
			together(t, es, func(e *Engine) {
				var x any
				if c.setup != nil {
					x = c.setup(t, e)
				}
				if e.Me() == 0 {
					sendTo1(Standard, 1, 999)(t, e, nil)
					c.wait(t, e, x)
					after = inWords(e.State())
					return
				}
				recvFrom0(1, 999)(t, e, nil)
				got = inWords(es[0].State()) // processes have turns: rank 0 sleeps
				c.end(t, e, x)
			})
			if got != c.want {
				t.Errorf("rank 0 waits for %q, and not %q", got, c.want)
			}
			if after != "" {
				t.Errorf("afterwards it waits for %q", after)
			}
		})
	}
}

// seesBlocked returns what a process tells when so many of its threads sleep.
func seesBlocked(e *Engine, threads int) *report.Process {
	for {
		p, settled := e.State(), 0
		for _, t := range p.Threads {
			if t.Settled {
				settled++
			}
		}
		if settled == threads {
			return p
		}
		kernel.Yield()
	}
}

func TestAWaitOnABoardNamesTheMemberThatIsMissing(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		for range 2 {
			must(t, c.Barrier())
		}
		if e.Me() != 2 {
			must(t, c.Barrier())
			return
		}
		for _, other := range es[:2] {
			for inWords(seesBlocked(other, 1)) != "members on MPI_COMM_WORLD peer 2 number 3" {
				kernel.Yield() // they wait for each other first
			}
			if p := other.State(); p.Computing || p.ThreadCount != 1 {
				t.Errorf("rank %d: %+v", other.me, p)
			}
		}
		must(t, c.Barrier())
	})
	noFailure(t, es)
}

func TestThreadsThatWaitAreToldApart(t *testing.T) {
	es := world(t, 2)
	ready := make(chan bool, 2)
	for _, tag := range []int32{1, 2} {
		go func() {
			must(t, es[0].World().Recv(at(make([]byte, 4)), 4, byteT, 1, tag, nil))
			ready <- true
		}()
	}
	p := seesBlocked(es[0], 2)
	if p.Threads[0].Tag+p.Threads[1].Tag != 3 || p.Threads[0].Since < p.Threads[1].Since {
		t.Errorf("%+v", p.Threads)
	}
	before := p.Moves
	sendsTo0(2)(t, es[1], nil)
	<-ready
	p = seesBlocked(es[0], 1)
	if p.Threads[0].Tag != 1 || p.Moves == before {
		t.Errorf("%+v after %d moves, and %d before", p.Threads, p.Moves, before)
	}
	sendsTo0(1)(t, es[1], nil)
	<-ready
	if p = es[0].State(); len(p.Threads) != 0 || !p.Computing {
		t.Errorf("afterwards: %+v", p)
	}
	noFailure(t, es)
}

func TestTheBridgeTellsCallsAndWays(t *testing.T) {
	es := world(t, 2)
	traces := make(chan bool, 1) // a second one would block
	es[0].caller = Caller{
		Call: func() uintptr { return 12 },
		Name: func(call uintptr) string { return fmt.Sprint("MPI_", call) },
		Trace: func(returns []uintptr) int {
			traces <- true
			return copy(returns, []uintptr{3, 4})
		},
	}
	done := make(chan bool)
	go func() {
		must(t, es[0].World().Recv(at(make([]byte, 4)), 4, byteT, 1, 7, nil))
		done <- true
	}()
	got := seesBlocked(es[0], 1).Threads[0]
	<-traces
	if want := []report.Address{{Offset: 3}, {Offset: 4}}; got.Call != "MPI_12" || !reflect.DeepEqual(got.Returns, want) {
		t.Errorf("%+v", got)
	}
	sendsTo0(7)(t, es[1], nil)
	<-done
	if got := inWords(es[0].State()); got != "" {
		t.Errorf("afterwards it waits for %q", got)
	}
}

func TestWhatIsUnderWayIsTold(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	id := a.World().Isend(at(make([]byte, longMessage)), longMessage, byteT, 1, 3, Standard)
	short := a.World().Isend(at(make([]byte, 5)), 5, byteT, 1, 4, Standard)
	recv := b.World().Irecv(at(make([]byte, 8)), 8, byteT, anySource, 9)
	general := b.StartGeneral(&counted{e: b})
	settle(es...)
	p, q := a.State(), b.State()
	if m := (report.Message{Kind: "send", Comm: report.NameOf(0), Peer: 1, World: 1, Tag: 3, Bytes: longMessage,
		Count: longMessage, Type: "MPI_BYTE", State: "asked"}); p.SendCount != 1 || p.Sends[0] != m {
		t.Errorf("sends: %+v", p.Sends)
	}
	if m := (report.Message{Kind: "recv", Comm: report.NameOf(0), Peer: -1, World: report.None, Tag: 9, Bytes: 8, Count: 8,
		Type: "MPI_BYTE", State: "posted"}); q.ReceiveCount != 1 || q.Receives[0] != m {
		t.Errorf("receives: %+v", q.Receives)
	}
	if q.UnexpectedCount != 2 || q.Unexpected[0].Tag != 3 || q.Unexpected[0].Bytes != longMessage ||
		q.Unexpected[1].Tag != 4 || q.Unexpected[1].World != 0 {
		t.Errorf("unexpected: %+v", q.Unexpected)
	}
	if q.Open == "" || p.Open != "" {
		t.Errorf("open: %q and %q", p.Open, q.Open)
	}
	want := report.Comm{Name: "MPI_COMM_WORLD", Size: 2, Members: []report.Run{{First: 0, Count: 2}}}
	if c := p.Find(report.NameOf(0)); c == nil || !reflect.DeepEqual(*c, want) {
		t.Errorf("the communicator: %+v", c)
	}
	must(t, b.CompleteGeneral(general))
	must(t, b.Wait(&general, nil))
	must(t, b.Cancel(recv))
	must(t, b.Wait(&recv, nil))
	theirs := b.World().Irecv(at(make([]byte, longMessage)), longMessage, byteT, 0, 3)
	other := b.World().Irecv(at(make([]byte, 5)), 5, byteT, 0, 4)
	finishAll(t, es, a, &id, &short)
	finishAll(t, es, b, &theirs, &other)
	if p = b.State(); p.UnexpectedCount+p.ReceiveCount+p.SendCount > 0 || p.Open != "" {
		t.Errorf("afterwards: %+v", p)
	}
}

func TestAllPacketsAreReceivedOnceNothingIsUnderWay(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	a, b := es[0], es[1]
	var sends, receives []uint64
	for range 60 { // more than one window
		sends = append(sends, a.World().Isend(at(make([]byte, 5)), 5, byteT, 1, 3, Standard))
		receives = append(receives, b.World().Irecv(at(make([]byte, 5)), 5, byteT, 0, 3))
	}
	for i := range sends {
		finishAll(t, es, a, &sends[i])
		finishAll(t, es, b, &receives[i])
	}
	settle(es...)
	p, q := a.State(), b.State()
	if p.Sent+q.Sent != p.Received+q.Received || p.Sent < 60 {
		t.Errorf("sent %d and %d, received %d and %d", p.Sent, q.Sent, p.Received, q.Received)
	}
}

func TestPartitionedRequestsAreTold(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	send := a.World().PsendInit(at(make([]byte, 8)), 2, 4, byteT, 1, 3)
	recv := b.World().PrecvInit(at(make([]byte, 8)), 2, 4, byteT, 0, 3)
	ok := func(err *Error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(a.Start(send))
	ok(b.Start(recv))
	ok(a.Pready(send, 0, 0))
	settle(es...)
	tell := func(e *Engine, id uint64) report.Message {
		e.mu.Lock()
		defer e.mu.Unlock()
		s := teller{e: e, p: &report.Process{}}
		return s.message(e.requests.find(id))
	}
	if m := tell(a, send); m.Kind != "psend" || m.Peer != 1 || m.Tag != 3 || m.Bytes != 8 || m.Missing != 1 ||
		m.State != "unready" {
		t.Errorf("%+v", m)
	}
	if m := tell(b, recv); m.Kind != "precv" || m.World != 0 || m.State != "" {
		t.Errorf("%+v", m)
	}
	if p, q := a.State(), b.State(); p.SendCount+q.ReceiveCount > 0 {
		t.Errorf("its messages are told: %+v, %+v", p.Sends, q.Receives)
	}
	ok(a.Pready(send, 1, 1))
	finishAll(t, es, a, &send)
	finishAll(t, es, b, &recv)
}

func TestEpochsAndAccessesAreTold(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, fake: &fake.Options{Seed: 3, Late: 10}})
	together(t, es, func(e *Engine) {
		w := windowOf(abi.MPI_WIN_FLAVOR_ALLOCATE)(t, e).(*Window)
		if p := e.State(); p.WindowCount != 0 {
			t.Errorf("in no epoch: %+v", p.Windows)
		}
		must(t, w.Lock(1, false, 0))
		p := e.State()
		if p.WindowCount != 1 || p.Windows[0].Name != "counts" || !reflect.DeepEqual(p.Windows[0].Targets, []int{1}) ||
			p.Windows[0].Epoch != "has locked rank 1 by MPI_Win_lock" {
			t.Errorf("locked: %+v", p.Windows)
		}
		must(t, w.Unlock(1))
		must(t, w.Free())
		if p := e.State(); p.WindowCount != 0 || len(p.Comms) != 0 {
			t.Errorf("freed: %+v", p)
		}
	})
}
