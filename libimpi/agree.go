package libimpi

import (
	"math"
	"sync"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/survive"
	"github.com/libimpi/libimpi/transport"
)

// What survivors agree on (ULFM): a flag and who is lost (Agree), a communicator without those that are lost (Shrink),
// and in a job that is fault tolerant that it has come to its end (meetAtTheEnd). None of these fails because members
// are lost or the communicator is revoked.
//
//	begin -> the members' messages (survivors.go) -> settle -> the thread that waits, or the request, goes on
//
// The new communicator's ids come along: each member proposes a block that only it can give, and the largest counts.
// Processes of several jobs vote on a block in the same rounds (contexts.Agreement).

// settlement is an operation of survivors. One with a request tells the program its result as a generalized request
// does.
type settlement struct {
	nothing
	c     *Comm
	ask   func(s *survivors) *survive.Operation
	op    *survive.Operation // what was asked for; nil: it is put off (admit)
	vote  *ballot            // on context ids; nil: there is none
	begun uint64             // its number among the operations of the process

	r     *Request     // nil: a thread waits
	seen  sync.Once    // the program has been told the result
	ended func() error // tells it
}

// begin begins an operation, which ask asks the survivors for. Engine lock held.
func (c *Comm) begin(t *settlement, ask func(s *survivors) *survive.Operation) error {
	e, s := c.engine, c.survivors()
	if s.foreign != nil {
		return s.foreign
	}
	e.loss.operations++
	t.c, t.begun, t.ask = c, e.loss.operations, ask
	e.loss.unsettled++
	s.underWay = append(s.underWay, t)
	s.admit()
	s.advance()
	return nil
}

// admit asks for the operations that have begun, in order, unless there are doubts: without this process nobody comes
// to an end, and what it knows of losses has to be in the result.
func (s *survivors) admit() {
	for _, t := range s.underWay {
		if t.op != nil {
			continue
		}
		if s.doubts() {
			return
		}
		s.e.loss.unsettled-- // of the others
		t.op = t.ask(s)
		s.e.loss.unsettled++
	}
}

// done reports whether the operation is done.
func (t *settlement) done() bool { return t.op != nil && t.op.Done() }

// settle ends the operations that are done.
func (s *survivors) settle() {
	for i := 0; i < len(s.underWay); {
		t := s.underWay[i]
		if !t.done() {
			i++
			continue
		}
		s.underWay = append(s.underWay[:i], s.underWay[i+1:]...)
		s.e.loss.unsettled--
		if t.op.Value().And>>32 == math.MaxUint32 {
			s.forgetWithin(t.begun)
		}
		if t.r != nil {
			s.e.complete(t.r)
		}
		s.e.ring()
	}
}

// wait waits until the operation is done. Engine lock held, given up meanwhile.
func (t *settlement) wait() error {
	e := t.c.engine
	if !t.done() {
		e.waitFor(t.done, anyPeer, forMembers(t.c))
	}
	if !t.done() {
		return e.failure()
	}
	return nil
}

// later begins an operation that has a request, and returns that. If it cannot begin the request says why.
func (c *Comm) later(t *settlement, ask func(s *survivors) *survive.Operation) uint64 {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	c.losses.requested = true
	t.r = e.newCompound(c.p2p, t)
	t.r.general = t
	id := t.r.id
	if err := c.begin(t, ask); err != nil {
		t.ended = func() error { return err }
		e.complete(t.r)
	}
	return id
}

// Query implements General: the program sees that the operation is done.
func (t *settlement) Query(st *CStatus) (err error) {
	st.setEmpty()
	t.seen.Do(func() { err = t.ended() })
	if err != nil {
		raised := *AsError(err)
		raised.Comm = t.c
		return &raised
	}
	return nil
}

// Free implements General.
func (t *settlement) Free() error { return nil }

// Cancel implements General; such a request cannot be cancelled (Request.isTask).
func (t *settlement) Cancel(bool) error { return nil }

// Agree returns the bitwise and of the flags of all members that survive, the same for all of them. It is
// MPIX_ERR_PROC_FAILED, at all of them and beside the flag, if not all of them have acknowledged all members that are
// lost (MPIX_Comm_agree). It needs messages only if somebody knows of a loss.
func (c *Comm) Agree(flag int32) (int32, error) {
	if all, agreed := c.vote(flag); agreed {
		return all, nil
	}
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &settlement{}
	if err := c.begin(t, c.flagOf(flag)); err != nil {
		return 0, err
	}
	if err := t.wait(); err != nil {
		return 0, err
	}
	return t.agreed()
}

