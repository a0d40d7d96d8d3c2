package onesided

import (
	"fmt"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Requests to the engine of a target whose memory is not mapped here (Request): the origin's side. They travel in the
// space Asks, and the data of long ones in Data. All functions run under the engine's lock, but for those that take it.
//
// What a call sends is bounded: a short put or a piece of an accumulate is a copy, and of those at most copiesBytes
// wait for room at a time; a long put is an ordinary long message out of the program's memory.

// windowRequests is what a window has for them.
type windowRequests struct {
	tags     int32 // of Data, given out by this process
	open     int   // messages to and from all targets whose end is awaited
	lossy    bool  // a member is lost
	fences   fences
	targets  []target
	origins  []origin // serve.go
	lock     lockQueue
	attached atomic.Pointer[attachments] // to a dynamic window
}

// target is what this process has under way at another one.
type target struct {
	gone             bool   // it is lost, or the window revoked: nothing comes from it any more
	open             int    // messages whose end is awaited
	copies           int64  // bytes of copies among them
	changed          bool   // requests have been sent whose end only the target knows
	flushes, flushed uint64 // asked for, and answered
	asked, granted   uint64 // locks
	posted, started  uint64 // MPI_Win_post of the target, and MPI_Win_start for it
	sent             uint64 // requests
	ahead            ahead
	types            typeTable
	failed           error // what the target says has failed
	refused          error // the lock: nobody gets it any more
}

const (
	inlineBytes = 8 << 10  // of a put that travels with its request
	askedBytes  = 32 << 10 // of an accumulate in one request
	copiesBytes = 1 << 20
)

// openRequests makes the window one that serves requests, if there are any.
func (w *Window) openRequests() {
	if !w.asks {
		return
	}
	q := &w.requests
	q.fences.done = w.servedOne
	q.targets, q.origins = make([]target, len(w.parts)), make([]origin, len(w.parts))
	q.attached.Store(new(attachments))
	w.engine.Serve(w)
}

// closeRequests ends it. Nothing is under way any more.
func (w *Window) closeRequests() {
	if w.requests.targets != nil {
		w.engine.Serve(nil)
	}
}

// settle waits for the long puts of members of a window that is Broken, which these have sent together with their
// requests: its memory may be used for something else then.
func (w *Window) settle() {
	if w.requests.targets == nil || !w.Broken() {
		return
	}
	w.engine.Lock()
	defer w.engine.Unlock()
	w.engine.WaitFor((*isSettled)(&w.requests))
}

// isSettled is what settle waits for.
type isSettled windowRequests

func (q *isSettled) Holds() bool {
	for r := range q.origins {
		if q.origins[r].open > 0 {
			return false
		}
	}
	return q.open == 0
}

// operation is what the program's request of a call stands for; nil if the call returns none.
type operation struct {
	request uint64
	left    int   // messages that are not done, and the call itself
	failed  error // of the first message that has
}

func (w *Window) newOp(ask bool) *operation {
	if !ask {
		return nil
	}
	return &operation{request: w.engine.NewRequest(), left: 1}
}

func (o *operation) more() {
	if o != nil {
		o.left++
	}
}

func (o *operation) less(w *Window, err error) {
	if o == nil {
		return
	}
	if o.failed == nil {
		o.failed = err
	}
	if o.left--; o.left == 0 {
		w.engine.Complete(o.request, o.failed)
	}
}

// id ends the call.
func (o *operation) id(w *Window) uint64 {
	w.engine.Away()
	if o == nil {
		return w.engine.Done
	}
	o.less(w, nil)
	return o.request
}

// part is the end of a message of a call. copied are the bytes of a copy, and then is called when data has come.
func (w *Window) part(t *target, o *operation, copied int64, then func()) func(whole bool, err error) {
	t.open++
	w.requests.open++
	t.copies += copied
	o.more()
	return func(whole bool, err error) {
		t.open--
		w.requests.open--
		t.copies -= copied
		if err != nil && o == nil && t.failed == nil {
			t.failed = err
		}
		if whole && then != nil {
			then()
		}
		o.less(w, err)
	}
}

// sends starts a message to a target. copied says that it is a copy of ours.
func (w *Window) sends(on Space, b coll.Buf, to int, tag int32, o *operation, copied bool) {
	if w.engine.SendShort(on, b, to, tag) {
		return
	}
	bytes := int64(0)
	if copied {
		bytes = b.Count
	}
	w.engine.Send(on, b, to, tag, w.part(&w.requests.targets[to], o, bytes, nil))
}

// receives posts the receive of what a target sends back.
func (w *Window) receives(b coll.Buf, from int, tag int32, o *operation, then func()) {
	w.engine.Receive(b, from, tag, w.part(&w.requests.targets[from], o, 0, then))
}

// asksFor sends a request.
func (w *Window) asksFor(to int, r *Request, o *operation) {
	r.Fences = w.requests.fences.number()
	b := r.Append(make([]byte, 0, 64+len(r.Type)+len(r.Data)))
	w.sends(Asks, coll.Bytes(b), to, 0, o, true)
	if !r.Kind.isAnswer() {
		w.requests.targets[to].sent++
		w.goesAhead(to, int64(len(b)))
	}
}

// tag gives out a tag of Data. Those of what comes back are odd, so that they are not those of what the
// same process sends to this one.
func (w *Window) tag(back bool) int32 {
	q := &w.requests
	q.tags = (q.tags + 2) & (1<<30 - 1)
	if back {
		return q.tags + 1
	}
	return q.tags + 2
}

// approach takes the lock and waits until not too many copies are under way to a target. The caller ends with leave.
func (w *Window) approach(to int) {
	w.engine.Lock()
	w.awaitRoom(to)
	w.engine.Post(to)
}

func (w *Window) leave(to int) {
	w.engine.Posted(to)
	w.engine.Unlock()
}

func (w *Window) awaitRoom(to int) {
	if t := (*hasRoom)(&w.requests.targets[to]); !t.Holds() {
		w.engine.WaitFor(t)
	}
}

func (w *Window) askPut(origin coll.Buf, p Place, ask bool) (uint64, error) {
	w.approach(p.Target)
	defer w.leave(p.Target)
	t := &w.requests.targets[p.Target]
	r := Request{Kind: AskPut, Disp: p.Disp, Count: p.Count}
	if err := t.types.describe(p.Type, &r); err != nil {
		return 0, err
	}
	rep := w.engine.Rep(p.Target)
	n := origin.Type.PackedSize(origin.Count, rep)
	o := w.newOp(ask)
	if n <= inlineBytes {
		w.change(t, &r)
		r.Data = make([]byte, n)
		err := coll.Pack(r.Data, origin, rep)
		w.asksFor(p.Target, &r, o)
		return o.id(w), err
	}
	t.changed = true
	r.Kind, r.Tag = AskPutLong, w.tag(false)
	w.engine.Cork(p.Target) // the data takes the request along
	defer w.engine.Uncork()
	w.asksFor(p.Target, &r, o)
	w.sends(Data, origin, p.Target, r.Tag, o, false)
	return o.id(w), nil
}

func (w *Window) askGet(origin coll.Buf, p Place, ask bool) (uint64, error) {
	w.approach(p.Target)
	defer w.leave(p.Target)
	t := &w.requests.targets[p.Target]
	r := Request{Kind: AskGet, Disp: p.Disp, Count: p.Count, Tag: w.tag(true)}
	if err := t.types.describe(p.Type, &r); err != nil {
		return 0, err
	}
	if w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		w.change(t, &r) // it may say that the memory is not attached
	}
	o := w.newOp(ask)
	w.receives(origin, p.Target, r.Tag, o, nil)
	w.asksFor(p.Target, &r, o)
	return o.id(w), nil
}

