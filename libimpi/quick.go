package libimpi

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Quick receives: those that the bridge's C has posted without entering Go, and completes itself as long as it can
// (gobridge/executor/fast.h). While one waits for a message, nothing else waits in its context: C checks that before it
// posts, and the engine adopts all of them, in their order, before it matches an arrival, posts a receive of its own or
// completes one of theirs. So one of the two alone does the matching.

// C's types of these tables are generated: z_layout.h (go test -run TestTheCHeader -rewrite).

// Quick is the table in C's memory. The engine's lock guards it.
type Quick struct {
	Posted uint32                   // how many wait for a message
	Idle   uint32                   // the first free slot, counted from 1; 0: none
	From   [quickSources]quickQueue // those that wait, by the source's rank in the machine's segment, or its index there
	Slots  [quickSlots]QuickSlot
}

// QuickSlot is one receive.
type QuickSlot struct {
	State       uint32           // stored last when a message is there: C may look without the lock
	Generation  uint32           // how often the slot has been used, never 0
	Next        uint32           // the one after this in its queue or among the free, counted from 1; 0: none
	Source, Tag int32            // asked for; once done, the tag of the message
	Local       int32            // the source's rank in the machine's segment
	CID         uint64           // of the communicator's point-to-point context
	Buf         datatype.Pointer // where the data begins, if it is a run
	Bytes       uint32           // room; once done, the length of the message
	Count       int32            // elements of Held
	Held        datatype.Pointer // C's entry of a derived type, kept until the receive is adopted or done; nil: a run
	Request     uint64           // adopted: the engine's request
	Persistent  uint32           // the persistent request whose start has posted it, counted from 1; 0: none
	_           uint32
}

// Persistent is what C needs to start a persistent request of the engine's, and what has become of it. One that C has
// started is C's until it is complete, or until the engine is asked about it or adopts its receive.
type Persistent struct {
	Request        uint64 // its id; 0: not in use
	State          uint32
	Slot           uint32 // posted: of Quick, counted from 1
	Buf            uint64 // the arguments, as the program gave them
	Count          int64
	Datatype, Comm uint64
	Peer, Tag      int32
	Kind           uint32
	_              uint32
}

// PersistentTable has a place for each of the engine's first requests, by the low half of their ids. C's memory; an
// entry belongs to whoever uses the request.
type PersistentTable [persistentSlots]Persistent

const persistentSlots = 1024

// The kinds of persistent requests. C starts sends and receives; those of collective operations it ends when they are
// over.
const (
	PersistentSend = iota
	PersistentReceive
	persistentCollective
)

// leaveToC lets C end a persistent request, which is done without an error and has an empty status.
func (e *Engine) leaveToC(r *Request) {
	if p := e.requests.persistentOf(r.id); p != nil && e.requests.checked == nil {
		p.State, r.state.active = persistentSent, false
	}
}

// The states of a persistent request.
const (
	persistentInactive = iota
	persistentSent     // a send that C has started, or a collective operation, that is over
	persistentPosted   // started by C: a quick receive
	persistentEngine   // active, and ours
)

// HeldType answers the committed type of an entry that a quick receive keeps, and gives the entry back. It is called
// under the engine's lock.
type HeldType func(held datatype.Pointer) *datatype.Type

// quickQueue are the first and the last slot of a queue, counted from 1; 0: none.
type quickQueue struct{ Head, Tail uint32 }

const (
	quickSources = transport.MaxLocal
	quickSlots   = 1024

	// quickBit marks the low half of the id of a quick receive: generation<<32 | quickBit | slot.
	quickBit = 1 << 30
)

// The states of a slot.
const (
	quickFree = iota
	quickPosted
	quickDone
	quickAdopted
)

// open fills the list of free slots.
func (q *Quick) open() {
	for i := range q.Slots {
		q.Slots[i].Generation, q.Slots[i].Next = 1, uint32(i)+2
	}
	q.Slots[quickSlots-1].Next = 0
	q.Idle = 1
}

// AdoptQuick makes requests of the engine of all quick receives that wait.
func (e *Engine) AdoptQuick() {
	e.mu.Lock()
	e.adoptQuick()
	e.mu.Unlock()
}

// adoptQuick is AdoptQuick under the lock. Where nothing waits it costs a look.
func (e *Engine) adoptQuick() {
	if e.requests.quick == nil || e.requests.quick.Posted == 0 {
		return
	}
	q := e.requests.quick
	left := q.Posted
	q.Posted = 0
	for i := 0; left > 0 && i < len(q.From); i++ { // beyond the segment's ranks there are guests
		for n := q.From[i].Head; n != 0; n = q.Slots[n-1].Next {
			r := e.adopt(n)
			left--
			if r.ctx.comm.losses.first != nil && e.inVain(r) {
				continue
			}
			r.ctx.post(r)
		}
		q.From[i] = quickQueue{}
	}
}

