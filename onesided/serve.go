package onesided

import (
	"bytes"
	"math"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Requests to this process (Request): the target's side. What one asks for is done at once, by whoever polls, and those
// of one origin in order. Nothing that an origin says is believed: what it may not ask for loses the peer, what a
// program does wrong is told with the next flush. All functions run under the engine's lock.

// origin is what this process knows of another one that accesses it.
type origin struct {
	lock      lockState
	open      int // long puts that are on their way
	flushes   int // asked for, and not answered
	completes int // told, and not counted
	exposed   uint64
	completed uint64
	types     [typeSlots]*datatype.Type
	failed    *Error
	early     [][]byte // requests that this process has not come to (fence.go)
}

// Serve does what a request asks for, unless its origin is lost: what it gets nobody would give back.
func (w *Window) Serve(source int32, b []byte) {
	if w.requests.targets[source].gone {
		return
	}
	r, ok := Parse(b)
	if ok && w.isEarly(&r) {
		o := &w.requests.origins[source]
		o.early = append(o.early, bytes.Clone(b))
		return
	}
	if !ok || !w.obey(source, &r) {
		w.engine.Breach(int(source), describeKind(r.Kind)+" that makes no sense")
	}
}

// obey returns false if the origin breaks the rules.
func (w *Window) obey(source int32, r *Request) bool {
	o, t := &w.requests.origins[source], &w.requests.targets[source]
	if r.Fences != 0 && !w.counts {
		return false
	}
	switch r.Kind {
	case TellFlushed:
		if t.flushed >= t.flushes {
			return false
		}
		t.flushed++
		if t.failed == nil {
			t.failed = r.failure()
		}
	case TellGranted:
		if t.granted >= t.asked {
			return false
		}
		t.granted++
		t.refused = r.failure()
	case TellPost:
		if uint64(r.Disp) <= t.posted {
			return false
		}
		t.posted = uint64(r.Disp)
	case AskFlush:
		o.flushes++
		w.settled(source)
	case TellComplete:
		o.completes++
		w.settled(source)
	case AskLock, AskExclusive:
		if o.lock != lockFree {
			return false
		}
		w.queue(int(source), r.Kind == AskExclusive)
	case TellUnlock:
		if o.lock != lockGranted {
			return false
		}
		w.unlocked(int(source))
	default:
		if !w.access(source, o, r) {
			return false
		}
		if r.Tell {
			o.flushes++
			w.settled(source)
		}
	}
	if !r.Kind.isAnswer() && r.Kind != AskGet && r.Kind != AskPutLong { // which are done later
		w.requests.fences.served++
	}
	w.engine.Ring()
	return true
}

// settled answers flushes, and counts ends of epochs, when nothing of an origin is on its way.
func (w *Window) settled(source int32) {
	o := &w.requests.origins[source]
	if o.open > 0 {
		return
	}
	o.completed += uint64(o.completes)
	o.completes = 0
	for ; o.flushes > 0; o.flushes-- {
		r := Request{Kind: TellFlushed}
		r.fails(o.failed)
		o.failed = nil
		w.asksFor(int(source), &r, nil)
	}
}

// access moves data. The type comes first: later requests may refer to it.
func (w *Window) access(source int32, o *origin, r *Request) bool {
	typ := o.typeOf(r)
	if typ == nil || !sane(r.Count, typ) {
		return false
	}
	rep := w.engine.Rep(int(source))
	switch r.Kind {
	case AskPut:
		if int64(len(r.Data)) != typ.PackedSize(r.Count, rep) {
			return false
		}
	case AskAccumulate:
		if !isPiece(r, typ, rep) {
			return false
		}
	case AskSwap:
		if r.Count != 1 || typ.Handle() == 0 || int64(len(r.Data)) != 2*typ.PackedSize(1, rep) {
			return false
		}
	}
	to, err := w.target(r, typ)
	if err != nil && w.flavor != abi.MPI_WIN_FLAVOR_DYNAMIC {
		return false // the origin knows the part
	}
	if err != nil && o.failed == nil {
		o.failed = asError(err)
	}
	place := coll.Buf{Base: to, Count: r.Count, Type: typ}
	if err != nil {
		place = coll.Buf{Type: typ}
	}
	switch r.Kind {
	case AskPut:
		return err != nil || coll.Unpack(place, r.Data, rep) == nil
	case AskPutLong:
		w.receiveLong(source, o, place, r.Tag)
	case AskGet:
		w.sendsBack(source, place, r.Tag, w.requests.fences.done)
	case AskAccumulate:
		return w.accumulate(source, place, r, rep)
	case AskSwap:
		return w.swap(source, place, r, rep)
	}
	return true
}

// isPiece reports whether a request of an accumulate names elements that there are, and no more than fit a piece.
func isPiece(r *Request, t *datatype.Type, rep datatype.Rep) bool {
	element := ElementOf(t)
	if element == nil {
		return false
	}
	n := r.Count * t.Size() / element.Size()
	return r.Elements > 0 && r.Elements <= pieceElements(element, rep) && r.First <= n && r.Elements <= n-r.First
}

// mostLooked is at how many runs of bytes a request makes this process look, to find out whether they are attached. A
// put and an accumulate bring as many bytes as there are runs; others say what they like.
const mostLooked = 1 << 20

// target is the memory that a request is for.
func (w *Window) target(r *Request, t *datatype.Type) (datatype.Pointer, error) {
	if w.flavor != abi.MPI_WIN_FLAVOR_DYNAMIC {
		me := w.me
		off, bad := w.parts[me].Offset(me, r.Disp, r.Count, t)
		if bad != nil {
			return nil, bad
		}
		return offset(w.mine, off), nil
	}
	b := coll.Buf{Count: r.Count, Type: t}
	first, end, most := int64(0), b.Size(), int64(mostLooked)
	switch r.Kind {
	case AskPut:
		most = math.MaxInt64
	case AskAccumulate:
		size := ElementOf(t).Size()
		first, end, most = r.First*size, (r.First+r.Elements)*size, math.MaxInt64
	}
	return w.attachedHere(r.Disp, b, first, end, most)
}

// sane reports whether 62 bits can count what a request names.
func sane(count int64, t *datatype.Type) bool {
	longest := max(t.Size(), t.PackedSize(1, datatype.External32), t.Extent(), -t.Extent(), t.TrueUB(), -t.TrueLB(), 1)
	return count <= (1<<62)/longest
}

// receiveLong takes the data of a long put into its place; without one it is dropped.
func (w *Window) receiveLong(source int32, o *origin, place coll.Buf, tag int32) {
	o.open++
	w.engine.Receive(place, int(source), tag, func(bool, error) {
		o.open--
		w.settled(source)
		w.servedOne(true, nil)
	})
}

// sendsBack sends what an origin waits for. Its receive tells it that this is done, and end, which may be nil, that the
// memory here may change.
func (w *Window) sendsBack(source int32, b coll.Buf, tag int32, end func(whole bool, err error)) {
	if b.Count > 0 && w.engine.SendShort(Data, b, int(source), tag) {
		if end != nil {
			end(true, nil)
		}
		return
	}
	w.engine.Send(Data, b, int(source), tag, end)
}

// accumulate applies a piece of an accumulate. The lock of the engine is that of the target.
func (w *Window) accumulate(source int32, place coll.Buf, r *Request, rep datatype.Rep) bool {
	element, err := CheckOp(int(r.Op), place.Type, nil)
	if err != nil {
		return false
	}
	back := coll.Buf{Count: 0, Type: element}
	if place.Count > 0 {
		a := Accumulation{Target: place, Element: element, First: r.First, Elements: r.Elements}
		if len(r.Data) > 0 {
			if int64(len(r.Data)) != element.PackedSize(r.Elements, rep) {
				return false
			}
			a.Op, a.Origin = op.Predefined(int(r.Op)), elements(element, r.Elements)
			if coll.Unpack(a.Origin, r.Data, rep) != nil {
				return false
			}
		} else if r.Op != abi.MPI_NO_OP {
			return false
		}
		if r.Tag != 0 {
			a.Result = elements(element, r.Elements)
			back = a.Result
		}
		if a.Do() != nil {
			return false
		}
	}
	if r.Tag != 0 {
		w.answers(source, back, r.Tag, rep)
	}
	return true
}

// elements is room for n elements of a predefined type.
func elements(element *datatype.Type, n int64) coll.Buf {
	mem := make([]uint64, (n*max(element.Extent(), element.Size())+7)/8+1)
	return coll.Buf{Base: countBuf(mem).Base, Count: n, Type: element}
}

// answers sends elements as they look on their way.
func (w *Window) answers(source int32, b coll.Buf, tag int32, rep datatype.Rep) {
	packed := make([]byte, b.Type.PackedSize(b.Count, rep))
	if coll.Pack(packed, b, rep) == nil {
		w.sendsBack(source, coll.Bytes(packed), tag, nil)
	}
}

// swap is MPI_Compare_and_swap.
func (w *Window) swap(source int32, place coll.Buf, r *Request, rep datatype.Rep) bool {
	back := coll.Buf{Type: place.Type}
	if place.Count == 1 {
		given, was := elements(place.Type, 2), elements(place.Type, 1)
		if coll.Unpack(given, r.Data, rep) != nil {
			return false
		}
		Swap(place.Base, given.Base, given.Slice(1, 1).Base, was.Base, place.Type)
		back = was
	}
	w.answers(source, back, r.Tag, rep)
	return true
}
