// Package datatype describes and moves data laid out by MPI datatypes (MPI 5.0, chapter 5; external32:
// MPI 5.0, 14.5.2).
//
// A Type is an immutable tree that a constructor builds from its arguments. Nothing is expanded: what a
// constructor computes are sums (size, bounds, signature), each in time independent of repetition counts.
// On first use, or at Commit, the tree is compiled into a loop tree (program.go): neighbours merged,
// empty parts dropped, memory offsets hoisted. A Cursor (cursor_unsafe.go) moves any range of the packed stream of
// count elements: it finds the ends of the range by division, in time proportional to the depth, and
// moves the whole elements in between leaf by leaf (Traff 2010, 7: flattening on the fly). The sweep (nest_unsafe.go)
// makes a nest of loops for each leaf: large nests go to the C kernels (gobridge/kernel), others to kernel_unsafe.go.
// Simple types also have a flat Plan (plan.go), with which C packs elements without a Cursor.
//
//	Vector, Struct, ... -> Type -> Commit -> program -> Cursor.Pack, Cursor.Unpack, Copy -> sweep -> kernels
//
// A Cursor also tells where pieces of the stream are in memory, and how much of it is in a piece of memory
// (navigate.go). A view is a type over the elements of a section of an array, wherever these lie (view.go).
//
// All sizes, extents and displacements are bytes unless said otherwise.
package datatype

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// Rep is a data representation of the packed stream.
type Rep uint8

const (
	Native     Rep = iota // elements as in memory, without the gaps
	External32            // big-endian, fixed sizes (MPI 5.0, 14.5.2; IMPI 0.0, 3.4)
)

// Type is a datatype. It is immutable but for Commit, and safe for concurrent use after that.
type Type struct {
	// What every message asks for stands first. dense, run and runAt are set by Commit.
	dense bool // consecutive elements are one run of memory
	run   bool // one element is one run of memory
	runAt int64
	view  *view // nil: none
	shape

	handle    int    // ABI value, 0 for a derived type
	id        uint64 // what ID answers; set by Commit
	name      string
	committed atomic.Bool
	compiled  [2]atomic.Pointer[program] // by Rep
	hashed    atomic.Pointer[signature]
	label     atomic.Pointer[string] // nil: the program has given it no name

	form     form
	kind     kind    // basic: conversion of a unit to external32
	units    int64   // basic: 2 for complex types, otherwise 1
	count    int64   // vector: blocks
	blocklen int64   // vector, and blocks of one length: elements in a block
	stride   int64   // vector: from block to block
	disps    []int64 // blocks, fields
	scale    int64   // vector, blocks: bytes in a unit of stride and disps. Fields: 1
	lens     []int64 // blocks of several lengths, fields: elements
	old      *Type   // vector, blocks, wrap
	olds     []*Type // fields

	combiner int
	large    bool
	args     []arg // of constructors whose arguments are not above
	argType  *Type // what the constructor was given; nil for fields
}

// form says how a Type is made of others.
type form uint8

const (
	formBasic  form = iota // a predefined type
	formVector             // count blocks, stride bytes apart, of blocklen elements of old
	formBlocks             // a block of elements of old at each displacement
	formFields             // lens[i] elements of olds[i] at disps[i]
	formWrap               // the same data as old
)

// Handle is the ABI value of a predefined type and 0 for a derived one.
func (t *Type) Handle() int { return t.handle }

// Name is the MPI name of a predefined type and "" for a derived one.
func (t *Type) Name() string { return t.name }

// Rename gives the type a name for people.
func (t *Type) Rename(name string) { t.label.Store(&name) }

// Label is the name that Rename has given the type, or else its MPI name.
func (t *Type) Label() string {
	if l := t.label.Load(); l != nil && *l != "" {
		return *l
	}
	return t.name
}

