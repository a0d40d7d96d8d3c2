package coll

import "github.com/libimpi/libimpi/coll/choose"

// scanners combine into recv what includes this rank's own vector, or if apart, what does not.
var scanners = map[string]func(s *Scratch, c Comm, own, recv Buf, op Op, apart bool) error{
	"doubling": (*Scratch).scanDoubling,
	"direct":   (*Scratch).scanDirect,
	"pipeline": (*Scratch).scanPipeline,
	"tree":     (*Scratch).scanTree,
	"board":    (*Scratch).scanBoard,
	"machines": nil,
}

var scans, exscans = bind(choose.Scan, scanners), bind(choose.Exscan, scanners)

// Scan leaves in recv of rank r the vectors of ranks 0 to r combined, in rank order. recv.Count and recv.Type
// count, and of send only the address. send may be InPlace.
func Scan(c Comm, send, recv Buf, op Op) (err error) {
	if recv.Count == 0 {
		return nil
	}
	own := operand(send, recv)
	if c.Size() == 1 {
		return c.Copy(recv, own)
	}
	s := c.Scratch()
	defer s.Done(&err)
	if run := scans.pick(reductionOf(c, recv, op)); run != nil {
		return run(s, c, own, recv, op, false)
	}
	return s.scanMachines(c, own, recv, op)
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
	if run := exscans.pick(reductionOf(c, recv, op)); run != nil {
		return run(s, c, own, recv, op, true)
	}
	return s.exscanMachines(c, own, recv, op)
}

// accumulator returns where a rank combines its own vector with those of lower ranks: in recv, or apart from it.
func (s *Scratch) accumulator(c Comm, own, recv Buf, apart bool) (acc Buf, err error) {
	if acc = recv; apart {
		if acc, err = s.Typed(recv.Count, recv.Type); err != nil {
			return Buf{}, err
		}
	}
	return acc, c.Copy(acc, own)
}

// scanDoubling combines into recv what includes this rank's own vector, or if apart, what does not. In the round of
// distance d rank r hears from r-d the combination of the d ranks up to it: ceil(log2 p) rounds of the whole vector.
//
// Source: Hillis and Steele, Data parallel algorithms, 1986; Traff 2010, 9.4 (simultaneous binomial trees).
func (s *Scratch) scanDoubling(c Comm, own, recv Buf, op Op, apart bool) error {
	if apart {
		return s.exscanDoubling(c, own, recv, op)
	}
	p, r := c.Size(), c.Rank()
	// The vector of the rank below may come to recv, and the own one be combined with it, if it is in another place.
	direct := r > 0 && op.Commutative() && own.Base != recv.Base
	tmp := recv
	if r > 1 || r == 1 && !direct {
		var err error
		if tmp, err = s.Typed(recv.Count, recv.Type); err != nil {
			return err
		}
	}
	for d := 1; d < p; d <<= 1 {
		below, above := r >= d, r+d < p
		from, to, with := recv, tmp, tmp
		if d == 1 {
			if from = own; direct {
				to, with = recv, own
			}
		}
		if below {
			if err := s.Add(c.Irecv(to, r-d, tagScan)); err != nil {
				return err
			}
		}
		if above {
			if err := c.Send(from, r+d, tagScan); err != nil {
				return err
			}
		}
		if d == 1 && !direct { // others may go on meanwhile
			if err := c.Copy(recv, own); err != nil {
				return err
			}
		}
		if !below {
			continue
		}
		if err := s.Wait(c); err != nil {
			return err
		}
		if err := c.Combine(op, with, recv); err != nil {
			return err
		}
	}
	return nil
}

// exscanDoubling is the same for what does not include the own vector: acc, which does, is combined only for those who
// will hear of it.
func (s *Scratch) exscanDoubling(c Comm, own, recv Buf, op Op) (err error) {
	p, r := c.Size(), c.Rank()
	acc, tmp := own, recv
	if r > 0 && (r+2 < p || own.Base == recv.Base) {
		if acc, err = s.accumulator(c, own, recv, true); err != nil {
			return err
		}
	}
	if r > 1 {
		if tmp, err = s.Typed(recv.Count, recv.Type); err != nil {
			return err
		}
	}
	for d := 1; d < p; d <<= 1 {
		below, above := r >= d, r+d < p
		to := tmp
		if d == 1 {
			to = recv
		}
		if below {
			if err := s.Add(c.Irecv(to, r-d, tagScan)); err != nil {
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
		if d > 1 {
			if err := c.Combine(op, tmp, recv); err != nil {
				return err
			}
		}
		if r+2*d < p {
			if err := c.Combine(op, to, acc); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanMachines: a scan within each machine; an exscan of their results, between the last ranks; and a broadcast of
// that within each machine, whose ranks put it before what they have. The ranks of each machine follow one another.
// Rounds are those of these three, and a machine receives no more than one rank does in an exscan among machines.
//
// Source: Traff 2010, 9.4: the hierarchical algorithm for SMP systems.
func (s *Scratch) scanMachines(c Comm, own, recv Buf, op Op) error {
	k := s.lastOnes(c)
	if err := Scan(&k.within, orInPlace(own, recv), recv, op); err != nil {
		return err
	}
	before, err := s.scanBetween(k, recv, recv, op)
	if err != nil || before.Count == 0 {
		return err
	}
	return c.Combine(op, before, recv)
}

// exscanMachines is the same with an exscan within. The last rank adds its own vector for those of other machines.
func (s *Scratch) exscanMachines(c Comm, own, recv Buf, op Op) (err error) {
	k, total := s.lastOnes(c), Buf{}
	if k.leads() {
		if total, err = s.accumulator(c, own, recv, true); err != nil {
			return err
		}
	}
	if err := Exscan(&k.within, orInPlace(own, recv), recv, op); err != nil {
		return err
	}
	first := k.within.me == 0
	if k.leads() && !first {
		if err := c.Combine(op, recv, total); err != nil {
			return err
		}
	}
	before, err := s.scanBetween(k, total, recv, op)
	switch {
	case err != nil || before.Count == 0:
		return err
	case first:
		return c.Copy(recv, before)
	}
	return c.Combine(op, before, recv)
}

// lastOnes makes the views in which the last rank of each machine stands for it.
func (s *Scratch) lastOnes(c Comm) *levels {
	m := machinesOf(c)
	return s.levelsOf(c, m, m.last, m.Members(m.Of(c.Rank()))-1)
}

// orInPlace is own, or InPlace if that is recv.
func orInPlace(own, recv Buf) Buf {
	if own.Base == recv.Base {
		return InPlace()
	}
	return own
}

// scanBetween returns what the vectors of all machines before this rank's are combined to, nothing if there are none.
// total is what those of this rank's machine are, and counts at its last rank; like is a vector.
func (s *Scratch) scanBetween(k *levels, total, like Buf, op Op) (before Buf, err error) {
	first := k.between.me == 0
	if first && !k.leads() {
		return Buf{}, nil
	}
	if before, err = s.Typed(like.Count, like.Type); err != nil {
		return Buf{}, err
	}
	if k.leads() {
		if err := Exscan(&k.between, total, before, op); err != nil || first {
			return Buf{}, err
		}
	}
	return before, Bcast(&k.within, before, k.lead)
}
