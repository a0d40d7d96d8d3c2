package coll

import "github.com/libimpi/libimpi/coll/choose"

var barriers = bind(choose.Barrier, map[string]func(Comm) error{
	"dissemination": barrierDissemination,
	"central":       barrierCentral,
	"direct":        barrierDirect,
	"vendor":        barrierVendor,
	"machines":      nil,
})

// Barrier returns when all ranks have entered it.
func Barrier(c Comm) error { return BarrierAmong(c, false) }

// BarrierAmong is Barrier for ranks that are known to outnumber their cores, or not.
func BarrierAmong(c Comm, crowded bool) error {
	if c.Size() == 1 {
		return nil
	}
	k := caseOf(c, 0)
	k.Crowded = k.Crowded || crowded
	if run := barriers.pick(k); run != nil {
		return run(c)
	}
	return barrierMachines(c)
}

// barrierDissemination takes ceil(log2 p) rounds. In round k a rank tells the one 2^k above it, and hears from the one
// 2^k below it, that 2^k ranks have entered.
//
// Source: Hensgen, Finkel and Manber, Two algorithms for barrier synchronization, 1988.
func barrierDissemination(c Comm) (err error) {
	p, r := c.Size(), c.Rank()
	s := c.Scratch()
	defer s.Done(&err)
	for d := 1; d < p; d <<= 1 {
		if err := s.Exchange(c, Bytes(nil), (r+d)%p, Bytes(nil), (r-d+p)%p, tagBarrier); err != nil {
			return err
		}
	}
	return nil
}

// barrierCentral is Barrier for ranks that outnumber their cores: all tell rank 0, and rank 0 tells all. Its messages
// are sequential, p-1 in each direction, but each rank needs a core only once. Where cores are short a context switch
// costs more than all the messages: a rank that has been told goes on into the next barrier and tells rank 0 before it
// loses its core.
//
// Source: Mellor-Crummey and Scott, Algorithms for scalable synchronization on shared-memory multiprocessors, 1991,
// 3.1, whose central counter is rank 0 here.
func barrierCentral(c Comm) error {
	if c.Rank() != 0 {
		if err := c.Send(Bytes(nil), 0, tagBarrier); err != nil {
			return err
		}
		return c.Recv(Bytes(nil), 0, tagBarrier)
	}
	for r := 1; r < c.Size(); r++ {
		if err := c.Recv(Bytes(nil), r, tagBarrier); err != nil {
			return err
		}
	}
	for r := 1; r < c.Size(); r++ {
		if err := c.Send(Bytes(nil), r, tagBarrier); err != nil {
			return err
		}
	}
	return nil
}
