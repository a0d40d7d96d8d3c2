package libimpi

import "github.com/libimpi/libimpi/coll"

// Exchanges on a board (coll.Exchange): the v-forms, and those with neighbors. What does not fit the parts goes by
// messages: of a blocking one those of the calling thread; of a nonblocking one those of its task, which start as soon
// as the exchange finds that they are needed, and which the task awaits after its turn.

// boardForExchange answers the board for an exchange; nil if it goes by messages, as those in place do, which is the
// same at all members, and persistent ones: the longest part, by which a lane is chosen, is known to nobody.
func (v Collectives) boardForExchange(inPlace bool) (*commBoard, error) {
	if inPlace || v.persistent() {
		return nil, nil
	}
	return v.board(0)
}

// beginExchange begins an exchange, and has it noted if C is to make the call again.
func (v Collectives) beginExchange(b *commBoard) *coll.Exchange {
	x := &b.exchange
	if t := v.task; t != nil {
		if t.exchange == nil {
			t.exchange = new(coll.Exchange)
		}
		x = t.exchange
	}
	if b.Lays == nil {
		return x.Begin(nil).Reading(b.reads)
	}
	return x.Begin(b.Lays()).Reading(b.reads)
}

// exchangeOnBoard carries an exchange out, or leaves it to the task.
func (v Collectives) exchangeOnBoard(b *commBoard, x *coll.Exchange) error {
	t := v.task
	if t == nil {
		err := x.Do(v.on, &b.blocking)
		if err == nil {
			b.lay(x)
		}
		return err
	}
	t.exchanges, t.place = true, boardPlace{commBoard: b}
	t.messages = exchangeMessages{collective: &b.c.ops, t: t, receives: t.messages.receives[:0]}
	return nil
}

// lay has C make the call again whose exchange this is, if all is known of it: also of one that is under way.
func (b *commBoard) lay(x *coll.Exchange) {
	if l := x.Laid(); l != nil {
		b.Laid(l)
	}
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
