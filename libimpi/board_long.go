package libimpi

import "github.com/libimpi/libimpi/coll"

// Long operations on a board (coll/board_long.go): their pieces are turns, with places of their own, for which memory
// is there from the first one on. A blocking operation begins one after the other, as it would short operations. A
// nonblocking one gets the numbers and slots of all its turns when it is started, so that all members give the same
// ones to what they start afterwards; what comes later waits until its slots are free. An Allreduce by slices, which is
// two turns, is carried out in this way, too. Persistent operations, which members may start in different orders, take
// their turns in a lane (lane.go).

// taskPieces are the turns that a task is yet to take. The one under way is Task.turn, at Task.place.
type taskPieces struct {
	left  int         // turns, the one under way among them
	begun bool        // there is one
	slots []boardSlot // of all
}

// openForPieces opens the board, if nobody knows yet whether there is one, for an operation of n bytes that is too long
// for a slot.
func (v Collectives) openForPieces(n int64) error {
	if n <= 0 || v.task != nil && !v.persistent() || !v.c.seats.crowded && v.c.Size() > 2 {
		return nil
	}
	_, err := v.board(0)
	if v.persistent() {
		v.task.sides[0].on.Offer(v.c.laneSeating())
	}
	return err
}

// seating is what the members have for long operations.
func (c *Comm) seating() coll.Seating {
	b := &c.board
	if b.Begun == nil || c.engine.collectives.noBoards.Load() {
		return coll.Seating{Crowded: c.seats.crowded, TwoCores: c.seats.few}
	}
	_, bytes, _ := b.shared.Pieces()
	return coll.Seating{Part: int64(bytes), Crowded: c.seats.crowded, TwoCores: c.seats.few}
}

// Board implements coll.Boarded.
func (k *collective) Board() coll.Seating { return k.c.seating() }

// Turn implements coll.Boarded.
func (k *collective) Turn(t *coll.Turn) error {
	b := &k.c.board
	if err := b.havePieces(t.Most()); err != nil {
		return err
	}
	return t.Do(&b.blocking)
}

// havePieces makes sure that there is memory for pieces, if parts of at most n bytes need it.
func (b *commBoard) havePieces(n int64) error {
	if _, wide, _ := b.shared.Slots(true); n <= int64(wide) || b.pieceUsers != nil {
		return nil
	}
	if err := b.shared.ReservePieces(); err != nil {
		return err
	}
	places, _, _ := b.shared.Pieces()
	b.pieceUsers = make([]uint64, places)
	return nil
}

// takePiece has an operation use the place for pieces that comes next.
func (p *boardPlace) takePiece() {
	b := p.commBoard
	_, _, p.shift = b.shared.Pieces()
	p.long, p.slot = true, int(p.number%uint64(len(b.pieceUsers)))
	p.free, b.pieceUsers[p.slot] = b.pieceUsers[p.slot], p.number
}

// alert wakes the progress threads of members that may be waiting for what a long operation brings.
func (p *boardPlace) alert() {
	if p.long || p.turns || p.stands == inPiece {
		p.alertOthers()
	}
}

func (b *commBoard) alertOthers() {
	for r, local := range b.local {
		if r != b.Rank() {
			b.shared.Alert(int(local))
		}
	}
}

// enterPieces begins a task of n turns. Engine lock held.
func (t *Task) enterPieces(e *Engine, n int) {
	b := &t.comm.board
	t.longest = t.schedule.LongestTurn()
	if err := b.havePieces(t.longest); err != nil {
		t.end(e, err)
		return
	}
	t.place = boardPlace{commBoard: b, turns: true}
	t.pieces = taskPieces{left: n, slots: t.pieces.slots[:0]}
	for i := range n {
		t.place.Begin(t.schedule.Turn(i).Most())
		t.pieces.slots = append(t.pieces.slots, t.place.boardSlot)
	}
	t.place.number -= uint64(n - 1)
	b.enter(t)
	if t.advance(e); t.pieces.left > 0 {
		e.collectives.onBoards = append(e.collectives.onBoards, t)
	}
}

// takeTurn goes on with the turn of a step, and reports whether it is over.
func (t *Task) takeTurn(st *coll.Step) (over bool, err error) {
	p, inLane := &t.pieces, t.lane.commBoard != nil
	if !p.begun {
		if p.begun, t.turn = true, *t.schedule.Turn(int(st.Req)); inLane {
			t.lane.Begin(t.turn.Most())
		} else {
			t.place.boardSlot = p.slots[len(p.slots)-p.left]
		}
	}
	if inLane {
		over, err = t.lane.run(&t.turn)
	} else {
		over, err = t.turn.Run(&t.place)
	}
	if !over {
		return false, nil
	}
	t.note(err)
	p.begun = false
	switch p.left--; {
	case p.left == 0:
		if !inLane {
			t.leave()
		}
		return true, t.first
	case !inLane:
		t.place.number++
		t.place.End()
	}
	return true, nil
}

// keepTurns gives a persistent operation a lane, if it has been recorded as turns.
func (t *Task) keepTurns() {
	if t.schedule.Turns() == 0 {
		return
	}
	t.longest = t.schedule.LongestTurn()
	l, err := t.takeLane(&t.comm.board, t.longest)
	if t.err = err; err == nil {
		l.pieces = true
	}
}

// note notes the first error of an operation on a board.
func (t *Task) note(err error) {
	if t.first == nil {
		t.first = err
	}
}
