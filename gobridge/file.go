package main

// #include "shim/shim.h"
import "C"

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/disk"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/checks"
)

// Files (MPI 5.0, 14.2): how they are opened and closed, and what a program asks of them. Views and data access are in
// file_access.go.
type openFile struct {
	*libimpi.File
	handle  uintptr
	handler atomic.Pointer[errhandler]
	session *session // of its communicator
	split   split

	etype, filetype *datatype.Type // of the view, as the program has given them
}

// fileSystem is where files are.
var fileSystem file.FileSystem = disk.New()

// noFile stands for MPI_FILE_NULL, whose error handler files begin with (MPI 5.0, 14.7): MPI_ERRORS_RETURN, unless the
// program has set another. It gets the errors of calls that have no file.
var noFile = &openFile{handle: abi.MPI_FILE_NULL}

func (f *openFile) errhandler() *errhandler {
	if h := f.handler.Load(); h != nil {
		return h
	}
	return errorsReturn
}

// file looks a file up; the others need it, so it comes first.
func (k *check) file(h uintptr) *openFile {
	if k.notStarted() {
		return nil
	}
	if k.f = files.Find(h); k.f != nil {
		return k.f
	}
	if k.f = noFile; h == abi.MPI_FILE_NULL {
		k.set(abi.MPI_ERR_FILE, "argument fh is MPI_FILE_NULL")
	} else {
		k.set(abi.MPI_ERR_FILE, "argument fh (%#x) is not a file, or has been closed", h)
	}
	return nil
}

func fileQuery(fn string, fh uintptr) (k check) {
	k.fn = fn
	k.file(fh)
	return k
}

// handlerQuery is fileQuery of a function that takes MPI_FILE_NULL, too.
func handlerQuery(fn string, fh uintptr) (k check) {
	if k.fn = fn; fh != abi.MPI_FILE_NULL {
		k.file(fh)
	} else if !k.notStarted() {
		k.f = noFile
	}
	return k
}

// fileCall starts the checks of a call that has no file.
func fileCall(fn string) (k check) {
	if k.fn = fn; !k.notStarted() {
		k.f = noFile
	}
	return k
}

// fileName reads the name of a file.
func (k *check) fileName(p uintptr) string {
	if p == 0 {
		k.set(abi.MPI_ERR_BAD_FILE, "argument filename is NULL")
		return ""
	}
	name := text(p, mostName+1)
	if name == "" || len(name) > mostName {
		k.set(abi.MPI_ERR_BAD_FILE, "argument filename has %d characters; 1 to %d are allowed", len(name), mostName)
	}
	return name
}

// mostName is the longest name of a file.
const mostName = 4096

// hints are some hints with those of an info argument.
func (k *check) hints(h file.Hints, info uintptr) file.Hints {
	if i := k.info(info); i != nil {
		i.each(h.Set)
	}
	return h
}

// opened are the files that are open, for the end of MPI.
var opened struct {
	sync.Mutex
	files map[*openFile]bool
}

func (f *openFile) note(open bool) {
	opened.Lock()
	defer opened.Unlock()
	if opened.files == nil {
		opened.files = map[*openFile]bool{}
	}
	if open {
		opened.files[f] = true
	} else {
		delete(opened.files, f)
	}
}

// endFiles says which files the program has left open at MPI_Finalize, which is an error (MPI 5.0, 14.2.2). Those that
// go when they are closed go.
func endFiles() {
	opened.Lock()
	defer opened.Unlock()
	for f := range opened.files {
		if !f.First() {
			continue
		}
		if !engine().Checks().Has(checks.Leaks) { // otherwise it has been said
			fmt.Fprintf(os.Stderr, "%s: file %s is open at MPI_Finalize: call MPI_File_close\n", whoAmI(), f)
		}
		if f.Mode()&abi.MPI_MODE_DELETE_ON_CLOSE != 0 {
			fileSystem.Remove(f.Name())
		}
	}
	opened.files = nil
}

