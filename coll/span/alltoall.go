package span

import (
	"github.com/libimpi/libimpi/coll"
)

// Alltoall gives block i of send to rank i (IMPI 0.0, 4.22). The arguments are those of coll.Alltoall. It is short if
// a block is less than XSIZE: one packed message for each ordered pair of clients, between their masters. Long:
// one message for each ordered pair of ranks.
func Alltoall(c Comm, l *Layout, send, recv coll.Buf) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	out := send
	if send.IsInPlace() {
		out = recv
	}
	size := k.packedSize(out)
	if size < l.xsize {
		return k.alltoallShort(out, recv, size, send.IsInPlace())
	}
	from, to := coll.Even(out), coll.Even(recv)
	return k.pairs(&from, &to, send.IsInPlace(), tagAlltoall)
}

// Alltoallv gives send.Block(i) to rank i and takes recv.Block(i) from it: one message for each ordered pair of
// ranks (IMPI 0.0, 4.23). The arguments are those of coll.Alltoallv.
func Alltoallv(c Comm, l *Layout, send, recv coll.VBuf) (err error) {
	k := enter(c, l, 0)
	defer k.leave(&err)
	to := coll.Varying(recv)
	if send.IsInPlace() {
		return k.pairs(&to, &to, true, tagAlltoallv)
	}
	from := coll.Varying(send)
	return k.pairs(&from, &to, false, tagAlltoallv)
}

// pairs: in step i a rank sends to the one i above it and receives from the one i below. In place, what is to be
// sent is first copied.
func (k *call) pairs(send, recv *coll.Blocks, inPlace bool, tag int) error {
	p, r := k.Size(), k.me
	if !inPlace {
		if err := k.Copy(recv.At(r), send.At(r)); err != nil {
			return err
		}
	}
	copies, err := k.copies(send, inPlace)
	if err != nil {
		return err
	}
	for i := 1; i < p; i++ {
		from, to := (r-i+p)%p, (r+i)%p
		if err := k.Add(k.Irecv(recv.At(from), from, k.tag(from, tag))); err != nil {
			return err
		}
		out := send.At(to)
		if inPlace {
			out = copies[to]
		}
		if err := k.Add(k.Isend(out, to, k.tag(to, tag))); err != nil {
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

// copies are the blocks of an exchange in place, elsewhere.
func (k *call) copies(send *coll.Blocks, inPlace bool) ([]coll.Buf, error) {
	if !inPlace {
		return nil, nil
	}
	copies := make([]coll.Buf, k.Size())
	for to := range copies {
		b := send.At(to)
		if to == k.me {
			continue
		}
		var err error
		if copies[to], err = k.Typed(b.Count, b.Type); err != nil {
			return nil, err
		}
		if err := k.Copy(copies[to], b); err != nil {
			return nil, err
		}
	}
	return copies, nil
}

// alltoallShort. A row is what one rank sends to, or receives from, all ranks of other clients: clients in
// order, ranks in order. (1) The rows of a client are gathered at its master. (2) The ranks of the client exchange
// among themselves. (3) Masters exchange, and (4) deal the rows they have received.
func (k *call) alltoallShort(send, recv coll.Buf, size int64, inPlace bool) error {
	n := int64(len(k.local.Ranks()))
	width := (int64(k.Size()) - n) * size
	row, err := k.Alloc(width)
	if err != nil {
		return err
	}
	if err := k.eachAway(func(p int, at int64) error {
		return k.Pack(row[at*size:(at+1)*size], send.Block(p), k.rep())
	}); err != nil {
		return err
	}
	var rows []byte
	if k.isMaster() {
		if rows, err = k.Alloc(n * width); err != nil {
			return err
		}
	}
	if err := coll.Gather(&k.local, coll.Bytes(row), coll.Bytes(rows).Slice(0, width), 0); err != nil {
		return err
	}
	if err := k.exchangeAtHome(send, recv, inPlace); err != nil {
		return err
	}
	if k.isMaster() {
		if err := k.exchangeRows(rows, width, size); err != nil {
			return err
		}
	}
	if err := coll.Scatter(&k.local, coll.Bytes(rows).Slice(0, width), coll.Bytes(row), 0); err != nil {
		return err
	}
	return k.eachAway(func(p int, at int64) error {
		return k.Unpack(recv.Block(p), row[at*size:(at+1)*size], k.rep())
	})
}

// eachAway calls f for every rank of another client with its place in a row.
func (k *call) eachAway(f func(p int, at int64) error) error {
	at := int64(0)
	for i, members := range k.members {
		if i == k.mine {
			continue
		}
		for _, p := range members {
			if err := f(int(p), at); err != nil {
				return err
			}
			at++
		}
	}
	return nil
}

func (k *call) exchangeAtHome(send, recv coll.Buf, inPlace bool) error {
	to := k.homeBlocks(recv, coll.VBuf{})
	if inPlace {
		return coll.Alltoallv(&k.local, coll.InPlaceV(), to)
	}
	from := coll.VBuf{Base: send.Base, Type: send.Type, Counts: make([]int64, len(to.Counts)),
		Displs: make([]int64, len(to.Displs))}
	for i, p := range k.local.Ranks() {
		from.Counts[i], from.Displs[i] = send.Count, int64(p)*send.Count
	}
	return coll.Alltoallv(&k.local, from, to)
}

// exchangeRows sends the columns of rows to the other masters and puts what they send in their place.
func (k *call) exchangeRows(rows []byte, width, size int64) error {
	n := int64(len(k.local.Ranks()))
	left := int64(0) // where the columns of a client begin in a row
	for i := range k.members {
		if i == k.mine {
			continue
		}
		theirs := int64(len(k.members[i]))
		mem, err := k.Alloc(n * theirs * size)
		if err != nil {
			return err
		}
		for p := range n {
			for q := range theirs {
				to, from := mem[k.cell(p, q, n, theirs)*size:][:size], rows[p*width+left+q*size:][:size]
				if err := k.Copy(coll.Bytes(to), coll.Bytes(from)); err != nil {
					return err
				}
			}
		}
		if err := k.Add(k.Isend(coll.Bytes(mem), k.master(i), tagAlltoall)); err != nil {
			return err
		}
		left += theirs * size
	}
	left = 0
	for i := range k.members {
		if i == k.mine {
			continue
		}
		theirs := int64(len(k.members[i]))
		mem, err := k.arrival(n * theirs * size)
		if err != nil {
			return err
		}
		if err := k.RecvExactly(coll.Bytes(mem), k.master(i), tagAlltoall); err != nil {
			return err
		}
		for q := range n {
			for p := range theirs {
				to, from := rows[q*width+left+p*size:][:size], mem[k.cell(p, q, theirs, n)*size:][:size]
				if err := k.Copy(coll.Bytes(to), coll.Bytes(from)); err != nil {
					return err
				}
			}
		}
		left += theirs * size
	}
	return k.Scratch.Wait(k.Comm)
}

// cell is the place of block p -> q in a message from a client of senders ranks to one of receivers ranks.
func (k *call) cell(p, q, senders, receivers int64) int64 {
	if k.ReceiverMajor {
		return q*senders + p
	}
	return p*receivers + q
}
