package windowtest

import (
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

func putsAndGetsBetweenFences(t testing.TB, p *Process) {
	me, size, mine := p.Rank, p.Size, p.mine()
	for _, count := range []int{1, 100, 3000} {
		must(t, p.Fence(0))
		out := make([]int64, count)
		for i := range out {
			out[i] = int64(1000*me + i)
		}
		_, err := p.Put(longs(out, count), place((me+1)%size, count/2, count), false)
		must(t, err)
		must(t, p.Fence(0))
		for i := range count {
			if got, want := mine[count/2+i], int64(1000*((me+size-1)%size)+i); got != want {
				t.Fatalf("rank %d, element %d: %d, want %d", me, i, got, want)
			}
		}
		in := make([]int64, count)
		_, err = p.Get(longs(in, count), place((me+2)%size, count/2, count), false)
		must(t, err)
		must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
		for i := range count {
			if want := int64(1000*((me+1)%size) + i); in[i] != want {
				t.Fatalf("rank %d, element %d got: %d, want %d", me, i, in[i], want)
			}
		}
	}
}

func accumulatesOfAllAddUp(t testing.TB, p *Process) {
	const rounds = 20
	n, mine, sum := p.Longs, p.mine(), op.Predefined(abi.MPI_SUM)
	ones := make([]int64, n)
	for i := range ones {
		ones[i] = 1
	}
	must(t, p.LockAll(0))
	before := int64(-1)
	for round := range rounds {
		count := []int{1, 1, 7, n}[round%4]
		if round%2 == 0 {
			_, err := p.Accumulate(longs(ones, count), none, place(1, 0, count), sum, long, false)
			must(t, err)
			continue
		}
		was := make([]int64, count)
		_, err := p.Accumulate(longs(ones, count), longs(was, count), place(1, 0, count), sum, long, false)
		must(t, err)
		must(t, p.Flush(1, false, "test"))
		if was[0] <= before {
			t.Fatalf("%d after %d", was[0], before)
		}
		before = was[0]
	}
	must(t, p.UnlockAll())
	must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
	all := int64(p.Size)
	if p.Rank == 1 && (mine[0] != all*rounds || mine[6] != all*rounds/2 || mine[n-1] != all*rounds/4) {
		t.Errorf("%d, %d, %d", mine[0], mine[6], mine[n-1])
	}
}

func locksExclude(t testing.TB, p *Process) {
	const rounds = 50
	for range rounds {
		var got [2]int64
		must(t, p.Lock(0, true, 0))
		_, err := p.Get(longs(got[:], 2), place(0, 0, 2), false)
		must(t, err)
		must(t, p.Flush(0, false, "test"))
		if got[0] != got[1] {
			t.Errorf("%d and %d", got[0], got[1])
		}
		for i := range got {
			got[i]++
			_, err := p.Put(longs(got[i:], 1), place(0, i, 1), false)
			must(t, err)
		}
		must(t, p.Unlock(0))
	}
	must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
	if mine := p.mine(); p.Rank == 0 && mine[0] != int64(p.Size*rounds) {
		t.Errorf("%d of %d", mine[0], p.Size*rounds)
	}
}

func postStartCompleteWait(t testing.TB, p *Process) {
	me, size, mine := p.Rank, p.Size, p.mine()
	left, right := (me+size-1)%size, (me+1)%size
	for round := range 20 {
		count := []int{1, 2500}[round%2]
		out := make([]int64, count)
		out[count-1] = int64(100*round + me)
		must(t, p.Post([]int{left}, 0))
		must(t, p.Start([]int{right}, 0))
		_, err := p.Put(longs(out, count), place(right, 0, count), false)
		must(t, err)
		must(t, p.Complete())
		if round%3 == 0 && !p.InTurn { // who looks again and again keeps the others from running
			for done := false; !done; {
				done, err = p.Test()
				must(t, err)
				if !done {
					p.Idle()
				}
			}
		} else {
			must(t, p.Wait())
		}
		if got := mine[count-1]; got != int64(100*round+left) {
			t.Errorf("round %d: %d", round, got)
		}
	}
}

func swapsOfAllTakeTurns(t testing.TB, p *Process) {
	must(t, p.LockAll(0))
	for range 20 {
		for old := int64(0); ; {
			next, was := []int64{old + 1}, []int64{-1}
			must(t, p.CompareAndSwap(address(next), address([]int64{old}), address(was), place(2, 0, 1)))
			must(t, p.Flush(2, false, "test"))
			if was[0] == old {
				break
			}
			old = was[0]
		}
	}
	must(t, p.UnlockAll())
	must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
	if mine := p.mine(); p.Rank == 2 && mine[0] != int64(20*p.Size) {
		t.Errorf("%d", mine[0])
	}
}

// waysToLook are calls that have nothing to wait for.
var waysToLook = []func(p *Process, id uint64) error{
	func(p *Process, _ uint64) error { return p.Flush(0, false, "test") },
	func(p *Process, _ uint64) error { return p.Flush(0, true, "test") },
	func(p *Process, _ uint64) error { return p.FlushAll(false, "test") },
	func(p *Process, id uint64) error { return p.WaitAll([]uint64{id}) },
}

// whoLooksServes makes the first member wait for what the others do to its memory by nothing but such calls.
func whoLooksServes(t testing.TB, p *Process) {
	if p.InTurn {
		return
	}
	noOp, sum := op.Predefined(abi.MPI_NO_OP), op.Predefined(abi.MPI_SUM)
	for i, look := range waysToLook {
		must(t, p.LockAll(0))
		seen := []int64{-1}
		for p.Rank == 0 && seen[0] != int64(p.Size)-1 {
			id, err := p.Accumulate(none, longs(seen, 1), place(0, i, 1), noOp, long, i == len(waysToLook)-1)
			must(t, err)
			must(t, look(p, id))
		}
		if p.Rank != 0 {
			_, err := p.Accumulate(longs([]int64{1}, 1), none, place(0, i, 1), sum, long, false)
			must(t, err)
		}
		must(t, p.UnlockAll())
	}
}

func requestsComplete(t testing.TB, p *Process) {
	must(t, p.LockAll(0))
	out, in, was := make([]int64, 2000), make([]int64, 2000), make([]int64, 2000)
	for i := range out {
		out[i] = int64(p.Rank + i)
	}
	right := (p.Rank + 1) % p.Size
	replace, noOp := op.Predefined(abi.MPI_REPLACE), op.Predefined(abi.MPI_NO_OP)
	var ids [4]uint64
	var err error
	ids[0], err = p.Put(longs(out, 2000), place(right, 0, 2000), true)
	must(t, err)
	ids[1], err = p.Accumulate(longs(out, 2000), none, place(right, 2000, 2000), replace, long, true)
	must(t, err)
	must(t, p.WaitAll(ids[:2]))
	must(t, p.Flush(right, false, "test"))
	ids[2], err = p.Get(longs(in, 2000), place(right, 0, 2000), true)
	must(t, err)
	ids[3], err = p.Accumulate(none, longs(was, 2000), place(right, 2000, 2000), noOp, long, true)
	must(t, err)
	must(t, p.WaitAll(ids[2:]))
	for i := range in {
		if in[i] != out[i] || was[i] != out[i] {
			t.Fatalf("element %d: %d and %d, want %d", i, in[i], was[i], out[i])
		}
	}
	must(t, p.UnlockAll())
}

// vector is a committed type of blocks of longs.
func vector(t testing.TB, count, blocks, stride int64) *datatype.Type {
	v, err := datatype.Vector(count, blocks, stride, long)
	must(t, err)
	v.Commit()
	return v
}

func derivedTypes(t testing.TB, p *Process) {
	column, pairs, mine := vector(t, 300, 1, 3), vector(t, 150, 2, 5), p.mine()
	must(t, p.Fence(0))
	if p.Rank == 0 {
		out := make([]int64, 3000)
		for i := range out {
			out[i] = int64(i)
		}
		for r := range p.Size {
			for count := range int64(3) {
				_, err := p.Put(coll.Buf{Base: address(out), Count: count, Type: column},
					onesided.Place{Target: r, Disp: 1000 * count, Count: count, Type: pairs}, false)
				must(t, err)
			}
			_, err := p.Accumulate(coll.Buf{Base: address(out), Count: 1, Type: pairs}, none,
				onesided.Place{Target: r, Disp: 4000, Count: 1, Type: column}, op.Predefined(abi.MPI_SUM), long, false)
			must(t, err)
		}
	}
	must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
	for i := range 300 {
		at := i/2*5 + i%2
		if mine[1000+at] != int64(3*i) {
			t.Fatalf("element %d put: %d", i, mine[1000+at])
		}
		if mine[4000+3*i] != int64(at) {
			t.Fatalf("element %d accumulated: %d", i, mine[4000+3*i])
		}
	}
}

// randomEpochs lets all members, each on parts of its own, do what they like to all windows.
func randomEpochs(t testing.TB, p *Process) {
	const share = 700
	mine := p.mine()
	rng := rand.New(rand.NewPCG(7, 7)) // the same at all: each knows what all do
	memory := make([][]int64, p.Size)
	for r := range memory {
		memory[r] = make([]int64, p.Longs)
	}
	must(t, p.Fence(0))
	for range 30 {
		for origin := range p.Size {
			for range 4 {
				target, first := rng.IntN(p.Size), rng.IntN(share/2)+origin*share
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
				if origin == p.Rank {
					o := op.Predefined([]int{abi.MPI_SUM, abi.MPI_MAX, abi.MPI_SUM}[kind])
					_, err := p.Accumulate(longs(values, count), none, place(target, first, count), o, long, false)
					must(t, err)
				}
			}
		}
		must(t, p.Fence(0))
		for i, want := range memory[p.Rank] {
			if mine[i] != want {
				t.Fatalf("rank %d, element %d: %d, want %d", p.Rank, i, mine[i], want)
			}
		}
		must(t, p.Fence(0))
	}
}

func beyondIsRefused(t testing.TB, p *Process) {
	must(t, p.Fence(0))
	var x [4]int64
	_, err := p.Put(longs(x[:], 4), place(1, 7, 4), false)
	wantClass(t, err, abi.MPI_ERR_RMA_RANGE)
	_, err = p.Get(longs(x[:], 1), place(1, -1, 1), false)
	wantClass(t, err, abi.MPI_ERR_DISP)
	_, err = p.Put(longs(x[:], 4), place(1, 6, 4), true)
	wantClass(t, err, abi.MPI_ERR_RMA_SYNC)
	must(t, p.Fence(abi.MPI_MODE_NOSUCCEED))
	_, err = p.Put(longs(x[:], 4), place(1, 0, 4), false)
	wantClass(t, err, abi.MPI_ERR_RMA_SYNC)
	wantClass(t, p.Unlock(0), abi.MPI_ERR_RMA_SYNC)
}
