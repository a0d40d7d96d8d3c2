package kernel

import (
	"bytes"
	"math"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// special are numbers that a random pattern of bits seldom is.
var special = []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324,
	math.MaxFloat32, 1e-45}

// numbers are n elements of a type: small ones, special ones, any.
func numbers(r *rand.Rand, t *datatype.Type, n int) []byte {
	size := int(t.Size())
	words := make([]uint64, n)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*n)[: n*size : n*size]
	r.Read(b)
	kind, _ := op.Number(t)
	for i := range n {
		p := unsafe.Pointer(&b[i*size])
		switch v := special[r.Intn(len(special))]; {
		case r.Intn(3) == 0:
		case kind == op.Float && size == 8:
			*(*float64)(p) = v
		case kind == op.Float:
			*(*float32)(p) = float32(v)
		default:
			copy(b[i*size:][:size], bytes.Repeat([]byte{[]byte{0, 0, 1, 0x7f, 0x80, 0xff}[r.Intn(6)]}, size))
		}
	}
	return b
}

// isNaN reports whether element i of a vector is no number.
func isNaN(t *datatype.Type, b []byte, i int) bool {
	kind, size := op.Number(t)
	p := unsafe.Pointer(&b[i*size])
	switch {
	case kind != op.Float:
		return false
	case size == 8:
		return math.IsNaN(*(*float64)(p))
	}
	return math.IsNaN(float64(*(*float32)(p)))
}

func TestKernelsOfOperationsInCDoWhatThoseInGoDo(t *testing.T) {
	pairs := 0
	for handle := range OpCodes {
		for i := range 256 {
			typ := datatype.Named(abi.MPI_DATATYPE_NULL + i)
			if typ == nil || op.Check(handle, typ) != nil {
				continue
			}
			kind, size := op.Number(typ)
			if size != 0 && (typ.Size() != int64(size) || typ.Extent() != int64(size)) {
				t.Errorf("%s has %d bytes, and its number %d", typ.Name(), typ.Size(), size)
			}
			if kind == op.NoNumber {
				continue
			}
			pairs++
			r := rand.New(rand.NewSource(int64(pairs)))
			for n := 1; n < 60; n++ {
				left, right := numbers(r, typ, n), numbers(r, typ, n)
				want := bytes.Clone(right)
				err := op.Predefined(handle).Apply(unsafe.Pointer(&left[0]), unsafe.Pointer(&want[0]), int64(n), typ)
				if err != nil {
					t.Fatal(err)
				}
				first, second := bytes.Clone(left), bytes.Clone(right)
				if !Combine(handle, typ, unsafe.Pointer(&left[0]), unsafe.Pointer(&right[0]), int64(n)) {
					t.Fatalf("no kernel for %s and operation %#x", typ.Name(), handle)
				}
				for i := range n {
					at := i * size
					if !bytes.Equal(left[at:at+size], want[at:at+size]) && !(isNaN(typ, left, i) && isNaN(typ, want, i)) {
						t.Fatalf("%s, operation %#x: %x and %x give %x, not %x", typ.Name(), handle,
							first[at:at+size], second[at:at+size], left[at:at+size], want[at:at+size])
					}
				}
				if !bytes.Equal(right, second) {
					t.Fatalf("%s, operation %#x: the right operand has changed", typ.Name(), handle)
				}
			}
		}
	}
	if pairs < 200 {
		t.Errorf("%d pairs of an operation and a type", pairs)
	}
}

// Long vectors are combined in parts, of which each fetches the next.
func TestLongVectorsAreCombinedToTheirEnd(t *testing.T) {
	for _, handle := range []int{abi.MPI_INT8_T, abi.MPI_SHORT, abi.MPI_FLOAT, abi.MPI_DOUBLE, abi.MPI_UINT64_T} {
		typ := datatype.Named(handle)
		r := rand.New(rand.NewSource(int64(handle)))
		for _, bytes := range []int{32<<10 - 8, 32 << 10, 33<<10 + 8, 34<<10 - 8, 258<<10 - 8} {
			n := bytes / int(typ.Size())
			left, right := numbers(r, typ, n+64), numbers(r, typ, n+64)
			behind := string(left[bytes:])
			want := append([]byte(nil), right[:bytes]...)
			err := op.Predefined(abi.MPI_MAX).Apply(unsafe.Pointer(&left[0]), unsafe.Pointer(&want[0]), int64(n), typ)
			if err != nil {
				t.Fatal(err)
			}
			Combine(abi.MPI_MAX, typ, unsafe.Pointer(&left[0]), unsafe.Pointer(&right[0]), int64(n))
			for i, size := 0, int(typ.Size()); i < n; i++ {
				if string(left[i*size:][:size]) != string(want[i*size:][:size]) && !(isNaN(typ, left, i) && isNaN(typ, want, i)) {
					t.Fatalf("%s, element %d of %d", typ.Name(), i, n)
				}
			}
			if string(left[bytes:]) != behind {
				t.Fatalf("%s: what lies behind %d bytes has changed", typ.Name(), bytes)
			}
		}
	}
}

