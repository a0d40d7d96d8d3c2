package libimpi

import (
	"cmp"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/external"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/datatype"
)

// Collective operations: the algorithms of coll on the communicator's collective context, and those of coll/span,
// with IMPI's mandated global phases, where it spans clients. Arguments have been checked.

// Collectives are the collective operations of a communicator: carried out by the calling thread, or recorded for a
// Task. A Comm has the former.
type Collectives struct {
	c    *Comm
	on   span.Comm
	task *Task // nil: at once

	converted bool // what members give and get is external32 (package external)
}

// converts reports whether the operation is carried out on external32, since members are not alike (package external).
// Its operations on packed data are not converted once more.
func (v Collectives) converts() bool { return !v.c.native && !v.converted }

// external begins such an operation.
func (v Collectives) external() *external.Call {
	v.converted = true
	return external.NewCall(v, v.on, v.c.Ranks(), v.c.inter.local != nil)
}

// own are the operations of the local group beside an intercommunicator, at the same time as these.
func (v Collectives) own() Collectives {
	if v.task == nil {
		return v.c.inter.local.Collectives
	}
	return v.task.of(v.c.inter.local)
}

// spans reports whether the operation crosses clients, and how. Where one of them is not libimpi it takes turns with
// those that were started before.
func (v Collectives) spans() bool {
	if v.c.seats.layout == nil {
		return false
	}
	if v.task == nil && v.c.takesTurns() {
		v.c.awaitTurn()
	}
	return true
}

// collective is a communicator as the algorithms see it (span.Comm), which carry out their steps at once.
type collective struct {
	coll.AtOnce
	c *Comm

	goesOn bool // in an operation of the program's: a message that is too long is noted, as others wait for what follows
	first  error
}

// CarryOut carries out a blocking operation of the program's. If a message is longer than the room for it, it goes on
// as the others expect, and that is its error.
func (c *Comm) CarryOut(operation func(v Collectives) error) error {
	c.ops.goesOn = true
	if c.inter.local != nil {
		c.inter.local.ops.goesOn = true
	}
	err := cmp.Or(operation(c.Collectives), c.ops.noted())
	if c.inter.local != nil {
		err = cmp.Or(err, c.inter.local.ops.noted())
	}
	return err
}

// noted ends an operation of the program's, and returns what was noted in it.
func (k *collective) noted() error {
	first := k.first
	k.first, k.goesOn = nil, false
	return first
}

// came looks at the outcome of a receive whose length does not matter, or of a local step.
func (k *collective) came(err error) error {
	if err == nil || !k.goesOn || !ofData(err) {
		return err
	}
	k.first = cmp.Or(k.first, err)
	return nil
}

// ofData reports whether an error is about data alone, for which there is no room, or which external32 cannot express:
// the operation goes on, as the others expect.
func ofData(err error) bool {
	class := AsError(err).Class
	return class == abi.MPI_ERR_TRUNCATE || class == abi.MPI_ERR_CONVERSION
}

func (k *collective) Rank() int { return int(k.c.rank) }
func (k *collective) Size() int { return k.c.group.Size() }

// Machines are those of the members.
func (k *collective) Machines() *coll.Machines { return k.c.seats.machines }

func (k *collective) Send(b coll.Buf, to, tag int) error {
	return k.came(k.c.send(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard))
}

func (k *collective) Recv(b coll.Buf, from, tag int) error {
	return k.came(k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), nil))
}

// Copy implements coll.Local.
func (k *collective) Copy(dst, src coll.Buf) error { return k.came(k.AtOnce.Copy(dst, src)) }

// Pack implements coll.Local.
func (k *collective) Pack(dst []byte, src coll.Buf, rep datatype.Rep) error {
	return k.came(k.AtOnce.Pack(dst, src, rep))
}

// Then implements coll.Local.
func (k *collective) Then(f func() error) error { return k.came(f()) }

func (k *collective) RecvLen(b coll.Buf, from, tag int, n *int64) error {
	var st Status
	err := k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), &st)
	*n = st.Bytes
	return err
}

func (k *collective) RecvExactly(b coll.Buf, from, tag int) error {
	var st Status
	if err := k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), &st); err != nil {
		return err
	}
	return coll.Exactly(b, st.Bytes, from, tag)
}

func (k *collective) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	return coll.Req(k.c.isend(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard)), nil
}

func (k *collective) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	return coll.Req(k.c.irecv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag))), nil
}

// IrecvWritten implements coll.Writable.
func (k *collective) IrecvWritten(b coll.Buf, from, tag int) (coll.Req, error) {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newRecv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag))
	r.written = true
	e.postRecv(r)
	e.leaveRunning(r)
	return coll.Req(r.id), nil
}

func (k *collective) Wait(reqs ...coll.Req) error {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	var first error
	for _, id := range reqs {
		r := e.requests.find(uint64(id))
		e.wait(r)
		if _, err := e.finish(r); err != nil && first == nil {
			first = k.came(err)
		}
	}
	return first
}

// Withdraw implements coll/board.Messages.
func (k *collective) Withdraw(id coll.Req) bool {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.find(uint64(id))
	if r.state.done || !r.isPosted() {
		return false
	}
	e.withdraw(r)
	_, err := e.finish(r)
	return err == nil
}

// withdraw ends a posted receive. Engine lock held.
func (e *Engine) withdraw(r *Request) {
	r.ctx.space.Withdraw(&r.waits)
	r.status.Cancelled = true
	e.complete(r)
}

