package colltest

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

func must(t *datatype.Type, err error) *datatype.Type {
	if err != nil {
		panic(err)
	}
	t.Commit()
	return t
}

// The types that tests use.
var (
	Int    = datatype.Named(abi.MPI_INT)
	Double = datatype.Named(abi.MPI_DOUBLE)
	Long   = datatype.Named(abi.MPI_LONG)

	// Gapped is 3 blocks of 2 ints with gaps between, and behind.
	Gapped = func() *datatype.Type {
		v := must(datatype.Vector(3, 2, 4, Int))
		return must(datatype.Resized(v, 0, 52))
	}()
	// Spaced is two doubles, with a gap between, and behind.
	Spaced = must(datatype.Resized(must(datatype.Vector(2, 1, 2, Double)), 0, 40))
	// Mixed is a struct of an int, a double and a short, the double first in memory and 8 bytes after the
	// lower bound.
	Mixed = must(datatype.Struct([]int64{1, 1, 1}, []int64{16, 8, 20},
		[]*datatype.Type{Int, Double, datatype.Named(abi.MPI_SHORT)}))

	// Map is an element of Affine, MapGapped the same with a gap before and behind, MapBelow with the element
	// before its address.
	Map       = must(datatype.Contiguous(2, datatype.Named(abi.MPI_UINT32_T)))
	MapGapped = func() *datatype.Type {
		t := must(datatype.Hindexed([]int64{1}, []int64{16}, Map))
		return must(datatype.Resized(t, 0, 28))
	}()
	MapBelow = must(datatype.Hindexed([]int64{1}, []int64{-24}, Map))

	// Sections of arrays: columns of three doubles from the last to the first, in two more dimensions, and of structures;
	// elements of Affine in rows of five, and elements that are half in one element of the section and half in the next.
	Section      = view(8, Double, datatype.Side{N: 3, Stride: -16}, datatype.Side{N: 5, Stride: 56}, endless(288))
	SectionMixed = view(8, Mixed, datatype.Side{N: 11, Stride: 16}, endless(184))
	MapRows      = view(8, Map, datatype.Side{N: 5, Stride: 16}, endless(80))
	MapTorn      = view(4, Map, datatype.Side{N: 7, Stride: 8}, endless(-60))
)

func endless(stride int64) datatype.Side { return datatype.Side{N: 1 << 20, Stride: stride} }

func view(elem int64, t *datatype.Type, dims ...datatype.Side) *datatype.Type {
	return must(datatype.View(datatype.Sectioned(elem, dims), t))
}
