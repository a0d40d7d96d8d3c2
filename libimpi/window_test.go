package libimpi

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Windows are tested on all ways that they have: memory that all map, requests inside a machine, and requests between
// clients. What a window contains is compared with plain memory after random epochs.

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

// everyWay runs body for each process of a window of n longs each, on all ways.
func everyWay(t *testing.T, n int, body func(t *testing.T, e *Engine, w *Window, mine []int64)) {
	for _, way := range windowWays {
		t.Run(way.name, func(t *testing.T) {
			es := makeWorld(t, way.o)
			for i := 0; i < len(es) && way.name == "not reached"; i++ {
				es[i].local.writer = unreached{es[i].local.writer}
			}
			if from := map[string]int{"nothing found": 1 << 30, "found later": 2}[way.name]; from != 0 {
				for _, e := range es {
					e.home.Memory = &apart{e.home.Memory, from, 0}
				}
			}
			together(t, es, func(e *Engine) {
				mem := make([]int64, n+1)
				w, err := e.World().NewWindow(WindowConfig{Flavor: way.flavor, Base: longBuf(mem, 1).Base, Size: int64(8 * n),
					Unit: 8, Contiguous: true,
					Alloc: func(int64) (datatype.Pointer, error) { return longBuf(mem, 1).Base, nil }})
				if must(t, err); err != nil {
					return
				}
				body(t, e, w, longsAt(w.Base(), n))
				must(t, w.Free())
			})
			settle(es...) // who sends data back may not yet know that it has come
			noFailure(t, es)
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

// Memory that is gone in the middle of an accumulate is an error of it, unless its process has died: then that is the
// cause, which is found a little later.
func TestMemoryThatIsGoneInTheMiddle(t *testing.T) {
	sum := op.Predefined(abi.MPI_SUM)
	for _, class := range []int{abi.MPI_ERR_RMA_RANGE, abi.MPI_ERR_PROC_ABORTED} {
		es := makeWorld(t, options{clients: []int{2}, fake: &fake.Options{Seed: 7, Late: 10}})
		es[0].local.writer = lostAtPut{es[0].local.writer, func() {
			if class == abi.MPI_ERR_PROC_ABORTED {
				fakeOf(es[1]).Kill(1)
			}
		}}
		together(t, es, func(e *Engine) {
			mem := make([]int64, 4)
			w, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: longBuf(mem, 1).Base, Size: 32,
				Unit: 8, Contiguous: true})
			must(t, err)
			if e.me == 0 {
				must(t, w.LockAll(0))
				_, err := w.Accumulate(longBuf([]int64{1}, 1), coll.Buf{}, w.long(1, 0, 1), sum, longT, false)
				wantClass(t, err, class)
				one, none, was := []int64{1}, []int64{0}, []int64{0}
				err = w.CompareAndSwap(longBuf(one, 1).Base, longBuf(none, 1).Base, longBuf(was, 1).Base, w.long(1, 0, 1))
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

func (w *Window) long(target, disp, n int) Place {
	return Place{Target: target, Disp: int64(disp), Count: int64(n), Type: longT}
}

func TestPutsAndGetsBetweenFences(t *testing.T) {
	const n = 5000
	everyWay(t, n, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		me, size := w.Comm().Rank(), w.Comm().Size()
		for _, count := range []int{1, 100, 3000} {
			must(t, w.Fence(0))
			out := make([]int64, count)
			for i := range out {
				out[i] = int64(1000*me + i)
			}
			_, err := w.Put(longBuf(out, count), w.long((me+1)%size, count/2, count), false)
			must(t, err)
			must(t, w.Fence(0))
			for i := range count {
				if got, want := mine[count/2+i], int64(1000*((me+size-1)%size)+i); got != want {
					t.Fatalf("rank %d, element %d: %d, want %d", me, i, got, want)
				}
			}
			in := make([]int64, count)
			_, err = w.Get(longBuf(in, count), w.long((me+2)%size, count/2, count), false)
			must(t, err)
			must(t, w.Fence(abi.MPI_MODE_NOSUCCEED))
			for i := range count {
				if want := int64(1000*((me+1)%size) + i); in[i] != want {
					t.Fatalf("rank %d, element %d got: %d, want %d", me, i, in[i], want)
				}
			}
		}
	})
}

func TestAccumulatesOfAllAddUp(t *testing.T) {
	const n, rounds = 6000, 20
	sum := op.Predefined(abi.MPI_SUM)
	everyWay(t, n, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		ones := make([]int64, n)
		for i := range ones {
			ones[i] = 1
		}
		must(t, w.LockAll(0))
		before := int64(-1)
		for round := range rounds {
			count := []int{1, 1, 7, n}[round%4]
			if round%2 == 0 {
				_, err := w.Accumulate(longBuf(ones, count), coll.Buf{}, w.long(1, 0, count), sum, longT, false)
				must(t, err)
				continue
			}
			was := make([]int64, count)
			_, err := w.Accumulate(longBuf(ones, count), longBuf(was, count), w.long(1, 0, count), sum, longT, false)
			must(t, err)
			must(t, w.Flush(1, false, "test"))
			if was[0] <= before {
				t.Fatalf("%d after %d", was[0], before)
			}
			before = was[0]
		}
		must(t, w.UnlockAll())
		must(t, w.Fence(0))
		if w.Comm().Rank() == 1 && (mine[0] != 4*rounds || mine[6] != 4*rounds/2 || mine[n-1] != 4*rounds/4) {
			t.Errorf("%d, %d, %d", mine[0], mine[6], mine[n-1])
		}
	})
}

func TestLocksExclude(t *testing.T) {
	everyWay(t, 2, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		const rounds = 50
		for range rounds {
			var got [2]int64
			must(t, w.Lock(0, true, 0))
			_, err := w.Get(longBuf(got[:], 2), w.long(0, 0, 2), false)
			must(t, err)
			must(t, w.Flush(0, false, "test"))
			if got[0] != got[1] {
				t.Errorf("%d and %d", got[0], got[1])
			}
			for i := range got {
				got[i]++
				_, err := w.Put(longBuf(got[i:], 1), w.long(0, i, 1), false)
				must(t, err)
			}
			must(t, w.Unlock(0))
		}
		must(t, w.Fence(0))
		if w.Comm().Rank() == 0 && mine[0] != 4*rounds {
			t.Errorf("%d of %d", mine[0], 4*rounds)
		}
	})
}

func TestPostStartCompleteWaitOnAllWays(t *testing.T) {
	everyWay(t, 3000, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		me, size := w.Comm().Rank(), w.Comm().Size()
		left, right := (me+size-1)%size, (me+1)%size
		for round := range 20 {
			count := []int{1, 2500}[round%2]
			out := make([]int64, count)
			out[count-1] = int64(100*round + me)
			must(t, w.Post([]int{left}))
			must(t, w.Start([]int{right}, 0))
			_, err := w.Put(longBuf(out, count), w.long(right, 0, count), false)
			must(t, err)
			must(t, w.Complete())
			if round%3 == 0 && fakeOf(e) == nil { // where processes have turns, who looks again and again keeps it
				for done := false; !done; {
					done, err = w.Test()
					must(t, err)
					if !done {
						must(t, w.engine.Relax())
					}
				}
			} else {
				must(t, w.Wait())
			}
			if got := mine[count-1]; got != int64(100*round+left) {
				t.Errorf("round %d: %d", round, got)
			}
		}
	})
}

func TestSwapsOfAllTakeTurns(t *testing.T) {
	everyWay(t, 1, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		must(t, w.LockAll(0))
		for range 20 {
			for old := int64(0); ; {
				next, was := []int64{old + 1}, []int64{-1}
				must(t, w.CompareAndSwap(longBuf(next, 1).Base, longBuf([]int64{old}, 1).Base, longBuf(was, 1).Base,
					w.long(2, 0, 1)))
				must(t, w.Flush(2, false, "test"))
				if was[0] == old {
					break
				}
				old = was[0]
			}
		}
		must(t, w.UnlockAll())
		must(t, w.Fence(0))
		if w.Comm().Rank() == 2 && mine[0] != 80 {
			t.Errorf("%d", mine[0])
		}
	})
}

// The first member waits for what the others do to its memory by nothing but calls that have nothing to wait for.
func TestWhoLooksAtItsOwnMemoryServesTheOthers(t *testing.T) {
	ways := []func(e *Engine, w *Window, id uint64) error{
		func(_ *Engine, w *Window, _ uint64) error { return w.Flush(0, false, "test") },
		func(_ *Engine, w *Window, _ uint64) error { return w.Flush(0, true, "test") },
		func(_ *Engine, w *Window, _ uint64) error { return w.FlushAll(false, "test") },
		func(e *Engine, _ *Window, id uint64) error { return e.WaitAll([]uint64{id}, nil) },
	}
	everyWay(t, len(ways), func(t *testing.T, e *Engine, w *Window, _ []int64) {
		if e.home.InTurn { // where messages are late nobody else runs meanwhile
			return
		}
		noOp, sum := op.Predefined(abi.MPI_NO_OP), op.Predefined(abi.MPI_SUM)
		for i, way := range ways {
			must(t, w.LockAll(0))
			seen := []int64{-1}
			for w.Comm().Rank() == 0 && seen[0] != 3 {
				id, err := w.Accumulate(coll.Buf{}, longBuf(seen, 1), w.long(0, i, 1), noOp, longT, i == len(ways)-1)
				must(t, err)
				must(t, way(e, w, id))
			}
			if w.Comm().Rank() != 0 {
				_, err := w.Accumulate(longBuf([]int64{1}, 1), coll.Buf{}, w.long(0, i, 1), sum, longT, false)
				must(t, err)
			}
			must(t, w.UnlockAll())
		}
	})
}

func TestRequestsOfWindowsComplete(t *testing.T) {
	everyWay(t, 4000, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		me, size := w.Comm().Rank(), w.Comm().Size()
		must(t, w.LockAll(0))
		out, in, was := make([]int64, 2000), make([]int64, 2000), make([]int64, 2000)
		for i := range out {
			out[i] = int64(me + i)
		}
		right := (me + 1) % size
		var ids [4]uint64
		var err error
		ids[0], err = w.Put(longBuf(out, 2000), w.long(right, 0, 2000), true)
		must(t, err)
		ids[1], err = w.Accumulate(longBuf(out, 2000), coll.Buf{}, w.long(right, 2000, 2000), op.Predefined(abi.MPI_REPLACE),
			longT, true)
		must(t, err)
		must(t, e.WaitAll(ids[:2], nil))
		must(t, w.Flush(right, false, "test"))
		ids[2], err = w.Get(longBuf(in, 2000), w.long(right, 0, 2000), true)
		must(t, err)
		ids[3], err = w.Accumulate(coll.Buf{}, longBuf(was, 2000), w.long(right, 2000, 2000), op.Predefined(abi.MPI_NO_OP),
			longT, true)
		must(t, err)
		must(t, e.WaitAll(ids[2:], nil))
		for i := range in {
			if in[i] != out[i] || was[i] != out[i] {
				t.Fatalf("element %d: %d and %d, want %d", i, in[i], was[i], out[i])
			}
		}
		must(t, w.UnlockAll())
	})
}

func TestDerivedTypesOnBothSides(t *testing.T) {
	column, err := datatype.Vector(300, 1, 3, longT)
	must(t, err)
	column.Commit()
	pairs, err := datatype.Vector(150, 2, 5, longT)
	must(t, err)
	pairs.Commit()
	everyWay(t, 6000, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		must(t, w.Fence(0))
		if me := w.Comm().Rank(); me == 0 {
			out := make([]int64, 3000)
			for i := range out {
				out[i] = int64(i)
			}
			for r := range w.Comm().Size() {
				for count := range 3 {
					_, err := w.Put(coll.Buf{Base: longBuf(out, 1).Base, Count: int64(count), Type: column},
						Place{r, int64(1000 * count), int64(count), pairs}, false)
					must(t, err)
				}
				_, err = w.Accumulate(coll.Buf{Base: longBuf(out, 1).Base, Count: 1, Type: pairs}, coll.Buf{},
					Place{r, 4000, 1, column}, op.Predefined(abi.MPI_SUM), longT, false)
				must(t, err)
			}
		}
		must(t, w.Fence(0))
		for i := range 300 {
			at := i/2*5 + i%2
			if mine[1000+at] != int64(3*i) {
				t.Fatalf("element %d put: %d", i, mine[1000+at])
			}
			if mine[4000+3*i] != int64(at) {
				t.Fatalf("element %d accumulated: %d", i, mine[4000+3*i])
			}
		}
	})
}

