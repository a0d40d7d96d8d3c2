package handle

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

type thing struct{ n int }

func TestHandlesFindWhatTheyWereGivenFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	table := &Table[thing]{Kind: 7}
	live := map[uintptr]*thing{}
	var stale []uintptr
	for i := range 20000 {
		if rng.IntN(5) < 3 || len(live) == 0 {
			x := &thing{i}
			h := table.Add(x)
			if live[h] != nil {
				t.Fatalf("handle %#x twice", h)
			}
			live[h] = x
			continue
		}
		for h := range live { // some one
			table.Drop(h)
			delete(live, h)
			stale = append(stale, h)
			break
		}
	}
	if len(live) < 2*Chunk {
		t.Fatalf("only %d live: one chunk tells nothing of the next", len(live))
	}
	ints := map[int32]bool{}
	for h, x := range live {
		if table.Find(h) != x {
			t.Fatalf("handle %#x finds another", h)
		}
		n := Int(h)
		if n < First || ints[n] {
			t.Fatalf("handle %#x is %d", h, n)
		}
		ints[n] = true
		if table.FromInt(n) != h {
			t.Fatalf("handle %#x is %d is %#x", h, n, table.FromInt(n))
		}
	}
	for _, h := range stale {
		if live[h] == nil && table.Find(h) != nil {
			t.Fatalf("stale handle %#x finds something", h)
		}
	}
}

func TestForeignHandlesFindNothing(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	h := table.Add(&thing{1})
	for _, bad := range []uintptr{
		0, 1, First, h &^ (0xff << 56), h ^ 3<<56, h + 1<<32, h + 1, h - 1, h + Chunk, h&^0xffffffff | 0xffffffff,
		^uintptr(0), h &^ 0xffffffff,
	} {
		if table.Find(bad) != nil {
			t.Errorf("%#x finds something", bad)
		}
	}
	for _, n := range []int32{-1 << 31, -1, 0, First - 1, First + 1, First + Chunk, 1<<31 - 1} {
		if got := table.FromInt(n); got != 0 {
			t.Errorf("%d is handle %#x", n, got)
		}
	}
}

func TestHandlesOfOtherMPIsAreToldFromOursThatAreGone(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	h := table.Add(&thing{1})
	table.Drop(h)
	for _, ours := range []uintptr{0, 0x101, First - 1, h, h + 1<<32} {
		if Foreign(ours) {
			t.Errorf("%#x is no handle of ours", ours)
		}
	}
	for _, theirs := range []uintptr{0x44000000, 0x4c00040a, 0x7f178068bea0, 0x5583ec846200} {
		if !Foreign(theirs) {
			t.Errorf("%#x is a handle of ours", theirs)
		}
	}
}

func TestSlotsAreUsedAgain(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	for range 3 {
		var peak []uintptr
		for i := range 3 * Chunk {
			peak = append(peak, table.Add(&thing{i}))
		}
		for _, h := range peak {
			if !table.Drop(h) {
				t.Fatalf("handle %#x cannot be dropped", h)
			}
		}
	}
	if table.used != 3*Chunk {
		t.Errorf("%d slots for %d at a time", table.used, 3*Chunk)
	}
}

func TestADroppedHandleCannotBeDroppedAgain(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	h := table.Add(&thing{1})
	for _, bad := range []uintptr{0, h + 1, h + Chunk, h + 1<<32, h ^ 1<<56, ^uintptr(0)} {
		if table.Drop(bad) {
			t.Errorf("%#x can be dropped", bad)
		}
	}
	if !table.Drop(h) || table.Drop(h) || table.Drop(h+1<<32) {
		t.Error("one of two drops must succeed, and that of a handle that has not been given yet must not")
	}
	x := &thing{2}
	if h2 := table.Add(x); table.Drop(h) || table.Find(h2) != x {
		t.Error("a stale handle ended the object that has taken its slot")
	}
}

