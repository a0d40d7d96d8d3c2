package libimpi

import (
	"cmp"
	stdcontext "context"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/meeting"
	"github.com/libimpi/libimpi/transport"
)

// How processes of different jobs come to have a communicator (MPI 5.0, 11.8 to 11.10): they meet (package meeting),
// and then agree on context ids as any two groups do that know each other (comm_make.go). Here stands what a
// meeting needs of the engine.

// Meet joins the group of c, an intracommunicator, with that of another job's, whose processes call it at the same
// time. It is collective. line and failed matter at root: the line to the leader of the other side, which stays the
// caller's to close, and why there is none, or no use in it; then everybody gets that error. Errors reach all
// processes of both sides. ctx bounds the waiting for the other side, at root, and for links.
func (c *Comm) Meet(ctx stdcontext.Context, line transport.Line, root int, failed error) (*Comm, error) {
	if c.Rank() != root {
		line, failed = nil, nil
	}
	m := c.newEncounter(ctx, root, line)
	if r, p := c.foreign(); p != nil {
		err := errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of %s belongs to IMPI client %d, which is not libimpi: "+
			"IMPI knows no communicators of several jobs", r, c.describe(), p.Client)
		m.Refuse(err)
		return nil, err
	}
	return m.join(failed)
}

// encounter is a meeting, as a member of a communicator sees it.
type encounter struct {
	meeting.Side
	c        *Comm
	pinned   []*peer // guests that must stay meanwhile
	admitted []*peer // new ones
}

func (c *Comm) newEncounter(ctx stdcontext.Context, root int, line transport.Line) *encounter {
	m := &encounter{c: c}
	m.Side = meeting.Side{Members: membersOf{c}, Guests: m, Links: linksOf{c}, Root: root, Ctx: ctx, Line: line}
	return m
}

// join makes the intercommunicator of both sides.
func (m *encounter) join(failed error) (*Comm, error) {
	e := m.c.engine
	defer m.Release()
	remote, err := m.Side.Meet(failed)
	if err != nil {
		return nil, AsError(err)
	}
	made, err := e.meetAndJoin(fmt.Sprintf("met %x", m.Secret()), m.c.group, NewGroup(remote))
	return m.allOrNone(made, err)
}

// allOrNone returns the new communicator if all of this side have it: the other side may have been lost before the last
// of them could hear from it.
func (m *encounter) allOrNone(made *Comm, err error) (*Comm, error) {
	without, most := []int32{0}, []int32{0}
	if err != nil {
		without[0] = 1
	}
	failed := m.c.Allreduce(intBuf(without), intBuf(most), op.Predefined(abi.MPI_MAX))
	if failed == nil && most[0] == 0 {
		return made, nil
	}
	if made != nil {
		made.Discard()
	}
	return nil, cmp.Or(err, failed, error(errorf(abi.MPI_ERR_PROC_ABORTED,
		"another process of %s has no communicator with the other side: %v", m.c.describe(), meeting.ErrGone)))
}

// Introduce implements meeting.Guests, as the following do. Whom this process says it knows stays.
func (m *encounter) Introduce() (me meeting.Introduction, known map[meeting.Identity]int32) {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	me = meeting.Introduction{Identity: e.identityOf(e.me), Machine: e.job.Procs[e.me].HostID, Memory: e.position.memory,
		TagUB: e.predefined.tagUB}
	known = map[meeting.Identity]int32{}
	e.guests.all(func(p *peer) {
		if g := p.guest; g.by != nil && p.lost == nil && !(g.leaving && g.needed == 0) {
			me.Guests = append(me.Guests, g.Identity)
			known[g.Identity] = p.Rank
			m.pinned = append(m.pinned, p)
		}
	})
	e.need(m.pinned)
	return me, known
}

// Own reports whether a process is of this job.
func (m *encounter) Own(who meeting.Identity) (own bool, size int32) {
	e := m.c.engine
	return who.Job == e.position.jobID, e.position.size
}

// Admit gives processes numbers.
func (m *encounter) Admit(who []meeting.Introduction) (numbers []int32) {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range who {
		w.Guests = nil
		p := e.admit(w)
		m.admitted = append(m.admitted, p)
		numbers = append(numbers, p.Rank)
	}
	e.need(m.admitted)
	return numbers
}

// Reach makes links the ways to them.
func (m *encounter) Reach(links []transport.Guest) error {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range links {
		i := slices.IndexFunc(m.admitted, func(p *peer) bool { return p.Rank == l.Number })
		e.reach(m.admitted[i], l)
	}
	for _, p := range m.admitted {
		if p.lost != nil {
			return p.lost
		}
	}
	return nil
}

// Release lets go of links that nothing needs. Those of a meeting that has failed are among them.
func (m *encounter) Release() {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spare(m.pinned)
	e.spare(m.admitted)
	e.seeOff()
}

// membersOf are the members of a communicator (meeting.Members).
type membersOf struct{ c *Comm }

func (m membersOf) String() string { return m.c.describe() }
func (m membersOf) Rank() int      { return m.c.Rank() }
func (m membersOf) Size() int      { return m.c.Size() }

// Gather gives the root what all say.
func (m membersOf) Gather(mine []byte, root int) (all [][]byte, err error) {
	c := m.c
	var lengths []int64
	if c.Rank() == root {
		lengths = make([]int64, c.Size())
	}
	recv := numberBuf(lengths)
	recv.Count = 1
	if err := c.Gather(numberBuf([]int64{int64(len(mine))}), recv, root); err != nil {
		return nil, err
	}
	into := coll.VBuf{Type: byteType}
	var room []byte
	var bad error // all take part to the end, whatever one of them says
	if c.Rank() == root {
		total := int64(0)
		for r, n := range lengths {
			if n < 0 || n > meeting.MostWords || total+n > meeting.MostWords {
				bad = errorf(abi.MPI_ERR_OTHER, "rank %d of %s has %d bytes to say", r, c.describe(), n)
				n = 0
			}
			into.Counts, into.Displs = append(into.Counts, n), append(into.Displs, total)
			total += n
		}
		room = make([]byte, total)
		into.Base = startOf(room)
	}
	if err := c.Gatherv(byteBuf(mine), into, root); err != nil || bad != nil {
		return nil, cmp.Or(bad, err)
	}
	for r, n := range lengths {
		at := into.Displs[r]
		all = append(all, room[at:at+n:at+n])
	}
	return all, nil
}

// Bcast gives the root's bytes to all.
func (m membersOf) Bcast(b []byte, root int) ([]byte, error) {
	c := m.c
	n := []int64{int64(len(b))}
	if err := c.Bcast(numberBuf(n), root); err != nil {
		return nil, err
	}
	if n[0] < 0 || n[0] > 3*transport.MaxExchange {
		return nil, errorf(abi.MPI_ERR_INTERN, "rank %d of %s sends %d bytes", root, c.describe(), n[0])
	}
	if c.Rank() != root {
		b = make([]byte, n[0])
	}
	if len(b) == 0 {
		return b, nil
	}
	return b, c.Bcast(byteBuf(b), root)
}
