package libimpi

// Nonblocking duplication (MPI 5.0, 7.4.2). The agreement on the context id runs on a goroutine, under tags of its
// own in the communicator's collective context, so that collectives may overtake it.

// idupTags lies above the tags of subsets.
const idupTags = subsetTags + 1<<29

// Idup starts to duplicate an intracommunicator and answers a request. Before that is done, made is called with the new
// communicator, on another thread.
func (c *Comm) Idup(made func(*Comm)) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newCompound(c.p2p, nothing{})
	members := &subset{&c.ops, c.group, c.group, idupTags, c.idups}
	c.idups++
	go func() {
		err := c.duplicate(members, made)
		e.mu.Lock()
		defer e.mu.Unlock()
		r.status.Err = AsError(err)
		e.complete(r)
	}()
	return r.id
}

func (c *Comm) duplicate(members *subset, made func(*Comm)) error {
	cid, err := c.agreeCIDOn(members)
	if err != nil {
		return err
	}
	d, err := c.engine.newComm(c.group, cid)
	if err != nil {
		return err
	}
	d.topology = c.topology
	made(d)
	return nil
}
