package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Collective operations on a communicator whose members are not alike. One member may give packed what another one
// gets as what it is (MPI_PACKED, MPI 5.0, 5.2), and what MPI_Pack makes there is external32. So all of them carry out
// the operation on external32: each packs what it gives that looks different in memory, and unpacks what it has got.
// The messages between clients are those of IMPI all the same, and all members see blocks of the same length, which is
// what algorithms are chosen by. Reductions are not among them: packed data cannot be combined.

// converts reports whether the operation is one of these. It is not when it has been converted.
func (v Collectives) converts() bool { return !v.c.native && !v.converted }

// external is one operation. It is carried out by operations that have been converted.
type external struct {
	Collectives
	memory *coll.Scratch
}

func (v Collectives) external() external {
	v.converted = true
	return external{v, v.on.Scratch()}
}

// isRoot reports whether this member is the root of an operation.
func (x *external) isRoot(root int) bool {
	if x.c.inter.local != nil {
		return root == isRoot
	}
	return root == int(x.c.rank)
}

// isLeaf reports whether the root gives data to it, or gets data from it. On an intracommunicator the root is such a
// member, too.
func (x *external) isLeaf(root int) bool { return x.c.inter.local == nil || root >= 0 }

// packedBuf is a buffer in external32. Its memory is nil if the buffer itself is that.
type packedBuf struct {
	coll.Buf
	of     coll.Buf
	packed []byte
}

// room makes the packed form of a buffer, without the data.
func (x *external) room(b coll.Buf) (f packedBuf, err error) {
	f = packedBuf{Buf: b, of: b}
	if b.IsInPlace() || b.Count == 0 || b.Type.Portable() {
		return f, nil
	}
	if f.packed, err = x.memory.Alloc(b.Type.PackedSize(b.Count, datatype.External32)); err == nil {
		f.Buf = coll.Bytes(f.packed)
	}
	return f, err
}

// pack makes the packed form of a buffer.
func (x *external) pack(b coll.Buf) (f packedBuf, err error) {
	if f, err = x.room(b); err == nil && f.packed != nil {
		err = x.on.Pack(f.packed, b, datatype.External32)
	}
	return f, err
}

// unpack puts what has come where it belongs.
func (x *external) unpack(f packedBuf) error {
	if f.packed == nil {
		return nil
	}
	return x.on.Unpack(f.of, f.packed, datatype.External32)
}

// packedBlocks are a block for each rank, in external32, one after the other. They are the buffer itself if at is nil.
type packedBlocks struct {
	of     coll.Blocks
	packed []byte
	at     []int64 // where the blocks begin, and the last one ends
}

// blocks makes room for n blocks, of which those for which it is told to are left out.
func (x *external) blocks(of coll.Blocks, n int, leftOut func(i int) bool) (b packedBlocks, err error) {
	b.of = of
	at, portable := make([]int64, n+1), true
	for i := range n {
		at[i+1] = at[i]
		if leftOut != nil && leftOut(i) {
			continue
		}
		if block := of.At(i); block.Count > 0 {
			at[i+1] += block.Type.PackedSize(block.Count, datatype.External32)
			portable = portable && block.Type.Portable()
		}
	}
	if portable {
		return b, nil
	}
	b.at = at
	b.packed, err = x.memory.Alloc(at[n])
	return b, err
}

// packBlock packs a block, and unpackBlock puts one where it belongs.
func (x *external) packBlock(b *packedBlocks, i int) error {
	if b.at == nil || b.at[i] == b.at[i+1] {
		return nil
	}
	return x.on.Pack(b.packed[b.at[i]:b.at[i+1]], b.of.At(i), datatype.External32)
}

func (x *external) unpackBlock(b *packedBlocks, i int) error {
	if b.at == nil || b.at[i] == b.at[i+1] {
		return nil
	}
	return x.on.Unpack(b.of.At(i), b.packed[b.at[i]:b.at[i+1]], datatype.External32)
}

