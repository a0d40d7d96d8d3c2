package datatype

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// The constructors of MPI 5.0, 5.1.2, 5.1.7 and 5.1.9. Each checks its arguments and sums up the shape of the new type
// from that of the old, in time linear in the length of its arrays. Those become the type's: the caller never changes
// them. An error is an *Error that names the argument.

// Contiguous is count elements of old, one extent apart (MPI_Type_contiguous).
func Contiguous(count int64, old *Type) (*Type, error) {
	var c checker
	c.old(old)
	c.count("count", count)
	if c.err != nil {
		return nil, c.err
	}
	t := &Type{form: formVector, combiner: abi.MPI_COMBINER_CONTIGUOUS, count: 1, blocklen: count, old: old}
	return t.vector()
}

// Vector is count blocks of blocklength elements, stride extents of old apart (MPI_Type_vector).
func Vector(count, blocklength, stride int64, old *Type) (*Type, error) {
	var c checker
	c.old(old)
	c.count("count", count)
	c.nonnegative("blocklength", blocklength)
	if c.err != nil {
		return nil, c.err
	}
	t := &Type{form: formVector, combiner: abi.MPI_COMBINER_VECTOR, count: count, blocklen: blocklength,
		stride: stride, scale: old.extent(), old: old}
	if _, ok := t.bytes(stride); !ok {
		return nil, tooLarge("stride", stride)
	}
	return t.vector()
}

// Hvector is Vector with the stride in bytes (MPI_Type_create_hvector).
func Hvector(count, blocklength, stride int64, old *Type) (*Type, error) {
	var c checker
	c.old(old)
	c.count("count", count)
	c.nonnegative("blocklength", blocklength)
	if c.err != nil {
		return nil, c.err
	}
	t := &Type{form: formVector, combiner: abi.MPI_COMBINER_HVECTOR, count: count, blocklen: blocklength,
		stride: stride, scale: 1, old: old}
	return t.vector()
}

func (t *Type) vector() (*Type, error) {
	var m safeMath
	block := newShape()
	block.add(&t.old.shape, 0, t.blocklen, t.old.extent(), &m)
	t.shape = newShape()
	t.shape.add(&block, 0, t.count, t.stride*t.scale, &m)
	return t.sealed(&m)
}

// bytes is a displacement or stride in bytes, and whether that is a number of 64 bits.
func (t *Type) bytes(displacement int64) (int64, bool) {
	var m safeMath
	n := m.mul(displacement, t.scale)
	return n, !m.overflow
}

// Indexed is a block of blocklengths[i] elements at displacements[i] extents of old, for each i
// (MPI_Type_indexed).
func Indexed(blocklengths, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlocks(blocklengths, displacements, old); err != nil {
		return nil, err
	}
	t := &Type{combiner: abi.MPI_COMBINER_INDEXED, lens: blocklengths, disps: displacements, scale: old.extent(), old: old}
	return t.blocks()
}

// Hindexed is Indexed with displacements in bytes (MPI_Type_create_hindexed).
func Hindexed(blocklengths, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlocks(blocklengths, displacements, old); err != nil {
		return nil, err
	}
	t := &Type{combiner: abi.MPI_COMBINER_HINDEXED, lens: blocklengths, disps: displacements, scale: 1, old: old}
	return t.blocks()
}

// IndexedBlock is Indexed with blocks of one length (MPI_Type_create_indexed_block).
func IndexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlock(blocklength, old); err != nil {
		return nil, err
	}
	t := &Type{combiner: abi.MPI_COMBINER_INDEXED_BLOCK, blocklen: blocklength, disps: displacements,
		scale: old.extent(), old: old}
	return t.blocks()
}

// HindexedBlock is IndexedBlock with displacements in bytes (MPI_Type_create_hindexed_block).
func HindexedBlock(blocklength int64, displacements []int64, old *Type) (*Type, error) {
	if err := checkBlock(blocklength, old); err != nil {
		return nil, err
	}
	t := &Type{combiner: abi.MPI_COMBINER_HINDEXED_BLOCK, blocklen: blocklength, disps: displacements, scale: 1, old: old}
	return t.blocks()
}

// blocks sums up: what the elements are follows from their number, where they are from the lowest and the highest.
func (t *Type) blocks() (*Type, error) {
	var m safeMath
	t.form = formBlocks
	t.shape = newShape()
	low, high, elements := t.reach(&m)
	t.shape.place(&t.old.shape, low, high, elements, &m)
	if m.overflow {
		return nil, tooLarge("array_of_displacements", t.disps[0])
	}
	return t.sealed(&m)
}

// reach is where the first of the elements in all blocks lie, the lowest and the highest, and how many elements there
// are.
func (t *Type) reach(m *safeMath) (low, high, elements int64) {
	extent := t.old.extent()
	if t.lens == nil && t.blocklen > 0 && len(t.disps) > 0 {
		least, most := t.disps[0], t.disps[0]
		for _, d := range t.disps {
			least, most = min(least, d), max(most, d)
		}
		a, b := m.mul(least, t.scale), m.mul(most, t.scale)
		row := m.mul(t.blocklen-1, extent)
		return m.add(min(a, b), min(row, 0)), m.add(max(a, b), max(row, 0)), m.mul(int64(len(t.disps)), t.blocklen)
	}
	for i, d := range t.disps {
		n := t.blockLen(i)
		if n == 0 {
			continue
		}
		first := m.mul(d, t.scale)
		last := m.add(first, m.mul(n-1, extent))
		if elements == 0 {
			low, high = min(first, last), max(first, last)
		}
		low, high = min(low, first, last), max(high, first, last)
		elements = m.add(elements, n)
	}
	return low, high, elements
}

