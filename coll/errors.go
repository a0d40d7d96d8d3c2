package coll

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/buffer"
)

// Error is what this package and those below it return when an argument is at fault or memory is short.
// Errors of a Comm are passed on as they are.
type Error = buffer.Error

// Truncated tells that a rank has less room than what comes. What the others wait for has to be done all the same, so
// that it is no error here where the Comm notes it and goes on.
func Truncated(c Local, arg, msg string) error {
	return c.Then(func() error { return &Error{Class: abi.MPI_ERR_TRUNCATE, Arg: arg, Msg: msg} })
}
