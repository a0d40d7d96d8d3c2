package libimpi

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/meeting"
	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/transport"
)

// Guests are processes of other jobs that this one has links with (MPI 5.0, chapter 11).
//
// In the whole world a process is known by its identity: its job, and its rank there. Inside an engine it is a number:
// its rank in MPI_COMM_WORLD if it is of the own job, above these what this engine has given it. Numbers are never
// given twice, so that a group that names a process which has gone names nobody else. Between processes of one job
// ranks in MPI_COMM_WORLD travel; where the two ends may be of different jobs, identities do.
//
//	meet.go   admits them       -> communicators are made of them (Comm.guests), and count on them
//	the last communicator goes  -> seeOff: their links end in order
//	loss.go                     -> or they are lost, which ends what needs them and nothing else
//
// The engine's lock guards everything but the table's list, which is read without it.

// guest is what is known of a process of another job, besides what is known of all peers.
type guest struct {
	meeting.Introduction
	parter  transport.Parter // by which the link ends; nil: it cannot
	by      *carrier         // nil: the link is not there yet
	near    bool             // the process shares memory with this one
	needed  int              // by so many communicators and meetings
	leaving bool             // stands in Engine.leaving
}

// guestTable finds guests by their numbers, counted from the size of MPI_COMM_WORLD; nil where they have gone. A
// process may have had a million of them: whatever is done to all is done to those that are here.
type guestTable struct {
	list atomic.Pointer[[]atomic.Pointer[peer]]
	here []*peer // those that have not gone

	far     []*carrier                        // to guests on other machines; nil: there are none
	leaving []*peer                           // guests that nothing needs any more
	nobody  peer                              // stands for guests that have gone
	begin   func() (transport.Meeting, error) // transport.Links.Meet
	indexer transport.Indexer                 // of ways.local; nil: it has none
}

// peer is the process with a number, which is not negative. It is inlined: it is on the way of each message.
func (e *Engine) peer(number int32) *peer {
	if number < e.position.size {
		return &e.peers[number]
	}
	return e.visitor(number)
}

// visitor is peer for a process of another job. One that has gone is nobody.
func (e *Engine) visitor(number int32) *peer {
	if list := e.guests.list.Load(); list != nil {
		if i := uint(number) - uint(len(e.peers)); i < uint(len(*list)) {
			if p := (*list)[i].Load(); p != nil {
				return p
			}
		}
	}
	return &e.guests.nobody
}

// isGuest reports whether a number is one of a process of another job.
func (e *Engine) isGuest(number int32) bool { return uint(number) >= uint(len(e.peers)) }

// nobody is a process of another job that has gone.
func nobody() peer {
	p := peer{guest: &guest{}, lost: errorf(abi.MPI_ERR_PROC_ABORTED,
		"a process of another job is not connected any more")}
	p.Rank = noPeer
	p.stand(-1)
	return p
}

// all calls f with each guest that has not gone.
func (t *guestTable) all(f func(p *peer)) {
	for i := 0; i < len(t.here); i++ {
		f(t.here[i])
	}
}

// admit gives a process of another job a number. It cannot be reached yet.
func (e *Engine) admit(who meeting.Introduction) *peer {
	t := &e.guests
	var old []atomic.Pointer[peer]
	if list := t.list.Load(); list != nil {
		old = *list
	}
	// The list has room, so that few of its readers see it move. What they see of it does not change but for ends.
	grown := old
	if len(old) == cap(old) {
		grown = make([]atomic.Pointer[peer], len(old), 2*len(old)+4)
		for i := range old {
			grown[i].Store(old[i].Load())
		}
	}
	grown = grown[:len(old)+1]
	p := &peer{guest: &guest{Introduction: who}}
	p.Rank = int32(len(e.peers) + len(old))
	p.stand(-1)
	grown[len(old)].Store(p)
	t.list.Store(&grown)
	t.here = append(t.here, p)
	return p
}

