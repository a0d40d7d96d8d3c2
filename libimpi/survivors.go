package libimpi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/survive"
	"github.com/libimpi/libimpi/transport"
)

// survivors are what the members of a communicator, of both groups if there are two, have to act together although some
// of them are lost: the state machines of package survive, and a context beside the communicator in which these talk,
// whatever has become of the others. Their messages are small, and are taken when they arrive, by whoever polls.
//
//	Agree, Shrink (agree.go), Revoke -> survivors: made by the first use, or for the first message of another member
//	a message -> arrived -> heard -> a state machine -> advance: what it has to say leaves, operations are over
//	the launcher's word of a loss -> tellOfLosses -> other clients: hearOfLoss
//	a loss (loss.go) -> tellSurvivors -> hearOfLosses -> the same
//	the communicator is freed -> retire: others may still ask for the last decision
//
// All methods run under the engine's lock.
type survivors struct {
	e          *Engine
	of         *Comm // nil: it has been freed
	space      *Comm // the members, in an order that all share. It has one context, and the program has no handle
	agreements *survive.Agreements
	revocation *survive.Revocation
	foreign    error       // why they cannot agree; nil: they can
	lost       survive.Set // those that the state machines know to be lost
	underWay   []*settlement
	retired    uint64 // when the communicator was freed, in operations of the process
	parting    bool   // the job has come to its end: who is not there any more has departed, or is lost
	late       bool   // and has been there for so long that nobody will say whether it is lost

	posting  bool // post is at work
	outgoing outgoing
}

// outgoing is memory for post.
type outgoing struct {
	messages []survive.Message
	told     []int // of a revocation
	bytes    []byte
}

// Tags of their messages.
const (
	tagAgreement  = iota // of package survive
	tagRevocation        // no data
	tagLoss              // a process of the sender's client, by rank in MPI_COMM_WORLD, as 4 bytes
)

// survivors are those of the communicator.
func (c *Comm) survivors() *survivors {
	if c.losses.survivors != nil {
		return c.losses.survivors
	}
	e, g := c.engine, c.inOrder()
	me := g.Rank(e.me)
	s := &survivors{e: e, of: c, space: &Comm{engine: e, group: g, rank: int32(me), native: c.native},
		agreements: survive.New(me, g.Size(), survive.ShapeFor(g.Size())), revocation: survive.NewRevocation(me, g.Size())}
	s.meetForeigners()
	c.losses.survivors = s
	e.loss.survivors = append(e.loss.survivors, s)
	ctx := e.newContext(c.p2p.cid|contexts.Survivors, s.space, g.Size())
	ctx.survives, ctx.serve, s.space.p2p = true, s, ctx
	s.hearOfLosses()
	e.openContext(ctx)
	return s
}

// meetForeigners looks for members of another implementation, which would not understand. Word of a revocation passes
// them by, as it does those that are lost.
func (s *survivors) meetForeigners() {
	if s.e.job.Clients <= 1 {
		return
	}
	var foreign []int
	for i := range s.space.group.Size() {
		if p := s.e.foreign(s.space.group.World(i)); p != nil {
			foreign = append(foreign, i)
			s.foreign = errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of MPI_COMM_WORLD belongs to IMPI client %d, "+
				"which is not libimpi: members of %s cannot agree", s.space.group.World(i), p.Client, s.of.describe())
		}
	}
	s.revocation.Lost(survive.Of(foreign...))
}

// hearOfLosses takes the news that processes are lost.
func (s *survivors) hearOfLosses() {
	if !s.e.loss.some && !s.e.foreignJobs(s.space.group) {
		return
	}
	var lost []int
	for i, world := range s.space.group.Worlds() {
		p := s.e.peer(world)
		if world != s.e.me && (s.e.isSettled(p) || s.parting && (s.e.hasDeparted(world) || s.late && p.lost != nil)) {
			lost = append(lost, i)
		}
	}
	all := survive.Of(lost...)
	if !all.Within(s.lost) {
		s.lost = s.lost.Union(all)
		s.agreements.Lost(s.lost)
		s.revocation.Lost(s.lost)
	} else if !slices.ContainsFunc(s.underWay, func(t *settlement) bool { return t.op == nil }) {
		return
	}
	s.admit()
	s.advance()
}

