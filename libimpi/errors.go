package libimpi

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/libimpi/group"
	"github.com/libimpi/libimpi/libimpi/meeting"
	"github.com/libimpi/libimpi/libimpi/topo"
	"github.com/libimpi/libimpi/onesided"
)

// Error is what a call reports: an MPI error class and the particulars. The function's name is added by
// whoever raises it, since one engine call serves several functions.
type Error struct {
	Class int    // MPI_ERR_...
	Text  string // argument and value, peer, sizes, hint
	Comm  *Comm  // whose error handler it goes to, if the call does not say that itself
	File  *File  // or a file's

	First  *Error // MPI_ERR_IN_STATUS: of the operations that failed, the first one's
	Client *int32 // another client that is lost, if that is why; nil: none
}

func (e *Error) Error() string {
	if e.Text == "" {
		return ClassName(e.Class) + ": " + ClassText(e.Class)
	}
	return ClassName(e.Class) + ": " + e.Text
}

// ClassAndText are what another job hears of it.
func (e *Error) ClassAndText() (class int, text string) { return e.Class, e.Text }

// errorf makes an Error.
func errorf(class int, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Errorf makes an Error of the given MPI error class.
func Errorf(class int, format string, args ...any) *Error { return errorf(class, format, args...) }

// AsError gives any error an MPI class: its own, or MPI_ERR_OTHER.
func AsError(err error) *Error {
	switch e := err.(type) {
	case nil:
		return nil
	case *Error:
		return e
	case *datatype.Error:
		return &Error{Class: e.Class, Text: e.Error()}
	case *topo.Error:
		return &Error{Class: e.Class, Text: e.Text}
	case *onesided.Error:
		return &Error{Class: e.Class, Text: e.Text}
	case *file.Error:
		return &Error{Class: e.Class, Text: e.Text}
	case *group.Error:
		return &Error{Class: e.Class, Text: e.Text}
	case *meeting.Error:
		return &Error{Class: e.Class, Text: e.Text}
	case *coll.Error:
		return &Error{Class: e.Class, Text: e.Error()}
	}
	return &Error{Class: abi.MPI_ERR_OTHER, Text: err.Error()}
}

// ClassName is the name of a predefined error class, such as MPI_ERR_RANK.
func ClassName(class int) string {
	if class >= 0 && class < len(classes) && classes[class].name != "" {
		return classes[class].name
	}
	return fmt.Sprintf("error class %d", class)
}

// ClassText is the sentence MPI_Error_string gives for a predefined error class.
func ClassText(class int) string {
	if class >= 0 && class < len(classes) {
		return classes[class].text
	}
	return ""
}

// classes says what each predefined error class means (MPI 5.0, 9.4), by class number.
var classes = [...]struct{ name, text string }{
	abi.MPI_SUCCESS:                   {"MPI_SUCCESS", "no error"},
	abi.MPI_ERR_BUFFER:                {"MPI_ERR_BUFFER", "invalid buffer pointer"},
	abi.MPI_ERR_COUNT:                 {"MPI_ERR_COUNT", "invalid count"},
	abi.MPI_ERR_TYPE:                  {"MPI_ERR_TYPE", "invalid datatype"},
	abi.MPI_ERR_TAG:                   {"MPI_ERR_TAG", "invalid tag"},
	abi.MPI_ERR_COMM:                  {"MPI_ERR_COMM", "invalid communicator"},
	abi.MPI_ERR_RANK:                  {"MPI_ERR_RANK", "invalid rank"},
	abi.MPI_ERR_REQUEST:               {"MPI_ERR_REQUEST", "invalid request"},
	abi.MPI_ERR_ROOT:                  {"MPI_ERR_ROOT", "invalid root"},
	abi.MPI_ERR_GROUP:                 {"MPI_ERR_GROUP", "invalid group"},
	abi.MPI_ERR_OP:                    {"MPI_ERR_OP", "invalid reduction operation"},
	abi.MPI_ERR_TOPOLOGY:              {"MPI_ERR_TOPOLOGY", "invalid topology"},
	abi.MPI_ERR_DIMS:                  {"MPI_ERR_DIMS", "invalid dimensions"},
	abi.MPI_ERR_ARG:                   {"MPI_ERR_ARG", "invalid argument"},
	abi.MPI_ERR_UNKNOWN:               {"MPI_ERR_UNKNOWN", "unknown error"},
	abi.MPI_ERR_TRUNCATE:              {"MPI_ERR_TRUNCATE", "message truncated on receive"},
	abi.MPI_ERR_OTHER:                 {"MPI_ERR_OTHER", "known error not in this list"},
	abi.MPI_ERR_INTERN:                {"MPI_ERR_INTERN", "internal error of the library"},
	abi.MPI_ERR_PENDING:               {"MPI_ERR_PENDING", "request still pending"},
	abi.MPI_ERR_IN_STATUS:             {"MPI_ERR_IN_STATUS", "error code is in the status"},
	abi.MPI_ERR_ACCESS:                {"MPI_ERR_ACCESS", "permission denied"},
	abi.MPI_ERR_AMODE:                 {"MPI_ERR_AMODE", "invalid access mode"},
	abi.MPI_ERR_ASSERT:                {"MPI_ERR_ASSERT", "invalid assertion"},
	abi.MPI_ERR_BAD_FILE:              {"MPI_ERR_BAD_FILE", "invalid file name"},
	abi.MPI_ERR_BASE:                  {"MPI_ERR_BASE", "invalid base address"},
	abi.MPI_ERR_CONVERSION:            {"MPI_ERR_CONVERSION", "error in data conversion"},
	abi.MPI_ERR_DISP:                  {"MPI_ERR_DISP", "invalid displacement"},
	abi.MPI_ERR_DUP_DATAREP:           {"MPI_ERR_DUP_DATAREP", "data representation already defined"},
	abi.MPI_ERR_FILE_EXISTS:           {"MPI_ERR_FILE_EXISTS", "file exists"},
	abi.MPI_ERR_FILE_IN_USE:           {"MPI_ERR_FILE_IN_USE", "file in use by another process"},
	abi.MPI_ERR_FILE:                  {"MPI_ERR_FILE", "invalid file handle"},
	abi.MPI_ERR_INFO_KEY:              {"MPI_ERR_INFO_KEY", "info key too long or empty"},
	abi.MPI_ERR_INFO_NOKEY:            {"MPI_ERR_INFO_NOKEY", "no such info key"},
	abi.MPI_ERR_INFO_VALUE:            {"MPI_ERR_INFO_VALUE", "info value too long or empty"},
	abi.MPI_ERR_INFO:                  {"MPI_ERR_INFO", "invalid info object"},
	abi.MPI_ERR_IO:                    {"MPI_ERR_IO", "input or output error"},
	abi.MPI_ERR_KEYVAL:                {"MPI_ERR_KEYVAL", "invalid attribute key"},
	abi.MPI_ERR_LOCKTYPE:              {"MPI_ERR_LOCKTYPE", "invalid lock type"},
	abi.MPI_ERR_NAME:                  {"MPI_ERR_NAME", "service name not published"},
	abi.MPI_ERR_NO_MEM:                {"MPI_ERR_NO_MEM", "out of memory"},
	abi.MPI_ERR_NOT_SAME:              {"MPI_ERR_NOT_SAME", "collective argument differs between processes"},
	abi.MPI_ERR_NO_SPACE:              {"MPI_ERR_NO_SPACE", "not enough space"},
	abi.MPI_ERR_NO_SUCH_FILE:          {"MPI_ERR_NO_SUCH_FILE", "no such file"},
	abi.MPI_ERR_PORT:                  {"MPI_ERR_PORT", "invalid port name"},
	abi.MPI_ERR_QUOTA:                 {"MPI_ERR_QUOTA", "quota exceeded"},
	abi.MPI_ERR_READ_ONLY:             {"MPI_ERR_READ_ONLY", "read-only file or file system"},
	abi.MPI_ERR_RMA_ATTACH:            {"MPI_ERR_RMA_ATTACH", "memory cannot be attached"},
	abi.MPI_ERR_RMA_CONFLICT:          {"MPI_ERR_RMA_CONFLICT", "conflicting accesses to a window"},
	abi.MPI_ERR_RMA_RANGE:             {"MPI_ERR_RMA_RANGE", "target memory is not part of the window"},
	abi.MPI_ERR_RMA_SHARED:            {"MPI_ERR_RMA_SHARED", "memory cannot be shared"},
	abi.MPI_ERR_RMA_SYNC:              {"MPI_ERR_RMA_SYNC", "wrong synchronization of one-sided calls"},
	abi.MPI_ERR_SERVICE:               {"MPI_ERR_SERVICE", "invalid service name"},
	abi.MPI_ERR_SIZE:                  {"MPI_ERR_SIZE", "invalid size"},
	abi.MPI_ERR_SPAWN:                 {"MPI_ERR_SPAWN", "cannot start processes"},
	abi.MPI_ERR_UNSUPPORTED_DATAREP:   {"MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation"},
	abi.MPI_ERR_UNSUPPORTED_OPERATION: {"MPI_ERR_UNSUPPORTED_OPERATION", "operation not supported"},
	abi.MPI_ERR_WIN:                   {"MPI_ERR_WIN", "invalid window"},
	abi.MPI_ERR_RMA_FLAVOR:            {"MPI_ERR_RMA_FLAVOR", "wrong flavor of window"},
	abi.MPI_ERR_PROC_ABORTED:          {"MPI_ERR_PROC_ABORTED", "a peer process has aborted"},
	abi.MPI_ERR_VALUE_TOO_LARGE:       {"MPI_ERR_VALUE_TOO_LARGE", "value too large for its type"},
	abi.MPI_ERR_SESSION:               {"MPI_ERR_SESSION", "invalid session"},
	abi.MPI_ERR_ERRHANDLER:            {"MPI_ERR_ERRHANDLER", "invalid error handler"},
	abi.MPI_ERR_ABI:                   {"MPI_ERR_ABI", "error of the application binary interface"},
	abi.MPIX_ERR_PROC_FAILED:          {"MPIX_ERR_PROC_FAILED", "a peer process has failed"},
	abi.MPIX_ERR_PROC_FAILED_PENDING:  {"MPIX_ERR_PROC_FAILED_PENDING", "a possible sender has failed"},
	abi.MPIX_ERR_REVOKED:              {"MPIX_ERR_REVOKED", "the communicator has been revoked"},
}
