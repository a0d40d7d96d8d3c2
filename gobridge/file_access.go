package main

// #include "shim/z_callbacks.h"
import "C"

import (
	"runtime"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/libimpi"
)

// Data access (MPI 5.0, 14.4). A call is an access (file.Access) that is carried out at once, or started; split
// split collective ones in file.go.

// fileAccess is a call of data access.
type fileAccess struct {
	check
	file.Access
}

// kinds of access, by what is in a function's name.
var (
	atOffset    = file.Access{Where: file.Explicit}
	atOffsetAll = file.Access{Where: file.Explicit, Collective: true}
	atOwn       = file.Access{Where: file.Individual}
	atOwnAll    = file.Access{Where: file.Individual, Collective: true}
	atShared    = file.Access{Where: file.Shared}
	inOrder     = file.Access{Where: file.Ordered, Collective: true}
)

// args checks the arguments of an access. What is wrong with a collective one the other members have to be told.
func (a *fileAccess) args(fn string, write bool, kind *file.Access, fh uintptr, offset int64, b block) {
	a.fn = fn
	if a.file(fh) == nil {
		return
	}
	a.Where, a.Collective, a.Write, a.Offset = kind.Where, kind.Collective, write, offset
	a.count(b.count, "count")
	a.Buf.Type = a.typ(b.dt, "datatype")
	a.buffer(b.p, b.count, a.Buf.Type, "buf")
	a.Buf.Base, a.Buf.Count = at(b.p), b.count
	if (kind.Where == file.Shared || kind.Where == file.Ordered) && a.f.ViewsDiffer() {
		a.set(abi.MPI_ERR_NOT_SAME, "the members of %s have different views, and the shared file pointer needs the same one",
			a.f)
	}
	if a.f.split.fn != "" && kind.Collective {
		a.set(abi.MPI_ERR_OTHER, "%s is under way: call %s first", a.f.split.fn, a.f.split.end())
	}
}

// refuse tells the other members of a collective access what is wrong with it here. It reports whether there is nothing
// left to do.
func (a *fileAccess) refuse() bool {
	if a.err == nil {
		return false
	}
	a.Refused = libimpi.Refusal(a.err)
	return a.f == nil || a.f == noFile || !a.Collective
}

// accessNow carries an access out.
func accessNow(fn string, write bool, kind *file.Access, fh uintptr, offset int64, b block, status uintptr) int32 {
	var a fileAccess
	if a.args(fn, write, kind, fh, offset, b); a.refuse() {
		return a.fail()
	}
	if kind.Collective {
		if err := a.f.Agree(fn, nil); err != nil {
			return a.failed(err)
		}
	}
	n, err := a.f.Do(&a.Access)
	return a.moved(n, err, status)
}

// moved stores the status of an access of so many bytes, and returns its code.
func (k *check) moved(n int64, err error, status uintptr) int32 {
	return k.received(err, &libimpi.Status{Source: abi.MPI_ANY_SOURCE, Tag: abi.MPI_ANY_TAG, Bytes: n}, status)
}

// accessLater starts an access.
func accessLater(fn string, write bool, kind *file.Access, fh uintptr, offset int64, b block, request uintptr) int32 {
	var a fileAccess
	a.args(fn, write, kind, fh, offset, b)
	if a.result(request, "request"); a.refuse() {
		return a.fail()
	}
	id, err := a.f.Start(fn, a.Access)
	if err != nil {
		return a.failed(err)
	}
	a.give(request, id)
	return 0
}

//export impi_File_read_at
func impi_File_read_at(fh uintptr, offset int64, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read_at", false, &atOffset, fh, offset, block{buf, count, datatype}, status)
}

//export impi_File_read_at_all
func impi_File_read_at_all(fh uintptr, offset int64, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read_at_all", false, &atOffsetAll, fh, offset, block{buf, count, datatype}, status)
}