// Memory that is to be shared has no other way.
func TestSharedWindowsOfProcessesThatFindNoMemorySayWhy(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}})
	for _, e := range es {
		e.home.Memory = &apart{e.home.Memory, 1 << 30, 0}
	}
	together(t, es, func(e *Engine) {
		_, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_SHARED, Size: 8, Unit: 8})
		bad := AsError(err)
		if bad == nil || bad.Class != abi.MPI_ERR_RMA_SHARED || !strings.Contains(err.Error(), "no shared memory of ") {
			t.Errorf("rank %d got %v", e.Me(), err)
		}
	})
	noFailure(t, es)
}

// TestRandomEpochsLeaveWhatPlainMemoryWouldHave lets one process at a time, and then all on parts of their own, do what
// they like to all windows.
func TestRandomEpochsLeaveWhatPlainMemoryWouldHave(t *testing.T) {
	const n, share = 3000, 700
	everyWay(t, n, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		me, size := w.Comm().Rank(), w.Comm().Size()
		rng := rand.New(rand.NewPCG(7, 7)) // the same at all: each knows what all do
		memory := make([][]int64, size)
		for r := range memory {
			memory[r] = make([]int64, n)
		}
		must(t, w.Fence(0))
		for range 30 {
			for origin := range size {
				for range 4 {
					target, first := rng.IntN(size), rng.IntN(share/2)+origin*share
					count, kind := 1+rng.IntN(share/2-1), rng.IntN(3)
					values := make([]int64, count)
					for i := range values {
						values[i] = rng.Int64N(1000)
					}
					for i, v := range values {
						switch at := &memory[target][first+i]; kind {
						case 0, 2: // accumulates of one origin are in order
							*at += v
						case 1:
							*at = max(*at, v)
						}
					}
					if origin == me {
						o := op.Predefined([]int{abi.MPI_SUM, abi.MPI_MAX, abi.MPI_SUM}[kind])
						_, err := w.Accumulate(longBuf(values, count), coll.Buf{}, w.long(target, first, count), o, longT, false)
						must(t, err)
					}
				}
			}
			must(t, w.Fence(0))
			for i, want := range memory[me] {
				if mine[i] != want {
					t.Fatalf("rank %d, element %d: %d, want %d", me, i, mine[i], want)
				}
			}
			must(t, w.Fence(0))
		}
	})
}