func (t *Type) blockLen(i int) int64 {
	if t.lens == nil {
		return t.blocklen
	}
	return t.lens[i]
}

// Struct is blocklengths[i] elements of types[i] at byte displacements[i], for each i
// (MPI_Type_create_struct). LBMarker and UBMarker among the types set the bounds, as in MPI-1.
func Struct(blocklengths, displacements []int64, types []*Type) (*Type, error) {
	if len(displacements) != len(blocklengths) || len(types) != len(blocklengths) {
		return nil, badLength("array_of_types", len(types))
	}
	var c checker
	for i := range types {
		c.nonnegativeAt("array_of_blocklengths", i, blocklengths[i])
		if types[i] == nil && c.err == nil {
			c.err = &Error{abi.MPI_ERR_TYPE, "array_of_types", i, 0, fmt.Sprintf("array_of_types[%d] is not a datatype", i)}
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	t := fields(blocklengths, displacements, types)
	t.combiner = abi.MPI_COMBINER_STRUCT
	var m safeMath
	t.sum(&m)
	return t.sealed(&m)
}

func fields(lens, disps []int64, olds []*Type) *Type {
	return &Type{form: formFields, lens: lens, disps: disps, olds: olds}
}

func (t *Type) sum(m *safeMath) {
	t.shape = newShape()
	for i, old := range t.olds {
		t.shape.add(&old.shape, t.disps[i], t.lens[i], old.extent(), m)
	}
}

// Resized is old with lower bound lb and the given extent (MPI_Type_create_resized).
func Resized(old *Type, lb, extent int64) (*Type, error) {
	var c checker
	c.old(old)
	if c.err != nil {
		return nil, c.err
	}
	var m safeMath
	t := wrap(old, abi.MPI_COMBINER_RESIZED, nil, old)
	t.markLB, t.markUB = true, true
	t.lb, t.ub = lb, m.add(lb, extent)
	if m.overflow {
		return nil, tooLarge("extent", extent)
	}
	return t, nil
}

// Dup is old under a new identity (MPI_Type_dup), not committed.
func Dup(old *Type) *Type { return wrap(old, abi.MPI_COMBINER_DUP, nil, old) }

// wrap is a type with the data and bounds of inner that reports other arguments.
func wrap(inner *Type, combiner int, args []arg, old *Type) *Type {
	return &Type{form: formWrap, shape: inner.shape, old: inner, combiner: combiner, args: args, argType: old}
}

func (t *Type) sealed(m *safeMath) (*Type, error) {
	t.seal(m)
	if m.overflow {
		return nil, tooLarge("count", t.number())
	}
	t.argType = t.old
	return t, nil
}

// number is the argument count of the constructor that makes t.
func (t *Type) number() int64 {
	switch {
	case t.combiner == abi.MPI_COMBINER_CONTIGUOUS:
		return t.blocklen
	case t.form == formVector:
		return t.count
	}
	return int64(len(t.disps))
}

// checker keeps the first error of a list of checks.
type checker struct{ err error }

func (c *checker) old(t *Type) {
	if t == nil && c.err == nil {
		c.err = &Error{abi.MPI_ERR_TYPE, "oldtype", -1, 0, "oldtype is not a datatype"}
	}
}

func (c *checker) count(arg string, v int64) {
	if v < 0 && c.err == nil {
		c.err = &Error{abi.MPI_ERR_COUNT, arg, -1, v, fmt.Sprintf("%s is %d, must not be negative", arg, v)}
	}
}

func (c *checker) nonnegative(arg string, v int64) {
	if v < 0 && c.err == nil {
		c.err = &Error{abi.MPI_ERR_ARG, arg, -1, v, fmt.Sprintf("%s is %d, must not be negative", arg, v)}
	}
}

func (c *checker) nonnegativeAt(arg string, i int, v int64) {
	if v < 0 {
		c.rangeAt(arg, i, v, 0, 1<<63-1)
	}
}

func (c *checker) rangeAt(arg string, i int, v, low, high int64) {
	if (v < low || v > high) && c.err == nil {
		text := fmt.Sprintf("%s[%d] is %d, must be %d to %d", arg, i, v, low, high)
		if high == 1<<63-1 {
			text = fmt.Sprintf("%s[%d] is %d, must be at least %d", arg, i, v, low)
		}
		c.err = &Error{abi.MPI_ERR_ARG, arg, i, v, text}
	}
}

func checkBlock(blocklength int64, old *Type) error {
	var c checker
	c.old(old)
	c.nonnegative("blocklength", blocklength)
	return c.err
}

func checkBlocks(blocklengths, displacements []int64, old *Type) error {
	if len(blocklengths) != len(displacements) {
		return badLength("array_of_displacements", len(displacements))
	}
	var c checker
	c.old(old)
	for i, n := range blocklengths {
		c.nonnegativeAt("array_of_blocklengths", i, n)
	}
	return c.err
}

func badLength(arg string, n int) error {
	return &Error{abi.MPI_ERR_ARG, arg, -1, int64(n),
		fmt.Sprintf("%s has %d entries, the other arrays have more or fewer", arg, n)}
}

func tooLarge(arg string, v int64) error {
	return &Error{abi.MPI_ERR_VALUE_TOO_LARGE, arg, -1, v,
		fmt.Sprintf("%s is %d: the datatype would exceed 2^63-1 bytes", arg, v)}
}
