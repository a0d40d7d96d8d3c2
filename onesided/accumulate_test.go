package onesided

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// layouts are types with room for some elements each: how they lie, and where element i is.
func layouts(t *testing.T, old *datatype.Type) []*datatype.Type {
	t.Helper()
	made := []*datatype.Type{old}
	keep := func(d *datatype.Type, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		d.Commit()
		made = append(made, d)
	}
	keep(datatype.Contiguous(3, old))
	keep(datatype.Vector(4, 2, 3, old))
	keep(datatype.Indexed([]int64{1, 2}, []int64{4, 0}, old))
	keep(datatype.Hvector(5, 1, -2*old.Extent(), old))
	keep(datatype.Vector(2, 5, 6, old)) // runs that are not short
	return made
}

// indices are where the elements of count of d lie, in units of the element's extent.
func indices(d, element *datatype.Type, count int64) (at []int64) {
	const far = 512
	mark := make([]byte, (2*far+1)*element.Extent())
	packed := make([]byte, d.Size()*count)
	var c datatype.Cursor
	for i := range d.Size() * count / element.Size() {
		clear(mark)
		clear(packed)
		for j := range element.Size() {
			packed[i*element.Size()+j] = 1
		}
		c.Init(at0(mark, far*element.Extent()), count, d, datatype.Native)
		c.Unpack(packed)
		for j, m := range mark {
			if m != 0 {
				at = append(at, int64(j)/element.Extent()-far)
				break
			}
		}
	}
	return at
}

func TestAccumulatesFollowTheirTypes(t *testing.T) { accumulatesFollowTheirTypes(t) }

func TestAccumulatesFollowTheirTypesWithAKernelForElementsApart(t *testing.T) {
	calls := 0
	op.SetApartKernel(func(h int, e *datatype.Type, left datatype.Pointer, l int64, right datatype.Pointer,
		r, n int64) bool {
		if h == abi.MPI_PROD || h == abi.MPI_REPLACE {
			return false
		}
		calls++
		oneByOne(t, op.Predefined(h), e, left, l, right, r, n)
		return true
	})
	defer op.SetApartKernel(nil)
	accumulatesFollowTheirTypes(t)
	const n = pieceBytes/8*2 + 5 // three pieces
	column, err := datatype.Vector(n, 1, 2, int64Type)
	if err != nil {
		t.Fatal(err)
	}
	column.Commit()
	for _, h := range []int{abi.MPI_SUM, abi.MPI_PROD} {
		calls = 0
		origin, target := make([]int64, n), make([]int64, 2*n)
		for i := range origin {
			origin[i], target[2*i], target[2*i+1] = int64(i), 3, 4
		}
		a := Accumulation{Origin: buf(origin, n, int64Type), Target: buf(target, 1, column), Element: int64Type,
			Op: op.Predefined(h)}
		if err := a.Do(); err != nil {
			t.Fatal(err)
		}
		for i := range origin {
			if want := map[int]int64{abi.MPI_SUM: 3 + int64(i), abi.MPI_PROD: 3 * int64(i)}[h]; target[2*i] != want ||
				target[2*i+1] != 4 {
				t.Fatalf("op %#x: element %d is %d, and what follows it %d", h, i, target[2*i], target[2*i+1])
			}
		}
		if want := map[int]int{abi.MPI_SUM: 3, abi.MPI_PROD: 0}[h]; calls != want {
			t.Errorf("op %#x: %d calls of the kernel, want %d", h, calls, want)
		}
	}
}

func accumulatesFollowTheirTypes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const far = 512
	for _, h := range []int{abi.MPI_SUM, abi.MPI_PROD, abi.MPI_MAX, abi.MPI_BXOR, abi.MPI_REPLACE, abi.MPI_NO_OP} {
		o := op.Predefined(h)
		for _, from := range layouts(t, int64Type) {
			for _, to := range layouts(t, int64Type) {
				nf, nt := from.Size()/8, to.Size()/8
				origin, target, result := make([]int64, 2*far), make([]int64, 2*far), make([]int64, 2*far)
				for i := range origin {
					origin[i], target[i] = rng.Int64N(1000), rng.Int64N(1000)
				}
				had, alone, want := slices.Clone(target), slices.Clone(target), slices.Clone(target)
				cf, ct := nt*3, nf*3
				reads, writes := indices(from, int64Type, cf), indices(to, int64Type, ct)
				for i, k := range writes {
					a, b := origin[far+reads[i]], want[far+k]
					want[far+k] = map[int]int64{abi.MPI_SUM: a + b, abi.MPI_PROD: a * b, abi.MPI_MAX: max(a, b),
						abi.MPI_BXOR: a ^ b, abi.MPI_REPLACE: a, abi.MPI_NO_OP: b}[h]
				}
				a := Accumulation{Origin: buf(origin[far:], cf, from), Target: buf(target[far:], ct, to),
					Result: buf(result, ct*nt, int64Type), Element: int64Type, Op: o}
				if err := a.Do(); err != nil {
					t.Fatal(err)
				}
				a.Target, a.Result = buf(alone[far:], ct, to), Buf{}
				if err := a.Do(); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					if target[i] != want[i] || alone[i] != want[i] {
						t.Fatalf("op %#x: element %d is %d, and %d if no result is asked for, want %d", h, i-far,
							target[i], alone[i], want[i])
					}
				}
				for i, k := range writes {
					if result[i] != had[far+k] {
						t.Fatalf("op %#x: element %d was %d, and the result says %d", h, k, had[far+k], result[i])
					}
				}
			}
		}
	}
}

