package main

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

type thing struct{ n int }

func TestHandlesFindWhatTheyWereGivenFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	table := &table[thing]{kind: kindOp}
	live := map[uintptr]*thing{}
	var stale []uintptr
	for i := range 20000 {
		if rng.IntN(5) < 3 || len(live) == 0 {
			x := &thing{i}
			h := table.add(x)
			if live[h] != nil {
				t.Fatalf("handle %#x twice", h)
			}
			live[h] = x
			continue
		}
		for h := range live { // some one
			table.drop(h)
			delete(live, h)
			stale = append(stale, h)
			break
		}
	}
	if len(live) < 2*chunkSize {
		t.Fatalf("only %d live: one chunk tells nothing of the next", len(live))
	}
	ints := map[int32]bool{}
	for h, x := range live {
		if table.find(h) != x {
			t.Fatalf("handle %#x finds another", h)
		}
		n := toInt(h)
		if n < firstInt || ints[n] {
			t.Fatalf("handle %#x is %d", h, n)
		}
		ints[n] = true
		if table.fromInt(n) != h {
			t.Fatalf("handle %#x is %d is %#x", h, n, table.fromInt(n))
		}
	}
	for _, h := range stale {
		if live[h] == nil && table.find(h) != nil {
			t.Fatalf("stale handle %#x finds something", h)
		}
	}
}

func TestForeignHandlesFindNothing(t *testing.T) {
	table := &table[thing]{kind: kindComm}
	h := table.add(&thing{1})
	for _, bad := range []uintptr{
		0, 1, firstInt, h &^ (0xff << 56), h ^ 3<<56, h + 1<<32, h + 1, h - 1, h + chunkSize, h&^0xffffffff | 0xffffffff, ^uintptr(0), h &^ 0xffffffff,
	} {
		if table.find(bad) != nil {
			t.Errorf("%#x finds something", bad)
		}
	}
	for _, n := range []int32{-1 << 31, -1, 0, firstInt - 1, firstInt + 1, firstInt + chunkSize, 1<<31 - 1} {
		if got := table.fromInt(n); got != 0 {
			t.Errorf("%d is handle %#x", n, got)
		}
	}
}

func TestTablesServeSeveralThreads(t *testing.T) {
	table := &table[thing]{kind: kindType}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				x := &thing{g*10000 + i}
				h := table.add(x)
				if table.find(h) != x {
					t.Errorf("handle %#x finds another", h)
				}
				table.drop(h)
				if got := table.find(h); got != nil {
					t.Errorf("dropped handle %#x finds %v", h, got)
				}
			}
		})
	}
	wg.Wait()
	if table.used > 4 {
		t.Errorf("%d slots for 4 at a time", table.used)
	}
}

func TestRareHandlesAreSavedAndGiveIntegers(t *testing.T) {
	x := &info{}
	h := save(x)
	if got, ok := restored[*info](h); !ok || got != x {
		t.Error("another info")
	}
	if _, ok := restored[*thing](h); ok {
		t.Error("an info is a thing")
	}
	n := toInt(h)
	if n < firstInt || toInt(h) != n || coldFromInt(n, abi.MPI_INFO_NULL) != h {
		t.Errorf("handle %#x is %d is %#x", h, n, coldFromInt(n, abi.MPI_INFO_NULL))
	}
	unsave(h)
	if _, ok := restored[*info](h); ok || coldFromInt(n, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL {
		t.Error("a freed info is there")
	}
	for range 1000 { // integers of freed ones are forgotten
		h := save(x)
		toInt(h)
		unsave(h)
	}
	if len(coldInts.number) != 0 || len(coldInts.handle) != 0 {
		t.Errorf("%d integers of nothing", len(coldInts.handle))
	}
	if coldFromInt(1<<30, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL || coldFromInt(abi.MPI_INFO_ENV, 0) != abi.MPI_INFO_ENV {
		t.Error("integers that are nobody's, or a predefined one's")
	}
}

func TestGroupsHaveHandles(t *testing.T) {
	g := libimpi.NewGroup([]int32{3, 1})
	h := groups.add(&group{Group: g})
	if groupOf(h) != g || fromIntOr(&groups, toInt(h), abi.MPI_GROUP_NULL) != h {
		t.Error("another group")
	}
	groups.drop(h)
	if groupOf(h) != nil {
		t.Error("a freed group is there")
	}
	if saveGroup(libimpi.NewGroup(nil), nil) != abi.MPI_GROUP_EMPTY || groupOf(abi.MPI_GROUP_EMPTY) != libimpi.EmptyGroup || groupOf(abi.MPI_GROUP_NULL) != nil {
		t.Error("the predefined groups")
	}
}