// reach makes the link that a meeting has made the way to a guest.
func (e *Engine) reach(p *peer, link transport.Guest) {
	g := p.guest
	g.by, g.near = e.carrierOf(link), link.Near
	g.parter, _ = link.By.(transport.Parter)
	p.reachBy(g.by)
	p.rep = datatype.External32
	if !link.Near {
		p.gather = nil // it would have to be told when the program waits
	}
	e.countGuests()
}

// carrierOf is the carrier of a transport that may serve several guests.
func (e *Engine) carrierOf(link transport.Guest) *carrier {
	if link.Near {
		return &e.ways.local
	}
	for _, c := range e.guests.far {
		if c.Transport == link.By {
			return c
		}
	}
	c := carry(link.By)
	return &c
}

// countGuests recomputes what depends on the guests: which transports to poll, and whether there are cores for
// all.
func (e *Engine) countGuests() {
	near := 0
	var far []*carrier
	if e.ways.vendor.connected() {
		far = append(far, &e.ways.vendor)
	}
	e.guests.all(func(p *peer) {
		switch g := p.guest; {
		case g.by == nil:
		case g.near:
			near++
		case !slices.Contains(far, g.by):
			far = append(far, g.by)
		}
	})
	e.guests.far = far
	e.position.alone = len(e.home.World) == 1 && near == 0
	e.setPatient(e.cohabitants()+near > e.home.Cores)
}

// pollFar polls the transports to guests on other machines.
func (e *Engine) pollFar() (did bool) {
	for _, c := range e.guests.far {
		did = c.Poll() || did
	}
	return did
}

// armFar is transport.Waker.Arm of these transports.
func (e *Engine) armFar() {
	for _, c := range e.guests.far {
		if c.waker != nil {
			c.waker.Arm()
		}
	}
}

// examineFar is transport.Examiner.CheckPeers of them.
func (e *Engine) examineFar() {
	for _, c := range e.guests.far {
		if c.examiner != nil {
			c.examiner.CheckPeers()
		}
	}
}

// need keeps the links to some guests, and spare does no longer: those that nothing needs end soon.
func (e *Engine) need(list []*peer) {
	for _, p := range list {
		p.guest.needed++
	}
}

func (e *Engine) spare(list []*peer) {
	for _, p := range list {
		g := p.guest
		if g.needed--; g.needed <= 0 && !g.leaving && p != &e.guests.nobody {
			g.leaving = true
			e.guests.leaving = append(e.guests.leaving, p)
		}
	}
}

// seeOff ends the links to guests that nothing needs, when all that is for them has left. It is not called from within
// a transport. It reports whether there was one.
func (e *Engine) seeOff() bool {
	before := len(e.guests.leaving)
	e.guests.leaving = slices.DeleteFunc(e.guests.leaving, func(p *peer) bool {
		g := p.guest
		switch {
		case g.needed > 0 && p.lost == nil:
			g.leaving = false
			return true
		case p.Waits():
			return false
		}
		e.part(p)
		return true
	})
	return len(e.guests.leaving) < before
}

// part ends the link to a guest, and forgets the process.
func (e *Engine) part(p *peer) {
	g := p.guest
	e.pressure.Reopen(&p.Pressure)
	if g.by != nil && g.parter != nil {
		g.parter.Part(p.Rank)
	}
	e.dropEarly(p)
	p.tr = nil
	if p.lost == nil {
		p.lost = e.guests.nobody.lost
	}
	g.by, g.parter, g.leaving = nil, nil, false
	if g.needed <= 0 { // else communicators have it still
		list := *e.guests.list.Load()
		list[int(p.Rank)-len(e.peers)].Store(nil)
		if i := slices.Index(e.guests.here, p); i >= 0 {
			e.guests.here = slices.Delete(e.guests.here, i, i+1)
		}
	}
	e.countGuests()
}

