package op

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// apply runs a predefined operation on slices of Go values.
func apply[T any](t *testing.T, handle, typ int, in, inout []T) []T {
	t.Helper()
	got := append([]T(nil), inout...)
	o := Predefined(handle)
	if o == nil {
		t.Fatalf("operation %#x is missing", handle)
	}
	if err := o.Apply(at(in), at(got), int64(len(got)), datatype.Named(typ)); err != nil {
		t.Fatalf("operation %#x on %#x: %v", handle, typ, err)
	}
	return got
}

func expect[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

// checkIntegers runs every operation of integers against plain Go, on lengths that meet the unrolled loops
// and their ends.
func checkIntegers[T integer](t *testing.T, handles []int, bitwiseToo, logicalToo bool) {
	ops := map[int]func(a, b T) T{
		abi.MPI_SUM:  func(a, b T) T { return a + b },
		abi.MPI_PROD: func(a, b T) T { return a * b },
		abi.MPI_MIN:  func(a, b T) T { return min(a, b) },
		abi.MPI_MAX:  func(a, b T) T { return max(a, b) },
	}
	if bitwiseToo {
		ops[abi.MPI_BAND] = func(a, b T) T { return a & b }
		ops[abi.MPI_BOR] = func(a, b T) T { return a | b }
		ops[abi.MPI_BXOR] = func(a, b T) T { return a ^ b }
	}
	if logicalToo {
		ops[abi.MPI_LAND] = func(a, b T) T { return truth[T](a != 0 && b != 0) }
		ops[abi.MPI_LOR] = func(a, b T) T { return truth[T](a != 0 || b != 0) }
		ops[abi.MPI_LXOR] = func(a, b T) T { return truth[T]((a != 0) != (b != 0)) }
	}
	for _, n := range []int{0, 1, 7, 8, 9, 64, 131} {
		a, b := make([]T, n), make([]T, n)
		for i := range a {
			a[i], b[i] = T(rand.Uint64()), T(rand.Uint64())
			if i%3 == 0 {
				a[i] = 0
			}
			if i%5 == 0 {
				b[i] = 0
			}
		}
		for _, h := range handles {
			for op, f := range ops {
				want := make([]T, n)
				for i := range want {
					want[i] = f(a[i], b[i])
				}
				expect(t, fmt.Sprintf("op %#x on %#x, n=%d", op, h, n), apply(t, op, h, a, b), want)
			}
		}
	}
}

func TestIntegersAgreeWithGo(t *testing.T) {
	checkIntegers[int8](t, []int{abi.MPI_SIGNED_CHAR, abi.MPI_INT8_T}, true, true)
	checkIntegers[int16](t, []int{abi.MPI_SHORT, abi.MPI_INT16_T}, true, true)
	checkIntegers[int32](t, []int{abi.MPI_INT, abi.MPI_INT32_T}, true, true)
	checkIntegers[int64](t, []int{abi.MPI_LONG, abi.MPI_LONG_LONG, abi.MPI_INT64_T}, true, true)
	checkIntegers[uint8](t, []int{abi.MPI_UNSIGNED_CHAR, abi.MPI_UINT8_T}, true, true)
	checkIntegers[uint16](t, []int{abi.MPI_UNSIGNED_SHORT, abi.MPI_UINT16_T}, true, true)
	checkIntegers[uint32](t, []int{abi.MPI_UNSIGNED, abi.MPI_UINT32_T}, true, true)
	checkIntegers[uint64](t, []int{abi.MPI_UNSIGNED_LONG, abi.MPI_UNSIGNED_LONG_LONG, abi.MPI_UINT64_T}, true, true)
	checkIntegers[int32](t, []int{abi.MPI_INTEGER, abi.MPI_INTEGER4}, true, false)
	checkIntegers[int8](t, []int{abi.MPI_INTEGER1}, true, false)
	checkIntegers[int16](t, []int{abi.MPI_INTEGER2}, true, false)
	checkIntegers[int64](t, []int{abi.MPI_INTEGER8, abi.MPI_AINT, abi.MPI_OFFSET, abi.MPI_COUNT}, true, false)
}

func TestFloatsAgreeWithGo(t *testing.T) {
	for _, h := range []int{abi.MPI_DOUBLE, abi.MPI_DOUBLE_PRECISION, abi.MPI_REAL8} {
		a, b := make([]float64, 37), make([]float64, 37)
		s, p, lo, hi := make([]float64, 37), make([]float64, 37), make([]float64, 37), make([]float64, 37)
		for i := range a {
			a[i], b[i] = rand.NormFloat64(), rand.NormFloat64()
			s[i], p[i], lo[i], hi[i] = a[i]+b[i], a[i]*b[i], min(a[i], b[i]), max(a[i], b[i])
		}
		expect(t, "sum", apply(t, abi.MPI_SUM, h, a, b), s)
		expect(t, "prod", apply(t, abi.MPI_PROD, h, a, b), p)
		expect(t, "min", apply(t, abi.MPI_MIN, h, a, b), lo)
		expect(t, "max", apply(t, abi.MPI_MAX, h, a, b), hi)
	}
	for _, h := range []int{abi.MPI_FLOAT, abi.MPI_REAL, abi.MPI_REAL4} {
		expect(t, "sum", apply(t, abi.MPI_SUM, h, []float32{1, 2.5}, []float32{3, 4}), []float32{4, 6.5})
		expect(t, "max", apply(t, abi.MPI_MAX, h, []float32{1, 2.5}, []float32{3, -4}), []float32{3, 2.5})
	}
}

func TestComplexNumbersAreAddedAndMultiplied(t *testing.T) {
	for _, h := range []int{abi.MPI_C_DOUBLE_COMPLEX, abi.MPI_CXX_DOUBLE_COMPLEX, abi.MPI_DOUBLE_COMPLEX,
		abi.MPI_COMPLEX16} {
		a, b := []complex128{1 + 2i, 3 - 1i}, []complex128{-2 + 5i, 2 + 2i}
		expect(t, "sum", apply(t, abi.MPI_SUM, h, a, b), []complex128{-1 + 7i, 5 + 1i})
		expect(t, "prod", apply(t, abi.MPI_PROD, h, a, b), []complex128{-12 + 1i, 8 + 4i})
	}
	for _, h := range []int{abi.MPI_COMPLEX, abi.MPI_C_COMPLEX, abi.MPI_CXX_FLOAT_COMPLEX, abi.MPI_COMPLEX8} {
		expect(t, "prod", apply(t, abi.MPI_PROD, h, []complex64{1 + 2i}, []complex64{-2 + 5i}), []complex64{-12 + 1i})
	}
	x := func(f float64) float80 { return wideOf(f).float80() }
	q := func(f float64) float128 { return wideOf(f).float128() }
	if x87 {
		got := apply(t, abi.MPI_PROD, abi.MPI_C_LONG_DOUBLE_COMPLEX, []cmplx[float80]{{x(1), x(2)}},
			[]cmplx[float80]{{x(-2), x(5)}})
		expect(t, "long double complex", got, []cmplx[float80]{{x(-12), x(1)}})
	}
	a, b := cmplx[float128]{q(1), q(2)}, cmplx[float128]{q(-2), q(5)}
	expect(t, "quad complex", []cmplx[float128]{a.mul(b), a.add(b)}, []cmplx[float128]{{q(-12), q(1)}, {q(-1), q(7)}})
}

func wideOf(f float64) wide {
	switch {
	case math.IsNaN(f):
		return wide{nan: true}
	case math.IsInf(f, 0):
		return wide{inf: true, neg: f < 0}
	case f == 0:
		return wide{neg: math.Signbit(f)}
	}
	frac, exp := math.Frexp(math.Abs(f))
	return wide{hi: uint64(math.Ldexp(frac, 64)), exp: exp - 1, neg: f < 0}
}

// bigOf is the exact value of a finite wide number.
func bigOf(w wide) *big.Float {
	m := new(big.Int).SetUint64(w.hi)
	m.Lsh(m, 64).Or(m, new(big.Int).SetUint64(w.lo))
	x := new(big.Float).SetPrec(4096).SetInt(m)
	x.SetMantExp(x, w.exp-127)
	if w.neg {
		x.Neg(x)
	}
	return x
}

// rounded rounds an exact value to a format by means of math/big: the oracle of the software arithmetic.
func rounded(x *big.Float, precision, bias int) (v *big.Float, inf bool) {
	if x.Sign() == 0 {
		return x, false
	}
	emin := 1 - bias
	exp := x.MantExp(nil) - 1
	p := precision
	if exp < emin {
		p -= emin - exp
	}
	if p <= 0 {
		// Below or in the lowest half unit: compare with half of the smallest subnormal.
		tiny := new(big.Float).SetMantExp(big.NewFloat(1), emin-precision+1)
		if new(big.Float).Abs(x).Cmp(new(big.Float).SetMantExp(tiny, -1)) <= 0 {
			return new(big.Float), false
		}
		if x.Signbit() {
			tiny.Neg(tiny)
		}
		return tiny, false
	}
	r := new(big.Float).SetPrec(uint(p)).SetMode(big.ToNearestEven).Set(x)
	return r, r.MantExp(nil)-1 > bias
}

func checkSoft[T real[T]](t *testing.T, name string, precision, bias int, draw func() T, take func(T) wide) {
	for range 20000 {
		a, b := draw(), draw()
		x, y := take(a), take(b)
		if x.nan || y.nan || x.inf || y.inf {
			continue
		}
		p, q := bigOf(x), bigOf(y)
		for op, got := range []wide{take(a.add(b)), take(a.mul(b))} {
			exact := new(big.Float).SetPrec(0)
			exact.SetPrec(80000)
			if op == 0 {
				exact.Add(p, q)
			} else {
				exact.Mul(p, q)
			}
			want, inf := rounded(exact, precision, bias)
			if got.nan || got.inf != inf || !inf && bigOf(got).Cmp(want) != 0 {
				t.Fatalf("%s: operation %d on %+v and %+v gives %+v, want %v", name, op, x, y, got, want.Text('p', 0))
			}
		}
		if a.less(b) != (p.Cmp(q) < 0) {
			t.Fatalf("%s: %+v < %+v is %v", name, x, y, a.less(b))
		}
	}
}

// exponents are drawn close together, and at both ends of the range.
func drawExp(limit int) uint64 {
	switch rand.IntN(4) {
	case 0:
		return uint64(rand.IntN(80))
	case 1:
		return uint64(limit - 1 - rand.IntN(80))
	case 2:
		return uint64(limit/4 + rand.IntN(200))
	}
	return uint64(limit/2 + rand.IntN(140) - 70)
}

func drawBits() uint64 {
	x := rand.Uint64()
	switch rand.IntN(4) {
	case 0:
		return x & -x
	case 1:
		return ^uint64(0) << rand.IntN(64)
	case 2:
		return ^uint64(0) >> rand.IntN(64)
	}
	return x
}

func TestSoftwareArithmeticRoundsAsIEEE754(t *testing.T) {
	checkSoft(t, "x87", 64, 16383, func() float80 {
		exp, m := drawExp(0x7fff), drawBits()
		if exp != 0 {
			m |= 1 << 63
		}
		return float80{m, exp | uint64(rand.IntN(2))<<15}
	}, float80.wide)
	checkSoft(t, "binary128", 113, 16383, func() float128 {
		return float128{drawBits(), drawExp(0x7fff)<<48 | drawBits()>>16 | uint64(rand.IntN(2))<<63}
	}, float128.wide)
	checkSoft(t, "binary16", 11, 15, func() float16 { return float16(rand.Uint32()) },
		func(a float16) wide { return wideOf(a.float64()) })
}

func TestSoftwareArithmeticOnSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	zero := math.Copysign(0, -1)
	values := []float64{0, zero, 1, -1, inf, -inf, nan, 0.5, 3}
	same := func(w wide, f float64) bool {
		g := wideOf(f)
		return w == g || w.nan && g.nan
	}
	for _, a := range values {
		for _, b := range values {
			x, y := wideOf(a), wideOf(b)
			if got := x.float80().add(y.float80()).wide(); !same(got, a+b) {
				t.Errorf("x87: %v + %v = %+v", a, b, got)
			}
			if got := x.float80().mul(y.float80()).wide(); !same(got, a*b) {
				t.Errorf("x87: %v * %v = %+v", a, b, got)
			}
			if got := x.float128().add(y.float128()).wide(); !same(got, a+b) {
				t.Errorf("binary128: %v + %v = %+v", a, b, got)
			}
			if got := half(a).add(half(b)).float64(); !same(wideOf(got), a+b) {
				t.Errorf("binary16: %v + %v = %v", a, b, got)
			}
			if x.float80().less(y.float80()) != (a < b) || x.float128().less(y.float128()) != (a < b) {
				t.Errorf("%v < %v is wrong", a, b)
			}
		}
	}
	if !(float80{1 << 62, 0x3fff}).nan() {
		t.Error("an unnormal counts as a number")
	}
}

