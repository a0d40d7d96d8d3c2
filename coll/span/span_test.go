package span_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/datatype"
)

var _ span.Comm = (*colltest.Comm)(nil)

// clients lays out m clients of uneven sizes (1, 2, 3, 1, ...): one after the other, dealt out in turn, or mixed
// so that the highest number appears first.
func clients(m, style int) []int32 {
	var left, c []int32
	for i := range m {
		left = append(left, int32(i%3+1))
	}
	if style == 0 {
		for i, n := range left {
			for range n {
				c = append(c, int32(i))
			}
		}
		return c
	}
	for taken := true; taken; {
		taken = false
		for i := range left {
			if style == 2 {
				i = m - 1 - i
			}
			if left[i] > 0 {
				left[i], taken = left[i]-1, true
				c = append(c, int32(i))
			}
		}
	}
	return c
}

type setting struct {
	client []int32
	l      *span.Layout
	p      int
}

type shape struct {
	count int64
	typ   *datatype.Type
}

// The blocks of 16 ints are 64 bytes; with the XSIZE of 100 that the tests use, some shapes are short and some long.
var shapes = []shape{{1, colltest.Int}, {3, colltest.Gapped}, {0, colltest.Int}, {5, colltest.Gapped},
	{20, colltest.Long}, {4, colltest.SectionMixed}, {900, colltest.Section}}

// mostClients is how many clients there are at most in a test: fewer under the race detector, which is slow.
func mostClients() int {
	if race {
		return 4
	}
	return 9
}

// sampling is of how many shapes one is tried on m clients.
func sampling(m int) int {
	switch {
	case m > 5:
		return 7
	case m > 3 || race:
		return 4
	}
	return 1
}

// everywhere runs f on 1 to 9 clients in several layouts, and checks the tags of all messages: those of IMPI
// between clients (ours if it is an extension), others inside. Each shape comes twice: at once and recorded.
func everywhere(t *testing.T, extension bool, f func(c *colltest.Comm, s setting, sh shape) error) {
	onAll(t, extension, false, f)
}

func onAll(t *testing.T, extension, twice bool, f func(c *colltest.Comm, s setting, sh shape) error) {
	t.Parallel()
	for m := 1; m <= mostClients(); m++ {
		for style := range 3 {
			client := clients(m, style)
			w := colltest.New(len(client))
			w.Client, w.Log, w.Twice = client, true, twice
			l, err := span.NewLayout(client, 100, -1)
			if err != nil {
				t.Fatal(err)
			}
			together(t, m, style, twice, f)
			for i, sh := range append(shapes, shapes...) {
				if w.Recorded = i >= len(shapes); (m+style+i)%sampling(m) != 0 {
					continue
				}
				s := setting{client, l, len(client)}
				if err := w.Run(func(c *colltest.Comm) error { return f(c, s, sh) }); err != nil {
					t.Fatalf("%d clients %v, count=%d size=%d: %v", m, client, sh.count, sh.typ.Size(), err)
				}
				for _, msg := range w.Messages() {
					inside := client[msg.Src] == client[msg.Dst]
					if (inside || extension) != (msg.Tag >= 1000) {
						t.Fatalf("%d clients %v: message %+v", m, client, msg)
					}
				}
			}
		}
	}
}

// together runs f where all clients are libimpi's and alike: each on one machine, then on several of one or two ranks.
func together(t *testing.T, m, style int, twice bool, f func(c *colltest.Comm, s setting, sh shape) error) {
	t.Helper()
	client := clients(m, style)
	machine := make([]int32, len(client))
	for r := range machine {
		machine[r] = 2*client[r] + int32(r%2)
	}
	long := []shape{{5003, colltest.Gapped}, {11_001, colltest.Double}}
	for i, sh := range append(long[:2*min(1, m%4)], shapes...) { // long ones for most numbers
		if (m+style+i)%sampling(m) != 0 {
			continue
		}
		w := colltest.New(len(client))
		w.Log, w.Twice, w.Recorded, w.Eager = true, twice, i%2 == 0, int64(i%3*500)
		l, err := span.NewLayout(client, 100, -1)
		if err != nil {
			t.Fatal(err)
		}
		if l.Own, l.Native = true, true; i%3 == 0 {
			l.Place(nil)
		} else {
			l.Place(machine)
		}
		if err := w.Run(func(c *colltest.Comm) error { return f(c, setting{client, l, len(client)}, sh) }); err != nil {
			t.Fatalf("clients %v together, count=%d size=%d: %v", client, sh.count, sh.typ.Size(), err)
		}
	}
}

