package datatype

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
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
		var in, out Cursor
		in.Init(to.base(), 1, d.t, Native)
		out.Init(from.base(), 1, s.t, Native)
		var j joint
		if bytes := min(in.Len(), out.Len()); j.find(&in, &out, bytes) == bytes {
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
		var in, out Cursor
		in.Init(to.base(), dcount, d.t, Native)
		out.Init(from.base(), scount, s.t, Native)
		if bytes := min(in.Len(), out.Len()); moveAnyhow(&in, &out, bytes) == bytes {
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
			"move":   func() { Move(&in, &out, s.Size()) },
			"pieces": func() { copyPieces(&in, &out, s.Size()) },
			"buffer": func() { throughAll(&in, &out) },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, 8*n), func(b *testing.B) {
				b.SetBytes(s.Size())
				for range b.N {
					in.SeekTo(0)
					out.SeekTo(0)
					move()
				}
			})
		}
	}
}

func throughAll(dst, src *Cursor) {
	for left := src.Len(); left > 0; {
		left -= moveThrough(dst, src, left)
	}
}

// streamed is what Move must do: pack pieces of one stream, unpack them at the other.
func streamed(dst, src *Cursor, n int64) int64 {
	stream := make([]byte, max(0, min(n, dst.Len()-dst.Pos(), src.Len()-src.Pos())))
	src.Pack(stream)
	dst.Unpack(stream)
	return int64(len(stream))
}

// moved compares both from any place of either stream on, in pieces of any size.
func moved(r *rand.Rand, init func(c *Cursor, base unsafe.Pointer), from *Cursor, to *arena) error {
	want, got := to.clone(), to.clone()
	var in, expected Cursor
	init(&in, got.base())
	init(&expected, want.base())
	out := *from
	start, skip := r.Int63n(in.Len()+1)/2, r.Int63n(out.Len()+1)/2
	for range 4 {
		in.SeekTo(start)
		expected.SeekTo(start)
		out.SeekTo(skip)
		from.SeekTo(skip)
		n := r.Int63n(in.Len() + out.Len() + 2)
		if r.Intn(2) == 0 {
			n = min(in.Len(), out.Len()) - max(start, skip)
		}
		if a, b := Move(&in, &out, n), streamed(&expected, from, n); a != b || in.Pos() != expected.Pos() ||
			out.Pos() != from.Pos() {
			return fmt.Errorf("%d of %d bytes from %d to %d, want %d", a, n, skip, start, b)
		}
		if !bytes.Equal(got.bytes, want.bytes) {
			return fmt.Errorf("%d bytes from %d to %d: memory\n%x, want\n%x", n, skip, start, got.bytes, want.bytes)
		}
		start, skip = in.Pos(), out.Pos()
	}
	if (in.Err() == nil) != (expected.Err() == nil) || (out.Err() == nil) != (from.Err() == nil) {
		return fmt.Errorf("errors %v %v, want %v %v", in.Err(), out.Err(), expected.Err(), from.Err())
	}
	return nil
}

func TestMoveGoesOnFromAnyPlaceOfEitherStream(t *testing.T) {
	check(t, 3000, func(r *rand.Rand, m *model) error {
		count := int64(1 + r.Intn(3))
		entries := m.instances(count)
		from, to := newArena(reachOf(entries)).fill(r), newArena(reachOf(entries)).fill(r)
		if !disjoint(entries, to) {
			return nil
		}
		flat := m.flattened(r)
		rep, other := Rep(r.Intn(2)), Rep(r.Intn(2))
		if other != rep { // a stream of external32 is bytes for the other side
			bytes := int64(m.size(External32)) * count
			flat = ok(Hvector((bytes+2)/3, 3, 3+int64(r.Intn(3)), Named(abi.MPI_BYTE)))
			other = Native
		}
		side := newArena(0, count*max(flat.Extent(), 1)).fill(r)
		var c Cursor
		if r.Intn(2) == 0 {
			c.Init(from.base(), count, m.t, rep)
			return moved(r, func(c *Cursor, base unsafe.Pointer) { c.Init(base, count, flat, other) }, &c, side)
		}
		c.Init(side.base(), count, flat, other)
		return moved(r, func(c *Cursor, base unsafe.Pointer) { c.Init(base, count, m.t, rep) }, &c, to)
	})
}

