package libimpi

import "github.com/libimpi/libimpi/coll"

// Exchanges on a board (coll.Exchange): the v-forms, and those with neighbors. What does not fit the parts goes by
// messages: of a blocking operation those of the calling thread; of a nonblocking one those of its task,
// which start as soon as the exchange finds that they are needed, and which the task awaits after its turn. Persistent
// ones go by messages.

// exchangeOnBoard carries an exchange out, or leaves it to the task; is says which one it is. It returns false if the
// exchange goes by messages: there is no board, or the operation is persistent, or all members know that it does.
func (v Collectives) exchangeOnBoard(messages bool, is func(x *coll.Exchange, b coll.Seats)) (done bool, err error) {
	if messages || v.persistent() {
		return false, nil
	}
	b, err := v.opened()
	switch t := v.task; {
	case b == nil || err != nil:
		return false, err
	case t == nil:
		x := b.exchange.Begin(v.c.seating())
		is(x, b)
		err = x.Do(&v.c.ops, &b.blocking)
	default:
		is(t.beginExchange())
	}
	return true, err
}

// beginExchange has the task be an exchange, and nothing else.
func (t *Task) beginExchange() (*coll.Exchange, coll.Seats) {
	b := &t.comm.board
	if t.exchange == nil {
		t.exchange = new(coll.Exchange)
	}
	t.exchanges, t.place = true, boardPlace{commBoard: b}
	t.messages = exchangeMessages{collective: &b.c.ops, t: t, receives: t.messages.receives[:0]}
	return t.exchange.Begin(b.c.seating()), b
}

// goOnExchange goes on with an exchange, and reports whether its turn is over. Engine lock held.
func (t *Task) goOnExchange(e *Engine) bool {
	over, err := t.exchange.Run(&t.messages, &t.place)
	if !over {
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