//export impi_File_open
func impi_File_open(comm, filename uintptr, amode int32, info, fh uintptr) int32 {
	k := fileCall("MPI_File_open")
	if k.err != nil || k.comm(comm) == nil {
		return k.fail()
	}
	if k.intra(); k.err != nil {
		return k.fail()
	}
	name, hints := k.fileName(filename), k.hints(file.Hints{}, info)
	if k.result(fh, "fh"); k.c.Verifies() {
		if err := k.c.SameCall("", coll.Call{Routine: coll.Function(k.fn), Values: []coll.Value{alikeHints(k.info(info)),
			differs("argument amode", int64(amode))}}); err != nil {
			return k.failed(err)
		}
	}
	made, err := k.c.OpenFile(fileSystem, name, int(amode), hints, k.err)
	if err != nil {
		return k.failed(err)
	}
	f := &openFile{File: made, session: k.c.session}
	f.handler.Store(noFile.handler.Load())
	f.etype, f.filetype = datatype.Named(abi.MPI_BYTE), datatype.Named(abi.MPI_BYTE)
	made.Bridge = f
	if f.handle = files.Add(f); f.handle != 0 {
		f.note(true)
	}
	return k.answer(f.handle, fh)
}

//export impi_File_close
func impi_File_close(fh uintptr) int32 {
	k := fileCall("MPI_File_close")
	if k.result(fh, "fh"); k.err != nil {
		return k.fail()
	}
	h := *ref[uintptr](fh)
	f := k.file(h)
	if f != nil && f.split.fn != "" {
		k.set(abi.MPI_ERR_OTHER, "%s is under way on %s: call %s", f.split.fn, f, f.split.end())
	}
	if k.err == nil && f.Verifies() && !f.Broken() {
		k.agreeFile(nil)
	}
	if k.err != nil {
		return k.fail()
	}
	err := f.Close()
	f.note(false)
	code := k.done(err)
	files.Drop(h)
	put[uintptr](fh, abi.MPI_FILE_NULL)
	return code
}

//export impi_File_delete
func impi_File_delete(filename, info uintptr) int32 {
	k := fileCall("MPI_File_delete")
	if k.err != nil {
		return k.fail()
	}
	name := k.fileName(filename)
	if k.info(info); k.err != nil {
		return k.fail()
	}
	return k.done(fileSystem.Remove(name))
}

//export impi_File_set_size
func impi_File_set_size(fh uintptr, size int64) int32 {
	return together("MPI_File_set_size", fh, func(f *openFile) []coll.Value {
		return []coll.Value{differs("argument size", size), f.pending()}
	}, func(f *openFile) error { return f.SetSize(size) })
}

//export impi_File_preallocate
func impi_File_preallocate(fh uintptr, size int64) int32 {
	return together("MPI_File_preallocate", fh, func(f *openFile) []coll.Value {
		return []coll.Value{differs("argument size", size), f.pending()}
	}, func(f *openFile) error { return f.Preallocate(size) })
}

//export impi_File_sync
func impi_File_sync(fh uintptr) int32 {
	return together("MPI_File_sync", fh, nothingAlike, func(f *openFile) error { return f.Sync() })
}

//export impi_File_set_atomicity
func impi_File_set_atomicity(fh uintptr, flag int32) int32 {
	return together("MPI_File_set_atomicity", fh, func(*openFile) []coll.Value {
		return []coll.Value{coll.Flag("argument flag", abi.MPI_ERR_NOT_SAME, flag != 0)}
	}, func(f *openFile) error { return f.SetAtomic(flag != 0) })
}

//export impi_File_seek_shared
func impi_File_seek_shared(fh uintptr, offset int64, whence int32) int32 {
	return together("MPI_File_seek_shared", fh, func(*openFile) []coll.Value {
		return []coll.Value{differs("argument offset", offset), differs("argument whence", int64(whence))}
	}, func(f *openFile) error { return f.SeekShared(offset, int(whence)) })
}

// together carries out what all members call, after they have compared what alike tells, if they compare.
func together(fn string, fh uintptr, alike func(*openFile) []coll.Value, do func(f *openFile) error) int32 {
	k := fileQuery(fn, fh)
	if k.err != nil {
		return k.fail()
	}
	if k.f.Verifies() {
		if values := alike(k.f); !k.agreeFile(values) {
			return k.fail()
		}
	}
	return k.done(do(k.f))
}

//export impi_File_seek
func impi_File_seek(fh uintptr, offset int64, whence int32) int32 {
	k := fileQuery("MPI_File_seek", fh)
	if k.err != nil {
		return k.fail()
	}
	return k.done(k.f.SeekTo(offset, int(whence)))
}

// number returns a number that a file knows.
func number(fn string, fh, out uintptr, arg string, what func(f *openFile) (int64, error)) int32 {
	k := fileQuery(fn, fh)
	if k.result(out, arg); k.err != nil {
		return k.fail()
	}
	n, err := what(k.f)
	if err != nil {
		return k.failed(err)
	}
	put(out, n)
	return 0
}

