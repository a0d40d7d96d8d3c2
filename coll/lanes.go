package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// Operations in which all ranks of a machine take part in what is between machines, each with a slice of the data. The
// ranks at one place of each machine are a lane; there are as many lanes as the smallest machine has ranks. A further
// rank of a machine goes with the lane that has its place modulo their number.
//
//	ReduceScatter   reduce_scatter within, reduce_scatter in each lane
//	Allreduce       reduce_scatter within, allreduce in each lane, allgather within
//	Allgather       allgather in each lane, allgather within
//
// So a machine sends and receives no more than if one rank stood for it, and no rank moves the data of all. Where ranks
// outnumber cores there is one lane for short data: what a message costs its two ranks, all on their cores wait for.
//
// Source: Traff and Hunold, Decomposing MPI collectives for exploiting multi-lane communication, 2020; Traff 2010, 9.4
// and 9.6, for machines with one lane.

// lane makes the views of a rank for n bytes, of which `between` is its lane.
func (s *Scratch) lane(c Comm, n int64) *levels {
	m := machinesOf(c)
	lanes := len(m.lanes)
	if m.oneLane(n) {
		lanes = 1
	}
	k := s.levelsBy(c, int(m.place[c.Rank()])%lanes)
	k.lanes = lanes
	return k
}

// oneLane reports whether one rank of each machine sends and receives n bytes for all: ranks outnumber cores there, and
// the data is short.
func (m *Machines) oneLane(n int64) bool { return m.Crowded && n < 4*choose.Startup() }

// byLane yields all ranks in the order of lanes, in each lane of machines, and there of places. Segments are the parts
// of this order of one machine in one lane, numbered from 0.
func (k *levels) byLane(yield func(segment, rank int) bool) {
	for l := range k.lanes {
		for i, ranks := range k.m.members {
			for place := l; place < len(ranks); place += k.lanes {
				if !yield(l*len(k.m.members)+i, int(ranks[place])) {
					return
				}
			}
		}
	}
}

// laneCut is where blocks that lie by lane are cut: the counts of all segments and where they begin, and the same for
// the lanes, by place within this rank's machine.
type laneCut struct {
	counts, displs   []int64
	within, withinAt []int64
	total            int64
}

// cutLanes cuts by lane what is cut by rank.
func (s *Scratch) cutLanes(k *levels, blocks *cut) (l laneCut, err error) {
	lanes, machines := k.lanes, k.m.Count()
	mem, err := s.Counts(2*lanes*machines + 2*k.here())
	if err != nil {
		return l, err
	}
	clear(mem)
	take := func(n int) (part []int64) {
		part, mem = mem[:n:n], mem[n:]
		return part
	}
	l.counts, l.displs = take(lanes*machines), take(lanes*machines)
	l.within, l.withinAt = take(k.here()), take(k.here())
	for segment, rank := range k.byLane {
		l.counts[segment] += blocks.start(rank+1) - blocks.start(rank)
	}
	for i, n := range l.counts {
		if l.displs[i] = l.total; i%machines == 0 {
			l.withinAt[i/machines] = l.total
		}
		l.within[i/machines] += n
		l.total += n
	}
	return l, nil
}

// of is the counts of the segments of a lane, and where they begin.
func (l *laneCut) of(k *levels) (counts, displs []int64) {
	first, end := k.lead*k.m.Count(), (k.lead+1)*k.m.Count()
	return l.counts[first:end], l.displs[first:end]
}

// equal reports whether all numbers are the same.
func equal(counts []int64) bool {
	for _, n := range counts {
		if n != counts[0] {
			return false
		}
	}
	return true
}

// allgatherLanes is lanes for blocks of one length, allgathervLanes for any.
func (s *Scratch) allgatherLanes(c Comm, recv Buf) error {
	return s.collectLanes(c, &Blocks{buf: recv})
}

func (s *Scratch) allgathervLanes(c Comm, recv VBuf) error {
	return s.collectLanes(c, &Blocks{v: recv, kind: varying})
}