// rooted tries a master, the last rank, and a rank that is not a master, if there is one.
func rooted(t *testing.T, f func(c *colltest.Comm, s setting, sh shape, root int) error) {
	onAll(t, false, true, func(c *colltest.Comm, s setting, sh shape) error {
		for _, root := range []int{0, s.p - 1, s.p * 2 / 3} {
			if err := f(c, s, sh, root); err != nil {
				return fmt.Errorf("root=%d: %w", root, err)
			}
		}
		return nil
	})
}

func TestBarrierHoldsEverybodyUntilAllHaveEntered(t *testing.T) {
	t.Parallel()
	for m := 1; m <= 9; m++ {
		for i, maxLinear := range []int64{-1, 0, 1, 100, 100} {
			client := clients(m, m%3)
			w := colltest.New(len(client))
			l, err := span.NewLayout(client, -1, maxLinear)
			if err != nil {
				t.Fatal(err)
			}
			l.Own = i == 4
			entered := make(chan int, len(client))
			if err := w.Run(func(c *colltest.Comm) error {
				entered <- c.Rank()
				if err := span.Barrier(c, l); err != nil {
					return err
				}
				if len(entered) != len(client) {
					return fmt.Errorf("left when %d had entered", len(entered))
				}
				return nil
			}); err != nil {
				t.Fatalf("%d clients: %v", m, err)
			}
		}
	}
}

func TestBcast(t *testing.T) {
	rooted(t, func(c *colltest.Comm, s setting, sh shape, root int) error {
		return colltest.TryBcast(c, root, sh.count, sh.typ, func(b coll.Buf) error {
			return span.Bcast(c, s.l, b, root)
		})
	})
}

func TestGather(t *testing.T) {
	rooted(t, func(c *colltest.Comm, s setting, sh shape, root int) error {
		return colltest.TryGather(c, root, sh.count, sh.typ, func(out, in coll.Buf) error {
			return span.Gather(c, s.l, out, in, root)
		})
	})
}

// external32 has 4 bytes for MPI_LONG.
func TestWhereAllAreAlikeNoValueIsTooLarge(t *testing.T) {
	t.Parallel()
	client := []int32{0, 0, 1, 1, 2}
	l, err := span.NewLayout(client, 100, -1)
	if err != nil {
		t.Fatal(err)
	}
	l.Native = true
	value := func(rank int) []byte { return binary.NativeEndian.AppendUint64(nil, 1<<40+uint64(rank)) }
	if err := colltest.New(len(client)).Run(func(c *colltest.Comm) error {
		own, all := colltest.NewMem(1, colltest.Long), colltest.NewMem(int64(len(client)), colltest.Long)
		own.Put(0, value(c.Rank()))
		if err := span.Allgather(c, l, own.Of(1), all.Of(1)); err != nil {
			return err
		}
		for r := range client {
			if err := all.Expect("gathered", int64(r), value(r)); err != nil {
				return err
			}
		}
		if err := span.Scatter(c, l, all.Of(1), own.Of(1), 2); err != nil {
			return err
		}
		return own.Expect("scattered", 0, value(c.Rank()))
	}); err != nil {
		t.Fatal(err)
	}
}

func TestScatter(t *testing.T) {
	rooted(t, func(c *colltest.Comm, s setting, sh shape, root int) error {
		return colltest.TryScatter(c, root, sh.count, sh.typ, func(out, in coll.Buf) error {
			return span.Scatter(c, s.l, out, in, root)
		})
	})
}

func TestGatherv(t *testing.T) {
	rooted(t, func(c *colltest.Comm, s setting, sh shape, root int) error {
		return colltest.TryGatherv(c, root, sh.count, sh.typ, func(out coll.Buf, in coll.VBuf) error {
			return span.Gatherv(c, s.l, out, in, root)
		})
	})
}

func TestScatterv(t *testing.T) {
	rooted(t, func(c *colltest.Comm, s setting, sh shape, root int) error {
		return colltest.TryScatterv(c, root, sh.count, sh.typ, func(out coll.VBuf, in coll.Buf) error {
			return span.Scatterv(c, s.l, out, in, root)
		})
	})
}

func TestAllgather(t *testing.T) {
	everywhere(t, false, func(c *colltest.Comm, s setting, sh shape) error {
		return colltest.TryAllgather(c, sh.count, sh.typ, func(out, in coll.Buf) error {
			return span.Allgather(c, s.l, out, in)
		})
	})
}

func TestAllgatherv(t *testing.T) {
	everywhere(t, false, func(c *colltest.Comm, s setting, sh shape) error {
		return colltest.TryAllgatherv(c, sh.count, sh.typ, func(out coll.Buf, in coll.VBuf) error {
			return span.Allgatherv(c, s.l, out, in)
		})
	})
}

