package datatype

import (
	"fmt"
	"runtime"

	"github.com/libimpi/libimpi/abi"
)

// Named is the predefined type with the given ABI handle value, nil if there is none (MPI 5.0, 20.3; the C
// types of an LP64 platform, with Fortran's INTEGER, REAL and LOGICAL in 4 bytes).
func Named(handle int) *Type {
	if uint(handle-firstHandle) >= uint(len(predefined)) {
		return nil
	}
	return predefined[handle-firstHandle]
}

const firstHandle = abi.MPI_DATATYPE_NULL

// predefined is indexed by ABI handle value; it is complete before any code of this package can run.
var predefined = buildPredefined()

// LBMarker and UBMarker are MPI_LB and MPI_UB of MPI-1: no data, but among the types of a Struct they set its
// bounds. They are no part of the ABI.
var (
	LBMarker = marker("MPI_LB", func(s *shape) { s.markLB = true })
	UBMarker = marker("MPI_UB", func(s *shape) { s.markUB = true })
)

func marker(name string, mark func(*shape)) *Type {
	t := &Type{name: name, combiner: abi.MPI_COMBINER_NAMED, shape: newShape()}
	mark(&t.shape)
	t.Commit()
	return t
}

// x87 tells that long double is the 80-bit format, in 16 bytes.
const x87 = runtime.GOARCH == "amd64"

func longDouble() kind {
	if x87 {
		return kindX87
	}
	return kindSwap16
}

type basic struct {
	handle int
	name   string
	kind   kind
	units  int64 // 2 for complex
}

func buildPredefined() (table [0x200]*Type) {
	for _, b := range basics() {
		table[b.handle-firstHandle] = newBasic(b)
	}
	for _, p := range pairs {
		table[p.handle-firstHandle] = newPair(p, table[p.value-firstHandle], table[p.index-firstHandle])
	}
	return table
}

func newBasic(b basic) *Type {
	t := &Type{handle: b.handle, name: b.name, combiner: abi.MPI_COMBINER_NAMED, kind: b.kind, units: b.units}
	t.shape = newShape()
	t.size, t.size32 = b.kind.mem()*b.units, b.kind.packed()*b.units
	t.elems, t.align = 1, b.kind.mem()
	t.data, t.hi, t.end, t.ub = true, t.size, t.size, t.size
	t.uniform, t.portable = t, b.kind == kindRaw
	t.Commit()
	return t
}

// newPair is the C struct { value; int index; }.
func newPair(p pair, value, index *Type) *Type {
	t := fields([]int64{1, 1}, []int64{0, max(value.size, index.align)}, []*Type{value, index})
	t.handle, t.name, t.combiner = p.handle, p.name, abi.MPI_COMBINER_NAMED
	var m safeMath
	t.sum(&m)
	t.seal(&m)
	t.uniform, t.mixed = t, false
	t.Commit()
	return t
}

