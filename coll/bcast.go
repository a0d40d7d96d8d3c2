package coll

// Bcast gives the data in root's buffer to all ranks. Counts and types may differ, their signatures not.
//
// Short: a binomial tree. Long: the message as bytes, cut into p pieces, is scattered along the same tree,
// and then every rank collects the pieces of the others around a ring.
func Bcast(c Comm, b Buf, root int) (err error) {
	p, n := c.Size(), b.Size()
	if p == 1 || n == 0 {
		return nil
	}
	if n < bcastLong || p < 3 {
		return bcastTree(c, b, root)
	}
	s := c.Scratch()
	defer s.Done(&err)
	return s.bcastLong(c, b, root)
}

func bcastTree(c Comm, b Buf, root int) error {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	mask := lowBit(v, p)
	if v != 0 {
		if err := c.Recv(b, (v-mask+root)%p, tagBcast); err != nil {
			return err
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if v+mask < p {
			if err := c.Send(b, (v+mask+root)%p, tagBcast); err != nil {
				return err
			}
		}
	}
	return nil
}

// lowBit is the lowest bit set in v, or for 0 the smallest power of two that is not less than p: the
// number of ranks in the binomial subtree at v, were p a power of two.
func lowBit(v, p int) int {
	if v != 0 {
		return v & -v
	}
	mask := 1
	for mask < p {
		mask <<= 1
	}
	return mask
}

func (s *Scratch) bcastLong(c Comm, b Buf, root int) error {
	p := c.Size()
	v := (c.Rank() - root + p) % p
	var m Buf
	var mem []byte // the packed copy, if there must be one
	var ok bool
	var err error
	if m, ok = contiguous(b); !ok {
		if mem, err = s.Alloc(b.Size()); err != nil {
			return err
		}
		m = Bytes(mem)
		if v == 0 {
			if err = c.Pack(mem, b, 0); err != nil {
				return err
			}
		}
	}
	piece := (m.Count + int64(p) - 1) / int64(p)
	part := func(i, n int) Buf {
		from := min(int64(i)*piece, m.Count)
		return m.Slice(from, min(int64(i+n)*piece, m.Count)-from)
	}
	mask := lowBit(v, p)
	if v != 0 {
		if err := c.Recv(part(v, mask), (v-mask+root)%p, tagBcast); err != nil {
			return err
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if v+mask < p {
			if err := c.Send(part(v+mask, mask), (v+mask+root)%p, tagBcast); err != nil {
				return err
			}
		}
	}
	next, prev := (v+1+root)%p, (v-1+p+root)%p
	for i := range p - 1 {
		if err := s.Exchange(c, part((v-i+p)%p, 1), next, part((v-i-1+p)%p, 1), prev, tagBcast); err != nil {
			return err
		}
	}
	if mem != nil && v != 0 {
		return c.Unpack(b, mem, 0)
	}
	return nil
}