// adopt makes a request of the engine of the receive in slot n.
func (e *Engine) adopt(n uint32) *Request {
	s := &e.requests.quick.Slots[n-1]
	t, count := datatype.Named(abi.MPI_BYTE), int64(s.Bytes)
	if s.Held != nil {
		t, count = e.requests.heldType(s.Held), int64(s.Count)
	}
	var r *Request
	if s.Persistent != 0 {
		r = e.requests.slots[s.Persistent-1]
		e.activate(r)
		r.env.source, r.env.peer = r.env.rank, noPeer
	} else {
		r = e.newRecv(e.contexts.find(s.CID), s.Buf, count, t, int(s.Source), s.Tag)
	}
	r.quick = n
	s.State, s.Request = quickAdopted, r.id
	return r
}

// find returns the request of an id that the program holds; nil if there is none.
func (e *Engine) find(id uint64) *Request {
	if id&quickBit != 0 && e.requests.quick != nil {
		id = e.adopted(id)
	} else {
		e.takeStarted(id)
	}
	return e.requests.find(id)
}

// takeStarted makes the engine's what C has started of a persistent request.
func (e *Engine) takeStarted(id uint64) {
	p := e.requests.persistentOf(id)
	if p == nil {
		return
	}
	r := e.requests.slots[uint32(id)-1]
	switch p.State {
	case persistentSent:
		r.state.active, r.state.done, r.state.seen, r.status = true, true, false, emptyStatus
		p.State = persistentEngine
	case persistentPosted:
		if s := &e.requests.quick.Slots[p.Slot-1]; s.State == quickDone {
			r.state.active, r.state.done, r.state.seen = true, true, false
			r.status = Status{Source: s.Source, Tag: s.Tag, Bytes: int64(s.Bytes)}
			r.quick = p.Slot
			s.State, s.Request = quickAdopted, r.id
			p.State = persistentEngine
		} else {
			e.adoptQuick()
		}
	}
}

// persistentOf is what C knows of a request; nil if that is nothing.
func (t *requestTable) persistentOf(id uint64) *Persistent {
	n := uint32(id) - 1
	if t.persistent == nil || n >= persistentSlots || t.persistent[n].Request != id {
		return nil
	}
	return &t.persistent[n]
}

// Offer lets C start a persistent request by itself. The arguments are as the program gave them.
func (e *Engine) Offer(id uint64, p Persistent) {
	if n := uint32(id) - 1; e.requests.persistent != nil && n < persistentSlots {
		p.Request = id
		e.requests.persistent[n] = p
	}
}

// adopted is the id that the engine knows a quick receive by; 0 if id names none. One that is done becomes a request
// that is done.
func (e *Engine) adopted(id uint64) uint64 {
	n := uint32(id)&^quickBit + 1
	if n > quickSlots {
		return 0
	}
	s := &e.requests.quick.Slots[n-1]
	if s.Generation != uint32(id>>32) || s.State == quickFree {
		return 0
	}
	switch s.State {
	case quickPosted:
		e.adoptQuick()
	case quickDone:
		e.adoptDone(n)
	}
	return s.Request
}

// adoptDone makes a request that is done of the receive in slot n. Its communicator may be gone.
func (e *Engine) adoptDone(n uint32) {
	s := &e.requests.quick.Slots[n-1]
	r := e.requests.get(nil)
	r.kind, r.state.active, r.state.done, r.env.peer = recvRequest, true, true, noPeer
	r.status = Status{Source: s.Source, Tag: s.Tag, Bytes: int64(s.Bytes)}
	r.quick = n
	s.State, s.Request = quickAdopted, r.id
}

// put gives a slot back once its request is over.
func (q *Quick) put(n uint32) {
	s := &q.Slots[n-1]
	s.State, s.Request = quickFree, 0
	if s.Generation++; s.Generation == 0 {
		s.Generation = 1
	}
	s.Next, q.Idle = q.Idle, n
}

// bySlot is the id of the quick receive whose id has this low half; null if there is none.
func (q *Quick) bySlot(low uint32) uint64 {
	n := low &^ quickBit
	if n >= quickSlots || q.Slots[n].State == quickFree {
		return nullRequest
	}
	return uint64(q.Slots[n].Generation)<<32 | uint64(low)
}
