package meeting

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Error is why a meeting fails: an MPI error class and the particulars.
type Error struct {
	Class int
	Text  string
}

func (e *Error) Error() string { return e.Text }

// ClassAndText are those that the other side hears.
func (e *Error) ClassAndText() (class int, text string) { return e.Class, e.Text }

func errorf(class int, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// classAndText are those of any error.
func classAndText(err error) (class int, text string) {
	if e, has := err.(interface{ ClassAndText() (int, string) }); has {
		return e.ClassAndText()
	}
	return abi.MPI_ERR_OTHER, err.Error()
}
