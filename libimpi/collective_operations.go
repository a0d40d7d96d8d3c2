package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/span"
)

// Collective operations as the bridge calls them: on a board, between the groups of an intercommunicator, between
// clients, or by an algorithm of coll. First those that move data, then those that combine it.

// Barrier returns when every process has entered it (MPI 5.0, 6.3).
func (v Collectives) Barrier() error {
	if err := v.verify(func() coll.Call { return coll.Call{Routine: coll.OpBarrier} }); err != nil {
		return err
	}
	board, err := v.boardFor(choose.Barrier, 0, 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Barrier, board, board.next().Barrier(board))
	case v.c.inter.local != nil:
		return v.interBarrier()
	case v.spans():
		return span.Barrier(v.on, v.c.seats.layout)
	}
	return coll.BarrierAmong(v.on, v.c.seats.crowded)
}

// Bcast copies the root's buffer to all.
func (v Collectives) Bcast(b coll.Buf, root int) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpBcast, root, nil, b) }); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Bcast(b, root)
	}
	board, err := v.boardFor(choose.Bcast, b.Size(), 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Bcast, board, board.next().Bcast(board, b, root))
	case v.c.inter.local != nil:
		return v.interBcast(b, root)
	case v.spans():
		return span.Bcast(v.on, v.c.seats.layout, b, root)
	}
	return coll.Bcast(v.on, b, root)
}

// Gather collects equal blocks at the root.
func (v Collectives) Gather(send, recv coll.Buf, root int) error {
	if err := v.verify(func() coll.Call { return v.gathering(coll.OpGather, root, send, recv) }); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Gather(send, recv, root)
	}
	size := send.Size()
	if send.IsInPlace() {
		size = recv.Size()
	}
	board, err := v.boardFor(choose.Gather, size, 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Gather, board, board.next().Gather(board, send, recv, root, size))
	case v.c.inter.local != nil:
		return v.interGather(send, recv, root)
	case v.spans():
		return span.Gather(v.on, v.c.seats.layout, send, recv, root)
	}
	return coll.Gather(v.on, send, recv, root)
}

// Gatherv collects blocks at the root.
func (v Collectives) Gatherv(send coll.Buf, recv coll.VBuf, root int) error {
	if err := v.verify(func() coll.Call { return v.gathering(coll.OpGatherv, root, send, recv) }); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Gatherv(send, recv, root)
	}
	done, err := v.exchangeOnBoard(choose.Gatherv, false,
		func(x *coll.Exchange, b coll.Seated) { x.Gatherv(b, send, &recv, root) })
	switch {
	case done || err != nil:
		return err
	case v.c.inter.local != nil:
		return v.interGather(send, recv, root)
	case v.spans():
		return span.Gatherv(v.on, v.c.seats.layout, send, recv, root)
	}
	return coll.Gatherv(v.on, send, recv, root)
}

// Scatter hands out equal blocks from the root.
func (v Collectives) Scatter(send, recv coll.Buf, root int) error {
	if err := v.verify(func() coll.Call { return v.scattering(coll.OpScatter, root, send, recv) }); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Scatter(send, recv, root)
	}
	size := recv.Size()
	if recv.IsInPlace() {
		size = send.Size()
	}
	board, err := v.boardFor(choose.Scatter, size, v.c.Size())
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Scatter, board, board.next().Scatter(board, send, recv, root, size))
	case v.c.inter.local != nil:
		return v.interScatter(send, recv, root)
	case v.spans():
		return span.Scatter(v.on, v.c.seats.layout, send, recv, root)
	}
	return coll.Scatter(v.on, send, recv, root)
}

// Scatterv hands out blocks from the root.
func (v Collectives) Scatterv(send coll.VBuf, recv coll.Buf, root int) error {
	if err := v.verify(func() coll.Call { return v.scattering(coll.OpScatterv, root, send, recv) }); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Scatterv(send, recv, root)
	}
	done, err := v.exchangeOnBoard(choose.Scatterv, false,
		func(x *coll.Exchange, b coll.Seated) { x.Scatterv(b, &send, recv, root) })
	switch {
	case done || err != nil:
		return err
	case v.c.inter.local != nil:
		return v.interScatter(send, recv, root)
	case v.spans():
		return span.Scatterv(v.on, v.c.seats.layout, send, recv, root)
	}
	return coll.Scatterv(v.on, send, recv, root)
}

