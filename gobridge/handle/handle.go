// Package handle makes the handles of objects that are made at run time, and finds the objects. Handles are
// kind<<56 | generation<<32 | slot+First, and lead to a slot of their kind's table:
//
//	Add   takes a slot and answers its handle
//	Find  answers the handle's object, without a lock; nil for a handle that is stale, of another kind, or made up
//	Drop  ends the handle; of several threads that try, one succeeds
//	Renew ends the handle, and gives the object another
//
// Slots are used again, with the next generation, so that memory is bounded by the most handles that there were at
// once. A slot that has had all generations is not used again: no handle ever names a second object.
package handle

import (
	"sync"
	"sync/atomic"
)

// Kind tells the handles of one table from those of others.
type Kind uint64

// First is the smallest integer of a run-time handle (MPI 5.0, 20.3.1: predefined ones are below).
const First = 4096

// A table has Chunks times Chunk slots, which have so many generations.
const (
	Chunk       = 1024
	Chunks      = 1 << 12
	generations = 1 << 24
)

// KindOf is the kind of a handle, whatever it leads to.
func KindOf(h uintptr) Kind { return Kind(h >> 56) }

// Foreign reports whether a handle is none that this package ever makes, nor a predefined one.
func Foreign(h uintptr) bool { return h >= First && KindOf(h) == 0 }

// Slot is the number of a handle's slot.
func Slot(h uintptr) uint32 { return uint32(h) - First }

// Int is the integer form of a handle, which has no generation.
func Int(h uintptr) int32 { return int32(uint32(h)) }

// Table holds the objects of one kind.
type Table[T any] struct {
	Kind   Kind
	chunks [Chunks]atomic.Pointer[[Chunk]slot[T]]

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

func (t *Table[T]) slot(i uint32) *slot[T] {
	if c := i / Chunk; c < uint32(len(t.chunks)) {
		if chunk := t.chunks[c].Load(); chunk != nil {
			return &chunk[i%Chunk]
		}
	}
	return nil
}

// of returns the slot of a handle, and the handle's generation; nil if no handle of this kind can be so.
func (t *Table[T]) of(h uintptr) (*slot[T], uint32) {
	if KindOf(h) != t.Kind {
		return nil, 0
	}
	return t.slot(Slot(h)), uint32(h>>32) % generations
}

// Find returns the object of a handle, nil if it is stale, foreign or not a handle at all.
func (t *Table[T]) Find(h uintptr) *T {
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

// made is told of handles.
var made atomic.Pointer[func(h uintptr)]

// Observe makes f be told of each handle that is given to an object from now on.
func Observe(f func(h uintptr)) { made.Store(&f) }

func tell(h uintptr) uintptr {
	if f := made.Load(); f != nil && h != 0 {
		(*f)(h)
	}
	return h
}

// Add returns the handle of a new object; 0, which is no handle, if the table is full.
func (t *Table[T]) Add(object *T) uintptr { return tell(t.add(object)) }

func (t *Table[T]) add(object *T) uintptr {
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

// take returns a slot that is not in use. The lock is held.
func (t *Table[T]) take() (i uint32, ok bool) {
	if n := len(t.idle); n > 0 {
		i, t.idle = t.idle[n-1], t.idle[:n-1]
		return i, true
	}
	if t.used == Chunk*uint32(len(t.chunks)) {
		return 0, false
	}
	i = t.used
	t.used++
	if c := i / Chunk; t.chunks[c].Load() == nil {
		t.chunks[c].Store(new([Chunk]slot[T]))
	}
	return i, true
}

func (t *Table[T]) handle(i uint32, s *slot[T]) uintptr {
	return uintptr(t.Kind)<<56 | uintptr(s.generation.Load())<<32 | uintptr(i+First)
}

// Drop ends a handle. It reports whether this call did: false if the handle names nothing, or does not any more.
func (t *Table[T]) Drop(h uintptr) bool {
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
		t.idle = append(t.idle, Slot(h))
	}
	return true
}

// Renew ends a handle and returns the next of its slot, which the object keeps; 0, and nothing changes, if the handle
// has ended already or is the last that its slot has. No other call may end the handle meanwhile.
func (t *Table[T]) Renew(h uintptr) uintptr {
	s, generation := t.of(h)
	if s == nil || s.object.Load() == nil || generation+1 == generations ||
		!s.generation.CompareAndSwap(generation, generation+1) {
		return 0
	}
	return tell(h + 1<<32)
}

// FromInt is the handle that Int made this integer of; 0 if there is none.
func (t *Table[T]) FromInt(n int32) uintptr {
	if n < First {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slot(uint32(n) - First)
	if s == nil || s.object.Load() == nil {
		return 0
	}
	return t.handle(uint32(n)-First, s)
}

// At returns the handle and the object of a slot; 0 if it has none.
func (t *Table[T]) At(slot uint32) (h uintptr, object *T) {
	s := t.slot(slot)
	if s == nil {
		return 0, nil
	}
	if object = s.object.Load(); object == nil {
		return 0, nil
	}
	return t.handle(slot, s), object
}
