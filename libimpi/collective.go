package libimpi

import (
	"cmp"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/external"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/coll/span"
	"github.com/libimpi/libimpi/datatype"
)

// Collective operations: the algorithms of coll on the communicator's collective context, and those of coll/span,
// with IMPI's mandated global phases, where it spans clients. Arguments have been checked.

// Collectives are the collective operations of a communicator: carried out by the calling thread, or recorded for a
// Task. A Comm has the former.
type Collectives struct {
	c    *Comm
	on   span.Comm
	task *Task // nil: at once

	converted bool // what members give and get is external32 (package external)
}

// converts reports whether the operation is carried out on external32, since members are not alike (package external).
// Its operations on packed data are not converted once more.
func (v Collectives) converts() bool { return !v.c.native && !v.converted }

// external begins such an operation.
func (v Collectives) external() *external.Call {
	v.converted = true
	return external.NewCall(v, v.on, v.c.Ranks(), v.c.inter.local != nil)
}

// own are the operations of the local group beside an intercommunicator, at the same time as these.
func (v Collectives) own() Collectives {
	if v.task == nil {
		return v.c.inter.local.Collectives
	}
	return v.task.of(v.c.inter.local)
}

// spans reports whether the operation crosses clients, and how. Where one of them is not libimpi it takes turns with
// those that were started before.
func (v Collectives) spans() bool {
	if v.c.seats.layout == nil {
		return false
	}
	if v.task == nil && v.c.takesTurns() {
		v.c.awaitTurn()
	}
	return true
}

// collective is a communicator as the algorithms see it (span.Comm), which carry out their steps at once.
type collective struct {
	coll.AtOnce
	c *Comm

	goesOn bool // in an operation of the program's: a message that is too long is noted, as others wait for what follows
	first  error
}

// CarryOut carries out a blocking operation of the program's. If a message is longer than the room for it, it goes on
// as the others expect, and that is its error.
func (c *Comm) CarryOut(operation func(v Collectives) error) error {
	c.ops.goesOn = true
	if c.inter.local != nil {
		c.inter.local.ops.goesOn = true
	}
	err := cmp.Or(operation(c.Collectives), c.ops.noted())
	if c.inter.local != nil {
		err = cmp.Or(err, c.inter.local.ops.noted())
	}
	return err
}

// noted ends an operation of the program's, and returns what was noted in it.
func (k *collective) noted() error {
	first := k.first
	k.first, k.goesOn = nil, false
	return first
}

// came looks at the outcome of a receive whose length does not matter, or of a local step.
func (k *collective) came(err error) error {
	if err == nil || !k.goesOn || !ofData(err) {
		return err
	}
	k.first = cmp.Or(k.first, err)
	return nil
}

// ofData reports whether an error is about data alone, for which there is no room, or which external32 cannot express:
// the operation goes on, as the others expect.
func ofData(err error) bool {
	class := AsError(err).Class
	return class == abi.MPI_ERR_TRUNCATE || class == abi.MPI_ERR_CONVERSION
}

func (k *collective) Rank() int { return int(k.c.rank) }
func (k *collective) Size() int { return k.c.group.Size() }

// Machines are those of the members.
func (k *collective) Machines() *coll.Machines { return k.c.seats.machines }

func (k *collective) Send(b coll.Buf, to, tag int) error {
	return k.came(k.c.send(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard))
}

func (k *collective) Recv(b coll.Buf, from, tag int) error {
	return k.came(k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), nil))
}

// Copy implements coll.Local.
func (k *collective) Copy(dst, src coll.Buf) error { return k.came(k.AtOnce.Copy(dst, src)) }

// Pack implements coll.Local.
func (k *collective) Pack(dst []byte, src coll.Buf, rep datatype.Rep) error {
	return k.came(k.AtOnce.Pack(dst, src, rep))
}

// Then implements coll.Local.
func (k *collective) Then(f func() error) error { return k.came(f()) }

func (k *collective) RecvLen(b coll.Buf, from, tag int, n *int64) error {
	var st Status
	err := k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), &st)
	*n = st.Bytes
	return err
}

func (k *collective) RecvExactly(b coll.Buf, from, tag int) error {
	var st Status
	if err := k.c.recv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag), &st); err != nil {
		return err
	}
	return coll.Exactly(b, st.Bytes, from, tag)
}

func (k *collective) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	return coll.Req(k.c.isend(k.c.coll, b.Base, b.Count, b.Type, to, int32(tag), modeStandard)), nil
}

func (k *collective) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	return coll.Req(k.c.irecv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag))), nil
}

// IrecvWritten implements coll.Writable.
func (k *collective) IrecvWritten(b coll.Buf, from, tag int) (coll.Req, error) {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.newRecv(k.c.coll, b.Base, b.Count, b.Type, from, int32(tag))
	r.wire.Written = true
	e.postRecv(r)
	e.leaveRunning(r)
	return coll.Req(r.id), nil
}

func (k *collective) Wait(reqs ...coll.Req) error {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	var first error
	for _, id := range reqs {
		r := e.requests.find(uint64(id))
		e.wait(r)
		if _, err := e.finish(r); err != nil && first == nil {
			first = k.came(err)
		}
	}
	return first
}

