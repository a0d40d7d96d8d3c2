package main

import "C"

import (
	"strings"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// Split collective access (MPI 5.0, 14.4.5): one at a time for a file. It is carried out between its beginning and its
// end.

// split is the one that is under way.
type split struct {
	fn  string // that began it; "": none
	buf uintptr
}

// end is the function that ends it.
func (s *split) end() string { return strings.TrimSuffix(s.fn, "_begin") + "_end" }

// accessBegin begins a split access.
func accessBegin(fn string, write bool, kind *file.Access, fh uintptr, offset int64, b block, buf uintptr) int32 {
	var a fileAccess
	if a.args(fn, write, kind, fh, offset, b); a.refuse() {
		return a.fail()
	}
	if err := a.f.Begin(fn, a.Access); err != nil {
		return a.failed(err)
	}
	a.f.split = split{a.fn, buf}
	return 0
}

// endSplit ends the one that is under way.
func endSplit(fn string, fh, buf, status uintptr) int32 {
	k := fileQuery(fn, fh)
	if k.err != nil {
		return k.fail()
	}
	switch s := k.f.split; {
	case s.fn == "":
		k.set(abi.MPI_ERR_OTHER, "no split collective operation is under way on %s", k.f)
	case s.end() != fn:
		k.set(abi.MPI_ERR_OTHER, "%s is under way on %s: call %s", s.fn, k.f, s.end())
	case s.buf != buf:
		k.set(abi.MPI_ERR_BUFFER, "argument buf is %#x, and it was %#x in the call of %s", buf, s.buf, s.fn)
	}
	if k.err != nil {
		return k.fail()
	}
	if err := k.f.Agree(fn, nil); err != nil {
		return k.failed(err)
	}
	k.f.split = split{}
	n, err := k.f.End()
	return k.moved(n, err, status)
}

//export impi_File_read_at_all_begin
func impi_File_read_at_all_begin(fh uintptr, offset int64, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_read_at_all_begin", false, &atOffsetAll, fh, offset, block{buf, count, datatype}, buf)
}

//export impi_File_read_at_all_end
func impi_File_read_at_all_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_read_at_all_end", fh, buf, status)
}

//export impi_File_read_all_begin
func impi_File_read_all_begin(fh uintptr, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_read_all_begin", false, &atOwnAll, fh, 0, block{buf, count, datatype}, buf)
}

//export impi_File_read_all_end
func impi_File_read_all_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_read_all_end", fh, buf, status)
}

//export impi_File_read_ordered_begin
func impi_File_read_ordered_begin(fh uintptr, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_read_ordered_begin", false, &inOrder, fh, 0, block{buf, count, datatype}, buf)
}

//export impi_File_read_ordered_end
func impi_File_read_ordered_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_read_ordered_end", fh, buf, status)
}

//export impi_File_write_at_all_begin
func impi_File_write_at_all_begin(fh uintptr, offset int64, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_write_at_all_begin", true, &atOffsetAll, fh, offset, block{buf, count, datatype}, buf)
}

//export impi_File_write_at_all_end
func impi_File_write_at_all_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_write_at_all_end", fh, buf, status)
}

//export impi_File_write_all_begin
func impi_File_write_all_begin(fh uintptr, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_write_all_begin", true, &atOwnAll, fh, 0, block{buf, count, datatype}, buf)
}

//export impi_File_write_all_end
func impi_File_write_all_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_write_all_end", fh, buf, status)
}

//export impi_File_write_ordered_begin
func impi_File_write_ordered_begin(fh uintptr, buf uintptr, count int64, datatype uintptr) int32 {
	return accessBegin("MPI_File_write_ordered_begin", true, &inOrder, fh, 0, block{buf, count, datatype}, buf)
}

//export impi_File_write_ordered_end
func impi_File_write_ordered_end(fh, buf, status uintptr) int32 {
	return endSplit("MPI_File_write_ordered_end", fh, buf, status)
}
