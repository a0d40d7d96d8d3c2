package buffer

import (
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// Apart is an Op that combines elements wherever they lie, if it does: count of them of type t, from bytes apart in in
// and to bytes apart in inout. False: nothing has been done.
type Apart interface {
	ApplyApart(in datatype.Pointer, from int64, inout datatype.Pointer, to, count int64, t *datatype.Type) bool
}

// combineViews is Combine where one of the vectors, or both, are views: of elements that are equally far apart, as many
// as there are at a time. An element that lies in several places is combined in a copy.
func combineViews(op Op, in, inout Buf) error {
	t := inout.Type.Plain()
	for i := int64(0); i < inout.Count; {
		from, step, n := in.Type.Even(i, inout.Count-i)
		to, stride, m := inout.Type.Even(i, inout.Count-i)
		if n = min(n, m); n == 0 {
			if err := combineTorn(op, in.Slice(i, 1), inout.Slice(i, 1), t); err != nil {
				return err
			}
			i++
			continue
		}
		left, right := unsafe.Add(in.Base, from), unsafe.Add(inout.Base, to)
		if err := combineEven(op, left, step, right, stride, n, t); err != nil {
			return err
		}
		i += n
	}
	return nil
}

func combineEven(op Op, in datatype.Pointer, from int64, inout datatype.Pointer, to, n int64, t *datatype.Type) error {
	if n == 1 || from == t.Extent() && to == t.Extent() {
		return op.Apply(in, inout, n, t)
	}
	if apart, ok := op.(Apart); ok && apart.ApplyApart(in, from, inout, to, n, t) {
		return nil
	}
	for ; n > 0; n-- {
		if err := op.Apply(in, inout, 1, t); err != nil {
			return err
		}
		if n > 1 {
			in, inout = unsafe.Add(in, from), unsafe.Add(inout, to)
		}
	}
	return nil
}

func combineTorn(op Op, in, inout Buf, t *datatype.Type) error {
	bytes := t.TrueExtent()
	room := make([]uint64, 2*((bytes+7)/8))
	left := unsafe.Pointer(unsafe.SliceData(room))
	a := Buf{unsafe.Add(left, -t.TrueLB()), 1, t}
	b := Buf{unsafe.Add(left, (bytes+7)/8*8-t.TrueLB()), 1, t}
	if err := Copy(a, in); err != nil {
		return err
	}
	if err := Copy(b, inout); err != nil {
		return err
	}
	if err := op.Apply(a.Base, b.Base, 1, t); err != nil {
		return err
	}
	return Copy(inout, b)
}