// vote agrees on a flag by a vote on the communicator's board, if it has one and nobody abstains. On one on which
// requests for agreements have begun nobody votes any more: some may be done at some members, and not yet at others.
func (c *Comm) vote(flag int32) (all int32, agreed bool) {
	e := c.engine
	c.opened() // if that fails the board is not there, or this process abstains
	if !c.board.Is() || c.losses.requested {
		return 0, false
	}
	v := c.board.Vote(uint64(uint32(flag)), c.losses.gone.Load() != nil, func(rank int) bool {
		return e.peer(c.group.World(rank)).lost != nil
	})
	if !v.Looks() {
		e.mu.Lock()
		e.waitFor(v.Holds, anyPeer, forMembers(c))
		e.mu.Unlock()
	}
	word, agreed := v.Result()
	return int32(uint32(word)), agreed
}

// tolerant reports whether the members go on without those that are lost. They all know: they are of one job.
func (c *Comm) tolerant() bool { return c.engine.job.FaultTolerant && !c.engine.foreignJobs(c.group) }

// resign gives up the communicator of a window or file which this process could not make, since a member is lost, and
// others may have. It revokes it, and takes its part in the agreement by which the others end what they have.
func (c *Comm) resign() {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	if c.tolerant() && c.losses.first != nil {
		c.revoke()
		c.begin(&settlement{}, c.flagOf(0))
	}
}

// Iagree begins to agree and returns a request. When the program sees that it is done, done is called with the flag.
func (c *Comm) Iagree(flag int32, done func(flag int32)) uint64 {
	t := &settlement{}
	t.ended = func() error {
		all, err := t.agreed()
		done(all)
		return err
	}
	return c.later(t, c.flagOf(flag))
}

// flagOf asks for an agreement. A flag is the lower half of the word; the upper one says that the process waits for no
// other operation of survivors.
func (c *Comm) flagOf(flag int32) func(s *survivors) *survive.Operation {
	return func(s *survivors) *survive.Operation {
		word := uint64(uint32(flag))
		if s.e.loss.unsettled == 0 {
			word |= math.MaxUint32 << 32
		}
		return s.agreements.Agree(survive.Value{And: word, Acked: s.members(c.losses.failed[:c.losses.acknowledged])})
	}
}

// members are the numbers of processes.
func (s *survivors) members(worlds []int32) survive.Set {
	if len(worlds) == 0 {
		return nil
	}
	members := make([]int, len(worlds))
	for i, w := range worlds {
		members[i] = int(s.space.sourceOf(w))
	}
	return survive.Of(members...)
}

// agreed is the result of Agree.
func (t *settlement) agreed() (int32, error) {
	v := t.op.Value()
	flag := int32(uint32(v.And))
	if v.Unacknowledged() {
		return flag, errorf(abi.MPIX_ERR_PROC_FAILED,
			"%d members of %s are lost, and not all of these losses are acknowledged by all others",
			len(v.Failed), t.c.describe())
	}
	return flag, nil
}

// Shrink makes a communicator of the members that survive, in their order (MPIX_Comm_shrink). That of an
// intercommunicator is one, too; nil if nobody of the remote group survives.
func (c *Comm) Shrink() (*Comm, error) {
	e := c.engine
	t := &settlement{}
	e.mu.Lock()
	err := c.begin(t, t.shrinking(c))
	if err == nil {
		err = t.wait()
	}
	e.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return t.shrunk()
}

// Ishrink begins to shrink and returns a request. When the program sees that it is done, done is called with the new
// communicator.
func (c *Comm) Ishrink(done func(*Comm)) uint64 {
	t := &settlement{}
	t.ended = func() error {
		made, err := t.shrunk()
		if err == nil {
			done(made)
		}
		return err
	}
	return c.later(t, t.shrinking(c))
}

// shrinking asks for what shrunk makes of it.
func (t *settlement) shrinking(c *Comm) func(s *survivors) *survive.Operation {
	return func(s *survivors) *survive.Operation {
		ids := &s.e.contexts.ids
		if c.severalJobs() {
			t.vote = &ballot{Agreement: ids.Agree(contexts.Place{Context: s.space.p2p.cid})}
			return s.agreements.ShrinkAndVote(t.vote)
		}
		b, _ := ids.Give() // the word says that there is none
		return s.agreements.Shrink(b.Word())
	}
}