// Commit makes the type ready for communication. Committing again does nothing.
func (t *Type) Commit() {
	if t.committed.Load() {
		return
	}
	p := t.program(Native)
	t.run = t.view == nil && (p.root == nil || p.root.op == opRun)
	if p.root != nil {
		t.runAt = p.at
	}
	t.dense = t.run && (t.extent() == t.size || t.size == 0)
	if t.id = uint64(t.handle); t.id == 0 {
		t.id = derived.Add(1) << 32
	}
	t.committed.Store(true)
}

// derived counts the derived types that have been committed.
var derived atomic.Uint64

// ID tells a committed type from all others that the process has ever had: the ABI value of a predefined one, a
// multiple of 2^32 for a derived one.
func (t *Type) ID() uint64 { return t.id }

// Committed tells whether Commit was called; predefined types always are.
func (t *Type) Committed() bool { return t.committed.Load() }

// Size is the number of bytes of data in one element.
func (t *Type) Size() int64 { return t.size }

// Extent is the distance in memory from one element to the next.
func (t *Type) Extent() int64 { return t.extent() }

// LB and UB are the bounds the extent spans: of the data, padded for alignment, or as set by Resized.
func (t *Type) LB() int64 { return t.lb }
func (t *Type) UB() int64 { return t.ub }

// TrueLB, TrueUB and TrueExtent are the bounds of the data itself.
func (t *Type) TrueLB() int64     { return t.lo }
func (t *Type) TrueUB() int64     { return t.hi }
func (t *Type) TrueExtent() int64 { return t.hi - t.lo }

// Uniform is the predefined type all data of t consists of, nil if there are several or none.
func (t *Type) Uniform() *Type { return t.uniform }

// Portable tells whether the external32 form is the native packed form, byte for byte.
func (t *Type) Portable() bool { return t.portable }

// typeBytes is about what a Type takes.
const typeBytes = 512

// Memory is how many bytes t and the derived types it is made of take, but for what they are compiled to. A type that
// is a part twice counts twice. Beyond limit nothing more is counted.
func (t *Type) Memory(limit int64) int64 {
	if t.handle != 0 {
		return 0
	}
	n := typeBytes + int64(8*(len(t.lens)+len(t.disps)+len(t.olds)))
	for _, a := range t.args {
		n += int64(8 * len(a.values))
	}
	if t.old != nil && n < limit {
		n += t.old.Memory(limit - n)
	}
	for i := 0; i < len(t.olds) && n < limit; i++ {
		n += t.olds[i].Memory(limit - n)
	}
	return n
}

// PackedSize is the number of bytes that count elements take in the packed stream, math.MaxInt64 if it
// does not fit.
func (t *Type) PackedSize(count int64, rep Rep) int64 {
	size := t.size
	if rep == External32 {
		size = t.size32
	}
	if uint64(size|count)>>31 != 0 {
		return saturatingMul(size, count)
	}
	return size * count
}

// Endless is a number of elements that stands for any number: the most that a Cursor can be made of without a size, a
// displacement or a number of runs that exceeds 2^62. A file view is that many.
func (t *Type) Endless(rep Rep) int64 {
	most := int64(1 << 62)
	reach := max(t.hi, -t.lo, 0)
	return max(0, (most-min(reach, most))/max(t.PackedSize(1, rep), t.extent(), -t.extent(), 1))
}

func saturatingMul(a, b int64) int64 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// Error says what is wrong with an argument. Class is an MPI error class (MPI_ERR_ARG, MPI_ERR_COUNT,
// MPI_ERR_TYPE, MPI_ERR_VALUE_TOO_LARGE, MPI_ERR_CONVERSION).
type Error struct {
	Class int
	Arg   string // the argument, by its name in the MPI standard
	Index int    // which entry of it, -1 if it is no array
	Value int64
	Text  string
}

func (e *Error) Error() string { return e.Text }

// errConversion is what a Cursor reports; it has no value, because one flag covers millions of elements.
var errConversion = &Error{Class: abi.MPI_ERR_CONVERSION, Arg: "buf", Index: -1,
	Text: "a value does not fit its external32 form (MPI_LONG has 4 bytes there, MPI_WCHAR 2): " +
		"send it as a wider fixed-size type such as MPI_INT64_T"}
