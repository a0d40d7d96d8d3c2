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
	trees := map[string]*Type{}
	for name, same := range map[string][]*Type{
		"a run": {
			ok(Contiguous(10, double)), ok(Vector(1, 10, 99, double)), ok(Vector(10, 1, 1, double)), ok(Vector(5, 2, 2, double)),
			ok(Indexed(ten(one), ten(func(i int64) int64 { return i }), double)),
			ok(Indexed([]int64{3, 0, 7}, []int64{0, 77, 3}, double)), ok(Indexed([]int64{3, 7}, []int64{0, 3}, double)),
			ok(Hindexed([]int64{1, 2, 3, 4}, []int64{0, 8, 24, 48}, double)), ok(IndexedBlock(5, []int64{0, 5}, double)),
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
		"a list, three times": {
			ok(Hvector(3, 1, 200, irregularInts(1))), ok(Contiguous(3, ok(Resized(irregularInts(1), 0, 200)))),
			ok(Struct([]int64{1, 1, 1}, []int64{0, 200, 400}, []*Type{irregularInts(1), irregularInts(2), irregularInts(3)})),
		},
		"records, twice": {
			ok(Hvector(2, 1, 300, recordOf(1))), ok(Struct([]int64{1, 1}, []int64{0, 300}, []*Type{recordOf(1), recordOf(2)})),
		},
		"anything but regular": {
			ok(Indexed([]int64{1, 2, 2}, []int64{0, 5, 11}, double)),
			ok(Indexed([]int64{1, 2, 1, 1}, []int64{0, 5, 11, 12}, double)),
			ok(Indexed([]int64{1, 1, 1, 0, 2}, []int64{0, 5, 6, 1, 11}, double)),
			ok(Hindexed([]int64{1, 2, 2}, []int64{0, 40, 88}, ok(Resized(ok(Contiguous(1, double)), 0, 8)))),
		},
	} {
		for other, t2 := range trees {
			if cmp.Equal(*same[0].program(Native), *t2.program(Native), sameTree) {
				t.Errorf("%s and %s have the same tree", name, other)
			}
		}
		trees[name] = same[0]
		for i, typ := range same[1:] {
			if diff := cmp.Diff(*same[0].program(Native), *typ.program(Native), sameTree); diff != "" {
				t.Errorf("%s, description %d (-first +this)\n%s", name, i+1, diff)
			}
		}
	}
}

// irregularInts is blocks of two lengths, described in one of three ways.
func irregularInts(way int) *Type {
	lens := []int64{1, 2, 2}
	switch way {
	case 1:
		return ok(Indexed(lens, []int64{0, 5, 11}, testInt))
	case 2:
		return ok(Hindexed(lens, []int64{0, 20, 44}, testInt))
	}
	return ok(Indexed([]int64{4, 8, 8}, []int64{0, 20, 44}, Named(abi.MPI_BYTE)))
}

// recordOf is two runs and a list, described in one of two ways.
func recordOf(way int) *Type {
	if way == 1 {
		return ok(Struct([]int64{1, 1, 1}, []int64{100, 0, 140}, []*Type{testDouble, irregularInts(1), testInt}))
	}
	return ok(Struct([]int64{8, 1, 1}, []int64{100, 0, 140}, []*Type{Named(abi.MPI_BYTE), irregularInts(2), testInt}))
}

// Lists that are too long to be compared, or differ in their last entry, are not taken for each other, though sizes and
// numbers of blocks are the same.
func TestListsThatDifferAreToldApart(t *testing.T) {
	// tower is loops around structures in a structure, more parts than are compared; the last one has a field at another
	// place.
	tower := func(last int64) *Type {
		var disps []int64
		var olds []*Type
		for i := range int64(16) {
			shift := int64(0)
			if i == 15 {
				shift = last
			}
			record := ok(Struct([]int64{1, 1, 1}, []int64{40, 0, 20 + shift},
				[]*Type{ok(Contiguous(2, testDouble)), ok(Contiguous(3, testInt)), ok(Contiguous(2, testInt))}))
			disps, olds = append(disps, i*i*500), append(olds, ok(Hvector(2, 1, 100+i, record)))
		}
		return ok(Struct(slices.Repeat([]int64{1}, 16), disps, olds))
	}
	for _, n := range []int{3, 16, 17, 40} {
		lens, other, disps, away, far := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n),
			make([]int64, n)
		for i := range lens {
			lens[i], disps[i] = int64(1+i%3), int64(8*i*i)
			other[i], away[i], far[i] = lens[i], disps[i], 100*disps[i]
		}
		other[n-2], other[n-1] = lens[n-1], lens[n-2]
		away[n-1]++
		record := func(disps []int64) *Type {
			olds := make([]*Type, n)
			for i := range olds {
				olds[i] = []*Type{testInt, ok(Hvector(2, 1, 5, Named(abi.MPI_CHAR)))}[i%2]
			}
			return ok(Struct(slices.Repeat([]int64{1}, n), disps, olds))
		}
		for name, pair := range map[string][2]*Type{
			"places":  {ok(HindexedBlock(2, disps, testInt)), ok(HindexedBlock(2, away, testInt))},
			"lengths": {ok(Hindexed(lens, disps, testInt)), ok(Hindexed(other, disps, testInt))},
			"blocks":  {ok(Hindexed(lens, disps, testInt)), ok(Hindexed(lens, away, testInt))},
			"gaps":    {ok(Hindexed(lens, far, testInt)), ok(Hindexed(lens, far, ok(Resized(testInt, 0, 8))))},
			"fields":  {record(disps), record(away)},
			"parts":   {tower(0), tower(1)},
		} {
			both := ok(Struct([]int64{1, 1}, []int64{0, 1 << 20}, pair[:]))
			var c Cursor
			c.Init(nil, 1, both, Native)
			for k, typ := range pair {
				p := typ.program(Native)
				for i := range typ.size {
					want, _ := p.root.place(i)
					if got, _ := c.tree().place(typ.size*int64(k) + i); got+c.at != p.at+want+int64(k)<<20 {
						t.Fatalf("%d %s: byte %d of part %d is at %d, want %d", n, name, i, k, got+c.at, p.at+want+int64(k)<<20)
					}
				}
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
