package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// Operations of few ranks that are far from each other: one of each IMPI client. What costs is how often a message has
// to wait for another one from far away, and so each rank sends to all that need its data at once, without waiting:
// every operation takes one way, where a tree takes ceil(log2 p). All ports are free meanwhile, but a rank moves what
// the ranks of a tree share: long vectors of many ranks go other ways (choose.Direct and the tables).
//
//	barrier     everybody tells everybody
//	bcast       root sends to all, long messages in pieces, which a rank hands on in its client as they come
//	reduce      all send to root, long vectors in pieces
//	allreduce   everybody sends to everybody, and all combine in rank order: so they get the same bits
//	scan        everybody sends to those above
//	allgather   everybody sends to everybody
//
// Source: IMPI 0.0, 4.10 to 4.18, whose linear forms of operations with a root these are; Traff 2010, 9.3.

// exchangeAll starts to send out(rank) to each other rank, and to receive from it what in(rank) is for; then it waits.
// Both sides of a message have the same elements, and between distant ranks it goes in pieces, all of them at once.
func (s *Scratch) exchangeAll(c Comm, out, in func(rank int) Buf, tag int) error {
	p, r, far := c.Size(), c.Rank(), distant(c)
	for i := 1; i < p; i++ {
		to, from := (r+i)%p, (r-i+p)%p
		sent, received := out(to), in(from)
		nOut, nIn := 1, 1
		if far {
			most := max(1, farWindow/2/(p-1))
			nOut, nIn = min(most, choose.Pieces(sent.Size())), min(most, choose.Pieces(received.Size()))
		}
		for at := range max(nOut, nIn) {
			if len(s.reqs) >= farWindow || !far && s.Full() {
				if err := s.Wait(c); err != nil {
					return err
				}
			}
			if at < nOut {
				if err := s.Add(c.Isend(sent.Pieces(nOut, at, at+1), to, tag)); err != nil {
					return err
				}
			}
			if at < nIn {
				if err := s.Add(c.Irecv(received.Pieces(nIn, at, at+1), from, tag)); err != nil {
					return err
				}
			}
		}
	}
	return s.Wait(c)
}

// farWindow is how many messages with distant ranks are under way at once.
const farWindow = 4 * window

func nothing(int) Buf { return Bytes(nil) }

// barrierDirect: p-1 messages of each rank, at once.
func barrierDirect(c Comm) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	return s.exchangeAll(c, nothing, nothing, tagBarrier)
}

// bcastLinear: root sends p-1 messages at once.
func bcastLinear(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	if b.Size() >= wholeFrom {
		return s.bcastWhole(c, b, root)
	}
	m, err := s.flat(c, b, c.Rank() == root)
	if err != nil {
		return err
	}
	if err := s.bcastStar(c, m, choose.Pieces(m.Count), root, nil); err != nil {
		return err
	}
	return unflat(c, b, m, c.Rank() == root)
}

// wholeFrom is how many bytes go as one message, of which no rank has a copy: beside them one more way is nothing.
const wholeFrom = 4 << 20

