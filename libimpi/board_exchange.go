package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
)

// Exchanges on a board (coll.Exchange): the v-forms, those with neighbors, and Alltoall and Scatter of longer blocks
// than C moves by itself (coll.Exchanging). What does not fit the parts, and is not read, goes by messages: of a
// blocking one those of the calling thread; of a nonblocking one those of its task, which start as soon as the exchange
// finds that they are needed, and which the task awaits after its turn. As a persistent one is made, the members agree
// where blocks stand in their parts (coll.Settled), and it gets a lane; if the longest part is too long for one that is
// left, all of it goes by messages.

// exchangeOnBoard carries an exchange out, or leaves it to the task. is says which one it is. False: it goes by
// messages, for there is no board, or since all members know that it does.
func (v Collectives) exchangeOnBoard(messages bool, is func(x *coll.Exchange, b coll.Seats)) (done bool, err error) {
	if messages {
		return false, nil
	}
	b, err := v.opened()
	switch t := v.task; {
	case b == nil || err != nil:
		return false, err
	case t == nil:
		x, seats := v.c.ops.Exchange()
		is(x, seats)
		err = v.c.ops.CarryOut(x)
	case v.persistent():
		return v.settle(b, is)
	default:
		is(t.beginExchange())
	}
	return true, err
}

// keepsExchange says whether a persistent operation with a block of n bytes for each member is an exchange, as those
// find room in one part.
func (v Collectives) keepsExchange(n int64) bool {
	p := v.c.Size()
	return v.persistent() && v.c.local == nil && (v.c.crowded || p == 2) && v.c.seating().Shares(p, n)
}

// beginExchange has the task be an exchange, and nothing else.
func (t *Task) beginExchange() (*coll.Exchange, coll.Seats) {
	b := &t.comm.board
	if t.exchange == nil {
		t.exchange = new(coll.Exchange)
	}
	t.exchanges, t.place = true, boardPlace{commBoard: b}
	t.messages = exchangeMessages{collective: &b.c.ops, t: t, receives: t.messages.receives[:0]}
	return b.begin(t.exchange), b
}

// recorder records a task, or begins the exchange that it is (coll.Exchanging).
type recorder struct {
	coll.Recorder
	t *Task
}

// Exchange implements coll.Exchanging.
func (r *recorder) Exchange() (*coll.Exchange, coll.Seats) { return r.t.beginExchange() }

// CarryOut implements coll.Exchanging: progress does.
func (r *recorder) CarryOut(*coll.Exchange) error { return nil }

// mayExchange lets a nonblocking operation be an exchange. It has no other steps then.
func (v Collectives) mayExchange() {
	if t := v.task; t != nil && !v.persistent() && v.c == t.comm {
		t.sides[0].on.Offer(v.c.exchangeSeating())
	}
}

// exchangeSeating is the seating of operations that may be exchanges.
func (c *Comm) exchangeSeating() coll.Seating {
	on := c.seating()
	on.Exchanges = on.Part > 0
	return on
}

// Exchange implements coll.Exchanging.
func (k *collective) Exchange() (*coll.Exchange, coll.Seats) {
	b := &k.c.board
	return b.begin(&b.exchange), b
}

// CarryOut implements coll.Exchanging.
func (k *collective) CarryOut(x *coll.Exchange) error {
	b := &k.c.board
	err := x.Do(k, &b.blocking)
	if err == nil {
		b.lay(x, true)
	}
	return err
}

// begin begins an exchange, and has it noted if C is to make the call again.
func (b *commBoard) begin(x *coll.Exchange) *coll.Exchange {
	if b.Lays == nil {
		return x.Begin(nil).On(b.c.seating(), b.Size())
	}
	return x.Begin(b.Lays()).On(b.c.seating(), b.Size())
}

// lay has C make the call again whose exchange this is, if all is known of it: also of one under way.
func (b *commBoard) lay(x *coll.Exchange, blocks bool) {
	if l := x.Laid(); l != nil && (blocks || !l.Waits) {
		b.Laid(l)
	}
}

