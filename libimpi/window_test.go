package libimpi

import (
	"runtime"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/onesided/windowtest"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Windows are tested (onesided/windowtest) on all ways that the engine has for them: memory that all map, requests
// inside a machine, and requests between clients.

// windowWays are the jobs and flavors by which a window of 4 processes is made.
var windowWays = []struct {
	name   string
	o      options
	flavor int
}{
	{"mapped", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_ALLOCATE},
	{"shared", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_SHARED},
	{"far", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_CREATE},
	{"asked", options{clients: []int{4}, noRead: true}, abi.MPI_WIN_FLAVOR_CREATE},
	{"clients", options{clients: []int{2, 2}}, abi.MPI_WIN_FLAVOR_ALLOCATE},
	{"late, mapped", options{clients: []int{4}, fake: &fake.Options{Seed: 3, Late: 10}}, abi.MPI_WIN_FLAVOR_ALLOCATE},
	{"late, far", options{clients: []int{4}, fake: &fake.Options{Seed: 6, Late: 10}}, abi.MPI_WIN_FLAVOR_CREATE},
	{"nothing found", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_ALLOCATE},
	{"found later", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_SHARED},
	{"not reached", options{clients: []int{4}}, abi.MPI_WIN_FLAVOR_CREATE},
	{"late, asked", options{clients: []int{4}, noRead: true, fake: &fake.Options{Seed: 4, Late: 10}},
		abi.MPI_WIN_FLAVOR_CREATE},
	{"late, clients", options{clients: []int{1, 3}, fake: &fake.Options{Seed: 5, Late: 10}}, abi.MPI_WIN_FLAVOR_CREATE},
}

// unreached is a transport that can read other processes, but not the memory of windows, as if it were a device's.
type unreached struct{ transport.Writer }

func (unreached) Move(int32, []transport.Run, []transport.Run, bool) bool { return false }

// lostAtPut is a transport that reads the memory of windows, and finds it gone when it is to store something there.
type lostAtPut struct {
	transport.Writer
	then func()
}

func (l lostAtPut) Move(peer int32, here, there []transport.Run, put bool) bool {
	if put {
		l.then()
		return false
	}
	return l.Writer.Move(peer, here, there, put)
}

// apart is memory of processes that do not find what others share, but for what these have made from some time on.
type apart struct {
	transport.Memory
	foundFrom, shared int
}

func (a *apart) Share(bytes, align int) ([]byte, uint64, error) {
	a.shared++
	mem, id, err := a.Memory.Share(bytes, align)
	if a.shared < a.foundFrom {
		id = 1 << 62 // which nobody has
	}
	return mem, id, err
}

func TestWindowsBehaveOnAllWays(t *testing.T) {
	for _, way := range windowWays {
		for _, b := range windowtest.Behaviours {
			t.Run(way.name+", "+b.Name, func(t *testing.T) {
				es := makeWorld(t, way.o)
				for i := 0; i < len(es) && way.name == "not reached"; i++ {
					es[i].ways.local.writer = unreached{es[i].ways.local.writer}
				}
				if from := map[string]int{"nothing found": 1 << 30, "found later": 2}[way.name]; from != 0 {
					for _, e := range es {
						e.home.Memory = &apart{e.home.Memory, from, 0}
					}
				}
				together(t, es, func(e *Engine) {
					w, err := e.World().NewWindow(windowtest.Config(way.flavor, b.Longs))
					if must(t, err); err != nil {
						return
					}
					p := processOf(e, w)
					p.Longs = b.Longs
					b.Run(t, p)
					must(t, w.Free())
				})
				settled(t, es)
			})
		}
	}
}

// processOf is a member of a window as its tests see it.
func processOf(e *Engine, w *Window) *windowtest.Process {
	return &windowtest.Process{Window: w.Window, Rank: w.Comm().Rank(), Size: w.Comm().Size(),
		WaitAll: func(ids []uint64) error { return e.WaitAll(ids, nil) }, Idle: kernel.Yield, InTurn: e.home.InTurn}
}

// settled checks that nothing is left.
func settled(t *testing.T, es []*Engine) {
	settle(es...) // who sends data back may not yet know that it has come
	noFailure(t, es)
	for _, e := range es {
		idle(t, e, 0)
	}
}

// Memory that is gone in the middle of an accumulate is an error of it, unless its process has died: then that is the
// cause, which is found a little later.
func TestMemoryThatIsGoneInTheMiddle(t *testing.T) {
	sum := op.Predefined(abi.MPI_SUM)
	for _, class := range []int{abi.MPI_ERR_RMA_RANGE, abi.MPI_ERR_PROC_ABORTED} {
		es := makeWorld(t, options{clients: []int{2}, fake: &fake.Options{Seed: 7, Late: 10}})
		es[0].ways.local.writer = lostAtPut{es[0].ways.local.writer, func() {
			if class == abi.MPI_ERR_PROC_ABORTED {
				fakeOf(es[1]).Kill(1)
			}
		}}
		together(t, es, func(e *Engine) {
			mem := make([]int64, 4)
			w, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: longBuf(mem, 1).Base,
				Size: 32, Unit: 8, Contiguous: true})
			must(t, err)
			if e.me == 0 {
				must(t, w.LockAll(0))
				there := onesided.Place{Target: 1, Count: 1, Type: longT}
				_, err := w.Accumulate(longBuf([]int64{1}, 1), coll.Buf{}, there, sum, longT, false)
				wantClass(t, err, class)
				one, none, was := []int64{1}, []int64{0}, []int64{0}
				err = w.CompareAndSwap(longBuf(one, 1).Base, longBuf(none, 1).Base, longBuf(was, 1).Base, there)
				wantClass(t, err, class)
				err = w.UnlockAll()
				if class == abi.MPI_ERR_RMA_RANGE {
					must(t, err)
				}
			}
			if err := w.Free(); class == abi.MPI_ERR_RMA_RANGE {
				must(t, err)
			} else {
				wantClass(t, err, class)
			}
		})
	}
}

