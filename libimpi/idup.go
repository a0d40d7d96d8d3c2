package libimpi

import (
	"sync"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi/contexts"
)

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
	if err == nil {
		u.to.openPrepared(u.id.ID)
	} else {
		u.failed = AsError(noContext(err))
		u.failed.Comm = u.of
	}
	u.r.status.Err = u.failed
	e.complete(u.r)
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
