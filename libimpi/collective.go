package libimpi

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/datatype"
)

// Collective operations: the algorithms of coll on the communicator's collective context, and those of coll/span,
// with IMPI's mandated global phases, where it spans clients. Arguments have been checked.

// collective is a communicator as the algorithms see it (span.Comm).
type collective struct{ c *Comm }

func (k *collective) Rank() int { return int(k.c.rank) }
func (k *collective) Size() int { return k.c.group.Size() }

func (k *collective) Send(b coll.Buf, to, tag int) error {
	return k.c.send(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard)
}

func (k *collective) Recv(b coll.Buf, from, tag int) error {
	return k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), nil)
}

func (k *collective) RecvLen(b coll.Buf, from, tag int) (int64, error) {
	var st Status
	err := k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), &st)
	return st.Bytes, err
}

func (k *collective) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	return coll.Req(k.c.isend(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard)), nil
}

func (k *collective) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	return coll.Req(k.c.irecv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag))), nil
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
			first = err
		}
	}
	return first
}

// Barrier returns when every process has entered it (MPI 5.0, 6.3).
func (c *Comm) Barrier() error {
	if c.local != nil {
		return c.interBarrier()
	}
	if c.layout != nil {
		return span.Barrier(&c.ops, c.layout)
	}
	if c.crowded {
		return coll.BarrierCentral(&c.ops)
	}
	return coll.Barrier(&c.ops)
}

// Bcast copies the root's buffer to all.
func (c *Comm) Bcast(b coll.Buf, root int) error {
	if c.local != nil {
		return c.interBcast(b, root)
	}
	if c.layout != nil {
		return span.Bcast(&c.ops, c.layout, b, root)
	}
	return coll.Bcast(&c.ops, b, root)
}

// Reduce combines all vectors into the root's recv.
func (c *Comm) Reduce(send, recv coll.Buf, op coll.Op, root int) error {
	if c.local != nil {
		return c.interReduce(send, recv, op, root)
	}
	if c.layout != nil {
		return span.Reduce(&c.ops, c.layout, send, recv, op, root)
	}
	return coll.Reduce(&c.ops, send, recv, op, root)
}

// Allreduce combines all vectors into everybody's recv.
func (c *Comm) Allreduce(send, recv coll.Buf, op coll.Op) error {
	if c.local != nil {
		return c.interAllreduce(send, recv, op)
	}
	if c.layout != nil {
		return span.Allreduce(&c.ops, c.layout, send, recv, op)
	}
	return coll.Allreduce(&c.ops, send, recv, op)
}

// Gather collects equal blocks at the root.
func (c *Comm) Gather(send, recv coll.Buf, root int) error {
	if c.local != nil {
		return c.interGather(send, recv, root)
	}
	if c.layout != nil {
		return span.Gather(&c.ops, c.layout, send, recv, root)
	}
	return coll.Gather(&c.ops, send, recv, root)
}

// Gatherv collects blocks at the root.
func (c *Comm) Gatherv(send coll.Buf, recv coll.VBuf, root int) error {
	if c.local != nil {
		return c.interGather(send, recv, root)
	}
	if c.layout != nil {
		return span.Gatherv(&c.ops, c.layout, send, recv, root)
	}
	return coll.Gatherv(&c.ops, send, recv, root)
}

// Scatter hands out equal blocks from the root.
func (c *Comm) Scatter(send, recv coll.Buf, root int) error {
	if c.local != nil {
		return c.interScatter(send, recv, root)
	}
	if c.layout != nil {
		return span.Scatter(&c.ops, c.layout, send, recv, root)
	}
	return coll.Scatter(&c.ops, send, recv, root)
}

// Scatterv hands out blocks from the root.
func (c *Comm) Scatterv(send coll.VBuf, recv coll.Buf, root int) error {
	if c.local != nil {
		return c.interScatter(send, recv, root)
	}
	if c.layout != nil {
		return span.Scatterv(&c.ops, c.layout, send, recv, root)
	}
	return coll.Scatterv(&c.ops, send, recv, root)
}

