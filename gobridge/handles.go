package main

// #include "shim.h"
import "C"

import (
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/libimpi"
)

// Handles. Predefined ones are the ABI's small integers. Those of objects that are made at run time are
// kind<<56 | generation<<32 | slot+firstInt, and lead to a slot of their kind's table:
//
//	add   takes a slot and answers its handle
//	find  answers the handle's object, without a lock; nil for a handle that is stale, of another kind, or made up
//	drop  ends the handle; of several threads that try, one succeeds
//
// Slots are used again, with the next generation, so that memory is bounded by the most handles that there were at
// once. A slot that has had all generations is not used again: no handle ever names a second object. The low half of a
// handle is what MPI_X_toint answers; integers have no generation.
//
// C may end a datatype by itself; the slot is given back a little later (types.go). Requests are the engine's
// (libimpi/request.go, quick.go); their generations have 32 bits, and begin anew. Attribute keys are integers that are
// given once.

type kind uint64

const (
	kindComm kind = iota + 1
	kindType
	kindOp
	kindGroup
	kindSession
	kindWin
	kindInfo
	kindErrhandler
	kindMessage
)

// firstInt is the smallest integer of a run-time handle (MPI 5.0, 20.3.1: predefined ones are below).
const firstInt = C.IMPI_FIRST_HANDLE

const (
	chunkSize   = 1024
	generations = 1 << 24 // of a slot
)

// table holds the objects of one kind.
type table[T any] struct {
	kind   kind
	chunks [1 << 12]atomic.Pointer[[chunkSize]slot[T]]

	mu   sync.Mutex // guards what follows, and changes of slots
	used uint32
	idle []uint32
}

// slot is a place of a table. A dropped object is taken out before the generation changes, and another comes in later:
// whoever reads the object, and then the generation of its handle, has the handle's object.
type slot[T any] struct {
	object     atomic.Pointer[T]
	generation atomic.Uint32 // generations: the slot is used up
	taken      bool
}

func (t *table[T]) slot(i uint32) *slot[T] {
	if c := i / chunkSize; c < uint32(len(t.chunks)) {
		if chunk := t.chunks[c].Load(); chunk != nil {
			return &chunk[i%chunkSize]
		}
	}
	return nil
}

// of answers the slot of a handle, and the handle's generation; nil if no handle of this kind can be so.
func (t *table[T]) of(h uintptr) (*slot[T], uint32) {
	if kind(h>>56) != t.kind {
		return nil, 0
	}
	return t.slot(uint32(h) - firstInt), uint32(h>>32) % generations
}

// find answers the object of a handle, nil if it is stale, foreign or not a handle at all.
func (t *table[T]) find(h uintptr) *T {
	s, generation := t.of(h)
	if s == nil {
		return nil
	}
	object := s.object.Load()
	if s.generation.Load() != generation {
		return nil
	}
	return object
}

// add answers the handle of a new object; 0, which is no handle, if the table is full.
func (t *table[T]) add(object *T) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.take()
	if !ok {
		return 0
	}
	s := t.slot(i)
	s.taken = true
	s.object.Store(object)
	return t.handle(i, s)
}

// take answers a slot that is not in use. The lock is held.
func (t *table[T]) take() (i uint32, ok bool) {
	if n := len(t.idle); n > 0 {
		i, t.idle = t.idle[n-1], t.idle[:n-1]
		return i, true
	}
	if t.used == chunkSize*uint32(len(t.chunks)) {
		return 0, false
	}
	i = t.used
	t.used++
	if c := i / chunkSize; t.chunks[c].Load() == nil {
		t.chunks[c].Store(new([chunkSize]slot[T]))
	}
	return i, true
}

func (t *table[T]) handle(i uint32, s *slot[T]) uintptr {
	return uintptr(t.kind)<<56 | uintptr(s.generation.Load())<<32 | uintptr(i+firstInt)
}

// drop ends a handle. It answers whether this call did: false if the handle names nothing, or does not any more.
func (t *table[T]) drop(h uintptr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, generation := t.of(h)
	if s == nil || !s.taken || s.generation.Load() != generation {
		return false
	}
	s.taken = false
	s.object.Store(nil)
	s.generation.Store(generation + 1)
	if generation+1 < generations {
		t.idle = append(t.idle, uint32(h)-firstInt)
	}
	return true
}

// fromInt is the handle that toInt made this integer of; 0 if there is none.
func (t *table[T]) fromInt(n int32) uintptr {
	if n < firstInt {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slot(uint32(n) - firstInt)
	if s == nil || s.object.Load() == nil {
		return 0
	}
	return t.handle(uint32(n)-firstInt, s)
}

var (
	comms       = table[communicator]{kind: kindComm}
	types       = table[dataType]{kind: kindType}
	ops         = table[operation]{kind: kindOp}
	groups      = table[group]{kind: kindGroup}
	sessions    = table[session]{kind: kindSession}
	infos       = table[info]{kind: kindInfo}
	errhandlers = table[errhandler]{kind: kindErrhandler}
	messages    = table[libimpi.Matched]{kind: kindMessage}
)

// toInt is the integer form of a handle.
func toInt(h uintptr) int32 { return int32(uint32(h)) }

// fromIntOr is the handle of an integer, null if there is none.
func fromIntOr[T any](t *table[T], n int32, null uintptr) uintptr {
	if n < firstInt {
		return uintptr(n)
	}
	if h := t.fromInt(n); h != 0 {
		return h
	}
	return null
}

// predefinedOr is fromIntOr of a kind that has predefined handles only.
func predefinedOr(n int32, null uintptr) uintptr {
	if n < firstInt {
		return uintptr(n)
	}
	return null
}
