package op

import "unsafe"

// The kernels of the types that Go does not know: 128-bit integers, half, x87 and quadruple precision, and
// their complex numbers; and of the pairs of value and index.

// scalar is a number with arithmetic of its own.
type scalar[T any] interface {
	comparable
	add(T) T
	mul(T) T
}

// real is a scalar with an order. less is false if either side is NaN.
type real[T any] interface {
	scalar[T]
	neg() T
	less(T) bool
	nan() bool
}

func softSum[T scalar[T]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		b[i] = a[i].add(b[i])
	}
}

func softProd[T scalar[T]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		b[i] = a[i].mul(b[i])
	}
}

func softMin[T real[T]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		if a[i].nan() || a[i].less(b[i]) {
			b[i] = a[i]
		}
	}
}

func softMax[T real[T]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		if a[i].nan() || b[i].less(a[i]) {
			b[i] = a[i]
		}
	}
}

// cmplx is a complex number as C and Fortran lay it out.
type cmplx[T real[T]] struct{ re, im T }

func (a cmplx[T]) add(b cmplx[T]) cmplx[T] {
	return cmplx[T]{a.re.add(b.re), a.im.add(b.im)}
}

func (a cmplx[T]) mul(b cmplx[T]) cmplx[T] {
	return cmplx[T]{
		a.re.mul(b.re).add(a.im.mul(b.im).neg()),
		a.re.mul(b.im).add(a.im.mul(b.re)),
	}
}

// pair is a value and its index, laid out as the C struct is: Go aligns the same, but for long double, where
// the padding to a multiple of 16 bytes is spelt out.
type pair[V, I any] struct {
	v V
	i I
}

type longPair[V any] struct {
	v V
	i int32
	_ [3]int32
}

// On equal values the smaller index counts (MPI 5.0, 6.9.4).

func minloc[V ordered, I ordered](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[pair[V, I]](in, inout, n)
	for k := range a {
		x, y := &a[k], &b[k]
		if x.v < y.v {
			*y = *x
		} else if x.v == y.v && x.i < y.i {
			y.i = x.i
		}
	}
}

func maxloc[V ordered, I ordered](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[pair[V, I]](in, inout, n)
	for k := range a {
		x, y := &a[k], &b[k]
		if x.v > y.v {
			*y = *x
		} else if x.v == y.v && x.i < y.i {
			y.i = x.i
		}
	}
}

func softMinloc[V real[V]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[longPair[V]](in, inout, n)
	for k := range a {
		x, y := &a[k], &b[k]
		if x.v.less(y.v) {
			y.v, y.i = x.v, x.i
		} else if !y.v.less(x.v) && x.i < y.i {
			y.i = x.i
		}
	}
}

func softMaxloc[V real[V]](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[longPair[V]](in, inout, n)
	for k := range a {
		x, y := &a[k], &b[k]
		if y.v.less(x.v) {
			y.v, y.i = x.v, x.i
		} else if !x.v.less(y.v) && x.i < y.i {
			y.i = x.i
		}
	}
}

var minlocs = [kinds]kernel{
	pF32I32: minloc[float32, int32], pF64I32: minloc[float64, int32], pI64I32: minloc[int64, int32],
	pI32I32: minloc[int32, int32], pI16I32: minloc[int16, int32],
	pF80I32: softMinloc[float80], pF128I32: softMinloc[float128],
	pF32F32: minloc[float32, float32], pF64F64: minloc[float64, float64],
	pI64I64: minloc[int64, int64],
}

var maxlocs = [kinds]kernel{
	pF32I32: maxloc[float32, int32], pF64I32: maxloc[float64, int32], pI64I32: maxloc[int64, int32],
	pI32I32: maxloc[int32, int32], pI16I32: maxloc[int16, int32],
	pF80I32: softMaxloc[float80], pF128I32: softMaxloc[float128],
	pF32F32: maxloc[float32, float32], pF64F64: maxloc[float64, float64],
	pI64I64: maxloc[int64, int64],
}
