package op

import "unsafe"

// The kernels of the types that the processor knows. Loops are unrolled by eight over arrays, which spares
// the bounds checks and lets loads, operations and stores overlap.

type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

type ordered interface{ integer | float32 | float64 }

type number interface {
	ordered | complex64 | complex128
}

func vectors[T any](in, inout unsafe.Pointer, n int64) (a, b []T) {
	return unsafe.Slice((*T)(in), n), unsafe.Slice((*T)(inout), n)
}

// aligned tells whether both vectors of a kind are aligned as C wants them, to at most 8 bytes.
func aligned(in, inout unsafe.Pointer, k kind) bool {
	size := uintptr(8)
	switch k {
	case i8, u8:
		size = 1
	case i16, u16:
		size = 2
	case i32, u32, f32:
		size = 4
	}
	return (uintptr(in)|uintptr(inout))&(size-1) == 0
}

func sum[T number](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]T)(a), (*[8]T)(b)
		y[0] += x[0]
		y[1] += x[1]
		y[2] += x[2]
		y[3] += x[3]
		y[4] += x[4]
		y[5] += x[5]
		y[6] += x[6]
		y[7] += x[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		b[i] += a[i]
	}
}

func prod[T number](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]T)(a), (*[8]T)(b)
		y[0] *= x[0]
		y[1] *= x[1]
		y[2] *= x[2]
		y[3] *= x[3]
		y[4] *= x[4]
		y[5] *= x[5]
		y[6] *= x[6]
		y[7] *= x[7]
		a, b = a[8:], b[8:]
	}
	for i := range a {
		b[i] = a[i] * b[i]
	}
}

// smaller and larger have no branch that depends on the data; a NaN on either side gives NaN.

func smaller[T ordered](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]T)(a), (*[4]T)(b)
		y[0] = min(x[0], y[0])
		y[1] = min(x[1], y[1])
		y[2] = min(x[2], y[2])
		y[3] = min(x[3], y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		b[i] = min(a[i], b[i])
	}
}

func larger[T ordered](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for len(a) >= 4 && len(b) >= 4 {
		x, y := (*[4]T)(a), (*[4]T)(b)
		y[0] = max(x[0], y[0])
		y[1] = max(x[1], y[1])
		y[2] = max(x[2], y[2])
		y[3] = max(x[3], y[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		b[i] = max(a[i], b[i])
	}
}

// words runs a bitwise operation on so many bytes, 64 at a time: it does not matter where elements begin.
func words(in, inout unsafe.Pointer, bytes int64, wide func(x, y *[8]uint64), narrow func(x, y byte) byte) {
	a, b := vectors[byte](in, inout, bytes)
	for len(a) >= 64 && len(b) >= 64 {
		wide((*[8]uint64)(unsafe.Pointer(&a[0])), (*[8]uint64)(unsafe.Pointer(&b[0])))
		a, b = a[64:], b[64:]
	}
	for i := range a {
		b[i] = narrow(a[i], b[i])
	}
}

func and8(x, y *[8]uint64) {
	y[0] &= x[0]
	y[1] &= x[1]
	y[2] &= x[2]
	y[3] &= x[3]
	y[4] &= x[4]
	y[5] &= x[5]
	y[6] &= x[6]
	y[7] &= x[7]
}

func or8(x, y *[8]uint64) {
	y[0] |= x[0]
	y[1] |= x[1]
	y[2] |= x[2]
	y[3] |= x[3]
	y[4] |= x[4]
	y[5] |= x[5]
	y[6] |= x[6]
	y[7] |= x[7]
}

func xor8(x, y *[8]uint64) {
	y[0] ^= x[0]
	y[1] ^= x[1]
	y[2] ^= x[2]
	y[3] ^= x[3]
	y[4] ^= x[4]
	y[5] ^= x[5]
	y[6] ^= x[6]
	y[7] ^= x[7]
}

func and1(x, y byte) byte { return x & y }
func or1(x, y byte) byte  { return x | y }
func xor1(x, y byte) byte { return x ^ y }

func band[T any](in, inout unsafe.Pointer, n int64) {
	words(in, inout, n*int64(unsafe.Sizeof(*new(T))), and8, and1)
}

func bor[T any](in, inout unsafe.Pointer, n int64) {
	words(in, inout, n*int64(unsafe.Sizeof(*new(T))), or8, or1)
}

func bxor[T any](in, inout unsafe.Pointer, n int64) {
	words(in, inout, n*int64(unsafe.Sizeof(*new(T))), xor8, xor1)
}

// The logical operations on C integers give 1 and 0, as C's operators do.

func land[T integer](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		b[i] = truth[T](a[i] != 0 && b[i] != 0)
	}
}

func lor[T integer](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		b[i] = truth[T](a[i]|b[i] != 0)
	}
}

func lxor[T integer](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	for i := range a {
		b[i] = truth[T]((a[i] != 0) != (b[i] != 0))
	}
}