// doubts reports whether this process takes members for lost of which it is not decided that they are.
func (s *survivors) doubts() bool {
	return s.e.loss.some && !s.late && slices.ContainsFunc(s.space.group.Worlds(), func(world int32) bool {
		p := s.e.peer(world)
		return p.lost != nil && !s.e.isSettled(p)
	})
}

// tellSurvivors tells those of all communicators that processes are lost.
func (e *Engine) tellSurvivors() {
	for _, s := range slices.Clone(e.loss.survivors) {
		s.hearOfLosses()
	}
}

// arrived implements server. The order of messages does not matter: a long one, which comes piece by piece, holds up
// none.
func (s *survivors) arrived(source int32) {
	ctx := s.space.p2p
	for m := ctx.space.Find(source, anyTag); m != nil; m = ctx.space.Find(source, anyTag) {
		ctx.take(m)
		switch {
		case m.Kind == uint8(transport.Data):
			s.heard(source, m.Tag, m.Payload)
			s.e.giveBack(m)
		case m.Length > survive.Longest(s.space.group.Size()):
			s.e.breach(m.Peer, "an agreement's message that is too long")
			s.e.giveBack(m)
		default:
			b := coll.Bytes(make([]byte, m.Length))
			r := s.e.newRecv(ctx, b.Base, b.Count, b.Type, int(source), m.Tag)
			s.e.receiveKept(r.join(longWord{s: s}, 0), m)
		}
	}
}

// longWord is the compound of a message that comes piece by piece.
type longWord struct {
	nothing
	s *survivors
}

// partDone implements compound.
func (l longWord) partDone(_ *Engine, m *Request) {
	if m.failure() == nil {
		l.s.heard(m.status.Source, m.status.Tag, bytesAt(m.mem.base, m.mem.count))
	}
}

// heard takes a message.
func (s *survivors) heard(source, tag int32, b []byte) {
	var err error
	switch {
	case tag == tagRevocation:
		if s.revocation.Heard(int(source)) && s.of != nil {
			s.of.revoke()
		}
	case tag == tagLoss:
		err = s.e.hearOfLoss(s.space.group.World(int(source)), b)
	case s.foreign != nil:
		err = s.foreign
	default:
		var m survive.Message
		if m, err = survive.Parse(int(source), int(s.space.rank), b); err == nil {
			err = s.agreements.Receive(m)
		}
	}
	switch world := s.space.group.World(int(source)); {
	case errors.Is(err, survive.ErrFailed):
		s.e.expelled(fmt.Errorf("so says rank %d of MPI_COMM_WORLD", world))
	case err != nil:
		s.e.breach(world, err.Error())
	}
	s.advance()
}

// expelled ends this process, which another one takes for lost: nobody listens to it any more.
func (e *Engine) expelled(why error) {
	lost := errorf(abi.MPIX_ERR_PROC_FAILED, "others take this process for lost: %v", why)
	if e.loss.failed.CompareAndSwap(nil, lost) {
		e.ring()
		e.condemn(e.me, false, lost)
	}
}

// advance does what follows from what the state machines have heard.
func (s *survivors) advance() {
	if known := s.agreements.Known(); s.parting {
		// Who counts the departed as lost makes all others do so, who must then look, too, at who departs after these.
		s.lost, s.e.loss.some = known, s.e.loss.some || len(known) > 0
	} else if len(known) > len(s.lost) {
		for _, i := range known.Without(s.lost) {
			s.e.peer(s.space.group.World(int(i))).certain = true
			s.e.noteLost(s.space.group.World(int(i)), errFoundLost)
		}
		s.e.tellSurvivors()
	}
	s.post()
	s.settle()
}

var errFoundLost = errors.New("others have found so")