func TestHalfPrecisionIsReadAndWrittenExactly(t *testing.T) {
	for i := range 1 << 16 {
		a := float16(i)
		if back := half(a.float64()); back != a && !a.nan() {
			t.Fatalf("%#x -> %v -> %#x", i, a.float64(), back)
		}
	}
}

func TestLongDoubleOperations(t *testing.T) {
	if !x87 {
		t.Skip("long double is not the x87 format here")
	}
	x := func(f float64) float80 { return wideOf(f).float80() }
	a, b := []float80{x(1), x(-3), x(8)}, []float80{x(0x1p-63), x(5), x(8)}
	one := float80{1<<63 + 1, 0x3fff} // 1 + 2^-63: more than a double can hold
	expect(t, "sum", apply(t, abi.MPI_SUM, abi.MPI_LONG_DOUBLE, a, b), []float80{one, x(2), x(16)})
	expect(t, "prod", apply(t, abi.MPI_PROD, abi.MPI_LONG_DOUBLE, a, b), []float80{x(0x1p-63), x(-15), x(64)})
	expect(t, "min", apply(t, abi.MPI_MIN, abi.MPI_LONG_DOUBLE, a, b), []float80{x(0x1p-63), x(-3), x(8)})
	expect(t, "max", apply(t, abi.MPI_MAX, abi.MPI_LONG_DOUBLE, a, b), []float80{x(1), x(5), x(8)})
	type li = longPair[float80]
	p, q := []li{{v: x(2), i: 7}, {v: x(1), i: 5}, {v: x(4), i: 3}}, []li{{v: x(2), i: 6}, {v: x(3), i: 1},
		{v: x(3), i: 2}}
	expect(t, "minloc", apply(t, abi.MPI_MINLOC, abi.MPI_LONG_DOUBLE_INT, p, q), []li{q[0], p[1], q[2]})
	expect(t, "maxloc", apply(t, abi.MPI_MAXLOC, abi.MPI_LONG_DOUBLE_INT, p, q), []li{q[0], q[1], p[2]})
}