// ballot is a vote on context ids (survive.Vote).
type ballot struct {
	contexts.Agreement
	failed error
}

// Hear implements survive.Vote.
func (b *ballot) Hear(largest uint64) (over bool) {
	done, err := b.Agreement.Hear(largest)
	if done || err != nil {
		b.End()
		b.failed = err
	}
	return done || err != nil
}

// shrunk makes the communicator that a shrink has agreed on.
func (t *settlement) shrunk() (*Comm, error) {
	c := t.c
	e := c.engine
	ids, err := t.block()
	if err != nil {
		return nil, noContext(err)
	}
	all := c.inOrder()
	var lost []int32
	for _, i := range t.op.Value().Failed {
		lost = append(lost, all.World(int(i)))
	}
	left := c.Group().Difference(NewGroup(lost))
	if !c.Inter() {
		return e.newOn(left, ids)
	}
	remote := c.group.Difference(NewGroup(lost))
	if remote.Size() == 0 {
		return nil, nil
	}
	return e.newInterOn(left, remote, ids)
}

// block are the context ids that a shrink has agreed on.
func (t *settlement) block() (contexts.Block, error) {
	if t.vote != nil {
		return t.vote.Block(), t.vote.failed
	}
	b, giver, err := t.c.engine.contexts.ids.GivenBy(t.op.Value().Max)
	if err == nil && t.c.inOrder().Rank(int32(giver)) == abi.MPI_UNDEFINED {
		err = contexts.ErrNotIts
	}
	return b, err
}

// meetAtTheEnd waits until all processes of the job that survive have come to its end. In a job that is fault tolerant
// they agree on that, twice: the first decision says that all are here, and the second that all know it, so that nobody
// has anything to ask any more. Beside another implementation they can only have a barrier, as IMPI mandates, without
// which each leaves alone if it fails. Other jobs have the barrier, too, unless the program has revoked MPI_COMM_WORLD:
// who has done that is missing in the barrier, so that it fails everywhere, and all come to agree.
func (e *Engine) meetAtTheEnd() error {
	if e.job.FaultTolerant && e.MayLeave() {
		return e.agreeAtTheEnd()
	}
	err := e.predefined.world.Barrier()
	switch {
	case err == nil || e.survives():
		return nil
	case AsError(err).Class != abi.MPIX_ERR_REVOKED:
		return err
	case e.MayLeave():
		return e.agreeAtTheEnd()
	}
	return nil
}

// agreeAtTheEnd is meetAtTheEnd where all can agree.
func (e *Engine) agreeAtTheEnd() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &settlement{}
	if err := e.predefined.world.begin(t, func(s *survivors) *survive.Operation {
		return s.agreements.Confirmed(survive.Value{})
	}); err != nil {
		return err
	}
	return t.waitAtTheEnd()
}

// stragglers is how long a process waits for the second decision after the first, if others are lost and no transport
// tells who has departed: one that had to pass it on may be lost, after all have left who could tell in its stead.
const stragglers = 3 * time.Second

// unsaid is how long a process waits at the end for its launcher's word that another is lost. It comes sooner, but not
// of one that ends badly when it needs nobody any more.
const unsaid = 30 * time.Second

// waitAtTheEnd is wait for what meetAtTheEnd agrees on. Who has departed in order has had the first decision, and
// counts as lost, for this alone: what else the others agree on makes no difference.
func (t *settlement) waitAtTheEnd() error {
	e, s := t.c.engine, t.c.losses.survivors
	s.parting = true
	began := e.now()
	var here time.Time
	e.waitFor(func() bool {
		if t.done() || !e.loss.some {
			return t.done()
		}
		s.late = e.now().Sub(began) > unsaid
		s.hearOfLosses()
		if t.op != nil && t.op.Rounds() > 0 && here.IsZero() {
			here = e.now()
		}
		return t.done() || !here.IsZero() && e.now().Sub(here) > stragglers
	}, anyPeer, forEnd)
	return e.failure()
}

// hasDeparted reports whether a process of the job has come to its end in order.
func (e *Engine) hasDeparted(world int32) bool {
	d, can := e.peer(world).tr.(transport.Departer)
	return can && d.Departed(world)
}
