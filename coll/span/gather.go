package span

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

var (
	int32Type = datatype.Named(abi.MPI_INT32_T)
	int64Type = datatype.Named(abi.MPI_INT64_T)
)

// Gather collects the block of every rank in root's recv (IMPI 0.0, 4.12). The arguments are those of
// coll.Gather. It is short if a block is less than XSIZE.
//
// Short: each client's blocks in rank order, packed, go from its master to root, linear or along the tree, in
// which a master sends its own blocks and then those of its children. Long: every rank sends to root.
func Gather(c Comm, l *Layout, send, recv coll.Buf, root int) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Gather(c, send, recv, root) })
	}
	k := enter(c, l, root)
	defer k.leave(&err)
	size := k.packedSize(send)
	if send.IsInPlace() {
		size = k.packedSize(recv)
	}
	blocks := coll.Even(recv)
	if size >= l.xsize {
		return k.gatherLong(send, &blocks, tagGather)
	}
	if k.home() {
		if err := k.gatherHome(send, recv, coll.VBuf{}); err != nil {
			return err
		}
		if k.me != root {
			return nil
		}
		return k.gatherMasters(nil, size, tagGather, &blocks)
	}
	if !k.isMaster() {
		mine, err := k.pack(send, size)
		if err != nil {
			return err
		}
		return coll.Gather(&k.local, coll.Bytes(mine), coll.Buf{}, 0)
	}
	mine, room, err := k.roomForSubtree(size)
	if err != nil {
		return err
	}
	if err := k.Pack(room[:size], send, k.rep()); err != nil {
		return err
	}
	if size > 0 {
		if err := coll.Gather(&k.local, coll.InPlace(), coll.Bytes(room[:size]), 0); err != nil {
			return err
		}
	}
	return k.gatherMasters(room[:mine:len(room)], size, tagGather, nil)
}

// Gatherv collects blocks of different sizes (IMPI 0.0, 4.13). The arguments are those of coll.Gatherv. Only root
// knows whether it is short: no block is more than XSIZE, and one is more than 0. It tells the others the
// longest, or 0.
func Gatherv(c Comm, l *Layout, send coll.Buf, recv coll.VBuf, root int) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Gatherv(c, send, recv, root) })
	}
	k := enter(c, l, root)
	defer k.leave(&err)
	blocks := coll.Varying(recv)
	if err := k.tellLongest(&blocks); err != nil {
		return err
	}
	return k.Then(func() error { return k.gatherVarying(send, recv) })
}

// gatherVarying is Gatherv when the longest of root's blocks is known.
func (k *call) gatherVarying(send coll.Buf, recv coll.VBuf) error {
	blocks := coll.Varying(recv)
	longest, err := k.longest()
	if err != nil {
		return err
	}
	if longest == 0 {
		return k.gatherLong(send, &blocks, tagGatherv)
	}
	if k.home() {
		if err := k.gatherHome(send, coll.Buf{}, recv); err != nil || k.me != k.root {
			return err
		}
		return k.gatherMasters(nil, longest, tagGatherv, &blocks)
	}
	size := k.packedSize(send)
	if size > longest { // the others get what there is room for
		msg := fmt.Sprintf("%d bytes, but root expects no more than %d from anybody", size, longest)
		if err := coll.Truncated(k.Comm, "sendcount", msg); err != nil {
			return err
		}
		packed, err := k.pack(send, size)
		if err != nil {
			return err
		}
		send, size = coll.Bytes(packed[:longest]), longest
	}
	if err := k.gatherSizes(size); err != nil {
		return err
	}
	return k.Then(func() error { return k.gatherAway(send, size, longest) })
}

// gatherAway is the part of the other clients, whose masters know the sizes by now.
func (k *call) gatherAway(send coll.Buf, size, longest int64) error {
	if !k.isMaster() {
		mine, err := k.pack(send, size)
		if err != nil {
			return err
		}
		return coll.Gatherv(&k.local, coll.Bytes(mine), coll.VBuf{}, 0)
	}
	_, room, err := k.roomForSubtree(longest)
	if err != nil {
		return err
	}
	if err := k.Pack(room[:size], send, k.rep()); err != nil {
		return err
	}
	k.readSizes()
	total := k.lineUp()
	packed := coll.Bytes(room)
	if err := coll.Gatherv(&k.local, coll.InPlace(), coll.VBuf{Base: packed.Base, Counts: k.counts, Displs: k.displs,
		Type: packed.Type}, 0); err != nil {
		return err
	}
	return k.gatherMasters(room[:total:len(room)], longest, tagGatherv, nil)
}

// tellLongest is the broadcast before Gatherv and Scatterv: one IMPI_INT4, the longest of root's blocks, or 0 if
// the operation is to be long.
func (k *call) tellLongest(blocks *coll.Blocks) error {
	mem, err := k.Alloc(4)
	if err != nil {
		return err
	}
	longest := int64(0)
	if k.me == k.root {
		for p := range k.Size() {
			longest = max(longest, k.packedSize(blocks.At(p)))
		}
		if longest > k.xsize {
			longest = 0
		}
	}
	binary.NativeEndian.PutUint32(mem, uint32(longest))
	k.told = mem
	b := coll.Buf{Base: coll.Bytes(mem).Base, Count: 1, Type: int32Type}
	if k.speaks() {
		if err := k.masterBcast(b); err != nil {
			return err
		}
	}
	return coll.Bcast(&k.local, b, k.localRoot())
}

