package datatype

import "math/bits"

// The 80-bit extended format of x86 and IEEE binary128 have the same sign and exponent. The one shows the leading bit
// of its 64-bit mantissa, the other hides it before 112 bits of fraction. Widening is exact; narrowing rounds to
// nearest, ties to even.

const maxExponent = 0x7fff

// extendedToQuad widens. Encodings that are no number (leading bit missing) become NaN.
func extendedToQuad(signExp uint16, mantissa uint64) (high, low uint64) {
	sign, exp := uint64(signExp>>15)<<63, uint64(signExp&maxExponent)
	fraction := mantissa &^ (1 << 63)
	switch leading := mantissa>>63 != 0; {
	case exp == 0 && leading: // pseudo-denormal: the value of exponent 1
		exp = 1
	case exp != 0 && !leading:
		exp, fraction = maxExponent, 1<<62
	}
	return sign | exp<<48 | fraction>>15, fraction << 49
}

// quadToExtended narrows. It may round up to infinity; a NaN stays one.
func quadToExtended(high, low uint64) (signExp uint16, mantissa uint64) {
	sign, exp := uint16(high>>63)<<15, uint16(high>>48)&maxExponent
	fraction := high<<16>>1 | low>>49 // the upper 63 bits of 112
	rest := low << 15                 // the lower 49, against a half of 1<<63
	switch {
	case exp == maxExponent && fraction|rest == 0:
		return sign | exp, 1 << 63
	case exp == maxExponent:
		if fraction == 0 {
			fraction = 1 << 62
		}
		return sign | exp, 1<<63 | fraction
	}
	mantissa = fraction
	if exp != 0 {
		mantissa |= 1 << 63
	}
	if rest > 1<<63 || rest == 1<<63 && fraction&1 != 0 {
		var carry uint64
		if mantissa, carry = bits.Add64(mantissa, 1, 0); carry != 0 {
			mantissa, exp = 1<<63, exp+1
		}
	}
	if exp == 0 && mantissa>>63 != 0 { // the largest denormal rounded up to the smallest normal number
		exp = 1
	}
	return sign | exp, mantissa
}
