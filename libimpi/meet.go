package libimpi

import (
	"cmp"
	stdcontext "context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
)

// How processes of different jobs come to have a communicator (MPI 5.0, 11.8 to 11.10). Two groups, each with a
// communicator, and a line between their leaders:
//
//	introduce  everybody says who he is and whom he knows (meet_wire.go); who of the two sides do not know each other
//	           get links
//	cards      those who need them open a transport.Meeting, and all get the cards of all; Join makes the links
//	outcome    all say whether that went well; if it did not, the new links end
//	contexts   over the links, as any two groups that know each other do it (group_agreement.go)
//
// The line is a connection between two processes that have proved to each other that they may meet; or the leaders'
// messages on a communicator that they share, where a group has processes that the other group does not know
// (meet_line.go).

// Meet joins the group of c, an intracommunicator, with that of another job's, whose processes call it at the same
// time. It is collective. line and failed matter at root: the line to the leader of the other side, which stays the
// caller's to close, and why there is none, or no use in it; then everybody gets that error. Errors reach all
// processes of both sides. ctx bounds the waiting for the other side, at root, and for links.
func (c *Comm) Meet(ctx stdcontext.Context, line transport.Line, root int, failed error) (*Comm, error) {
	if c.Rank() != root {
		line, failed = nil, nil
	}
	m := &encounter{c: c, root: root, ctx: ctx, line: line}
	if r, p := c.foreign(); p != nil {
		err := errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of %s belongs to IMPI client %d, which is not libimpi: "+
			"IMPI knows no communicators of several jobs", r, c.describe(), p.Client)
		m.refuse(err)
		return nil, err
	}
	return m.join(failed)
}

// join makes the intercommunicator of both sides.
func (m *encounter) join(failed error) (*Comm, error) {
	e := m.c.engine
	defer m.end()
	remote, err := m.introduce(failed)
	if err != nil {
		return nil, err
	}
	made, err := e.meetAndJoin(fmt.Sprintf("met %x", sha256.Sum256(m.secret[:])), m.c.group, remote)
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
		"another process of %s has no communicator with the other side: %v", m.c.describe(), errGone)))
}

// introduce makes all of both sides know each other, and returns the other side's group.
func (m *encounter) introduce(failed error) (*Group, error) {
	ours, theirs, err := m.round(m.introduction(), failed)
	if err != nil {
		return nil, err
	}
	s, err := readSides(ours, theirs)
	if err != nil { // all find that out
		err = errorf(abi.MPI_ERR_OTHER, "the other side does not keep the protocol: %v", err)
		m.refuse(err)
		return nil, err
	}
	remote, strangers, err := m.recognize(s)
	if s.strangers() {
		cards, failed := m.cards(err)
		if failed != nil {
			return nil, failed
		}
		err = m.link(s, remote, strangers, cards)
	}
	if _, _, err = m.round(nil, err); err != nil {
		return nil, err
	}
	return NewGroup(remote), nil
}

// introduction is what this process says of itself. Whom it says it knows stays.
func (m *encounter) introduction() []byte {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	me := introduction{identity: identity{e.position.jobID, e.me}, machine: e.job.Procs[e.me].HostID,
		memory: e.position.memory,
		tagUB:  e.predefined.tagUB}
	e.guests.all(func(p *peer) {
		if g := p.guest; g.by != nil && g.lost == nil && !(g.leaving && g.needed == 0) {
			me.guests = append(me.guests, g.identity)
			m.pinned = append(m.pinned, p)
		}
	})
	e.need(m.pinned)
	return me.encode()
}

// end lets go of links that nothing needs. Those of a meeting that has failed are among them.
func (m *encounter) end() {
	e := m.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spare(m.pinned)
	e.spare(m.made)
	e.seeOff()
}

// sides are all who meet, as everybody sees them.
type sides struct {
	of    [2][]introduction // ours and theirs
	knows [2][]map[identity]bool
}

func readSides(ours, theirs [][]byte) (s *sides, err error) {
	s = new(sides)
	seen := map[identity]bool{}
	for i, words := range [...][][]byte{ours, theirs} {
		for _, w := range words {
			p, err := readIntroduction(w)
			if err != nil {
				return nil, err
			}
			if seen[p.identity] {
				return nil, fmt.Errorf("%v takes part twice: the groups of an intercommunicator are disjoint", p.identity)
			}
			seen[p.identity] = true
			knows := make(map[identity]bool, len(p.guests))
			for _, g := range p.guests {
				knows[g] = true
			}
			s.of[i], s.knows[i] = append(s.of[i], p), append(s.knows[i], knows)
		}
	}
	return s, nil
}

// areStrangers reports whether our process i and their process j need a link. Processes of one job have always one, and
// so have those of which each says that it knows the other.
func (s *sides) areStrangers(i, j int) bool {
	a, b := &s.of[0][i], &s.of[1][j]
	return a.job != b.job && !(s.knows[0][i][b.identity] && s.knows[1][j][a.identity])
}

// strangers reports whether any two need a link.
func (s *sides) strangers() bool {
	for i := range s.of[0] {
		for j := range s.of[1] {
			if s.areStrangers(i, j) {
				return true
			}
		}
	}
	return false
}

// recognize returns the numbers of the other side's processes, -1 for those that need a link to this one, which are the
// strangers. Errors: they are not who they can be.
func (m *encounter) recognize(s *sides) (remote []int32, strangers []int, err error) {
	e := m.c.engine
	known := map[identity]int32{}
	for _, p := range m.pinned {
		known[p.guest.identity] = p.rank
	}
	for j := range s.of[1] {
		p := &s.of[1][j]
		number, isKnown := known[p.identity]
		switch {
		case p.job == e.position.jobID && int(p.rank) >= len(e.peers):
			err = errorf(abi.MPI_ERR_OTHER, "the other side has %v, which there is not", p.identity)
		case p.job == e.position.jobID:
			number = p.rank
		case s.areStrangers(m.c.Rank(), j):
			number = noPeer
			strangers = append(strangers, j)
		case !isKnown:
			err = errorf(abi.MPI_ERR_INTERN, "%v should be known, and is not", p.identity)
		}
		remote = append(remote, number)
	}
	return remote, strangers, err
}