// Memory that is to be shared has no other way.
func TestSharedWindowsOfProcessesThatFindNoMemorySayWhy(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	for _, e := range es {
		e.home.Memory = &apart{e.home.Memory, 1 << 30, 0}
	}
	together(t, es, func(e *Engine) {
		_, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_SHARED, Size: 8, Unit: 8})
		bad := AsError(err)
		if bad == nil || bad.Class != abi.MPI_ERR_RMA_SHARED || !strings.Contains(err.Error(), "no shared memory of ") {
			t.Errorf("rank %d got %v", e.Me(), err)
		}
	})
	noFailure(t, es)
}

func TestDynamicWindowsReachWhatIsAttached(t *testing.T) {
	for _, o := range []options{{clients: []int{3}}, {clients: []int{3}, noRead: true}, {clients: []int{1, 2}}} {
		es := makeWorld(t, o)
		together(t, es, func(e *Engine) {
			w, err := e.World().NewWindow(windowtest.DynamicConfig())
			must(t, err)
			windowtest.AttachedIsReached(t, processOf(e, w), func(own uint64) []uint64 {
				all := make([]uint64, 3)
				recv := countBuf(all)
				recv.Count = 1
				must(t, e.World().Allgather(countBuf([]uint64{own}), recv))
				return all
			})
			must(t, w.Free())
		})
		settled(t, es)
	}
}

func TestTheNextWindowHasTheMemoryOfOneThatIsFreed(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	made := make([]*apart, len(es))
	for i, e := range es {
		made[i] = &apart{e.home.Memory, 0, 0}
		e.home.Memory = made[i]
	}
	together(t, es, func(e *Engine) {
		for range 5 {
			w, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_SHARED, Size: 8000, Unit: 8})
			must(t, err)
			mine := longsAt(w.Base(), 1000)
			for i, v := range mine {
				if v != 0 {
					t.Fatalf("element %d is %d at first", i, v)
				}
				mine[i] = -1
			}
			must(t, w.Lock(0, true, 0)) // so that words, too, are not as they were
			must(t, w.Unlock(0))
			must(t, w.Fence(0))
			must(t, w.Fence(abi.MPI_MODE_NOSUCCEED))
			must(t, w.Free())
		}
	})
	for i, m := range made {
		if want := map[bool]int{true: 1}[i == 0]; m.shared != want {
			t.Errorf("process %d has made memory %d times", i, m.shared)
		}
	}
	noFailure(t, es)
}

