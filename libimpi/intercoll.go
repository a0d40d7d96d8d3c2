package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Collectives on intercommunicators (MPI 5.0, 6.2.3): data goes from each group to the other. What crosses goes as
// point-to-point messages in the collective context, c.ops, in which ranks are those of the remote group; what a
// group does among itself are collectives of the local intracommunicator. IMPI 0.0 has none of these; where the
// groups span clients the tags are above those that it reserves.
//
// In a rooted operation, root is MPI_ROOT at the root, MPI_PROC_NULL at the others of its group, and the root's rank
// in the other group.

// The roots that are no ranks.
const (
	isRoot    = abi.MPI_ROOT
	bystander = abi.MPI_PROC_NULL
)

// blocksOf is a buffer with a block for each rank.
type blocksOf interface{ Block(rank int) coll.Buf }

// interBarrier returns when all of both groups have entered it.
func (c *Comm) interBarrier() error {
	if err := c.local.Barrier(); err != nil {
		return err
	}
	if c.rank == 0 {
		if err := c.exchange(intBuf(nil), intBuf(nil), 0, tagInterColl); err != nil {
			return err
		}
	}
	return c.local.Bcast(intBuf(make([]int32, 1)), 0) // something: nothing need not wait
}

func (c *Comm) interBcast(b coll.Buf, root int) error {
	switch root {
	case isRoot:
		return c.ops.Send(b, 0, tagInterColl)
	case bystander:
		return nil
	}
	if c.rank == 0 {
		if err := c.ops.Recv(b, root, tagInterColl); err != nil {
			return err
		}
	}
	return c.local.Bcast(b, 0)
}

// gatherAcross receives a block from each of the remote group.
func (c *Comm) gatherAcross(recv blocksOf) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	for r := range c.group.Size() {
		if err = s.Add(c.ops.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(&c.ops)
	return err
}

// scatterAcross sends a block to each of the remote group.
func (c *Comm) scatterAcross(send blocksOf) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	for r := range c.group.Size() {
		if err = s.Add(c.ops.Isend(send.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(&c.ops)
	return err
}

// interGather is Gather and Gatherv.
func (c *Comm) interGather(send coll.Buf, recv blocksOf, root int) error {
	switch root {
	case isRoot:
		return c.gatherAcross(recv)
	case bystander:
		return nil
	}
	return c.ops.Send(send, root, tagInterColl)
}

// interScatter is Scatter and Scatterv.
func (c *Comm) interScatter(send blocksOf, recv coll.Buf, root int) error {
	switch root {
	case isRoot:
		return c.scatterAcross(send)
	case bystander:
		return nil
	}
	return c.ops.Recv(recv, root, tagInterColl)
}

// interAllgather is Allgather and Allgatherv: all give to the remote leader, which tells its group. whole is all
// blocks of recv as one buffer.
func (c *Comm) interAllgather(send coll.Buf, recv blocksOf, whole coll.Buf) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	if c.rank == 0 {
		for r := range c.group.Size() {
			if err = s.Add(c.ops.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
				return err
			}
		}
	}
	if err = c.ops.Send(send, 0, tagInterColl); err != nil {
		return err
	}
	if err = s.Wait(&c.ops); err != nil {
		return err
	}
	err = c.local.Bcast(whole, 0)
	return err
}

// interAlltoall is Alltoall, Alltoallv and Alltoallw.
func (c *Comm) interAlltoall(send, recv blocksOf) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	for r := range c.group.Size() {
		if err = s.Add(c.ops.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	for r := range c.group.Size() {
		if err = s.Add(c.ops.Isend(send.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(&c.ops)
	return err
}

func (c *Comm) interReduce(send, recv coll.Buf, op coll.Op, root int) (err error) {
	switch root {
	case isRoot:
		return c.ops.Recv(recv, 0, tagInterColl)
	case bystander:
		return nil
	}
	s := coll.NewScratch()
	defer s.Done(&err)
	var sum coll.Buf
	if sum, err = c.reduceHome(s, send, op); err == nil && c.rank == 0 {
		err = c.ops.Send(sum, root, tagInterColl)
	}
	return err
}

// reduceHome combines the vectors of the local group at its leader.
func (c *Comm) reduceHome(s *coll.Scratch, send coll.Buf, op coll.Op) (sum coll.Buf, err error) {
	sum = coll.Buf{Count: send.Count, Type: send.Type}
	if c.rank == 0 {
		if sum, err = s.Typed(send.Count, send.Type); err != nil {
			return sum, err
		}
	}
	return sum, c.local.Reduce(send, sum, op, 0)
}

// interAllreduce gives each group the combination of the other's vectors.
func (c *Comm) interAllreduce(send, recv coll.Buf, op coll.Op) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	var sum coll.Buf
	if sum, err = c.reduceHome(s, send, op); err != nil {
		return err
	}
	if c.rank == 0 {
		if err = s.Exchange(&c.ops, sum, 0, recv, 0, tagInterColl); err != nil {
			return err
		}
	}
	err = c.local.Bcast(recv, 0)
	return err
}

// interReduceScatter is ReduceScatter and ReduceScatterBlock: the combination of the other group's vectors of total
// elements, handed out among the local group by share.
func (c *Comm) interReduceScatter(send, recv coll.Buf, total int64, op coll.Op,
	share func(sum coll.Buf) error) (err error) {
	s := coll.NewScratch()
	defer s.Done(&err)
	send.Count, send.Type = total, recv.Type
	var mine, theirs coll.Buf
	if mine, err = c.reduceHome(s, send, op); err != nil {
		return err
	}
	if c.rank == 0 {
		if theirs, err = s.Typed(total, recv.Type); err != nil {
			return err
		}
		if err = s.Exchange(&c.ops, mine, 0, theirs, 0, tagInterColl); err != nil {
			return err
		}
	}
	err = share(theirs)
	return err
}

func (c *Comm) interReduceScatterV(send, recv coll.Buf, counts []int64, op coll.Op) error {
	displs, total := make([]int64, len(counts)), int64(0)
	for i, n := range counts {
		displs[i] = total
		total += n
	}
	return c.interReduceScatter(send, recv, total, op, func(sum coll.Buf) error {
		return c.local.Scatterv(coll.VBuf{Base: sum.Base, Counts: counts, Displs: displs, Type: recv.Type}, recv, 0)
	})
}

// asOne is all blocks of a buffer as one element of a type.
func asOne(b coll.VBuf) (coll.Buf, error) {
	t, err := datatype.Indexed(slices.Clone(b.Counts), slices.Clone(b.Displs), b.Type)
	if err != nil {
		return coll.Buf{}, err
	}
	t.Commit()
	return coll.Buf{Base: b.Base, Count: 1, Type: t}, nil
}
