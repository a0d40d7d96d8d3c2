package main

import "C"

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Datatypes (MPI 5.0, chapter 5). A dataType is what a handle stands for: the engine's type and what only the
// program sees of it.
type dataType struct {
	*datatype.Type
	name  string
	attrs attributes
	fixed bool // of MPI_Type_create_f90_x: the program cannot free it
}

// The values of MPI_LB and MPI_UB in mpi.h: MPI-1's markers, outside the range of the ABI.
const (
	handleUB = 0x10204
	handleLB = 0x10205
)

// named are the predefined types by handle.
var named [abi.MPI_DATATYPE_NULL * 2]*dataType

func init() {
	for h := range named {
		if t := datatype.Named(h); t != nil {
			named[h] = &dataType{Type: t, name: t.Name()}
		}
	}
}

func dataTypeOf(h uintptr) *dataType {
	if h < uintptr(len(named)) {
		return named[h]
	}
	switch h {
	case handleLB:
		return lowerBound
	case handleUB:
		return upperBound
	}
	return published(h)
}

var (
	lowerBound = &dataType{Type: datatype.LBMarker, name: "MPI_LB"}
	upperBound = &dataType{Type: datatype.UBMarker, name: "MPI_UB"}
)

// typeOf answers the type of a handle, nil if it is none.
func typeOf(h uintptr) *datatype.Type {
	if d := dataTypeOf(h); d != nil {
		return d.Type
	}
	return nil
}

// handleOfType is the handle of a type for the program: a predefined one's own, a new one for others.
func handleOfType(t *datatype.Type) uintptr {
	if h := t.Handle(); h != 0 {
		return uintptr(h)
	}
	if h := f90Types.handle(t); h != 0 {
		return h
	}
	return addType(&dataType{Type: t})
}

// newType stores the handle of a constructed type.
func (k *check) newType(t *datatype.Type, err error, wide int32, out uintptr) int32 {
	if err != nil {
		return k.failed(err)
	}
	if wide != 0 {
		t = t.AsLarge()
	}
	return k.answer(addType(&dataType{Type: t}), out)
}

// typeArgs checks what all constructors have.
func typeArgs(fn string, oldtype, newtype uintptr) (k check, old *datatype.Type) {
	k.fn = fn
	if k.notStarted() {
		return k, nil
	}
	old = k.anyType(oldtype, "oldtype")
	k.result(newtype, "newtype")
	return k, old
}

