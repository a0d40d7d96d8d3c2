package main

// #include "executor/types.h"
import "C"

import (
	"hash/maphash"
	"slices"
	"unsafe"

	"github.com/libimpi/libimpi/datatype"
)

// Many programs make a datatype, use it once and free it, over and over. So a type that has ended is parked: it keeps
// its slot, its entry and its plan, though no handle leads there any more. A constructor that is called with the very
// same arguments takes it again, under the slot's next handle and not committed.
//
//	constructor -> words -> an equal call among those parked: revive
//	                     -> none: make, addType -> MPI_Type_free -> forgetEnded: park, or dropType
//
// All of it happens under the lock publishing. Types with attributes, and those that no constructor's call describes
// (what MPI_Type_get_contents answers), are not parked.

// What is parked at most: so many types, of so many bytes together with the types they are made of. What has been there
// longest goes first.
const (
	mostParked      = 64
	mostParkedBytes = 1 << 20
)

// typeCall is a constructor's call: all that a type follows from.
type typeCall struct {
	combiner int64
	wide     int32
	numbers  []int64
	olds     []*datatype.Type
	lists    []list
}

// list is an array of the program: n integers, of 64 bits if wide.
type list struct {
	at   uintptr
	n    int64
	wide bool
}

// length is how many words a call has.
func (c *typeCall) length() int64 {
	n := int64(1 + len(c.numbers) + len(c.olds))
	for i := range c.lists {
		n += c.lists[i].n
	}
	return n
}

// words appends a call as words that are equal for equal calls only; the entries of the lists come last. An old type is
// the address of its object, which lives as long as types that are made of it.
func (c *typeCall) words(to []int64) []int64 {
	to = append(to, c.combiner<<1|int64(c.wide&1))
	to = append(to, c.numbers...)
	for _, t := range c.olds {
		to = append(to, int64(uintptr(unsafe.Pointer(t))))
	}
	for _, l := range c.lists {
		if l.wide {
			to = append(to, slice[int64](l.at, int(l.n))...)
			continue
		}
		from, n := slice[int32](l.at, int(l.n)), len(to)
		to = slices.Grow(to, len(from))[:n+len(from)]
		for i, v := range from {
			to[n+i] = int64(v)
		}
	}
	return to
}

// construct returns a type of a call: one that is parked, or what make makes of the entries of the call's lists, which
// become the type's.
func (k *check) construct(out uintptr, c typeCall, make func(entries []int64) (*datatype.Type, error)) int32 {
	if k.err != nil {
		return k.fail()
	}
	d := ended.find(&c, out)
	if d == nil {
		return 0
	}
	entries := d.call[1+len(c.numbers)+len(c.olds):]
	t, err := make(entries)
	if err != nil {
		return k.failed(err)
	}
	if c.wide != 0 {
		t = t.AsLarge()
	}
	d.Type = t
	return k.answer(addType(d), out)
}

// parking holds the types that are parked.
type parking struct {
	types   []parkedType // that which ended last is the last
	bytes   int
	seed    maphash.Seed
	scratch []int64 // the words of a call
}

type parkedType struct {
	hash uint64
	slot uint32
}

var ended = parking{seed: maphash.MakeSeed()}

// find stores the handle of a parked type of a call at out and returns nil, or else answers an object for a new type,
// with the call's words.
func (p *parking) find(c *typeCall, out uintptr) *dataType {
	if n := c.length(); n > mostParkedBytes/8 {
		return &dataType{call: c.words(make([]int64, 0, n)), memory: mostParkedBytes + 1}
	}
	publishing.Lock()
	forgetEnded()
	words := c.words(p.scratch[:0])
	p.scratch = words
	hash := maphash.Bytes(p.seed, unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words)))
	h := p.revive(words, hash)
	if h != 0 {
		publishing.Unlock()
		put(out, h)
		return nil
	}
	d := &dataType{hash: hash, call: slices.Clone(words)}
	publishing.Unlock()
	return d
}

// revive returns the handle of a type that was parked and is not any more; 0 if none is of this call.
func (p *parking) revive(words []int64, hash uint64) uintptr {
	for i := len(p.types) - 1; i >= 0; i-- {
		if p.types[i].hash != hash {
			continue
		}
		slot := p.types[i].slot
		was, d := types.At(slot)
		if !slices.Equal(d.call, words) {
			continue
		}
		p.remove(i, d)
		h := types.Renew(was)
		if h == 0 {
			dropType(slot)
			return 0
		}
		e := entryAt(slot)
		e.refs, e.flags = 1, e.flags&(planned|compiled)|plain
		showHandle(&e.handle, h)
		return h
	}
	return 0
}

// park keeps a type that has ended, and lets go of others.
func (p *parking) park(slot uint32, d *dataType) {
	if d.memory == 0 {
		d.memory = int32(min(d.Memory(mostParkedBytes+1), mostParkedBytes+1))
	}
	if d.memory > mostParkedBytes {
		dropType(slot)
		return
	}
	if d.name != "" {
		d.name = ""
	}
	p.types = append(p.types, parkedType{d.hash, slot})
	p.bytes += int(d.memory)
	for len(p.types) > mostParked || p.bytes > mostParkedBytes {
		oldest := p.types[0].slot
		_, d := types.At(oldest)
		p.remove(0, d)
		dropType(oldest)
	}
}

func (p *parking) remove(i int, d *dataType) {
	p.bytes -= int(d.memory)
	p.types = slices.Delete(p.types, i, i+1)
}