// A slot goes through all of its generations. No handle comes twice, so the slot is not used any more.
func TestAHandleNeverComesAgain(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	first := table.Add(&thing{})
	table.Drop(first)
	table.slot(0).generation.Store(generations - 2) // as after many more
	var last uintptr
	for want := uintptr(generations - 2); want < generations; want++ {
		last = table.Add(&thing{})
		if last != uintptr(table.Kind)<<56|want<<32|First {
			t.Fatalf("handle %#x in generation %#x", last, want)
		}
		if !table.Drop(last) || table.Drop(last) {
			t.Fatalf("handle %#x has to be dropped once", last)
		}
	}
	x := &thing{1}
	h := table.Add(x)
	if uint32(h) != First+1 || table.Find(h) != x {
		t.Errorf("handle %#x is in the slot that is used up", h)
	}
	for _, stale := range []uintptr{first, last, uintptr(table.Kind)<<56 | First} {
		if table.Find(stale) != nil || table.Drop(stale) {
			t.Errorf("stale handle %#x finds something", stale)
		}
	}
	if table.FromInt(First) != 0 {
		t.Error("the slot that is used up has a handle")
	}
}

func TestAFullTableGivesNoHandle(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	table.used = Chunk * uint32(len(table.chunks))
	h := table.Add(&thing{})
	if h != 0 || table.Find(h) != nil || table.Drop(h) {
		t.Errorf("handle %#x", h)
	}
}

// Handles that threads end while others look them up: a handle finds its own object or nothing, and one thread ends it.
func TestTablesServeSeveralThreads(t *testing.T) {
	const threads, rounds = 4, 3000
	table := &Table[thing]{Kind: 7}
	var names [rounds]atomic.Uint64 // the handle of thing n
	var ended [rounds]atomic.Int32
	var made atomic.Int32
	var wg sync.WaitGroup
	look := func(n int) uintptr {
		h := uintptr(names[n].Load())
		if x := table.Find(h); x != nil && x.n != n {
			t.Errorf("the handle of %d finds %d", n, x.n)
		}
		return h
	}
	for g := range threads {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for n := int(made.Add(1)) - 1; n < rounds; n = int(made.Add(1)) - 1 {
				names[n].Store(uint64(table.Add(&thing{n})))
				look(n)
				for range 4 { // some of the last ones, which others may be ending
					m := max(n-rng.IntN(2*threads), 0)
					if h := look(m); table.Drop(h) {
						ended[m].Add(1)
					}
					look(m)
				}
			}
		})
	}
	wg.Wait()
	for n := range ended {
		if table.Drop(uintptr(names[n].Load())) {
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
	table := &Table[thing]{Kind: 7}
	var current atomic.Uint64
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range rounds {
			h := table.Add(&thing{n})
			current.Store(uint64(h))
			table.Drop(h)
		}
		over.Store(true)
	})
	wg.Go(func() {
		for !over.Load() {
			h := uintptr(current.Load())
			n := int(uint32(h>>32) % generations)
			if x := table.Find(h); x != nil && x.n != n {
				t.Errorf("the handle of %d finds %d", n, x.n)
				return
			}
		}
	})
	wg.Wait()
}

func TestASlotKnowsItsObject(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	x := &thing{1}
	h := table.Add(x)
	if got, object := table.At(Slot(h)); got != h || object != x {
		t.Errorf("handle %#x, object %v", got, object)
	}
	table.Drop(h)
	for _, slot := range []uint32{Slot(h), Slot(h) + 1, Slot(h) + Chunk, ^uint32(0)} {
		if h, object := table.At(slot); h != 0 || object != nil {
			t.Errorf("slot %d has handle %#x", slot, h)
		}
	}
}

func TestARenewedHandleIsAnotherOfTheSameObject(t *testing.T) {
	table := &Table[thing]{Kind: 7}
	x := &thing{1}
	h := table.Add(x)
	next := table.Renew(h)
	if next == h || table.Find(h) != nil || table.Find(next) != x || Int(next) != Int(h) || table.FromInt(Int(h)) != next {
		t.Errorf("%#x and then %#x, which find %v and %v", h, next, table.Find(h), table.Find(next))
	}
	if table.Renew(h) != 0 || table.Drop(h) || !table.Drop(next) || table.Renew(next) != 0 ||
		table.Renew(next+1<<32) != 0 {
		t.Error("a handle that has ended was renewed, or ended the object")
	}
	h = table.Add(x)
	table.slot(0).generation.Store(generations - 2) // as after many more
	last := table.Renew(h&^(0xffffff<<32) | (generations-2)<<32)
	if table.Find(last) != x || table.Renew(last) != 0 || table.Find(last) != x || !table.Drop(last) {
		t.Error("the last handle of a slot was renewed, or did not lead to its object")
	}
}
