package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// Views, and how data stands in files (MPI 5.0, 14.3 and 14.5).

//export impi_File_set_view
func impi_File_set_view(fh uintptr, disp int64, etype, filetype, datarep, info uintptr) int32 {
	k := fileQuery("MPI_File_set_view", fh)
	if k.err != nil {
		return k.fail()
	}
	v := file.View{Disp: disp, Etype: k.typ(etype, "etype"), Filetype: k.typ(filetype, "filetype"),
		Rep: k.representation(datarep)}
	hints := k.hints(k.f.Given(), info)
	if k.f.split.fn != "" {
		k.set(abi.MPI_ERR_OTHER, "%s is under way on %s: call %s", k.f.split.fn, k.f, k.f.split.end())
	}
	if err := k.f.SetView(v, hints, k.err); err != nil {
		return k.failed(err)
	}
	k.f.etype, k.f.filetype = v.Etype, v.Filetype
	return 0
}

//export impi_File_get_view
func impi_File_get_view(fh, disp, etype, filetype, datarep uintptr) int32 {
	k := fileQuery("MPI_File_get_view", fh)
	k.result(disp, "disp")
	k.result(etype, "etype")
	k.result(filetype, "filetype")
	if k.result(datarep, "datarep"); k.err != nil {
		return k.fail()
	}
	v := k.f.View()
	if code := k.answer(handleOfType(k.f.etype), etype); code != 0 {
		return code
	}
	if code := k.answer(handleOfType(k.f.filetype), filetype); code != 0 {
		return code
	}
	put(disp, v.Disp)
	putText(datarep, v.Rep.Name(), abi.MPI_MAX_DATAREP_STRING)
	return 0
}

//export impi_File_get_type_extent
func impi_File_get_type_extent(fh, datatype, extent uintptr) int32 {
	k := fileQuery("MPI_File_get_type_extent", fh)
	if k.err != nil {
		return k.fail()
	}
	t := k.anyType(datatype, "datatype")
	if k.result(extent, "extent"); k.err != nil {
		return k.fail()
	}
	n, err := k.f.View().Rep.Extent(t)
	if err != nil {
		return k.failed(err)
	}
	put(extent, n)
	return 0
}

// representations are those that there are, by name.
var representations = struct {
	sync.Mutex
	named map[string]file.Representation
}{named: map[string]file.Representation{"native": file.Native, "internal": file.Internal}}

// representation looks a representation up.
func (k *check) representation(name uintptr) file.Representation {
	if name == 0 {
		k.set(abi.MPI_ERR_ARG, "argument datarep is NULL")
		return nil
	}
	s := text(name, abi.MPI_MAX_DATAREP_STRING)
	representations.Lock()
	defer representations.Unlock()
	r := representations.named[s]
	if r == nil {
		k.set(abi.MPI_ERR_UNSUPPORTED_DATAREP, "argument datarep is %q, which is neither predefined nor registered", s)
	}
	return r
}

// conversion are the functions of a representation that the program has registered.
type conversion struct {
	name                       string
	read, write, extent, extra uintptr
	wide                       bool // counts have 64 bits
}

//export impi_Register_datarep
func impi_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state uintptr,
	wide int32) int32 {
	k := fileCall("MPI_Register_datarep")
	if k.result(datarep, "datarep"); k.err != nil {
		return k.fail()
	}
	k.result(dtype_file_extent_fn, "dtype_file_extent_fn")
	name := text(datarep, abi.MPI_MAX_DATAREP_STRING+1)
	if name == "" || len(name) >= abi.MPI_MAX_DATAREP_STRING {
		k.set(abi.MPI_ERR_ARG, "argument datarep has %d characters; 1 to %d are allowed", len(name),
			abi.MPI_MAX_DATAREP_STRING-1)
	}
	representations.Lock()
	defer representations.Unlock()
	if representations.named[name] != nil {
		k.set(abi.MPI_ERR_DUP_DATAREP, "argument datarep is %q, which is there already", name)
	}
	if k.err != nil {
		return k.fail()
	}
	representations.named[name] = newRepresentation(&conversion{name, read_conversion_fn, write_conversion_fn,
		dtype_file_extent_fn, extra_state, wide != 0})
	return 0
}
