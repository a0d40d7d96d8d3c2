package datatype

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Subarray is the block of subsizes elements that begins at starts in an array of sizes elements
// (MPI_Type_create_subarray; MPI 5.0, 5.1.3). Its extent is that of the whole array.
func Subarray(sizes, subsizes, starts []int64, order int, old *Type) (*Type, error) {
	if err := checkSubarray(sizes, subsizes, starts, order, old); err != nil {
		return nil, err
	}
	var m safeMath
	inner, at, pitch := old, int64(0), old.extent()
	for i := range sizes {
		d := dimension(i, len(sizes), order)
		var err error
		if inner, err = copies(subsizes[d], pitch, inner); err != nil {
			return nil, err
		}
		at = m.add(at, m.mul(starts[d], pitch))
		pitch = m.mul(pitch, sizes[d])
	}
	if m.overflow {
		return nil, tooLarge("array_of_sizes", sizes[0])
	}
	whole, err := placed(inner, at, pitch)
	if err != nil {
		return nil, err
	}
	// The large form lists ndims and order as integers and the rest as large counts, in this same order.
	number := []int64{int64(len(sizes)), int64(order)}
	return wrap(whole, abi.MPI_COMBINER_SUBARRAY, []arg{ints(number[:1]...), counts(sizes...), counts(subsizes...),
		counts(starts...), ints(number[1:]...)}, old), nil
}

func checkSubarray(sizes, subsizes, starts []int64, order int, old *Type) error {
	var c checker
	c.old(old)
	c.array(len(sizes), order)
	if len(subsizes) != len(sizes) || len(starts) != len(sizes) {
		return badLength("array_of_subsizes", len(subsizes))
	}
	for i := range sizes {
		c.rangeAt("array_of_sizes", i, sizes[i], 1, 1<<63-1)
		c.rangeAt("array_of_subsizes", i, subsizes[i], 1, sizes[i])
		c.rangeAt("array_of_starts", i, starts[i], 0, sizes[i]-subsizes[i])
	}
	return c.err
}