// collectLanes: each rank has its own block, and in the end all of them. Rounds are those of two allgathers, of M and
// of m ranks, and n bytes a rank enter and leave a machine for each rank elsewhere.
func (s *Scratch) collectLanes(c Comm, b *Blocks) error {
	p, r := c.Size(), c.Rank()
	at, err := s.Counts(p + 1)
	if err != nil {
		return err
	}
	at[0] = 0
	for i := range p {
		at[i+1] = at[i] + b.size(i)
	}
	k := s.lane(c, at[p])
	l, err := s.cutLanes(k, &cut{n: p, count: at[p], at: at})
	if err != nil {
		return err
	}
	mem, err := s.Alloc(l.total)
	if err != nil {
		return err
	}
	counts, displs := l.of(k)
	if err := s.handIn(c, k, b, mem[displs[k.between.me]:], at); err != nil {
		return err
	}
	if k.leads() {
		if err := allgatherCut(&k.between, Bytes(mem), counts, displs); err != nil {
			return err
		}
	}
	if k.lanes == 1 {
		err = Bcast(&k.within, Bytes(mem), 0)
	} else {
		err = allgatherCut(&k.within, Bytes(mem), l.within, l.withinAt)
	}
	if err != nil {
		return err
	}
	done := int64(0)
	for _, rank := range k.byLane {
		n := at[rank+1] - at[rank]
		if rank != r && n > 0 {
			if err := c.Unpack(b.At(rank), mem[done:done+n], 0); err != nil {
				return err
			}
		}
		done += n
	}
	return nil
}

// handIn packs the blocks of this rank's segment at the rank that is in the lane. at is where the block of each rank
// begins in the order of ranks.
func (s *Scratch) handIn(c Comm, k *levels, b *Blocks, segment []byte, at []int64) error {
	if !k.leads() {
		return k.within.Send(b.At(c.Rank()), k.lead, tagAllgather)
	}
	for place := k.lead; place < k.here(); place += k.lanes {
		rank := k.within.rank(place)
		n := at[rank+1] - at[rank]
		var err error
		if place == k.lead {
			err = c.Pack(segment[:n], b.At(rank), 0)
		} else {
			err = s.Add(k.within.Irecv(Bytes(segment[:n]), place, tagAllgather))
		}
		if err != nil {
			return err
		}
		segment = segment[n:]
	}
	return s.Wait(c)
}

// allgatherCut is an allgather in place of parts of a vector that lie one after the other.
func allgatherCut(c Comm, all Buf, counts, displs []int64) error {
	if equal(counts) {
		return Allgather(c, InPlace(), all.Slice(displs[0], counts[0]))
	}
	return Allgatherv(c, InPlace(), VBuf{Base: all.Base, Counts: counts, Displs: displs, Type: all.Type})
}

// reduceScatterCut is a reduce_scatter of a vector that is cut into the given counts.
func reduceScatterCut(c Comm, all, recv Buf, counts []int64, op Op) error {
	if equal(counts) {
		return ReduceScatterBlock(c, all, recv, op)
	}
	return ReduceScatter(c, all, recv, counts, op)
}

// reduceLanes combines the vectors of this machine, and gives each lane its part.
func reduceLanes(k *levels, all, part Buf, counts []int64, op Op) error {
	if k.lanes > 1 {
		return reduceScatterCut(&k.within, all, part, counts, op)
	}
	part.Count = all.Count
	return Reduce(&k.within, all, part, op, 0)
}

