package libimpi

import (
	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/span"
)

// Collective operations that combine data, as the bridge calls them: on a board, between the groups of an
// intercommunicator, between clients, or by an algorithm of coll.

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