//export impi_Type_contiguous
func impi_Type_contiguous(count int64, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_contiguous", oldtype, newtype)
	k.count(count, "count")
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Contiguous(count, old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_vector
func impi_Type_vector(count, blocklength, stride int64, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_vector", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Vector(count, blocklength, stride, old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_hvector
func impi_Type_create_hvector(count, blocklength, stride int64, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_hvector", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Hvector(count, blocklength, stride, old)
	return k.newType(t, err, wide, newtype)
}

// blocks checks the two arrays of the indexed constructors.
func (k *check) blocks(count int64, blocklengths, displacements uintptr, lensWide, dispsWide bool) (lens,
	disps []int64) {
	k.count(count, "count")
	k.array(blocklengths, int(count), "array_of_blocklengths")
	k.array(displacements, int(count), "array_of_displacements")
	if k.err != nil {
		return nil, nil
	}
	lens = copied(blocklengths, int(count), lensWide)
	for i, n := range lens {
		if n < 0 {
			k.set(abi.MPI_ERR_ARG, "array_of_blocklengths[%d] is negative: %d", i, n)
			return nil, nil
		}
	}
	return lens, copied(displacements, int(count), dispsWide)
}

//export impi_Type_indexed
func impi_Type_indexed(count int64, array_of_blocklengths, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	k, old := typeArgs("MPI_Type_indexed", oldtype, newtype)
	lens, disps := k.blocks(count, array_of_blocklengths, array_of_displacements, wide != 0, wide != 0)
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Indexed(lens, disps, old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_hindexed
func impi_Type_create_hindexed(count int64, blocklengths, displacements, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_hindexed", oldtype, newtype)
	lens, disps := k.blocks(count, blocklengths, displacements, wide != 0, true)
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Hindexed(lens, disps, old)
	return k.newType(t, err, wide, newtype)
}

func indexedBlock(fn string, count, blocklength int64, displacements uintptr, bytes bool, oldtype, newtype uintptr,
	wide int32) int32 {
	k, old := typeArgs(fn, oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	k.array(displacements, int(count), "array_of_displacements")
	if k.err != nil {
		return k.fail()
	}
	if bytes {
		t, err := datatype.HindexedBlock(blocklength, copied(displacements, int(count), true), old)
		return k.newType(t, err, wide, newtype)
	}
	t, err := datatype.IndexedBlock(blocklength, copied(displacements, int(count), wide != 0), old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_indexed_block
func impi_Type_create_indexed_block(count, blocklength int64, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	return indexedBlock("MPI_Type_create_indexed_block", count, blocklength, array_of_displacements, false, oldtype,
		newtype, wide)
}

//export impi_Type_create_hindexed_block
func impi_Type_create_hindexed_block(count, blocklength int64, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	return indexedBlock("MPI_Type_create_hindexed_block", count, blocklength, array_of_displacements, true, oldtype,
		newtype, wide)
}

//export impi_Type_create_struct
func impi_Type_create_struct(count int64, blocklengths, displacements, oldtypes, newtype uintptr, wide int32) int32 {
	k := check{fn: "MPI_Type_create_struct"}
	if k.notStarted() {
		return k.fail()
	}
	k.result(newtype, "newtype")
	lens, disps := k.blocks(count, blocklengths, displacements, wide != 0, true)
	k.array(oldtypes, int(count), "array_of_types")
	if k.err != nil {
		return k.fail()
	}
	olds := make([]*datatype.Type, count)
	for i, h := range slice[uintptr](oldtypes, int(count)) {
		if olds[i] = typeOf(h); olds[i] == nil {
			k.badType(h, fmt.Sprintf("array_of_types[%d]", i))
		}
	}
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Struct(lens, disps, olds)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_subarray
func impi_Type_create_subarray(ndims int32, array_of_sizes, array_of_subsizes, array_of_starts uintptr, order int32,
	oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_subarray", oldtype, newtype)
	n := int(ndims)
	if n < 1 {
		k.set(abi.MPI_ERR_DIMS, "argument ndims is %d, and must be at least 1", n)
	}
	k.array(array_of_sizes, n, "array_of_sizes")
	k.array(array_of_subsizes, n, "array_of_subsizes")
	k.array(array_of_starts, n, "array_of_starts")
	if k.err != nil {
		return k.fail()
	}
	w := wide != 0
	t, err := datatype.Subarray(integers(array_of_sizes, n, w), integers(array_of_subsizes, n, w),
		integers(array_of_starts, n, w), int(order), old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_darray
func impi_Type_create_darray(size, rank, ndims int32, array_of_gsizes, array_of_distribs, array_of_dargs,
	array_of_psizes uintptr,
	order int32, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_darray", oldtype, newtype)
	n := int(ndims)
	if n < 1 {
		k.set(abi.MPI_ERR_DIMS, "argument ndims is %d, and must be at least 1", n)
	}
	k.array(array_of_gsizes, n, "array_of_gsizes")
	k.array(array_of_distribs, n, "array_of_distribs")
	k.array(array_of_dargs, n, "array_of_dargs")
	k.array(array_of_psizes, n, "array_of_psizes")
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Darray(int(size), int(rank), integers(array_of_gsizes, n, wide != 0), ints(array_of_distribs, n),
		ints(array_of_dargs, n), ints(array_of_psizes, n), int(order), old)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_resized
func impi_Type_create_resized(oldtype uintptr, lb, extent int64, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_resized", oldtype, newtype)
	if k.err != nil {
		return k.fail()
	}
	t, err := datatype.Resized(old, lb, extent)
	return k.newType(t, err, wide, newtype)
}

//export impi_Type_create_f90_real
func impi_Type_create_f90_real(p, r int32, newtype uintptr) int32 {
	return f90("MPI_Type_create_f90_real", newtype, f90Args{abi.MPI_COMBINER_F90_REAL, p, r})
}

//export impi_Type_create_f90_complex
func impi_Type_create_f90_complex(p, r int32, newtype uintptr) int32 {
	return f90("MPI_Type_create_f90_complex", newtype, f90Args{abi.MPI_COMBINER_F90_COMPLEX, p, r})
}

//export impi_Type_create_f90_integer
func impi_Type_create_f90_integer(r int32, newtype uintptr) int32 {
	return f90("MPI_Type_create_f90_integer", newtype, f90Args{abi.MPI_COMBINER_F90_INTEGER, 0, r})
}

func f90(fn string, newtype uintptr, args f90Args) int32 {
	k := check{fn: fn}
	if !k.notStarted() {
		k.result(newtype, "newtype")
	}
	if k.err != nil {
		return k.fail()
	}
	h, err := f90Types.of(args)
	if err != nil {
		return k.failed(err)
	}
	put(newtype, h)
	return 0
}

//export impi_Type_match_size
func impi_Type_match_size(typeclass, size int32, datatypeOut uintptr) int32 {
	k := check{fn: "MPI_Type_match_size"}
	if !k.notStarted() {
		k.result(datatypeOut, "datatype")
	}
	if k.err != nil {
		return k.fail()
	}
	t := datatype.MatchSize(int(typeclass), int64(size))
	if t == nil {
		return k.failed(libimpi.Errorf(abi.MPI_ERR_ARG, "there is no type of class %d and %d bytes", typeclass, size))
	}
	put(datatypeOut, handleOfType(t))
	return 0
}

//export impi_Type_get_value_index
func impi_Type_get_value_index(value_type, index_type, pair_type uintptr) int32 {
	k := check{fn: "MPI_Type_get_value_index"}
	if k.notStarted() {
		return k.fail()
	}
	v := k.anyType(value_type, "value_type")
	x := k.anyType(index_type, "index_type")
	k.result(pair_type, "pair_type")
	if k.err != nil {
		return k.fail()
	}
	if t := datatype.ValueIndex(v, x); t != nil {
		put(pair_type, handleOfType(t))
	} else {
		put[uintptr](pair_type, abi.MPI_DATATYPE_NULL)
	}
	return 0
}

//export impi_Type_commit
func impi_Type_commit(datatype uintptr) int32 {
	k := check{fn: "MPI_Type_commit"}
	k.result(datatype, "datatype")
	if k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](datatype)
	if k.anyType(h, "datatype"); k.err != nil {
		return k.fail()
	}
	commitType(h)
	return 0
}

//export impi_Type_free
func impi_Type_free(datatype uintptr) int32 {
	k := check{fn: "MPI_Type_free"}
	k.result(datatype, "datatype")
	if k.err != nil || k.notStarted() {
		return k.fail()
	}
	h := *ref[uintptr](datatype)
	d := dataTypeOf(h)
	if d == nil {
		k.badType(h, "datatype")
	} else if handle.KindOf(h) != kindType {
		k.set(abi.MPI_ERR_TYPE, "argument datatype is the predefined %s, which cannot be freed", d.name)
	} else if d.fixed {
		k.set(abi.MPI_ERR_TYPE, "argument datatype is one of MPI_Type_create_f90_x, which cannot be freed")
	}
	if k.err != nil {
		return k.fail()
	}
	if code := d.attrs.deleteAll(h); code != 0 {
		return k.refused(code, "delete")
	}
	if !endType(h) { // another thread was faster
		k.badType(h, "datatype")
		return k.fail()
	}
	put[uintptr](datatype, abi.MPI_DATATYPE_NULL)
	return 0
}

//export impi_Type_dup
func impi_Type_dup(oldtype, newtype uintptr) int32 {
	k, old := typeArgs("MPI_Type_dup", oldtype, newtype)
	if k.err != nil {
		return k.fail()
	}
	d := &dataType{Type: datatype.Dup(old)}
	if code := dataTypeOf(oldtype).attrs.copyAll(oldtype, &d.attrs); code != 0 {
		return k.refused(code, "copy")
	}
	return k.answer(addType(d), newtype)
}

// typeQuery starts the checks of a function that asks something of a type.
func typeQuery(fn string, dt uintptr) (k check, t *datatype.Type) {
	k.fn = fn
	if k.notStarted() {
		return k, nil
	}
	return k, k.anyType(dt, "datatype")
}

//export impi_Type_size
func impi_Type_size(dt, size uintptr) int32 {
	k, t := typeQuery("MPI_Type_size", dt)
	k.result(size, "size")
	if k.err != nil {
		return k.fail()
	}
	put(size, t.Size())
	return 0
}

//export impi_Type_get_extent
func impi_Type_get_extent(dt, lb, extent uintptr) int32 {
	k, t := typeQuery("MPI_Type_get_extent", dt)
	k.result(lb, "lb")
	k.result(extent, "extent")
	if k.err != nil {
		return k.fail()
	}
	put(lb, t.LB())
	put(extent, t.Extent())
	return 0
}

//export impi_Type_get_true_extent
func impi_Type_get_true_extent(dt, lb, extent uintptr) int32 {
	k, t := typeQuery("MPI_Type_get_true_extent", dt)
	k.result(lb, "true_lb")
	k.result(extent, "true_extent")
	if k.err != nil {
		return k.fail()
	}
	put(lb, t.TrueLB())
	put(extent, t.TrueExtent())
	return 0
}

// typeBound answers one number of a type: the MPI-1 queries.
func typeBound(fn string, dt, out uintptr, arg string, bound func(*datatype.Type) int64) int32 {
	k, t := typeQuery(fn, dt)
	k.result(out, arg)
	if k.err != nil {
		return k.fail()
	}
	put(out, bound(t))
	return 0
}

//export impi_Type_extent
func impi_Type_extent(dt, extent uintptr) int32 {
	return typeBound("MPI_Type_extent", dt, extent, "extent", (*datatype.Type).Extent)
}

//export impi_Type_lb
func impi_Type_lb(dt, displacement uintptr) int32 {
	return typeBound("MPI_Type_lb", dt, displacement, "displacement", (*datatype.Type).LB)
}

//export impi_Type_ub
func impi_Type_ub(dt, displacement uintptr) int32 {
	return typeBound("MPI_Type_ub", dt, displacement, "displacement", (*datatype.Type).UB)
}

//export impi_Type_toint
func impi_Type_toint(datatype uintptr) int32 { return handle.Int(datatype) }

//export impi_Type_fromint
func impi_Type_fromint(datatype int32) uintptr {
	if datatype == handleLB || datatype == handleUB {
		return uintptr(datatype)
	}
	h := fromIntOr(&types, datatype, abi.MPI_DATATYPE_NULL)
	if datatype >= handle.First && published(h) == nil {
		return abi.MPI_DATATYPE_NULL
	}
	return h
}