// Barrier returns when every process has entered it (MPI 5.0, 6.3).
func (v Collectives) Barrier() error {
	if err := v.verify(func() coll.Call { return coll.Call{Routine: coll.OpBarrier} }); err != nil {
		return err
	}
	board, err := v.boardFor(coll.OpBarrier, 0, 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Barrier(board))
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
	board, err := v.boardFor(coll.OpBcast, b.Size(), 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Bcast(board, b, root))
	case v.c.inter.local != nil:
		return v.interBcast(b, root)
	case v.spans():
		return span.Bcast(v.on, v.c.seats.layout, b, root)
	}
	return coll.Bcast(v.on, b, root)
}

// Reduce combines all vectors into the root's recv.
func (v Collectives) Reduce(send, recv coll.Buf, op coll.Op, root int) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpReduce, root, op, recv) }); err != nil {
		return err
	}
	board, err := v.boardForVector(coll.OpReduce, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Reduce(board, send, recv, op, root))
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
	board, err := v.boardForVector(coll.OpAllreduce, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil && coll.BoardSlices(board.Size(), v.c.seats.crowded, recv, op):
		return coll.Allreduce(v.on, send, recv, op)
	case board != nil:
		return v.onBoard(board, board.next().Allreduce(board, send, recv, op))
	case v.c.inter.local != nil:
		return v.interAllreduce(send, recv, op)
	case v.spans():
		return span.Allreduce(v.on, v.c.seats.layout, send, recv, op)
	}
	return coll.Allreduce(v.on, send, recv, op)
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
	board, err := v.boardFor(coll.OpGather, size, 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Gather(board, send, recv, root, size))
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
	done, err := v.exchangeOnBoard(coll.OpGatherv, false,
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
	board, err := v.boardFor(coll.OpScatter, size, v.c.Size())
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Scatter(board, send, recv, root, size))
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
	done, err := v.exchangeOnBoard(coll.OpScatterv, false,
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
	board, err := v.boardFor(coll.OpAllgather, recv.Size(), 1)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Allgather(board, send, recv))
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
	tooLong := !coll.BySlots(coll.OpAllgatherv, longest, 1)
	done, err := v.exchangeOnBoard(coll.OpAllgatherv, tooLong,
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
	board, err := v.boardFor(coll.OpAlltoall, recv.Size(), v.c.Size())
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Alltoall(board, send, recv))
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
	done, err := v.exchangeOnBoard(coll.OpAlltoallv, send.IsInPlace(),
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
	done, err := v.exchangeOnBoard(coll.OpAlltoallw, send.IsInPlace(),
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

// Scan combines the vectors of ranks 0 to its own at each process.
func (v Collectives) Scan(send, recv coll.Buf, op coll.Op) error {
	if err := v.verify(func() coll.Call { return uniform(coll.OpScan, 0, op, recv) }); err != nil {
		return err
	}
	board, err := v.boardForVector(coll.OpScan, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Scan(board, send, recv, op, false))
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
	board, err := v.boardForVector(coll.OpExscan, recv, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().Scan(board, send, recv, op, true))
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
	board, err := v.boardForVector(coll.OpReduceScatterBlock, coll.Buf{Count: total, Type: recv.Type}, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		at := recv.Count * int64(v.c.rank)
		return v.onBoard(board, board.next().ReduceScatter(board, send, recv, total, at, op))
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
	board, err := v.boardForVector(coll.OpReduceScatter, coll.Buf{Count: total, Type: recv.Type}, op)
	switch {
	case err != nil:
		return err
	case board != nil:
		return v.onBoard(board, board.next().ReduceScatter(board, send, recv, total, at, op))
	case v.c.inter.local != nil:
		return v.interReduceScatterV(send, recv, counts, op)
	case v.spans():
		return span.ReduceScatter(v.on, v.c.seats.layout, send, recv, counts, op)
	}
	return coll.ReduceScatter(v.on, send, recv, counts, op)
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
	done, err := v.exchangeOnBoard(coll.OpNeighbors, false,
		func(x *coll.Exchange, b coll.Seated) { x.Neighbors(b, edges, &send, &recv) })
	if done || err != nil {
		return err
	}
	return coll.Neighbors(v.on, edges, &send, &recv)
}

// Sendrecv sends and receives at the same time.
func (c *Comm) Sendrecv(sbuf datatype.Pointer, scount int64, stype *datatype.Type, dest int, stag int32,
	rbuf datatype.Pointer, rcount int64, rtype *datatype.Type, source int, rtag int32, st *Status) error {
	e := c.engine
	// The send first, as in coll's Exchange.
	send := c.Isend(sbuf, scount, stype, dest, stag, modeStandard)
	recv := c.Irecv(rbuf, rcount, rtype, source, rtag)
	e.mu.Lock()
	defer e.mu.Unlock()
	r, s := e.requests.find(recv), e.requests.find(send)
	e.wait(r)
	e.wait(s)
	_, sendErr := e.finish(s)
	got, err := e.finish(r)
	*st = got
	if err != nil {
		return err
	}
	return sendErr
}

// SendrecvReplace is Sendrecv with one buffer for both: what is sent is a copy in the same layout.
func (c *Comm) SendrecvReplace(buf datatype.Pointer, count int64, t *datatype.Type, dest int, stag int32, source int,
	rtag int32, st *Status) error {
	if count == 0 || t.Size() == 0 {
		return c.Sendrecv(buf, count, t, dest, stag, buf, count, t, source, rtag, st)
	}
	s := coll.NewScratch()
	var err error
	defer s.Done(&err)
	var outgoing coll.Buf
	if outgoing, err = s.Typed(count, t); err != nil {
		return err
	}
	datatype.Copy(outgoing.Base, count, t, buf, count, t)
	err = c.Sendrecv(outgoing.Base, count, t, dest, stag, buf, count, t, source, rtag, st)
	return err
}
