package main

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/onesided"
)

// Argument checks. A check collects the first error of a call's arguments, in the order in which the function
// has them; the export looks once at the end. It lives on the stack.
type check struct {
	fn  string
	c   *communicator
	s   *session  // whose error handler it is, where there is no communicator
	w   *window   // or a window
	f   *openFile // or a file
	err *libimpi.Error

	bytes          int64   // the longest buffer, if all ranks have as much
	user           *userOp // the operation of the program that the call makes use of; nil: none
	numbers, kinds int     // how much has been taken of the communicator's lists (collective.go)
}

// fail registers the error that was found and returns its code.
func (k *check) fail() int32 { return k.failed(k.err) }

// failed registers an error of the call itself.
func (k *check) failed(err error) int32 {
	if k.f != nil {
		e := libimpi.AsError(err)
		return register(e.Class, k.fn+": "+e.Error(), k.f.errhandler(), k.f.handle)
	}
	if k.w != nil {
		e := libimpi.AsError(err)
		return register(e.Class, k.fn+": "+e.Error(), k.w.handler.Load(), k.w.handle)
	}
	if k.s != nil {
		e := libimpi.AsError(err)
		return register(e.Class, k.fn+": "+e.Error(), k.s.errhandler(), k.s.handle)
	}
	return fail(k.fn, k.c, err)
}

func (k *check) set(class int, format string, args ...any) {
	if k.err == nil {
		k.err = libimpi.Errorf(class, format, args...)
	}
}

// isNot says that a handle is not what (a communicator, say) argument arg has to be. Two MPIs in one process mix their
// calls if the loader is left alone (docs/other-mpis.md): the handles of others tell.
func (k *check) isNot(class int, what, arg string, h uintptr) {
	if handle.Foreign(h) {
		k.set(class, "argument %s (%#x) is not %s, and no handle of libimpi: the variable was never set, or the call comes "+
			"from code that was compiled with another MPI", arg, h, what)
		return
	}
	k.set(class, "argument %s (%#x) is not %s, or has been freed", arg, h, what)
}

// comm looks the communicator up; the others need it, so it comes first.
func (k *check) comm(h uintptr) *communicator { return k.commArg(h, "comm") }

// object is comm that also takes a communicator whose MPI_Comm_idup is under way.
func (k *check) object(h uintptr) *communicator {
	if c := objectOf(h); c != nil {
		k.c = c
		return c
	}
	return k.comm(h)
}

func (k *check) commArg(h uintptr, arg string) *communicator {
	c := commOf(h)
	if c != nil {
		k.c = c
		return c
	}
	switch {
	case started() == nil:
		k.err = notStarted()
	case h == abi.MPI_COMM_NULL:
		k.set(abi.MPI_ERR_COMM, "argument %s is MPI_COMM_NULL", arg)
	case h == abi.MPI_COMM_WORLD || h == abi.MPI_COMM_SELF:
		k.set(abi.MPI_ERR_COMM, "argument %s is predefined, and there from MPI_Init to MPI_Finalize only", arg)
	case objectOf(h) != nil:
		k.set(abi.MPI_ERR_COMM, "argument %s is %s", arg, objectOf(h))
	default:
		k.isNot(abi.MPI_ERR_COMM, "a communicator", arg, h)
	}
	return nil
}

func (k *check) notStarted() bool {
	if started() == nil {
		k.err = notStarted()
		return true
	}
	return false
}

// typ looks a datatype up that is used for communication.
func (k *check) typ(h uintptr, arg string) *datatype.Type {
	if d := k.dataType(h, arg); d != nil {
		return d.Type
	}
	return nil
}

func (k *check) dataType(h uintptr, arg string) *dataType {
	d, ok := usable(h)
	if d == nil {
		k.badType(h, arg)
	} else if !ok {
		k.uncommitted(d, arg)
	}
	return d
}

func (k *check) uncommitted(d *dataType, arg string) {
	if d.section != nil && d.section.wrong != nil {
		k.set(d.section.wrong.Class, "%s", d.section.wrong.Text)
		return
	}
	k.set(abi.MPI_ERR_TYPE, "argument %s is a datatype that has not been committed", arg)
}

// anyType looks a datatype up, committed or not.
func (k *check) anyType(h uintptr, arg string) *datatype.Type {
	t := typeOf(h)
	if t == nil {
		k.badType(h, arg)
	}
	return t
}

func (k *check) badType(h uintptr, arg string) {
	if h == abi.MPI_DATATYPE_NULL {
		k.set(abi.MPI_ERR_TYPE, "argument %s is MPI_DATATYPE_NULL", arg)
		return
	}
	k.isNot(abi.MPI_ERR_TYPE, "a datatype", arg, h)
}

func (k *check) count(n int64, arg string) {
	if n < 0 {
		k.set(abi.MPI_ERR_COUNT, "argument %s is negative: %d", arg, n)
	}
}

// buffer looks at the address of count elements: only data at absolute addresses may start at MPI_BOTTOM.
func (k *check) buffer(p uintptr, count int64, t *datatype.Type, arg string) {
	if p < lowestAddress && count > 0 {
		k.low(p, 0, count, t, arg)
	}
	if p == abi.MPI_IN_PLACE {
		k.set(abi.MPI_ERR_BUFFER, "argument %s is MPI_IN_PLACE, which has no meaning here", arg)
	}
	k.volume(count, 1, t, arg)
	k.fits(t, count, arg)
}

// lowestAddress is where memory of a process begins at the earliest (vm.mmap_min_addr). MPI_BOTTOM is NULL: what a
// buffer there is for, its datatype alone tells.
const lowestAddress = 64 << 10

