// Package external carries out collective operations on a communicator whose members are not alike. One member may give
// packed what another one gets as what it is (MPI_PACKED, MPI 5.0, 5.2), and what MPI_Pack makes there is external32.
// So all of them carry out the operation on external32:
//
//	what the member gives -> packed, if it looks different in memory -> the operation on bytes -> unpacked
//
// The messages between clients are those of IMPI all the same, and all members see blocks of the same length, which is
// what algorithms are chosen by. Reductions are not among them: packed data cannot be combined.
package external

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
)

// Operations carry out an operation on packed data. They block, or are recorded, as the caller's do.
type Operations interface {
	Rooted
	Symmetric
}

// Rooted are operations with a root.
type Rooted interface {
	Bcast(b coll.Buf, root int) error
	Gather(send, recv coll.Buf, root int) error
	Gatherv(send coll.Buf, recv coll.VBuf, root int) error
	Scatter(send, recv coll.Buf, root int) error
	Scatterv(send coll.VBuf, recv coll.Buf, root int) error
}

// Symmetric are operations in which all members give, and all get.
type Symmetric interface {
	Allgather(send, recv coll.Buf) error
	Allgatherv(send coll.Buf, recv coll.VBuf) error
	Alltoall(send, recv coll.Buf) error
	Alltoallv(send, recv coll.VBuf) error
	Alltoallw(send, recv coll.WBuf) error
}

// Call is a call of an operation. Its methods are those of the caller, on data of any type.
type Call struct {
	packed Operations
	on     coll.Comm
	ranks  int  // whom data comes from and goes to: of an intercommunicator, the other group
	inter  bool // it is an intercommunicator: MPI_ROOT is the root
	memory *coll.Scratch
}

// NewCall begins a call. on packs and unpacks, and has the memory of packed data, which is kept until the operation is
// over.
func NewCall(packed Operations, on coll.Comm, ranks int, inter bool) *Call {
	return &Call{packed: packed, on: on, ranks: ranks, inter: inter, memory: on.Scratch()}
}

// isRoot reports whether this member is the root of an operation.
func (x *Call) isRoot(root int) bool {
	if x.inter {
		return root == abi.MPI_ROOT
	}
	return root == x.on.Rank()
}

// isLeaf reports whether the root gives data to it, or gets data from it. On an intracommunicator the root is such a
// member, too.
func (x *Call) isLeaf(root int) bool { return !x.inter || root >= 0 }

// Bcast is the operation on data of any type, as the following are.
func (x *Call) Bcast(b coll.Buf, root int) (err error) {
	defer x.memory.Done(&err)
	if x.inter && root == abi.MPI_PROC_NULL {
		return x.packed.Bcast(b, root)
	}
	var f packedBuf
	if x.isRoot(root) {
		if f, err = x.pack(b); err != nil {
			return err
		}
		err = x.packed.Bcast(f.Buf, root)
		return err
	}
	if f, err = x.room(b); err != nil {
		return err
	}
	if err = x.packed.Bcast(f.Buf, root); err != nil {
		return err
	}
	err = x.unpack(f)
	return err
}

// Gather packs what a member gives, and unpacks at the root.
func (x *Call) Gather(send, recv coll.Buf, root int) error {
	return x.gather(send, coll.Even(recv), root, func(send coll.Buf, b *packedBlocks) error {
		return x.packed.Gather(send, b.even(recv), root)
	})
}

// Gatherv does so with a count for each rank.
func (x *Call) Gatherv(send coll.Buf, recv coll.VBuf, root int) error {
	return x.gather(send, coll.Varying(recv), root, func(send coll.Buf, b *packedBlocks) error {
		return x.packed.Gatherv(send, b.varying(recv), root)
	})
}