func TestAlltoall(t *testing.T) {
	everywhere(t, false, func(c *colltest.Comm, s setting, sh shape) error {
		sh.count = min(sh.count, 100)
		return colltest.TryAlltoall(c, sh.count, sh.typ, func(out, in coll.Buf) error {
			return span.Alltoall(c, s.l, out, in)
		})
	})
}

func TestAlltoallReceiverMajor(t *testing.T) {
	t.Parallel()
	client := []int32{0, 1, 0, 1, 1, 2}
	w := colltest.New(len(client))
	w.Client = client
	l, err := span.NewLayout(client, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	l.ReceiverMajor = true
	if err := w.Run(func(c *colltest.Comm) error {
		send, recv := colltest.NewMem(6, colltest.Int), colltest.NewMem(6, colltest.Int)
		for i := range 6 {
			send.Put(int64(i), colltest.Pattern(1, colltest.Int, c.Rank(), i))
		}
		if err := span.Alltoall(c, l, send.Of(1), recv.Of(1)); err != nil {
			return err
		}
		for i := range 6 {
			if err := recv.Expect("alltoall", int64(i), colltest.Pattern(1, colltest.Int, i, c.Rank())); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func exchange(c *colltest.Comm, s setting, sh shape, inPlace, w bool) error {
	sc, sd, sroom := colltest.Matrix(s.p, c.Rank(), sh.count, true, inPlace)
	rc, rd, rroom := colltest.Matrix(s.p, c.Rank(), sh.count, false, inPlace)
	send, recv := colltest.NewMem(sroom, sh.typ), colltest.NewMem(rroom, sh.typ)
	from := send
	if inPlace {
		from = recv
	}
	for i := range s.p {
		from.Put(sd[i], colltest.Pattern(sc[i], sh.typ, c.Rank(), i))
	}
	var err error
	if w {
		types, sb, rb := make([]*datatype.Type, s.p), make([]int64, s.p), make([]int64, s.p)
		for i := range types {
			types[i], sb[i], rb[i] = sh.typ, sd[i]*sh.typ.Extent(), rd[i]*sh.typ.Extent()
		}
		out := coll.WBuf{Base: send.Base, Counts: sc, Displs: sb, Types: types}
		if inPlace {
			out = coll.InPlaceW()
		}
		in := coll.WBuf{Base: recv.Base, Counts: rc, Displs: rb, Types: types}
		err = c.Call(func() error { return span.Alltoallw(c, s.l, out, in) })
	} else {
		out := send.V(sc, sd)
		if inPlace {
			out = coll.InPlaceV()
		}
		err = c.Call(func() error { return span.Alltoallv(c, s.l, out, recv.V(rc, rd)) })
	}
	for i := 0; err == nil && i < s.p; i++ {
		err = recv.Expect("exchange", rd[i], colltest.Pattern(rc[i], sh.typ, i, c.Rank()))
	}
	return err
}

func TestAlltoallv(t *testing.T) {
	everywhere(t, false, func(c *colltest.Comm, s setting, sh shape) error {
		sh.count = min(sh.count, 100)
		return colltest.First(exchange(c, s, sh, false, false), exchange(c, s, sh, true, false))
	})
}

func TestAlltoallw(t *testing.T) {
	everywhere(t, true, func(c *colltest.Comm, s setting, sh shape) error {
		sh.count = min(sh.count, 100)
		return colltest.First(exchange(c, s, sh, false, true), exchange(c, s, sh, true, true))
	})
}

// vector is what a reduction is tried with: see the tests of package coll.
type vector struct {
	count    int64
	typ      *datatype.Type
	commutes bool
}

func (v vector) maps(n int64, r int) []byte {
	m := colltest.Maps(n, r)
	for i := 0; v.commutes && i < len(m); i += 8 {
		binary.NativeEndian.PutUint32(m[i:], 1)
	}
	return m
}

func (v vector) combined(n int64, from, to int) []byte {
	acc := v.maps(n, from)
	for r := from + 1; r < to; r++ {
		acc = colltest.ComposePacked(acc, v.maps(n, r))
	}
	return acc
}

func (v vector) ends(n int64, r int, inPlace bool) (send coll.Buf, recv *colltest.Mem) {
	from, to := v.typ, v.typ
	if v.typ == colltest.Map && r%2 == 0 { // some have sections
		from, to = colltest.MapTorn, colltest.MapRows
	}
	s, recv := colltest.NewMem(n, from), colltest.NewMem(n, to)
	if inPlace {
		recv.Put(0, v.maps(n, r))
		return coll.InPlace(), recv
	}
	s.Put(0, v.maps(n, r))
	return s.Buf, recv
}

func reductions(t *testing.T, extension bool,
	f func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error) {
	everywhere(t, extension, func(c *colltest.Comm, s setting, sh shape) error {
		v := vector{sh.count, colltest.MapGapped, sh.count%2 == 0}
		switch sh.count {
		case 3:
			v.typ = colltest.MapBelow
		case 5, 900:
			v.typ = colltest.Map
		}
		for _, inPlace := range []bool{false, true} {
			for _, v.commutes = range []bool{false, true} {
				if err := f(c, s, v, colltest.Affine{Commutes: v.commutes}, inPlace); err != nil {
					return fmt.Errorf("inPlace=%v commutes=%v: %w", inPlace, v.commutes, err)
				}
			}
		}
		return nil
	})
}

func TestReduce(t *testing.T) {
	reductions(t, false, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		for _, root := range []int{0, s.p - 1, s.p * 2 / 3} {
			send, recv := v.ends(v.count, c.Rank(), inPlace && c.Rank() == root)
			if err := c.Call(func() error { return span.Reduce(c, s.l, send, recv.Buf, o, root) }); err != nil {
				return err
			}
			if c.Rank() == root {
				if err := colltest.First(recv.Expect("reduce", 0, v.combined(v.count, 0, s.p)), recv.ExpectGaps()); err != nil {
					return fmt.Errorf("root=%d: %w", root, err)
				}
			}
		}
		return nil
	})
}

func TestAllreduce(t *testing.T) {
	reductions(t, false, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		send, recv := v.ends(v.count, c.Rank(), inPlace)
		return colltest.First(c.Call(func() error { return span.Allreduce(c, s.l, send, recv.Buf, o) }),
			recv.Expect("allreduce", 0, v.combined(v.count, 0, s.p)), recv.ExpectGaps())
	})
}

func TestAllreduceOfOwnClients(t *testing.T) {
	reductions(t, true, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		own := *s.l
		own.Own = true
		send, recv := v.ends(v.count, c.Rank(), inPlace)
		return colltest.First(c.Call(func() error { return span.Allreduce(c, &own, send, recv.Buf, o) }),
			recv.Expect("allreduce", 0, v.combined(v.count, 0, s.p)), recv.ExpectGaps())
	})
}

func TestScan(t *testing.T) {
	reductions(t, false, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		send, recv := v.ends(v.count, c.Rank(), inPlace)
		return colltest.First(c.Call(func() error { return span.Scan(c, s.l, send, recv.Buf, o) }),
			recv.Expect("scan", 0, v.combined(v.count, 0, c.Rank()+1)), recv.ExpectGaps())
	})
}

func TestExscan(t *testing.T) {
	reductions(t, true, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		send, recv := v.ends(v.count, c.Rank(), inPlace)
		want := recv.Get(0, v.count)
		if c.Rank() > 0 {
			want = v.combined(v.count, 0, c.Rank())
		}
		return colltest.First(c.Call(func() error { return span.Exscan(c, s.l, send, recv.Buf, o) }),
			recv.Expect("exscan", 0, want), recv.ExpectGaps())
	})
}

func TestReduceScatter(t *testing.T) {
	reductions(t, false, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		r, counts, at, total := c.Rank(), make([]int64, s.p), int64(0), int64(0)
		for i := range counts {
			counts[i] = min(v.count, 30) * int64(i%3)
			if i < r {
				at += counts[i]
			}
			total += counts[i]
		}
		all := v.combined(total, 0, s.p)
		send, recv := v.ends(total, r, inPlace)
		return colltest.First(c.Call(func() error { return span.ReduceScatter(c, s.l, send, recv.Of(counts[r]), counts, o) }),
			recv.Expect("reduce_scatter", 0, all[at*8:(at+counts[r])*8]))
	})
}

func TestReduceScatterBlock(t *testing.T) {
	reductions(t, true, func(c *colltest.Comm, s setting, v vector, o coll.Op, inPlace bool) error {
		r, block := int64(c.Rank()), min(v.count, 200)
		all := v.combined(block*int64(s.p), 0, s.p)
		send, recv := v.ends(block*int64(s.p), c.Rank(), inPlace)
		return colltest.First(c.Call(func() error { return span.ReduceScatterBlock(c, s.l, send, recv.Of(block), o) }),
			recv.Expect("block", 0, all[r*block*8:(r+1)*block*8]))
	})
}
