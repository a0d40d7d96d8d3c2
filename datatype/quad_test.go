package datatype

import (
	"math/big"
	"math/rand"
	"testing"
)

const quadBias = 16383

// quadValue reads binary128 by its definition; it is nil for infinity and NaN.
func quadValue(high, low uint64) *big.Float {
	exp := int(high >> 48 & maxExponent)
	if exp == maxExponent {
		return nil
	}
	m := new(big.Int).SetUint64(high & (1<<48 - 1))
	m.Lsh(m, 64).Or(m, new(big.Int).SetUint64(low))
	if exp == 0 {
		exp = 1
	} else {
		m.SetBit(m, 112, 1)
	}
	return scaledFloat(m, exp-quadBias-112, high>>63 != 0)
}

func extendedValue(signExp uint16, mantissa uint64) *big.Float {
	exp := int(signExp & maxExponent)
	if exp == maxExponent {
		return nil
	}
	return scaledFloat(new(big.Int).SetUint64(mantissa), max(exp, 1)-quadBias-63, signExp>>15 != 0)
}

func scaledFloat(m *big.Int, exp int, negative bool) *big.Float {
	f := new(big.Float).SetPrec(200).SetInt(m)
	f.SetMantExp(f, exp)
	if negative {
		f.Neg(f)
	}
	return f
}

func TestWideningALongDoubleIsExactAndComesBack(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		signExp, mantissa := uint16(r.Uint32()), r.Uint64()|1<<63
		switch r.Intn(4) {
		case 0:
			signExp, mantissa = signExp&0x8000, mantissa&^(1<<63)
		case 1:
			signExp = signExp&0x8000 | uint16(1+r.Intn(3))
		}
		if signExp&maxExponent == maxExponent {
			continue
		}
		high, low := extendedToQuad(signExp, mantissa)
		if a, b := extendedValue(signExp, mantissa), quadValue(high, low); a.Cmp(b) != 0 {
			t.Fatalf("%04x %016x is %v, widened %v", signExp, mantissa, a, b)
		}
		if s, m := quadToExtended(high, low); s != signExp || m != mantissa {
			t.Fatalf("%04x %016x came back as %04x %016x", signExp, mantissa, s, m)
		}
	}
}

func TestNarrowingRoundsToNearestEven(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 20000 {
		high, low := r.Uint64(), r.Uint64()
		switch r.Intn(6) {
		case 0:
			low = low&^(1<<49-1) | 1<<48 // a tie
		case 1:
			high, low = high|1<<48-1, low|^uint64(1<<49-1)|1<<48 // rounds up to the next power of two
		case 2:
			high &= 1<<63 | 1<<48 - 1 // denormal
		case 3:
			high, low = high&(1<<63)|1<<48-1, ^uint64(0) // the largest denormal
		}
		exact := quadValue(high, low)
		signExp, mantissa := quadToExtended(high, low)
		got := extendedValue(signExp, mantissa)
		if exact == nil || got == nil {
			continue
		}
		if signExp&maxExponent != 0 && mantissa>>63 == 0 || signExp&maxExponent == 0 && mantissa>>63 != 0 {
			t.Fatalf("%016x %016x became %04x %016x, which is no number", high, low, signExp, mantissa)
		}
		ulp := scaledFloat(big.NewInt(1), max(int(signExp&maxExponent), 1)-quadBias-63, false)
		twice := new(big.Float).Sub(got, exact)
		twice.Abs(twice).Mul(twice, big.NewFloat(2))
		if c := twice.Cmp(ulp); c > 0 || c == 0 && mantissa&1 != 0 {
			t.Fatalf("%016x %016x is %v, became %v", high, low, exact, got)
		}
	}
}

func TestInfinitiesAndNaNStayWhatTheyAre(t *testing.T) {
	for _, e := range []struct {
		signExp   uint16
		mantissa  uint64
		high, low uint64
	}{
		{0x7fff, 1 << 63, 0x7fff << 48, 0},
		{0xffff, 1 << 63, 0xffff << 48, 0},
		{0x7fff, 3 << 62, 0x7fff8 << 44, 0},
		{0x0000, 0, 0, 0},
		{0x8000, 0, 1 << 63, 0},
	} {
		if h, l := extendedToQuad(e.signExp, e.mantissa); h != e.high || l != e.low {
			t.Errorf("%04x %016x widened to %016x %016x", e.signExp, e.mantissa, h, l)
		}
		if s, m := quadToExtended(e.high, e.low); s != e.signExp || m != e.mantissa {
			t.Errorf("%016x %016x narrowed to %04x %016x", e.high, e.low, s, m)
		}
	}
	if s, m := quadToExtended(0x7fff<<48, 1); s != 0x7fff || m<<1 == 0 {
		t.Error("a NaN with a small payload became infinity")
	}
	if h, l := extendedToQuad(0x4000, 1<<62); h<<1>>49 != maxExponent || h<<16|l == 0 {
		t.Error("an encoding without leading bit is not NaN")
	}
	if s, m := quadToExtended(0x7ffe<<48|1<<48-1, ^uint64(0)); s != 0x7fff || m != 1<<63 {
		t.Errorf("the largest binary128 became %04x %016x, not infinity", s, m)
	}
}
