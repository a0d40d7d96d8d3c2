package libimpi

import (
	"runtime/debug"
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/libimpi/match"
	"github.com/libimpi/libimpi/libimpi/protocol"
	"github.com/libimpi/libimpi/libimpi/unexpected"
)

// Status is what a completed operation reports (MPI 5.0, 3.2.5).
type Status struct {
	Source, Tag int32 // rank in the communicator, or MPI_ANY_SOURCE and MPI_ANY_TAG for an empty status
	Err         *Error
	Bytes       int64 // length of the message in bytes of its representation
	External    bool  // the length counts external32 bytes, not native ones
	Cancelled   bool
}

// emptyStatus is the status of a null or inactive request and of a completed send.
var emptyStatus = Status{Source: anySource, Tag: anyTag}

// procNullStatus is the status of a receive from MPI_PROC_NULL.
var procNullStatus = Status{Source: abi.MPI_PROC_NULL, Tag: anyTag}

type requestKind uint8

const (
	noRequest requestKind = iota // the slot is free: its id names nothing yet
	sendRequest
	recvRequest
	compoundRequest // made of messages, or of other things that the engine waits for (compound.go)
	generalRequest  // completed by the program (compound.go)
)

type sendMode uint8

const (
	modeStandard sendMode = iota
	modeSynchronous
	modeReady
	modeBuffered
)

// Request is one operation under way. Requests are pooled; a request's id names its slot and how often that
// slot has been used, so that an old id, from a program or from the wire, names nothing.
//
// All fields belong to the engine's lock, but for those set before the request is posted.
type Request struct {
	id    uint64
	kind  requestKind
	mode  sendMode
	state requestState

	comm *Comm
	ctx  *context

	env   envelope
	waits match.Receive[Request] // receive: its place in its context

	mem      memory
	wire     protocol.Transfer // its message, once it has begun or matched
	declared declaration
	buffered bufferRoom

	long    bool // counted in progressThread.long
	carried bool // the vendor's library is looked after for its sake

	of      compound // compoundRequest: what it is made of. A detached message: what it is a part of; nil if of nothing
	part    int      // and which part
	quick   uint32   // a receive that C posted: its slot in requestTable.quick, counted from 1; 0 for others
	general General  // generalRequest: the program's functions; of a duplication: itself

	status Status
}

// requestState is how far a request has come.
type requestState struct {
	done       bool
	detached   bool // freed by the program while active: goes back to the pool when done
	persistent bool
	active     bool // started, and not yet waited for
	seen       bool // the program has been told that it is done
}

// envelope is what a message is matched by.
type envelope struct {
	source, tag int32 // what a receive asks for
	peer        int32 // world rank of the process at the other end
	rank        int32 // persistent: destination or source as the program gave it
}

// memory is what the program gave, and the same as one run of bytes if it is one.
type memory struct {
	base   datatype.Pointer
	count  int64
	typ    *datatype.Type
	data   datatype.Pointer
	size   int64 // bytes, native
	single bool  // data and size are valid: one run of bytes
}

// declaration is what the program sends, for whoever watches the wire (transport.Header).
type declaration struct {
	seq      uint64 // send: which of this process's messages it is
	elements int64
	dtype    uint64
	types    uint64 // what the message says of them where types are compared (verify.go)
	copied   bool   // the buffer has the bytes of a copy, and the rest is of the program's own
}

// bufferRoom is the room that a buffered send takes.
type bufferRoom struct {
	buffer   *attachedBuffer // whose room; nil for other sends
	reserved int64           // and how many bytes, given back at the end
	turn     uint64          // how many messages the buffer had taken before
}

// setBuffer gives the request its memory.
func (r *Request) setBuffer(base datatype.Pointer, count int64, t *datatype.Type) {
	r.mem.base, r.mem.count, r.mem.typ = base, count, t
	r.declared.elements, r.declared.dtype, r.declared.copied = count, t.ID(), false
	if t.IsView() {
		t, count = t.Laid(count)
		r.mem.typ, r.mem.count = t, count
	}
	r.mem.data, r.mem.size, r.mem.single = t.Span(base, count)
	if !r.mem.single {
		r.mem.size = t.Size() * count
	}
}

// setWire fixes the representation that the message has on its way.
func (r *Request) setWire(rep datatype.Rep) {
	total, flat := r.mem.size, r.mem.single
	if rep != datatype.Native {
		total = r.mem.typ.PackedSize(r.mem.count, rep)
		flat = flat && r.mem.typ.Portable()
	}
	r.wire.Set(rep, total, flat, r.mem.data)
	if r.wire.Collective = r.ctx == r.comm.coll; !flat {
		r.wire.Cursor.Init(r.mem.base, r.mem.count, r.mem.typ, rep)
	}
}