func basics() []basic {
	return []basic{
		{abi.MPI_AINT, "MPI_AINT", kindSwap8, 1},
		{abi.MPI_COUNT, "MPI_COUNT", kindSwap8, 1},
		{abi.MPI_OFFSET, "MPI_OFFSET", kindSwap8, 1},
		{abi.MPI_PACKED, "MPI_PACKED", kindRaw, 1},
		{abi.MPI_BYTE, "MPI_BYTE", kindRaw, 1},
		{abi.MPI_CHAR, "MPI_CHAR", kindRaw, 1},
		{abi.MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", kindRaw, 1},
		{abi.MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", kindRaw, 1},
		{abi.MPI_SHORT, "MPI_SHORT", kindSwap2, 1},
		{abi.MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", kindSwap2, 1},
		{abi.MPI_INT, "MPI_INT", kindSwap4, 1},
		{abi.MPI_UNSIGNED, "MPI_UNSIGNED", kindSwap4, 1},
		{abi.MPI_LONG, "MPI_LONG", kindLong, 1},
		{abi.MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", kindULong, 1},
		{abi.MPI_LONG_LONG, "MPI_LONG_LONG_INT", kindSwap8, 1},
		{abi.MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", kindSwap8, 1},
		{abi.MPI_FLOAT, "MPI_FLOAT", kindSwap4, 1},
		{abi.MPI_DOUBLE, "MPI_DOUBLE", kindSwap8, 1},
		{abi.MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", longDouble(), 1},
		{abi.MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", kindSwap4, 2},
		{abi.MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", kindSwap8, 2},
		{abi.MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", longDouble(), 2},
		{abi.MPI_CXX_FLOAT_COMPLEX, "MPI_CXX_FLOAT_COMPLEX", kindSwap4, 2},
		{abi.MPI_CXX_DOUBLE_COMPLEX, "MPI_CXX_DOUBLE_COMPLEX", kindSwap8, 2},
		{abi.MPI_CXX_LONG_DOUBLE_COMPLEX, "MPI_CXX_LONG_DOUBLE_COMPLEX", longDouble(), 2},
		{abi.MPI_C_BOOL, "MPI_C_BOOL", kindBool, 1},
		{abi.MPI_CXX_BOOL, "MPI_CXX_BOOL", kindBool, 1},
		{abi.MPI_WCHAR, "MPI_WCHAR", kindWchar, 1},
		{abi.MPI_INT8_T, "MPI_INT8_T", kindRaw, 1},
		{abi.MPI_UINT8_T, "MPI_UINT8_T", kindRaw, 1},
		{abi.MPI_INT16_T, "MPI_INT16_T", kindSwap2, 1},
		{abi.MPI_UINT16_T, "MPI_UINT16_T", kindSwap2, 1},
		{abi.MPI_INT32_T, "MPI_INT32_T", kindSwap4, 1},
		{abi.MPI_UINT32_T, "MPI_UINT32_T", kindSwap4, 1},
		{abi.MPI_INT64_T, "MPI_INT64_T", kindSwap8, 1},
		{abi.MPI_UINT64_T, "MPI_UINT64_T", kindSwap8, 1},
		{abi.MPI_LOGICAL, "MPI_LOGICAL", kindSwap4, 1},
		{abi.MPI_INTEGER, "MPI_INTEGER", kindSwap4, 1},
		{abi.MPI_REAL, "MPI_REAL", kindSwap4, 1},
		{abi.MPI_COMPLEX, "MPI_COMPLEX", kindSwap4, 2},
		{abi.MPI_DOUBLE_PRECISION, "MPI_DOUBLE_PRECISION", kindSwap8, 1},
		{abi.MPI_DOUBLE_COMPLEX, "MPI_DOUBLE_COMPLEX", kindSwap8, 2},
		{abi.MPI_CHARACTER, "MPI_CHARACTER", kindRaw, 1},
		{abi.MPI_LOGICAL1, "MPI_LOGICAL1", kindRaw, 1},
		{abi.MPI_LOGICAL2, "MPI_LOGICAL2", kindSwap2, 1},
		{abi.MPI_LOGICAL4, "MPI_LOGICAL4", kindSwap4, 1},
		{abi.MPI_LOGICAL8, "MPI_LOGICAL8", kindSwap8, 1},
		{abi.MPI_LOGICAL16, "MPI_LOGICAL16", kindSwap16, 1},
		{abi.MPI_INTEGER1, "MPI_INTEGER1", kindRaw, 1},
		{abi.MPI_INTEGER2, "MPI_INTEGER2", kindSwap2, 1},
		{abi.MPI_INTEGER4, "MPI_INTEGER4", kindSwap4, 1},
		{abi.MPI_INTEGER8, "MPI_INTEGER8", kindSwap8, 1},
		{abi.MPI_INTEGER16, "MPI_INTEGER16", kindSwap16, 1},
		{abi.MPI_REAL2, "MPI_REAL2", kindSwap2, 1},
		{abi.MPI_REAL4, "MPI_REAL4", kindSwap4, 1},
		{abi.MPI_REAL8, "MPI_REAL8", kindSwap8, 1},
		{abi.MPI_REAL16, "MPI_REAL16", kindSwap16, 1},
		{abi.MPI_COMPLEX4, "MPI_COMPLEX4", kindSwap2, 2},
		{abi.MPI_COMPLEX8, "MPI_COMPLEX8", kindSwap4, 2},
		{abi.MPI_COMPLEX16, "MPI_COMPLEX16", kindSwap8, 2},
		{abi.MPI_COMPLEX32, "MPI_COMPLEX32", kindSwap16, 2},
	}
}

type pair struct {
	handle       int
	name         string
	value, index int
}

// pairs are the types of MPI_MINLOC and MPI_MAXLOC (MPI 5.0, 6.9.4).
var pairs = []pair{
	{abi.MPI_FLOAT_INT, "MPI_FLOAT_INT", abi.MPI_FLOAT, abi.MPI_INT},
	{abi.MPI_DOUBLE_INT, "MPI_DOUBLE_INT", abi.MPI_DOUBLE, abi.MPI_INT},
	{abi.MPI_LONG_INT, "MPI_LONG_INT", abi.MPI_LONG, abi.MPI_INT},
	{abi.MPI_2INT, "MPI_2INT", abi.MPI_INT, abi.MPI_INT},
	{abi.MPI_SHORT_INT, "MPI_SHORT_INT", abi.MPI_SHORT, abi.MPI_INT},
	{abi.MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", abi.MPI_LONG_DOUBLE, abi.MPI_INT},
	{abi.MPI_2REAL, "MPI_2REAL", abi.MPI_REAL, abi.MPI_REAL},
	{abi.MPI_2DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", abi.MPI_DOUBLE_PRECISION, abi.MPI_DOUBLE_PRECISION},
	{abi.MPI_2INTEGER, "MPI_2INTEGER", abi.MPI_INTEGER, abi.MPI_INTEGER},
	{TwoInteger8, "IMPI_2INTEGER8", abi.MPI_INTEGER8, abi.MPI_INTEGER8},
}

// TwoInteger8 is what stands for the handle IMPI_2INTEGER8 in here, where handles of predefined types are small: a
// number that the ABI has given to none.
const TwoInteger8 = 0x233

// ValueIndex is the predefined pair of the two types, nil if there is none (MPI_Type_get_value_index).
func ValueIndex(value, index *Type) *Type {
	for _, p := range pairs {
		if value == Named(p.value) && index == Named(p.index) && value != nil {
			return Named(p.handle)
		}
	}
	return nil
}

// MatchSize is the type of a class (MPI_TYPECLASS_...) that has the given size, nil if there is none
// (MPI_Type_match_size). It prefers the sized Fortran types.
func MatchSize(typeclass int, size int64) *Type {
	var candidates []int
	switch typeclass {
	case abi.MPI_TYPECLASS_INTEGER:
		candidates = []int{abi.MPI_INTEGER1, abi.MPI_INTEGER2, abi.MPI_INTEGER4, abi.MPI_INTEGER8, abi.MPI_INTEGER16}
	case abi.MPI_TYPECLASS_REAL:
		candidates = []int{abi.MPI_REAL2, abi.MPI_REAL4, abi.MPI_REAL8, abi.MPI_REAL16}
	case abi.MPI_TYPECLASS_COMPLEX:
		candidates = []int{abi.MPI_COMPLEX4, abi.MPI_COMPLEX8, abi.MPI_COMPLEX16, abi.MPI_COMPLEX32}
	case abi.MPIX_TYPECLASS_LOGICAL:
		candidates = []int{abi.MPI_LOGICAL1, abi.MPI_LOGICAL2, abi.MPI_LOGICAL4, abi.MPI_LOGICAL8, abi.MPI_LOGICAL16}
	}
	for _, h := range candidates {
		if t := Named(h); t.size == size {
			return t
		}
	}
	return nil
}

// F90Real, F90Complex and F90Integer are the types of selected_real_kind(p, r) and selected_int_kind(r)
// (MPI 5.0, 19.1.9); p or r may be MPI_UNDEFINED. The results are committed. The standard wants the same handle for the
// same arguments: keeping them is the caller's part.
func F90Real(p, r int) (*Type, error) {
	return f90(abi.MPI_COMBINER_F90_REAL, p, r, Named(abi.MPI_REAL), Named(abi.MPI_DOUBLE_PRECISION))
}

func F90Complex(p, r int) (*Type, error) {
	return f90(abi.MPI_COMBINER_F90_COMPLEX, p, r, Named(abi.MPI_COMPLEX), Named(abi.MPI_DOUBLE_COMPLEX))
}

func f90(combiner, p, r int, single, double *Type) (*Type, error) {
	if p == abi.MPI_UNDEFINED && r == abi.MPI_UNDEFINED {
		return nil, &Error{abi.MPI_ERR_ARG, "p", -1, int64(p), "p and r are both MPI_UNDEFINED"}
	}
	switch {
	case p <= 6 && r <= 37:
		return parametric(single, combiner, int64(p), int64(r)), nil
	case p <= 15 && r <= 307:
		return parametric(double, combiner, int64(p), int64(r)), nil
	}
	return nil, &Error{abi.MPI_ERR_ARG, "p", -1, int64(p), fmt.Sprintf("no real type has precision %d and range %d", p, r)}
}

func F90Integer(r int) (*Type, error) {
	for _, k := range []struct{ digits, handle int }{{2, abi.MPI_INTEGER1}, {4, abi.MPI_INTEGER2},
		{9, abi.MPI_INTEGER4}, {18, abi.MPI_INTEGER8}, {38, abi.MPI_INTEGER16}} {
		if r <= k.digits {
			return parametric(Named(k.handle), abi.MPI_COMBINER_F90_INTEGER, int64(r)), nil
		}
	}
	return nil, &Error{abi.MPI_ERR_ARG, "r", -1, int64(r), fmt.Sprintf("no integer type has range %d", r)}
}

func parametric(of *Type, combiner int, args ...int64) *Type {
	t := wrap(of, combiner, []arg{ints(args...)}, nil)
	t.Commit()
	return t
}