func (c *checker) array(ndims, order int) {
	if c.err != nil {
		return
	}
	if ndims < 1 {
		c.err = &Error{abi.MPI_ERR_ARG, "ndims", -1, int64(ndims), fmt.Sprintf("ndims is %d, must be at least 1", ndims)}
	} else if order != abi.MPI_ORDER_C && order != abi.MPI_ORDER_FORTRAN {
		c.err = &Error{abi.MPI_ERR_ARG, "order", -1, int64(order),
			fmt.Sprintf("order is %d, must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order)}
	}
}

// dimension is the i-th of the dimensions, that of neighbouring elements first.
func dimension(i, ndims, order int) int {
	if order == abi.MPI_ORDER_C {
		return ndims - 1 - i
	}
	return i
}

// copies is n elements of t, stride bytes apart.
func copies(n, stride int64, t *Type) (*Type, error) {
	if n == 1 {
		return t, nil
	}
	return Hvector(n, 1, stride, t)
}

// placed is t moved by at bytes, with lower bound 0 and the given extent.
func placed(t *Type, at, extent int64) (*Type, error) {
	moved, err := HindexedBlock(1, []int64{at}, t)
	if err != nil {
		return nil, err
	}
	return Resized(moved, 0, extent)
}

// Darray is the part of process rank, of size processes in a grid of psizes, of an array of gsizes elements
// distributed as distribs and dargs say (MPI_Type_create_darray; MPI 5.0, 5.1.4). The grid is in row-major
// order whatever the order of the array. Its extent is that of the whole array.
func Darray(size, rank int64, gsizes, distribs, dargs, psizes []int64, order int, old *Type) (*Type, error) {
	blocks, err := checkDarray(size, rank, gsizes, distribs, dargs, psizes, order, old)
	if err != nil {
		return nil, err
	}
	coords := make([]int64, len(psizes))
	for i, r := len(psizes)-1, rank; i >= 0; i-- {
		coords[i], r = r%psizes[i], r/psizes[i]
	}
	whole, pitch := old, old.extent()
	for i := range gsizes {
		d := dimension(i, len(gsizes), order)
		if whole, err = cyclic(blocks[d], gsizes[d], coords[d], psizes[d], pitch, whole); err != nil {
			return nil, err
		}
		pitch = whole.extent()
	}
	return wrap(whole, abi.MPI_COMBINER_DARRAY, []arg{ints(size, rank, int64(len(gsizes))), counts(gsizes...),
		ints(distribs...), ints(dargs...), ints(psizes...), ints(int64(order))}, old), nil
}

// checkDarray checks the arguments and returns the block size of each dimension.
func checkDarray(size, rank int64, gsizes, distribs, dargs, psizes []int64, order int, old *Type) ([]int64, error) {
	var c checker
	c.old(old)
	c.array(len(gsizes), order)
	n := len(gsizes)
	if len(distribs) != n || len(dargs) != n || len(psizes) != n {
		return nil, badLength("array_of_psizes", len(psizes))
	}
	var m safeMath
	processes := int64(1)
	blocks := make([]int64, n)
	for i := range gsizes {
		c.rangeAt("array_of_gsizes", i, gsizes[i], 1, 1<<62)
		c.rangeAt("array_of_psizes", i, psizes[i], 1, 1<<31-1)
		if c.err != nil {
			return nil, c.err
		}
		processes = m.mul(processes, psizes[i])
		blocks[i] = c.blockSize(i, gsizes[i], distribs[i], dargs[i], psizes[i])
	}
	if c.err == nil && (m.overflow || processes != size) {
		c.err = &Error{abi.MPI_ERR_ARG, "size", -1, size,
			fmt.Sprintf("size is %d, the grid of array_of_psizes has %d processes", size, processes)}
	}
	if c.err == nil && (rank < 0 || rank >= size) {
		c.err = &Error{abi.MPI_ERR_ARG, "rank", -1, rank, fmt.Sprintf("rank is %d, must be 0 to %d", rank, size-1)}
	}
	return blocks, c.err
}

// blockSize turns a distribution into the block length of the equivalent cyclic one.
func (c *checker) blockSize(i int, gsize, distrib, darg, psize int64) int64 {
	switch {
	case distrib == abi.MPI_DISTRIBUTE_NONE:
		c.rangeAt("array_of_psizes", i, psize, 1, 1)
		return gsize
	case distrib == abi.MPI_DISTRIBUTE_BLOCK && darg == abi.MPI_DISTRIBUTE_DFLT_DARG:
		return (gsize-1)/psize + 1
	case distrib == abi.MPI_DISTRIBUTE_BLOCK:
		c.rangeAt("array_of_dargs", i, darg, (gsize-1)/psize+1, 1<<63-1)
		return darg
	case distrib == abi.MPI_DISTRIBUTE_CYCLIC && darg == abi.MPI_DISTRIBUTE_DFLT_DARG:
		return 1
	case distrib == abi.MPI_DISTRIBUTE_CYCLIC:
		c.rangeAt("array_of_dargs", i, darg, 1, 1<<63-1)
		return darg
	}
	if c.err == nil {
		c.err = &Error{abi.MPI_ERR_ARG, "array_of_distribs", i, distrib,
			fmt.Sprintf("array_of_distribs[%d] is %d, not a distribution", i, distrib)}
	}
	return 1
}

// cyclic deals gsize elements of old, pitch bytes apart, in blocks to psize processes and takes those of process r.
func cyclic(block, gsize, r, psize, pitch int64, old *Type) (*Type, error) {
	var m safeMath
	extent := m.mul(gsize, pitch)
	if m.overflow {
		return nil, tooLarge("array_of_gsizes", gsize)
	}
	first, round := m.mul(block, r), m.mul(block, psize)
	start, step := first*pitch, round*pitch // inside the extent wherever they are used
	if m.overflow || first >= gsize {
		empty, err := Contiguous(0, old)
		if err != nil {
			return nil, err
		}
		return Resized(empty, 0, extent)
	}
	full := (gsize - first) / round // rounds in which the block is whole
	rest := (gsize - first) % round
	if rest >= block {
		full, rest = full+1, 0
	}
	run, err := copies(block, pitch, old)
	if err != nil {
		return nil, err
	}
	body, err := copies(full, step, run)
	if err != nil {
		return nil, err
	}
	if rest == 0 {
		return placed(body, start, extent)
	}
	tail, err := Hvector(rest, 1, pitch, old)
	if err != nil {
		return nil, err
	}
	both, err := Struct([]int64{1, 1}, []int64{start, start + full*step}, []*Type{body, tail})
	if err != nil {
		return nil, err
	}
	return Resized(both, 0, extent)
}
