package main

// #include <stdlib.h>
// #include "executor/board.h"
// #include "executor/types.h"
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Calls that C makes again (executor/board_again.c): exchanges of blocks on a board, whose arguments take
// longer to check and to understand than short blocks to move.
//
//	MPI_X -> C finds no such call among those laid out, and notes it on the board -> Go makes the call, and remembers it
//	MPI_X once more -> Go notes what it does (coll.Laid), and lays that out
//	MPI_X from now on, with the same arguments, while its lists say the same -> C

// lastCalls are the calls of a communicator that came last of those that C has not made. Programs make some by turns.
type lastCalls struct {
	noted  unsafe.Pointer // the one under way, if C has noted it: its names
	arrays []array        // among its arguments
	known  [libimpi.CLaidCalls]knownCall
	laying *knownCall // the one under way, if it is to be laid out
	forget int        // the place of the next one that is not known
	next   int        // the place of a call that is laid out when all are taken
}

// knownCall is a call that C has not made.
type knownCall struct {
	libimpi.CCall
	said  []byte // what its arrays said
	tried int    // to lay it out: so often it is not looked at again
}

// callsBetweenTries is how many calls that are the same, and that C cannot make, follow each other before one is tried
// again: to compare their lists and to note what they do takes longer than short blocks.
const callsBetweenTries = 100

// array is one of the program's.
type array struct {
	p     uintptr
	bytes int
}

func (a array) says() []byte { return slice[byte](a.p, a.bytes) }

// begin is the begin of a call.
func (b *board) begin() {
	b.last.noted, b.c.Missed.Names = b.c.Missed.Names, nil
	b.last.arrays = b.last.arrays[:0]
}

// has notes an array of the call.
func (b *board) has(p uintptr, bytes int) {
	if b.c != nil && bytes > 0 {
		b.last.arrays = append(b.last.arrays, array{p, bytes})
	}
}

// lays implements libimpi.BoardCounters.
func (b *board) lays() *coll.Laid {
	l := &b.last
	if l.noted == nil || len(l.arrays) > libimpi.CLaidLists {
		return nil
	}
	k, again := l.find(&libimpi.CCall{Names: l.noted, Args: b.c.Missed.Args})
	if again && k.tried > 0 {
		k.tried-- // it was not simple: the lists of so many more are not compared
		return nil
	}
	said := k.said
	for _, a := range l.arrays {
		again = again && len(said) >= a.bytes && bytes.Equal(said[:a.bytes], a.says())
		said = said[min(a.bytes, len(said)):]
	}
	if again {
		l.laying, k.tried = k, callsBetweenTries
		return new(coll.Laid)
	}
	k.said, k.tried = k.said[:0], 0
	for _, a := range l.arrays {
		k.said = append(k.said, a.says()...)
	}
	return nil
}

// find is a call among those known, and says whether it was one.
func (l *lastCalls) find(call *libimpi.CCall) (k *knownCall, was bool) {
	for i := range l.known {
		if k = &l.known[i]; k.CCall == *call {
			return k, true
		}
	}
	k = &l.known[l.forget]
	l.forget = (l.forget + 1) % len(l.known)
	k.CCall = *call
	return k, false
}

// laid implements libimpi.BoardCounters.
func (b *board) laid(l *coll.Laid) {
	laid := layOut(l, b.last.arrays)
	if laid == nil {
		return
	}
	laid.Call = b.last.laying.CCall
	if l.Waits { // for blocks that others have
		for i := range b.c.Size {
			b.c.Peers[i].Pid = b.reads(int(i))
		}
	}
	place := -1
	for i, p := range b.c.Laid {
		if old := (*libimpi.CLaid)(p); old != nil && old.Call == laid.Call || old == nil && place < 0 {
			place = i
		}
	}
	if place < 0 {
		place = b.last.next
		b.last.next = (place + 1) % len(b.c.Laid)
	}
	C.free(b.c.Laid[place])
	b.c.Laid[place] = unsafe.Pointer(laid)
}

