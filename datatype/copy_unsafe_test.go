package datatype

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"
)

// copied is what Copy must do: pack one side, unpack at the other.
func copied(r *rand.Rand, d, s *model, dcount, scount int64, from, to *arena) error {
	want, got := to.clone(), to.clone()
	stream := make([]byte, min(scount*s.t.Size(), dcount*d.t.Size()))
	var c Cursor
	c.Init(from.base(), scount, s.t, Native)
	c.Pack(stream)
	c.Init(want.base(), dcount, d.t, Native)
	c.Unpack(stream)
	n, truncated := Copy(got.base(), dcount, d.t, from.base(), scount, s.t)
	if n != int64(len(stream)) || truncated != (scount*s.t.Size() > n) {
		return fmt.Errorf("copied %d of %d bytes, truncated %v", n, len(stream), truncated)
	}
	if !bytes.Equal(got.bytes, want.bytes) {
		return fmt.Errorf("memory\n%x, want\n%x", got.bytes, want.bytes)
	}
	return nil
}

func TestCopyToTheSameLayoutMovesWhatPackingMoves(t *testing.T) {
	check(t, 2000, func(r *rand.Rand, m *model) error {
		count := int64(1 + r.Intn(3))
		room := count + int64(r.Intn(3)) - 1
		entries := m.instances(max(count, room))
		from, to := newArena(reachOf(entries)).fill(r), newArena(reachOf(entries)).fill(r)
		if !disjoint(entries, to) {
			return nil
		}
		other := &model{t: m.t}
		if r.Intn(2) == 0 {
			other.t = Dup(m.t)
		}
		return copied(r, other, m, room, count, from, to)
	})
}

// nest draws loops around a run of doubles, the counts of which multiply to the given ones.
func nest(r *rand.Rand, run int64, counts []int64) *model {
	m := &model{t: ok(Contiguous(run, testDouble))}
	for _, n := range counts {
		stride := (m.t.TrueExtent() + int64(r.Intn(9)))
		if r.Intn(4) == 0 {
			stride = -stride
		}
		m.t = ok(Hvector(n, 1, stride, m.t))
	}
	return m
}

func TestCopyBetweenNestsOfLoopsNeedsNoBuffer(t *testing.T) {
	direct := 0
	for seed := range 3000 {
		r := rand.New(rand.NewSource(int64(seed)))
		factors := [][]int64{{2, 3, 4}, {6, 4}, {24}, {2, 12}, {3, 2, 2, 2}, {8, 3}, {5, 5}, {4, 7}}
		s := nest(r, 1<<r.Intn(5), factors[r.Intn(len(factors))])
		d := nest(r, 1<<r.Intn(5), factors[r.Intn(len(factors))])
		from, to := newArena(s.t.TrueLB(), s.t.TrueUB()).fill(r), newArena(d.t.TrueLB(), d.t.TrueUB()).fill(r)
		if err := copied(r, d, s, 1, 1, from, to); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if copyNest(to.base(), 1, d.t, from.base(), 1, s.t) {
			direct++
		}
	}
	if direct < 600 {
		t.Errorf("%d of 3000 copies were direct", direct)
	}
}

func TestCopyAllocatesNothing(t *testing.T) {
	memory := make([]byte, 32<<20)
	odd := ok(Hvector(7, 3, 31, testDouble)) // which none of the others divides
	for _, e := range benchCases() {
		if n := testing.AllocsPerRun(2, func() {
			Copy(unsafe.Pointer(&memory[16<<20]), 1, e.t, unsafe.Pointer(&memory[0]), 1, e.t)
			Copy(unsafe.Pointer(&memory[16<<20]), 1, odd, unsafe.Pointer(&memory[0]), 1, e.t)
		}); n != 0 {
			t.Errorf("%s: %v allocations", e.name, n)
		}
	}
}
