package topo

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
)

// Cart is a grid (MPI 5.0, 8.5.1): its ranks run through the coordinates row by row, the last dimension fastest.
// It may have no dimension, and then has one process.
type Cart struct {
	Dims    []int32
	Periods []bool // whether a dimension is closed to a ring
}

// NewCart checks a grid for a group of size processes.
func NewCart(dims []int32, periods []bool, size int) (*Cart, error) {
	n := int64(1)
	for i, d := range dims {
		if d <= 0 {
			return nil, errorf(abi.MPI_ERR_DIMS, "dims[%d] is %d", i, d)
		}
		if n *= int64(d); n > int64(size) {
			return nil, errorf(abi.MPI_ERR_DIMS, "a grid of dimensions %v has more places than the group's %d processes",
				dims, size)
		}
	}
	return &Cart{dims, periods}, nil
}

// Kind is MPI_CART.
func (t *Cart) Kind() int { return abi.MPI_CART }

// Size is the number of processes.
func (t *Cart) Size() int {
	n := 1
	for _, d := range t.Dims {
		n *= int(d)
	}
	return n
}

// Coords stores the coordinates of a rank.
func (t *Cart) Coords(rank int, coords []int32) {
	for i, d := range slices.Backward(t.Dims) {
		coords[i] = int32(rank % int(d))
		rank /= int(d)
	}
}

// Rank is the rank at the given coordinates; those of periodic dimensions are taken round. MPI_ERR_ARG where
// there is no place.
func (t *Cart) Rank(coords []int32) (int, error) {
	rank := 0
	for i, d := range t.Dims {
		x := coords[i]
		if x < 0 || x >= d {
			if !t.Periods[i] {
				return 0, errorf(abi.MPI_ERR_ARG, "coords[%d] is %d, and that dimension has 0 to %d and is not periodic", i, x, d-1)
			}
			x = round(int64(x), d)
		}
		rank = rank*int(d) + int(x)
	}
	return rank, nil
}

// round is x modulo d, from 0 to d-1.
func round(x int64, d int32) int32 {
	x %= int64(d)
	if x < 0 {
		x += int64(d)
	}
	return int32(x)
}

// Shift returns the ranks disp places before and after rank in a direction, MPI_PROC_NULL beyond a border.
func (t *Cart) Shift(rank, direction, disp int) (source, dest int) {
	stride := 1
	for _, d := range t.Dims[direction+1:] {
		stride *= int(d)
	}
	d := t.Dims[direction]
	x := rank / stride % int(d)
	at := func(y int64) int {
		if y < 0 || y >= int64(d) {
			if !t.Periods[direction] {
				return abi.MPI_PROC_NULL
			}
			y = int64(round(y, d))
		}
		return rank + (int(y)-x)*stride
	}
	return at(int64(x) - int64(disp)), at(int64(x) + int64(disp))
}

// Neighbors are, for each dimension, the rank before and the rank after.
func (t *Cart) Neighbors(rank int) (sources, destinations []int32) {
	for i := range t.Dims {
		before, after := t.Shift(rank, i, 1)
		sources = append(sources, int32(before), int32(after))
	}
	return sources, sources
}

// Sub is the grid of the remaining dimensions that rank is in, the number of that grid among all such, and the
// rank in it.
func (t *Cart) Sub(rank int, remain []bool) (part *Cart, color, key int32) {
	coords := make([]int32, len(t.Dims))
	t.Coords(rank, coords)
	part = &Cart{}
	for i, d := range t.Dims {
		if remain[i] {
			part.Dims, part.Periods = append(part.Dims, d), append(part.Periods, t.Periods[i])
			key = key*d + coords[i]
		} else {
			color = color*d + coords[i]
		}
	}
	return part, color, key
}
