package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/contexts"
)

// Context ids. Package contexts says how they are found; here the processes exchange what it asks for. The
// engine's lock guards Engine.ids, and is given up meanwhile.

// nextCID finds the context id of a new communicator that is made of c; every member of c takes part, also those
// that will not be members.
func (c *Comm) nextCID() (uint64, error) {
	e := c.engine
	if c.spans() {
		most, err := c.largest(e.offerCID())
		if err != nil {
			return 0, err
		}
		return e.takeCID(most)
	}
	e.mu.Lock()
	ids := c.spare
	e.mu.Unlock()
	if ids.Empty() {
		var err error
		if ids, err = e.agreeAmong(contexts.Place{Context: c.p2p.cid}, c.largest); err != nil {
			return 0, err
		}
	}
	e.mu.Lock()
	c.spare = ids.Rest()
	e.mu.Unlock()
	return ids.Next, nil
}

// largest is the largest of what the processes of c say.
func (c *Comm) largest(mine uint64) (uint64, error) {
	if c.local != nil {
		return c.largestAcross(tagInterDup)(mine)
	}
	all := make([]uint64, 1)
	err := c.Allreduce(countBuf([]uint64{mine}), countBuf(all), op.Predefined(abi.MPI_MAX))
	return all[0], err
}

// offerCID is what this process contributes to IMPI's choice of a context id.
func (e *Engine) offerCID() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ids.Offer()
}

// takeCID notes the largest of all contributions and answers the id that follows.
func (e *Engine) takeCID(most uint64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cid, err := e.ids.Take(most)
	return cid, noContext(err)
}

// agreeAmong finds a block of context ids. largest answers the largest of what all who take part say.
func (e *Engine) agreeAmong(at contexts.Place, largest func(mine uint64) (uint64, error)) (contexts.Block, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.ids.Agree(at)
	defer a.End()
	for {
		mine := a.Say()
		e.mu.Unlock()
		most, err := largest(mine)
		e.mu.Lock()
		if err != nil {
			return contexts.Block{}, err
		}
		if done, err := a.Hear(most); done || err != nil {
			return a.Block(), noContext(err)
		}
	}
}

func noContext(err error) error {
	if err != nil {
		return errorf(abi.MPI_ERR_OTHER, "%v", err)
	}
	return nil
}