func Test128BitIntegersComputeAsBigOnesDo(t *testing.T) {
	toBig := func(a int128) *big.Int {
		x := new(big.Int).Lsh(big.NewInt(int64(a[1])), 64)
		return x.Add(x, new(big.Int).SetUint64(a[0]))
	}
	wrap := func(x *big.Int) *big.Int {
		return x.And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1)))
	}
	for range 1000 {
		a, b := int128{rand.Uint64(), rand.Uint64()}, int128{rand.Uint64(), rand.Uint64()}
		x, y := toBig(a), toBig(b)
		if wrap(toBig(a.add(b))).Cmp(wrap(new(big.Int).Add(x, y))) != 0 ||
			wrap(toBig(a.mul(b))).Cmp(wrap(new(big.Int).Mul(x, y))) != 0 ||
			a.less(b) != (x.Cmp(y) < 0) {
			t.Fatalf("%x and %x", a, b)
		}
	}
}

func checkPairs[V, I ordered](t *testing.T, handle int) {
	type p = pair[V, I]
	a := []p{{2, 7}, {1, 5}, {4, 3}, {2, 1}}
	b := []p{{2, 6}, {3, 1}, {3, 2}, {2, 4}}
	expect(t, "minloc", apply(t, abi.MPI_MINLOC, handle, a, b), []p{{2, 6}, {1, 5}, {3, 2}, {2, 1}})
	expect(t, "maxloc", apply(t, abi.MPI_MAXLOC, handle, a, b), []p{{2, 6}, {3, 1}, {4, 3}, {2, 1}})
}

