package main

import (
	"fmt"
	"strings"
)

// Options of compilers make INTEGER and LOGICAL, or REAL and DOUBLE PRECISION, longer. MPI's datatypes of these names
// are then others: the constants have their values. Modules are translated with macros that say so; mpif.h, which
// nothing may preprocess, is there once for each variant.

// variant is a set of such options.
type variant struct {
	name                    string // of its folder
	integer8, real8, double bool   // -fdefault-integer-8, -fdefault-real-8, -fdefault-double-8 beside it
}

var variants = []variant{
	{name: ""}, {name: "i8", integer8: true},
	{name: "r8", real8: true}, {name: "i8r8", integer8: true, real8: true},
	{name: "r8d8", real8: true, double: true}, {name: "i8r8d8", integer8: true, real8: true, double: true},
}

// longer are the datatypes that stand for those of the longer kinds. A pair of long integers is none of the ABI's.
var longer = []struct {
	macro, name, with string
	option            string // macro of the modules
	when              func(variant) bool
}{
	{"IMPI_INTEGER", "MPI_INTEGER", "MPI_INTEGER8", "IMPI_INTEGER8", variant.integers},
	{"IMPI_LOGICAL", "MPI_LOGICAL", "MPI_LOGICAL8", "IMPI_INTEGER8", variant.integers},
	{"IMPI_2INTEGER", "MPI_2INTEGER", "IMPI_2INTEGER8", "IMPI_INTEGER8", variant.integers},
	{"IMPI_REAL", "MPI_REAL", "MPI_REAL8", "IMPI_REAL8", variant.reals},
	{"IMPI_COMPLEX", "MPI_COMPLEX", "MPI_COMPLEX16", "IMPI_REAL8", variant.reals},
	{"IMPI_2REAL", "MPI_2REAL", "MPI_2DOUBLE_PRECISION", "IMPI_REAL8", variant.reals},
	{"IMPI_DOUBLE", "MPI_DOUBLE_PRECISION", "MPI_REAL16", "IMPI_DOUBLE16", variant.doubles},
	{"IMPI_DOUBLE_COMPLEX", "MPI_DOUBLE_COMPLEX", "MPI_COMPLEX32", "IMPI_DOUBLE16", variant.doubles},
}

func (v variant) integers() bool { return v.integer8 }
func (v variant) reals() bool    { return v.real8 }
func (v variant) doubles() bool  { return v.real8 && !v.double }

// value is the value of a handle for programs of this variant.
func (in input) value(v variant, h handle) int64 {
	for _, l := range longer {
		if l.name == h.name && l.when(v) {
			return in.handle(l.with)
		}
	}
	return h.value
}

// handle is the value of a handle.
func (in input) handle(name string) int64 {
	for _, h := range in.handles() {
		if h.name == name {
			return h.value
		}
	}
	panic(name + " is no handle")
}

// text is the value of a handle in a module.
func (h handle) text() string {
	for _, l := range longer {
		if l.name == h.name {
			return l.macro
		}
	}
	return fmt.Sprint(h.value)
}

// defaults defines macros for the values of handles that depend on the compiler's options.
func (in input) defaults(b *strings.Builder) {
	b.WriteString("#if defined IMPI_REAL8 && !defined IMPI_DOUBLE8\n#define IMPI_DOUBLE16\n#endif\n")
	for _, l := range longer {
		fmt.Fprintf(b, "#ifdef %s\n#define %s %d\n#else\n#define %[2]s %[4]d\n#endif\n", l.option, l.macro, in.handle(l.with),
			in.handle(l.name))
	}
}