// Pack produces the next bytes of a send (transport.Packer).
func (r *Request) Pack(dst []byte) {
	r.wire.Cursor.Pack(dst)
	if w := &r.comm.engine.watch; w.on {
		w.counters.Packed += uint64(len(dst))
	}
}

// requestTable finds requests by id. Ids are generation<<32 | slot+1, never 0. The memory of slots comes in chunks,
// and goes again when far fewer requests are in use than there are.
type requestTable struct {
	slots    []*Request // nil where the memory is gone
	idle     []*Request
	quick    *Quick // receives that C posts; nil if it does not
	heldType HeldType

	persistent *PersistentTable // persistent requests that C starts; nil if it does not
	checked    *checks.Requests // the program's, where they are checked; nil: they are not

	bare        []int    // chunks without memory
	generations []uint32 // by chunk: what its requests begin with when they have memory
	unneeded    int      // how many requests have been idle all the time since the last review
	ended       int      // how many have ended since

	last struct { // what WaitAny or TestAny has completed last
		id    uint64 // of a persistent request; 0: of another one
		index int
	}
}

const requestChunk = 64

// fewRequests is how many more than are needed are kept.
const fewRequests = 4096

// get takes a request for an operation on a communicator, which stays as long as the request does; nil: on none.
func (t *requestTable) get(c *Comm) *Request {
	if len(t.idle) == 0 {
		t.grow()
	}
	n := len(t.idle) - 1
	r := t.idle[n]
	t.idle = t.idle[:n]
	t.unneeded = min(t.unneeded, n)
	if r.comm = c; c != nil {
		c.uses++
	}
	return r
}

// grow makes idle requests.
func (t *requestTable) grow() {
	var at int
	if n := len(t.bare); n > 0 {
		at, t.bare = t.bare[n-1], t.bare[:n-1]
	} else {
		at = len(t.slots) / requestChunk
		t.slots = append(t.slots, make([]*Request, requestChunk)...)
		t.generations = append(t.generations, 1)
	}
	chunk := make([]Request, requestChunk)
	for i := range chunk {
		slot := at*requestChunk + i
		t.slots[slot] = &chunk[i]
		chunk[i].name(uint64(t.generations[at])<<32 | uint64(slot+1))
	}
	if n := t.live(); cap(t.idle) < n {
		t.idle = append(make([]*Request, 0, 2*n), t.idle...)
	}
	for i := range chunk {
		t.idle = append(t.idle, &chunk[requestChunk-1-i]) // the first slot is used first
	}
}

// name gives a blank request its id.
func (r *Request) name(id uint64) { r.id, r.wire.ID = id, id }

// live is how many requests there is memory for.
func (t *requestTable) live() int { return len(t.slots) - requestChunk*len(t.bare) }

// put gives a request back. Its id names nothing from now on. The one that stands for all complete sends stays.
func (t *requestTable) put(r *Request) {
	if r.id == sentRequest {
		return
	}
	t.release(r)
	if t.checked != nil {
		t.checked.Forget(r.id)
	}
	if p := t.persistentOf(r.id); p != nil {
		p.Request = 0
	}
	id := r.id + 1<<32
	if id>>32 == 0 {
		id += 1 << 32
	}
	comm := r.comm
	*r = Request{}
	r.name(id)
	t.idle = append(t.idle, r)
	if comm != nil {
		comm.letGo()
	}
	if t.ended++; t.ended > 2*t.live()+fewRequests {
		t.review()
	}
}

// review gives back memory that no request has used since the last review. It is called whenever twice as many requests
// have ended as there are, so that a program that comes to its peak again and again keeps what it needs for it; and it
// leaves twice of what has been needed.
func (t *requestTable) review() {
	needed := t.live() - t.unneeded
	if spare := t.unneeded - needed; spare > fewRequests {
		t.shrink(spare)
		go debug.FreeOSMemory() // without it the collector comes when the program makes objects, which it may not
	}
	t.unneeded, t.ended = len(t.idle), 0
}