// post sends what the state machines have to say.
func (s *survivors) post() {
	if s.posting {
		return
	}
	s.posting = true
	defer func() { s.posting = false }()
	for {
		out := &s.outgoing
		out.messages = append(out.messages[:0], s.agreements.Messages()...)
		out.told = append(out.told[:0], s.revocation.Tell()...)
		if len(out.messages) == 0 && len(out.told) == 0 {
			return
		}
		for _, to := range out.told {
			s.send(to, tagRevocation, nil)
		}
		for i := range out.messages {
			out.bytes = out.messages[i].Append(out.bytes[:0])
			s.send(out.messages[i].To, tagAgreement, out.bytes)
		}
		clear(out.messages)
	}
}

// send sends a message, unless its receiver is lost.
func (s *survivors) send(to int, tag int32, b []byte) {
	world := s.space.group.World(to)
	if s.e.peer(world).lost != nil {
		return
	}
	buf := coll.Bytes(b)
	if s.e.sendShort(s.space.p2p, buf.Base, buf.Count, buf.Type, world, tag) {
		return
	}
	buf = coll.Bytes(slices.Clone(b))
	s.e.start(s.e.newSend(s.space.p2p, buf.Base, buf.Count, buf.Type, world, tag, modeStandard).join(nothing{}, 0))
}

// tellOfLosses tells processes of other clients which ones of this client are lost by its launcher's word. So does the
// server, but it may have gone, and behind an agent a process that dies closes no connection. Those that live share the
// others among them: all again after each loss, as they may not have known of the same ones before.
func (e *Engine) tellOfLosses() {
	var lost, living, others []int32
	for r := range int32(len(e.job.Procs)) {
		p := e.peer(r)
		switch own := e.job.Procs[r].Client == e.job.Procs[e.me].Client; {
		case own && p.lost == nil:
			living = append(living, r)
		case own && p.certain:
			lost = append(lost, r)
		case !own && e.foreign(r) == nil:
			others = append(others, r)
		}
	}
	if len(others) == 0 || len(lost) == 0 {
		return
	}
	s := e.predefined.world.survivors()
	for i := slices.Index(living, e.me); i < len(others); i += len(living) {
		for _, r := range lost {
			s.send(int(s.space.sourceOf(others[i])), tagLoss, binary.BigEndian.AppendUint32(nil, uint32(r)))
		}
	}
}

// hearOfLoss takes the word of a process that one of its client is lost.
func (e *Engine) hearOfLoss(teller int32, b []byte) error {
	r := int32(-1)
	if len(b) == 4 {
		r = int32(binary.BigEndian.Uint32(b))
	}
	if r < 0 || int(r) >= len(e.job.Procs) || e.job.Procs[r].Client != e.job.Procs[teller].Client || r == e.me {
		return fmt.Errorf("%d bytes that are no word of a loss in its client", len(b))
	}
	e.peer(r).certain = true
	if why := fmt.Errorf("so says rank %d of MPI_COMM_WORLD", teller); e.noteLost(r, why) {
		e.condemn(r, false, why)
	}
	e.tellSurvivors()
	return nil
}

// mostRetired is how many communicators that have been freed are remembered.
const mostRetired = 256

// retire keeps what the members of a communicator have agreed on when it is freed: who has returned from an agreement
// may have to tell the decision to others whose messengers are lost. Another agreement of the same processes, or of
// more, shows that all have it (forgetWithin); and if there are too many of them, the oldest is forgotten.
func (s *survivors) retire() {
	e := s.e
	s.of, s.retired = nil, e.loss.operations
	if e.loss.retired = append(e.loss.retired, s); len(e.loss.retired) > mostRetired {
		e.loss.retired[0].forget()
	}
}

// forget ends survivors.
func (s *survivors) forget() {
	e, is := s.e, func(o *survivors) bool { return o == s }
	e.loss.unsettled -= len(s.underWay)
	e.loss.survivors = slices.DeleteFunc(e.loss.survivors, is)
	e.loss.retired = slices.DeleteFunc(e.loss.retired, is)
	if s.space.freed = true; s.space.uses == 0 {
		e.forget(s.space)
	}
}

