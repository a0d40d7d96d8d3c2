package libimpi

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Verification of collective calls (IMPI_CHECK=calls): all members say what they are about to do before they do it, and
// an error names those who do not agree. It is the same setting at all processes of the job. Calls on communicators
// with a client that is not libimpi are not verified, and those on intercommunicators as to which call it is, the
// roots, and what the members of a group have to agree on. A persistent operation is compared with persistent ones: a
// call of another form does not meet it.
//
//	an operation on data: Collectives.X -> verify
//	any other call:       the bridge    -> Comm.Agree, or File.Agree
//
// Nonblocking access to files is compared when its turn comes (file/queue.go).
//
// What such a call does inside is not compared once more: only operations of the program's are.

// Verifies reports whether calls on the communicator are compared.
func (c *Comm) Verifies() bool {
	if !c.engine.collectives.verifies.Load() || c.takesTurns() {
		return false
	}
	if c.inter.local == nil {
		return true
	}
	_, foreign := c.foreign()
	return foreign == nil && !c.inter.local.takesTurns()
}

// SameCall compares a call that is no operation on data with those of the other members. on is what it is for, as
// messages name it; "" is the communicator.
func (c *Comm) SameCall(on string, call coll.Call) error {
	if !c.Verifies() {
		return nil
	}
	return c.Collectives.compare(on, call)
}

// AgreeOnGroup is SameCall for MPI_Comm_create, in which all members of a group name the same one.
func (c *Comm) AgreeOnGroup(name string, g *Group) error {
	if !c.Verifies() {
		return nil
	}
	all := c.Group()
	ranks := make([]int, g.Size())
	for i := range ranks {
		ranks[i] = all.Rank(g.World(i))
	}
	return c.SameCall("", coll.Call{Routine: coll.Function(name),
		Values: []coll.Value{coll.List("argument group, by ranks in it,", abi.MPI_ERR_GROUP, ranks)},
		Alike:  func(r int) bool { return g.Rank(all.World(r)) != abi.MPI_UNDEFINED }})
}

// AgreeOnTag compares the tags that the two leaders of MPI_Intercomm_create have for each other, and tells the members
// of this one's group. The leaders meet without these tags. differs is what the members of this one's group do not
// agree on; nil if there is nothing.
func (c *Comm) AgreeOnTag(differs error, leader int, peer *Comm, remoteLeader int, tag int32) error {
	if !c.Verifies() {
		return differs
	}
	if differs != nil { // perhaps on who their leader is
		if c.Rank() == leader {
			peer.ops.Send(intBuf([]int32{noTag}), remoteLeader, tagLeaders)
		}
		return differs
	}
	theirs := []int32{tag}
	if c.Rank() == leader && c.engine.agreed(NewGroup([]int32{peer.group.World(remoteLeader)}), sameImpl) {
		if err := peer.exchange(intBuf([]int32{tag}), intBuf(theirs), remoteLeader, tagLeaders); err != nil {
			return err
		}
	}
	said := []int32{tag, theirs[0]}
	if err := c.Bcast(intBuf(said), leader); err != nil {
		return err
	}
	if said[1] == noTag {
		return errorf(abi.MPI_ERR_OTHER, "the members of the remote group do not agree on their calls")
	}
	if said[0] != said[1] {
		return errorf(abi.MPI_ERR_TAG, "argument tag is %d at rank %d of %s, and %d at the remote leader", said[0], leader,
			c.describe(), said[1])
	}
	return nil
}

// noTag is what a leader says whose group does not agree.
const noTag = -1

// verify compares the calls of all members of the communicator, if operations are verified and this is one of the
// program's. Only then it asks for this member's.
func (v Collectives) verify(mine func() coll.Call) error {
	c := v.c
	if !c.engine.collectives.verifies.Load() || v.converted || v.task == nil && !c.ops.goesOn ||
		c.inter.beside != nil || !c.Verifies() {
		return nil
	}
	call := mine()
	call.Form = coll.Blocking
	if v.task != nil {
		call.Form = v.task.form
	}
	return v.compare("", call)
}