// owes reports whether something waits for room that is for a process of the own job, or for guests, too. In a job that
// is fault tolerant one may have departed without it: it was of a message given up after a loss or a revocation.
func (e *Engine) owes(guests bool) bool {
	return slices.ContainsFunc(e.protocol.Busy(), func(p *protocol.Peer) bool {
		return (guests || !e.isGuest(p.Rank)) && !(e.job.FaultTolerant && e.hasDeparted(p.Rank))
	})
}

// partAll ends the links to all guests, at the end, and waits until they have ended them too, or the deadline.
func (e *Engine) partAll(deadline time.Time) {
	var all []*peer
	e.guests.all(func(p *peer) {
		if p.guest.by != nil && p.guest.parter != nil {
			all = append(all, p)
		}
	})
	parters := make([]transport.Parter, len(all))
	for i, p := range all {
		parters[i] = p.guest.parter
		e.part(p)
	}
	e.waitFor(func() bool {
		for i, p := range all {
			if !parters[i].Parted(p.Rank) {
				return e.now().After(deadline)
			}
		}
		return true
	}, anyPeer, forConnection)
}

// guestsOf are the members of a group that are of other jobs. lost is why one of them is not there; nil: all are.
func (e *Engine) guestsOf(g *Group) (list []*peer, lost *Error) {
	if !g.Beyond(int32(len(e.peers))) {
		return nil, nil
	}
	for i := range g.Size() {
		if w := g.World(i); e.isGuest(w) {
			p := e.peer(w)
			if list = append(list, p); p.lost != nil {
				lost = p.lost
			}
		}
	}
	return list, lost
}

// foreignJobs reports whether members of a group are of other jobs.
func (e *Engine) foreignJobs(g *Group) bool { return g.Beyond(int32(len(e.peers))) }

// severalJobs reports whether the communicator has processes of other jobs than this one's. If so, all its processes
// say the same.
func (c *Comm) severalJobs() bool {
	return len(c.foreigners.known) > 0 || c.inter.local != nil && len(c.inter.local.foreigners.known) > 0
}

// identityOf is the identity of the process with a number.
func (e *Engine) identityOf(number int32) meeting.Identity {
	if e.isGuest(number) {
		return e.peer(number).guest.Identity
	}
	return meeting.Identity{Job: e.position.jobID, Rank: number}
}

// before reports whether the process with number a comes before that with number b, in an order that all processes
// share which know both.
func (e *Engine) before(a, b int32) bool { return e.identityOf(a).Compare(e.identityOf(b)) < 0 }

// identitiesAsWords are the identities of the members of a group, as words for contexts.OfGroup.
func (e *Engine) identitiesAsWords(g *Group) (words []int32) {
	for i := range g.Size() {
		id := e.identityOf(g.World(i))
		for at := 0; at < len(id.Job); at += 4 {
			words = append(words, int32(binary.BigEndian.Uint32(id.Job[at:])))
		}
		words = append(words, id.Rank)
	}
	return words
}

// machineOf says on which machine a process is: processes of different jobs count as on different ones.
func (e *Engine) machineOf(number int32) (at struct{ job, machine [16]byte }) {
	if e.isGuest(number) {
		g := e.peer(number).guest
		at.job, at.machine = g.Job, g.Machine
	} else {
		at.job, at.machine = e.position.jobID, e.job.Procs[number].HostID
	}
	return at
}

// jobIDOf makes an id of a job's tables, for jobs that have been given none: who is where, by which process id.
func jobIDOf(job *transport.Job) (id [16]byte) {
	h := sha256.New()
	for i := range job.Procs {
		p := &job.Procs[i]
		h.Write(p.HostID[:])
		binary.Write(h, binary.BigEndian, []int64{p.PID, int64(p.Host), int64(p.Client)})
	}
	copy(id[:], h.Sum(nil))
	return id
}

// memoryHere tells how data looks in this process's memory: the same for two processes only if it looks the same. What
// two jobs say to each other of themselves is that of all their processes, so that all come to the same conclusion.
func memoryHere() (rep [16]byte) {
	copy(rep[:], runtime.GOARCH)
	return rep
}