// Withdraw implements coll/board.Messages.
func (k *collective) Withdraw(id coll.Req) bool {
	e := k.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.requests.find(uint64(id))
	if r.state.done || !r.isPosted() {
		return false
	}
	e.withdraw(r)
	_, err := e.finish(r)
	return err == nil
}

// withdraw ends a posted receive. Engine lock held.
func (e *Engine) withdraw(r *Request) {
	r.ctx.space.Withdraw(&r.waits)
	r.status.Cancelled = true
	e.complete(r)
}

// Which operations take place on a communicator's board: the table decides (choose.Operation.FitsSlots), by what is the
// same at all members, and here it is seen whether there is a board.
//
//	blocking    -> is carried out at once, after all others that the member has begun
//	nonblocking -> gets its number, and goes on as far as contributions are there (board_task.go)
//
// No nonblocking operation opens a board: so all members know alike which others may use it. Persistent ones have
// lanes.

// boardFor returns the board for an operation with contributions of so many blocks of n bytes, if it goes by slots as a
// whole; otherwise nil.
func (v Collectives) boardFor(o *choose.Operation, n int64, blocks int) (*commBoard, error) {
	if !o.FitsSlots(n, blocks) {
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
	switch lost := c.losses.gone.Load(); {
	case lost != nil:
		return nil, lost
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
func (v Collectives) boardForVector(o *choose.Operation, vector coll.Buf, op coll.Op) (*commBoard, error) {
	if vector.Count == 0 || !vector.Type.Plain().Dense() {
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
	b.operation.InOrder = choose.Reproduces()
	return &b.operation
}

// onBoard carries an operation out, or leaves it to the task.
func (v Collectives) onBoard(which *choose.Operation, b *commBoard, o *collboard.Operation) error {
	which.CountSlots()
	if v.task != nil {
		return v.task.sides[0].on.Operate(o)
	}
	return o.Do(&b.Blocking)
}

// exchangeOnBoard carries a blocking exchange out; is says which one it is. It returns false if the exchange goes by
// messages: there is no board, or all members know that it does.
func (v Collectives) exchangeOnBoard(o *choose.Operation, messages bool,
	is func(x *coll.Exchange, b coll.Seated)) (done bool, err error) {
	if messages || !o.FitsSlots(1, 1) {
		return false, nil
	}
	if done, err = v.exchangeBySlots(is); done {
		o.CountSlots()
	}
	return done, err
}

// exchangeBySlots is exchangeOnBoard for an exchange that goes by slots.
func (v Collectives) exchangeBySlots(is func(x *coll.Exchange, b coll.Seated)) (done bool, err error) {
	if v.task != nil {
		return false, nil
	}
	b, err := v.opened()
	if b == nil || err != nil {
		return false, err
	}
	is(&b.exchange, &v.c.ops)
	return true, b.exchange.Do(&v.c.ops, &b.Blocking)
}

// Tasks get their numbers here (package schedule).

// enumerate gives a task that is begun to be recorded its number. Engine lock held, given up while members agree.
func (c *Comm) enumerate(t *Task) error {
	if c.takesTurns() {
		return nil
	}
	e := c.engine
	if t.form != coll.Persistent {
		n := &c.tasks.once
		number, used := n.Once(e.collectives.mostTasks)
		if used {
			n.Take(number) // as at the others
			return errorf(abi.MPI_ERR_OTHER, "%d collective operations have been started on %s since one that is still "+
				"under way; more cannot be told from it", e.collectives.mostTasks-1, c.describe())
		}
		n.Add(&t.numbered, number)
		t.shift = number << taskTagBits
		return nil
	}
	n := &c.tasks.kept
	number := n.Next(e.collectives.mostTasks)
	if number == 0 {
		if err := c.renewNumbers(); err != nil {
			return err
		}
		if number = n.Next(e.collectives.mostTasks); number == 0 {
			return errorf(abi.MPI_ERR_OTHER, "all of the %d persistent collective operations that %s can have are in use",
				e.collectives.mostTasks, c.describe())
		}
	}
	n.Add(&t.numbered, number)
	t.shift = (e.collectives.mostTasks + number) << taskTagBits
	return nil
}

// renewNumbers begins a new round of the numbers of persistent operations, of those that no member has in use. Both
// groups of an intercommunicator count together. Engine lock held, given up meanwhile.
func (c *Comm) renewNumbers() error {
	e, n := c.engine, &c.tasks.kept
	mine := n.InUse(e.collectives.mostTasks)
	taken := make([]uint64, len(mine))
	e.mu.Unlock()
	either := op.Predefined(abi.MPI_BOR)
	err := c.Allreduce(countBuf(mine), countBuf(taken), either)
	if err == nil && c.inter.local != nil {
		err = c.inter.local.Allreduce(coll.InPlace(), countBuf(mine), either)
	}
	e.mu.Lock()
	for i := range mine {
		taken[i] |= mine[i]
	}
	n.Renew(taken)
	return err
}