func (s *Scratch) bcastWhole(c Comm, b Buf, root int) error {
	if c.Rank() != root {
		req, err := c.Irecv(b, root, tagBcast)
		if err != nil {
			return err
		}
		return c.Wait(req)
	}
	for j := 1; j < c.Size(); j++ {
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		if err := s.Add(c.Isend(b, (root+j)%c.Size(), tagBcast)); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// bcastStar sends n pieces of a message to all. Meanwhile a rank hands on those that it has at other levels.
func (s *Scratch) bcastStar(c Comm, m Buf, n, root int, below []handOn) error {
	k, p := evenly(m, n), c.Size()
	if c.Rank() != root {
		for i := range n {
			req, err := c.Irecv(k.of(m, i, i+1), root, tagBcast)
			if err != nil {
				return err
			}
			s.coming = append(s.coming, req)
		}
	}
	for i := range n {
		for j := 1; j < p && c.Rank() == root; j++ {
			if s.Full() {
				if err := s.Wait(c); err != nil {
					return err
				}
			}
			if err := s.Add(c.Isend(k.of(m, i, i+1), (root+j)%p, tagBcast)); err != nil {
				return err
			}
		}
		if c.Rank() != root {
			if err := c.Wait(s.coming[i : i+1]...); err != nil {
				return err
			}
		}
		if err := s.handOn(c, m, &k, below, i+1); err != nil {
			return err
		}
	}
	s.coming = s.coming[:0]
	return s.Wait(c)
}

// reduceLinear: root gets all vectors at once. It combines them in rank order, or if that does not matter, as they
// come.
func (s *Scratch) reduceLinear(c Comm, own, recv Buf, op Op, root int) error {
	p, r := c.Size(), c.Rank()
	switch {
	case op.Commutative():
		acc := own
		if r == root {
			if acc = recv; own.Base != recv.Base {
				if err := c.Copy(recv, own); err != nil {
					return err
				}
			}
		}
		return s.reduceStar(c, acc, op, piecesOf(acc), root, nil)
	case r != root:
		return c.Send(own, root, tagReduce)
	}
	all, err := s.Typed(int64(p)*own.Count, own.Type)
	if err != nil {
		return err
	}
	of := func(i int) Buf { return all.Slice(int64(i)*own.Count, own.Count) }
	for i := range p {
		if i == r {
			err = c.Copy(of(i), own)
		} else {
			if s.Full() {
				if err := s.Wait(c); err != nil {
					return err
				}
			}
			err = s.Add(c.Irecv(of(i), i, tagReduce))
		}
		if err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil {
		return err
	}
	sum, err := foldAll(c, op, p, of)
	if err != nil {
		return err
	}
	return c.Copy(recv, sum)
}

// piecesOf is in how many pieces a vector goes to distant ranks.
func piecesOf(b Buf) int { return int(min(int64(choose.Pieces(b.Size())), b.Count)) }

// star is what root receives in a reduction of pieces: of each other rank no more than `slots` at a time.
type star struct {
	k     cut
	slots int
	room  Buf
}

// slot is room for piece i of the j-th other rank, and req the place of its request.
func (t *star) slot(j, i int) (room Buf, req int) {
	req = j*t.slots + i%t.slots
	return t.room.Slice(int64(req)*t.k.longest(), t.k.start(i+1)-t.k.start(i)), req
}

// reduceStar combines the vectors of all ranks in acc at root, in n pieces, the last one first. A rank has combined
// each piece at the levels below before it sends it. For operations that commute.
func (s *Scratch) reduceStar(c Comm, acc Buf, op Op, n, root int, below []fanIn) error {
	if c.Rank() == root {
		return s.starRoot(c, acc, op, n, below)
	}
	k := evenly(acc, n)
	for i := n - 1; i >= 0; i-- {
		for l := range below {
			if err := below[l].until(i); err != nil {
				return err
			}
		}
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		if err := s.Add(c.Isend(k.of(acc, i, i+1), root, tagReduce)); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

func (s *Scratch) starRoot(c Comm, acc Buf, op Op, n int, below []fanIn) (err error) {
	p, root := c.Size(), c.Rank()
	t := star{k: evenly(acc, n), slots: min(n, max(leastSlots, n/(p-1)))}
	if t.room, err = s.Typed(int64((p-1)*t.slots)*t.k.longest(), acc.Type); err != nil {
		return err
	}
	for range (p - 1) * t.slots {
		s.coming = append(s.coming, 0)
	}
	post := func(i int) error {
		for j := 0; j < p-1 && i >= 0; j++ {
			room, at := t.slot(j, i)
			if s.coming[at], err = c.Irecv(room, (root+1+j)%p, tagReduce); err != nil {
				return err
			}
		}
		return nil
	}
	for i := n - 1; i >= n-t.slots; i-- {
		if err := post(i); err != nil {
			return err
		}
	}
	for i := n - 1; i >= 0; i-- {
		for l := range below {
			if err := below[l].until(i); err != nil {
				return err
			}
		}
		for j := range p - 1 {
			room, at := t.slot(j, i)
			if err := c.Wait(s.coming[at : at+1]...); err != nil {
				return err
			}
			if err := c.Combine(op, room, t.k.of(acc, i, i+1)); err != nil {
				return err
			}
		}
		if err := post(i - t.slots); err != nil {
			return err
		}
	}
	s.coming = s.coming[:0]
	return nil
}

// leastSlots is how many pieces may come from a rank at once at least: they fill the way from far away.
const leastSlots = 8

// allreduceDirect: p-1 messages of each rank, at once.
func (s *Scratch) allreduceDirect(c Comm, own, acc Buf, op Op) error {
	if c.Size() == 2 {
		return s.allreduceTwo(c, own, acc, op)
	}
	sum, err := s.foldBlocks(c, func(int) Buf { return own }, op, tagAllreduce)
	if err != nil {
		return err
	}
	return c.Copy(acc, sum)
}

// allreduceTwo: two ranks exchange their vectors. That of rank 0 is the left operand, the right one is where the result
// arises, and what comes goes to acc if it may.
func (s *Scratch) allreduceTwo(c Comm, own, acc Buf, op Op) (err error) {
	in, first := acc, c.Rank() == 0
	if !first || own.Base == acc.Base {
		if in, err = s.Typed(acc.Count, acc.Type); err != nil {
			return err
		}
	}
	if err := s.exchangeAll(c, func(int) Buf { return own }, func(int) Buf { return in }, tagAllreduce); err != nil {
		return err
	}
	if first {
		if err := c.Combine(op, own, in); err != nil {
			return err
		}
		return c.Copy(acc, in)
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	return c.Combine(op, in, acc)
}

// scanDirect: each rank sends its vector to all above, and combines its own with those from below, from the nearest
// one on; if apart, the nearest takes the place of its own. p-1 messages of the first rank, at once.
func (s *Scratch) scanDirect(c Comm, own, recv Buf, op Op, apart bool) error {
	p, r := c.Size(), c.Rank()
	all, err := s.Typed(int64(r)*own.Count, own.Type)
	if err != nil {
		return err
	}
	of := func(i int) Buf { return all.Slice(int64(i)*own.Count, own.Count) }
	for d := 1; d < p; d++ {
		if s.Full() {
			if err := s.Wait(c); err != nil {
				return err
			}
		}
		if r+d < p {
			if err := s.Add(c.Isend(own, r+d, tagScan)); err != nil {
				return err
			}
		}
		if r >= d {
			if err := s.Add(c.Irecv(of(r-d), r-d, tagScan)); err != nil {
				return err
			}
		}
	}
	if err := s.Wait(c); err != nil || apart && r == 0 {
		return err
	}
	n, last := r, own
	if apart {
		n, last = r-1, of(r-1)
	}
	if err := c.Copy(recv, last); err != nil {
		return err
	}
	for i := n - 1; i >= 0; i-- {
		if err := c.Combine(op, of(i), recv); err != nil {
			return err
		}
	}
	return nil
}

// allgatherDirect: p-1 messages of each rank, at once. allgathervDirect is the same for blocks of any size.
func (s *Scratch) allgatherDirect(c Comm, recv Buf) error {
	return s.exchangeBlocks(c, &Blocks{buf: recv})
}

func (s *Scratch) allgathervDirect(c Comm, recv VBuf) error {
	return s.exchangeBlocks(c, &Blocks{v: recv, kind: varying})
}

// exchangeBlocks sends blocks as bytes, so that both sides cut them in the same pieces, whatever their types.
func (s *Scratch) exchangeBlocks(c Comm, b *Blocks) error {
	p, r := c.Size(), c.Rank()
	at, err := s.Counts(p + 1)
	if err != nil {
		return err
	}
	at[0] = 0
	gaps := false
	for i := range p {
		_, ok := buffer.Contiguous(b.At(i))
		gaps, at[i+1] = gaps || !ok, at[i]+b.size(i)
	}
	if !gaps {
		return s.exchangeAll(c, func(int) Buf { return bytesOf(b, r) }, func(i int) Buf { return bytesOf(b, i) },
			tagAllgather)
	}
	mem, err := s.Alloc(at[p])
	if err != nil {
		return err
	}
	packed := func(i int) Buf { return Bytes(mem[at[i]:at[i+1]]) }
	if err := c.Pack(mem[at[r]:at[r+1]], b.At(r), 0); err != nil {
		return err
	}
	if err := s.exchangeAll(c, func(int) Buf { return packed(r) }, packed, tagAllgather); err != nil {
		return err
	}
	for i := range p {
		if i == r {
			continue
		}
		if err := c.Unpack(b.At(i), mem[at[i]:at[i+1]], 0); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf is a block without gaps.
func bytesOf(b *Blocks, i int) Buf {
	m, _ := buffer.Contiguous(b.At(i))
	return m
}
