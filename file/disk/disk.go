// Package disk is files of the operating system, as package file wants them.
//
//	FileSystem.Open -> regular (or a block device): pread, pwrite at any offset
//	                -> stream (a FIFO, a terminal): read and write in order, for MPI_MODE_SEQUENTIAL
//
// A call that a signal interrupts or that moves a part is continued. What the kernel refuses is a *file.Error: the MPI
// class, what was done to which file at which offset, and the kernel's text.
package disk

import (
	"strings"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// FileSystem is the mounted file systems.
type FileSystem struct{ sys system }

// New is the file systems of this machine.
func New() *FileSystem { return &FileSystem{linux{}} }

// prefixes are those by which ROMIO's users say of which kind a file system is. All of these are mounted, and the same
// calls serve them. A file whose own name begins with one is called ./ufs:name.
var prefixes = []string{"ufs:", "nfs:", "xfs:", "panfs:", "lustre:", "gpfs:", "pvfs:", "pvfs2:", "pfs:", "piofs:",
	"hfs:", "sfs:", "quobytefs:", "ime:", "daos:"}

// Path is the name of a file without a prefix of ROMIO's.
func Path(name string) string {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest
		}
	}
	return name
}

// Open opens a file (file.FileSystem). Where the permissions allow it a file for MPI_MODE_WRONLY can be read as well:
// what is between the bytes that are written is kept by reading and writing it.
func (fs *FileSystem) Open(name string, mode int, perm uint32) (file.Storage, error) {
	path, err := path(name)
	if err != nil {
		return nil, failed("open", name, err)
	}
	flags, readable := unix.O_RDONLY, true
	switch {
	case mode&abi.MPI_MODE_RDWR != 0:
		flags = unix.O_RDWR
	case mode&abi.MPI_MODE_WRONLY != 0:
		flags, readable = unix.O_WRONLY, false
	}
	if mode&abi.MPI_MODE_CREATE != 0 {
		flags |= unix.O_CREAT
		if mode&abi.MPI_MODE_EXCL != 0 {
			flags |= unix.O_EXCL
		}
	}
	fd, err := -1, unix.EACCES
	if !readable && fs.regular(path) {
		if fd, err = fs.open(path, flags&^unix.O_WRONLY|unix.O_RDWR, perm); err == nil {
			readable = true
		}
	}
	if err == unix.EACCES || err == unix.EPERM || err == unix.EISDIR {
		fd, err = fs.open(path, flags, perm)
	}
	if err != nil {
		return nil, failed("open", name, err)
	}
	return fs.storage(name, fd, readable)
}

func path(name string) (string, error) {
	p := Path(name)
	switch {
	case p == "":
		return "", errEmpty
	case strings.IndexByte(p, 0) >= 0:
		return "", errNul
	}
	return p, nil
}

// nameError says what is wrong with a name.
type nameError string

func (e nameError) Error() string        { return string(e) }
func (e nameError) Is(target error) bool { return target == unix.ENAMETOOLONG }

const (
	errEmpty = nameError("the name is empty")
	errNul   = nameError("the name contains a zero byte")
)

// regular tells whether a name is not known to be that of something else than a regular file: for a FIFO reading and
// writing is another thing than writing.
func (fs *FileSystem) regular(path string) bool {
	var st unix.Stat_t
	return fs.sys.Stat(path, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFREG
}

func (fs *FileSystem) open(path string, flags int, perm uint32) (fd int, err error) {
	err = again(func() error {
		fd, err = fs.sys.Open(path, flags|unix.O_CLOEXEC|unix.O_NOCTTY, perm)
		return err
	})
	return fd, err
}

// storage looks at what has been opened.
func (fs *FileSystem) storage(name string, fd int, readable bool) (file.Storage, error) {
	var st unix.Stat_t
	err := again(func() error { return fs.sys.Fstat(fd, &st) })
	kind := st.Mode & unix.S_IFMT
	if err == nil && kind == unix.S_IFDIR {
		err = unix.EISDIR
	}
	if err != nil {
		_ = fs.sys.Close(fd)
		return nil, failed("open", name, err)
	}
	f := regular{fs.sys, name, fd, kind == unix.S_IFBLK, readable, fs.sys.FileLimit(), newRanges()}
	if kind == unix.S_IFREG || kind == unix.S_IFBLK {
		return &f, nil
	}
	if _, err := fs.sys.Seek(fd, 0, unix.SEEK_CUR); err == unix.ESPIPE || kind == unix.S_IFIFO || kind == unix.S_IFCHR {
		return &stream{f}, nil
	}
	return &f, nil
}

// Remove removes a file (file.FileSystem).
func (fs *FileSystem) Remove(name string) error {
	p, err := path(name)
	if err == nil {
		err = again(func() error { return fs.sys.Unlink(p) })
	}
	if err != nil {
		return failed("delete", name, err)
	}
	return nil
}