// farther is a target that is reached by loading and storing its packed elements, as long as it can be.
type farther struct {
	at            Buf
	loads, stores int // how many more succeed
}

func (f *farther) cursor(pos int64) *datatype.Cursor {
	var c datatype.Cursor
	c.Init(f.at.Base, f.at.Count, f.at.Type, datatype.Native)
	c.SeekTo(pos)
	return &c
}

func (f *farther) Load(b []byte, pos int64) bool {
	f.loads--
	return f.loads >= 0 && f.cursor(pos).Pack(b) == len(b)
}

func (f *farther) Store(b []byte, pos int64) bool {
	f.stores--
	return f.stores >= 0 && f.cursor(pos).Unpack(b) == len(b)
}

func TestWhatIsFarIsAccumulatedAsWhatIsMapped(t *testing.T) {
	pairs := datatype.Named(abi.MPI_DOUBLE_INT)
	for _, c := range []struct {
		element *datatype.Type
		op      int
	}{{int64Type, abi.MPI_SUM}, {int64Type, abi.MPI_REPLACE}, {int64Type, abi.MPI_NO_OP}, {pairs, abi.MPI_MAXLOC}} {
		for _, from := range layouts(t, c.element) {
			for _, to := range layouts(t, c.element) {
				size, cf, ct := c.element.Size(), 3*to.Size()/c.element.Size(), 3*from.Size()/c.element.Size()
				const room = 2048
				origin, first := make([]int64, room), make([]int64, room)
				for i := range origin {
					origin[i], first[i] = int64(i*i%97), int64(i%89)
				}
				n := ct * to.Size() / size
				var got, was [2][]int64
				for far := range 2 {
					got[far], was[far] = append([]int64(nil), first...), make([]int64, 2*n)
					a := Accumulation{Origin: buf(origin[room/2:], cf, from), Target: buf(got[far][room/2:], ct, to),
						Result: buf(was[far], n, c.element), Element: c.element, Op: op.Predefined(c.op)}
					if c.op == abi.MPI_REPLACE {
						a.Result = Buf{}
					}
					if far == 1 {
						a.Far, a.Target.Base, a.Most = &farther{a.Target, 1 << 20, 1 << 20}, nil, 5
					}
					if err := a.Do(); err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(got[0], got[1]) || !slices.Equal(was[0], was[1]) {
					t.Fatalf("op %#x: mapped and far differ", c.op)
				}
			}
		}
	}
}

func TestFarMemoryThatCannotBeReachedIsTold(t *testing.T) {
	for _, c := range []struct {
		loads, stores int
		want          error
	}{{0, 0, ErrUnread}, {1, 0, ErrLost}, {1, 1, ErrLost}, {2, 2, nil}} {
		origin, target := make([]int64, 10), make([]int64, 10)
		far := &farther{buf(target, 10, int64Type), c.loads, c.stores}
		a := Accumulation{Origin: buf(origin, 10, int64Type), Target: Buf{Count: 10, Type: int64Type}, Element: int64Type,
			Op: op.Predefined(abi.MPI_SUM), Far: far, Most: 5}
		if err := a.Do(); err != c.want {
			t.Errorf("%d loads and %d stores: %v, want %v", c.loads, c.stores, err, c.want)
		}
	}
}

// pair is MPI_DOUBLE_INT, whose elements have a gap at their end.
type pair struct {
	value float64
	index int32
	gap   int32
}

func TestPairsAreAccumulatedWithTheirGaps(t *testing.T) {
	pairs := datatype.Named(abi.MPI_DOUBLE_INT)
	for _, to := range layouts(t, pairs) {
		n := to.Size() / pairs.Size()
		origin, target := make([]pair, n), make([]pair, 64)
		for i := range origin {
			origin[i] = pair{float64(i % 3), int32(i), 0}
		}
		for i := range target {
			target[i] = pair{1, 100, 77}
		}
		a := Accumulation{Origin: buf(origin, n, pairs), Target: buf(target[32:], 1, to), Element: pairs,
			Op: op.Predefined(abi.MPI_MAXLOC)}
		if err := a.Do(); err != nil {
			t.Fatal(err)
		}
		for i, k := range indices(to, pairs, 1) {
			want := pair{1, 100, 77}
			if i%3 == 2 {
				want = pair{2, int32(i), 77}
			} else if i%3 == 1 {
				want.index = int32(i)
			}
			if got := target[32+k]; got != want {
				t.Errorf("pair %d is %v, want %v", i, got, want)
			}
		}
	}
}

func TestOnlyPredefinedOperatorsOnOneTypeAreTaken(t *testing.T) {
	double := datatype.Named(abi.MPI_DOUBLE)
	mixed, err := datatype.Struct([]int64{1, 1}, []int64{0, 8}, []*datatype.Type{int64Type, double})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		handle         int
		target, origin *datatype.Type
		ok             bool
	}{
		{abi.MPI_SUM, int64Type, int64Type, true},
		{abi.MPI_NO_OP, double, nil, true},
		{abi.MPI_SUM, mixed, mixed, false},
		{abi.MPI_SUM, double, int64Type, false},
		{abi.MPI_BAND, double, double, false},
	} {
		if _, err := CheckOp(c.handle, c.target, c.origin); (err == nil) != c.ok {
			t.Errorf("op %#x: %v", c.handle, err)
		}
	}
}
