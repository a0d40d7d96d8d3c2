package onesided

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Members die: in words alone, then at each step of a program on windows of all kinds.

var sumOp = op.Predefined(abi.MPI_SUM)

func wantFailed(t testing.TB, err error) {
	t.Helper()
	if e, ok := err.(*Error); !ok || e.Class != abi.MPIX_ERR_PROC_FAILED {
		t.Errorf("error %v, want one of class MPIX_ERR_PROC_FAILED", err)
	}
}

// wordsOf are the words of n members as each of them sees them, and how all of them hear of a loss.
func wordsOf(n int) (all []*Words, lose func(rank int)) {
	mem := words(WordsBytes(n))
	for me := range n {
		view, targets := NewView(n)
		all = append(all, NewWords(mem, me, view, targets, machine{}, newLosses(n)))
	}
	return all, func(rank int) {
		why := errorf(abi.MPIX_ERR_PROC_FAILED, "member %d is lost", rank)
		for _, w := range all {
			w.losses.of[rank].Store(why)
			w.losses.first.Store(why)
		}
	}
}

func TestALockThatALostMemberMayHaveIsNobodysAndOthersGoOn(t *testing.T) {
	for name, last := range map[string]func(w *Words){
		"holds it":             func(w *Words) { must(t, w.Lock(0, true)) },
		"shares it":            func(w *Words) { must(t, w.Lock(0, false)) },
		"is about to queue":    func(w *Words) { atomic.StoreUint32(w.targets[0].Locking, 1) },
		"has taken its ticket": func(w *Words) { atomic.StoreUint32(w.targets[0].Locking, 1); w.members[0].Next++ },
		"has not cleared its entry": func(w *Words) {
			must(t, w.Lock(0, true))
			must(t, w.Unlock(0, true))
			*w.targets[0].Locking = 1
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, lose := wordsOf(3)
			last(all[2])
			lose(2)
			for _, w := range all[:2] {
				wantFailed(t, w.Lock(0, true))
				wantFailed(t, w.Lock(0, false))
				must(t, w.Lock(1, true))
				must(t, w.Unlock(1, true))
				wantFailed(t, w.Lock(2, false))
			}
		})
	}
	all, lose := wordsOf(3)
	must(t, all[2].Lock(0, true))
	must(t, all[2].Unlock(0, true))
	lose(2)
	must(t, all[1].Lock(0, true))
	must(t, all[1].Unlock(0, true))
}

func TestWhoWaitsForALockHearsThatItsHolderIsLost(t *testing.T) {
	all, lose := wordsOf(3)
	must(t, all[2].Lock(0, true))
	done := make(chan error)
	for _, w := range all[:2] {
		go func() { done <- w.Lock(0, false) }()
	}
	lose(2)
	wantFailed(t, <-done)
	wantFailed(t, <-done)
}

func TestAnAccumulateLockIsTakenOverFromALostMemberAlone(t *testing.T) {
	all, lose := wordsOf(4)
	must(t, all[3].Hold(0))
	must(t, all[2].Hold(1))
	lose(3)
	count, done := 0, make(chan error)
	for _, w := range all[:3] {
		go func() {
			err := w.Hold(0)
			count++ // the race detector and the sum tell whether it excludes
			w.Drop(0)
			done <- err
		}()
	}
	for range 3 {
		must(t, <-done)
	}
	if count != 3 {
		t.Errorf("%d members have held the lock, of 3", count)
	}
	if holder := all[0].members[1].Busy; holder != 3 {
		t.Errorf("member %d holds the lock of member 1, which member 2 has not dropped", int(holder)-1)
	}
}

func TestARevocationBreaksNoLockThatIsHeld(t *testing.T) {
	all, _ := wordsOf(2)
	must(t, all[1].Hold(0))
	why := errorf(abi.MPIX_ERR_REVOKED, "revoked")
	all[0].losses.revoked.Store(why)
	all[0].losses.first.Store(why)
	if err := all[0].Hold(0); err != why {
		t.Errorf("error %v", err)
	}
	if all[0].members[0].Busy != 2 {
		t.Error("the lock is not its holder's any more")
	}
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Error(err)
	}
}

// lossy is a member of a window that may lose others.
type lossy struct {
	*Window
	t    testing.TB
	e    *FakeEngine
	in   []uint64
	adds []adds // by target
}

// adds are the ones that members add to the cells of a target.
type adds struct{ tried, done atomic.Uint64 }