func (v Collectives) compare(on string, call coll.Call) error {
	if on == "" {
		on = v.c.describe()
	}
	if v.c.inter.local != nil {
		return v.compareInter(on, call)
	}
	return coll.Verify(v.numbered(), on, &call)
}

// numbered is the communicator with tags of this operation's own.
func (v Collectives) numbered() coll.Comm {
	if v.task != nil {
		return v.on
	}
	e := v.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	number, _ := v.c.tasks.once.Once(e.collectives.mostTasks)
	v.c.tasks.once.Take(number)
	return coll.Shifted(v.on, number<<taskTagBits)
}

// compareInter compares what each group has to agree on inside that group, and which call it is, with which root,
// between the leaders, who tell the others.
func (v Collectives) compareInter(on string, call coll.Call) error {
	what := coll.Call{Routine: call.Routine, Form: call.Form, Root: call.Root, Values: call.Values, Alike: call.Alike,
		Across: true}
	if err := coll.Verify(v.own().numbered(), on, &what); err != nil {
		return err
	}
	const each = 4 // the call, its form, its root, and the class of the error if the group does not agree
	across, mine, theirs := v.numbered(), make([]int32, each), make([]int32, each)
	if err := v.on.Then(func() error {
		mine[0], mine[1], mine[2] = int32(what.Routine), int32(what.Form), int32(what.RootAt)
		if e := AsError(what.Differs); e != nil {
			mine[3] = int32(e.Class)
		}
		return nil
	}); err != nil {
		return err
	}
	if v.c.rank == 0 {
		s := v.on.Scratch()
		if err := s.Exchange(across, intBuf(mine), 0, intBuf(theirs), 0, tagInterColl); err != nil {
			return err
		}
	}
	if err := coll.Bcast(v.own().on, intBuf(theirs), 0); err != nil {
		return err
	}
	return v.on.Then(func() error {
		name := what.Form.Name(what.Routine)
		switch rooted := call.Routine.Rooted(); {
		case what.Differs != nil:
			return what.Differs
		case theirs[3] > 0 && theirs[3] < abi.MPI_ERR_LASTCODE:
			return errorf(int(theirs[3]), "%s on %s: the members of the remote group do not agree on their calls", name, on)
		case mine[0] != theirs[0] || mine[1] != theirs[1]:
			return errorf(abi.MPI_ERR_OTHER, "on %s, this group calls %s, and the remote group %s", on, name,
				coll.Form(theirs[1]).Name(coll.Routine(theirs[0])))
		case rooted && mine[2] >= 0 && mine[2] != -1-theirs[2]:
			return errorf(abi.MPI_ERR_ROOT, "%s on %s: rank %d gives MPI_ROOT, and the remote group gives %s", name, on,
				mine[2], rootInWords(theirs[2]))
		case rooted && mine[2] < 0 && theirs[2] != -1-mine[2]:
			return errorf(abi.MPI_ERR_ROOT, "%s on %s: this group gives %s, and the remote group gives %s", name, on,
				rootInWords(mine[2]), rootInWords(theirs[2]))
		}
		return nil
	})
}

