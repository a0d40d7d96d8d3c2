package fortran

import (
	"fmt"
	"slices"
	"strings"
)

// Kinds are the lengths in bytes of INTEGER and LOGICAL, REAL, and DOUBLE PRECISION without a kind.
type Kinds struct {
	Integer, Real, Double int
	Options               []string // of the command line, that say so
}

// Usual are the kinds without any option.
var Usual = Kinds{Integer: 4, Real: 4, Double: 8}

// option is what an option does to the kinds; 0 leaves one as it is.
type option struct{ integer, real, double int }

// options are those of all compilers, each in one word; no two compilers mean something else by the same.
var options = map[string]option{
	// gfortran and flang; the first of REAL makes DOUBLE PRECISION longer, too, unless -fdefault-double-8 is there
	"-fdefault-integer-8": {integer: 8}, "-fdefault-real-8": {real: 8, double: 16},
	"-fdefault-real-10": {real: 10, double: 16}, "-fdefault-real-16": {real: 16, double: 16},
	"-finteger-4-integer-8": {integer: 8}, "-freal-4-real-8": {real: 8},
	"-freal-4-real-10": {real: 10}, "-freal-4-real-16": {real: 16},
	"-freal-8-real-4": {double: 4}, "-freal-8-real-10": {double: 10}, "-freal-8-real-16": {double: 16},
	// ifx, ifort, nvfortran
	"-i2": {integer: 2}, "-i4": {integer: 4}, "-i8": {integer: 8}, "-integer-size=16": {integer: 2},
	"-integer-size=32": {integer: 4}, "-integer-size=64": {integer: 8},
	"-r4": {real: 4}, "-r8": {real: 8}, "-r16": {real: 16, double: 16}, "-autodouble": {real: 8}, "-Mr8": {real: 8},
	"-real-size=32": {real: 4}, "-real-size=64": {real: 8}, "-real-size=128": {real: 16, double: 16},
	"-double-size=64": {double: 8}, "-double-size=128": {double: 16},
	// XL
	"-qintsize=4": {integer: 4}, "-qintsize=8": {integer: 8}, "-qrealsize=4": {real: 4, double: 8},
	"-qrealsize=8": {real: 8, double: 16},
}

// withValue are options whose value may be a word of its own.
var withValue = []string{"-integer-size", "-real-size", "-double-size"}

// KindsOf finds the kinds that words ask for.
func KindsOf(words []string) Kinds {
	k, double8 := Usual, false
	for i := 0; i < len(words); i++ {
		word, own := strings.ReplaceAll(words[i], "_", "-"), words[i:i+1]
		if slices.Contains(withValue, word) && i+1 < len(words) {
			i++
			word, own = word+"="+words[i], words[i-1:i+1]
		}
		if word == "-fdefault-double-8" {
			double8, k.Options = true, append(k.Options, word)
		}
		o, found := options[word]
		if !found {
			continue
		}
		k.Options = append(k.Options, own...)
		for _, part := range []struct{ to, from *int }{{&k.Integer, &o.integer}, {&k.Real, &o.real}, {&k.Double, &o.double}} {
			if *part.from != 0 {
				*part.to = *part.from
			}
		}
	}
	if double8 && k.Double == 16 {
		k.Double = 8
	}
	return k
}

// Variant is the name of what the library has for these kinds: "", i8, r8 and so on.
func (k Kinds) Variant() (string, error) {
	name := ""
	switch k.Integer {
	case 4:
	case 8:
		name = "i8"
	default:
		return "", k.error("INTEGER", k.Integer)
	}
	switch {
	case k.Real == 4 && k.Double == 8:
	case k.Real == 8 && k.Double == 16:
		name += "r8"
	case k.Real == 8 && k.Double == 8:
		name += "r8d8"
	case k.Real != 4 && k.Real != 8:
		return "", k.error("REAL", k.Real)
	default:
		return "", k.error("DOUBLE PRECISION", k.Double)
	}
	return name, nil
}

func (k Kinds) error(what string, bytes int) error {
	return fmt.Errorf("%s: MPI's datatypes are not made for %s of %d bytes; declare variables with their kinds, and "+
		"leave the option out", strings.Join(k.Options, " "), what, bytes)
}

// Variants are the kinds of all variants.
var Variants = []Kinds{Usual, {Integer: 8, Real: 4, Double: 8}, {Integer: 4, Real: 8, Double: 16},
	{Integer: 8, Real: 8, Double: 16}, {Integer: 4, Real: 8, Double: 8}, {Integer: 8, Real: 8, Double: 8}}

// options are those that make the compiler have these kinds; not all compilers can.
func (c Compiler) options(k Kinds) (words []string, can bool) {
	if !c.known {
		return k.Options, len(k.Options) > 0 || k.Integer == 4 && k.Real == 4 && k.Double == 8
	}
	gnu := c.Family == "gfortran" || c.Family == "flang"
	add := func(yes bool, options ...string) {
		if yes {
			words = append(words, options...)
		}
	}
	add(k.Integer == 8 && gnu, "-fdefault-integer-8")
	add(k.Integer == 8 && !gnu, "-i8")
	add(k.Real == 8 && gnu, "-fdefault-real-8")
	add(k.Real == 8 && k.Double == 8 && gnu, "-fdefault-double-8")
	add(k.Real == 8 && !gnu, "-r8")
	add(k.Double == 16 && !gnu, "-double-size", "128")
	return words, k.Double == 8 || c.Family != "nvfortran"
}

// macros tell the sources of the modules the kinds.
func (k Kinds) macros() []string {
	var words []string
	if k.Integer == 8 {
		words = append(words, "-DIMPI_INTEGER8")
	}
	if k.Real == 8 {
		words = append(words, "-DIMPI_REAL8")
		if k.Double == 8 {
			words = append(words, "-DIMPI_DOUBLE8")
		}
	}
	return words
}
