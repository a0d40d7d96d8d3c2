package libimpi

import "github.com/libimpi/libimpi/coll"

// Exchanges with neighbors on a board (coll.Exchange). What does not fit the parts goes by messages: of a blocking one
// those of the calling thread; of a nonblocking one those of its task, which start as soon as the exchange finds that
// they are needed, and which the task awaits after its turn.

// boardForExchange answers the board for an exchange with neighbors; nil if it goes by messages, as persistent ones do:
// the longest part, by which a lane is chosen, is known to nobody.
func (v Collectives) boardForExchange() (*commBoard, error) {
	if v.persistent() {
		return nil, nil
	}
	return v.board(0)
}

// exchangeOnBoard carries an exchange out, or leaves it to the task.
func (v Collectives) exchangeOnBoard(b *commBoard, edges *coll.Edges, send, recv *coll.Blocks) error {
	laid := b.blocking.lays()
	if v.task == nil {
		b.exchange.Begin(b.Rank(), edges, send, recv, laid)
		return b.blocking.laidOut(laid, b.exchange.Do(v.on, &b.blocking))
	}
	t := v.task
	if t.exchange == nil {
		t.exchange = new(coll.Exchange)
	}
	t.exchange.Begin(b.Rank(), edges, send, recv, laid)
	t.exchanges, t.place = true, boardPlace{commBoard: b}
	t.messages = exchangeMessages{collective: &b.c.ops, t: t}
	return nil
}

// layExchange has C make the call again that has been started, if its own part is there already.
func (t *Task) layExchange() {
	if l := t.exchange.Laid(); l != nil {
		t.place.Laid(l)
	}
}

// goOnExchange goes on with an exchange, and says whether its turn is over. Engine lock held.
func (t *Task) goOnExchange(e *Engine) bool {
	over, err := t.exchange.Run(&t.messages, &t.place)
	if !over {
		return false
	}
	t.leave()
	if err == nil {
		err = t.err
	}
	t.missing = 0
	for i := range t.parts {
		if t.parts[i] != partDone {
			t.parts[i] = partAwaited
			t.missing++
		}
	}
	if t.missing == 0 || err != nil {
		t.end(e, err)
	}
	return true
}

// exchangeMessages starts the messages of a task's exchange at once (coll.Comm). Engine lock held.
type exchangeMessages struct {
	*collective
	t *Task
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
	m.t.receive(m.c.engine, st)
	return st.Req, nil
}

// Scratch implements coll.Local: the task gives it back.
func (m *exchangeMessages) Scratch() *coll.Scratch { return m.t.sides[0].on.Scratch() }
