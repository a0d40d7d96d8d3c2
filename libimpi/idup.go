package libimpi

// Nonblocking duplication (MPI 5.0, 7.4.2). The agreement on the context id runs on a goroutine, under tags of its
// own in the communicator's collective context, so that collectives may overtake it.

// idupTags lies above the tags of subsets.
const idupTags = subsetTags + 1<<29

// Idup starts to duplicate a communicator and answers a request. Before that is done, made is called with the new
// communicator, on another thread.
func (c *Comm) Idup(made func(*Comm)) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newCompound(c.p2p, nothing{})
	n := c.idups
	c.idups++
	go func() {
		err := c.duplicate(n, made)
		e.mu.Lock()
		defer e.mu.Unlock()
		r.status.Err = AsError(err)
		e.complete(r)
	}()
	return r.id
}

func (c *Comm) duplicate(n int, made func(*Comm)) error {
	ids, err := c.agreeAside(n)
	if err != nil {
		return err
	}
	d, err := c.dupOn(ids.next)
	if err != nil {
		return err
	}
	d.spare = ids.rest()
	made(d)
	return nil
}

// agreeAside finds context ids for the n-th nonblocking duplication, under tags of its own.
func (c *Comm) agreeAside(n int) (cids, error) {
	members := &subset{&c.ops, c.group, c.group, idupTags, n}
	tag := members.tagged(0)
	if c.local != nil {
		return c.engine.agreeAmong(agreement{c.p2p.cid, tag}, c.largestAcross(tag))
	}
	return c.engine.agreeAmong(agreement{c.p2p.cid, tag}, members.largest)
}