// longest is what tellLongest has told.
func (k *call) longest() (int64, error) {
	longest := int64(int32(binary.NativeEndian.Uint32(k.told)))
	if longest < 0 || longest > k.xsize {
		return 0, &coll.Error{Class: abi.MPI_ERR_OTHER, Msg: fmt.Sprintf("rank %d announces blocks of %d bytes, XSIZE is %d",
			k.root, longest, k.xsize)}
	}
	return longest, nil
}

// gatherHome collects the blocks of root's own client where they belong in its receive buffer: of even blocks
// in recv, or else of v.
func (k *call) gatherHome(send, recv coll.Buf, v coll.VBuf) error {
	if k.me != k.root {
		return coll.Gatherv(&k.local, send, coll.VBuf{}, k.localRoot())
	}
	return coll.Gatherv(&k.local, send, k.homeBlocks(recv, v), k.localRoot())
}

// homeBlocks are the blocks of this client in a buffer with blocks for all ranks: of even ones in b, or if that
// has no type, in v.
func (k *call) homeBlocks(b coll.Buf, v coll.VBuf) coll.VBuf {
	k.counts, k.displs = k.counts[:0], k.displs[:0]
	for _, p := range k.local.Ranks() {
		if b.Type != nil {
			k.counts, k.displs = append(k.counts, b.Count), append(k.displs, int64(p)*b.Count)
		} else {
			k.counts, k.displs = append(k.counts, v.Counts[p]), append(k.displs, v.Displs[p])
		}
	}
	if b.Type != nil {
		return coll.VBuf{Base: b.Base, Counts: k.counts, Displs: k.displs, Type: b.Type}
	}
	return coll.VBuf{Base: v.Base, Counts: k.counts, Displs: k.displs, Type: v.Type}
}

func (k *call) pack(b coll.Buf, size int64) ([]byte, error) {
	mem, err := k.Alloc(size)
	if err != nil {
		return nil, err
	}
	return mem, k.Pack(mem, b, k.rep())
}

// roomForSubtree is memory for the blocks, of no more than size bytes, of this client (mine bytes) and of those
// whose blocks its master passes on.
func (k *call) roomForSubtree(size int64) (mine int64, room []byte, err error) {
	v, last := k.v(), k.v()+1
	if !k.linear() {
		last = min(v+below(v, k.Clients()), k.Clients())
	}
	room, err = k.Alloc(k.procs(k.rooted, v, last) * size)
	return k.procs(k.rooted, v, v+1) * size, room, err
}

// gatherSizes tells the master of a client what each of its ranks says. It reads them afterwards.
func (k *call) gatherSizes(size int64) error {
	mem, err := k.Alloc(8 * int64(len(k.local.Ranks())))
	if err != nil {
		return err
	}
	k.sizes = mem
	b := coll.Buf{Base: coll.Bytes(mem).Base, Count: 1, Type: int64Type}
	binary.NativeEndian.PutUint64(mem, uint64(size))
	send := b
	if k.isMaster() {
		send = coll.InPlace()
	}
	return coll.Gather(&k.local, send, b, 0)
}

// readSizes leaves in counts of a master what gatherSizes has gathered.
func (k *call) readSizes() {
	k.counts = k.counts[:0]
	for i := range k.local.Ranks() {
		k.counts = append(k.counts, int64(binary.NativeEndian.Uint64(k.sizes[8*i:])))
	}
}

// lineUp sets displs to the prefix sums of counts, and returns their total.
func (k *call) lineUp() int64 {
	k.displs = k.displs[:0]
	total := int64(0)
	for _, n := range k.counts {
		k.displs = append(k.displs, total)
		total += n
	}
	return total
}