// reduceScatterLanes: rounds are those of two operations, of m and of M ranks. A machine sends and receives the blocks
// of all ranks elsewhere once.
func (s *Scratch) reduceScatterLanes(c Comm, send Blocks, all, recv Buf, op Op) error {
	k := s.lane(c, all.Size())
	blocks, err := s.cutAs(&send, c.Size())
	if err != nil {
		return err
	}
	l, err := s.cutLanes(k, &blocks)
	if err != nil {
		return err
	}
	tmp, err := s.Typed(all.Count, all.Type)
	if err != nil {
		return err
	}
	done := int64(0)
	for _, rank := range k.byLane {
		block := blocks.of(all, rank, rank+1)
		if err := c.Copy(tmp.Slice(done, block.Count), block); err != nil {
			return err
		}
		done += block.Count
	}
	part := Buf{Type: all.Type}
	if k.leads() {
		if part, err = s.Typed(l.within[k.lead], all.Type); err != nil {
			return err
		}
	}
	if err := reduceLanes(k, tmp, part, l.within, op); err != nil {
		return err
	}
	if !k.leads() {
		if recv.Count == 0 {
			return nil
		}
		return k.within.Recv(recv, k.lead, tagReduceScatter)
	}
	counts, _ := l.of(k)
	out := recv
	if n := counts[k.between.me]; n != recv.Count {
		if out, err = s.Typed(n, all.Type); err != nil {
			return err
		}
	}
	if err := reduceScatterCut(&k.between, part, out, counts, op); err != nil || out.Base == recv.Base {
		return err
	}
	return s.dealSegment(c, k, &blocks, out, recv)
}

// dealSegment gives the ranks of a segment their blocks of it.
func (s *Scratch) dealSegment(c Comm, k *levels, blocks *cut, segment, recv Buf) error {
	done := int64(0)
	for place := k.lead; place < k.here(); place += k.lanes {
		rank := k.within.rank(place)
		block := segment.Slice(done, blocks.start(rank+1)-blocks.start(rank))
		done += block.Count
		var err error
		switch {
		case place == k.lead:
			err = c.Copy(recv, block)
		case block.Count > 0:
			err = s.Add(k.within.Isend(block, place, tagReduceScatter))
		}
		if err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// laned reports whether an allreduce of n bytes goes by lanes. Short vectors do not, which take fewer messages
// otherwise, nor do long ones where most ranks of a machine may have no lane. Between clients most of the time is their
// distance, and all ranks of a client would have to be there before its first message.
func laned(m *Machines, n int64) bool {
	if m.Distant && n < choose.LongBetween() {
		return false
	}
	if m.oneLane(n) {
		return false
	}
	return len(m.lanes) > 1 && n >= choose.Startup() && (m.each > 0 || n < 4*choose.Startup())
}

// allreduceLanes: own is the rank's vector, and may be acc. Rounds are those of reduce_scatter and allgather among m,
// and of allreduce among M; n (m-1)/m bytes in each of the first two, and those of allreduce for n/m.
func (s *Scratch) allreduceLanes(c Comm, own, acc Buf, op Op) error {
	k := s.lane(c, acc.Size())
	lanes := k.lanes
	mem, err := s.Counts(2 * k.here())
	if err != nil {
		return err
	}
	counts, displs := mem[:k.here()], mem[k.here():]
	for i := range counts {
		if counts[i], displs[i] = 0, 0; i < lanes {
			displs[i] = buffer.PieceAt(acc.Count, lanes, i)
			counts[i] = buffer.PieceAt(acc.Count, lanes, i+1) - displs[i]
		}
	}
	part := Buf{Type: acc.Type}
	if k.leads() {
		if part, err = s.Typed(counts[k.lead], acc.Type); err != nil {
			return err
		}
	}
	if err := reduceLanes(k, own, part, counts, op); err != nil {
		return err
	}
	if k.leads() {
		if err := s.allreduceLane(k, part, acc.Size(), op); err != nil {
			return err
		}
		if err := c.Copy(acc.Slice(displs[k.lead], part.Count), part); err != nil {
			return err
		}
	}
	return allgatherCut(&k.within, acc, counts, displs)
}

// allreduceLane is Allreduce in a lane. The table chooses it by the length of a part, but all parts of a machine, of n
// bytes together, share its port: if only that is long, a short part, too, passes the port twice, and not once in each
// of log M rounds.
func (s *Scratch) allreduceLane(k *levels, part Buf, n int64, op Op) error {
	short := part.Size() < 4*choose.Startup()
	if n < 16*choose.Startup() || !short || !op.Commutative() || k.m.Outer != nil || k.m.Distant {
		return Allreduce(&k.between, InPlace(), part, op)
	}
	return s.allreduceCirculant(&k.between, part, op)
}