// low refuses elements that begin below all memory, so many bytes from a low address on: NULL was not meant to be
// MPI_BOTTOM then.
func (k *check) low(p uintptr, displ, count int64, t *datatype.Type, arg string) {
	if p == abi.MPI_IN_PLACE || count <= 0 || t == nil || t.Size() == 0 {
		return
	}
	lo, _, ok := onesided.Reach(count, t)
	first := int64(p) + displ + lo
	switch {
	case !ok || first >= lowestAddress:
	case p != abi.MPI_BOTTOM:
		k.set(abi.MPI_ERR_BUFFER, "argument %s is %#x, where no memory is", arg, p)
	case t.Handle() != 0:
		k.set(abi.MPI_ERR_BUFFER, "argument %s is NULL, for %d elements of %s", arg, count, t.Name())
	default:
		k.set(abi.MPI_ERR_BUFFER, "argument %s is NULL, and its %d elements begin at address %d: the datatype is not one "+
			"of absolute addresses, for which this could be MPI_BOTTOM", arg, count, first)
	}
}

// volume looks whether 64 bits can count the bytes of so many blocks of count elements each, as they are packed and
// as they lie in memory: what is derived from the counts of a call is a number then.
func (k *check) volume(count, blocks int64, t *datatype.Type, arg string) {
	if k.err != nil || t == nil || t.Size() == 0 {
		return
	}
	if uint64(count|blocks|t.Extent())>>20 == 0 && t.Size()>>16 == 0 {
		return // no representation is eight times as long as another
	}
	longest := max(t.Size(), t.PackedSize(1, datatype.External32), t.Extent(), -t.Extent())
	if n := product(count, blocks); n < 0 || product(n, longest) < 0 {
		times := ""
		if blocks > 1 {
			times = fmt.Sprintf("%d times ", blocks)
		}
		k.set(abi.MPI_ERR_COUNT, "argument %s: %s%d elements of %d bytes are more than 2^63-1 bytes",
			arg, times, count, longest)
	}
}

// product is a*b, neither of which is negative; -1 if that is more than 63 bits.
func product(a, b int64) int64 {
	if uint64(a|b)>>31 == 0 {
		return a * b
	}
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt64 {
		return int64(lo)
	}
	return -1
}

// sum is the sum of numbers none of which is negative; -1 if that is more than 63 bits.
func sum(numbers []int64) (n int64) {
	for _, x := range numbers {
		if n += x; n < 0 {
			return -1
		}
	}
	return n
}

// dest looks at the rank a message goes to.
func (k *check) dest(rank int32, arg string) {
	if k.c != nil && rank != abi.MPI_PROC_NULL && uint32(rank) >= uint32(k.c.Ranks()) {
		k.badRank(rank, arg)
	}
}

// source looks at the rank a message comes from.
func (k *check) source(rank int32, arg string) {
	if rank != abi.MPI_ANY_SOURCE {
		k.dest(rank, arg)
	}
}

func (k *check) badRank(rank int32, arg string) {
	k.set(abi.MPI_ERR_RANK, "argument %s is %d, and %s has ranks 0 to %d", arg, rank, k.c, k.c.Ranks()-1)
}

func (k *check) sendTag(tag int32, arg string) {
	if tag < 0 || tag > tagUB() {
		k.set(abi.MPI_ERR_TAG, "argument %s is %d; tags are 0 to %d", arg, tag, tagUB())
	}
}

func (k *check) recvTag(tag int32, arg string) {
	if tag != abi.MPI_ANY_TAG {
		k.sendTag(tag, arg)
	}
}

func (k *check) root(root int32) {
	if k.c == nil || k.c.Inter() && (root == abi.MPI_ROOT || root == abi.MPI_PROC_NULL) {
		return
	}
	if uint32(root) >= uint32(k.c.Ranks()) {
		k.set(abi.MPI_ERR_ROOT, "argument root is %d, and %s has ranks 0 to %d", root, k.c, k.c.Ranks()-1)
	}
}

// intra refuses intercommunicators, inter the others.
func (k *check) intra() {
	if k.c != nil && k.c.Inter() {
		k.set(abi.MPI_ERR_COMM, "%s is an intercommunicator", k.c)
	}
}

func (k *check) inter() {
	if k.c != nil && !k.c.Inter() {
		k.set(abi.MPI_ERR_COMM, "%s is not an intercommunicator", k.c)
	}
}

// result looks at the address of something the function returns.
func (k *check) result(p uintptr, arg string) {
	if p == 0 {
		k.set(abi.MPI_ERR_ARG, "argument %s is NULL", arg)
	}
}

// answer stores the handle of a new object; 0 is none, for want of room.
func (k *check) answer(h, out uintptr) int32 {
	if h == 0 {
		k.set(abi.MPI_ERR_OTHER, "there are %d objects of this kind already", handle.Chunk*handle.Chunks)
		return k.fail()
	}
	put(out, h)
	return 0
}

// array looks at the address of n elements.
func (k *check) array(p uintptr, n int, arg string) {
	if p == 0 && n > 0 {
		k.set(abi.MPI_ERR_ARG, "argument %s is NULL", arg)
	}
}

func (k *check) group(h uintptr, arg string) *libimpi.Group {
	g := groupOf(h)
	if g != nil {
		return g
	}
	if h == abi.MPI_GROUP_NULL {
		k.set(abi.MPI_ERR_GROUP, "argument %s is MPI_GROUP_NULL", arg)
	} else {
		k.badGroup(h, arg)
	}
	return nil
}

func (k *check) badGroup(h uintptr, arg string) {
	k.isNot(abi.MPI_ERR_GROUP, "a group", arg, h)
}