//export impi_File_read
func impi_File_read(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read", false, &atOwn, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_read_all
func impi_File_read_all(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read_all", false, &atOwnAll, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_read_shared
func impi_File_read_shared(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read_shared", false, &atShared, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_read_ordered
func impi_File_read_ordered(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_read_ordered", false, &inOrder, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_write_at
func impi_File_write_at(fh uintptr, offset int64, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write_at", true, &atOffset, fh, offset, block{buf, count, datatype}, status)
}

//export impi_File_write_at_all
func impi_File_write_at_all(fh uintptr, offset int64, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write_at_all", true, &atOffsetAll, fh, offset, block{buf, count, datatype}, status)
}

//export impi_File_write
func impi_File_write(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write", true, &atOwn, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_write_all
func impi_File_write_all(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write_all", true, &atOwnAll, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_write_shared
func impi_File_write_shared(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write_shared", true, &atShared, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_write_ordered
func impi_File_write_ordered(fh uintptr, buf uintptr, count int64, datatype, status uintptr) int32 {
	return accessNow("MPI_File_write_ordered", true, &inOrder, fh, 0, block{buf, count, datatype}, status)
}

//export impi_File_iread_at
func impi_File_iread_at(fh uintptr, offset int64, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iread_at", false, &atOffset, fh, offset, block{buf, count, datatype}, request)
}

//export impi_File_iread_at_all
func impi_File_iread_at_all(fh uintptr, offset int64, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iread_at_all", false, &atOffsetAll, fh, offset, block{buf, count, datatype}, request)
}

//export impi_File_iread
func impi_File_iread(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iread", false, &atOwn, fh, 0, block{buf, count, datatype}, request)
}

//export impi_File_iread_all
func impi_File_iread_all(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iread_all", false, &atOwnAll, fh, 0, block{buf, count, datatype}, request)
}

//export impi_File_iread_shared
func impi_File_iread_shared(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iread_shared", false, &atShared, fh, 0, block{buf, count, datatype}, request)
}

//export impi_File_iwrite_at
func impi_File_iwrite_at(fh uintptr, offset int64, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iwrite_at", true, &atOffset, fh, offset, block{buf, count, datatype}, request)
}

//export impi_File_iwrite_at_all
func impi_File_iwrite_at_all(fh uintptr, offset int64, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iwrite_at_all", true, &atOffsetAll, fh, offset, block{buf, count, datatype}, request)
}

//export impi_File_iwrite
func impi_File_iwrite(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iwrite", true, &atOwn, fh, 0, block{buf, count, datatype}, request)
}

//export impi_File_iwrite_all
func impi_File_iwrite_all(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iwrite_all", true, &atOwnAll, fh, 0, block{buf, count, datatype}, request)
}

//export impi_File_iwrite_shared
func impi_File_iwrite_shared(fh uintptr, buf uintptr, count int64, datatype, request uintptr) int32 {
	return accessLater("MPI_File_iwrite_shared", true, &atShared, fh, 0, block{buf, count, datatype}, request)
}

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
	if k.f.Verifies() {
		if refused := k.err; !k.agreeFile([]coll.Value{alikeHints(k.info(info)), k.f.pending()}) {
			return k.fail()
		} else if refused != nil {
			k.err = refused
		}
	}
	if err := k.f.SetView(v, hints, libimpi.Refusal(k.err)); err != nil {
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
func impi_File_get_type_extent(fh, dt, extent uintptr) int32 {
	k := fileQuery("MPI_File_get_type_extent", fh)
	if k.err != nil {
		return k.fail()
	}
	t := k.anyType(dt, "datatype")
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

// representations are those that there are.
var representations file.Representations

// representation looks a representation up.
func (k *check) representation(name uintptr) file.Representation {
	if k.result(name, "datarep"); name == 0 {
		return nil
	}
	r, err := representations.Find(text(name, abi.MPI_MAX_DATAREP_STRING))
	if err != nil {
		e := libimpi.AsError(err)
		k.set(e.Class, "argument datarep: %s", e.Text)
	}
	return r
}

// conversion are the functions of a representation that the program registers.
type conversion struct {
	extent, extra uintptr
	wide          bool // counts have 64 bits
}

// fileExtent implements file.FileExtent.
func (c *conversion) fileExtent(t *datatype.Type) (bytes int64, code int) {
	elsewhere.Add(1)
	defer elsewhere.Add(-1)
	var n C.MPI_Aint
	answer := C.impi_call_Datarep_extent(C.uintptr_t(c.extent), C.uintptr_t(handleOfType(t)), &n, C.uintptr_t(c.extra))
	return int64(n), int(answer)
}

// convert makes a file.Conversion of a function; nil of MPI_CONVERSION_FN_NULL.
func (c *conversion) convert(fn uintptr) file.Conversion {
	if fn == 0 {
		return nil
	}
	return func(user datatype.Pointer, t *datatype.Type, count int64, bytes []byte, position int64) int {
		elsewhere.Add(1)
		defer elsewhere.Add(-1)
		h := handleOfType(t)
		if h == 0 {
			return abi.MPI_ERR_NO_MEM
		}
		if t.Handle() == 0 && handle.KindOf(h) == kindType {
			commitType(h)
			defer endType(h)
		}
		defer runtime.KeepAlive(bytes)
		f, memory, in := C.uintptr_t(fn), C.uintptr_t(uintptr(user)), C.uintptr_t(address(unsafe.SliceData(bytes)))
		dt, at, extra := C.uintptr_t(h), C.uintptr_t(position), C.uintptr_t(c.extra)
		if c.wide {
			return int(C.impi_call_Datarep_conversion_c(f, memory, dt, C.uintptr_t(count), in, at, extra))
		}
		return int(C.impi_call_Datarep_conversion(f, memory, dt, C.int(count), in, at, extra))
	}
}

//export impi_Register_datarep
func impi_Register_datarep(datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state uintptr,
	wide int32) int32 {
	k := fileCall("MPI_Register_datarep")
	k.result(datarep, "datarep")
	if k.result(dtype_file_extent_fn, "dtype_file_extent_fn"); k.err != nil {
		return k.fail()
	}
	c := &conversion{dtype_file_extent_fn, extra_state, wide != 0}
	return k.done(representations.Register(text(datarep, abi.MPI_MAX_DATAREP_STRING+1), c.convert(read_conversion_fn),
		c.convert(write_conversion_fn), c.fileExtent))
}
