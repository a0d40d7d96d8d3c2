package colltest

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Trials of the operations that move data, for the tests of packages coll and coll/span. A trial fills the buffers of
// one rank with Pattern, runs the operation on them, and checks what has come and that nothing between was touched. It
// runs the operation twice, not in place and in place, where MPI knows that. Buffers that are significant at root only
// are empty elsewhere, as MPI allows (MPI 5.0, 6.5 to 6.8).
//
// Counts are elements of typ in one block. All ranks must call the same trial with the same count and root.

// First returns the first error that is not nil.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Layout returns counts and displacements of p blocks, in elements, for a v-variant: uneven, some empty, in reverse
// order with a gap of one element between them. room is how many elements they take.
func Layout(p int, count int64) (counts, displs []int64, room int64) {
	counts, displs = make([]int64, p), make([]int64, p)
	for i := p - 1; i >= 0; i-- {
		counts[i] = count * int64((i+2)%3) / 2
		displs[i] = room
		room += counts[i] + 1
	}
	return counts, displs, room
}

// blocks are the patterns from all ranks to rank `to` in m: counts[i] elements at displs[i].
func (m *Mem) blocks(what string, counts, displs []int64, typ *datatype.Type, to int) error {
	for i := range counts {
		if err := m.Expect(what, displs[i], Pattern(counts[i], typ, i, to)); err != nil {
			return err
		}
	}
	return m.ExpectGaps()
}

// regular are counts and displacements of p blocks of count elements without gaps.
func regular(p int, count int64) (counts, displs []int64) {
	counts, displs = make([]int64, p), make([]int64, p)
	for i := range p {
		counts[i], displs[i] = count, int64(i)*count
	}
	return counts, displs
}

// TryBcast tries a broadcast.
func TryBcast(c *Comm, root int, count int64, typ *datatype.Type, bcast func(b coll.Buf) error) error {
	m, want := NewMem(count, typ), Pattern(count, typ, root, 0)
	if c.Rank() == root {
		m.Put(0, want)
	}
	return First(c.Call(func() error { return bcast(m.Buf) }), m.Expect("bcast", 0, want), m.ExpectGaps())
}

// TryGather tries a gather.
func TryGather(c *Comm, root int, count int64, typ *datatype.Type, gather func(out, in coll.Buf) error) error {
	counts, displs := regular(c.Size(), count)
	for _, inPlace := range []bool{false, true} {
		own := Pattern(count, typ, c.Rank(), root)
		send, recv := NewMem(count, typ), NewMem(int64(c.Size())*count, typ)
		send.Put(0, own)
		out, in := send.Buf, coll.Buf{}
		if c.Rank() == root {
			in = recv.Of(count)
			if inPlace {
				recv.Put(displs[root], own)
				out = coll.InPlace()
			}
		}
		if err := c.Call(func() error { return gather(out, in) }); err != nil {
			return err
		}
		if c.Rank() != root {
			continue
		}
		if err := recv.blocks("gather", counts, displs, typ, root); err != nil {
			return err
		}
	}
	return nil
}

// TryScatter tries a scatter.
func TryScatter(c *Comm, root int, count int64, typ *datatype.Type, scatter func(out, in coll.Buf) error) error {
	for _, inPlace := range []bool{false, true} {
		send, recv := NewMem(int64(c.Size())*count, typ), NewMem(count, typ)
		out, in := coll.Buf{}, recv.Buf
		if c.Rank() == root {
			out = send.Of(count)
			for i := range c.Size() {
				send.Put(int64(i)*count, Pattern(count, typ, root, i))
			}
			if inPlace {
				in = coll.InPlace()
			}
		}
		if err := c.Call(func() error { return scatter(out, in) }); err != nil {
			return err
		}
		if in.IsInPlace() {
			continue
		}
		want := Pattern(count, typ, root, c.Rank())
		if err := First(recv.Expect("scatter", 0, want), recv.ExpectGaps()); err != nil {
			return err
		}
	}
	return nil
}

// TryGatherv tries a gather of blocks of Layout.
func TryGatherv(c *Comm, root int, count int64, typ *datatype.Type,
	gatherv func(out coll.Buf, in coll.VBuf) error) error {
	counts, displs, room := Layout(c.Size(), count)
	for _, inPlace := range []bool{false, true} {
		own := Pattern(counts[c.Rank()], typ, c.Rank(), root)
		send, recv := NewMem(counts[c.Rank()], typ), NewMem(room, typ)
		send.Put(0, own)
		out, in := send.Buf, coll.VBuf{}
		if c.Rank() == root {
			in = recv.V(counts, displs)
			if inPlace {
				recv.Put(displs[root], own)
				out = coll.InPlace()
			}
		}
		if err := c.Call(func() error { return gatherv(out, in) }); err != nil {
			return err
		}
		if c.Rank() != root {
			continue
		}
		if err := recv.blocks("gatherv", counts, displs, typ, root); err != nil {
			return err
		}
	}
	return nil
}