// each calls one of these for all blocks.
func (b *packedBlocks) each(f func(b *packedBlocks, i int) error) error {
	for i := range max(0, len(b.at)-1) {
		if err := f(b, i); err != nil {
			return err
		}
	}
	return nil
}

// even, varying and differing are the blocks as a buffer of the kind that they have been made of.
func (b *packedBlocks) even(buf coll.Buf) coll.Buf {
	if b.at == nil {
		return buf
	}
	whole := coll.Bytes(b.packed)
	whole.Count = b.at[1]
	return whole
}

func (b *packedBlocks) varying(v coll.VBuf) coll.VBuf {
	if b.at == nil {
		return v
	}
	sizes := make([]int64, len(b.at)-1)
	for i := range sizes {
		sizes[i] = b.at[i+1] - b.at[i]
	}
	whole := coll.Bytes(b.packed)
	return coll.VBuf{Base: whole.Base, Counts: sizes, Displs: b.at[:len(sizes)], Type: whole.Type}
}

func (b *packedBlocks) differing(w coll.WBuf) coll.WBuf {
	if b.at == nil {
		return w
	}
	v := b.varying(coll.VBuf{})
	types := make([]*datatype.Type, len(v.Counts))
	for i := range types {
		types[i] = v.Type
	}
	return coll.WBuf{Base: v.Base, Counts: v.Counts, Displs: v.Displs, Types: types}
}

func (v Collectives) externalBcast(b coll.Buf, root int) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	if v.c.inter.local != nil && root == abi.MPI_PROC_NULL {
		return x.Bcast(b, root)
	}
	var f packedBuf
	if x.isRoot(root) {
		if f, err = x.pack(b); err != nil {
			return err
		}
		err = x.Bcast(f.Buf, root)
		return err
	}
	if f, err = x.room(b); err != nil {
		return err
	}
	if err = x.Bcast(f.Buf, root); err != nil {
		return err
	}
	err = x.unpack(f)
	return err
}

func (v Collectives) externalGather(send, recv coll.Buf, root int) error {
	return v.gatherExternal(send, coll.Even(recv), root, func(x *external, send coll.Buf, b *packedBlocks) error {
		return x.Gather(send, b.even(recv), root)
	})
}

func (v Collectives) externalGatherv(send coll.Buf, recv coll.VBuf, root int) error {
	return v.gatherExternal(send, coll.Varying(recv), root, func(x *external, send coll.Buf, b *packedBlocks) error {
		return x.Gatherv(send, b.varying(recv), root)
	})
}

// gatherExternal is Gather and Gatherv; run carries it out.
func (v Collectives) gatherExternal(send coll.Buf, recv coll.Blocks, root int,
	run func(x *external, send coll.Buf, recv *packedBlocks) error) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	var in packedBlocks
	if x.isRoot(root) {
		if in, err = x.blocks(recv, v.c.Ranks(), nil); err != nil {
			return err
		}
		if send.IsInPlace() {
			if err = x.packBlock(&in, root); err != nil {
				return err
			}
		}
	}
	out := packedBuf{Buf: send}
	if x.isLeaf(root) {
		if out, err = x.pack(send); err != nil {
			return err
		}
	}
	if err = run(&x, out.Buf, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

func (v Collectives) externalScatter(send, recv coll.Buf, root int) error {
	return v.scatterExternal(coll.Even(send), recv, root, func(x *external, b *packedBlocks, recv coll.Buf) error {
		return x.Scatter(b.even(send), recv, root)
	})
}

func (v Collectives) externalScatterv(send coll.VBuf, recv coll.Buf, root int) error {
	return v.scatterExternal(coll.Varying(send), recv, root, func(x *external, b *packedBlocks, recv coll.Buf) error {
		return x.Scatterv(b.varying(send), recv, root)
	})
}

// scatterExternal is Scatter and Scatterv.
func (v Collectives) scatterExternal(send coll.Blocks, recv coll.Buf, root int,
	run func(x *external, send *packedBlocks, recv coll.Buf) error) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	var out packedBlocks
	if x.isRoot(root) {
		if out, err = x.blocks(send, v.c.Ranks(), nil); err == nil {
			err = out.each(x.packBlock)
		}
		if err != nil {
			return err
		}
	}
	in := packedBuf{Buf: recv}
	if x.isLeaf(root) {
		if in, err = x.room(recv); err != nil {
			return err
		}
	}
	if err = run(&x, &out, in.Buf); err != nil {
		return err
	}
	err = x.unpack(in)
	return err
}

