package members

import (
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/onesided"
)

// pointer is the shared file pointer: a word of rank 0, in a window that stays locked. Any goroutine may move it.
// Nobody holds anything while it is moved: a member that dies then leaves at most a hole in the file.
type pointer struct {
	own    Own
	window Window
	word   *int64 // the word, if all members map it
}

// pointerBytes is the size of the shared file pointer.
const pointerBytes = 8

// newPointer makes the pointer of some members. It is collective.
func newPointer(own Own) (pointer, error) {
	bytes := int64(0)
	if own.Rank() == 0 {
		bytes = pointerBytes
	}
	w, err := own.Window(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: bytes, Unit: 1,
		Alloc: func(int64) (datatype.Pointer, error) { return coll.Numbers(make([]int64, 1)).Base, nil }})
	if err != nil {
		return pointer{}, err
	}
	p := pointer{own: own, window: w}
	if w.Together() || own.Size() == 1 {
		p.word = (*int64)(w.At(0))
	}
	return p, w.Lock(0, false, abi.MPI_MODE_NOCHECK)
}

// reset sets the pointer to 0 where its word is, while nobody else has the file.
func (p *pointer) reset() { atomic.StoreInt64((*int64)(p.window.Base()), 0) }

// FetchAdd implements file.Pointer. It needs no member but rank 0, and that one only on another machine.
func (p *pointer) FetchAdd(by int64) (int64, error) {
	if err := p.own.Revocation(); err != nil {
		return 0, err
	}
	if p.word != nil {
		return atomic.AddInt64(p.word, by) - by, nil
	}
	return p.accumulate(by, op.Predefined(abi.MPI_SUM))
}

// Store implements file.Pointer.
func (p *pointer) Store(v int64) error {
	if p.word != nil {
		atomic.StoreInt64(p.word, v)
		return nil
	}
	_, err := p.accumulate(v, op.Predefined(abi.MPI_REPLACE))
	return err
}

// accumulate combines a number with the word of rank 0, whose engine does it, and returns what was there.
func (p *pointer) accumulate(v int64, how coll.Op) (int64, error) {
	own, old := []int64{v}, []int64{0}
	at := onesided.Place{Target: 0, Count: 1, Type: numberType}
	if _, err := p.window.Accumulate(coll.Numbers(own), coll.Numbers(old), at, how, numberType, false); err != nil {
		return 0, err
	}
	if err := p.window.Flush(0, false, "MPI_Win_flush"); err != nil {
		return 0, err
	}
	return old[0], nil
}
