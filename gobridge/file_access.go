package main

import "C"

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/libimpi"
)

// Data access (MPI 5.0, 14.4). A call is an access (file.Access) that is carried out at once, or started; split
// collective ones are in file_split.go.

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
	put(request, id)
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
