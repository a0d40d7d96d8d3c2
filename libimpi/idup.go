package libimpi

import "github.com/libimpi/libimpi/libimpi/contexts"

// Nonblocking duplication (MPI 5.0, 7.4.2). The agreement on the context id runs on a goroutine, under tags of its
// own in the communicator's collective context, so that collectives may overtake it. It keeps the communicator, which
// the program may free meanwhile.

// idupTags lies above the tags of subsets.
const idupTags = subsetTags + 1<<29

// Idup starts to make d, which Unopened has answered, a duplicate of a communicator and answers a request. Before that
// is done, opened is called, on another thread.
func (c *Comm) Idup(d *Comm, opened func()) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newCompound(c.p2p, nothing{}) // keeps c, but not its companion
	if c.local != nil {
		c.local.uses++
	}
	n := c.idups
	c.idups++
	go func() {
		err := c.duplicate(d, n, opened)
		e.mu.Lock()
		defer e.mu.Unlock()
		if c.local != nil {
			c.local.letGo()
		}
		r.status.Err = AsError(err)
		e.complete(r)
	}()
	return r.id
}

func (c *Comm) duplicate(d *Comm, n int, opened func()) error {
	ids, err := c.agreeAside(n)
	if err != nil {
		return err
	}
	d.openOn(ids.Next)
	d.spare = ids.Rest()
	opened()
	return nil
}

// agreeAside finds context ids for the n-th nonblocking duplication, under tags of its own.
func (c *Comm) agreeAside(n int) (contexts.Block, error) {
	members := &subset{all: &c.ops, of: c.group, g: c.group, first: idupTags, tag: n}
	at := contexts.Place{Context: c.p2p.cid, Tag: members.tagged(0)}
	if c.local != nil {
		return c.engine.agreeAmong(at, c.largestAcross(at.Tag))
	}
	return c.engine.agreeAmong(at, members.largest)
}