func TestMoveBetweenNestsGoesOnFromAnyPlace(t *testing.T) {
	for seed := range 2000 {
		r := rand.New(rand.NewSource(int64(seed)))
		factors := [][]int64{{2, 3, 40}, {60, 4}, {240}, {2, 120}, {3, 2, 20, 2}, {8, 30}, {50, 5}, {40, 7}, {3000}}
		s := nest(r, 1+r.Int63n(16), factors[r.Intn(len(factors))])
		d := nest(r, 1+r.Int63n(16), factors[r.Intn(len(factors))])
		if r.Intn(8) == 0 {
			d = scattered(r, 1, 1<<r.Intn(11), 2000)
		}
		from, to := newArena(s.t.TrueLB(), s.t.TrueUB()).fill(r), newArena(d.t.TrueLB(), d.t.TrueUB()).fill(r)
		var c Cursor
		c.Init(from.base(), 1, s.t, Native)
		if err := moved(r, func(c *Cursor, base unsafe.Pointer) { c.Init(base, 1, d.t, Native) }, &c, to); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// A view is a type that is repeated without end; a window of its file is in a buffer.
func TestAWindowOfAFileIsMemoryOfItsView(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewSource(int64(seed)))
		m := ascending(r, r.Intn(4))
		var view Cursor
		lo, hi := reachOf(m.entries)
		tile := ok(Resized(m.t, lo, hi-lo+int64(r.Intn(40))))
		view.Init(nil, tile.Endless(Native), tile, Native)
		first := r.Int63n(view.Len() - 2*tile.Size())
		n := 1 + r.Int63n(2*tile.Size())
		start := view.Place(first)
		window := newArena(0, view.Extent(first, n)).fill(r)
		want := make([]byte, 0, n)
		for pos := first; pos < first+n; pos++ {
			want = append(want, window.at(view.Place(pos)-start, 1)...)
		}
		var c Cursor
		c.Init(nil, tile.Endless(Native), tile, Native)
		c.Lay(unsafe.Slice((*byte)(window.base()), 1), start)
		c.SeekTo(first)
		got, moved := make([]byte, n), make([]byte, n)
		if c.Pack(got); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: packed %x, want %x", seed, got, want)
		}
		c.SeekTo(first)
		var memory Cursor
		memory.Init(unsafe.Pointer(&moved[0]), n, Named(abi.MPI_BYTE), Native)
		if Move(&memory, &c, n); !bytes.Equal(moved, want) {
			t.Fatalf("seed %d: moved %x, want %x", seed, moved, want)
		}
		if runs := (Runs{}); runs.fill(&c, first, first+n) > 0 && runs.Off[0] != 0 {
			t.Fatalf("seed %d: the window begins at %d", seed, runs.Off[0])
		}
	}
}

func BenchmarkMoveIntoAWindow(b *testing.B) {
	const window = 4 << 20
	buf, memory := make([]byte, window), make([]byte, window)
	for _, block := range []int64{8, 64, 512} {
		tile := ok(Resized(ok(Contiguous(block/8, testDouble)), 0, 2*block))
		for name, t := range map[string]*Type{"contiguous": ok(Contiguous(window/16, testDouble)),
			"strided": ok(Vector(window/16, 1, 2, testDouble)),
			"blocks":  ok(Vector(window/block/2, block/8, block/4, testDouble))} {
			for _, rep := range []Rep{Native, External32} {
				b.Run(fmt.Sprintf("%s/%d/%d", name, block, rep), func(b *testing.B) {
					b.SetBytes(window / 2)
					var file, mem Cursor
					file.Init(nil, tile.Endless(Native), tile, Native)
					mem.Init(unsafe.Pointer(&memory[0]), 1, t, rep)
					first := 1000 * block
					file.Lay(buf, file.Place(first))
					for range b.N {
						file.SeekTo(first)
						mem.SeekTo(0)
						Move(&file, &mem, window/2)
					}
				})
			}
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

func FuzzMove(f *testing.F) {
	f.Add(int64(1), int64(2), uint8(3))
	f.Add(int64(77), int64(5), uint8(0))
	f.Fuzz(func(t *testing.T, seed, other int64, counts uint8) {
		r := rand.New(rand.NewSource(seed))
		s, d := anyType(r, r.Intn(4)), anyType(rand.New(rand.NewSource(other)), int(counts>>6))
		from, to := s.instances(int64(counts&7)), d.instances(int64(counts>>3&7))
		mem := newArena(reachOf(to)).fill(r)
		if len(from)+len(to) > 8*maxEntries || !disjoint(to, mem) {
			return
		}
		var c Cursor
		c.Init(newArena(reachOf(from)).fill(r).base(), int64(counts&7), s.t, Native)
		if err := moved(r, func(c *Cursor, base unsafe.Pointer) {
			c.Init(base, int64(counts>>3&7), d.t, Native)
		}, &c, mem); err != nil {
			t.Fatal(err)
		}
	})
}