// askAccumulate sends the elements piece by piece, and takes back what was there.
func (w *Window) askAccumulate(origin, result coll.Buf, p Place, of coll.Op, element *datatype.Type,
	ask bool) (uint64, error) {
	w.approach(p.Target)
	defer w.leave(p.Target)
	t := &w.requests.targets[p.Target]
	r := Request{Kind: AskAccumulate, Disp: p.Disp, Count: p.Count, Op: uint16(opHandle(of))}
	rep := w.engine.Rep(p.Target)
	each := element.PackedSize(1, rep)
	n, most := p.Count*p.Type.Size()/element.Size(), pieceElements(element, rep)
	var data datatype.Cursor
	if origin.Count > 0 {
		data.Init(origin.Base, origin.Count, origin.Type, rep)
	}
	o := w.newOp(ask)
	dynamic := w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC
	for ; r.First < n; r.First += most {
		if w.awaitRoom(p.Target); w.lost(p.Target) != nil {
			break
		}
		if err := t.types.describe(p.Type, &r); err != nil {
			return o.id(w), err
		}
		r.Elements = min(most, n-r.First)
		if r.Tell = false; result.Count == 0 || dynamic { // what comes back says that it is done, but for what is wrong
			w.change(t, &r)
		}
		if r.Data = nil; origin.Count > 0 {
			r.Data = make([]byte, r.Elements*each)
			data.Pack(r.Data)
		}
		if result.Count > 0 {
			r.Tag = w.tag(true)
			w.takeBack(result, p.Target, &r, each, rep, o)
		}
		w.asksFor(p.Target, &r, o)
		r.Type = nil
	}
	return o.id(w), data.Err()
}

// pieceElements is how many elements of an accumulate a request has at most. The target holds origins to it: it needs
// room for as many, whatever the layout of its type, with which elements may share memory.
func pieceElements(element *datatype.Type, rep datatype.Rep) int64 {
	return max(askedBytes/element.PackedSize(1, rep), 1)
}

func opHandle(o coll.Op) int { return o.(interface{ Handle() int }).Handle() }

// takeBack receives what an accumulate has found, of so many bytes an element, and stores it in its result.
func (w *Window) takeBack(result coll.Buf, from int, r *Request, each int64, rep datatype.Rep, o *operation) {
	was, first := make([]byte, r.Elements*each), r.First*each
	w.receives(coll.Bytes(was), from, r.Tag, o, func() {
		var c datatype.Cursor
		c.Init(result.Base, result.Count, result.Type, rep)
		c.SeekTo(first)
		c.Unpack(was)
	})
}

func (w *Window) askSwap(origin, compare, result datatype.Pointer, p Place) error {
	w.approach(p.Target)
	defer w.leave(p.Target)
	rep := w.engine.Rep(p.Target)
	each := p.Type.PackedSize(1, rep)
	r := Request{Kind: AskSwap, Disp: p.Disp, Count: 1, Elements: 1, Tag: w.tag(true),
		Slot: uint16(p.Type.Handle()), Data: make([]byte, 2*each)}
	if w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC {
		w.change(&w.requests.targets[p.Target], &r)
	}
	err := coll.Pack(r.Data[:each], coll.Buf{Base: origin, Count: 1, Type: p.Type}, rep)
	if err == nil {
		err = coll.Pack(r.Data[each:], coll.Buf{Base: compare, Count: 1, Type: p.Type}, rep)
	}
	w.takeBack(coll.Buf{Base: result, Count: 1, Type: p.Type}, p.Target, &r, each, rep, nil)
	w.asksFor(p.Target, &r, nil)
	return err
}

// describeKind names a request for messages about peers that break the rules.
func describeKind(k Kind) string {
	return fmt.Sprintf("request %d of one-sided communication", k)
}
