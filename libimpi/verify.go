package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
)

// Verification of collective operations (IMPI_CHECK=1): all members say what they are about to do before they do it,
// and an error names those who do not agree. It is the same setting at all processes of the job. Operations on
// communicators with a client that is not libimpi are not verified, and those on intercommunicators only as to which
// operation it is. A persistent operation is compared with persistent ones: a call of another form does not meet it.

// verify compares the calls of all members of the communicator, if operations are verified. Only then it asks for this
// member's.
func (v Collectives) verify(mine func() coll.Call) error {
	c := v.c
	if !c.engine.verifies || v.converted || c.takesTurns() {
		return nil
	}
	call := mine()
	call.Form = coll.Blocking
	if v.task != nil {
		call.Form = v.task.form
	}
	if c.local != nil {
		return v.verifyInter(call)
	}
	return coll.Verify(v.numbered(), c.describe(), &call)
}

// numbered is the communicator with tags of this operation's own.
func (v Collectives) numbered() coll.Comm {
	if v.task != nil {
		return v.on
	}
	e := v.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	number, _ := v.c.tasks.once.once(e.mostTasks)
	v.c.tasks.once.take(number)
	return coll.Shifted(v.on, number<<taskTagBits)
}

// verifyInter compares operation and form: inside each group, and between the leaders, who tell the others.
func (v Collectives) verifyInter(call coll.Call) error {
	what := coll.Call{Routine: call.Routine, Form: call.Form}
	name := v.c.describe()
	if err := coll.Verify(v.own().numbered(), name, &what); err != nil {
		return err
	}
	mine, theirs := []int32{int32(what.Routine), int32(what.Form)}, make([]int32, 2)
	if v.c.rank == 0 {
		s := v.on.Scratch()
		if err := s.Exchange(v.numbered(), intBuf(mine), 0, intBuf(theirs), 0, tagInterColl); err != nil {
			return err
		}
	}
	if err := coll.Bcast(v.own().on, intBuf(theirs), 0); err != nil {
		return err
	}
	return v.on.Then(func() error {
		if mine[0] == theirs[0] && mine[1] == theirs[1] {
			return nil
		}
		return errorf(abi.MPI_ERR_OTHER, "on %s, this group calls %s, and the remote group %s", name,
			what.Form.Name(what.Routine), coll.Form(theirs[1]).Name(coll.Routine(theirs[0])))
	})
}

// The calls, by what is to agree in them.

// uniform is a call in which b has the same signature everywhere.
func uniform(o coll.Routine, root int, op coll.Op, b coll.Buf) coll.Call {
	return coll.Call{Routine: o, Root: root, Op: op, Equal: b}
}

// gathering is a call in which the root gets send of each member as a block of recv.
func (v Collectives) gathering(o coll.Routine, root int, send coll.Buf, recv blocksOf) coll.Call {
	call := coll.Call{Routine: o, Root: root, Paired: true}
	if !send.IsInPlace() {
		call.Out = func(r int) coll.Buf {
			if r == root {
				return send
			}
			return coll.NoBuf()
		}
	}
	if int(v.c.rank) == root {
		call.In = recv.Block
	}
	return call
}

// scattering is a call in which each member gets a block of the root's.
func (v Collectives) scattering(o coll.Routine, root int, send blocksOf, recv coll.Buf) coll.Call {
	call := coll.Call{Routine: o, Root: root, Paired: true}
	if int(v.c.rank) == root {
		call.Out = send.Block
	}
	if !recv.IsInPlace() {
		call.In = func(r int) coll.Buf {
			if r == root {
				return recv
			}
			return coll.NoBuf()
		}
	}
	return call
}

// exchanging is a call in which each member gets a block from each.
func exchanging(o coll.Routine, send, recv blocksOf) coll.Call {
	return coll.Call{Routine: o, Out: send.Block, In: recv.Block, Paired: true}
}

// sharing is a call in which each member says how many elements of the result each gets.
func (v Collectives) sharing(recv coll.Buf, counts []int64, op coll.Op) coll.Call {
	share := func(r int) coll.Buf { return coll.Buf{Count: counts[r], Type: recv.Type} }
	mine := func(int) coll.Buf { return share(int(v.c.rank)) }
	return coll.Call{Routine: coll.OpReduceScatter, Op: op, Out: share, In: mine, Paired: true}
}

// contribution is the block of this member, the same for all.
func (v Collectives) contribution(send coll.Buf, recv blocksOf) blocksOf {
	if send.IsInPlace() {
		return one{recv.Block(int(v.c.rank))}
	}
	return one{send}
}

// given are the blocks that this member gives.
func given(send, recv blocksOf, inPlace bool) blocksOf {
	if inPlace {
		return recv
	}
	return send
}

// one is the same block for all.
type one struct{ b coll.Buf }

func (o one) Block(int) coll.Buf { return o.b }
