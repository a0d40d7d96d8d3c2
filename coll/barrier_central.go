package coll

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