//export impi_File_get_size
func impi_File_get_size(fh, size uintptr) int32 {
	return number("MPI_File_get_size", fh, size, "size", func(f *openFile) (int64, error) { return f.Size() })
}

//export impi_File_get_position
func impi_File_get_position(fh, offset uintptr) int32 {
	return number("MPI_File_get_position", fh, offset, "offset", func(f *openFile) (int64, error) { return f.Position() })
}

//export impi_File_get_position_shared
func impi_File_get_position_shared(fh, offset uintptr) int32 {
	return number("MPI_File_get_position_shared", fh, offset, "offset",
		func(f *openFile) (int64, error) { return f.PositionShared() })
}

//export impi_File_get_byte_offset
func impi_File_get_byte_offset(fh uintptr, offset int64, disp uintptr) int32 {
	return number("MPI_File_get_byte_offset", fh, disp, "disp",
		func(f *openFile) (int64, error) { return f.ByteOffset(offset) })
}

//export impi_File_get_amode
func impi_File_get_amode(fh, amode uintptr) int32 {
	k := fileQuery("MPI_File_get_amode", fh)
	if k.result(amode, "amode"); k.err != nil {
		return k.fail()
	}
	put(amode, int32(k.f.Mode()))
	return 0
}

//export impi_File_get_atomicity
func impi_File_get_atomicity(fh, flag uintptr) int32 {
	k := fileQuery("MPI_File_get_atomicity", fh)
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	putFlag(flag, k.f.Atomic())
	return 0
}

//export impi_File_get_group
func impi_File_get_group(fh, groupOut uintptr) int32 {
	k := fileQuery("MPI_File_get_group", fh)
	if k.result(groupOut, "group"); k.err != nil {
		return k.fail()
	}
	return k.answer(saveGroup(k.f.Group(), k.f.session), groupOut)
}

//export impi_File_set_info
func impi_File_set_info(fh, info uintptr) int32 {
	k := fileQuery("MPI_File_set_info", fh)
	if k.err != nil {
		return k.fail()
	}
	hints := k.hints(k.f.Given(), info)
	if k.f.Verifies() && !k.agreeFile([]coll.Value{alikeHints(k.info(info))}) {
		return k.fail()
	}
	if err := k.f.SetHints(hints); err != nil && k.err == nil {
		return k.failed(err)
	}
	if k.err != nil {
		return k.fail()
	}
	return 0
}

//export impi_File_get_info
func impi_File_get_info(fh, info_used uintptr) int32 {
	k := fileQuery("MPI_File_get_info", fh)
	if k.result(info_used, "info_used"); k.err != nil {
		return k.fail()
	}
	i := &info{}
	for _, h := range k.f.Hints() {
		i.set(h.Key, h.Value)
	}
	i.set(kindsKey, k.f.session.memoryKinds())
	return k.answer(infos.Add(i), info_used)
}

//export impi_File_create_errhandler
func impi_File_create_errhandler(file_errhandler_fn, errhandler uintptr) int32 {
	return createErrhandler("MPI_File_create_errhandler", file_errhandler_fn, "file_errhandler_fn", nil, errhandler)
}

//export impi_File_set_errhandler
func impi_File_set_errhandler(file, errhandler uintptr) int32 {
	k := handlerQuery("MPI_File_set_errhandler", file)
	h := k.errhandler(errhandler)
	if k.err != nil {
		return k.fail()
	}
	k.f.handler.Store(h)
	return 0
}

//export impi_File_get_errhandler
func impi_File_get_errhandler(file, errhandler uintptr) int32 {
	k := handlerQuery("MPI_File_get_errhandler", file)
	if k.result(errhandler, "errhandler"); k.err != nil {
		return k.fail()
	}
	return k.answer(k.f.errhandler().hold(), errhandler)
}

//export impi_File_call_errhandler
func impi_File_call_errhandler(fh uintptr, errorcode int32) int32 {
	k := handlerQuery("MPI_File_call_errhandler", fh)
	if k.err != nil {
		return k.fail()
	}
	return callHandler(k.f.errhandler(), fh, errorcode)
}

//export impi_File_fromint
func impi_File_fromint(file int32) uintptr { return fromIntOr(&files, file, abi.MPI_FILE_NULL) }

//export impi_File_f2c
func impi_File_f2c(file int32) uintptr { return fromIntOr(&files, file, abi.MPI_FILE_NULL) }

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
