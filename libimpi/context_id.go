package libimpi

import (
	"cmp"
	"errors"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/contexts"
)

// Context ids. Package contexts says how they are found; here the processes exchange what it asks for. The
// engine's lock guards Engine.ids and Comm.supply, and is given up meanwhile.
//
//	nextCID -> the rule of IMPI: the largest of all
//	        -> the communicator's supply, and where that is used up
//	           newBlock -> the first member gives one, and tells it
//	                    -> vote, where there are several jobs
//	Idup    -> the communicator's supply, and where that is used up the same in the background (idup.go)

// nextCID finds the context id of a new communicator that is made of c; every member of c takes part, also those
// that will not be members.
func (c *Comm) nextCID() (uint64, error) {
	e := c.engine
	if c.inter.ruled {
		choice := e.choose()
		defer e.chosen(&choice)
		most, err := c.largest(e.offerCID(&choice))
		if err != nil {
			return 0, err
		}
		return e.takeCID(&choice, most)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p, bring := c.ids.supply.Ask(nil)
	if bring != nil {
		e.mu.Unlock()
		ids, err := c.newBlock()
		e.mu.Lock()
		c.ids.supply.Bring(bring, ids, err)
	}
	if !p.Done {
		if e.waitFor(func() bool { return p.Done }, anyPeer); !p.Done {
			return 0, e.failure()
		}
	}
	return p.ID, noContext(cmp.Or(p.Err, e.free(p.ID)))
}

// free is the error of a context id that is in use here, which another process has broken the rules for.
func (e *Engine) free(cid uint64) error {
	if e.contexts.find(cid) != nil || e.contexts.find(cid+1) != nil {
		return errorf(abi.MPI_ERR_INTERN, "context id %#x of a new communicator is in use", cid)
	}
	return nil
}

// newBlock finds a block of context ids that all members of c take.
func (c *Comm) newBlock() (contexts.Block, error) {
	if c.severalJobs() {
		return c.engine.vote(contexts.Place{Context: c.p2p.cid}, c.largest)
	}
	word := c.giveBlock()
	if err := c.Collectives.tell(countBuf(word)); err != nil {
		return contexts.Block{}, err
	}
	return c.engine.givenBlock(c.giver(), word)
}

// giver is the process that gives the members of c a block, the first of all of them.
func (c *Comm) giver() int32 {
	first := c.group.World(0)
	if c.inter.local != nil {
		first = min(first, c.inter.local.group.World(0))
	}
	return first
}

// giveBlock is a block in the giver's word; at the others there is room for it.
func (c *Comm) giveBlock() []uint64 {
	if c.giver() != c.engine.me {
		return make([]uint64, 1)
	}
	return []uint64{c.engine.give()}
}

// give is a block of this process, in its word.
func (e *Engine) give() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, _ := e.contexts.ids.Give() // the word says that there is none
	return b.Word()
}

// givenBlock is the block that a process has given.
func (e *Engine) givenBlock(giver int32, word []uint64) (contexts.Block, error) {
	b, err := e.contexts.ids.Given(int(giver), word[0])
	return b, noContext(err)
}

// tell gives all members what the giver has.
func (v Collectives) tell(word coll.Buf) error {
	c := v.c
	if c.inter.local == nil {
		return v.Bcast(word, 0)
	}
	if c.rank == 0 {
		pass := v.on.Recv
		if c.giver() == c.engine.me {
			pass = v.on.Send
		}
		if err := pass(word, 0, tagInterDup); err != nil {
			return err
		}
	}
	return v.own().Bcast(word, 0)
}

// largest is the largest of what the processes of c say.
func (c *Comm) largest(mine uint64) (uint64, error) {
	if c.inter.local != nil {
		return c.largestAcross(tagInterDup)(mine)
	}
	all := make([]uint64, 1)
	err := c.Allreduce(countBuf([]uint64{mine}), countBuf(all), op.Predefined(abi.MPI_MAX))
	return all[0], err
}

// choose begins a choice by IMPI's rule, and chosen ends it.
func (e *Engine) choose() contexts.Choice {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.contexts.ids.Choose()
}

func (e *Engine) chosen(choice *contexts.Choice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	choice.End()
}

// offerCID is what this process contributes to a choice.
func (e *Engine) offerCID(choice *contexts.Choice) uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return choice.Offer()
}

// takeCID notes the largest of all contributions and returns the id that follows.
func (e *Engine) takeCID(choice *contexts.Choice, most uint64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	cid, err := choice.Take(most)
	return cid, noContext(err)
}

// vote finds a block of context ids for processes of several jobs. largest returns the largest of what all who take
// part say.
func (e *Engine) vote(at contexts.Place, largest func(mine uint64) (uint64, error)) (contexts.Block, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.contexts.ids.Agree(at)
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

// noContext is an error of package contexts as one of MPI's; others stay as they are.
func noContext(err error) error {
	switch {
	case errors.Is(err, contexts.ErrBusy):
		return errorf(abi.MPI_ERR_OTHER, "%v; where a client is not libimpi, threads have to take turns with all that "+
			"makes communicators across clients", err)
	case errors.Is(err, contexts.ErrNotIts):
		return errorf(abi.MPI_ERR_INTERN, "%v", err)
	case errors.Is(err, contexts.ErrNoneLeft):
		return errorf(abi.MPI_ERR_OTHER, "%v", err)
	}
	return err
}
