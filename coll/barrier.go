package coll

// Barrier returns when all ranks have entered it: dissemination, ceil(log2 p) rounds. In round k a rank tells
// the one 2^k above it, and hears from the one 2^k below it, that 2^k ranks have entered.
func Barrier(c Comm) (err error) {
	p, r := c.Size(), c.Rank()
	if p == 1 {
		return nil
	}
	s := c.Scratch()
	defer s.Done(&err)
	for d := 1; d < p; d <<= 1 {
		if err := s.Exchange(c, Bytes(nil), (r+d)%p, Bytes(nil), (r-d+p)%p, tagBarrier); err != nil {
			return err
		}
	}
	return nil
}
