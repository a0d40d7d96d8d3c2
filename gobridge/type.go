package main

import "C"

import (
	"fmt"
	"slices"
	"sync"

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

	section *section // of Fortran's library, for a buffer of the program's

	// What brings it back (types.go).
	memory int32   // in bytes, 0 if not known yet
	call   []int64 // nil: nothing does
	hash   uint64  // of call
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
		if t := datatype.Named(h); t != nil && h != datatype.TwoInteger8 {
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
	case abi.IMPI_2INTEGER8:
		return twoInteger8
	}
	return published(h)
}

var (
	lowerBound = &dataType{Type: datatype.LBMarker, name: "MPI_LB"}
	upperBound = &dataType{Type: datatype.UBMarker, name: "MPI_UB"}

	// MPI_2INTEGER of Fortran programs whose INTEGERs have 8 bytes.
	twoInteger8 = &dataType{Type: datatype.Named(datatype.TwoInteger8), name: "IMPI_2INTEGER8"}
)

// usable returns the type of a handle, and whether messages may have it.
func usable(h uintptr) (d *dataType, ok bool) {
	if handle.KindOf(h) == kindType {
		return committedType(h)
	}
	return dataTypeOf(h), true
}

// typeOf returns the type of a handle, nil if it is none.
func typeOf(h uintptr) *datatype.Type {
	if d := dataTypeOf(h); d != nil {
		return d.Type
	}
	return nil
}

// handleOfType is the handle of a type for the program: a predefined one's own, a new one for others.
func handleOfType(t *datatype.Type) uintptr {
	switch h := t.Handle(); h {
	case 0:
	case datatype.TwoInteger8:
		return abi.IMPI_2INTEGER8
	default:
		return uintptr(h)
	}
	if h := f90Types.handle(t); h != 0 {
		return h
	}
	return addType(&dataType{Type: t})
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
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_CONTIGUOUS, wide, []int64{count}, []*datatype.Type{old}, nil},
		func([]int64) (*datatype.Type, error) { return datatype.Contiguous(count, old) })
}

//export impi_Type_vector
func impi_Type_vector(count, blocklength, stride int64, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_vector", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_VECTOR, wide, []int64{count, blocklength, stride},
		[]*datatype.Type{old}, nil},
		func([]int64) (*datatype.Type, error) { return datatype.Vector(count, blocklength, stride, old) })
}

//export impi_Type_create_hvector
func impi_Type_create_hvector(count, blocklength, stride int64, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_hvector", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_HVECTOR, wide, []int64{count, blocklength, stride},
		[]*datatype.Type{old}, nil},
		func([]int64) (*datatype.Type, error) { return datatype.Hvector(count, blocklength, stride, old) })
}

// blocks checks the two arrays of the indexed constructors.
func (k *check) blocks(count int64, blocklengths, displacements uintptr) {
	k.count(count, "count")
	k.array(blocklengths, int(count), "array_of_blocklengths")
	k.array(displacements, int(count), "array_of_displacements")
}

//export impi_Type_indexed
func impi_Type_indexed(count int64, array_of_blocklengths, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	k, old := typeArgs("MPI_Type_indexed", oldtype, newtype)
	k.blocks(count, array_of_blocklengths, array_of_displacements)
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_INDEXED, wide, []int64{count}, []*datatype.Type{old},
		[]list{{array_of_blocklengths, count, wide != 0}, {array_of_displacements, count, wide != 0}}},
		func(l []int64) (*datatype.Type, error) { return datatype.Indexed(l[:count], l[count:], old) })
}

//export impi_Type_create_hindexed
func impi_Type_create_hindexed(count int64, blocklengths, displacements, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_hindexed", oldtype, newtype)
	k.blocks(count, blocklengths, displacements)
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_HINDEXED, wide, []int64{count}, []*datatype.Type{old},
		[]list{{blocklengths, count, wide != 0}, {displacements, count, true}}},
		func(l []int64) (*datatype.Type, error) { return datatype.Hindexed(l[:count], l[count:], old) })
}

//export impi_Type_create_indexed_block
func impi_Type_create_indexed_block(count, blocklength int64, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_indexed_block", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	k.array(array_of_displacements, int(count), "array_of_displacements")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_INDEXED_BLOCK, wide, []int64{count, blocklength},
		[]*datatype.Type{old}, []list{{array_of_displacements, count, wide != 0}}},
		func(l []int64) (*datatype.Type, error) { return datatype.IndexedBlock(blocklength, l, old) })
}

//export impi_Type_create_hindexed_block
func impi_Type_create_hindexed_block(count, blocklength int64, array_of_displacements, oldtype, newtype uintptr,
	wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_hindexed_block", oldtype, newtype)
	k.count(count, "count")
	k.count(blocklength, "blocklength")
	k.array(array_of_displacements, int(count), "array_of_displacements")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_HINDEXED_BLOCK, wide, []int64{count, blocklength},
		[]*datatype.Type{old}, []list{{array_of_displacements, count, true}}},
		func(l []int64) (*datatype.Type, error) { return datatype.HindexedBlock(blocklength, l, old) })
}

//export impi_Type_create_struct
func impi_Type_create_struct(count int64, blocklengths, displacements, oldtypes, newtype uintptr, wide int32) int32 {
	k := check{fn: "MPI_Type_create_struct"}
	if k.notStarted() {
		return k.fail()
	}
	k.result(newtype, "newtype")
	k.blocks(count, blocklengths, displacements)
	k.array(oldtypes, int(count), "array_of_types")
	if k.err != nil {
		return k.fail()
	}
	var room [16]*datatype.Type
	olds := room[:0]
	for i, h := range slice[uintptr](oldtypes, int(count)) {
		old := typeOf(h)
		if old == nil {
			k.badType(h, fmt.Sprintf("array_of_types[%d]", i))
		}
		olds = append(olds, old)
	}
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_STRUCT, wide, []int64{count}, olds,
		[]list{{blocklengths, count, wide != 0}, {displacements, count, true}}},
		func(l []int64) (*datatype.Type, error) {
			return datatype.Struct(l[:count], l[count:], slices.Clone(olds))
		})
}

