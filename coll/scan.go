package coll

type scanBy = algorithm[func(s *Scratch, c Comm, acc, recv Buf, op Op, apart bool) error]

var (
	scans = newOperation("scan", "the vector", scanTable,
		&scanBy{name: "doubling", run: (*Scratch).scanDoubling},
		&scanBy{name: "pipeline", run: (*Scratch).scanPipeline},
		&scanBy{name: "tree", run: (*Scratch).scanTree},
	)
	exscans = newOperation("exscan", "the vector", scanTable,
		&scanBy{name: "doubling", run: (*Scratch).scanDoubling},
		&scanBy{name: "pipeline", run: (*Scratch).scanPipeline},
		&scanBy{name: "tree", run: (*Scratch).scanTree},
	)
)

// Scan leaves in recv of rank r the vectors of ranks 0 to r combined, in rank order. recv.Count and recv.Type
// count, and of send only the address. send may be InPlace.
func Scan(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 {
		return nil
	}
	if err := c.Copy(recv, operand(send, recv)); err != nil {
		return err
	}
	if c.Size() == 1 {
		return nil
	}
	s := c.Scratch()
	defer s.Done(&err)
	return scans.pick(scanCase(c, recv, op))(s, c, recv, recv, op, false)
}

// Exscan leaves in recv of rank r the vectors of ranks 0 to r-1 combined; recv of rank 0 is not touched. The rest
// is as with Scan.
func Exscan(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 || c.Size() == 1 {
		return nil
	}
	own := operand(send, recv)
	s := c.Scratch()
	defer s.Done(&err)
	acc, err := s.Typed(recv.Count, recv.Type)
	if err != nil {
		return err
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	return exscans.pick(scanCase(c, recv, op))(s, c, acc, recv, op, true)
}

func scanCase(c Comm, recv Buf, op Op) Case {
	return Case{Ranks: c.Size(), Bytes: recv.Size(), Count: recv.Count, Commutes: op.Commutative()}
}

// scanDoubling combines into acc what includes this rank's own vector, and if apart, into recv what does not. In the
// round of distance d rank r hears from r-d the combination of the d ranks up to it: ceil(log2 p) rounds of the whole
// vector.
func (s *Scratch) scanDoubling(c Comm, acc, recv Buf, op Op, apart bool) error {
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