// gatherMasters is the global phase. data is what this client contributes, with capacity for what its master
// passes on; blocks of no more than size bytes. At root there is no data, and blocks say where what arrives
// belongs: in rank order within a client, clients in the order in which they arrive.
func (k *call) gatherMasters(data []byte, size int64, tag int, blocks *coll.Blocks) error {
	m, v := k.Clients(), k.v()
	if k.linear() {
		if v != 0 {
			return k.Send(coll.Bytes(data), k.root, tag)
		}
		for i := range m {
			if i != k.rooted {
				if err := k.gatherFrom(k.master(i), i, 1, tag, blocks); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if v != 0 {
		return k.passOn(data, 1, size, tag)
	}
	for bit := 1; bit < m; bit <<= 1 {
		if err := k.gatherFrom(k.speaker(bit), k.rooted+bit, min(bit, m-bit), tag, blocks); err != nil {
			return err
		}
	}
	return nil
}

// passOn receives, behind data, what the children from bit on contribute, and sends all of it to the parent.
func (k *call) passOn(data []byte, bit int, size int64, tag int) error {
	m, v := k.Clients(), k.v()
	if bit >= below(v, m) || v+bit >= m {
		return k.Send(coll.Bytes(data), k.speaker(v&(v-1)), tag)
	}
	have, most := int64(len(data)), k.procs(k.rooted, v+bit, min(v+2*bit, m))*size
	in, from := coll.Bytes(data[have:have+most]), k.speaker(v+bit)
	if tag == tagGather { // all blocks have this size
		if err := k.RecvExactly(in, from, tag); err != nil {
			return err
		}
		return k.passOn(data[:have+most], bit<<1, size, tag)
	}
	if err := k.RecvLen(in, from, tag, &k.received); err != nil {
		return err
	}
	return k.Then(func() error { return k.passOn(data[:have+k.received], bit<<1, size, tag) })
}

// gatherFrom receives at root the blocks of n clients, from number i on around, and puts them in place.
func (k *call) gatherFrom(from, i, n, tag int, blocks *coll.Blocks) error {
	total := int64(0)
	for j := i; j < i+n; j++ {
		for _, p := range k.members[j%k.Clients()] {
			total += k.packedSize(blocks.At(int(p)))
		}
	}
	mem, err := k.arrival(total)
	if err != nil {
		return err
	}
	if err := k.RecvExactly(coll.Bytes(mem), from, tag); err != nil {
		return err
	}
	for j := i; j < i+n; j++ {
		for _, p := range k.members[j%k.Clients()] {
			b := blocks.At(int(p))
			size := k.packedSize(b)
			if err := k.Unpack(b, mem[:size], k.rep()); err != nil {
				return err
			}
			mem = mem[size:]
		}
	}
	return nil
}

// arrival is memory for a packed message of n bytes, used again for the next one.
func (k *call) arrival(n int64) ([]byte, error) {
	if int64(len(k.packed)) < n {
		var err error
		if k.packed, err = k.Alloc(n); err != nil {
			return nil, err
		}
	}
	return k.packed[:n], nil
}

// gatherLong: every rank sends its block to root.
func (k *call) gatherLong(send coll.Buf, blocks *coll.Blocks, tag int) error {
	if k.me != k.root {
		return k.Send(send, k.root, k.tag(k.root, tag))
	}
	for p := range k.Size() {
		if p == k.me {
			if !send.IsInPlace() {
				if err := k.Copy(blocks.At(p), send); err != nil {
					return err
				}
			}
			continue
		}
		t := k.tag(p, tag)
		if t == tagGatherv && k.AnyGatherTag {
			t = abi.MPI_ANY_TAG
		}
		if err := k.Add(k.Irecv(blocks.At(p), p, t)); err != nil {
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

// Allgather is Gather to rank 0 and Bcast from there (IMPI 0.0, 4.19). The arguments are those of coll.Allgather.
func Allgather(c Comm, l *Layout, send, recv coll.Buf) error {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Allgather(c, send, recv) })
	}
	if send.IsInPlace() && c.Rank() != 0 {
		send = recv.Block(c.Rank())
	}
	if err := Gather(c, l, send, recv, 0); err != nil {
		return err
	}
	return Bcast(c, l, recv.Slice(0, int64(c.Size())*recv.Count), 0)
}

// Allgatherv is Gatherv to rank 0 and Bcast from there of all blocks in rank order without gaps (IMPI 0.0, 4.20),
// through a temporary unless that is how they lie in recv. The arguments are those of coll.Allgatherv.
func Allgatherv(c Comm, l *Layout, send coll.Buf, recv coll.VBuf) (err error) {
	if l.together() {
		return together(c, l, func(c coll.Comm) error { return coll.Allgatherv(c, send, recv) })
	}
	if send.IsInPlace() && c.Rank() != 0 {
		send = recv.Block(c.Rank())
	}
	if err := Gatherv(c, l, send, recv, 0); err != nil {
		return err
	}
	total, dense := int64(0), true
	for i, n := range recv.Counts {
		dense = dense && (n == 0 || recv.Displs[i] == total)
		total += n
	}
	if dense {
		return Bcast(c, l, coll.Buf{Base: recv.Base, Count: total, Type: recv.Type}, 0)
	}
	s := c.Scratch()
	defer s.Done(&err)
	all, err := s.Typed(total, recv.Type)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := eachBlock(all, recv, func(dense, block coll.Buf) error { return c.Copy(dense, block) }); err != nil {
			return err
		}
	}
	if err := Bcast(c, l, all, 0); err != nil || c.Rank() == 0 {
		return err
	}
	return eachBlock(all, recv, func(dense, block coll.Buf) error { return c.Copy(block, dense) })
}

// eachBlock calls f with each block of v and its place among all blocks in rank order.
func eachBlock(all coll.Buf, v coll.VBuf, f func(dense, block coll.Buf) error) error {
	at := int64(0)
	for i, n := range v.Counts {
		if err := f(all.Slice(at, n), v.Block(i)); err != nil {
			return err
		}
		at += n
	}
	return nil
}
