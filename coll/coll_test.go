package coll_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

type shape struct {
	count int64
	typ   *datatype.Type
}

// shapes are the messages to try with p ranks: all for few ranks, one of them in turn for many. The counts
// lie on both sides of the bounds of package choose.
func shapes(p int) []shape {
	short := []shape{
		{1, colltest.Int}, {0, colltest.Int}, {3, colltest.Gapped}, {2, colltest.Mixed}, {90, colltest.Double},
		{180, colltest.Gapped}, {7, colltest.Section}, {3, colltest.SectionMixed},
	}
	long := []shape{{7000, colltest.Section}, {2100, colltest.Gapped}}
	switch {
	case race && p > 3:
		return append(short[2:4], long[p%2])
	case p <= 5:
		return append(short, long...)
	case p <= 9 || p == 16 || p == 23:
		return append(short[2:5], long[p%2])
	}
	return []shape{short[p%len(short)]}
}

func roots(p int) []int {
	switch {
	case p == 1:
		return []int{0}
	case p == 2:
		return []int{0, 1}
	case p <= 5:
		return []int{0, p / 2, p - 1}
	}
	return []int{p / 3, p - 1}
}

// everywhere runs a collective for every p from 1 to 32, and for every shape, at once and recorded.
func everywhere(t *testing.T, f func(c *colltest.Comm, p int, s shape) error) { onAll(t, false, f) }

func onAll(t *testing.T, twice bool, f func(c *colltest.Comm, p int, s shape) error) {
	t.Parallel()
	for p := 1; p <= mostRanks(); p++ {
		for _, w := range worlds(p) {
			w.Twice = twice
			for _, s := range shapes(p) {
				if err := w.Run(func(c *colltest.Comm) error { return f(c, p, s) }); err != nil {
					t.Fatalf("p=%d recorded=%v count=%d size=%d: %v", p, w.Recorded, s.count, s.typ.Size(), err)
				}
			}
		}
	}
}

// worlds are two of p ranks, one of which records. Of many ranks there is only one of them, in turn.
func worlds(p int) []*colltest.World {
	atOnce, recorded := colltest.New(p), colltest.New(p)
	recorded.Recorded = true
	switch {
	case p <= 9 || p == 16:
		return []*colltest.World{atOnce, recorded}
	case p%2 == 0:
		return []*colltest.World{atOnce}
	}
	return []*colltest.World{recorded}
}

func rooted(t *testing.T, f func(c *colltest.Comm, root int, s shape) error) {
	onAll(t, true, atRoots(f))
}

// atRoots tries a collective with several roots.
func atRoots(f func(c *colltest.Comm, root int, s shape) error) func(c *colltest.Comm, p int, s shape) error {
	return func(c *colltest.Comm, p int, s shape) error {
		for _, root := range roots(p) {
			if err := f(c, root, s); err != nil {
				return fmt.Errorf("root=%d: %w", root, err)
			}
		}
		return nil
	}
}

func TestBarrierHoldsEverybodyUntilAllHaveEntered(t *testing.T) {
	t.Parallel()
	for name, barrier := range map[string]func(coll.Comm) error{"dissemination": coll.Barrier,
		"central": func(c coll.Comm) error { return coll.BarrierAmong(c, true) }} {
		for p := 1; p <= mostRanks(); p++ {
			w := colltest.New(p)
			entered := make(chan int, p)
			if err := w.Run(func(c *colltest.Comm) error {
				entered <- c.Rank()
				if err := barrier(c); err != nil {
					return err
				}
				if len(entered) != p {
					return fmt.Errorf("left when %d of %d had entered", len(entered), p)
				}
				return nil
			}); err != nil {
				t.Fatalf("%s, p=%d: %v", name, p, err)
			}
		}
	}
}

func TestBcast(t *testing.T) { rooted(t, tryBcast) }

func tryBcast(c *colltest.Comm, root int, s shape) error {
	return colltest.TryBcast(c, root, s.count, s.typ, func(b coll.Buf) error { return coll.Bcast(c, b, root) })
}

