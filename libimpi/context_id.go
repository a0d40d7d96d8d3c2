package libimpi

import (
	"cmp"
	"errors"
	"sync"

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
//	Idup    -> the communicator's supply, and where that is used up the same in the background

// nextCID finds the context id of a new communicator that is made of c; every member of c takes part, also those
// that will not be members.
func (c *Comm) nextCID() (uint64, error) {
	e := c.engine
	if lost := c.losses.gone.Load(); lost != nil { // of the members that are left not all may come to know an id
		return 0, lost
	}
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
		if e.waitFor(func() bool { return p.Done }, anyPeer, forMembers(c)); !p.Done {
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

// Nonblocking duplication (MPI 5.0, 7.4.2). The call says which context id of which block the copy gets, so that any
// number may be under way and the order in which they are completed does not matter. If that block is there the
// duplication is complete at once. If not, one of the calls has started a broadcast of it (a Task), and whoever polls
// opens the copies when it has come. Processes of several jobs vote on blocks, on a goroutine for each, one after the
// other.
//
// Before the program has seen that the request is complete it cannot use the copy, even if that was there at once.

// duplication is one under way: what its request is made of, and what tells the program that it is done.
type duplication struct {
	nothing
	r      *Request
	of, to *Comm
	id     *contexts.Promise
	failed *Error
	seen   sync.Once
	opened func()
}

// Idup starts to make d, which Unopened has returned, a duplicate of a communicator, and returns a request. When the
// program sees that this is done, opened is called.
func (c *Comm) Idup(d *Comm, opened func()) uint64 {
	d.prepare()
	u := &duplication{of: c, to: d, opened: opened}
	id, bring := u.begin()
	if bring != nil {
		c.bring(bring)
	}
	return id
}

// begin gives the copy its place among what is made of the communicator. It may return a block to bring, as Supply.Ask
// does.
func (u *duplication) begin() (request uint64, bring *contexts.Coming) {
	c := u.of
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	u.r = e.newCompound(c.p2p, u)
	u.r.general = u
	request = u.r.id
	if lost := c.losses.first; lost != nil {
		u.fail(lost)
		return request, nil
	}
	if u.id, bring = c.ids.supply.Ask(u.end); u.id.Done {
		u.end()
	}
	return request, bring
}

// end opens the copy, whose context id is known. Engine lock held.
func (u *duplication) end() {
	e := u.of.engine
	err := u.id.Err
	if err == nil {
		err = e.free(u.id.ID)
	}
	if err != nil {
		u.fail(AsError(noContext(err)))
		return
	}
	u.to.openPrepared(u.id.ID)
	e.complete(u.r)
}

// fail ends the duplication without a copy. Engine lock held.
func (u *duplication) fail(err *Error) {
	failed := *err
	failed.Comm = u.of
	u.failed, u.r.status.Err = &failed, &failed
	u.of.engine.complete(u.r)
}

// Query implements General: the program sees that the duplication is done.
func (u *duplication) Query(st *CStatus) error {
	if st.setEmpty(); u.failed != nil {
		return u.failed
	}
	u.seen.Do(u.opened)
	return nil
}

// Free implements General.
func (u *duplication) Free() error { return nil }

// Cancel implements General; such a request cannot be cancelled (Request.isTask).
func (u *duplication) Cancel(bool) error { return nil }

// bring finds the next block of what is made of c, in the background.
func (c *Comm) bring(b *contexts.Coming) {
	if c.severalJobs() {
		c.bringByVote(b)
		return
	}
	e := c.engine
	word := c.giveBlock()
	t, err := c.Later(coll.Nonblocking)
	if err == nil {
		if err = t.Operations().tell(countBuf(word)); err != nil {
			t.Drop()
		}
	}
	if err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		c.ids.supply.Bring(b, contexts.Block{}, err)
		return
	}
	t.StartAside(func(failed *Error) {
		if failed != nil {
			c.ids.supply.Bring(b, contexts.Block{}, failed)
			return
		}
		ids, err := e.givenBlock(c.giver(), word)
		c.ids.supply.Bring(b, ids, err)
	})
}

// voteTag lies above the tags of collectives and of subsets.
const voteTag = subsetTags + 1<<29

// bringByVote is bring where there are several jobs. Votes of one communicator follow each other, under a tag of their
// own, so that collectives may overtake them. They keep the communicator, which the program may free meanwhile.
func (c *Comm) bringByVote(b *contexts.Coming) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	sides := []*Comm{c}
	if c.inter.local != nil {
		sides = append(sides, c.inter.local)
	}
	for _, s := range sides {
		s.uses++
	}
	before, over := c.ids.voting, make(chan struct{})
	c.ids.voting = over
	go func() {
		defer close(over)
		if before != nil {
			<-before
		}
		ids, err := c.voteAside()
		e.mu.Lock()
		defer e.mu.Unlock()
		c.ids.supply.Bring(b, ids, err)
		for _, s := range sides {
			s.letGo()
		}
	}()
}

// voteAside is a vote that collectives may overtake.
func (c *Comm) voteAside() (contexts.Block, error) {
	at := contexts.Place{Context: c.p2p.cid, Tag: voteTag}
	if c.inter.local != nil {
		return c.engine.vote(at, c.largestAcross(voteTag))
	}
	members := &subset{c: c, g: c.group, on: c.coll, first: voteTag}
	return c.engine.vote(at, members.largest)
}
