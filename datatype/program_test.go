package datatype

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/libimpi/libimpi/abi"
)

func TestEquivalentDescriptionsHaveTheSameTree(t *testing.T) {
	double := Named(abi.MPI_DOUBLE)
	ten := func(f func(i int64) int64) []int64 {
		v := make([]int64, 10)
		for i := range v {
			v[i] = f(int64(i))
		}
		return v
	}
	one := func(int64) int64 { return 1 }
	doubles := slices.Repeat([]*Type{double}, 10)
	row := ok(Contiguous(4, double))
	for name, same := range map[string][]*Type{
		"a run": {
			ok(Contiguous(10, double)), ok(Vector(1, 10, 99, double)), ok(Vector(10, 1, 1, double)), ok(Vector(5, 2, 2, double)),
			ok(Indexed(ten(one), ten(func(i int64) int64 { return i }), double)),
			ok(Indexed([]int64{3, 0, 7}, []int64{0, 77, 3}, double)),
			ok(Struct(ten(one), ten(func(i int64) int64 { return 8 * i }), doubles)),
			ok(Struct([]int64{1, 1, 1}, []int64{0, 32, 64}, []*Type{row, row, ok(Contiguous(2, double))})),
			ok(Subarray([]int64{5, 2}, []int64{5, 2}, []int64{0, 0}, abi.MPI_ORDER_C, double)),
			Dup(ok(Resized(ok(Contiguous(10, double)), -8, 200))), ok(Contiguous(80, Named(abi.MPI_BYTE))),
		},
		"every third": {
			ok(Vector(10, 1, 3, double)), ok(Hvector(10, 1, 24, double)), ok(Hvector(5, 1, 48, ok(Vector(2, 1, 3, double)))),
			ok(IndexedBlock(1, ten(func(i int64) int64 { return 3 * i }), double)),
			ok(Hindexed(ten(one), ten(func(i int64) int64 { return 24 * i }), double)),
			ok(Struct(ten(one), ten(func(i int64) int64 { return 24 * i }), doubles)),
			ok(Contiguous(10, ok(Resized(double, 0, 24)))),
			ok(Subarray([]int64{10, 3}, []int64{10, 1}, []int64{0, 0}, abi.MPI_ORDER_C, double)),
		},
		"a panel": {
			ok(Vector(6, 4, 16, double)), ok(Hvector(6, 1, 128, row)),
			ok(Struct([]int64{3, 3}, []int64{0, 384}, []*Type{ok(Resized(row, 0, 128)), ok(Resized(row, 0, 128))})),
			ok(IndexedBlock(4, []int64{0, 16, 32, 48, 64, 80}, double)),
			ok(IndexedBlock(2, []int64{0, 2, 16, 18, 32, 34, 48, 50, 64, 66, 80, 82}, double)),
		},
		"anything but regular": {
			ok(Indexed([]int64{1, 2, 2}, []int64{0, 5, 11}, double)), ok(Indexed([]int64{1, 1, 1, 0, 2}, []int64{0, 5, 6, 1, 11}, double)),
			ok(Hindexed([]int64{1, 2, 2}, []int64{0, 40, 88}, ok(Resized(ok(Contiguous(1, double)), 0, 8)))),
		},
	} {
		for i, typ := range same[1:] {
			if diff := cmp.Diff(*same[0].program(Native), *typ.program(Native), sameTree); diff != "" {
				t.Errorf("%s, description %d (-first +this)\n%s", name, i+1, diff)
			}
		}
	}
}

func TestAPositionInAVaryingListIsFound(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	n := 1000
	lens, disps, end := make([]int64, n), make([]int64, n), int64(0)
	for i := range lens {
		lens[i], disps[i] = int64(1+r.Intn(9)), end+int64(1+r.Intn(5))
		end = disps[i] + lens[i]
	}
	root := ok(Indexed(lens, disps, Named(abi.MPI_INT))).program(Native).root
	start := int64(0)
	for i, l := range lens {
		for _, pos := range []int64{start, start + 4*l - 1} {
			if j, s := root.block(pos); j != i || s != start {
				t.Fatalf("byte %d is in block %d from %d, want %d from %d", pos, j, s, i, start)
			}
		}
		start += 4 * l
	}
}