// Ranks may describe the same signature in different ways: root sends a vector, odd ranks receive ints.
func TestBcastOfOneSignatureInTwoTypes(t *testing.T) {
	t.Parallel()
	for _, count := range []int64{1, 3000} {
		want := colltest.Pattern(count, colltest.Gapped, 0, 0)
		if err := colltest.New(7).Run(func(c *colltest.Comm) error {
			m := colltest.NewMem(count, colltest.Gapped)
			if c.Rank()%2 == 1 {
				m = colltest.NewMem(6*count, colltest.Int)
			}
			if c.Rank() == 0 {
				m.Put(0, want)
			}
			return colltest.First(coll.Bcast(c, m.Buf, 0), m.Expect("bcast", 0, want), m.ExpectGaps())
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGather(t *testing.T) { rooted(t, tryGather) }

func tryGather(c *colltest.Comm, root int, s shape) error {
	return colltest.TryGather(c, root, s.count, s.typ, func(out, in coll.Buf) error {
		return coll.Gather(c, out, in, root)
	})
}

func TestScatter(t *testing.T) { rooted(t, tryScatter) }

func tryScatter(c *colltest.Comm, root int, s shape) error {
	return colltest.TryScatter(c, root, s.count, s.typ, func(out, in coll.Buf) error {
		return coll.Scatter(c, out, in, root)
	})
}

func TestGatherv(t *testing.T) { rooted(t, tryGatherv) }

func tryGatherv(c *colltest.Comm, root int, s shape) error {
	return colltest.TryGatherv(c, root, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
		return coll.Gatherv(c, out, in, root)
	})
}

func TestScatterv(t *testing.T) { rooted(t, tryScatterv) }

func tryScatterv(c *colltest.Comm, root int, s shape) error {
	return colltest.TryScatterv(c, root, s.count, s.typ, func(out coll.VBuf, in coll.Buf) error {
		return coll.Scatterv(c, out, in, root)
	})
}

func TestAllgather(t *testing.T) { everywhere(t, tryAllgather) }

func tryAllgather(c *colltest.Comm, p int, s shape) error {
	return colltest.TryAllgather(c, s.count, s.typ, func(out, in coll.Buf) error { return coll.Allgather(c, out, in) })
}

func TestAllgatherv(t *testing.T) { everywhere(t, tryAllgatherv) }

func tryAllgatherv(c *colltest.Comm, p int, s shape) error {
	return colltest.TryAllgatherv(c, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
		return coll.Allgatherv(c, out, in)
	})
}

func TestAlltoall(t *testing.T) { everywhere(t, tryAlltoall) }

func tryAlltoall(c *colltest.Comm, p int, s shape) error {
	if p > 4 {
		s.count = min(s.count, 800)
	}
	return colltest.TryAlltoall(c, s.count, s.typ, func(out, in coll.Buf) error { return coll.Alltoall(c, out, in) })
}

func TestAlltoallvAndAlltoallw(t *testing.T) { everywhere(t, tryAlltoallvAndAlltoallw) }

func tryAlltoallvAndAlltoallw(c *colltest.Comm, p int, s shape) error {
	s.count = min(s.count, 300)
	types := make([]*datatype.Type, p)
	for i := range types {
		types[i] = s.typ
	}
	bytesOf := func(displs []int64) []int64 {
		b := make([]int64, p)
		for i := range b {
			b[i] = displs[i] * s.typ.Extent()
		}
		return b
	}
	for mode := range 4 {
		inPlace, w := mode&1 != 0, mode&2 != 0
		sc, sd, sroom := colltest.Matrix(p, c.Rank(), s.count, true, inPlace)
		rc, rd, rroom := colltest.Matrix(p, c.Rank(), s.count, false, inPlace)
		send, recv := colltest.NewMem(sroom, s.typ), colltest.NewMem(rroom, s.typ)
		from := send
		if inPlace {
			from = recv
		}
		for i := range p {
			from.Put(sd[i], colltest.Pattern(sc[i], s.typ, c.Rank(), i))
		}
		var err error
		if w {
			out := coll.WBuf{Base: send.Base, Counts: sc, Displs: bytesOf(sd), Types: types}
			if inPlace {
				out = coll.InPlaceW()
			}
			in := coll.WBuf{Base: recv.Base, Counts: rc, Displs: bytesOf(rd), Types: types}
			err = c.Call(func() error { return coll.Alltoallw(c, out, in) })
		} else {
			out := send.V(sc, sd)
			if inPlace {
				out = coll.InPlaceV()
			}
			err = c.Call(func() error { return coll.Alltoallv(c, out, recv.V(rc, rd)) })
		}
		if err != nil {
			return err
		}
		for i := range p {
			if err := recv.Expect("alltoallv", rd[i], colltest.Pattern(rc[i], s.typ, i, c.Rank())); err != nil {
				return err
			}
		}
	}
	return nil
}

// Blocks in place of all lengths, beside each other: those that are swapped by halves, at the bounds, too, and those
// that are copied, all at once or, where they are many bytes together, one after the other. Of two ranks one may have
// gaps between the elements, and two elements in one.
func TestAlltoallInPlaceOfBlocksOfAllLengths(t *testing.T) {
	t.Parallel()
	pairs := func(p, a, b int) int64 { // of doubles
		a, b = min(a, b), max(a, b)
		if p > 8 {
			return []int64{100, 7000, 8192, 9000}[(min(a, 2)+b)%4]
		}
		return []int64{0, 1, 1024, 1025, 2049, 8191, 8192, 20001}[(3*a+b+p)%8]
	}
	try := func(c *colltest.Comm) error {
		p, r := c.Size(), c.Rank()
		in := coll.WBuf{Counts: make([]int64, p), Displs: make([]int64, p), Types: make([]*datatype.Type, p)}
		room := int64(0)
		for i := range p {
			if in.Types[i], in.Counts[i] = colltest.Spaced, pairs(p, r, i); (r+i)%3 == 0 || r > i {
				in.Types[i], in.Counts[i] = colltest.Double, 2*in.Counts[i]
			}
			in.Displs[i] = room
			room += in.Counts[i]*in.Types[i].Extent() + 8
		}
		fill := func(from, to func(i int) int) *colltest.Mem {
			m := colltest.NewMem(room, datatype.Named(abi.MPI_BYTE))
			for i := range p {
				block := m.Slice(in.Displs[i], 1)
				block.Count, block.Type = in.Counts[i], in.Types[i]
				data := colltest.Pattern(2*pairs(p, r, i), colltest.Double, from(i), to(i))
				if err := coll.Unpack(block, data, datatype.Native); err != nil {
					panic(err)
				}
			}
			return m
		}
		me, other := func(int) int { return r }, func(i int) int { return i }
		got, want := fill(me, other), fill(other, me)
		in.Base = got.Base
		if err := c.Call(func() error { return coll.Alltoallw(c, coll.InPlaceW(), in) }); err != nil {
			return err
		}
		return colltest.First(got.Expect("all blocks", 0, want.Get(0, room)), got.ExpectGaps())
	}
	for _, p := range []int{1, 2, 3, 4, 5, 6, 7, 8, 12} {
		for _, w := range worlds(p) {
			if err := w.Run(try); err != nil {
				t.Fatalf("p=%d recorded=%v: %.1000v", p, w.Recorded, err)
			}
		}
	}
}

// A reduction is tried with a composition of maps, in place and not, that says whether it commutes or not: the
// order is checked where that matters, and the algorithms for long vectors with an operation that does commute
// (maps that only add).
type vector struct {
	count    int64
	typ      *datatype.Type
	commutes bool
}

func vectors(p int) []vector {
	short := []vector{
		{1, colltest.Map, false}, {5, colltest.MapGapped, false}, {3, colltest.MapBelow, true}, {40, colltest.MapGapped,
			true}, {0, colltest.Map, false},
	}
	long := []vector{{4500, colltest.MapGapped, false}, {4501, colltest.MapBelow, true}}
	switch {
	case p <= 5:
		return append(short, long...)
	case p <= 8 || p == 13 || p == 16:
		return append(short[1:4], long[p%2], long[1])
	}
	return []vector{short[p%len(short)]}
}

// maps are the vector of rank r; if they are to commute, their factor is 1.
func (v vector) maps(n int64, r int) []byte {
	m := colltest.Maps(n, r)
	for i := 0; v.commutes && i < len(m); i += 8 {
		binary.NativeEndian.PutUint32(m[i:], 1)
	}
	return m
}

// combined is what ranks from to to-1 make of n elements each.
func (v vector) combined(n int64, from, to int) []byte {
	type key struct {
		n        int64
		from, to int
		commutes bool
	}
	k := key{n, from, to, v.commutes}
	if got, ok := known.Load(k); ok {
		return got.([]byte)
	}
	acc := v.maps(n, to-1)
	if to-1 > from {
		acc = colltest.ComposePacked(v.combined(n, from, to-1), acc)
	}
	known.Store(k, acc)
	return acc
}

var known sync.Map // results of combined

func reductions(t *testing.T, f func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error) {
	t.Parallel()
	for p := 1; p <= mostRanks(); p++ {
		for _, w := range worlds(p) {
			for _, v := range vectors(p) {
				for _, inPlace := range []bool{false, true} {
					if err := w.Run(func(c *colltest.Comm) error {
						return f(c, p, v, colltest.Affine{Commutes: v.commutes}, inPlace)
					}); err != nil {
						t.Fatalf("p=%d recorded=%v count=%d commutes=%v inPlace=%v: %v", p, w.Recorded, v.count, v.commutes,
							inPlace, err)
					}
				}
			}
		}
	}
}

// at is the type of a vector of rank r: a section at two of three ranks.
func (v vector) at(r int) *datatype.Type {
	if v.typ == colltest.Map {
		return []*datatype.Type{v.typ, colltest.MapRows, colltest.MapTorn}[r%3]
	}
	return v.typ
}

// ends are buffers of a reduction of n elements for the given rank.
func (v vector) ends(n int64, r int, inPlace bool) (send coll.Buf, s, recv *colltest.Mem) {
	s, recv = colltest.NewMem(n, v.at(r)), colltest.NewMem(n, v.at(r+1))
	if inPlace {
		recv.Put(0, v.maps(n, r))
		return coll.InPlace(), s, recv
	}
	s.Put(0, v.maps(n, r))
	return s.Buf, s, recv
}

func TestReduce(t *testing.T) { reductions(t, tryReduce) }

func tryReduce(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
	for _, root := range roots(p) {
		send, s, recv := v.ends(v.count, c.Rank(), inPlace && c.Rank() == root)
		if err := c.Call(func() error { return coll.Reduce(c, send, recv.Buf, o, root) }); err != nil {
			return err
		}
		if c.Rank() == root {
			if err := colltest.First(recv.Expect("reduce", 0, v.combined(v.count, 0, p)), recv.ExpectGaps()); err != nil {
				return fmt.Errorf("root=%d: %w", root, err)
			}
		}
		if !send.IsInPlace() {
			if err := s.Expect("send buffer", 0, v.maps(v.count, c.Rank())); err != nil {
				return err
			}
		}
	}
	return nil
}

func TestAllreduce(t *testing.T) { reductions(t, tryAllreduce) }

func tryAllreduce(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
	send, _, recv := v.ends(v.count, c.Rank(), inPlace)
	return colltest.First(c.Call(func() error { return coll.Allreduce(c, send, recv.Buf, o) }),
		recv.Expect("allreduce", 0, v.combined(v.count, 0, p)), recv.ExpectGaps())
}

func TestScanAndExscan(t *testing.T) { reductions(t, tryScanAndExscan) }

func tryScanAndExscan(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
	send, _, recv := v.ends(v.count, c.Rank(), inPlace)
	if err := colltest.First(c.Call(func() error { return coll.Scan(c, send, recv.Buf, o) }),
		recv.Expect("scan", 0, v.combined(v.count, 0, c.Rank()+1)), recv.ExpectGaps()); err != nil {
		return err
	}
	send, _, recv = v.ends(v.count, c.Rank(), inPlace)
	untouched := recv.Get(0, v.count)
	if err := c.Call(func() error { return coll.Exscan(c, send, recv.Buf, o) }); err != nil {
		return err
	}
	want := untouched
	if c.Rank() > 0 {
		want = v.combined(v.count, 0, c.Rank())
	}
	return colltest.First(recv.Expect("exscan", 0, want), recv.ExpectGaps())
}

func TestReduceScatter(t *testing.T) { reductions(t, tryReduceScatter) }

func tryReduceScatter(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
	r := c.Rank()
	block := (v.count + int64(p) - 1) / int64(p)
	all := v.combined(block*int64(p), 0, p)
	send, _, recv := v.ends(block*int64(p), r, inPlace)
	if err := colltest.First(c.Call(func() error { return coll.ReduceScatterBlock(c, send, recv.Of(block), o) }),
		recv.Expect("block", 0, all[int64(r)*block*8:int64(r+1)*block*8])); err != nil {
		return err
	}
	counts, at, total := make([]int64, p), int64(0), int64(0)
	for i := range counts {
		counts[i] = (v.count / int64(p)) * int64(i%3)
		if i < r {
			at += counts[i]
		}
		total += counts[i]
	}
	all = v.combined(total, 0, p)
	send, _, recv = v.ends(total, r, inPlace)
	return colltest.First(c.Call(func() error { return coll.ReduceScatter(c, send, recv.Of(counts[r]), counts, o) }),
		recv.Expect("scatter", 0, all[at*8:(at+counts[r])*8]))
}

// Floating point sums depend on the order, which must be one for all ranks.
func TestAllreduceGivesTheSameBitsEverywhere(t *testing.T) {
	t.Parallel()
	for p := 2; p <= 16; p++ {
		for _, n := range []int64{3, 5000} {
			results := make([][]byte, p)
			if err := colltest.New(p).Run(func(c *colltest.Comm) error {
				m := colltest.NewMem(n, colltest.Double)
				m.Put(0, colltest.Thirds(n, c.Rank()))
				err := c.Call(func() error { return coll.Allreduce(c, coll.InPlace(), m.Buf, op.Predefined(abi.MPI_SUM)) })
				results[c.Rank()] = m.Get(0, n)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for r := range results {
				if !bytes.Equal(results[r], results[0]) {
					t.Fatalf("p=%d n=%d: rank %d differs from rank 0", p, n, r)
				}
			}
		}
	}
}

func TestErrorsOfOperationsComeBack(t *testing.T) {
	m := colltest.NewMem(1, colltest.Map)
	err := colltest.New(2).Run(func(c *colltest.Comm) error {
		mine := colltest.NewMem(1, colltest.Map)
		return coll.Allreduce(c, m.Buf, mine.Buf, op.Predefined(abi.MPI_SUM))
	})
	var e *coll.Error
	if !errors.As(err, &e) || e.Class != abi.MPI_ERR_OP {
		t.Fatalf("got %v", err)
	}
}

func TestTruncationIsAnError(t *testing.T) {
	err := colltest.New(3).Run(func(c *colltest.Comm) error {
		n := int64(5)
		if c.Rank() == 2 {
			n = 4
		}
		return coll.Bcast(c, colltest.NewMem(n, colltest.Int).Buf, 0)
	})
	var e *coll.Error
	if !errors.As(err, &e) || e.Class != abi.MPI_ERR_TRUNCATE {
		t.Fatalf("got %v", err)
	}
}

func TestATooLongBlockOfScattervIsAnErrorInATree(t *testing.T) {
	const p = 40 // a tree by default
	counts, displs := make([]int64, p), make([]int64, p)
	for i := range counts {
		counts[i], displs[i] = 4, int64(4*i)
	}
	err := colltest.New(p).Run(func(c *colltest.Comm) error {
		n := int64(4)
		if c.Rank() == 21 {
			n = 3
		}
		send := colltest.NewMem(4*p, colltest.Int)
		return coll.Scatterv(c, send.V(counts, displs), colltest.NewMem(n, colltest.Int).Buf, 0)
	})
	var e *coll.Error
	if !errors.As(err, &e) || e.Class != abi.MPI_ERR_TRUNCATE {
		t.Fatalf("got %v", err)
	}
}

// mostRanks is how many ranks there are at most in a test: fewer under the race detector, which is slow.
func mostRanks() int {
	if race {
		return 6
	}
	return 32
}