// layTurn has C make the call again whose turn this is, if the program makes it once more.
func (v Collectives) layTurn(b *commBoard, t *coll.Turn) {
	if b.Lays == nil || v.persistent() {
		return
	}
	if l := b.Lays(); l != nil {
		l.Turns, l.Turn = true, *t
		b.Laid(l)
	}
}

// settle gives a persistent exchange a lane, if the members agree on one.
func (v Collectives) settle(b *commBoard, is func(x *coll.Exchange, b coll.Seats)) (done bool, err error) {
	if has, err := b.hasLane(0); !has || err != nil {
		return false, err
	}
	x := new(coll.Exchange).Begin(nil)
	is(x, b)
	s := x.Settle()
	used, most := []uint64{uint64(s.Used)}, []uint64{0}
	if err := v.c.Allreduce(countBuf(used), countBuf(most), op.Predefined(abi.MPI_MAX)); err != nil {
		return false, err
	}
	longest := uint64(longestOnBoard)
	if v.c.crowded || v.c.Size() == 2 {
		longest = uint64(v.c.seating().Part)
	}
	if most[0] > longest {
		return false, nil
	}
	if has, err := b.hasLane(int64(most[0])); !has || err != nil {
		return false, err
	}
	if err := s.Agree(x, &v.c.ops, &b.blocking, int64(most[0])); err != nil {
		return false, err
	}
	l, err := v.task.takeLane(b, int64(most[0]))
	if err != nil {
		return false, err
	}
	if l.settled = s; b.LaySettled != nil && !s.Not {
		l.countIn(b.LaySettled(l.mem, &s.Laid))
	}
	return true, nil
}

// goOnExchange goes on with an exchange, and says whether its turn is over. Engine lock held.
func (t *Task) goOnExchange(e *Engine) bool {
	if !t.ended {
		over, err := t.exchange.Run(&t.messages, &t.place)
		if !over {
			return false
		}
		t.note(err)
		t.ended = true
		t.place.End()
	}
	left, err := t.exchange.Left()
	if !left {
		return false
	}
	t.note(err)
	t.note(t.err)
	t.leave()
	t.missing = 0
	for i := range t.parts {
		if t.parts[i] != partDone {
			t.parts[i] = partAwaited
			t.missing++
		}
	}
	if t.missing == 0 || t.first != nil {
		t.end(e, t.first)
	}
	return true
}

// exchangeMessages starts the messages of a task's exchange at once (coll.Comm). Engine lock held.
type exchangeMessages struct {
	*collective
	t        *Task
	receives []*Request // by coll.Req, as far as they are under way
}

// exchangeTags are added to the tags of their messages: a task of another kind may have the same number.
const exchangeTags = 1 << (taskTagBits - 1)

// step is the step that starts a message.
func (m *exchangeMessages) step(b coll.Buf, peer, tag int) *coll.Step {
	number := int(m.t.place.number%mostTasks) + 1
	return &coll.Step{Peer: int32(peer), Tag: int32(tag + exchangeTags + number<<taskTagBits),
		Req: coll.Req(len(m.t.parts)), A: b}
}

// Isend implements coll.Comm.
func (m *exchangeMessages) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	st := m.step(b, to, tag)
	m.t.send(m.c.engine, st)
	return st.Req, nil
}

// Irecv implements coll.Comm.
func (m *exchangeMessages) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	st := m.step(b, from, tag)
	for len(m.receives) < int(st.Req) {
		m.receives = append(m.receives, nil)
	}
	m.receives = append(m.receives, m.t.receive(m.c.engine, st))
	return st.Req, nil
}

// Withdraw implements coll.Withdrawer.
func (m *exchangeMessages) Withdraw(id coll.Req) bool {
	if m.t.parts[id] == partDone || !m.receives[id].isPosted() {
		return false
	}
	m.c.engine.withdraw(m.receives[id])
	return true
}

// Scratch implements coll.Local: the task gives it back.
func (m *exchangeMessages) Scratch() *coll.Scratch { return m.t.sides[0].on.Scratch() }
