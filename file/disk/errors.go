package disk

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/file"
)

// class is the MPI error class (MPI 5.0, 14.7) of what the kernel says.
func class(err error) int {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return abi.MPI_ERR_NO_SUCH_FILE
	case errors.Is(err, unix.EEXIST):
		return abi.MPI_ERR_FILE_EXISTS
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return abi.MPI_ERR_ACCESS
	case errors.Is(err, unix.EROFS):
		return abi.MPI_ERR_READ_ONLY
	case errors.Is(err, unix.ENOSPC):
		return abi.MPI_ERR_NO_SPACE
	case errors.Is(err, unix.EDQUOT), errors.Is(err, unix.EFBIG):
		return abi.MPI_ERR_QUOTA
	case errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EISDIR),
		errors.Is(err, unix.ELOOP):
		return abi.MPI_ERR_BAD_FILE
	case errors.Is(err, unix.EBUSY), errors.Is(err, unix.ETXTBSY):
		return abi.MPI_ERR_FILE_IN_USE
	case errors.Is(err, unix.ESPIPE), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return abi.MPI_ERR_UNSUPPORTED_OPERATION
	case errors.Is(err, unix.ENOMEM):
		return abi.MPI_ERR_NO_MEM
	}
	return abi.MPI_ERR_IO
}

// failed is the error of a call on a file as a whole.
func failed(what, name string, err error) error {
	return &file.Error{Class: class(err), Text: fmt.Sprintf("%s %s: %v", what, name, err)}
}

// failedAt is the error of a call that had n bytes from byte off on to move, of which it moved done.
func failedAt(what, name string, off int64, n, done int, err error) error {
	text := fmt.Sprintf("%s %s, offset %d, length %d", what, name, off, n)
	if done > 0 {
		text += fmt.Sprintf(", after %d bytes", done)
	}
	return &file.Error{Class: class(err), Text: fmt.Sprintf("%s: %v", text, err)}
}