func truth[T integer](b bool) T {
	if b {
		return 1
	}
	return 0
}

// Compilers differ in the bits of .TRUE. (1 or -1) and agree that .FALSE. is 0. The operations on logicals
// therefore answer one of their operands, or 0, and never make up a value.

func logicalAnd[T comparable](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	var no T
	for i := range a {
		if a[i] == no {
			b[i] = no
		}
	}
}

func logicalOr[T comparable](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	var no T
	for i := range a {
		if a[i] != no {
			b[i] = a[i]
		}
	}
}

func logicalXor[T comparable](in, inout unsafe.Pointer, n int64) {
	a, b := vectors[T](in, inout, n)
	var no T
	for i := range a {
		switch {
		case a[i] == no:
		case b[i] == no:
			b[i] = a[i]
		default:
			b[i] = no
		}
	}
}

var sums = [kinds]kernel{
	i8: sum[int8], i16: sum[int16], i32: sum[int32], i64: sum[int64], i128: softSum[int128],
	u8: sum[uint8], u16: sum[uint16], u32: sum[uint32], u64: sum[uint64],
	f16: softSum[float16], f32: sum[float32], f64: sum[float64], f80: softSum[float80], f128: softSum[float128],
	c32: softSum[cmplx[float16]], c64: sum[complex64], c128: sum[complex128],
	c160: softSum[cmplx[float80]], c256: softSum[cmplx[float128]],
}

var prods = [kinds]kernel{
	i8: prod[int8], i16: prod[int16], i32: prod[int32], i64: prod[int64], i128: softProd[int128],
	u8: prod[uint8], u16: prod[uint16], u32: prod[uint32], u64: prod[uint64],
	f16: softProd[float16], f32: prod[float32], f64: prod[float64], f80: softProd[float80], f128: softProd[float128],
	c32: softProd[cmplx[float16]], c64: prod[complex64], c128: prod[complex128],
	c160: softProd[cmplx[float80]], c256: softProd[cmplx[float128]],
}

var mins = [kinds]kernel{
	i8: smaller[int8], i16: smaller[int16], i32: smaller[int32], i64: smaller[int64], i128: softMin[int128],
	u8: smaller[uint8], u16: smaller[uint16], u32: smaller[uint32], u64: smaller[uint64],
	f16: softMin[float16], f32: smaller[float32], f64: smaller[float64], f80: softMin[float80], f128: softMin[float128],
}

var maxs = [kinds]kernel{
	i8: larger[int8], i16: larger[int16], i32: larger[int32], i64: larger[int64], i128: softMax[int128],
	u8: larger[uint8], u16: larger[uint16], u32: larger[uint32], u64: larger[uint64],
	f16: softMax[float16], f32: larger[float32], f64: larger[float64], f80: softMax[float80], f128: softMax[float128],
}

var bands = [kinds]kernel{
	i8: band[int8], i16: band[int16], i32: band[int32], i64: band[int64], i128: band[int128],
	u8: band[uint8], u16: band[uint16], u32: band[uint32], u64: band[uint64],
}

var bors = [kinds]kernel{
	i8: bor[int8], i16: bor[int16], i32: bor[int32], i64: bor[int64], i128: bor[int128],
	u8: bor[uint8], u16: bor[uint16], u32: bor[uint32], u64: bor[uint64],
}

var bxors = [kinds]kernel{
	i8: bxor[int8], i16: bxor[int16], i32: bxor[int32], i64: bxor[int64], i128: bxor[int128],
	u8: bxor[uint8], u16: bxor[uint16], u32: bxor[uint32], u64: bxor[uint64],
}

var lands = [kinds]kernel{
	i8: land[int8], i16: land[int16], i32: land[int32], i64: land[int64],
	u8: land[uint8], u16: land[uint16], u32: land[uint32], u64: land[uint64],
	l8: logicalAnd[uint8], l16: logicalAnd[uint16], l32: logicalAnd[uint32], l64: logicalAnd[uint64],
	l128: logicalAnd[int128],
}

var lors = [kinds]kernel{
	i8: lor[int8], i16: lor[int16], i32: lor[int32], i64: lor[int64],
	u8: lor[uint8], u16: lor[uint16], u32: lor[uint32], u64: lor[uint64],
	l8: logicalOr[uint8], l16: logicalOr[uint16], l32: logicalOr[uint32], l64: logicalOr[uint64], l128: logicalOr[int128],
}

var lxors = [kinds]kernel{
	i8: lxor[int8], i16: lxor[int16], i32: lxor[int32], i64: lxor[int64],
	u8: lxor[uint8], u16: lxor[uint16], u32: lxor[uint32], u64: lxor[uint64],
	l8: logicalXor[uint8], l16: logicalXor[uint16], l32: logicalXor[uint32], l64: logicalXor[uint64],
	l128: logicalXor[int128],
}
