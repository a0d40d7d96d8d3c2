package datatype

import (
	"math/rand"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/libimpi/libimpi/abi"
)

// offsets lists where the elements of t, made of MPI_INT, lie, in the order of the stream.
func offsets(t *Type) []int64 {
	var list []int64
	var walk func(nd *node, at int64)
	walk = func(nd *node, at int64) {
		switch nd.op {
		case opRun:
			for i := range nd.n {
				list = append(list, at+4*i)
			}
		case opLoop:
			for i := range nd.n {
				walk(nd.child, at+i*nd.stride)
			}
		case opAt:
			for _, off := range nd.offs {
				walk(nd.child, at+off)
			}
		case opVary:
			for j, off := range nd.offs {
				for i := range (nd.starts[j+1] - nd.starts[j]) / nd.child.size {
					walk(nd.child, at+off+i*nd.stride)
				}
			}
		case opList:
			for j, kid := range nd.kids {
				walk(kid, at+nd.offs[j])
			}
		}
	}
	if p := t.program(External32); p.root != nil {
		walk(p.root, p.at)
	}
	return list
}

// strides of an array of MPI_INT, in bytes.
func strides(sizes []int64, order int) []int64 {
	s := make([]int64, len(sizes))
	pitch := int64(4)
	for i := range sizes {
		d := dimension(i, len(sizes), order)
		s[d], pitch = pitch, pitch*sizes[d]
	}
	return s
}

// selected walks the whole array, fastest dimension first, and lists the elements that are in.
func selected(sizes []int64, order int, in func(d int, index int64) bool) []int64 {
	var list []int64
	pitch := strides(sizes, order)
	var walk func(k int, at int64)
	walk = func(k int, at int64) {
		if k < 0 {
			list = append(list, at)
			return
		}
		d := dimension(k, len(sizes), order)
		for i := range sizes[d] {
			if in(d, i) {
				walk(k-1, at+i*pitch[d])
			}
		}
	}
	walk(len(sizes)-1, 0)
	return list
}

func TestSubarraySelectsItsBlock(t *testing.T) {
	for seed := range 500 {
		r := rand.New(rand.NewSource(int64(seed)))
		n := 1 + r.Intn(4)
		sizes, subsizes, starts := make([]int64, n), make([]int64, n), make([]int64, n)
		total := int64(4)
		for d := range n {
			sizes[d] = int64(1 + r.Intn(6))
			subsizes[d] = 1 + r.Int63n(sizes[d])
			starts[d] = r.Int63n(sizes[d] - subsizes[d] + 1)
			total *= sizes[d]
		}
		order := []int{abi.MPI_ORDER_C, abi.MPI_ORDER_FORTRAN}[r.Intn(2)]
		typ, err := Subarray(sizes, subsizes, starts, order, Named(abi.MPI_INT))
		if err != nil {
			t.Fatal(err)
		}
		want := selected(sizes, order, func(d int, i int64) bool { return i >= starts[d] && i < starts[d]+subsizes[d] })
		if diff := cmp.Diff(want, offsets(typ)); diff != "" || typ.LB() != 0 || typ.Extent() != total {
			t.Fatalf("seed %d: extent %d of %d, elements (-want +got)\n%s", seed, typ.Extent(), total, diff)
		}
	}
}

func TestDarrayDealsTheArrayToTheGrid(t *testing.T) {
	for seed := range 500 {
		r := rand.New(rand.NewSource(int64(seed)))
		n := 1 + r.Intn(3)
		gsizes := make([]int64, n)
		distribs, dargs, psizes, blocks := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		size, total := int64(1), int64(4)
		for d := range n {
			gsizes[d], psizes[d], dargs[d] = int64(1+r.Intn(9)), int64(1+r.Intn(3)), abi.MPI_DISTRIBUTE_DFLT_DARG
			least := (gsizes[d] + psizes[d] - 1) / psizes[d]
			switch distribs[d] = abi.MPI_DISTRIBUTE_NONE + int64(r.Intn(3)); distribs[d] {
			case abi.MPI_DISTRIBUTE_NONE:
				psizes[d], blocks[d] = 1, gsizes[d]
			case abi.MPI_DISTRIBUTE_BLOCK:
				if blocks[d] = least; r.Intn(2) == 0 {
					blocks[d] += int64(r.Intn(3))
					dargs[d] = blocks[d]
				}
			case abi.MPI_DISTRIBUTE_CYCLIC:
				if blocks[d] = 1; r.Intn(2) == 0 {
					blocks[d] = int64(1 + r.Intn(4))
					dargs[d] = blocks[d]
				}
			}
			size, total = size*psizes[d], total*gsizes[d]
		}
		order := []int{abi.MPI_ORDER_C, abi.MPI_ORDER_FORTRAN}[r.Intn(2)]
		dealt := 0
		for rank := range size {
			coords, rest := make([]int64, n), rank
			for d := n - 1; d >= 0; d-- {
				coords[d], rest = rest%psizes[d], rest/psizes[d]
			}
			typ, err := Darray(size, rank, gsizes, distribs, dargs, psizes, order, Named(abi.MPI_INT))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want := selected(gsizes, order, func(d int, i int64) bool { return i/blocks[d]%psizes[d] == coords[d] })
			if diff := cmp.Diff(want, offsets(typ)); diff != "" || typ.LB() != 0 || typ.Extent() != total {
				t.Fatalf("seed %d rank %d: extent %d of %d, elements (-want +got)\n%s", seed, rank, typ.Extent(), total, diff)
			}
			dealt += len(want)
		}
		if int64(dealt)*4 != total {
			t.Fatalf("seed %d: %d elements dealt, the array has %d", seed, dealt, total/4)
		}
	}
}