// forgetWithin forgets communicators that were freed before an operation in which all survivors of their processes have
// said that they wait for no other one.
func (s *survivors) forgetWithin(operation uint64) {
	for _, o := range slices.Clone(s.e.loss.retired) {
		if o.retired <= operation && !o.revocation.Revoked() && !o.agreements.Busy() &&
			!slices.ContainsFunc(o.space.group.Worlds(), func(w int32) bool { return s.space.sourceOf(w) < 0 }) {
			o.forget()
		}
	}
}

// hearEarly takes a message for survivors that have not been made here, and reports whether it could: word of a
// revocation waits for its communicator apart from others, since there may be many for communicators that have gone.
func (e *Engine) hearEarly(h *transport.Header, payload []byte) bool {
	if ctx := e.contexts.find(h.CID &^ contexts.Survivors); ctx != nil && ctx == ctx.comm.p2p && !ctx.survives {
		ctx.comm.survivors()
		e.arrive(h, payload)
		return true
	}
	if h.Tag == tagRevocation {
		e.loss.some = true
		e.loss.early.Add(h.Src, h.CID&^contexts.Survivors)
		return true
	}
	return false
}

// What a program does about members of a communicator that are lost (ULFM): it asks which they are, acknowledges them,
// and revokes the communicator, so that members end what they wait for there who do not wait for one that is lost.
//
//	Revoke, or a member's word (heard) -> revoke -> endHopeless (loss.go), and the other members are told
//	a member's word about a communicator that is still being made -> hearEarly -> noticeLost (loss.go) -> revoke
//
// Messages in contexts that survive are about losses: they fail only if their peer is lost.

// Revoke ends everything on the communicator, now and from now on, at all members (MPIX_Comm_revoke).
func (c *Comm) Revoke() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c.revoke()
}

// revoke is Revoke under the lock.
func (c *Comm) revoke() {
	e := c.engine
	if c.losses.revoked != nil {
		return
	}
	e.loss.some = true
	revoked := errorf(abi.MPIX_ERR_REVOKED, "%s has been revoked", c.describe())
	for _, one := range c.both() {
		l := &one.losses
		l.revoked, l.first = revoked, nil // what follows it counts more than what has led to it
		one.needs(revoked)
		if one.close(); one.window != nil {
			one.window.Revoke(revoked.Text)
		}
	}
	e.endHopeless()
	s := c.survivors()
	s.revocation.Revoke()
	s.advance()
}

// close ends communication in the contexts of a communicator that is revoked, but for those that survive. Messages that
// nobody has received are dropped, as those of a communicator that is freed are.
func (c *Comm) close() {
	for _, ctx := range c.contexts() {
		if ctx == nil || ctx.survives {
			continue
		}
		ctx.closed = true
		for m := ctx.space.Oldest(); m != nil; m = ctx.space.Oldest() {
			if m.Self != nil {
				c.engine.giveUp(m.Self, c.losses.revoked)
				continue
			}
			ctx.take(m)
			c.engine.giveBack(m)
		}
	}
}

// Revoked reports whether the communicator is revoked (MPIX_Comm_is_revoked).
func (c *Comm) Revoked() bool {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return c.losses.revoked != nil
}

// Losses reports whether members are lost, and whether the communicator is revoked. Engine lock held.
func (c *Comm) Losses() (some, revoked bool) {
	return len(c.losses.failed) > 0, c.losses.revoked != nil
}

// Failed are the members that are known here to be lost, in the order in which this was noticed (MPIX_Comm_get_failed).
// What comes later is added at the end.
func (c *Comm) Failed() *Group {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return NewGroup(slices.Clone(c.losses.failed))
}

// AckFailed acknowledges the first n members of Failed, or all of them if they are fewer, and returns how many have
// been acknowledged by now (MPIX_Comm_ack_failed). When all are, receives from any source do not pend.
func (c *Comm) AckFailed(n int) int {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	l := &c.losses
	l.acknowledged = max(l.acknowledged, min(n, len(l.failed)))
	return l.acknowledged
}

// Acknowledged are the members whose loss has been acknowledged (MPIX_Comm_failure_get_acked).
func (c *Comm) Acknowledged() *Group {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	return NewGroup(slices.Clone(c.losses.failed[:c.losses.acknowledged]))
}
