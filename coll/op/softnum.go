package op

import (
	"math"
	"math/bits"
)

// Arithmetic in software, rounded to nearest even, for int128, float16, float80 (x87 extended) and float128
// (IEEE 754 binary128). A float is taken apart into a wide number with a 128-bit significand, which holds any
// of the formats with at least 15 bits to spare, so that one rounding at the end gives the exact result of
// IEEE 754: lost bits are kept as one sticky bit at the bottom.

// int128 is a two's complement number, low word first.
type int128 [2]uint64

func (a int128) add(b int128) int128 {
	lo, c := bits.Add64(a[0], b[0], 0)
	hi, _ := bits.Add64(a[1], b[1], c)
	return int128{lo, hi}
}

func (a int128) mul(b int128) int128 {
	hi, lo := bits.Mul64(a[0], b[0])
	return int128{lo, hi + a[0]*b[1] + a[1]*b[0]}
}

func (a int128) neg() int128 { return int128{^a[0], ^a[1]}.add(int128{1, 0}) }
func (a int128) nan() bool   { return false }

func (a int128) less(b int128) bool {
	if a[1] != b[1] {
		return int64(a[1]) < int64(b[1])
	}
	return a[0] < b[0]
}

// wide is a number (-1)^neg * hi:lo * 2^(exp-127), bit 127 of hi:lo set unless the number is zero; or an
// infinity, or not a number.
type wide struct {
	hi, lo   uint64
	exp      int
	neg      bool
	inf, nan bool
}

func (a wide) zero() bool { return a.hi|a.lo == 0 && !a.inf && !a.nan }

// normal moves the highest bit of the significand to bit 127.
func (a wide) normal() wide {
	switch {
	case a.hi|a.lo == 0:
		a.exp = 0
	case a.hi == 0:
		n := bits.LeadingZeros64(a.lo)
		a.hi, a.lo, a.exp = a.lo<<n, 0, a.exp-64-n
	default:
		n := bits.LeadingZeros64(a.hi)
		a.hi, a.lo, a.exp = a.hi<<n|a.lo>>(64-n), a.lo<<n, a.exp-n
	}
	return a
}

// shiftRight shifts hi:lo by n and keeps a sticky bit of what falls out.
func shiftRight(hi, lo uint64, n int) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		return hi >> n, hi<<(64-n) | lo>>n | sticky(lo<<(64-n))
	case n == 64:
		return 0, hi | sticky(lo)
	case n < 128:
		return 0, hi>>(n-64) | sticky(hi<<(128-n)|lo)
	}
	return 0, sticky(hi | lo)
}

func sticky(x uint64) uint64 {
	if x != 0 {
		return 1
	}
	return 0
}

func (a wide) add(b wide) wide {
	switch {
	case a.nan || b.nan || a.inf && b.inf && a.neg != b.neg:
		return wide{nan: true}
	case a.inf:
		return a
	case b.inf:
		return b
	case a.zero() && b.zero():
		return wide{neg: a.neg && b.neg}
	case a.zero():
		return b
	case b.zero():
		return a
	}
	if a.magnitudeLess(b) {
		a, b = b, a
	}
	ahi, alo := shiftRight(a.hi, a.lo, 1)
	bhi, blo := shiftRight(b.hi, b.lo, 1+a.exp-b.exp)
	r := wide{neg: a.neg, exp: a.exp + 1}
	var c uint64
	if a.neg == b.neg {
		r.lo, c = bits.Add64(alo, blo, 0)
		r.hi, _ = bits.Add64(ahi, bhi, c)
	} else {
		r.lo, c = bits.Sub64(alo, blo, 0)
		r.hi, _ = bits.Sub64(ahi, bhi, c)
		if r.hi|r.lo == 0 {
			return wide{}
		}
	}
	return r.normal()
}

func (a wide) mul(b wide) wide {
	neg := a.neg != b.neg
	switch {
	case a.nan || b.nan || a.inf && b.zero() || a.zero() && b.inf:
		return wide{nan: true}
	case a.inf || b.inf:
		return wide{inf: true, neg: neg}
	case a.zero() || b.zero():
		return wide{neg: neg}
	}
	h0, w0 := bits.Mul64(a.lo, b.lo)
	h1, l1 := bits.Mul64(a.lo, b.hi)
	h2, l2 := bits.Mul64(a.hi, b.lo)
	h3, l3 := bits.Mul64(a.hi, b.hi)
	w1, c1 := bits.Add64(h0, l1, 0)
	w1, c2 := bits.Add64(w1, l2, 0)
	w2, c3 := bits.Add64(l3, h1, c1)
	w2, c4 := bits.Add64(w2, h2, c2)
	w3 := h3 + c3 + c4
	r := wide{hi: w3, lo: w2, exp: a.exp + b.exp + 1, neg: neg}
	if w3>>63 == 0 {
		r.hi, r.lo, r.exp = w3<<1|w2>>63, w2<<1|w1>>63, r.exp-1
		w1 <<= 1
	}
	r.lo |= sticky(w1 | w0)
	return r
}

func (a wide) magnitudeLess(b wide) bool {
	if a.exp != b.exp {
		return a.exp < b.exp
	}
	if a.hi != b.hi {
		return a.hi < b.hi
	}
	return a.lo < b.lo
}

func (a wide) less(b wide) bool {
	switch {
	case a.nan || b.nan || a.zero() && b.zero():
		return false
	case a.zero():
		return !b.neg
	case b.zero():
		return a.neg
	case a.neg != b.neg:
		return a.neg
	}
	if a.neg {
		a, b = b, a
	}
	switch {
	case a.inf:
		return false
	case b.inf:
		return true
	}
	return a.magnitudeLess(b)
}