// TryScatterv tries a scatter of blocks of Layout.
func TryScatterv(c *Comm, root int, count int64, typ *datatype.Type,
	scatterv func(out coll.VBuf, in coll.Buf) error) error {
	counts, displs, room := Layout(c.Size(), count)
	mine := counts[c.Rank()]
	for _, inPlace := range []bool{false, true} {
		send, recv := NewMem(room, typ), NewMem(mine, typ)
		out, in := coll.VBuf{}, recv.Buf
		if c.Rank() == root {
			out = send.V(counts, displs)
			for i := range c.Size() {
				send.Put(displs[i], Pattern(counts[i], typ, root, i))
			}
			if inPlace {
				in = coll.InPlace()
			}
		}
		if err := c.Call(func() error { return scatterv(out, in) }); err != nil {
			return err
		}
		if in.IsInPlace() {
			continue
		}
		want := Pattern(mine, typ, root, c.Rank())
		if err := First(recv.Expect("scatterv", 0, want), recv.ExpectGaps()); err != nil {
			return err
		}
	}
	return nil
}

// TryAllgather tries an allgather.
func TryAllgather(c *Comm, count int64, typ *datatype.Type, allgather func(out, in coll.Buf) error) error {
	counts, displs := regular(c.Size(), count)
	for _, inPlace := range []bool{false, true} {
		own := Pattern(count, typ, c.Rank(), 0)
		send, recv := NewMem(count, typ), NewMem(int64(c.Size())*count, typ)
		send.Put(0, own)
		out := send.Buf
		if inPlace {
			recv.Put(displs[c.Rank()], own)
			out = coll.InPlace()
		}
		if err := First(c.Call(func() error { return allgather(out, recv.Of(count)) }),
			recv.blocks("allgather", counts, displs, typ, 0)); err != nil {
			return err
		}
	}
	return nil
}

// TryAllgatherv tries an allgather of blocks of Layout. Odd ranks keep the blocks in order and without gaps.
func TryAllgatherv(c *Comm, count int64, typ *datatype.Type,
	allgatherv func(out coll.Buf, in coll.VBuf) error) error {
	counts, displs, room := Layout(c.Size(), count)
	if c.Rank()%2 == 1 {
		at := int64(0)
		for i := range displs {
			displs[i], at = at, at+counts[i]
		}
	}
	for _, inPlace := range []bool{false, true} {
		own := Pattern(counts[c.Rank()], typ, c.Rank(), 0)
		send, recv := NewMem(counts[c.Rank()], typ), NewMem(room, typ)
		send.Put(0, own)
		out := send.Buf
		if inPlace {
			recv.Put(displs[c.Rank()], own)
			out = coll.InPlace()
		}
		if err := c.Call(func() error { return allgatherv(out, recv.V(counts, displs)) }); err != nil {
			return err
		}
		if err := recv.blocks("allgatherv", counts, displs, typ, 0); err != nil {
			return err
		}
	}
	return nil
}

// TryAlltoall tries an exchange of blocks of equal length.
func TryAlltoall(c *Comm, count int64, typ *datatype.Type, alltoall func(out, in coll.Buf) error) error {
	counts, displs := regular(c.Size(), count)
	for _, inPlace := range []bool{false, true} {
		send, recv := NewMem(int64(c.Size())*count, typ), NewMem(int64(c.Size())*count, typ)
		from, out := send, send.Of(count)
		if inPlace {
			from, out = recv, coll.InPlace()
		}
		for i := range c.Size() {
			from.Put(displs[i], Pattern(count, typ, c.Rank(), i))
		}
		if err := c.Call(func() error { return alltoall(out, recv.Of(count)) }); err != nil {
			return err
		}
		if err := recv.blocks("alltoall", counts, displs, typ, c.Rank()); err != nil {
			return err
		}
	}
	return nil
}

// Matrix is the layout of rank r in an exchange of uneven blocks among p ranks, in elements: of what it sends, or of
// what it gets. It is symmetric if the exchange is to be done in place.
func Matrix(p, r int, count int64, send, symmetric bool) (counts, displs []int64, room int64) {
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