// Allgather collects equal blocks everywhere.
func (v Collectives) Allgather(send, recv coll.Buf) error {
	if err := v.verify(func() coll.Call {
		return inPlace(exchanging(coll.OpAllgather, v.contribution(send, recv), recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Allgather(send, recv)
	}
	board, err := v.boardFor(choose.Allgather, recv.Size(), 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Allgather, board, board.next().Allgather(board, send, recv))
	case v.c.inter.local != nil:
		whole := recv
		whole.Count *= int64(v.c.Ranks())
		return v.interAllgather(send, recv, whole)
	case v.spans():
		return span.Allgather(v.on, v.c.seats.layout, send, recv)
	}
	return coll.Allgather(v.on, send, recv)
}

// Allgatherv collects blocks everywhere.
func (v Collectives) Allgatherv(send coll.Buf, recv coll.VBuf) error {
	if err := v.verify(func() coll.Call {
		return inPlace(exchanging(coll.OpAllgatherv, v.contribution(send, recv), recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Allgatherv(send, recv)
	}
	longest := slices.Max(recv.Counts) * recv.Type.Size()
	tooLong := !choose.Allgatherv.FitsSlots(longest, 1)
	done, err := v.exchangeOnBoard(choose.Allgatherv, tooLong,
		func(x *coll.Exchange, b coll.Seated) { x.Allgatherv(b, send, &recv) })
	if tooLong {
		err = v.openForPieces(longest)
	}
	switch {
	case done || err != nil:
		return err
	case v.c.inter.local != nil:
		whole, err := asOne(recv)
		if err != nil {
			return err
		}
		return v.interAllgather(send, recv, whole)
	case v.spans():
		return span.Allgatherv(v.on, v.c.seats.layout, send, recv)
	}
	return coll.Allgatherv(v.on, send, recv)
}

// Alltoall gives each process an equal block from each.
func (v Collectives) Alltoall(send, recv coll.Buf) error {
	if err := v.verify(func() coll.Call {
		return inPlace(exchanging(coll.OpAlltoall, given(send, recv, send.IsInPlace()), recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Alltoall(send, recv)
	}
	board, err := v.boardFor(choose.Alltoall, recv.Size(), v.c.Size())
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Alltoall, board, board.next().Alltoall(board, send, recv))
	case v.c.inter.local != nil:
		return v.interAlltoall(send, recv)
	case v.spans():
		return span.Alltoall(v.on, v.c.seats.layout, send, recv)
	}
	return coll.Alltoall(v.on, send, recv)
}

// Alltoallv gives each process a block from each.
func (v Collectives) Alltoallv(send, recv coll.VBuf) error {
	if err := v.verify(func() coll.Call {
		return inPlace(exchanging(coll.OpAlltoallv, given(send, recv, send.IsInPlace()), recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Alltoallv(send, recv)
	}
	out, in := coll.Varying(send), coll.Varying(recv)
	done, err := v.exchangeOnBoard(choose.Alltoallv, send.IsInPlace(),
		func(x *coll.Exchange, b coll.Seated) { x.Alltoallv(b, &out, &in) })
	switch {
	case done || err != nil:
		return err
	case v.c.inter.local != nil:
		return v.interAlltoall(send, recv)
	case v.spans():
		return span.Alltoallv(v.on, v.c.seats.layout, send, recv)
	}
	return coll.Alltoallv(v.on, send, recv)
}

// Alltoallw gives each process a block from each, with a datatype for each.
func (v Collectives) Alltoallw(send, recv coll.WBuf) error {
	if err := v.verify(func() coll.Call {
		return inPlace(exchanging(coll.OpAlltoallw, given(send, recv, send.IsInPlace()), recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Alltoallw(send, recv)
	}
	out, in := coll.Each(send), coll.Each(recv)
	done, err := v.exchangeOnBoard(choose.Alltoallv, send.IsInPlace(),
		func(x *coll.Exchange, b coll.Seated) { x.Alltoallv(b, &out, &in) })
	switch {
	case done || err != nil:
		return err
	case v.c.inter.local != nil:
		return v.interAlltoall(send, recv)
	case v.spans():
		return span.Alltoallw(v.on, v.c.seats.layout, send, recv)
	}
	return coll.Alltoallw(v.on, send, recv)
}

// Neighbors is all neighborhood collectives (MPI 5.0, 8.6): send and recv have a block for each neighbor. name is the
// function's.
func (v Collectives) Neighbors(name string, send, recv coll.Blocks) error {
	edges, err := v.c.edges()
	if err != nil {
		return err
	}
	if err := v.verify(func() coll.Call {
		out, in := send, recv // which would come to lie elsewhere if the call had their addresses
		return coll.Call{Routine: coll.Function(name), Edges: edges, OutAt: &out, InAt: &in}
	}); err != nil {
		return err
	}
	if v.converts() {
		return v.external().Neighbors(send, recv, edges)
	}
	if choose.Neighbors.FitsSlots(1, 1) {
		done, err := v.exchangeBySlots(func(x *coll.Exchange, b coll.Seated) { x.Neighbors(b, edges, &send, &recv) })
		if done || err != nil {
			return err
		}
	}
	return coll.Neighbors(v.on, edges, &send, &recv)
}

// Reduce combines all vectors into the root's recv.
func (v Collectives) Reduce(send, recv coll.Buf, op coll.Op, root int) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpReduce, root, op, recv) }); err != nil {
		return err
	}
	board, err := v.boardForVector(choose.Reduce, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Reduce, board, board.next().Reduce(board, send, recv, op, root))
	case v.c.inter.local != nil:
		return v.interReduce(send, recv, op, root)
	case v.spans():
		return span.Reduce(v.on, v.c.seats.layout, send, recv, op, root)
	}
	return coll.Reduce(v.on, send, recv, op, root)
}

// Allreduce combines all vectors into everybody's recv.
func (v Collectives) Allreduce(send, recv coll.Buf, op coll.Op) error {
	if err := v.verify(func() coll.Call {
		return inPlace(uniform(coll.OpAllreduce, 0, op, recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	board, err := v.boardForVector(choose.Allreduce, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil && recv.Size() > choose.Allreduce.LongestInSlots(choose.Case{Ranks: board.Size(),
		Crowded: v.c.seats.crowded, Commutes: collboard.EitherWay(op)}):
		return coll.Allreduce(v.on, send, recv, op)
	case board != nil:
		return v.onBoard(choose.Allreduce, board, board.next().Allreduce(board, send, recv, op))
	case v.c.inter.local != nil:
		return v.interAllreduce(send, recv, op)
	case v.spans():
		return span.Allreduce(v.on, v.c.seats.layout, send, recv, op)
	}
	return coll.Allreduce(v.on, send, recv, op)
}

// Scan combines the vectors of ranks 0 to its own at each process.
func (v Collectives) Scan(send, recv coll.Buf, op coll.Op) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpScan, 0, op, recv) }); err != nil {
		return err
	}
	board, err := v.boardForVector(choose.Scan, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Scan, board, board.next().Scan(board, send, recv, op, false))
	case v.spans():
		return span.Scan(v.on, v.c.seats.layout, send, recv, op)
	}
	return coll.Scan(v.on, send, recv, op)
}

// Exscan combines the vectors of the lower ranks at each process.
func (v Collectives) Exscan(send, recv coll.Buf, op coll.Op) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpExscan, 0, op, recv) }); err != nil {
		return err
	}
	board, err := v.boardForVector(choose.Exscan, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.Exscan, board, board.next().Scan(board, send, recv, op, true))
	case v.spans():
		return span.Exscan(v.on, v.c.seats.layout, send, recv, op)
	}
	return coll.Exscan(v.on, send, recv, op)
}

// ReduceScatterBlock combines all vectors and hands out equal blocks of the result.
func (v Collectives) ReduceScatterBlock(send, recv coll.Buf, op coll.Op) error {
	if err := v.verify(func() coll.Call {
		return inPlace(uniform(coll.OpReduceScatterBlock, 0, op, recv), send.IsInPlace())
	}); err != nil {
		return err
	}
	total := recv.Count * int64(v.c.Size())
	board, err := v.boardForVector(choose.ReduceScatter, coll.Buf{Count: total, Type: recv.Type}, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		at := recv.Count * int64(v.c.rank)
		return v.onBoard(choose.ReduceScatter, board, board.next().ReduceScatter(board, send, recv, total, at, op))
	case v.c.inter.local != nil:
		return v.interReduceScatter(send, recv, recv.Count*int64(v.c.Size()), op, func(sum coll.Buf) error {
			sum.Count = recv.Count
			return v.own().Scatter(sum, recv, 0)
		})
	case v.spans():
		return span.ReduceScatterBlock(v.on, v.c.seats.layout, send, recv, op)
	}
	return coll.ReduceScatterBlock(v.on, send, recv, op)
}

// ReduceScatter combines all vectors and hands out blocks of the result.
func (v Collectives) ReduceScatter(send, recv coll.Buf, counts []int64, op coll.Op) error {
	if err := v.verify(func() coll.Call { return v.sharing(recv, counts, op) }); err != nil {
		return err
	}
	total, at := int64(0), int64(0)
	for r, n := range counts {
		if total += n; r < int(v.c.rank) {
			at += n
		}
	}
	board, err := v.boardForVector(choose.ReduceScatter, coll.Buf{Count: total, Type: recv.Type}, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(choose.ReduceScatter, board, board.next().ReduceScatter(board, send, recv, total, at, op))
	case v.c.inter.local != nil:
		return v.interReduceScatterV(send, recv, counts, op)
	case v.spans():
		return span.ReduceScatter(v.on, v.c.seats.layout, send, recv, counts, op)
	}
	return coll.ReduceScatter(v.on, send, recv, counts, op)
}