// round gives the biased exponent and the significand, with its leading bit at bit precision-1, of the
// number in a format with the given precision and bias. Subnormals have exponent 0; an overflow is infinite.
func (a wide) round(precision, bias int) (exp int, hi, lo uint64, inf bool) {
	if a.zero() {
		return 0, 0, 0, false
	}
	if a.inf {
		return 0, 0, 0, true
	}
	exp = a.exp + bias
	shift := 128 - precision
	if exp < 1 {
		shift += 1 - exp
		exp = 1
	}
	hi, lo = shiftRight(a.hi, a.lo, shift-2)
	rest := lo & 3
	lo, hi = lo>>2|hi<<62, hi>>2
	if rest == 3 || rest == 2 && lo&1 == 1 {
		var c uint64
		lo, c = bits.Add64(lo, 1, 0)
		hi += c
	}
	if length(hi, lo) > precision {
		hi, lo = shiftRight(hi, lo, 1)
		exp++
	} else if length(hi, lo) < precision {
		exp = 0
	}
	return exp, hi, lo, exp > 2*bias
}

func length(hi, lo uint64) int {
	if hi != 0 {
		return 64 + bits.Len64(hi)
	}
	return bits.Len64(lo)
}

// float80 is the x87 format in 16 bytes: significand with its integer bit, then sign and exponent; the upper
// six bytes mean nothing.
type float80 [2]uint64

const quad80 = 0x7fff

func (a float80) wide() wide {
	exp := int(a[1] & quad80)
	w := wide{neg: a[1]>>15&1 == 1}
	switch {
	case exp == quad80:
		w.inf = a[0] == 1<<63
		w.nan = !w.inf
		return w
	case exp == 0:
		exp = 1
	case a[0]>>63 == 0: // an unnormal, which the processor refuses as well
		w.nan = true
		return w
	}
	w.hi, w.exp = a[0], exp-16383
	return w.normal()
}

func (w wide) float80() float80 {
	sign := uint64(0)
	if w.neg {
		sign = 1 << 15
	}
	if w.nan {
		return float80{3 << 62, sign | quad80}
	}
	exp, _, lo, inf := w.round(64, 16383)
	if inf {
		return float80{1 << 63, sign | quad80}
	}
	return float80{lo, sign | uint64(exp)}
}

func (a float80) add(b float80) float80 { return a.wide().add(b.wide()).float80() }
func (a float80) mul(b float80) float80 { return a.wide().mul(b.wide()).float80() }
func (a float80) less(b float80) bool   { return a.wide().less(b.wide()) }
func (a float80) nan() bool             { return a.wide().nan }
func (a float80) neg() float80          { return float80{a[0], a[1] ^ 1<<15} }

// float128 is IEEE 754 binary128, low word first.
type float128 [2]uint64

func (a float128) wide() wide {
	exp := int(a[1] >> 48 & 0x7fff)
	w := wide{neg: a[1]>>63 == 1, hi: a[1] & (1<<48 - 1), lo: a[0]}
	if exp == 0x7fff {
		w.inf = w.hi|w.lo == 0
		w.nan = !w.inf
		w.hi, w.lo = 0, 0
		return w
	}
	if exp == 0 {
		exp = 1
	} else {
		w.hi |= 1 << 48
	}
	w.hi, w.lo, w.exp = w.hi<<15|w.lo>>49, w.lo<<15, exp-16383
	return w.normal()
}

func (w wide) float128() float128 {
	sign := uint64(0)
	if w.neg {
		sign = 1 << 63
	}
	if w.nan {
		return float128{0, sign | 0x7fff8<<44}
	}
	exp, hi, lo, inf := w.round(113, 16383)
	if inf {
		return float128{0, sign | 0x7fff<<48}
	}
	return float128{lo, sign | uint64(exp)<<48 | hi&(1<<48-1)}
}

func (a float128) add(b float128) float128 { return a.wide().add(b.wide()).float128() }
func (a float128) mul(b float128) float128 { return a.wide().mul(b.wide()).float128() }
func (a float128) less(b float128) bool    { return a.wide().less(b.wide()) }
func (a float128) nan() bool               { return a.wide().nan }
func (a float128) neg() float128           { return float128{a[0], a[1] ^ 1<<63} }

// float16 is IEEE 754 binary16. Sums and products of two are exact in a float64.
type float16 uint16

func (a float16) float64() float64 {
	exp, frac := int(a>>10&31), float64(a&1023)
	var x float64
	switch exp {
	case 31:
		if x = math.Inf(1); frac != 0 {
			return math.NaN()
		}
	case 0:
		x = frac * 0x1p-24
	default:
		x = math.Ldexp(1024+frac, exp-25)
	}
	return math.Copysign(x, float64(1-2*int(a>>15)))
}

func half(x float64) float16 {
	sign := float16(math.Float64bits(x) >> 48 & 0x8000)
	switch {
	case x != x:
		return sign | 0x7e00
	case math.IsInf(x, 0):
		return sign | 0x7c00
	case x == 0:
		return sign
	}
	frac, exp := math.Frexp(math.Abs(x))
	w := wide{hi: uint64(math.Ldexp(frac, 64)), exp: exp - 1}
	e, _, lo, inf := w.round(11, 15)
	if inf {
		return sign | 0x7c00
	}
	return sign | float16(e)<<10 | float16(lo&1023)
}

func (a float16) add(b float16) float16 { return half(a.float64() + b.float64()) }
func (a float16) mul(b float16) float16 { return half(a.float64() * b.float64()) }
func (a float16) less(b float16) bool   { return a.float64() < b.float64() }
func (a float16) nan() bool             { return a&0x7fff > 0x7c00 }
func (a float16) neg() float16          { return a ^ 0x8000 }