// cards are what all who take part in a transport.Meeting have handed out.
type cards struct {
	transport.Meeting
	ours, theirs [][]byte
}

// cards gets the cards of all. err is why this process takes no part: it tells the others.
func (m *encounter) cards(err error) (c cards, _ error) {
	var card []byte
	if err == nil {
		c.Meeting, card, err = m.open()
	}
	c.ours, c.theirs, err = m.round(card, err)
	if err != nil && c.Meeting != nil {
		c.Close()
	}
	return c, err
}

// link makes the links that this process needs, and notes the numbers of those to whom they lead in remote. It ends the
// transport.Meeting.
func (m *encounter) link(s *sides, remote []int32, strangers []int, c cards) error {
	joins := false
	defer func() {
		if !joins {
			c.Close()
		}
	}()
	if len(c.ours) != len(s.of[0]) || len(c.theirs) != len(s.of[1]) {
		return errorf(abi.MPI_ERR_OTHER, "%d and %d processes have introduced themselves, and %d and %d hand out cards",
			len(s.of[0]), len(s.of[1]), len(c.ours), len(c.theirs))
	}
	e := m.c.engine
	numbers := slices.Repeat([]int32{noPeer}, len(c.theirs))
	e.mu.Lock()
	for _, j := range strangers {
		stranger := e.admit(s.of[1][j])
		stranger.guest.guests = nil
		m.made = append(m.made, stranger)
		numbers[j], remote[j] = stranger.rank, stranger.rank
	}
	e.need(m.made)
	e.mu.Unlock()
	ourselves := slices.Repeat([]int32{noPeer}, len(c.ours))
	p := transport.Participants{Me: m.c.Rank(), Secret: m.secret}
	if m.first {
		p.Cards, p.Number = slices.Concat(c.ours, c.theirs), slices.Concat(ourselves, numbers)
	} else {
		p.Cards, p.Number = slices.Concat(c.theirs, c.ours), slices.Concat(numbers, ourselves)
		p.Me += len(numbers)
	}
	for _, card := range p.Cards {
		if len(card) > transport.MaxCard {
			return errorf(abi.MPI_ERR_OTHER, "a process that takes part in the meeting has a card of %d bytes", len(card))
		}
	}
	joins = true
	return m.joinLinks(c.Meeting, p)
}

// open begins a transport.Meeting.
func (m *encounter) open() (meeting transport.Meeting, card []byte, err error) {
	e := m.c.engine
	if e.guests.begin == nil {
		return nil, nil, errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION,
			"rank %d of %s cannot have links with processes of other jobs", m.c.Rank(), m.c.describe())
	}
	if meeting, err = e.guests.begin(); err == nil {
		card, err = meeting.Card()
	}
	if err == nil && len(card) > transport.MaxCard {
		err = fmt.Errorf("its card has %d bytes", len(card))
	}
	if err != nil {
		err = errorf(abi.MPI_ERR_OTHER, "rank %d of %s cannot be met: %v", m.c.Rank(), m.c.describe(), err)
	}
	return meeting, card, err
}

// joinTime is how long the links of a meeting may take.
const joinTime = 60 * time.Second

// lookTime is how often a leader looks meanwhile whether the other one is there. With the other leader its whole job is
// gone, as jobs end as a whole.
const lookTime = 100 * time.Millisecond

// errGone says why nobody waits for links any more.
var errGone = errors.New("the other side has gone")

// joinLinks makes the links. All who take part in the meeting do, also those who need none. The thread that joins ends
// the meeting: if an own process is lost, this one does not wait for it.
func (m *encounter) joinLinks(meeting transport.Meeting, p transport.Participants) error {
	e := m.c.engine
	limited, release := stdcontext.WithTimeout(m.ctx, joinTime)
	defer release()
	ctx, cancel := stdcontext.WithCancelCause(limited)
	defer cancel(nil)
	var links []transport.Guest // the other thread's until it is done
	var err error
	if m.line != nil && !e.home.InTurn {
		go m.watchLine(ctx, cancel)
	}
	together := m.beginJoint(cancel)
	join := func(ctx stdcontext.Context) {
		links, err = meeting.Join(ctx, p, e, e.progress)
		meeting.Close()
	}
	if aside := e.asideUnless(ctx, join, together.look); aside != nil {
		return aside
	}
	if lost := together.end(ctx, err != nil); lost != nil {
		return lost
	}
	if err != nil && stdcontext.Cause(ctx) == errGone {
		return errorf(abi.MPI_ERR_PROC_ABORTED, "%v, while links to it were made", errGone)
	}
	if err != nil {
		return errorf(abi.MPI_ERR_OTHER, "rank %d of %s gets no links to the other side: %v", m.c.Rank(), m.c.describe(), err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	linked := 0
	for _, l := range links {
		if i := slices.IndexFunc(m.made, func(p *peer) bool { return p.rank == l.Number }); i >= 0 && l.By != nil {
			linked++
			e.reach(m.made[i], l)
		}
	}
	if linked != len(m.made) {
		return errorf(abi.MPI_ERR_INTERN, "%d links have been made where %d are needed", linked, len(m.made))
	}
	for _, p := range m.made {
		if p.guest.lost != nil {
			return p.guest.lost
		}
	}
	return nil
}
