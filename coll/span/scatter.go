package span

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
)

// Scatter gives block i of root's send to rank i (IMPI 0.0, 4.14). The arguments are those of coll.Scatter. It is
// short if a block is less than XSIZE: root sends each other master the packed blocks of its client, in rank
// order. Long: root sends to every rank. There is no tree.
func Scatter(c Comm, l *Layout, send, recv coll.Buf, root int) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Scatter(c, send, recv, root) })
	}
	k := enter(c, l, root)
	defer k.leave(&err)
	size := k.packedSize(recv)
	if recv.IsInPlace() {
		size = k.packedSize(send)
	}
	blocks := coll.Even(send)
	if size >= l.xsize {
		return k.scatterLong(&blocks, recv, tagScatter)
	}
	if k.home() {
		return k.scatterHome(send, coll.VBuf{}, &blocks, recv, tagScatter)
	}
	k.counts = k.counts[:0]
	for range k.local.Ranks() {
		k.counts = append(k.counts, size)
	}
	return k.scatterAway(recv, size, tagScatter)
}

// Scatterv gives send.Block(i) of root to rank i (IMPI 0.0, 4.15). The arguments are those of coll.Scatterv. Whether
// it is short is for root to say, as in Gatherv; a master learns from the ranks of its client how to split.
func Scatterv(c Comm, l *Layout, send coll.VBuf, recv coll.Buf, root int) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Scatterv(c, send, recv, root) })
	}
	k := enter(c, l, root)
	defer k.leave(&err)
	blocks := coll.Varying(send)
	if err := k.tellLongest(&blocks); err != nil {
		return err
	}
	return k.Then(func() error { return k.scatterVarying(send, recv) })
}

// scatterVarying is Scatterv when the longest of root's blocks is known.
func (k *call) scatterVarying(send coll.VBuf, recv coll.Buf) error {
	blocks := coll.Varying(send)
	longest, err := k.longest()
	if err != nil {
		return err
	}
	if longest == 0 {
		return k.scatterLong(&blocks, recv, tagScatterv)
	}
	if k.home() {
		return k.scatterHome(coll.Buf{}, send, &blocks, recv, tagScatterv)
	}
	size := k.packedSize(recv)
	if err := k.gatherSizes(size); err != nil {
		return err
	}
	return k.Then(func() error {
		if k.isMaster() {
			k.readSizes()
		}
		return k.scatterAway(recv, size, tagScatterv)
	})
}

// scatterHome is the part of root and its client. Blocks are those of b if that has a type, else of v.
func (k *call) scatterHome(b coll.Buf, v coll.VBuf, blocks *coll.Blocks, recv coll.Buf, tag int) error {
	if k.me != k.root {
		return coll.Scatterv(&k.local, coll.VBuf{}, recv, k.localRoot())
	}
	for i := range k.Clients() {
		if i == k.rooted {
			continue
		}
		if err := k.scatterTo(i, blocks, tag); err != nil {
			return err
		}
	}
	if err := coll.Scatterv(&k.local, k.homeBlocks(b, v), recv, k.localRoot()); err != nil {
		return err
	}
	return k.Scratch.Wait(k.Comm)
}

// scatterTo starts to send the packed blocks of client i.
func (k *call) scatterTo(i int, blocks *coll.Blocks, tag int) error {
	total := int64(0)
	for _, p := range k.members[i] {
		total += k.packedSize(blocks.At(int(p)))
	}
	mem, err := k.Alloc(total)
	if err != nil {
		return err
	}
	at := int64(0)
	for _, p := range k.members[i] {
		b := blocks.At(int(p))
		size := k.packedSize(b)
		if err := k.Pack(mem[at:at+size], b, k.rep()); err != nil {
			return err
		}
		at += size
	}
	return k.Add(k.Isend(coll.Bytes(mem), k.master(i), tag))
}

// scatterAway is the part of the other clients. counts of a master are the bytes for each rank of its client.
func (k *call) scatterAway(recv coll.Buf, size int64, tag int) error {
	mine, err := k.Alloc(size)
	if err != nil {
		return err
	}
	var all coll.VBuf
	if k.isMaster() {
		mem, err := k.Alloc(k.lineUp())
		if err != nil {
			return err
		}
		if err := k.RecvExactly(coll.Bytes(mem), k.root, tag); err != nil {
			return err
		}
		packed := coll.Bytes(mem)
		all = coll.VBuf{Base: packed.Base, Counts: k.counts, Displs: k.displs, Type: packed.Type}
	}
	if err := coll.Scatterv(&k.local, all, coll.Bytes(mine), 0); err != nil {
		return err
	}
	return k.Unpack(recv, mine, k.rep())
}

// scatterLong: root sends every rank its block.
func (k *call) scatterLong(blocks *coll.Blocks, recv coll.Buf, tag int) error {
	if k.me != k.root {
		return k.Recv(recv, k.root, k.tag(k.root, tag))
	}
	for p := range k.Size() {
		if p == k.me {
			if !recv.IsInPlace() {
				if err := k.Copy(recv, blocks.At(p)); err != nil {
					return err
				}
			}
			continue
		}
		if err := k.Add(k.Isend(blocks.At(p), p, k.tag(p, tag))); err != nil {
			return err
		}
		if k.Full() {
			if err := k.Scratch.Wait(k.Comm); err != nil {
				return err
			}
		}
	}
	return k.Scratch.Wait(k.Comm)
}

// ReduceScatter is Reduce to rank 0 and Scatterv from there (IMPI 0.0, 4.17). The arguments are those of
// coll.ReduceScatter.
func ReduceScatter(c Comm, l *Layout, send, recv coll.Buf, counts []int64, op coll.Op) (err error) {
	if l.together() || l.Own && choose.Reproduces() {
		k := enter(c, l, 0)
		defer k.leave(&err)
		return coll.ReduceScatter(k.everybody(), send, recv, counts, op)
	}
	s := c.Scratch()
	defer s.Done(&err)
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	if send.IsInPlace() {
		send = recv
	}
	all := coll.Buf{Count: total, Type: recv.Type}
	var v coll.VBuf
	if c.Rank() == 0 {
		if all, err = s.Typed(total, recv.Type); err != nil {
			return err
		}
		v = coll.VBuf{Base: all.Base, Counts: counts, Displs: make([]int64, len(counts)), Type: all.Type}
		for i := 1; i < len(counts); i++ {
			v.Displs[i] = v.Displs[i-1] + counts[i-1]
		}
	}
	if err := Reduce(c, l, send, all, op, 0); err != nil {
		return err
	}
	recv.Count = counts[c.Rank()]
	return Scatterv(c, l, v, recv, 0)
}
