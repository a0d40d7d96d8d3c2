package coll_test

import (
	"bytes"
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
// lie on both sides of the bounds in tuning.go.
func shapes(p int) []shape {
	short := []shape{
		{1, colltest.Int}, {0, colltest.Int}, {3, colltest.Gapped}, {2, colltest.Mixed}, {90, colltest.Double},
		{180, colltest.Gapped},
	}
	long := []shape{{7000, colltest.Double}, {2100, colltest.Gapped}}
	switch {
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

// everywhere runs a collective for every p from 1 to 32, and for every shape.
func everywhere(t *testing.T, f func(c *colltest.Comm, p int, s shape) error) {
	t.Parallel()
	for p := 1; p <= 32; p++ {
		w := colltest.New(p)
		for _, s := range shapes(p) {
			if err := w.Run(func(c *colltest.Comm) error { return f(c, p, s) }); err != nil {
				t.Fatalf("p=%d count=%d size=%d: %v", p, s.count, s.typ.Size(), err)
			}
		}
	}
}

func rooted(t *testing.T, f func(c *colltest.Comm, p, root int, s shape) error) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
		for _, root := range roots(p) {
			if err := f(c, p, root, s); err != nil {
				return fmt.Errorf("root=%d: %w", root, err)
			}
		}
		return nil
	})
}

