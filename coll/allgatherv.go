package coll

import (
	"github.com/libimpi/libimpi/coll/buffer"
	"github.com/libimpi/libimpi/coll/choose"
)

// Allgatherv with few rounds, whatever the blocks.

// bruck: ceil(log2 p) rounds of packed blocks, (p-1)/p of all bytes through each rank if the blocks are equal. A rank
// keeps the blocks of the ranks from its own on, in this order; 2^i of them are there after i rounds.
//
// Source: Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing systems, 1997;
// Traff 2010, 9.6.
func (s *Scratch) bruck(c Comm, b *Blocks) error {
	p, r := c.Size(), c.Rank()
	at, err := s.Counts(p + 1) // where the block of rank r+i begins
	if err != nil {
		return err
	}
	at[0] = 0
	for i := range p {
		block := b.At((r + i) % p)
		at[i+1] = at[i] + block.Size()
	}
	mem, err := s.Alloc(at[p])
	if err != nil {
		return err
	}
	all, k := Bytes(mem), cut{n: p, count: at[p], at: at}
	if err := c.Pack(mem[:at[1]], b.At(r), 0); err != nil {
		return err
	}
	for d := 1; d < p; d <<= 1 {
		n := min(d, p-d)
		if err := s.Exchange(c, k.of(all, 0, n), (r-d+p)%p, k.of(all, d, d+n), (r+d)%p, tagAllgather); err != nil {
			return err
		}
	}
	for i := 1; i < p; i++ {
		if err := c.Unpack(b.At((r+i)%p), mem[at[i]:at[i+1]], 0); err != nil {
			return err
		}
	}
	return nil
}

// allgathervBruck is for short blocks of any size.
func (s *Scratch) allgathervBruck(c Comm, recv VBuf) error {
	return s.bruck(c, &Blocks{v: recv, kind: varying})
}

// allgathervCirculant is the broadcasts of all ranks at once (circulant.go): each block is cut into n pieces, and a
// message has a piece of the block of every rank. n-1 + q rounds, q = ceil(log2 p), and m (n-1+q)/n bytes of m in all,
// whatever the sizes of the blocks. With the best n it takes the time (sqrt((q-1) a) + sqrt(m b))^2.
//
// Source: Traff, Optimal broadcast schedules in logarithmic time, 2024.
func (s *Scratch) allgathervCirculant(c Comm, recv VBuf) error {
	p, r := c.Size(), c.Rank()
	a := everybody{g: newCirculant(p), blocks: Blocks{v: recv, kind: varying}}
	if err := a.prepare(s, c); err != nil {
		return err
	}
	first, end := a.g.roundsOf(a.n)
	for i := first; i < end; i++ {
		skip := a.g.skip[i%a.g.q]
		to, from := (r+skip)%p, (r-skip+p)%p
		out, err := a.pieces(c, a.out, to, i, first, true)
		if err != nil {
			return err
		}
		in := a.room(r, i, first)
		if in > 0 {
			if err := s.Add(c.Irecv(Bytes(a.in[:in]), from, tagAllgather)); err != nil {
				return err
			}
		}
		if out > 0 {
			if err := c.Send(Bytes(a.out[:out]), to, tagAllgather); err != nil {
				return err
			}
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		if _, err := a.pieces(c, a.in, r, i, first, false); err != nil {
			return err
		}
	}
	return a.finish(c)
}

// everybody is what a rank has for the broadcasts of all ranks.
type everybody struct {
	g       circulant
	n       int // pieces of a block
	blocks  Blocks
	place   cut    // of the packed blocks
	packed  []byte // nil: the blocks of the receive buffer have no gaps
	table   []byte // by distance from a root, and round: the number in the schedule of receives
	in, out []byte // a message
}

func (a *everybody) prepare(s *Scratch, c Comm) (err error) {
	p, q := a.g.p, a.g.q
	at, err := s.Counts(p + 1)
	if err != nil {
		return err
	}
	at[0] = 0
	gaps := false
	for i := range p {
		block := a.blocks.At(i)
		at[i+1] = at[i] + block.Size()
		_, ok := buffer.Contiguous(block)
		gaps = gaps || !ok
	}
	a.place = cut{n: p, count: at[p], at: at}
	a.n = choose.Blocks(at[p], q-1)
	if gaps {
		if a.packed, err = s.Alloc(at[p]); err != nil {
			return err
		}
		r := c.Rank()
		if err = c.Pack(a.packed[at[r]:at[r+1]], a.blocks.At(r), 0); err != nil {
			return err
		}
	}
	if a.table, err = s.Alloc(int64(p * q)); err != nil {
		return err
	}
	for v := range p {
		in := a.g.receives(v)
		for k := range q {
			a.table[v*q+k] = byte(int8(in[k]))
		}
	}
	room := at[p]/int64(a.n) + int64(p)
	if a.in, err = s.Alloc(room); err != nil {
		return err
	}
	a.out, err = s.Alloc(room)
	return err
}

// piece is what rank `at` receives in round i of the block of rank root, in memory without gaps; empty if nothing.
func (a *everybody) piece(root, at, i, first int) Buf {
	v := at - root
	if v < 0 {
		v += a.g.p
	}
	number := int(int8(a.table[v*a.g.q+i%a.g.q])) + i/a.g.q*a.g.q - first
	if v == 0 || number < 0 {
		return Buf{Type: buffer.Byte}
	}
	var block Buf
	if a.packed != nil {
		block = a.place.of(Bytes(a.packed), root, root+1)
	} else {
		block, _ = buffer.Contiguous(a.blocks.At(root))
	}
	number = min(number, a.n-1)
	k := evenly(block, a.n)
	return k.of(block, number, number+1)
}

// room is how long the message is that rank `at` receives in round i.
func (a *everybody) room(at, i, first int) (n int64) {
	for root := range a.g.p {
		n += a.piece(root, at, i, first).Count
	}
	return n
}

// pieces copies what rank `at` receives in round i to a message or from one, and returns its length.
func (a *everybody) pieces(c Comm, message []byte, at, i, first int, out bool) (n int64, err error) {
	for root := range a.g.p {
		part := a.piece(root, at, i, first)
		if part.Count == 0 {
			continue
		}
		place := Bytes(message[n : n+part.Count])
		n += part.Count
		if out {
			err = c.Copy(place, part)
		} else {
			err = c.Copy(part, place)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// finish unpacks what has come.
func (a *everybody) finish(c Comm) error {
	if a.packed == nil {
		return nil
	}
	for i := range a.g.p {
		if i == c.Rank() {
			continue
		}
		at := a.place.start(i)
		if err := c.Unpack(a.blocks.At(i), a.packed[at:a.place.start(i+1)], 0); err != nil {
			return err
		}
	}
	return nil
}
