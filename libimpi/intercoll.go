package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Collectives on intercommunicators (MPI 5.0, 6.2.3): data goes from each group to the other. What crosses goes as
// messages in the collective context, in which ranks are those of the remote group; what a
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
func (v Collectives) interBarrier() error {
	if err := v.own().Barrier(); err != nil {
		return err
	}
	if v.c.rank == 0 {
		if err := v.exchange(intBuf(nil), intBuf(nil)); err != nil {
			return err
		}
	}
	return v.own().Bcast(intBuf(make([]int32, 1)), 0) // something: nothing need not wait
}

// exchange swaps messages between the leaders.
func (v Collectives) exchange(out, in coll.Buf) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	err = s.Exchange(v.on, out, 0, in, 0, tagInterColl)
	return err
}

func (v Collectives) interBcast(b coll.Buf, root int) error {
	switch root {
	case isRoot:
		return v.on.Send(b, 0, tagInterColl)
	case bystander:
		return nil
	}
	if v.c.rank == 0 {
		if err := v.on.Recv(b, root, tagInterColl); err != nil {
			return err
		}
	}
	return v.own().Bcast(b, 0)
}

// gatherAcross receives a block from each of the remote group.
func (v Collectives) gatherAcross(recv blocksOf) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	for r := range v.c.group.Size() {
		if err = s.Add(v.on.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(v.on)
	return err
}

// scatterAcross sends a block to each of the remote group.
func (v Collectives) scatterAcross(send blocksOf) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	for r := range v.c.group.Size() {
		if err = s.Add(v.on.Isend(send.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(v.on)
	return err
}

// interGather is Gather and Gatherv.
func (v Collectives) interGather(send coll.Buf, recv blocksOf, root int) error {
	switch root {
	case isRoot:
		return v.gatherAcross(recv)
	case bystander:
		return nil
	}
	return v.on.Send(send, root, tagInterColl)
}

// interScatter is Scatter and Scatterv.
func (v Collectives) interScatter(send blocksOf, recv coll.Buf, root int) error {
	switch root {
	case isRoot:
		return v.scatterAcross(send)
	case bystander:
		return nil
	}
	return v.on.Recv(recv, root, tagInterColl)
}

// interAllgather is Allgather and Allgatherv: all give to the remote leader, which tells its group. whole is all
// blocks of recv as one buffer.
func (v Collectives) interAllgather(send coll.Buf, recv blocksOf, whole coll.Buf) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	if v.c.rank == 0 {
		for r := range v.c.group.Size() {
			if err = s.Add(v.on.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
				return err
			}
		}
	}
	if err = v.on.Send(send, 0, tagInterColl); err != nil {
		return err
	}
	if err = s.Wait(v.on); err != nil {
		return err
	}
	err = v.own().Bcast(whole, 0)
	return err
}

// interAlltoall is Alltoall, Alltoallv and Alltoallw.
func (v Collectives) interAlltoall(send, recv blocksOf) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	for r := range v.c.group.Size() {
		if err = s.Add(v.on.Irecv(recv.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	for r := range v.c.group.Size() {
		if err = s.Add(v.on.Isend(send.Block(r), r, tagInterColl)); err != nil {
			return err
		}
	}
	err = s.Wait(v.on)
	return err
}

func (v Collectives) interReduce(send, recv coll.Buf, op coll.Op, root int) (err error) {
	switch root {
	case isRoot:
		return v.on.Recv(recv, 0, tagInterColl)
	case bystander:
		return nil
	}
	s := v.on.Scratch()
	defer s.Done(&err)
	var sum coll.Buf
	if sum, err = v.reduceHome(s, send, op); err == nil && v.c.rank == 0 {
		err = v.on.Send(sum, root, tagInterColl)
	}
	return err
}

// reduceHome combines the vectors of the local group at its leader.
func (v Collectives) reduceHome(s *coll.Scratch, send coll.Buf, op coll.Op) (sum coll.Buf, err error) {
	sum = coll.Buf{Count: send.Count, Type: send.Type}
	if v.c.rank == 0 {
		if sum, err = s.Typed(send.Count, send.Type); err != nil {
			return sum, err
		}
	}
	return sum, v.own().Reduce(send, sum, op, 0)
}

// interAllreduce gives each group the combination of the other's vectors.
func (v Collectives) interAllreduce(send, recv coll.Buf, op coll.Op) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	var sum coll.Buf
	if sum, err = v.reduceHome(s, send, op); err != nil {
		return err
	}
	if v.c.rank == 0 {
		if err = s.Exchange(v.on, sum, 0, recv, 0, tagInterColl); err != nil {
			return err
		}
	}
	err = v.own().Bcast(recv, 0)
	return err
}

// interReduceScatter is ReduceScatter and ReduceScatterBlock: the combination of the other group's vectors of total
// elements, handed out among the local group by share.
func (v Collectives) interReduceScatter(send, recv coll.Buf, total int64, op coll.Op,
	share func(sum coll.Buf) error) (err error) {
	s := v.on.Scratch()
	defer s.Done(&err)
	send.Count = total
	var mine, theirs coll.Buf
	if mine, err = v.reduceHome(s, send, op); err != nil {
		return err
	}
	if v.c.rank == 0 {
		if theirs, err = s.Typed(total, recv.Type); err != nil {
			return err
		}
		if err = s.Exchange(v.on, mine, 0, theirs, 0, tagInterColl); err != nil {
			return err
		}
	}
	err = share(theirs)
	return err
}

func (v Collectives) interReduceScatterV(send, recv coll.Buf, counts []int64, op coll.Op) error {
	displs, total := make([]int64, len(counts)), int64(0)
	for i, n := range counts {
		displs[i] = total
		total += n
	}
	return v.interReduceScatter(send, recv, total, op, func(sum coll.Buf) error {
		return v.own().Scatterv(coll.VBuf{Base: sum.Base, Counts: counts, Displs: displs, Type: recv.Type.Plain()}, recv, 0)
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
