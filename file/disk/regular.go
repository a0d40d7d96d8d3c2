package disk

import (
	"io"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// regular is a file with offsets (file.Storage).
type regular struct {
	sys      system
	name     string
	fd       int
	device   bool
	readable bool
	limit    uint64
	ranges   *ranges
}

// mostBytes is how much one call of the kernel is given: Linux moves less than 2 GiB.
const mostBytes = 1 << 30

// Seekable tells that bytes have offsets: the file is not one that can be read and written in order only.
func (f *regular) Seekable() bool { return true }

// Readable tells whether the file can be read, as one for MPI_MODE_WRONLY usually can.
func (f *regular) Readable() bool { return f.readable }

func (f *regular) ReadAt(p []byte, off int64) (int, error) {
	return f.readAll(p, off, func(rest []byte, done int) (int, error) {
		return f.sys.Pread(f.fd, rest, off+int64(done))
	})
}

// readAll fills p, or as much of it as there is, by a call that gets what is left of p and how much has been read.
func (f *regular) readAll(p []byte, off int64, call func(rest []byte, done int) (int, error)) (int, error) {
	done := 0
	for done < len(p) {
		n, err := call(p[done:min(len(p), done+mostBytes)], done)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, failedAt("read", f.name, off, len(p), done, err)
		case n == 0:
			return done, nil
		default:
			done += n
		}
	}
	return done, nil
}

// WriteAt writes what the limit of the process allows, and does not let the kernel send SIGXFSZ, which would end the
// program, for what is beyond.
func (f *regular) WriteAt(p []byte, off int64) (int, error) {
	all := len(p)
	var beyond error
	if end := uint64(off) + uint64(all); end > f.limit && !f.device {
		beyond = unix.EFBIG
		p = p[:max(int64(f.limit)-off, 0)]
	}
	done, err := f.writeAt(p, off)
	if err == nil {
		err = beyond
	}
	if err != nil {
		return done, failedAt("write", f.name, off, all, done, err)
	}
	return done, nil
}

// writeAt is WriteAt without a limit.
func (f *regular) writeAt(p []byte, off int64) (int, error) {
	return writeAll(p, func(rest []byte, done int) (int, error) { return f.sys.Pwrite(f.fd, rest, off+int64(done)) })
}

// writeAll writes all of p by a call that gets what is left of p and how much has been written.
func writeAll(p []byte, call func(rest []byte, done int) (int, error)) (done int, err error) {
	for nothing := false; done < len(p); {
		n, err := call(p[done:min(len(p), done+mostBytes)], done)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, err
		case n == 0 && nothing: // what does not get on without an error does not end either
			return done, errNothing
		default:
			done, nothing = done+n, n == 0
		}
	}
	return done, nil
}

// noProgress is what a write says that writes nothing and has no error: there is no room.
type noProgress struct{ error }

func (noProgress) Is(target error) bool { return target == unix.ENOSPC }

var errNothing = noProgress{io.ErrShortWrite}

func (f *regular) Size() (int64, error) {
	var st unix.Stat_t
	err := again(func() error { return f.sys.Fstat(f.fd, &st) })
	size := st.Size
	if err == nil && f.device {
		size, err = f.sys.Seek(f.fd, 0, unix.SEEK_END)
	}
	if err != nil {
		return 0, failed("get the size of", f.name, err)
	}
	return size, nil
}

func (f *regular) Truncate(size int64) error {
	err := error(unix.EFBIG)
	if uint64(size) <= f.limit {
		err = again(func() error { return f.sys.Ftruncate(f.fd, size) })
	}
	if err != nil {
		return failedAt("set the size of", f.name, size, 0, 0, err)
	}
	return nil
}

func (f *regular) Sync() error {
	if err := again(func() error { return f.sys.Fsync(f.fd) }); err != nil {
		return failed("sync", f.name, err)
	}
	return nil
}

// Identity is the number of the file and when it was changed, in nanoseconds. The number of its file system is not part
// of it: machines number those as they mount them.
func (f *regular) Identity() ([2]int64, error) {
	var st unix.Stat_t
	if err := again(func() error { return f.sys.Fstat(f.fd, &st) }); err != nil {
		return [2]int64{}, failed("identify", f.name, err)
	}
	return [2]int64{int64(st.Ino), st.Ctim.Nano()}, nil
}

func (f *regular) Close() error {
	// Interrupted or not, the descriptor is closed.
	if err := f.sys.Close(f.fd); err != nil && err != unix.EINTR {
		return failed("close", f.name, err)
	}
	return nil
}

// stream is a file without offsets: bytes are read and written in order, whatever the offset.
type stream struct{ regular }

// Seekable tells that bytes have no offsets.
func (f *stream) Seekable() bool { return false }

func (f *stream) ReadAt(p []byte, off int64) (int, error) {
	return f.readAll(p, off, func(rest []byte, _ int) (int, error) { return f.sys.Read(f.fd, rest) })
}

func (f *stream) WriteAt(p []byte, off int64) (int, error) {
	done, err := writeAll(p, func(rest []byte, _ int) (int, error) { return f.sys.Write(f.fd, rest) })
	if err != nil {
		return done, failedAt("write", f.name, off, len(p), done, err)
	}
	return done, nil
}

// Size is 0: nothing tells how much will come.
func (f *stream) Size() (int64, error) { return 0, nil }

func (f *stream) Truncate(int64) error { return f.unsupported("set the size of") }
func (f *stream) Allocate(int64) error { return f.unsupported("preallocate") }

func (f *stream) unsupported(what string) error {
	return &file.Error{Class: abi.MPI_ERR_UNSUPPORTED_OPERATION,
		Text: what + " " + f.name + ": it is not a file that has a size"}
}

// Sync does nothing if there is nothing to be done.
func (f *stream) Sync() error {
	err := again(func() error { return f.sys.Fsync(f.fd) })
	if err == nil || err == unix.EINVAL || err == unix.EROFS {
		return nil
	}
	return failed("sync", f.name, err)
}

func (f *stream) Lock(int64, int64, bool) (func(), error) { return nil, file.ErrNoLocks }
