package main

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
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
		0, 1, firstInt, h &^ (0xff << 56), h ^ 3<<56, h + 1<<32, h + 1, h - 1, h + chunkSize, h&^0xffffffff | 0xffffffff,
		^uintptr(0), h &^ 0xffffffff,
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

func TestSlotsAreUsedAgain(t *testing.T) {
	table := &table[thing]{kind: kindInfo}
	for range 3 {
		var peak []uintptr
		for i := range 3 * chunkSize {
			peak = append(peak, table.add(&thing{i}))
		}
		for _, h := range peak {
			if !table.drop(h) {
				t.Fatalf("handle %#x cannot be dropped", h)
			}
		}
	}
	if table.used != 3*chunkSize {
		t.Errorf("%d slots for %d at a time", table.used, 3*chunkSize)
	}
}

func TestADroppedHandleCannotBeDroppedAgain(t *testing.T) {
	table := &table[thing]{kind: kindInfo}
	h := table.add(&thing{1})
	for _, bad := range []uintptr{0, h + 1, h + chunkSize, h + 1<<32, h ^ 1<<56, ^uintptr(0)} {
		if table.drop(bad) {
			t.Errorf("%#x can be dropped", bad)
		}
	}
	if !table.drop(h) || table.drop(h) || table.drop(h+1<<32) {
		t.Error("one of two drops must succeed, and that of a handle that has not been given yet must not")
	}
	x := &thing{2}
	if h2 := table.add(x); table.drop(h) || table.find(h2) != x {
		t.Error("a stale handle ended the object that has taken its slot")
	}
}

// A slot goes through all of its generations. No handle comes twice, so the slot is not used any more.
func TestAHandleNeverComesAgain(t *testing.T) {
	table := &table[thing]{kind: kindInfo}
	first := table.add(&thing{})
	table.drop(first)
	table.slot(0).generation.Store(generations - 2) // as after many more
	var last uintptr
	for want := uintptr(generations - 2); want < generations; want++ {
		last = table.add(&thing{})
		if last != uintptr(kindInfo)<<56|want<<32|firstInt {
			t.Fatalf("handle %#x in generation %#x", last, want)
		}
		if !table.drop(last) || table.drop(last) {
			t.Fatalf("handle %#x has to be dropped once", last)
		}
	}
	x := &thing{1}
	h := table.add(x)
	if uint32(h) != firstInt+1 || table.find(h) != x {
		t.Errorf("handle %#x is in the slot that is used up", h)
	}
	for _, stale := range []uintptr{first, last, uintptr(kindInfo)<<56 | firstInt} {
		if table.find(stale) != nil || table.drop(stale) {
			t.Errorf("stale handle %#x finds something", stale)
		}
	}
	if table.fromInt(firstInt) != 0 {
		t.Error("the slot that is used up has a handle")
	}
}

func TestAFullTableGivesNoHandle(t *testing.T) {
	table := &table[thing]{kind: kindInfo}
	table.used = chunkSize * uint32(len(table.chunks))
	h := table.add(&thing{})
	if h != 0 || table.find(h) != nil || table.drop(h) {
		t.Errorf("handle %#x", h)
	}
}

// Handles that threads end while others look them up: a handle finds its own object or nothing, and one thread ends it.
func TestTablesServeSeveralThreads(t *testing.T) {
	const threads, rounds = 4, 3000
	table := &table[thing]{kind: kindType}
	var names [rounds]atomic.Uint64 // the handle of thing n
	var ended [rounds]atomic.Int32
	var made atomic.Int32
	var wg sync.WaitGroup
	look := func(n int) uintptr {
		h := uintptr(names[n].Load())
		if x := table.find(h); x != nil && x.n != n {
			t.Errorf("the handle of %d finds %d", n, x.n)
		}
		return h
	}
	for g := range threads {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for n := int(made.Add(1)) - 1; n < rounds; n = int(made.Add(1)) - 1 {
				names[n].Store(uint64(table.add(&thing{n})))
				look(n)
				for range 4 { // some of the last ones, which others may be ending
					m := max(n-rng.IntN(2*threads), 0)
					if h := look(m); table.drop(h) {
						ended[m].Add(1)
					}
					look(m)
				}
			}
		})
	}
	wg.Wait()
	for n := range ended {
		if table.drop(uintptr(names[n].Load())) {
			ended[n].Add(1)
		}
		if got := ended[n].Load(); got != 1 {
			t.Errorf("%d was ended %d times", n, got)
		}
	}
}

// One thread uses a slot again and again, so that its generation counts the objects; another looks up the handle that
// is just ending.
func TestAHandleThatEndsMeanwhileFindsNoOtherObject(t *testing.T) {
	const rounds = 300000
	table := &table[thing]{kind: kindMessage}
	var current atomic.Uint64
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range rounds {
			h := table.add(&thing{n})
			current.Store(uint64(h))
			table.drop(h)
		}
		over.Store(true)
	})
	wg.Go(func() {
		for !over.Load() {
			h := uintptr(current.Load())
			n := int(uint32(h>>32) % generations)
			if x := table.find(h); x != nil && x.n != n {
				t.Errorf("the handle of %d finds %d", n, x.n)
				return
			}
		}
	})
	wg.Wait()
}

func TestEveryKindHasIntegers(t *testing.T) {
	x := &info{}
	h := infos.add(x)
	n := toInt(h)
	if infos.find(h) != x || n < firstInt || fromIntOr(&infos, n, abi.MPI_INFO_NULL) != h {
		t.Errorf("handle %#x is %d", h, n)
	}
	if errhandlers.find(h) != nil || messages.find(h) != nil {
		t.Error("an info is something else")
	}
	infos.drop(h)
	if infos.find(h) != nil || fromIntOr(&infos, n, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL {
		t.Error("a freed info is there")
	}
	if fromIntOr(&infos, 1<<30, abi.MPI_INFO_NULL) != abi.MPI_INFO_NULL ||
		fromIntOr(&infos, abi.MPI_INFO_ENV, 0) != abi.MPI_INFO_ENV {
		t.Error("integers that are nobody's, or a predefined one's")
	}
}

func TestAnErrorHandlerIsFreedAsOftenAsItWasGiven(t *testing.T) {
	e := newErrhandler(1)
	h := e.hold()
	if e.hold() != h || errhandlerOf(h) != e {
		t.Fatal("the second handle is another")
	}
	if !e.release(h) || errhandlerOf(h) != e || !e.release(h) || errhandlerOf(h) != nil || e.release(h) {
		t.Error("two holds are two releases")
	}
	again := e.hold() // a communicator had it all the time
	if again == h || errhandlerOf(h) != nil || e.release(h) || errhandlerOf(again) != e {
		t.Error("the old handle is valid again")
	}
	if !errorsReturn.release(abi.MPI_ERRORS_RETURN) || errhandlerOf(abi.MPI_ERRORS_RETURN) != errorsReturn {
		t.Error("a predefined handler can be freed any number of times, and stays")
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
	if saveGroup(libimpi.NewGroup(nil), nil) != abi.MPI_GROUP_EMPTY ||
		groupOf(abi.MPI_GROUP_EMPTY) != libimpi.EmptyGroup || groupOf(abi.MPI_GROUP_NULL) != nil {
		t.Error("the predefined groups")
	}
}