// shrink gives back the memory of about n idle requests, of whole chunks.
func (t *requestTable) shrink(n int) {
	idle := make([]int, len(t.generations))
	for _, r := range t.idle {
		at := (int(uint32(r.id)) - 1) / requestChunk
		idle[at]++
		t.generations[at] = max(t.generations[at], uint32(r.id>>32))
	}
	for at := len(idle) - 1; at > 0 && n >= requestChunk; at-- { // the first has sentRequest
		if idle[at] == requestChunk {
			clear(t.slots[at*requestChunk:][:requestChunk])
			t.bare = append(t.bare, at)
			n -= requestChunk
		}
	}
	kept := make([]*Request, 0, 2*t.live())
	for _, r := range t.idle {
		if t.slots[uint32(r.id)-1] != nil {
			kept = append(kept, r)
		}
	}
	t.idle = kept
}

// release gives back what a request has of C's.
func (t *requestTable) release(r *Request) {
	if r.quick != 0 {
		t.quick.put(r.quick)
		r.quick = 0
	}
}

// deactivate ends an operation of a persistent request.
func (t *requestTable) deactivate(r *Request) {
	r.state.active = false
	t.release(r)
	if p := t.persistentOf(r.id); p != nil {
		p.State = persistentInactive
	}
}

// underWay reports whether a communicator has requests that are not complete, also such as the program has freed.
func (t *requestTable) underWay(c *Comm) bool {
	return c.uses > 0 && slices.ContainsFunc(t.slots, func(r *Request) bool {
		return r != nil && r.comm == c && !r.state.done && (r.state.active || !r.state.persistent)
	})
}

// find returns the request with this id, or nil.
func (t *requestTable) find(id uint64) *Request {
	if r := t.at(uint32(id)); r != nil && r.id == id {
		return r
	}
	return nil
}

// at returns the request in a slot, as the low half of ids counts them; nil if the slot is free.
func (t *requestTable) at(slot uint32) *Request {
	if slot == 0 || uint64(slot) > uint64(len(t.slots)) {
		return nil
	}
	if r := t.slots[slot-1]; r != nil && r.kind != noRequest {
		return r
	}
	return nil
}

// message is one that arrived before its receive.
type message = unexpected.Message[Request]

// Checks of the program's operations (package checks). The bridge knows them by their arguments, and the engine by
// their requests: an operation that is checked has one, also if it is over at once.

// Begin notes that the program starts an operation, which is an error if it uses memory of another one. sums: what it
// sends must not change until it is complete.
func (e *Engine) Begin(u *checks.Use, sums bool) *Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.requests.checked == nil {
		return nil
	}
	return buffersWrong(e.requests.checked.Begin(u, sums))
}

func buffersWrong(text string) *Error {
	if text == "" {
		return nil
	}
	return errorf(abi.MPI_ERR_BUFFER, "%s", text)
}

// Stop notes that an operation without a request is over, or has failed to start.
func (e *Engine) Stop(u *checks.Use) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.requests.checked != nil {
		e.requests.checked.Stop(u)
	}
}

// Track gives an operation its request.
func (e *Engine) Track(id uint64, u *checks.Use) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.requests.checked == nil:
	case id == sentRequest || id == nullRequest: // of nobody's
		e.requests.checked.Stop(u)
	default:
		e.requests.checked.Track(id, u)
	}
}

// Left are the program's requests that are there at the end.
func (e *Engine) Left() []checks.Leak {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.requests.checked == nil {
		return nil
	}
	return e.requests.checked.Left()
}

// isOver reports whether a request has ended that the program has freed.
func (e *Engine) isOver(id uint64) bool {
	e.look()
	r := e.requests.find(id)
	return r == nil || r.state.done
}

// freed notes that the program has freed a request whose operation goes on. Whether a message to another machine is
// over the engine may learn after the program does, from a third process.
func (e *Engine) freed(r *Request) {
	if e.requests.checked != nil {
		near := r.env.peer != noPeer && e.peer(r.env.peer).local >= 0
		e.requests.checked.Free(r.id, r.kind == recvRequest || r.kind == sendRequest && near)
	}
}

// claim notes that a thread waits for requests, which no other one may.
func (e *Engine) claim(ids []uint64) error {
	if e.requests.checked == nil || !e.requests.checked.Set.Has(checks.Threads) {
		return nil
	}
	if text := e.requests.checked.Wait(ids); text != "" {
		return errorf(abi.MPI_ERR_REQUEST, "%s", text)
	}
	return nil
}

// disclaim is the end of claim.
func (e *Engine) disclaim(ids []uint64) {
	if e.requests.checked != nil {
		e.requests.checked.Waited(ids)
	}
}
