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

// scattered draws blocks of least to most doubles each, total in all, in any order: of several lengths, of one, or
// fields of a structure.
func scattered(r *rand.Rand, least, most, total int64) *model {
	var lens, disps []int64
	var olds []*Type
	end, form := int64(0), r.Intn(3)
	for total > 0 {
		n := least
		if form > 0 {
			n += r.Int63n(most - least + 1)
		}
		if n > total {
			n = total
		}
		total -= n
		end += 8 * r.Int63n(5)
		lens, disps, olds = append(lens, n), append(disps, end), append(olds, testDouble)
		end += 8 * n
	}
	r.Shuffle(len(lens), func(i, j int) {
		lens[i], lens[j] = lens[j], lens[i]
		disps[i], disps[j] = disps[j], disps[i]
	})
	if form == 2 {
		return &model{t: ok(Struct(lens, disps, olds))}
	}
	return &model{t: ok(Hindexed(lens, disps, testDouble))}
}

func TestCopyBetweenListsGoesByTheLongerRuns(t *testing.T) {
	direct := 0
	for seed := range 300 {
		r := rand.New(rand.NewSource(int64(seed)))
		lengths := [][2]int64{{1, 4}, {100, 200}, {1024, 1200}, {1024, 3000}}
		total := int64(4100 + r.Intn(8)*1024)
		a, b := lengths[r.Intn(4)], lengths[r.Intn(4)]
		s, d := scattered(r, a[0], a[1], total), scattered(r, b[0], b[1], total-int64(r.Intn(50)))
		if r.Intn(4) == 0 {
			d = nest(r, 1+r.Int63n(2000), []int64{2 + r.Int63n(5), 3})
		}
		scount, dcount := int64(1+r.Intn(2)), int64(1+r.Intn(2))
		from, to := newArena(reachOfBoth(s.t)).fill(r), newArena(reachOfBoth(d.t)).fill(r)
		if err := copied(r, d, s, dcount, scount, from, to); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		bytes := min(scount*s.t.Size(), dcount*d.t.Size())
		if copyByRuns(to.base(), dcount, d.t, from.base(), scount, s.t, bytes) {
			direct++
		}
	}
	if direct < 150 {
		t.Errorf("%d of 300 copies were direct", direct)
	}
}

// reachOfBoth is the memory of two elements.
func reachOfBoth(t *Type) (low, high int64) {
	return min(t.TrueLB(), t.TrueLB()+t.Extent()), max(t.TrueUB(), t.TrueUB()+t.Extent())
}

func BenchmarkCopyBetweenLists(b *testing.B) {
	memory := make([]byte, 32<<20)
	to, from := unsafe.Pointer(&memory[16<<20]), unsafe.Pointer(&memory[0])
	r := rand.New(rand.NewSource(1))
	for _, n := range []int64{1, 4, 8, 16, 32, 64, 256, 1024, 4096} {
		s, d := scattered(r, n, n, 1<<16).t, scattered(r, n, 2*n, 1<<16).t
		var in, out Cursor
		in.Init(to, 1, d, Native)
		out.Init(from, 1, s, Native)
		for name, move := range map[string]func(){
			"along":  func() { out.SeekTo(0); copyAlong(&in, to, &out, false, s.Size()) },
			"pieces": func() { copyPieces(to, from, &in, &out, s.Size()) },
			"buffer": func() { copyThrough(to, 1, d, from, 1, s, s.Size()) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, 8*n), func(b *testing.B) {
				b.SetBytes(s.Size())
				for range b.N {
					move()
				}
			})
		}
	}
}

func TestCopyAllocatesNothing(t *testing.T) {
	memory := make([]byte, 32<<20)
	odd := ok(Hvector(7, 3, 31, testDouble))                                              // none of the others divides it
	long := ok(Hindexed([]int64{2000, 3000, 1500}, []int64{0, 40000, 20000}, testDouble)) // whose runs are walked
	for _, e := range benchCases() {
		if n := testing.AllocsPerRun(2, func() {
			Copy(unsafe.Pointer(&memory[16<<20]), 1, e.t, unsafe.Pointer(&memory[0]), 1, e.t)
			Copy(unsafe.Pointer(&memory[16<<20]), 1, odd, unsafe.Pointer(&memory[0]), 1, e.t)
			Copy(unsafe.Pointer(&memory[16<<20]), 1, long, unsafe.Pointer(&memory[0]), 1, e.t)
		}); n != 0 && !race { // a pool drops what it likes under the race detector
			t.Errorf("%s: %v allocations", e.name, n)
		}
	}
}
