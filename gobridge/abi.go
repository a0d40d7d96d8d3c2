package main

import "C"

import (
	"strconv"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// What the binary interface says of itself (MPI 5.0, 20.1 and 20.2). All of it works before MPI_Init and after
// MPI_Finalize.

//export impi_Abi_get_version
func impi_Abi_get_version(abi_major, abi_minor uintptr) int32 {
	k := check{fn: "MPI_Abi_get_version"}
	k.result(abi_major, "abi_major")
	k.result(abi_minor, "abi_minor")
	if k.err != nil {
		return k.fail()
	}
	put[int32](abi_major, abi.MPI_ABI_VERSION)
	put[int32](abi_minor, abi.MPI_ABI_SUBVERSION)
	return 0
}

//export impi_Abi_get_info
func impi_Abi_get_info(newinfo uintptr) int32 {
	k := check{fn: "MPI_Abi_get_info"}
	if k.result(newinfo, "info"); k.err != nil {
		return k.fail()
	}
	i := &info{}
	for _, key := range [...]string{"mpi_aint_size", "mpi_count_size", "mpi_offset_size"} {
		i.set(key, "8")
	}
	return k.answer(infos.Add(i), newinfo)
}

// fortranSizes and fortranTypes are the datatypes that the information on Fortran is about, in order.
var (
	fortranSizes = [...]struct {
		key    string
		handle int
	}{
		{"logical", abi.MPI_LOGICAL}, {"integer", abi.MPI_INTEGER}, {"real", abi.MPI_REAL}, {"double_precision",
			abi.MPI_DOUBLE_PRECISION},
	}
	fortranTypes = [...]struct {
		key    string
		handle int
	}{
		{"logical1", abi.MPI_LOGICAL1}, {"logical2", abi.MPI_LOGICAL2}, {"logical4", abi.MPI_LOGICAL4}, {"logical8",
			abi.MPI_LOGICAL8}, {"logical16", abi.MPI_LOGICAL16},
		{"integer1", abi.MPI_INTEGER1}, {"integer2", abi.MPI_INTEGER2}, {"integer4", abi.MPI_INTEGER4}, {"integer8",
			abi.MPI_INTEGER8}, {"integer16", abi.MPI_INTEGER16},
		{"real2", abi.MPI_REAL2}, {"real4", abi.MPI_REAL4}, {"real8", abi.MPI_REAL8}, {"real16", abi.MPI_REAL16},
		{"complex4", abi.MPI_COMPLEX4}, {"complex8", abi.MPI_COMPLEX8}, {"complex16", abi.MPI_COMPLEX16}, {"complex32",
			abi.MPI_COMPLEX32},
		{"double_complex", abi.MPI_DOUBLE_COMPLEX},
	}
)

// fortranInfo is what is known: the sizes of the library's Fortran datatypes, which are fixed.
func fortranInfo() *info {
	i := &info{}
	for _, t := range fortranSizes {
		i.set("mpi_"+t.key+"_size", strconv.FormatInt(datatype.Named(t.handle).Size(), 10))
	}
	for _, t := range fortranTypes {
		named := datatype.Named(t.handle)
		i.set("mpi_"+t.key+"_supported", strconv.FormatBool(named != nil && named.Size() > 0))
	}
	return i
}

//export impi_Abi_get_fortran_info
func impi_Abi_get_fortran_info(newinfo uintptr) int32 {
	k := check{fn: "MPI_Abi_get_fortran_info"}
	if k.result(newinfo, "info"); k.err != nil {
		return k.fail()
	}
	return k.answer(infos.Add(fortranInfo()), newinfo)
}

// impi_Abi_set_fortran_info cannot set what is known.
//
//export impi_Abi_set_fortran_info
func impi_Abi_set_fortran_info(infoHandle uintptr) int32 {
	k := check{fn: "MPI_Abi_set_fortran_info"}
	if i := k.someInfo(infoHandle); i != nil {
		k.set(abi.MPI_ERR_ABI, "the properties of the Fortran datatypes are known: see MPI_Abi_get_fortran_info")
	}
	return k.fail()
}

// logicalValues are the values of .true. and .false., of which the library knows what the program says first.
var logicalValues struct {
	sync.Mutex
	yes, no string // their bytes; "" while they are not known
}

// logicalSize checks the size of a LOGICAL in bytes.
func (k *check) logicalSize(n int32) {
	if n < 1 || n > 16 || n&(n-1) != 0 {
		k.set(abi.MPI_ERR_ARG, "argument logical_size is %d; LOGICAL has 1, 2, 4, 8 or 16 bytes", n)
	}
}

//export impi_Abi_get_fortran_booleans
func impi_Abi_get_fortran_booleans(logical_size int32, logical_true, logical_false, is_set uintptr) int32 {
	k := check{fn: "MPI_Abi_get_fortran_booleans"}
	k.logicalSize(logical_size)
	k.result(logical_true, "logical_true")
	k.result(logical_false, "logical_false")
	if k.result(is_set, "is_set"); k.err != nil {
		return k.fail()
	}
	logicalValues.Lock()
	defer logicalValues.Unlock()
	known := len(logicalValues.yes) == int(logical_size)
	putFlag(is_set, known)
	if known {
		copy(slice[byte](logical_true, int(logical_size)), logicalValues.yes)
		copy(slice[byte](logical_false, int(logical_size)), logicalValues.no)
	}
	return 0
}

//export impi_Abi_set_fortran_booleans
func impi_Abi_set_fortran_booleans(logical_size int32, logical_true, logical_false uintptr) int32 {
	k := check{fn: "MPI_Abi_set_fortran_booleans"}
	k.logicalSize(logical_size)
	k.result(logical_true, "logical_true")
	k.result(logical_false, "logical_false")
	if k.err != nil {
		return k.fail()
	}
	logicalValues.Lock()
	defer logicalValues.Unlock()
	if logicalValues.yes != "" {
		k.set(abi.MPI_ERR_ABI, "the values of LOGICAL have been set, for %d bytes", len(logicalValues.yes))
		return k.fail()
	}
	logicalValues.yes = string(slice[byte](logical_true, int(logical_size)))
	logicalValues.no = string(slice[byte](logical_false, int(logical_size)))
	return 0
}