func TestTheMembersOfAMachineMapTheirPartsOfAnyWindow(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}})
	together(t, es, func(e *Engine) {
		mem := make([]int64, 4)
		w, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 32, Unit: 8,
			Alloc: func(int64) (datatype.Pointer, error) { return longBuf(mem, 1).Base, nil }})
		if must(t, err); err != nil {
			return
		}
		for r := range 3 {
			if mapped := w.At(r) != nil; mapped != ((e.Me() == 2) == (r == 2)) {
				t.Errorf("rank %d, part %d: mapped is %v", e.Me(), r, mapped)
			}
		}
		must(t, w.Free())
	})
	noFailure(t, es)
}

// All members of a window in several machines hear that one of them has no memory.
func TestOneMemberWithoutMemoryFailsTheWindowOfAll(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1, 1}})
	together(t, es, func(e *Engine) {
		mem := make([]int64, 4)
		_, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 32, Unit: 8,
			Alloc: func(int64) (datatype.Pointer, error) {
				if e.Me() == 1 {
					return nil, errorf(abi.MPI_ERR_NO_MEM, "no memory")
				}
				return longBuf(mem, 1).Base, nil
			}})
		if bad := AsError(err); bad == nil || bad.Class != abi.MPI_ERR_NO_MEM {
			t.Errorf("rank %d got %v", e.Me(), err)
		}
	})
	noFailure(t, es)
}

func TestAWindowWithAForeignClientIsRefusedByName(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}, tune: func(j *transport.Job) { j.Hosts[2].SameImpl = false }})
	for _, e := range es[:2] {
		_, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_DYNAMIC, Unit: 1})
		wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_OPERATION)
		if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), "client 1") {
			t.Errorf("%v does not name rank 2 of client 1", err)
		}
	}
}

// swallowing takes all packets, and notes how deep the stack is in which they are sent.
type swallowing struct {
	transport.Transport
	sent, deepest *int
}

func (s swallowing) Send(*transport.Header, []byte) bool {
	var at [1 << 10]uintptr
	*s.sent++
	*s.deepest = max(*s.deepest, runtime.Callers(0, at[:]))
	return true
}

func (s swallowing) SendFrom(h *transport.Header, _ transport.Packer) bool { return s.Send(h, nil) }

// Requests that wait behind a long one are served one after the other, and not each within the one before it: an origin
// says how many there are.
func TestRequestsBehindALongOneAreServedInALoop(t *testing.T) {
	const many = 1000
	es := makeWorld(t, options{clients: []int{2}, noRead: true})
	var w *Window
	together(t, es, func(e *Engine) {
		mem := make([]int64, 64)
		made, err := e.World().NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: longBuf(mem, 1).Base,
			Size: 512, Unit: 8})
		if must(t, err); e.me == 0 {
			w = made
		}
	})
	settle(es...)
	e := es[0]
	sent, deepest := 0, 0
	e.mu.Lock()
	p := &e.peers[1]
	p.tr, p.direct = swallowing{p.tr, &sent, &deepest}, nil
	e.mu.Unlock()
	ask := func(id uint64, r onesided.Request, first int) uint64 {
		b := r.Append(nil)
		if first == 0 {
			first = len(b)
		}
		e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, CID: w.comm.p2p.cid, MsgLen: uint64(len(b)),
			SrqID: id}, b[:first])
		return uint64(len(b))
	}
	put := onesided.Request{Kind: onesided.AskPut, Count: 512, Slot: abi.MPI_BYTE, Data: make([]byte, 512)}
	n := ask(1, put, 100)
	for i := range uint64(many) {
		ask(2+i, onesided.Request{Kind: onesided.AskFlush}, 0)
	}
	if kept := w.comm.p2p.space.Kept(); kept != many {
		t.Fatalf("%d requests wait, want %d", kept, many)
	}
	sent, deepest = 0, 0
	long := uint64(0)
	for _, r := range e.requests.slots {
		if r.kind == recvRequest && r.wire.Expects() {
			long = r.id
		}
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: n, DrqID: long}, put.Append(nil)[100:])
	must(t, e.failure())
	if sent != 2*many { // each is acknowledged, and answered
		t.Errorf("%d packets have left, want %d", sent, 2*many)
	}
	if deepest > 100 {
		t.Errorf("the stack was %d calls deep", deepest)
	}
	if o := &w.comm.p2p.serve.(*windowEngine).origins[1]; o.busy || o.taken {
		t.Errorf("busy: %t, serving: %t", o.busy, o.taken)
	}
}