// rootInWords is what a group has given as its root (coll.Call.RootAt).
func rootInWords(at int32) string {
	switch root := -1 - at; {
	case at >= 0:
		return fmt.Sprintf("MPI_ROOT at its rank %d", at)
	case root == abi.MPI_PROC_NULL:
		return "MPI_PROC_NULL"
	default:
		return fmt.Sprintf("root %d", root)
	}
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

// inPlace is a call in which all members pass MPI_IN_PLACE if one does.
func inPlace(call coll.Call, is bool) coll.Call {
	call.InPlace = is
	return call
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

// Types of messages (MPI 5.0, 3.3.1), compared with IMPI_CHECK=types. The first packet of a message of the program's
// says a word about the sequence of basic types in it (transport.Header.DrqID). It is sent to processes of this library
// only. C, which says nothing, sends no messages meanwhile. Where messages are watched (counters.go) this costs a look
// at another flag, and otherwise nothing.
//
//	bit 63      SaysTypes; messages without data, and those of MPI_PACKED, which match all, say nothing
//	bits 53-62  the basic type of all elements, as its handle less MPI_DATATYPE_NULL; 0: there are several
//	bits 0-52   of the hash of the sequence
const (
	typesBasic = 53
	typesHash  = 1<<typesBasic - 1
	basicMask  = 1<<10 - 1
)

// types is what a message says of its types; 0: nothing. Engine lock held.
func (e *Engine) types(ctx *context, p *peer, count int64, t *datatype.Type) uint64 {
	if !e.watch.types || ctx != ctx.comm.p2p || count == 0 || t.Size() == 0 || !e.isOfUs(p) ||
		isPacked(t) {
		return 0
	}
	word := transport.SaysTypes | t.SignatureOf(count)&typesHash
	if u := t.Uniform(); u != nil {
		word |= uint64(u.Handle()-abi.MPI_DATATYPE_NULL) & basicMask << typesBasic
	}
	return word
}

// isOfUs reports whether a process is of this library, as all of other jobs are.
func (e *Engine) isOfUs(p *peer) bool {
	if p.Rank == e.me || p.local >= 0 || e.isGuest(p.Rank) {
		return true
	}
	other := &e.job.Procs[p.Rank]
	return other.Client == e.job.Procs[e.me].Client || e.job.Hosts[other.Host].SameImpl
}

func isPacked(t *datatype.Type) bool {
	u := t.Uniform()
	return u != nil && u.Handle() == abi.MPI_PACKED
}

// compareTypes gives a receive an error if the message that it has matched, of so many bytes in rep, says that its
// types are not those of the buffer, which has room for that many. A message may have less than that: it has to be the
// beginning.
func (e *Engine) compareTypes(r *Request, said uint64, peer *peer, length, room int64,
	rep datatype.Rep) {
	if !e.watch.types || said&transport.SaysTypes == 0 || r.ctx != r.comm.p2p || length > room ||
		isPacked(r.mem.typ) ||
		!e.isOfUs(peer) {
		return
	}
	hash, whole := r.mem.typ.SignatureWithin(r.mem.count, length, rep)
	if whole && hash&typesHash == said&typesHash {
		return
	}
	sent, received := severalTypes, severalTypes
	basic := int(said >> typesBasic & basicMask)
	if u := datatype.Named(basic + abi.MPI_DATATYPE_NULL); basic != 0 && u != nil && u.Size() > 0 {
		sent = manyOf(u, length/u.PackedSize(1, rep))
	}
	if u := r.mem.typ.Uniform(); u != nil && u.Size() > 0 {
		received = manyOf(u, r.mem.size/u.Size())
	} else if sent == severalTypes {
		received = "others"
	}
	r.status.Err = errorf(abi.MPI_ERR_TYPE, "message of %d bytes from rank %d with tag %d on %s: it was sent as %s, and "+
		"is received as %s", length, r.status.Source, r.status.Tag, r.comm.describe(), sent, received)
}

const severalTypes = "several basic types"

// manyOf is n elements of a basic type in words.
func manyOf(t *datatype.Type, n int64) string {
	if n == 1 {
		return t.Name()
	}
	return fmt.Sprintf("%d %s", n, t.Name())
}

// CompareTypes compares the types of what a call names at both sides of an access. MPI_PACKED matches everything.
func CompareTypes(one string, a coll.Buf, other string, b coll.Buf) *Error {
	if a.Count == 0 || b.Count == 0 || a.Type.Size() == 0 || b.Type.Size() == 0 || isPacked(a.Type) || isPacked(b.Type) ||
		a.Type.SignatureOf(a.Count) == b.Type.SignatureOf(b.Count) {
		return nil
	}
	return errorf(abi.MPI_ERR_TYPE, "the data is %s at the %s, and %s at the %s", typesInWords(a), one, typesInWords(b),
		other)
}

func typesInWords(b coll.Buf) string {
	if u := b.Type.Uniform(); u != nil && u.Size() > 0 {
		return manyOf(u, b.Size()/u.Size())
	}
	return severalTypes
}

// Foreign reports whether a member belongs to a client that is not libimpi.
func (c *Comm) Foreign() bool { return c.takesTurns() }

// ReportName is how reports name the communicator.
func (c *Comm) ReportName() uint64 { return name(c) }
