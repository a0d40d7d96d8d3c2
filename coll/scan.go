package coll

// Scan leaves in recv of rank r the vectors of ranks 0 to r combined, in rank order. recv.Count and recv.Type
// count, and of send only the address. send may be InPlace.
//
// In the round of distance d rank r hears from r-d the combination of the d ranks up to it: log p rounds.
func Scan(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 {
		return nil
	}
	own := recv
	if !send.IsInPlace() {
		own.Base = send.Base
		if err := c.Copy(recv, own); err != nil {
			return err
		}
	}
	if c.Size() == 1 {
		return nil
	}
	s := c.Scratch()
	defer s.Done(&err)
	return s.scan(c, recv, recv, op, false)
}

// Exscan leaves in recv of rank r the vectors of ranks 0 to r-1 combined; recv of rank 0 is not touched. The rest
// is as with Scan.
func Exscan(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 || c.Size() == 1 {
		return nil
	}
	own := recv
	if !send.IsInPlace() {
		own.Base = send.Base
	}
	s := c.Scratch()
	defer s.Done(&err)
	acc, err := s.Typed(recv.Count, recv.Type)
	if err != nil {
		return err
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	return s.scan(c, acc, recv, op, true)
}

// scan combines into acc what includes this rank's own vector, and if apart, into recv what does not.
func (s *Scratch) scan(c Comm, acc, recv Buf, op Op, apart bool) error {
	p, r := c.Size(), c.Rank()
	tmp, err := s.Typed(acc.Count, acc.Type)
	if err != nil {
		return err
	}
	for d := 1; d < p; d <<= 1 {
		below, above := r >= d, r+d < p
		if below {
			if err := s.Add(c.Irecv(tmp, r-d, tagScan)); err != nil {
				return err
			}
		}
		if above {
			if err := c.Send(acc, r+d, tagScan); err != nil {
				return err
			}
		}
		if !below {
			continue
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		if apart {
			if d == 1 {
				err = c.Copy(recv, tmp)
			} else {
				err = c.Combine(op, tmp, recv)
			}
			if err != nil {
				return err
			}
		}
		if err := c.Combine(op, tmp, acc); err != nil {
			return err
		}
	}
	return nil
}