func TestWhatIsNotOfTheProcessorHasNoKernelInC(t *testing.T) {
	var word [4]uint64
	p := unsafe.Pointer(&word)
	for _, c := range []struct{ op, typ int }{
		{abi.MPI_BAND, abi.MPI_DOUBLE}, {abi.MPI_LXOR, abi.MPI_FLOAT}, {abi.MPI_SUM, abi.MPI_C_DOUBLE_COMPLEX},
		{abi.MPI_LAND, abi.MPI_C_BOOL}, {abi.MPI_MINLOC, abi.MPI_2INT}, {abi.MPI_SUM, abi.MPI_LONG_DOUBLE},
	} {
		if typ := datatype.Named(c.typ); Combine(c.op, typ, p, p, 1) {
			t.Errorf("a kernel for %s and operation %#x", typ.Name(), c.op)
		}
	}
}

// What lies apart is combined some elements at a time, and what lies between is left as it is.
func TestElementsThatLieApartAreCombinedAsVectorsAre(t *testing.T) {
	for _, handle := range []int{abi.MPI_INT8_T, abi.MPI_SHORT, abi.MPI_FLOAT, abi.MPI_DOUBLE, abi.MPI_UINT64_T} {
		typ := datatype.Named(handle)
		size := int(typ.Size())
		r := rand.New(rand.NewSource(int64(handle)))
		for _, steps := range [][2]int{{size, 3 * size}, {2 * size, size}, {size + 1, 40}, {4096, 4096}, {4096, size}} {
			for _, n := range []int{0, 1, 2, 15, 16, 17, 63, 64, 65, 200} {
				left, right := make([]byte, n*steps[0]+8), make([]byte, n*steps[1]+8)
				r.Read(left)
				l, in, want := numbers(r, typ, n+1), numbers(r, typ, n+1), bytes.Clone(left)
				for i := range n {
					copy(left[i*steps[0]:], l[i*size:][:size])
					copy(right[i*steps[1]:], in[i*size:][:size])
				}
				copy(want, left)
				Combine(abi.MPI_MAX, typ, unsafe.Pointer(&l[0]), unsafe.Pointer(&in[0]), int64(n))
				for i := range n {
					copy(want[i*steps[0]:], l[i*size:][:size])
				}
				if !CombineApart(abi.MPI_MAX, typ, unsafe.Pointer(&left[0]), int64(steps[0]), unsafe.Pointer(&right[0]),
					int64(steps[1]), int64(n)) || !bytes.Equal(left, want) {
					t.Errorf("%d of %s, %d and %d bytes apart, are not combined as vectors are", n, typ.Name(), steps[0], steps[1])
				}
			}
		}
	}
	if CombineApart(abi.MPI_REPLACE, datatype.Named(abi.MPI_INT), nil, 8, nil, 8, 0) {
		t.Error("a kernel that replaces")
	}
}

// BenchmarkCombine sums doubles in the cache, by Go and by C.
func BenchmarkCombine(b *testing.B) {
	const n = 64 << 10
	t := datatype.Named(abi.MPI_DOUBLE)
	left, right := make([]float64, n), make([]float64, n)
	run := func(k op.LongKernel) func(b *testing.B) {
		return func(b *testing.B) {
			op.SetLongKernel(k)
			defer op.SetLongKernel(nil)
			b.SetBytes(8 * n)
			for b.Loop() {
				if err := op.Predefined(abi.MPI_SUM).Apply(unsafe.Pointer(&right[0]), unsafe.Pointer(&left[0]), n, t); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
	b.Run("Go", run(nil))
	b.Run("C", run(Combine))
}

func TestElementsThatLieAnywhereHaveNoKernelInC(t *testing.T) {
	words := make([]uint64, 4)
	left, right := unsafe.Pointer(&words[0]), unsafe.Pointer(&words[2])
	double := datatype.Named(abi.MPI_DOUBLE)
	for _, at := range []struct{ left, right int }{{1, 0}, {0, 4}} {
		if Combine(abi.MPI_SUM, double, unsafe.Add(left, at.left), unsafe.Add(right, at.right), 1) {
			t.Errorf("combined what begins %d and %d bytes behind a word", at.left, at.right)
		}
	}
	if !Combine(abi.MPI_SUM, double, left, right, 1) {
		t.Error("did not combine words")
	}
}
