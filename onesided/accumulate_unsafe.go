package onesided

import (
	"sync"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// Buf is count elements of a type at an address.
type Buf = coll.Buf

// ElementOf is the one predefined type that all data of t consists of, nil if there are several or none: what an
// operator of an accumulate is applied to.
func ElementOf(t *datatype.Type) *datatype.Type { return t.Uniform() }

// Accumulation is target[i] = target[i] op origin[i] for the elements of both, in the order of their types. Result, if
// it has any elements, takes what the target had before. All three consist of Element.
//
//	origin -> piece of elements, one after the other -> [lock: target -> result; op on the target, or on a copy of it
//	that is stored then] -> next piece
//
// What is a vector of elements in memory is not copied, nor are long runs of them in the target. Everything happens
// under the lock of the target, a piece at a time, so that accumulates of several processes to one element do not mix.
// They do so whatever the operators, since all take the same lock.
type Accumulation struct {
	Origin, Target, Result Buf
	Element                *datatype.Type
	First, Elements        int64   // of the target; Elements 0: all
	Op                     coll.Op // predefined; nil: nothing but the result
	Far                    Far     // where the target's elements are, if not at the target's Base
	Most                   int64   // elements under one holding of the lock, 0: as many as there are in pieceBytes
	Lock                   func() error
	Unlock                 func()
}

// Far is memory of a target that is not mapped here. Positions are bytes of the packed stream of its elements.
type Far interface {
	// Load fills b from position pos on. Store brings b there. False: it cannot be reached.
	Load(b []byte, pos int64) bool
	Store(b []byte, pos int64) bool
}

// ErrUnread is what Do answers if all may be done anew, because the first piece of the target could not be reached, and
// ErrLost if another one could not.
var (
	ErrUnread = errorf(abi.MPI_ERR_RMA_RANGE, "memory of the window cannot be reached")
	ErrLost   = errorf(abi.MPI_ERR_RMA_RANGE, "memory of the window cannot be reached, and a part of it has been changed")
)

// CheckOp refuses operators that are not for one-sided communication, and types that they are not defined for. target
// is the type at the target, origin that at the origin, nil where there is none.
func CheckOp(handle int, target, origin *datatype.Type) (*datatype.Type, error) {
	element := ElementOf(target)
	if element == nil {
		return nil, errorf(abi.MPI_ERR_TYPE, "argument target_datatype consists of several predefined types: an "+
			"accumulate needs one")
	}
	if origin != nil && ElementOf(origin) != element {
		return nil, errorf(abi.MPI_ERR_TYPE, "arguments origin_datatype and target_datatype do not consist of the same "+
			"predefined type")
	}
	return element, op.Check(handle, element)
}

// pieceBytes is how much of an accumulate takes place in one holding of the lock: long enough for the kernels, and
// short for those that wait.
const pieceBytes = 256 << 10

// vectorBytes is the same where vectors are combined and nothing else: their kernels fetch ahead, and begin anew with
// each piece.
const vectorBytes = 512 << 10

// vector returns where b lies as consecutive elements, nil if it does not.
func vector(b Buf, element *datatype.Type) unsafe.Pointer {
	if b.Type == element {
		return b.Base
	}
	if element.Extent() != element.Size() {
		return nil
	}
	if p, _, ok := b.Type.Span(b.Base, b.Count); ok {
		return p
	}
	return nil
}

// Do carries it out. Errors are those of the operator, of the lock and of memory that is far.
func (a *Accumulation) Do() error {
	n := a.Elements
	if n == 0 {
		n = a.Target.Size() / a.Element.Size()
	}
	if n == 0 {
		return nil
	}
	if a.Op == nil || handleOf(a.Op) == abi.MPI_NO_OP {
		a.Op, a.Origin = nil, Buf{}
	}
	w := workers.Get().(*worker)
	defer w.leave()
	w.Accumulation, w.most = a, min(max(pieceBytes/max(a.Element.Extent(), a.Element.Size()), 1), n)
	if a.Most > 0 {
		w.most = min(w.most, a.Most)
	}
	w.open(&w.origin, a.Origin)
	w.open(&w.result, a.Result)
	if a.Far != nil {
		w.target.elements = w.memory(&w.target)
	} else if w.open(&w.target, a.Target); w.target.vector == nil {
		runs := runLists.Get().(*datatype.Runs)
		defer runLists.Put(runs)
		if w.hasRuns(runs, n) {
			w.runs = runs
		}
	}
	if w.target.vector != nil {
		w.target.vector = unsafe.Add(w.target.vector, a.First*a.Element.Extent())
	} else if a.Far == nil {
		w.target.in.SeekTo(a.First * a.Element.Size())
		w.target.out.SeekTo(a.First * a.Element.Size())
	}
	vectors := w.origin.vector != nil && w.target.vector != nil
	if vectors && w.result.none && a.Most == 0 {
		w.most = min(max(vectorBytes/a.Element.Extent(), 1), n)
	}
	w.apart = !vectors && a.Op != nil && a.Far == nil && w.result.none && w.origin.apart(a.Element, n) &&
		w.target.apart(a.Element, n)
	for at := int64(0); at < n; at += w.most {
		if err := w.piece(at, min(w.most, n-at)); err != nil {
			return err
		}
	}
	return nil
}

func handleOf(o coll.Op) int {
	if h, ok := o.(interface{ Handle() int }); ok {
		return h.Handle()
	}
	return 0
}

// worker is an accumulation under way.
type worker struct {
	*Accumulation
	most                   int64 // elements in a piece
	origin, target, result side
	packed                 []byte         // a piece as packed; only if elements have gaps
	runs                   *datatype.Runs // of a piece of the target
	apart                  bool           // origin and target each have equal distances between elements
}

// side is one of its buffers: a vector of elements, or what is moved to and from a copy of a piece.
type side struct {
	vector   unsafe.Pointer
	in, out  datatype.Cursor
	elements []byte // the copy
	none     bool

	first unsafe.Pointer // the first element, and the distance of each from the one before: where all are equal
	step  int64
}

func (w *worker) open(s *side, b Buf) {
	if b.Count == 0 {
		s.none = true
		return
	}
	if s.vector = vector(b, w.Element); s.vector != nil {
		return
	}
	s.in.Init(b.Base, b.Count, b.Type, datatype.Native)
	s.out.Init(b.Base, b.Count, b.Type, datatype.Native)
	s.elements = w.memory(s)
}

// apart finds the distance between the next n elements, if all are equal.
func (s *side) apart(element *datatype.Type, n int64) (ok bool) {
	if s.vector != nil {
		s.first, s.step = s.vector, element.Extent()
		return true
	}
	s.first, s.step, ok = s.out.Apart(element.Size(), n*element.Size())
	return ok
}

// workers are those that have ended, with their memory.
var workers = sync.Pool{New: func() any { return new(worker) }}

// leave gives a worker back, with nothing of what it has worked on.
func (w *worker) leave() {
	origin, target, result, packed := w.origin.elements, w.target.elements, w.result.elements, w.packed
	*w = worker{packed: packed}
	w.origin.elements, w.target.elements, w.result.elements = origin, target, result
	workers.Put(w)
}

// memory is room for a piece at one of the sides.
func (w *worker) memory(s *side) []byte {
	return room(s.elements, w.most*w.Element.Extent()+w.Element.Size())
}

func room(p []byte, n int64) []byte {
	if int64(cap(p)) < n {
		return make([]byte, n)
	}
	return p[:n]
}

// load returns n elements from element at on, one after the other: those in memory, or a copy; nil if they cannot be
// reached.
func (w *worker) load(s *side, at, n int64) unsafe.Pointer {
	if s.vector != nil {
		return unsafe.Add(s.vector, at*w.Element.Extent())
	}
	p := unsafe.Pointer(unsafe.SliceData(s.elements))
	buf := w.dense(s, n)
	if w.Far != nil && s == &w.target {
		if !w.Far.Load(buf, (w.First+at)*w.Element.Size()) {
			return nil
		}
	} else {
		s.out.Pack(buf)
	}
	w.spread(p, buf, n)
	return p
}

// store is what brings a copy back. False: its place cannot be reached.
func (w *worker) store(s *side, from unsafe.Pointer, at, n int64) bool {
	if s.vector != nil {
		if to := unsafe.Add(s.vector, at*w.Element.Extent()); to != from {
			datatype.Copy(to, n, w.Element, from, n, w.Element)
		}
		return true
	}
	buf := unsafe.Slice((*byte)(from), n*w.Element.Size())
	if w.Element.Extent() != w.Element.Size() {
		var c datatype.Cursor
		buf = w.room(n)
		c.Init(from, n, w.Element, datatype.Native)
		c.Pack(buf)
	}
	if w.Far != nil && s == &w.target {
		return w.Far.Store(buf, (w.First+at)*w.Element.Size())
	}
	s.in.Unpack(buf)
	return true
}

// dense is where n packed elements go: to the copy itself if they have no gaps.
func (w *worker) dense(s *side, n int64) []byte {
	if w.Element.Extent() == w.Element.Size() {
		return s.elements[:n*w.Element.Size()]
	}
	return w.room(n)
}

func (w *worker) room(n int64) []byte {
	w.packed = room(w.packed, n*w.Element.Size())
	return w.packed
}

// spread lays packed elements out with their gaps.
func (w *worker) spread(to unsafe.Pointer, packed []byte, n int64) {
	if w.Element.Extent() == w.Element.Size() {
		return
	}
	var c datatype.Cursor
	c.Init(to, n, w.Element, datatype.Native)
	c.Unpack(packed)
}

// shortRun is how many elements of a run are combined in a copy.
const shortRun = 4

var runLists = sync.Pool{New: func() any { return new(datatype.Runs) }}

// piece accumulates n elements from element at on.
func (w *worker) piece(at, n int64) error {
	var in unsafe.Pointer
	if !w.origin.none && !w.apart {
		in = w.load(&w.origin, at, n)
	}
	if w.Lock != nil {
		if err := w.Lock(); err != nil {
			return err
		}
		defer w.Unlock()
	}
	if w.apart {
		from, to := unsafe.Add(w.origin.first, at*w.origin.step), unsafe.Add(w.target.first, at*w.target.step)
		if op.ApplyApart(w.Op, from, w.origin.step, to, w.target.step, n, w.Element) {
			return nil
		}
		w.apart, in = false, w.load(&w.origin, at, n)
	}
	if w.runs != nil && w.result.none && w.Element.Extent() == w.Element.Size() {
		return w.scattered(in, at, n)
	}
	inout := in
	if w.Far == nil || !w.result.none || handleOf(w.Op) != abi.MPI_REPLACE {
		inout = w.load(&w.target, at, n)
	}
	if inout == nil && at == 0 {
		return ErrUnread
	} else if inout == nil {
		return ErrLost
	}
	if !w.result.none {
		w.store(&w.result, inout, at, n)
	}
	if w.Op == nil {
		return nil
	}
	if inout != in {
		if err := w.Op.Apply(in, inout, n, w.Element); err != nil {
			return err
		}
	}
	switch stored := w.store(&w.target, inout, at, n); {
	case stored:
		return nil
	case at == 0 && inout == in: // to replace elements once more does no harm
		return ErrUnread
	}
	return ErrLost
}

// hasRuns says, by the first of n elements of the target, whether so many follow each other that it pays to combine
// them where they are, and not a copy.
func (w *worker) hasRuns(r *datatype.Runs, n int64) bool {
	const looked = 64
	size := w.Element.Size()
	first := w.First * size
	n = min(n, looked)
	w.target.out.List(r, first, first+n*size)
	return int64(r.N)*shortRun < n
}

// scattered accumulates into a target whose elements lie in runs, one run after the other: there is no copy of them.
func (w *worker) scattered(in unsafe.Pointer, at, n int64) error {
	size := w.Element.Size()
	first := (w.First + at) * size
	for pos, end := first, first+n*size; pos < end && w.Op != nil; {
		r, from := w.runs, unsafe.Add(in, pos-first)
		pos = w.target.out.List(r, pos, end)
		if err := op.ApplyRuns(w.Op, from, w.Target.Base, r.Off[:r.N], r.Len[:r.N], w.Element); err != nil {
			return err
		}
	}
	return nil
}

// Swap stores the element at origin in the target if that is equal to the one at compare, and what the target had in
// result (MPI_Compare_and_swap). The caller has the lock.
func Swap(target, origin, compare, result unsafe.Pointer, element *datatype.Type) {
	n := element.Size()
	had, want := unsafe.Slice((*byte)(target), n), unsafe.Slice((*byte)(compare), n)
	same := string(had) == string(want)
	copy(unsafe.Slice((*byte)(result), n), had)
	if same {
		copy(had, unsafe.Slice((*byte)(origin), n))
	}
}
