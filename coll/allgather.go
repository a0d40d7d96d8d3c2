package coll

// Allgather collects the block of every rank in everybody's recv, in rank order. recv.Count is the count of
// one block. send may be InPlace (at all ranks): the own block is then in recv.
//
// Short: recursive doubling if p is a power of two, else Bruck's algorithm on packed blocks; log p rounds.
// Long: around a ring, p-1 rounds.
func Allgather(c Comm, send, recv Buf) (err error) {
	p, r, block := c.Size(), c.Rank(), recv.Size()
	if block == 0 {
		return nil
	}
	if err := copyOwn(c, recv.Block(r), send); err != nil || p == 1 {
		return err
	}
	s := c.Scratch()
	defer s.Done(&err)
	switch {
	case int64(p)*block >= allgatherLong:
		return s.ring(c, &Blocks{buf: recv}, tagAllgather)
	case p&(p-1) == 0:
		return s.allgatherDoubling(c, recv)
	}
	return s.allgatherBruck(c, recv, block)
}

// Allgatherv collects blocks of different sizes: the block of rank i goes to recv.Block(i). send may be InPlaceV
// or InPlace (at all ranks). Around a ring.
func Allgatherv(c Comm, send Buf, recv VBuf) (err error) {
	if err := copyOwn(c, recv.Block(c.Rank()), send); err != nil || c.Size() == 1 {
		return err
	}
	s := c.Scratch()
	defer s.Done(&err)
	return s.ring(c, &Blocks{v: recv, kind: varying}, tagAllgather)
}

// ring passes the blocks, of which every rank has its own, to the next rank until all have come round.
func (s *Scratch) ring(c Comm, b *Blocks, tag int) error {
	p, r := c.Size(), c.Rank()
	next, prev := (r+1)%p, (r-1+p)%p
	for i := range p - 1 {
		if err := s.Exchange(c, b.At((r-i+p)%p), next, b.At((r-i-1+p)%p), prev, tag); err != nil {
			return err
		}
	}
	return nil
}

func (s *Scratch) allgatherDoubling(c Comm, recv Buf) error {
	p, r := c.Size(), c.Rank()
	for mask := 1; mask < p; mask <<= 1 {
		mine, n := int64(r&^(mask-1))*recv.Count, int64(mask)*recv.Count
		theirs := int64((r^mask)&^(mask-1)) * recv.Count
		if err := s.Exchange(c, recv.Slice(mine, n), r^mask, recv.Slice(theirs, n), r^mask, tagAllgather); err != nil {
			return err
		}
	}
	return nil
}

// allgatherBruck: place i of the temporary holds the block of rank r+i; d of them are full after log2 d rounds.
func (s *Scratch) allgatherBruck(c Comm, recv Buf, block int64) error {
	p, r := c.Size(), c.Rank()
	mem, err := s.Alloc(int64(p) * block)
	if err != nil {
		return err
	}
	if err := c.Pack(mem[:block], recv.Block(r), 0); err != nil {
		return err
	}
	all := Bytes(mem)
	for d := 1; d < p; d <<= 1 {
		n := int64(min(d, p-d)) * block
		if err := s.Exchange(c, all.Slice(0, n), (r-d+p)%p, all.Slice(int64(d)*block, n), (r+d)%p, tagAllgather); err != nil {
			return err
		}
	}
	for i := 1; i < p; i++ {
		if err := c.Unpack(recv.Block((r+i)%p), mem[int64(i)*block:int64(i+1)*block], 0); err != nil {
			return err
		}
	}
	return nil
}