func TestPairsKeepTheSmallerIndexOfEqualValues(t *testing.T) {
	checkPairs[float32, int32](t, abi.MPI_FLOAT_INT)
	checkPairs[float64, int32](t, abi.MPI_DOUBLE_INT)
	checkPairs[int64, int32](t, abi.MPI_LONG_INT)
	checkPairs[int32, int32](t, abi.MPI_2INT)
	checkPairs[int16, int32](t, abi.MPI_SHORT_INT)
	checkPairs[float32, float32](t, abi.MPI_2REAL)
	checkPairs[float64, float64](t, abi.MPI_2DOUBLE_PRECISION)
	checkPairs[int32, int32](t, abi.MPI_2INTEGER)
	checkPairs[int64, int64](t, datatype.TwoInteger8)
}

func TestLogicalsKeepTheirCompilersTrue(t *testing.T) {
	const T = 0xffffffff // .TRUE. of a compiler that sets all bits
	a, b := []uint32{0, 0, T, T}, []uint32{0, T, 0, T}
	for _, h := range []int{abi.MPI_LOGICAL, abi.MPI_LOGICAL4} {
		expect(t, "and", apply(t, abi.MPI_LAND, h, a, b), []uint32{0, 0, 0, T})
		expect(t, "or", apply(t, abi.MPI_LOR, h, a, b), []uint32{0, T, T, T})
		expect(t, "xor", apply(t, abi.MPI_LXOR, h, a, b), []uint32{0, T, T, 0})
	}
	for _, h := range []int{abi.MPI_C_BOOL, abi.MPI_CXX_BOOL, abi.MPI_LOGICAL1} {
		expect(t, "xor", apply(t, abi.MPI_LXOR, h, []uint8{0, 0, 1, 1}, []uint8{0, 1, 0, 1}), []uint8{0, 1, 1, 0})
	}
}

