package libimpi

import (
	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
)

// Which operations take place on a communicator's board: coll's table decides (coll.BySlots), by what is the same at
// all members, and here it is seen whether there is a board.
//
//	blocking    -> is carried out at once, after all others that the member has begun
//	nonblocking -> gets its number, and goes on as far as contributions are there (board_task.go)
//
// No nonblocking operation opens a board: so all members know alike which others may use it. Persistent ones have
// lanes.

// boardFor returns the board for an operation with contributions of so many blocks of n bytes, if it goes by slots as a
// whole (coll.BySlots); otherwise nil.
func (v Collectives) boardFor(o coll.Routine, n int64, blocks int) (*commBoard, error) {
	if !coll.BySlots(o, n, blocks) {
		return nil, v.openForPieces(n)
	}
	b, err := v.opened()
	if b != nil && v.persistent() && !b.HasLane(n*int64(blocks)) {
		return nil, err
	}
	return b, err
}

func (v Collectives) persistent() bool { return v.task != nil && v.task.form == coll.Persistent }

// opened returns the board. Where nobody knows yet whether there is one, it is opened, by an operation that may wait
// for the other members: not by a nonblocking one.
func (v Collectives) opened() (*commBoard, error) {
	c, b := v.c, &v.c.board
	switch {
	case c.engine.collectives.noBoards.Load():
		return nil, nil
	case b.Is():
		return b, nil
	case b.none, v.task != nil && !v.persistent(), c.Bridge == nil, c.engine.collectives.openBoard == nil:
		return nil, nil
	case c.MayHaveBoard():
		if err := c.engine.collectives.openBoard(c); err != nil {
			return nil, err
		}
	}
	if b.none = !b.Is(); b.none {
		return nil, nil
	}
	if v.persistent() {
		v.task.sides[0].on.Offer(c.laneSeating())
	}
	return b, nil
}

// openForPieces opens the board, if nobody knows yet whether there is one, for an operation of n bytes that is too long
// for a slot.
func (v Collectives) openForPieces(n int64) error {
	if n <= 0 || !v.c.seats.crowded && v.c.Size() > 2 {
		return nil
	}
	_, err := v.opened()
	return err
}

// boardForVector is boardFor a reduction of a vector, whose elements have no gaps. Progress calls no functions of the
// program, so that nonblocking ones with an operation of its own go by messages.
func (v Collectives) boardForVector(o coll.Routine, vector coll.Buf, op coll.Op) (*commBoard, error) {
	if vector.Count == 0 || !vector.Type.Dense() {
		return nil, nil
	}
	b, err := v.boardFor(o, vector.Size(), 1)
	if b != nil && v.task != nil && op.OfProgram() {
		return nil, nil
	}
	return b, err
}

// next is memory for the operation that begins.
func (b *commBoard) next() *collboard.Operation {
	b.operation.InOrder = coll.Reproduces()
	return &b.operation
}

// onBoard carries an operation out, or leaves it to the task.
func (v Collectives) onBoard(b *commBoard, o *collboard.Operation) error {
	if v.task != nil {
		return v.task.sides[0].on.Operate(o)
	}
	return o.Do(&b.Blocking)
}

// exchangeOnBoard carries a blocking exchange out; is says which one it is. It returns false if the exchange goes by
// messages: there is no board, or all members know that it does.
func (v Collectives) exchangeOnBoard(o coll.Routine, messages bool,
	is func(x *coll.Exchange, b coll.Seated)) (done bool, err error) {
	if messages || v.task != nil || !coll.BySlots(o, 1, 1) {
		return false, nil
	}
	b, err := v.opened()
	if b == nil || err != nil {
		return false, err
	}
	is(&b.exchange, &v.c.ops)
	return true, b.exchange.Do(&v.c.ops, &b.Blocking)
}