func (v Collectives) externalAllgather(send, recv coll.Buf) error {
	return v.allgatherExternal(send, coll.Even(recv), func(x *external, send coll.Buf, b *packedBlocks) error {
		return x.Allgather(send, b.even(recv))
	})
}

func (v Collectives) externalAllgatherv(send coll.Buf, recv coll.VBuf) error {
	return v.allgatherExternal(send, coll.Varying(recv), func(x *external, send coll.Buf, b *packedBlocks) error {
		return x.Allgatherv(send, b.varying(recv))
	})
}

// allgatherExternal is Allgather and Allgatherv.
func (v Collectives) allgatherExternal(send coll.Buf, recv coll.Blocks,
	run func(x *external, send coll.Buf, recv *packedBlocks) error) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	in, err := x.blocks(recv, v.c.Ranks(), nil)
	if err == nil && send.IsInPlace() {
		err = x.packBlock(&in, int(v.c.rank))
	}
	if err != nil {
		return err
	}
	out, err := x.pack(send)
	if err != nil {
		return err
	}
	if err = run(&x, out.Buf, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

func (v Collectives) externalAlltoall(send, recv coll.Buf) error {
	return v.alltoallExternal(send.IsInPlace(), coll.Even(send), coll.Even(recv),
		func(x *external, out, in *packedBlocks) error { return x.Alltoall(out.even(send), in.even(recv)) })
}

func (v Collectives) externalAlltoallv(send, recv coll.VBuf) error {
	return v.alltoallExternal(send.IsInPlace(), coll.Varying(send), coll.Varying(recv),
		func(x *external, out, in *packedBlocks) error {
			return x.Alltoallv(out.varying(send), in.varying(recv))
		})
}

func (v Collectives) externalAlltoallw(send, recv coll.WBuf) error {
	return v.alltoallExternal(send.IsInPlace(), coll.Each(send), coll.Each(recv),
		func(x *external, out, in *packedBlocks) error {
			return x.Alltoallw(out.differing(send), in.differing(recv))
		})
}

// alltoallExternal is Alltoall, Alltoallv and Alltoallw.
func (v Collectives) alltoallExternal(inPlace bool, send, recv coll.Blocks,
	run func(x *external, send, recv *packedBlocks) error) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	n := v.c.Ranks()
	in, err := x.blocks(recv, n, nil)
	if err != nil {
		return err
	}
	var out packedBlocks
	if inPlace {
		err = in.each(x.packBlock)
	} else if out, err = x.blocks(send, n, nil); err == nil {
		err = out.each(x.packBlock)
	}
	if err != nil {
		return err
	}
	if err = run(&x, &out, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

// externalNeighbors leaves alone what belongs to MPI_PROC_NULL.
func (v Collectives) externalNeighbors(send, recv coll.Blocks, edges *coll.Edges) (err error) {
	x := v.external()
	defer x.memory.Done(&err)
	out, err := x.blocks(send, len(edges.Out), func(i int) bool { return edges.Out[i] < 0 })
	if err == nil {
		err = out.each(x.packBlock)
	}
	if err != nil {
		return err
	}
	in, err := x.blocks(recv, len(edges.In), func(i int) bool { return edges.In[i] < 0 })
	if err != nil {
		return err
	}
	if out.at != nil {
		send = coll.Varying(out.varying(coll.VBuf{}))
	}
	if in.at != nil {
		recv = coll.Varying(in.varying(coll.VBuf{}))
	}
	if err = coll.Neighbors(x.on, edges, &send, &recv); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}