func TestWhatLiesBeyondAWindowIsRefused(t *testing.T) {
	everyWay(t, 10, func(t *testing.T, e *Engine, w *Window, mine []int64) {
		must(t, w.Fence(0))
		var x [4]int64
		_, err := w.Put(longBuf(x[:], 4), w.long(1, 7, 4), false)
		wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
		_, err = w.Get(longBuf(x[:], 1), w.long(1, -1, 1), false)
		wantClass(t, err, abi.MPI_ERR_DISP)
		_, err = w.Put(longBuf(x[:], 4), w.long(1, 6, 4), true)
		wantClass(t, err, abi.MPI_ERR_RMA_SYNC)
		must(t, w.Fence(abi.MPI_MODE_NOSUCCEED))
		_, err = w.Put(longBuf(x[:], 4), w.long(1, 0, 4), false)
		wantClass(t, err, abi.MPI_ERR_RMA_SYNC)
		wantClass(t, w.Unlock(0), abi.MPI_ERR_RMA_SYNC)
	})
}

func TestDynamicWindowsReachWhatIsAttached(t *testing.T) {
	for _, o := range []options{{clients: []int{3}}, {clients: []int{3}, noRead: true}, {clients: []int{1, 2}}} {
		es := makeWorld(t, o)
		together(t, es, func(e *Engine) {
			w, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_DYNAMIC, Unit: 1})
			must(t, err)
			mem := make([]int64, 3000)
			var pin runtime.Pinner // others know mem by its address alone, and a stack would move it
			pin.Pin(&mem[0])
			defer pin.Unpin()
			base := addressOf(bytesAt(longBuf(mem, 1).Base, 8))
			must(t, w.Attach(base, 8*3000))
			wantClass(t, w.Attach(base+8, 8), abi.MPI_ERR_RMA_ATTACH)
			all := make([]uint64, 3)
			recv := countBuf(all)
			recv.Count = 1
			must(t, e.World().Allgather(countBuf([]uint64{base}), recv))
			me := w.Comm().Rank()
			must(t, w.LockAll(0))
			out := make([]int64, 2000)
			out[1999] = int64(me) + 1
			next := (me + 1) % 3
			_, err = w.Put(longBuf(out, 2000), Place{next, int64(all[next]) + 800, 2000, longT}, false)
			must(t, err)
			must(t, w.FlushAll(false, "test"))
			_, err = w.Put(longBuf(out, 2000), Place{next, int64(all[next]) + 8*1001, 2000, longT}, false)
			if err == nil {
				err = w.Flush(next, false, "test")
			}
			wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
			_, err = w.Get(longBuf(out, 1), Place{next, int64(all[next]) - 8, 1, longT}, false)
			if err == nil {
				err = w.Flush(next, false, "test")
			}
			wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
			must(t, w.UnlockAll())
			must(t, w.Fence(0))
			if mem[100+1999] != int64((me+2)%3)+1 {
				t.Errorf("rank %d has %d", me, mem[100+1999])
			}
			must(t, w.Detach(base))
			wantClass(t, w.Detach(base), abi.MPI_ERR_RMA_ATTACH)
			must(t, w.Free())
		})
		settle(es...)
		noFailure(t, es)
		for _, e := range es {
			idle(t, e, 0)
		}
	}
}

func TestTheMembersOfAMachineMapTheirPartsOfAnyWindow(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 1}})
	together(t, es, func(e *Engine) {
		mem := make([]int64, 4)
		w, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 32, Unit: 8,
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
		_, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 32, Unit: 8,
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
		_, err := e.World().NewWindow(WindowConfig{Flavor: abi.MPI_WIN_FLAVOR_DYNAMIC, Unit: 1})
		wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_OPERATION)
		if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), "client 1") {
			t.Errorf("%v does not name rank 2 of client 1", err)
		}
	}
}
