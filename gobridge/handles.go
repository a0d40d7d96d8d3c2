package main

import (
	"sync"
	"sync/atomic"

	pointer "github.com/mattn/go-pointer"
)

// Handles. Predefined ones are the ABI's small integers. Communicators, datatypes and operations made at run
// time live in dense tables and are found without a lock: a handle is kind<<56 | generation<<32 | slot+firstInt,
// so that a stale one, or one of another kind, is recognised. Its low half is what MPI_X_toint answers. Infos, error
// handlers and matched messages are rare; go-pointer keeps them.

type kind uint64

const (
	kindComm kind = iota + 1
	kindType
	kindOp
	kindGroup
	kindSession
	kindWin
)

// firstInt is the smallest integer of a run-time handle (MPI 5.0, 20.3.1: predefined ones are below).
const firstInt = 4096

const chunkSize = 1024

// table holds the objects of one kind.
type table[T any] struct {
	kind   kind
	chunks [1 << 12]atomic.Pointer[[chunkSize]slot[T]]

	mu   sync.Mutex // guards what follows, and changes of slots
	used uint32
	idle []uint32
}

type slot[T any] struct {
	generation atomic.Uint32
	object     atomic.Pointer[T]
}

func (t *table[T]) slot(i uint32) *slot[T] {
	if c := i / chunkSize; c < uint32(len(t.chunks)) {
		if chunk := t.chunks[c].Load(); chunk != nil {
			return &chunk[i%chunkSize]
		}
	}
	return nil
}

// find answers the object of a handle, nil if it is stale, foreign or not a handle at all.
func (t *table[T]) find(h uintptr) *T {
	if kind(h>>56) != t.kind {
		return nil
	}
	s := t.slot(uint32(h) - firstInt)
	if s == nil || s.generation.Load() != uint32(h>>32)&0xffffff {
		return nil
	}
	return s.object.Load()
}

func (t *table[T]) add(object *T) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	var i uint32
	if n := len(t.idle); n > 0 {
		i, t.idle = t.idle[n-1], t.idle[:n-1]
	} else {
		i = t.used
		t.used++
		if c := i / chunkSize; t.chunks[c].Load() == nil {
			t.chunks[c].Store(new([chunkSize]slot[T]))
		}
	}
	s := t.slot(i)
	s.object.Store(object)
	return t.handle(i, s)
}

func (t *table[T]) handle(i uint32, s *slot[T]) uintptr {
	return uintptr(t.kind)<<56 | uintptr(s.generation.Load())<<32 | uintptr(i+firstInt)
}

func (t *table[T]) drop(h uintptr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := uint32(h) - firstInt
	s := t.slot(i)
	s.object.Store(nil)
	s.generation.Store((s.generation.Load() + 1) & 0xffffff)
	t.idle = append(t.idle, i)
}

// fromInt is the handle that toint made this integer of; 0 if there is none.
func (t *table[T]) fromInt(n int32) uintptr {
	s := t.slot(uint32(n) - firstInt)
	if n < firstInt || s == nil || s.object.Load() == nil {
		return 0
	}
	return t.handle(uint32(n)-firstInt, s)
}

var (
	comms    = table[communicator]{kind: kindComm}
	types    = table[dataType]{kind: kindType}
	ops      = table[operation]{kind: kindOp}
	groups   = table[group]{kind: kindGroup}
	sessions = table[session]{kind: kindSession}
)

// save keeps a rarely used object and answers its handle.
func save(object any) uintptr { return uintptr(pointer.Save(object)) }

// restored answers the object of such a handle if it is a T.
func restored[T any](h uintptr) (object T, ok bool) {
	if h < firstInt {
		return object, false
	}
	object, ok = pointer.Restore(at(h)).(T)
	return object, ok
}

func unsave(h uintptr) {
	coldInts.forget(h)
	pointer.Unref(at(h))
}

// integersOf gives go-pointer handles their integers for MPI_X_toint; they have no small number of their own.
type integersOf struct {
	sync.Mutex
	next   int32
	number map[uintptr]int32
	handle map[int32]uintptr
}

var coldInts = integersOf{next: firstInt, number: map[uintptr]int32{}, handle: map[int32]uintptr{}}

// forget takes the integer of a handle away that is about to name nothing.
func (c *integersOf) forget(h uintptr) {
	c.Lock()
	defer c.Unlock()
	if n, ok := c.number[h]; ok {
		delete(c.number, h)
		delete(c.handle, n)
	}
}

// toInt is the integer form of any handle.
func toInt(h uintptr) int32 {
	if h < firstInt || kind(h>>56) != 0 {
		return int32(uint32(h))
	}
	c := &coldInts
	c.Lock()
	defer c.Unlock()
	n, ok := c.number[h]
	if !ok {
		n = c.next
		c.next++
		c.number[h], c.handle[n] = n, h
	}
	return n
}

// coldFromInt is the go-pointer handle of an integer, null if there is none.
func coldFromInt(n int32, null uintptr) uintptr {
	if n < firstInt {
		return uintptr(n)
	}
	c := &coldInts
	c.Lock()
	defer c.Unlock()
	if h, ok := c.handle[n]; ok {
		return h
	}
	return null
}