// dims checks the number of dimensions of an array.
func (k *check) dims(n int32) int64 {
	if n < 1 {
		k.set(abi.MPI_ERR_DIMS, "argument ndims is %d, and must be at least 1", n)
	}
	return int64(n)
}

//export impi_Type_create_subarray
func impi_Type_create_subarray(ndims int32, array_of_sizes, array_of_subsizes, array_of_starts uintptr, order int32,
	oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_subarray", oldtype, newtype)
	n, w := k.dims(ndims), wide != 0
	k.array(array_of_sizes, int(n), "array_of_sizes")
	k.array(array_of_subsizes, int(n), "array_of_subsizes")
	k.array(array_of_starts, int(n), "array_of_starts")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_SUBARRAY, wide, []int64{n, int64(order)}, []*datatype.Type{old},
		[]list{{array_of_sizes, n, w}, {array_of_subsizes, n, w}, {array_of_starts, n, w}}},
		func(l []int64) (*datatype.Type, error) {
			return datatype.Subarray(l[:n:n], l[n:2*n:2*n], l[2*n:], int(order), old)
		})
}

//export impi_Type_create_darray
func impi_Type_create_darray(size, rank, ndims int32, array_of_gsizes, array_of_distribs, array_of_dargs,
	array_of_psizes uintptr,
	order int32, oldtype, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_darray", oldtype, newtype)
	n := k.dims(ndims)
	k.array(array_of_gsizes, int(n), "array_of_gsizes")
	k.array(array_of_distribs, int(n), "array_of_distribs")
	k.array(array_of_dargs, int(n), "array_of_dargs")
	k.array(array_of_psizes, int(n), "array_of_psizes")
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_DARRAY, wide,
		[]int64{int64(size), int64(rank), n, int64(order)}, []*datatype.Type{old}, []list{{array_of_gsizes, n, wide != 0},
			{array_of_distribs, n, false}, {array_of_dargs, n, false}, {array_of_psizes, n, false}}},
		func(l []int64) (*datatype.Type, error) {
			return datatype.Darray(int64(size), int64(rank), l[:n], l[n:2*n], l[2*n:3*n], l[3*n:], int(order), old)
		})
}

//export impi_Type_create_resized
func impi_Type_create_resized(oldtype uintptr, lb, extent int64, newtype uintptr, wide int32) int32 {
	k, old := typeArgs("MPI_Type_create_resized", oldtype, newtype)
	return k.construct(newtype, typeCall{abi.MPI_COMBINER_RESIZED, wide, []int64{lb, extent}, []*datatype.Type{old}, nil},
		func([]int64) (*datatype.Type, error) { return datatype.Resized(old, lb, extent) })
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
	from, ready := usable(oldtype)
	if _, some := from.attrs.last(); !some {
		code := k.construct(newtype, typeCall{abi.MPI_COMBINER_DUP, 0, nil, []*datatype.Type{old}, nil},
			func([]int64) (*datatype.Type, error) { return datatype.Dup(old), nil })
		if code == 0 && ready {
			commitType(*ref[uintptr](newtype))
		}
		return code
	}
	d := &dataType{Type: datatype.Dup(old)}
	if ready {
		d.Commit()
	}
	if code := from.attrs.copyAll(oldtype, &d.attrs); code != 0 {
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

// typeBound returns one number of a type: the MPI-1 queries.
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

//export impi_Type_fromint
func impi_Type_fromint(datatype int32) uintptr {
	switch datatype {
	case handleLB, handleUB, abi.IMPI_2INTEGER8:
		return uintptr(datatype)
	}
	h := fromIntOr(&types, datatype, abi.MPI_DATATYPE_NULL)
	if datatype >= handle.First && published(h) == nil {
		return abi.MPI_DATATYPE_NULL
	}
	return h
}

// The types of so many digits (MPI 5.0, 19.1.9). They are predefined, if without a name: the same arguments give the
// same handle, which is never freed.

type f90Args struct {
	combiner int
	p, r     int32 // an integer has no p
}

type f90Table struct {
	sync.Mutex
	handles map[f90Args]uintptr
	types   map[*datatype.Type]uintptr
}

var f90Types = f90Table{handles: map[f90Args]uintptr{}, types: map[*datatype.Type]uintptr{}}

// of returns the handle that belongs to some arguments.
func (f *f90Table) of(args f90Args) (uintptr, error) {
	f.Lock()
	defer f.Unlock()
	if h := f.handles[args]; h != 0 {
		return h, nil
	}
	t, err := args.make()
	if err != nil {
		return 0, err
	}
	h := addType(&dataType{Type: t, fixed: true})
	f.handles[args], f.types[t] = h, h
	return h, nil
}

func (a f90Args) make() (*datatype.Type, error) {
	switch a.combiner {
	case abi.MPI_COMBINER_F90_REAL:
		return datatype.F90Real(int(a.p), int(a.r))
	case abi.MPI_COMBINER_F90_COMPLEX:
		return datatype.F90Complex(int(a.p), int(a.r))
	}
	return datatype.F90Integer(int(a.r))
}

// handle is that of a type which is one of these, 0 if it is none.
func (f *f90Table) handle(t *datatype.Type) uintptr {
	f.Lock()
	defer f.Unlock()
	return f.types[t]
}