// Allgather collects equal blocks everywhere.
func (c *Comm) Allgather(send, recv coll.Buf) error {
	if c.local != nil {
		whole := recv
		whole.Count *= int64(c.Ranks())
		return c.interAllgather(send, recv, whole)
	}
	if c.layout != nil {
		return span.Allgather(&c.ops, c.layout, send, recv)
	}
	return coll.Allgather(&c.ops, send, recv)
}

// Allgatherv collects blocks everywhere.
func (c *Comm) Allgatherv(send coll.Buf, recv coll.VBuf) error {
	if c.local != nil {
		whole, err := asOne(recv)
		if err != nil {
			return err
		}
		return c.interAllgather(send, recv, whole)
	}
	if c.layout != nil {
		return span.Allgatherv(&c.ops, c.layout, send, recv)
	}
	return coll.Allgatherv(&c.ops, send, recv)
}

// Alltoall gives each process an equal block from each.
func (c *Comm) Alltoall(send, recv coll.Buf) error {
	if c.local != nil {
		return c.interAlltoall(send, recv)
	}
	if c.layout != nil {
		return span.Alltoall(&c.ops, c.layout, send, recv)
	}
	return coll.Alltoall(&c.ops, send, recv)
}

// Alltoallv gives each process a block from each.
func (c *Comm) Alltoallv(send, recv coll.VBuf) error {
	if c.local != nil {
		return c.interAlltoall(send, recv)
	}
	if c.layout != nil {
		return span.Alltoallv(&c.ops, c.layout, send, recv)
	}
	return coll.Alltoallv(&c.ops, send, recv)
}

// Alltoallw gives each process a block from each, with a datatype for each.
func (c *Comm) Alltoallw(send, recv coll.WBuf) error {
	if c.local != nil {
		return c.interAlltoall(send, recv)
	}
	if c.layout != nil {
		return span.Alltoallw(&c.ops, c.layout, send, recv)
	}
	return coll.Alltoallw(&c.ops, send, recv)
}

// Scan combines the vectors of ranks 0 to its own at each process.
func (c *Comm) Scan(send, recv coll.Buf, op coll.Op) error {
	if c.layout != nil {
		return span.Scan(&c.ops, c.layout, send, recv, op)
	}
	return coll.Scan(&c.ops, send, recv, op)
}

// Exscan combines the vectors of the lower ranks at each process.
func (c *Comm) Exscan(send, recv coll.Buf, op coll.Op) error {
	if c.layout != nil {
		return span.Exscan(&c.ops, c.layout, send, recv, op)
	}
	return coll.Exscan(&c.ops, send, recv, op)
}

// ReduceScatterBlock combines all vectors and hands out equal blocks of the result.
func (c *Comm) ReduceScatterBlock(send, recv coll.Buf, op coll.Op) error {
	if c.local != nil {
		return c.interReduceScatter(send, recv, recv.Count*int64(c.Size()), op, func(sum coll.Buf) error {
			sum.Count = recv.Count
			return c.local.Scatter(sum, recv, 0)
		})
	}
	if c.layout != nil {
		return span.ReduceScatterBlock(&c.ops, c.layout, send, recv, op)
	}
	return coll.ReduceScatterBlock(&c.ops, send, recv, op)
}

// ReduceScatter combines all vectors and hands out blocks of the result.
func (c *Comm) ReduceScatter(send, recv coll.Buf, counts []int64, op coll.Op) error {
	if c.local != nil {
		return c.interReduceScatterV(send, recv, counts, op)
	}
	if c.layout != nil {
		return span.ReduceScatter(&c.ops, c.layout, send, recv, counts, op)
	}
	return coll.ReduceScatter(&c.ops, send, recv, counts, op)
}

// Sendrecv sends and receives at the same time.
func (c *Comm) Sendrecv(sbuf datatype.Pointer, scount int64, stype *datatype.Type, dest int, stag int32,
	rbuf datatype.Pointer, rcount int64, rtype *datatype.Type, source int, rtag int32, st *Status) error {
	e := c.engine
	recv := c.Irecv(rbuf, rcount, rtype, source, rtag)
	sendErr := c.Send(sbuf, scount, stype, dest, stag, modeStandard)
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.find(recv)
	e.wait(r)
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