// first answers the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestBarrierHoldsEverybodyUntilAllHaveEntered(t *testing.T) {
	t.Parallel()
	for name, barrier := range map[string]func(coll.Comm) error{"dissemination": coll.Barrier,
		"central": coll.BarrierCentral} {
		for p := 1; p <= 32; p++ {
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

func TestBcast(t *testing.T) {
	rooted(t, func(c *colltest.Comm, p, root int, s shape) error {
		m, want := colltest.NewMem(s.count, s.typ), colltest.Pattern(s.count, s.typ, root, 0)
		if c.Rank() == root {
			m.Put(0, want)
		}
		return first(coll.Bcast(c, m.Buf, root), m.Expect("bcast", 0, want), m.ExpectGaps())
	})
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
			return first(coll.Bcast(c, m.Buf, 0), m.Expect("bcast", 0, want), m.ExpectGaps())
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGather(t *testing.T) {
	rooted(t, func(c *colltest.Comm, p, root int, s shape) error {
		for _, inPlace := range []bool{false, true} {
			own := colltest.Pattern(s.count, s.typ, c.Rank(), root)
			send, recv := colltest.NewMem(s.count, s.typ), colltest.NewMem(int64(p)*s.count, s.typ)
			send.Put(0, own)
			out := send.Buf
			if inPlace && c.Rank() == root {
				recv.Put(int64(root)*s.count, own)
				out = coll.InPlace()
			}
			if err := coll.Gather(c, out, recv.Of(s.count), root); err != nil {
				return err
			}
			if c.Rank() != root {
				continue
			}
			for i := range p {
				if err := recv.Expect("gather", int64(i)*s.count, colltest.Pattern(s.count, s.typ, i, root)); err != nil {
					return err
				}
			}
			if err := recv.ExpectGaps(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestScatter(t *testing.T) {
	rooted(t, func(c *colltest.Comm, p, root int, s shape) error {
		for _, inPlace := range []bool{false, true} {
			send, recv := colltest.NewMem(int64(p)*s.count, s.typ), colltest.NewMem(s.count, s.typ)
			for i := range p {
				send.Put(int64(i)*s.count, colltest.Pattern(s.count, s.typ, root, i))
			}
			in := recv.Buf
			if inPlace && c.Rank() == root {
				in = coll.InPlace()
			}
			if err := coll.Scatter(c, send.Of(s.count), in, root); err != nil {
				return err
			}
			if in.IsInPlace() {
				continue
			}
			if err := first(recv.Expect("scatter", 0, colltest.Pattern(s.count, s.typ, root, c.Rank())),
				recv.ExpectGaps()); err != nil {
				return err
			}
		}
		return nil
	})
}

// layout is counts and displacements of a v-variant: uneven, some 0, placed in reverse with a gap between.
func layout(p int, count int64) (counts, displs []int64, room int64) {
	counts, displs = make([]int64, p), make([]int64, p)
	for i := p - 1; i >= 0; i-- {
		counts[i] = count * int64((i+2)%3) / 2
		displs[i] = room
		room += counts[i] + 1
	}
	return counts, displs, room
}

func TestGatherv(t *testing.T) {
	rooted(t, func(c *colltest.Comm, p, root int, s shape) error {
		counts, displs, room := layout(p, s.count)
		for _, inPlace := range []bool{false, true} {
			own := colltest.Pattern(counts[c.Rank()], s.typ, c.Rank(), root)
			send, recv := colltest.NewMem(counts[c.Rank()], s.typ), colltest.NewMem(room, s.typ)
			send.Put(0, own)
			out := send.Buf
			if inPlace && c.Rank() == root {
				recv.Put(displs[root], own)
				out = coll.InPlace()
			}
			if err := coll.Gatherv(c, out, recv.V(counts, displs), root); err != nil {
				return err
			}
			for i := 0; c.Rank() == root && i < p; i++ {
				if err := recv.Expect("gatherv", displs[i], colltest.Pattern(counts[i], s.typ, i, root)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestScatterv(t *testing.T) {
	rooted(t, func(c *colltest.Comm, p, root int, s shape) error {
		counts, displs, room := layout(p, s.count)
		send, recv := colltest.NewMem(room, s.typ), colltest.NewMem(counts[c.Rank()], s.typ)
		for i := range p {
			send.Put(displs[i], colltest.Pattern(counts[i], s.typ, root, i))
		}
		return first(coll.Scatterv(c, send.V(counts, displs), recv.Buf, root),
			recv.Expect("scatterv", 0, colltest.Pattern(counts[c.Rank()], s.typ, root, c.Rank())), recv.ExpectGaps())
	})
}

func TestAllgather(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
		for _, inPlace := range []bool{false, true} {
			own := colltest.Pattern(s.count, s.typ, c.Rank(), 0)
			send, recv := colltest.NewMem(s.count, s.typ), colltest.NewMem(int64(p)*s.count, s.typ)
			send.Put(0, own)
			out := send.Buf
			if inPlace {
				recv.Put(int64(c.Rank())*s.count, own)
				out = coll.InPlace()
			}
			if err := coll.Allgather(c, out, recv.Of(s.count)); err != nil {
				return err
			}
			for i := range p {
				if err := recv.Expect("allgather", int64(i)*s.count, colltest.Pattern(s.count, s.typ, i, 0)); err != nil {
					return err
				}
			}
			if err := recv.ExpectGaps(); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestAllgatherv(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
		counts, displs, room := layout(p, s.count)
		for _, inPlace := range []bool{false, true} {
			own := colltest.Pattern(counts[c.Rank()], s.typ, c.Rank(), 0)
			send, recv := colltest.NewMem(counts[c.Rank()], s.typ), colltest.NewMem(room, s.typ)
			send.Put(0, own)
			out := send.Buf
			if inPlace {
				recv.Put(displs[c.Rank()], own)
				out = coll.InPlace()
			}
			if err := coll.Allgatherv(c, out, recv.V(counts, displs)); err != nil {
				return err
			}
			for i := range p {
				if err := recv.Expect("allgatherv", displs[i], colltest.Pattern(counts[i], s.typ, i, 0)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func TestAlltoall(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
		if p > 4 {
			s.count = min(s.count, 800)
		}
		for _, inPlace := range []bool{false, true} {
			send, recv := colltest.NewMem(int64(p)*s.count, s.typ), colltest.NewMem(int64(p)*s.count, s.typ)
			from, out := send, send.Of(s.count)
			if inPlace {
				from, out = recv, coll.InPlace()
			}
			for i := range p {
				from.Put(int64(i)*s.count, colltest.Pattern(s.count, s.typ, c.Rank(), i))
			}
			if err := coll.Alltoall(c, out, recv.Of(s.count)); err != nil {
				return err
			}
			for i := range p {
				if err := recv.Expect("alltoall", int64(i)*s.count, colltest.Pattern(s.count, s.typ, i, c.Rank())); err != nil {
					return err
				}
			}
			if err := recv.ExpectGaps(); err != nil {
				return err
			}
		}
		return nil
	})
}

// matrix is the layout of rank r in an exchange of uneven blocks, symmetric if it is to be done in place.
func matrix(p, r int, count int64, send, symmetric bool) (counts, displs []int64, room int64) {
	counts, displs = make([]int64, p), make([]int64, p)
	for i := range p {
		a, b := r, i
		if !send {
			a, b = i, r
		}
		if symmetric {
			a, b = min(a, b), max(a, b)
		}
		counts[i], displs[i] = count*int64((2*a+b)%3)/2, room
		room += counts[i] + 1
	}
	return counts, displs, room
}

func TestAlltoallvAndAlltoallw(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
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
			sc, sd, sroom := matrix(p, c.Rank(), s.count, true, inPlace)
			rc, rd, rroom := matrix(p, c.Rank(), s.count, false, inPlace)
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
				err = coll.Alltoallw(c, out, coll.WBuf{Base: recv.Base, Counts: rc, Displs: bytesOf(rd), Types: types})
			} else {
				out := send.V(sc, sd)
				if inPlace {
					out = coll.InPlaceV()
				}
				err = coll.Alltoallv(c, out, recv.V(rc, rd))
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
	})
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
		copy(m[i:], []byte{1, 0, 0, 0})
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
	for p := 1; p <= 32; p++ {
		w := colltest.New(p)
		for _, v := range vectors(p) {
			for _, inPlace := range []bool{false, true} {
				if err := w.Run(func(c *colltest.Comm) error {
					return f(c, p, v, colltest.Affine{Commutes: v.commutes}, inPlace)
				}); err != nil {
					t.Fatalf("p=%d count=%d commutes=%v inPlace=%v: %v", p, v.count, v.commutes, inPlace, err)
				}
			}
		}
	}
}

// ends are buffers of a reduction of n elements for the given rank.
func (v vector) ends(n int64, r int, inPlace bool) (send coll.Buf, s, recv *colltest.Mem) {
	s, recv = colltest.NewMem(n, v.typ), colltest.NewMem(n, v.typ)
	if inPlace {
		recv.Put(0, v.maps(n, r))
		return coll.InPlace(), s, recv
	}
	s.Put(0, v.maps(n, r))
	return s.Buf, s, recv
}

func TestReduce(t *testing.T) {
	reductions(t, func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
		for _, root := range roots(p) {
			send, s, recv := v.ends(v.count, c.Rank(), inPlace && c.Rank() == root)
			if err := coll.Reduce(c, send, recv.Buf, o, root); err != nil {
				return err
			}
			if c.Rank() == root {
				if err := first(recv.Expect("reduce", 0, v.combined(v.count, 0, p)), recv.ExpectGaps()); err != nil {
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
	})
}

func TestAllreduce(t *testing.T) {
	reductions(t, func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
		send, _, recv := v.ends(v.count, c.Rank(), inPlace)
		return first(coll.Allreduce(c, send, recv.Buf, o),
			recv.Expect("allreduce", 0, v.combined(v.count, 0, p)), recv.ExpectGaps())
	})
}

func TestScanAndExscan(t *testing.T) {
	reductions(t, func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
		send, _, recv := v.ends(v.count, c.Rank(), inPlace)
		if err := first(coll.Scan(c, send, recv.Buf, o),
			recv.Expect("scan", 0, v.combined(v.count, 0, c.Rank()+1)), recv.ExpectGaps()); err != nil {
			return err
		}
		send, _, recv = v.ends(v.count, c.Rank(), inPlace)
		untouched := recv.Get(0, v.count)
		if err := coll.Exscan(c, send, recv.Buf, o); err != nil {
			return err
		}
		want := untouched
		if c.Rank() > 0 {
			want = v.combined(v.count, 0, c.Rank())
		}
		return first(recv.Expect("exscan", 0, want), recv.ExpectGaps())
	})
}

func TestReduceScatter(t *testing.T) {
	reductions(t, func(c *colltest.Comm, p int, v vector, o coll.Op, inPlace bool) error {
		r := c.Rank()
		block := (v.count + int64(p) - 1) / int64(p)
		all := v.combined(block*int64(p), 0, p)
		send, _, recv := v.ends(block*int64(p), r, inPlace)
		if err := first(coll.ReduceScatterBlock(c, send, recv.Of(block), o),
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
		return first(coll.ReduceScatter(c, send, recv.Of(counts[r]), counts, o),
			recv.Expect("scatter", 0, all[at*8:(at+counts[r])*8]))
	})
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
				err := coll.Allreduce(c, coll.InPlace(), m.Buf, op.Predefined(abi.MPI_SUM))
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