func TestRunsAreCombinedAsVectorsAre(t *testing.T) {
	const double = 8
	element := datatype.Named(abi.MPI_DOUBLE)
	offs, lens, total := []int64{320, 0, 16, 2048}, []int64{1, 2, 3, 500}, 506
	for i := range offs {
		lens[i] *= double
	}
	for _, handle := range []int{abi.MPI_SUM, abi.MPI_MAX, abi.MPI_REPLACE, abi.MPI_NO_OP, abi.MPI_BAND} {
		in, got := make([]float64, total), make([]float64, 800)
		for i := range in {
			in[i] = float64(i%7) - 3
		}
		for i := range got {
			got[i] = float64(i % 5)
		}
		want, from := slices.Clone(got), in
		var refused error
		for i, off := range offs {
			n := lens[i] / double
			refused = Predefined(handle).Apply(at(from), at(want[off/double:]), n, element)
			from = from[n:]
		}
		err := ApplyRuns(Predefined(handle), at(in), at(got), offs, lens, element)
		if (err == nil) != (refused == nil) {
			t.Errorf("op %#x: %v, want %v", handle, err, refused)
		}
		expect(t, fmt.Sprintf("op %#x", handle), got, want)
	}
}

func TestReplaceAndNoOp(t *testing.T) {
	a, b := []int32{1, 2}, []int32{3, 4}
	expect(t, "replace", apply(t, abi.MPI_REPLACE, abi.MPI_INT, a, b), a)
	expect(t, "no op", apply(t, abi.MPI_NO_OP, abi.MPI_INT, a, b), b)
	expect(t, "replace", apply(t, abi.MPI_REPLACE, abi.MPI_CHAR, []byte("ab"), []byte("cd")), []byte("ab"))
}