// may takes errors that say that a process is lost.
func (p *lossy) may(err error) bool {
	if err != nil {
		p.t.Helper()
		wantFailed(p.t, err)
	}
	return err == nil
}

// put stores in the cells of a member that are for this one: others may be in another epoch than they would be without
// a loss.
func (p *lossy) put(to int, long bool) bool {
	n := int64(1)
	if long {
		n = int64(len(p.in))
	}
	_, err := p.Put(coll.Buf{Base: countBuf(p.in).Base, Count: n, Type: int64s},
		Place{Target: to, Disp: int64(2 + p.me*len(p.in)), Count: n, Type: int64s}, false)
	return p.may(err)
}

// add adds 1 to cell i of a member.
func (p *lossy) add(to, i int) bool {
	p.adds[to].tried.Add(1)
	one := countBuf([]uint64{1})
	one.Type = int64s
	at := Place{Target: to, Disp: int64(i), Count: 1, Type: int64s}
	_, err := p.Accumulate(one, coll.Buf{}, at, sumOp, int64s, false)
	return p.may(err)
}

// round calls everything. The members call the same whatever they are told, but for communication.
func (p *lossy) round() {
	n := len(p.targets)
	left, right := []int{(p.me + n - 1) % n}, []int{(p.me + 1) % n}
	p.may(p.Fence(0))
	p.put(right[0], false)
	p.put(right[0], true)
	p.may(p.Fence(abi.MPI_MODE_NOSUCCEED))
	p.may(p.Post(left, 0))
	p.may(p.Start(right, 0))
	p.put(right[0], true)
	p.may(p.Complete())
	p.may(p.Wait())
	for r := range n {
		if p.may(p.Lock(r, true, 0)) {
			added := p.add(r, 0)
			p.put(r, true)
			if p.may(p.Flush(r, false, "MPI_Win_flush")) && added {
				p.adds[r].done.Add(1)
			}
			p.may(p.Unlock(r))
		}
	}
	if p.may(p.LockAll(0)) {
		for r := range n {
			if p.add(r, 1) && p.may(p.Flush(r, false, "MPI_Win_flush")) {
				p.adds[r].done.Add(1)
			}
		}
		p.may(p.FlushAll(false, "MPI_Win_flush_all"))
		p.may(p.UnlockAll())
	}
}

// runLossy runs a program of two rounds whose victim dies at a step; 0: at none.
func runLossy(t *testing.T, machines []int, flavor, victim int, at int64) (steps int64) {
	f := NewFake(machines, 0)
	f.deaths.victim, f.deaths.at = victim, at
	sums := make([]adds, len(machines))
	f.Run(t, func(e *FakeEngine) {
		const each = 1100 // more than travel with a request
		cells := int64(2 + each*len(machines))
		mem := make([]uint64, cells)
		w, err := e.New(Config{Flavor: flavor, Base: countBuf(mem).Base, Size: 8 * cells, Unit: 8, Tolerant: true,
			Alloc: func(int64) (datatype.Pointer, error) { return countBuf(mem).Base, nil }})
		if err != nil {
			t.Error(err)
			return
		}
		p := &lossy{w, t, e, make([]uint64, each), sums}
		e.untilItDies(func() {
			p.round()
			p.round()
			has := (*[2]uint64)(p.Base())
			p.may(w.Free())
			tried, done := sums[e.Me].tried.Load(), sums[e.Me].done.Load()
			if sum := has[0] + has[1]; sum < done || sum > tried {
				t.Errorf("process %d has the sum of %d adds, of %d that are done and %d that were tried", e.Me, sum, done, tried)
			}
		})
	})
	return f.deaths.steps.Load()
}

func TestNothingHangsWhereverAMemberDies(t *testing.T) {
	each := int64(5)
	if testing.Short() {
		each = 41
	}
	flavors := map[string]int{"allocate": abi.MPI_WIN_FLAVOR_ALLOCATE, "create": abi.MPI_WIN_FLAVOR_CREATE}
	for _, machines := range [][]int{{0, 0, 0}, {0, 0, 1}, {0, 1, 2}} {
		for name, flavor := range flavors {
			t.Run(fmt.Sprint(name, machines), func(t *testing.T) {
				steps := runLossy(t, machines, flavor, 1, 0)
				for at := int64(1); at <= steps && !t.Failed(); at += each {
					if runLossy(t, machines, flavor, int(at)%3, at); t.Failed() {
						t.Logf("process %d has died at its step %d", at%3, at)
					}
				}
			})
		}
	}
}
