package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Probe blocks until a message for (source, tag) can be received; IMPI and MPI alike see a message when its
// first packet is complete.
func (c *Comm) Probe(source int, tag int32, st *Status) error {
	_, err := c.probe((*Comm).await, source, tag, st, false)
	return err
}

// Iprobe is Probe that does not block.
func (c *Comm) Iprobe(source int, tag int32, st *Status) (bool, error) {
	m, err := c.probe((*Comm).look, source, tag, st, false)
	return m != nil, err
}

// Matched is a message taken out of matching by a matched probe, and the communicator it came on, which it keeps.
type Matched struct {
	comm *Comm
	m    *message
}

// noProcMessage is what a probe for MPI_PROC_NULL finds.
var noProcMessage = &message{}

// NoProc reports whether this is the answer to a probe for MPI_PROC_NULL, which is not a message that can be received.
func (m *Matched) NoProc() bool { return m.m == noProcMessage }

// Comm is the communicator the message came on.
func (m *Matched) Comm() *Comm { return m.comm }

// Mprobe is Probe that takes the message, so that only Imrecv can receive it.
func (c *Comm) Mprobe(source int, tag int32, st *Status) (*Matched, error) {
	return c.matched(c.probe((*Comm).await, source, tag, st, true))
}

// Improbe is Mprobe that does not block; nil if there is no such message yet.
func (c *Comm) Improbe(source int, tag int32, st *Status) (*Matched, error) {
	return c.matched(c.probe((*Comm).look, source, tag, st, true))
}

func (c *Comm) matched(m *message, err error) (*Matched, error) {
	if m == nil {
		return nil, err
	}
	return &Matched{c, m}, nil
}

// probe is the four of them: find waits for a message or only looks, and take says whether it leaves matching.
func (c *Comm) probe(find func(c *Comm, source, tag int32) (*message, error), source int, tag int32, st *Status,
	take bool) (*message, error) {
	if source == abi.MPI_PROC_NULL {
		*st = procNullStatus
		return noProcMessage, nil
	}
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	m, err := find(c, int32(source), tag)
	if m == nil {
		return nil, err
	}
	*st = Status{Source: m.Source, Tag: m.Tag, Bytes: m.Length, External: m.External}
	if take {
		c.p2p.take(m)
		c.uses++
	}
	return m, nil
}

// await waits for a message for (source, tag). Without one the job has failed.
func (c *Comm) await(source, tag int32) (m *message, err error) {
	c.engine.seek(c.p2p, source, tag, func() bool {
		m = c.p2p.space.Find(source, tag)
		return m != nil
	})
	if m == nil {
		return nil, c.without(source)
	}
	return m, nil
}

// look is await that does not block: nil if there is no such message yet.
func (c *Comm) look(source, tag int32) (*message, error) {
	e := c.engine
	m := c.p2p.space.Find(source, tag)
	if m == nil {
		e.look()
		if m = c.p2p.space.Find(source, tag); m == nil {
			e.invite(c.p2p, source)
			return nil, c.without(source)
		}
	}
	return m, nil
}

// Imrecv receives a matched message.
func (m *Matched) Imrecv(base datatype.Pointer, count int64, t *datatype.Type) uint64 {
	e := m.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newRecv(m.comm.p2p, base, count, t, int(m.m.Source), m.m.Tag)
	m.comm.letGo() // the request has it
	e.receiveKept(r, m.m)
	e.bringOn(r)
	e.leaveRunning(r)
	return r.id
}

// Looking at requests without completing them (MPI_Request_get_status_all, _any and _some; MPI 5.0, 3.7.6).

// describe fills st with the result of a request that is done. Engine lock held, given up to ask a generalized one.
func (e *Engine) describe(r *Request, st *CStatus) error {
	r.state.seen = true
	if e.requests.checked != nil {
		e.requests.checked.Seen(r.id)
	}
	if g := r.general; g != nil {
		e.mu.Unlock()
		defer e.mu.Lock()
		return g.Query(st)
	}
	if st != nil {
		st.Set(&r.status)
	}
	return nil
}

// describeOneOf is describe for one of several: the status has an error of its own.
func (e *Engine) describeOneOf(r *Request, st *CStatus) error {
	failed := r.failure()
	err := e.describe(r, st)
	if st == nil {
		return err
	}
	st.Error = abi.MPI_SUCCESS
	if err != nil {
		failed = AsError(err)
	}
	if failed != nil {
		st.Error = int32(failed.Class)
	}
	return err
}

// GetStatusAll reports whether all requests are done, and then fills st, which is nil or has an element for each.
func (e *Engine) GetStatusAll(ids []uint64, st []CStatus) (bool, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if done, err := e.testAll(ids); !done {
		return false, err
	}
	var first error
	for i, id := range ids {
		s := element(st, i)
		r := e.active(id)
		if r == nil {
			s.setEmpty()
			continue
		}
		if err := e.describeOneOf(r, s); err != nil && first == nil {
			first = err
		}
	}
	return true, first
}

// GetStatusAny returns the index of a done request, MPI_UNDEFINED if there is none; flag is false if one is active
// and none is done.
func (e *Engine) GetStatusAny(ids []uint64, st *CStatus) (at int, flag bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, active, err := e.seekDone(ids, false)
	switch {
	case err != nil || at < 0 && active:
		return abi.MPI_UNDEFINED, false, err
	case at < 0:
		st.setEmpty()
		return abi.MPI_UNDEFINED, true, nil
	}
	return at, true, e.describe(e.active(ids[at]), st)
}

// GetStatusSome stores the indices of all done requests and returns how many they are, MPI_UNDEFINED if none is
// active. st is nil or has room for all.
func (e *Engine) GetStatusSome(ids []uint64, done []int32, st []CStatus) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at, active, err := e.seekDone(ids, false)
	if err != nil || !active {
		return abi.MPI_UNDEFINED, err
	}
	if at < 0 {
		return 0, nil
	}
	n := 0
	var first error
	for i, id := range ids {
		r := e.active(id)
		if r == nil || !r.state.done {
			continue
		}
		done[n] = int32(i)
		if err := e.describeOneOf(r, element(st, n)); err != nil && first == nil {
			first = err
		}
		n++
	}
	return n, first
}
