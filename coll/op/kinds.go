package op

import (
	"runtime"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// group is a set of the groups of basic datatypes that MPI 5.0, 6.9.2 names.
type group uint16

const (
	cInteger group = 1 << iota
	fInteger
	floating
	logical
	complexes
	bytes
	multiLanguage
	pairs
	other // predefined, but in no group: characters, MPI_PACKED

	arithmetic = cInteger | fInteger | floating | multiLanguage
	bitwise    = cInteger | fInteger | bytes | multiLanguage
	anyGroup   = arithmetic | logical | complexes | bytes | pairs | other
)

// kind is the representation of an element in memory.
type kind uint8

const (
	noKind kind = iota
	i8
	i16
	i32
	i64
	i128
	u8
	u16
	u32
	u64
	f16
	f32
	f64
	f80
	f128
	c32 // two f16; the number counts all bits
	c64
	c128
	c160 // two f80
	c256
	l8 // Fortran logicals and C booleans
	l16
	l32
	l64
	l128
	pF32I32
	pF64I32
	pI64I32
	pI32I32
	pI16I32
	pF80I32
	pF128I32
	pF32F32
	pF64F64
	pI64I64
	kinds
)

// class is what an operation must know of a datatype.
type class struct {
	group group
	kind  kind
}

// A C long double is the x87 format on x86 and binary128 elsewhere.
const x87 = runtime.GOARCH == "amd64" || runtime.GOARCH == "386"

const firstType = abi.MPI_DATATYPE_NULL

// classes holds the class of every predefined datatype at handle - MPI_DATATYPE_NULL. C long has 64 bits.
var classes = [256]class{
	abi.MPI_SHORT - firstType:              {cInteger, i16},
	abi.MPI_INT - firstType:                {cInteger, i32},
	abi.MPI_LONG - firstType:               {cInteger, i64},
	abi.MPI_LONG_LONG - firstType:          {cInteger, i64},
	abi.MPI_UNSIGNED_SHORT - firstType:     {cInteger, u16},
	abi.MPI_UNSIGNED - firstType:           {cInteger, u32},
	abi.MPI_UNSIGNED_LONG - firstType:      {cInteger, u64},
	abi.MPI_UNSIGNED_LONG_LONG - firstType: {cInteger, u64},
	abi.MPI_SIGNED_CHAR - firstType:        {cInteger, i8},
	abi.MPI_UNSIGNED_CHAR - firstType:      {cInteger, u8},
	abi.MPI_INT8_T - firstType:             {cInteger, i8},
	abi.MPI_INT16_T - firstType:            {cInteger, i16},
	abi.MPI_INT32_T - firstType:            {cInteger, i32},
	abi.MPI_INT64_T - firstType:            {cInteger, i64},
	abi.MPI_UINT8_T - firstType:            {cInteger, u8},
	abi.MPI_UINT16_T - firstType:           {cInteger, u16},
	abi.MPI_UINT32_T - firstType:           {cInteger, u32},
	abi.MPI_UINT64_T - firstType:           {cInteger, u64},

	abi.MPI_INTEGER - firstType:   {fInteger, i32},
	abi.MPI_INTEGER1 - firstType:  {fInteger, i8},
	abi.MPI_INTEGER2 - firstType:  {fInteger, i16},
	abi.MPI_INTEGER4 - firstType:  {fInteger, i32},
	abi.MPI_INTEGER8 - firstType:  {fInteger, i64},
	abi.MPI_INTEGER16 - firstType: {fInteger, i128},

	abi.MPI_FLOAT - firstType:            {floating, f32},
	abi.MPI_DOUBLE - firstType:           {floating, f64},
	abi.MPI_REAL - firstType:             {floating, f32},
	abi.MPI_DOUBLE_PRECISION - firstType: {floating, f64},
	abi.MPI_LONG_DOUBLE - firstType:      {floating, longDouble(f80, f128)},
	abi.MPI_REAL2 - firstType:            {floating, f16},
	abi.MPI_REAL4 - firstType:            {floating, f32},
	abi.MPI_REAL8 - firstType:            {floating, f64},
	abi.MPI_REAL16 - firstType:           {floating, f128},

	abi.MPI_LOGICAL - firstType:   {logical, l32},
	abi.MPI_LOGICAL1 - firstType:  {logical, l8},
	abi.MPI_LOGICAL2 - firstType:  {logical, l16},
	abi.MPI_LOGICAL4 - firstType:  {logical, l32},
	abi.MPI_LOGICAL8 - firstType:  {logical, l64},
	abi.MPI_LOGICAL16 - firstType: {logical, l128},
	abi.MPI_C_BOOL - firstType:    {logical, l8},
	abi.MPI_CXX_BOOL - firstType:  {logical, l8},

	abi.MPI_COMPLEX - firstType:                 {complexes, c64},
	abi.MPI_C_FLOAT_COMPLEX - firstType:         {complexes, c64},
	abi.MPI_C_DOUBLE_COMPLEX - firstType:        {complexes, c128},
	abi.MPI_C_LONG_DOUBLE_COMPLEX - firstType:   {complexes, longDouble(c160, c256)},
	abi.MPI_CXX_FLOAT_COMPLEX - firstType:       {complexes, c64},
	abi.MPI_CXX_DOUBLE_COMPLEX - firstType:      {complexes, c128},
	abi.MPI_CXX_LONG_DOUBLE_COMPLEX - firstType: {complexes, longDouble(c160, c256)},
	abi.MPI_DOUBLE_COMPLEX - firstType:          {complexes, c128},
	abi.MPI_COMPLEX4 - firstType:                {complexes, c32},
	abi.MPI_COMPLEX8 - firstType:                {complexes, c64},
	abi.MPI_COMPLEX16 - firstType:               {complexes, c128},
	abi.MPI_COMPLEX32 - firstType:               {complexes, c256},

	abi.MPI_BYTE - firstType: {bytes, u8},

	abi.MPI_AINT - firstType:   {multiLanguage, i64},
	abi.MPI_OFFSET - firstType: {multiLanguage, i64},
	abi.MPI_COUNT - firstType:  {multiLanguage, i64},

	abi.MPI_FLOAT_INT - firstType:         {pairs, pF32I32},
	abi.MPI_DOUBLE_INT - firstType:        {pairs, pF64I32},
	abi.MPI_LONG_INT - firstType:          {pairs, pI64I32},
	abi.MPI_2INT - firstType:              {pairs, pI32I32},
	abi.MPI_SHORT_INT - firstType:         {pairs, pI16I32},
	abi.MPI_LONG_DOUBLE_INT - firstType:   {pairs, longDouble(pF80I32, pF128I32)},
	abi.MPI_2REAL - firstType:             {pairs, pF32F32},
	abi.MPI_2DOUBLE_PRECISION - firstType: {pairs, pF64F64},
	abi.MPI_2INTEGER - firstType:          {pairs, pI32I32},
	datatype.TwoInteger8 - firstType:      {pairs, pI64I64},

	abi.MPI_CHAR - firstType:      {other, noKind},
	abi.MPI_CHARACTER - firstType: {other, noKind},
	abi.MPI_WCHAR - firstType:     {other, noKind},
	abi.MPI_PACKED - firstType:    {other, noKind},
}

func longDouble(x86, elsewhere kind) kind {
	if x87 {
		return x86
	}
	return elsewhere
}

// classify returns the class of t, with group 0 if t is a derived datatype. The types that
// MPI_Type_create_f90_real and its relatives return are predefined though unnamed (MPI 5.0, 19.1.9): they
// count as the basic type they are made of.
func classify(t *datatype.Type) class {
	if h := t.Handle() - firstType; h > 0 && h < len(classes) {
		return classes[h]
	}
	switch t.Contents().Combiner {
	case abi.MPI_COMBINER_F90_REAL, abi.MPI_COMBINER_F90_COMPLEX, abi.MPI_COMBINER_F90_INTEGER:
		if u := t.Uniform(); u != nil && u != t {
			return classify(u)
		}
	}
	return class{}
}
