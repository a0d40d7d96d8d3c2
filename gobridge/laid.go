package main

// #include <stdlib.h>
// #include "executor/board.h"
import "C"

import (
	"bytes"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi"
)

// Calls that C makes again (executor/board_again.c): blocking exchanges of blocks on a board, whose arguments take
// longer to check and to understand than short blocks to move.
//
//	MPI_X -> C finds no such call among those laid out, and notes it on the board -> Go makes the call, and remembers it
//	MPI_X once more -> Go notes what it does (coll.Laid), and lays that out
//	MPI_X from now on, with the same arguments, while its lists say the same -> C

// lastCall is the call of a communicator that came last of those that C has not made.
type lastCall struct {
	noted  unsafe.Pointer // the one under way, if C has noted it: its names
	arrays []array        // among its arguments
	was    libimpi.CCall  // the one before
	said   []byte         // what its arrays said
	tried  bool           // to lay it out
	next   int            // the place of a call that is laid out when all are taken
}

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
	call := libimpi.CCall{Names: l.noted, Args: b.c.Missed.Args}
	again, said := l.was == call, l.said
	for _, a := range l.arrays {
		again = again && len(said) >= a.bytes && bytes.Equal(said[:a.bytes], a.says())
		said = said[min(a.bytes, len(said)):]
	}
	if again && l.tried {
		return nil // it was not simple
	} else if again {
		l.tried = true
		return new(coll.Laid)
	}
	l.was, l.said, l.tried = call, l.said[:0], false
	for _, a := range l.arrays {
		l.said = append(l.said, a.says()...)
	}
	return nil
}

// laid implements libimpi.BoardCounters.
func (b *board) laid(l *coll.Laid) {
	laid := b.layOut(l)
	if laid == nil {
		return
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

// layOut writes what C needs into one piece of memory; nil if C cannot do it, or there is no memory.
func (b *board) layOut(l *coll.Laid) *libimpi.CLaid {
	if !simple(l.Out) || !simple(l.In) {
		return nil
	}
	const head, block, word = int(unsafe.Sizeof(libimpi.CLaid{})), int(unsafe.Sizeof(libimpi.CLaidBlock{})), 8
	memory := C.calloc(1, C.size_t(head+block*(len(l.Out)+len(l.In))+word*len(l.Head)+len(b.last.said)))
	if memory == nil {
		return nil
	}
	laid, at := (*libimpi.CLaid)(memory), head
	take := func(bytes int) unsafe.Pointer {
		at += bytes
		return unsafe.Add(memory, at-bytes)
	}
	laid.Call = b.last.was
	laid.Outs, laid.Ins, laid.Used = int32(len(l.Out)), int32(len(l.In)), uint64(l.Used)
	laid.Out = take(block * len(l.Out))
	out := unsafe.Slice((*libimpi.CLaidBlock)(laid.Out), len(l.Out))
	for i, o := range l.Out {
		out[i] = libimpi.CLaidBlock{Mem: o.Base, N: o.Size(), At: int32(o.At)}
	}
	laid.In = take(block * len(l.In))
	in := unsafe.Slice((*libimpi.CLaidBlock)(laid.In), len(l.In))
	for i, from := range l.In {
		in[i] = libimpi.CLaidBlock{Mem: from.Base, N: from.Size(), From: int32(from.From), Entry: int32(from.Entry),
			Tag: int32(from.Tag)}
		if from.From == int(b.c.Rank) {
			in[i].Own, in[i].N = from.Own.Base, from.Own.Size()
		}
	}
	laid.Head, laid.HeadBytes = take(word*len(l.Head)), uint64(word*len(l.Head))
	copy(unsafe.Slice((*uint64)(laid.Head), len(l.Head)), l.Head)
	if l.Used > C.IMPI_SHM_BOARD_PAYLOAD {
		laid.Wide, laid.Said = 1, min(laid.HeadBytes, C.IMPI_SHM_BOARD_PAYLOAD-word)
	}
	for i, a := range b.last.arrays {
		was := take(a.bytes)
		copy(unsafe.Slice((*byte)(was), a.bytes), a.says())
		laid.Lists[i] = libimpi.CLaidList{Program: datatype.Pointer(ref[byte](a.p)), Was: was, Bytes: uint64(a.bytes)}
	}
	return laid
}

// simple says whether C can move blocks: they are runs of bytes. Own ones are not empty.
func simple(blocks []coll.LaidBlock) bool {
	for _, b := range blocks {
		if b.Size() > 0 && !coll.Dense(b.Type) || b.Own.Size() > 0 && !coll.Dense(b.Own.Type) {
			return false
		}
	}
	return true
}

// forgetLaid frees the calls that are laid out.
func (b *board) forgetLaid() {
	for i, p := range b.c.Laid {
		C.free(p)
		b.c.Laid[i] = nil
	}
}

// impi_laid_message receives a block of at most n bytes that its owner has sent as a message.
//
//export impi_laid_message
func impi_laid_message(comm uintptr, function *C.char, mem uintptr, n int64, from, tag int32) int32 {
	c := commOf(comm)
	block := coll.Buf{Base: at(mem), Count: n, Type: datatype.Named(abi.MPI_BYTE)}
	if err := c.TakeBlock(block, int(from), int(tag)); err != nil {
		return fail(C.GoString(function), c, err)
	}
	return 0
}