// gather is Gather and Gatherv; run carries it out.
func (x *Call) gather(send coll.Buf, recv coll.Blocks, root int,
	run func(send coll.Buf, recv *packedBlocks) error) (err error) {
	defer x.memory.Done(&err)
	var in packedBlocks
	if x.isRoot(root) {
		if in, err = x.blocks(recv, x.ranks, nil); err != nil {
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
	if err = run(out.Buf, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

// Scatter packs at the root, and unpacks what a member gets.
func (x *Call) Scatter(send, recv coll.Buf, root int) error {
	return x.scatter(coll.Even(send), recv, root, func(b *packedBlocks, recv coll.Buf) error {
		return x.packed.Scatter(b.even(send), recv, root)
	})
}

// Scatterv does so with a count for each rank.
func (x *Call) Scatterv(send coll.VBuf, recv coll.Buf, root int) error {
	return x.scatter(coll.Varying(send), recv, root, func(b *packedBlocks, recv coll.Buf) error {
		return x.packed.Scatterv(b.varying(send), recv, root)
	})
}

// scatter is Scatter and Scatterv.
func (x *Call) scatter(send coll.Blocks, recv coll.Buf, root int,
	run func(send *packedBlocks, recv coll.Buf) error) (err error) {
	defer x.memory.Done(&err)
	var out packedBlocks
	if x.isRoot(root) {
		if out, err = x.blocks(send, x.ranks, nil); err == nil {
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
	if err = run(&out, in.Buf); err != nil {
		return err
	}
	err = x.unpack(in)
	return err
}

// Allgather packs a block, and unpacks all.
func (x *Call) Allgather(send, recv coll.Buf) error {
	return x.allgather(send, coll.Even(recv), func(send coll.Buf, b *packedBlocks) error {
		return x.packed.Allgather(send, b.even(recv))
	})
}

// Allgatherv does so with a count for each rank.
func (x *Call) Allgatherv(send coll.Buf, recv coll.VBuf) error {
	return x.allgather(send, coll.Varying(recv), func(send coll.Buf, b *packedBlocks) error {
		return x.packed.Allgatherv(send, b.varying(recv))
	})
}

// allgather is Allgather and Allgatherv.
func (x *Call) allgather(send coll.Buf, recv coll.Blocks,
	run func(send coll.Buf, recv *packedBlocks) error) (err error) {
	defer x.memory.Done(&err)
	in, err := x.blocks(recv, x.ranks, nil)
	if err == nil && send.IsInPlace() {
		err = x.packBlock(&in, x.on.Rank())
	}
	if err != nil {
		return err
	}
	out, err := x.pack(send)
	if err != nil {
		return err
	}
	if err = run(out.Buf, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

// Alltoall packs all blocks, and unpacks all.
func (x *Call) Alltoall(send, recv coll.Buf) error {
	return x.alltoall(send.IsInPlace(), coll.Even(send), coll.Even(recv),
		func(out, in *packedBlocks) error { return x.packed.Alltoall(out.even(send), in.even(recv)) })
}

// Alltoallv does so with a count for each rank.
func (x *Call) Alltoallv(send, recv coll.VBuf) error {
	return x.alltoall(send.IsInPlace(), coll.Varying(send), coll.Varying(recv),
		func(out, in *packedBlocks) error {
			return x.packed.Alltoallv(out.varying(send), in.varying(recv))
		})
}

// Alltoallw does so with a type for each rank, too.
func (x *Call) Alltoallw(send, recv coll.WBuf) error {
	return x.alltoall(send.IsInPlace(), coll.Each(send), coll.Each(recv),
		func(out, in *packedBlocks) error {
			return x.packed.Alltoallw(out.differing(send), in.differing(recv))
		})
}

// alltoall is Alltoall, Alltoallv and Alltoallw.
func (x *Call) alltoall(inPlace bool, send, recv coll.Blocks,
	run func(send, recv *packedBlocks) error) (err error) {
	defer x.memory.Done(&err)
	n := x.ranks
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
	if err = run(&out, &in); err != nil {
		return err
	}
	err = in.each(x.unpackBlock)
	return err
}

// Neighbors is a neighborhood operation. It leaves alone what belongs to MPI_PROC_NULL.
func (x *Call) Neighbors(send, recv coll.Blocks, edges *coll.Edges) (err error) {
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