// layOut writes what C needs, of a call with these arrays, into one piece of memory; nil if C cannot do it, or there is
// no memory.
func layOut(l *coll.Laid, arrays []array) *libimpi.CLaid {
	out, in, loops := shapes(l.Out), shapes(l.In), 0
	if out == nil || in == nil {
		return nil
	}
	turn, simple := libimpi.CTurn{}, true
	if l.Turns {
		turn, simple = turnForC(&l.Turn, l.Turn.Most() > C.IMPI_SHM_BOARD_PAYLOAD)
	}
	if !simple {
		return nil
	}
	for _, s := range append(out, in...) {
		loops += min(1, int(s.nest.Depth))
	}
	said := 0 // bytes
	for _, a := range arrays {
		said += a.bytes
	}
	for _, o := range l.Out {
		said += len(o.Says)
	}
	const head, block, word = int(unsafe.Sizeof(libimpi.CLaid{})), int(unsafe.Sizeof(libimpi.CLaidBlock{})), 8
	const plan = int(C.sizeof_struct_impi_plan)
	memory := C.calloc(1, C.size_t(head+block*(len(out)+len(in))+plan*loops+word*len(l.Head)+said))
	if memory == nil {
		return nil
	}
	laid, at := (*libimpi.CLaid)(memory), head
	take := func(bytes int) unsafe.Pointer {
		at += bytes
		return unsafe.Add(memory, at-bytes)
	}
	blocks := func(shapes []shape) (unsafe.Pointer, []libimpi.CLaidBlock) {
		first := take(block * len(shapes))
		blocks := unsafe.Slice((*libimpi.CLaidBlock)(first), len(shapes))
		for i, s := range shapes {
			blocks[i] = libimpi.CLaidBlock{Mem: s.mem, Own: s.own, N: s.n}
			if s.nest.Depth > 0 {
				blocks[i].Plan = take(plan)
				*(*C.struct_impi_plan)(blocks[i].Plan) = C.struct_impi_plan{size: C.int64_t(s.n),
					nest: *(*C.struct_impi_nest)(unsafe.Pointer(&s.nest))}
			}
		}
		return first, blocks
	}
	laid.Turn, laid.Outs, laid.Ins, laid.Used = turn, int32(len(out)), int32(len(in)), uint64(l.Used)
	var outs, ins []libimpi.CLaidBlock
	laid.Out, outs = blocks(out)
	for i, o := range l.Out {
		if outs[i].At = int32(o.At); o.Says != nil {
			outs[i].Mem = take(len(o.Says))
			copy(unsafe.Slice((*byte)(outs[i].Mem), len(o.Says)), o.Says)
		}
	}
	laid.In, ins = blocks(in)
	for i, from := range l.In {
		ins[i].From, ins[i].At = int32(from.From), int32(from.At)
		ins[i].Entry, ins[i].Tag = int32(from.Entry), int32(from.Tag)
	}
	laid.Head, laid.HeadBytes = take(word*len(l.Head)), uint64(word*len(l.Head))
	copy(unsafe.Slice((*uint64)(laid.Head), len(l.Head)), l.Head)
	if l.Stays {
		laid.Stays = 1
	}
	if l.Piece {
		laid.Used |= libimpi.PieceMark
	}
	if l.Head != nil && l.Used > C.IMPI_SHM_BOARD_PAYLOAD {
		laid.Wide, laid.Said = 1, min(laid.HeadBytes, C.IMPI_SHM_BOARD_PAYLOAD-word)
	}
	for i, a := range arrays {
		was := take(a.bytes)
		copy(unsafe.Slice((*byte)(was), a.bytes), a.says())
		laid.Lists[i] = libimpi.CLaidList{Program: datatype.Pointer(ref[byte](a.p)), Was: was, Bytes: uint64(a.bytes)}
	}
	return laid
}

// shape is how C moves a block: n bytes between mem and a run, which is own if not nil, or by loops between both.
type shape struct {
	mem, own unsafe.Pointer
	n        int64
	nest     datatype.Nest // of depth 0: in one run
}

