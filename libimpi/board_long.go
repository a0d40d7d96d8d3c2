package libimpi

import (
	"slices"

	"github.com/libimpi/libimpi/coll"
)

// Long operations on a board (coll/board_long.go): their pieces are turns, with places of their own, for which memory
// is there from the first one on. A blocking operation begins one after the other, as it would short operations. A
// nonblocking one gets the numbers and places of all its turns when it is started, so that all members give the same
// ones to what they start afterwards; what comes later waits until its places are free. Persistent operations, which
// members may start in different orders, go by messages.

// taskPieces are the turns that a task is yet to take. The one under way is Task.turn, at Task.place.
type taskPieces struct {
	left  int      // turns, the one under way among them
	begun bool     // there is one
	ended bool     // it is the last one, and over but for those who read this process's memory
	next  int      // the number of the next one among those that use places for pieces
	users []uint64 // the last turn to use each place
	err   error    // of a turn: all have to be taken all the same
}

// openForPieces opens the board, if nobody knows yet whether there is one, for an operation of n bytes that is too long
// for a slot.
func (v Collectives) openForPieces(n int64) error {
	if n <= 0 || v.task != nil || !v.c.crowded {
		return nil
	}
	_, err := v.board(0)
	return err
}

// seating is what the members have for long operations.
func (c *Comm) seating() coll.Seating {
	b := &c.board
	if b.Begun == nil || c.engine.noBoards {
		return coll.Seating{Crowded: c.crowded}
	}
	_, bytes, _ := b.shared.Pieces()
	return coll.Seating{Part: int64(bytes), Crowded: c.crowded, Reads: b.reads}
}

// Board implements coll.Boarded.
func (k *collective) Board() coll.Seating { return k.c.seating() }

// Turn implements coll.Boarded.
func (k *collective) Turn(t *coll.Turn) error {
	b := &k.c.board
	if t.Reads() {
		return t.Do(&b.blocking)
	}
	if err := b.havePieces(); err != nil {
		return err
	}
	return t.Do(&b.blocking)
}

// havePieces makes sure that there is memory for pieces.
func (b *commBoard) havePieces() error {
	if b.pieceUsers != nil {
		return nil
	}
	if err := b.shared.ReservePieces(); err != nil {
		return err
	}
	places, _, _ := b.shared.Pieces()
	b.pieceUsers = make([]uint64, places)
	return nil
}

// takePiece has an operation use place number n, modulo their number, which another one has used before.
func (p *boardPlace) takePiece(users []uint64, n int) {
	_, _, p.shift = p.shared.Pieces()
	p.long, p.slot = true, n%len(users)
	p.free, users[p.slot] = users[p.slot], p.number
}

// alert wakes the progress threads of members that wait for a piece.
func (p *boardPlace) alert() {
	if !p.long && !p.exposes {
		return
	}
	for r, local := range p.local {
		if r != p.Rank() {
			p.shared.Alert(int(local))
		}
	}
}

// enterPieces begins a task of n turns. Engine lock held.
func (t *Task) enterPieces(e *Engine, n int) {
	b := &t.comm.board
	if t.schedule.Reads() {
		t.enterReading(e)
		return
	}
	if err := b.havePieces(); err != nil {
		t.end(e, err)
		return
	}
	t.place = boardPlace{commBoard: b, number: *b.Begun + 1}
	t.pieces = taskPieces{left: n, next: b.pieces, users: slices.Clone(b.pieceUsers)}
	b.pieces += n
	for i := max(0, n-len(b.pieceUsers)); i < n; i++ {
		b.pieceUsers[(t.pieces.next+i)%len(b.pieceUsers)] = t.place.number + uint64(i)
	}
	*b.Begun += uint64(n)
	_, bytes, _ := b.shared.Pieces()
	t.longest = int64(bytes)
	t.enterTurns(e)
}

// enterTurns takes the first of a task's turns, as far as it gets. Engine lock held.
func (t *Task) enterTurns(e *Engine) {
	t.place.enter(t)
	if t.advance(e); t.pieces.left > 0 {
		e.onBoards = append(e.onBoards, t)
	}
}

// takeTurn goes on with the turn of a step, and says whether it is over.
func (t *Task) takeTurn(st *coll.Step) (over bool, err error) {
	p := &t.pieces
	if t.schedule.Reads() {
		return t.takeReading(st)
	}
	if !p.begun {
		p.begun, t.turn = true, *t.schedule.Turn(st.Req)
		t.place.takePiece(p.users, p.next)
		p.next++
	}
	over, err = t.turn.Run(&t.place)
	if !over {
		return false, nil
	}
	if err != nil && p.err == nil {
		p.err = err
	}
	p.begun = false
	if p.left--; p.left == 0 {
		t.leave()
		return true, p.err
	}
	t.place.number++
	t.place.End()
	return true, nil
}