// The table of MPI 5.0, 6.9.2, by example; and what other libraries take beyond it.
func TestOperationsAcceptTheTypesOfTheStandard(t *testing.T) {
	types := []int{abi.MPI_INT, abi.MPI_INTEGER, abi.MPI_DOUBLE, abi.MPI_C_BOOL, abi.MPI_C_DOUBLE_COMPLEX, abi.MPI_BYTE,
		abi.MPI_AINT, abi.MPI_2INT, abi.MPI_CHAR}
	allowed := map[int]string{
		abi.MPI_SUM: "111010100", abi.MPI_PROD: "111010100", abi.MPI_MIN: "111000100", abi.MPI_MAX: "111000100",
		abi.MPI_BAND: "110001100", abi.MPI_BOR: "110001100", abi.MPI_BXOR: "110001100",
		abi.MPI_LAND: "100100100", abi.MPI_LOR: "100100100", abi.MPI_LXOR: "100100100", // addresses, too, as elsewhere
		abi.MPI_MINLOC: "000000010", abi.MPI_MAXLOC: "000000010",
		abi.MPI_REPLACE: "111111111", abi.MPI_NO_OP: "111111111",
	}
	derived, err := datatype.Contiguous(2, datatype.Named(abi.MPI_INT))
	if err != nil {
		t.Fatal(err)
	}
	for op, want := range allowed {
		for i, h := range types {
			if ok := Check(op, datatype.Named(h)) == nil; ok != (want[i] == '1') {
				t.Errorf("op %#x on type %#x: accepted is %v", op, h, ok)
			}
		}
		var e *coll.Error
		if err := Check(op, derived); !errors.As(err, &e) || e.Class != abi.MPI_ERR_OP {
			t.Errorf("op %#x on a derived type: %v", op, err)
		}
		var x [2]int32
		if err := Predefined(op).Apply(at(x[:]), at(x[:]), 1, derived); !errors.As(err, &e) || e.Class != abi.MPI_ERR_OP {
			t.Errorf("op %#x applied to a derived type: %v", op, err)
		}
	}
	for _, h := range []int{0, -1, abi.MPI_OP_NULL, 0x25, 0x3b, 0x3e, 0x7fffffff} {
		if Predefined(h) != nil {
			t.Errorf("%#x is an operation", h)
		}
	}
}

// Every operation has a kernel for every type that it accepts.
func TestNoKernelIsMissing(t *testing.T) {
	for i := range table {
		o := &table[i]
		if o.handle == 0 || o.handle == abi.MPI_REPLACE || o.handle == abi.MPI_NO_OP {
			continue
		}
		for h, c := range classes {
			if c.group&o.groups != 0 && o.kernels[c.kind] == nil {
				t.Errorf("%s has no kernel for type %#x", o.name, h+firstType)
			}
		}
	}
}

func TestApplyDoesNotAllocate(t *testing.T) {
	a, b := make([]float64, 16), make([]float64, 16)
	o, typ := Predefined(abi.MPI_SUM), datatype.Named(abi.MPI_DOUBLE)
	if n := testing.AllocsPerRun(100, func() { o.Apply(at(a), at(b), 16, typ) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// benchmark reports the best of many short runs in cache, which a busy machine does not disturb, as bytes of
// memory touched: two vectors read and one written.
func benchmark[T any](b *testing.B, op, typ int) {
	const n, batch = 1024, 16
	x, y := make([]T, n), make([]T, n)
	o, t := Predefined(op), datatype.Named(typ)
	best := time.Hour
	for b.Loop() {
		start := time.Now()
		for range batch {
			o.Apply(at(x), at(y), n, t)
		}
		best = min(best, time.Since(start))
	}
	b.ReportMetric(float64(3*n*batch*t.Size())/float64(best.Nanoseconds()), "GB/s")
}

func BenchmarkSumDouble(b *testing.B) { benchmark[float64](b, abi.MPI_SUM, abi.MPI_DOUBLE) }
func BenchmarkSumFloat(b *testing.B)  { benchmark[float32](b, abi.MPI_SUM, abi.MPI_FLOAT) }
func BenchmarkSumInt(b *testing.B)    { benchmark[int32](b, abi.MPI_SUM, abi.MPI_INT) }
func BenchmarkSumComplex(b *testing.B) {
	benchmark[complex128](b, abi.MPI_SUM, abi.MPI_C_DOUBLE_COMPLEX)
}
func BenchmarkProdDouble(b *testing.B)    { benchmark[float64](b, abi.MPI_PROD, abi.MPI_DOUBLE) }
func BenchmarkMaxDouble(b *testing.B)     { benchmark[float64](b, abi.MPI_MAX, abi.MPI_DOUBLE) }
func BenchmarkMaxInt(b *testing.B)        { benchmark[int32](b, abi.MPI_MAX, abi.MPI_INT) }
func BenchmarkBxorInt(b *testing.B)       { benchmark[int32](b, abi.MPI_BXOR, abi.MPI_INT) }
func BenchmarkLandInt(b *testing.B)       { benchmark[int32](b, abi.MPI_LAND, abi.MPI_INT) }
func BenchmarkSumLongDouble(b *testing.B) { benchmark[float80](b, abi.MPI_SUM, abi.MPI_LONG_DOUBLE) }