// mostOwn bounds the blocks that a rank has for itself: from there on Go copies past the caches, in half the time.
const mostOwn = 1 << 20

// shapes answers how C moves blocks; nil if it cannot move one.
func shapes(blocks []coll.LaidBlock) []shape {
	all := make([]shape, 0, len(blocks))
	for _, b := range blocks {
		s := shape{mem: b.Base, n: b.Size()}
		simple := true
		switch {
		case b.Own.Size() >= mostOwn:
			return nil
		case b.Own.Size() > 0:
			s.own, s.n = b.Own.Base, b.Own.Size()
			s.mem, s.own, s.nest, simple = between(b.Buf, b.Own)
		case s.n > 0:
			s.mem, s.nest, simple = loopsOf(b.Buf)
		}
		if !simple {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// loopsOf describes a buffer that is not empty as loops around a run; none, if it is one run.
func loopsOf(b coll.Buf) (first unsafe.Pointer, nest datatype.Nest, simple bool) {
	if b.Type.Dense() {
		return b.Base, datatype.Nest{Block: b.Size()}, true
	}
	p, simple := b.Type.Plan()
	if !simple || p.Offs != nil || p.Depth == datatype.MaxDims {
		return nil, nest, false
	}
	if nest = p.Nest; b.Count > 1 {
		copy(nest.Dims[1:], p.Dims[:p.Depth])
		nest.Dims[0] = datatype.Dim{N: b.Count, Mem: b.Type.Extent(), Buf: b.Type.Size()}
		nest.Depth++
	}
	return unsafe.Add(b.Base, p.At), nest, true
}

// between describes loops in which a block goes straight from one place in memory to another one, which takes the part
// of a packed buffer.
func between(to, from coll.Buf) (dst, src unsafe.Pointer, nest datatype.Nest, simple bool) {
	dst, nest, simple = loopsOf(to)
	src, other, also := loopsOf(from)
	switch {
	case !simple || !also || to.Size() != from.Size():
		return nil, nil, nest, false
	case other.Depth == 0:
		return dst, src, nest, true
	case nest.Depth == 0:
		for i, d := range other.Dims[:other.Depth] {
			other.Dims[i] = datatype.Dim{N: d.N, Mem: d.Buf, Buf: d.Mem}
		}
		return dst, src, other, true
	case nest.Depth != other.Depth || nest.Block != other.Block:
		return nil, nil, nest, false
	}
	for i, d := range other.Dims[:other.Depth] {
		if nest.Dims[i].N != d.N || nest.Dims[i].Buf != d.Buf {
			return nil, nil, nest, false
		}
		nest.Dims[i].Buf = d.Mem
	}
	return dst, src, nest, true
}

// forgetLaid frees the calls that are laid out.
func (b *board) forgetLaid() {
	for i, p := range b.c.Laid {
		C.free(p)
		b.c.Laid[i] = nil
	}
}

// impi_laid_take takes a block that C cannot: one that is elsewhere than in a slot, or is not what this rank expects.
//
//export impi_laid_take
func impi_laid_take(comm uintptr, function *C.char, laid uintptr) int32 {
	c, l := commOf(comm), ref[libimpi.CLaidBlock](laid)
	block := coll.Buf{Base: l.Mem, Count: l.N, Type: datatype.Named(abi.MPI_BYTE)}
	move := func(unpack C.int) {}
	if l.Plan != nil {
		block = coll.Bytes(make([]byte, l.N))
		move = func(unpack C.int) {
			C.impi_plan_move((*C.struct_impi_plan)(l.Plan), l.Mem, block.Base, C.int64_t(l.N), unpack)
		}
	}
	move(0) // what is there stays where nothing comes
	if err := c.TakeBlock(block, int(l.From), int(l.Entry), int(l.Tag)); err != nil {
		return fail(C.GoString(function), c, err)
	}
	move(1)
	return 0
}
