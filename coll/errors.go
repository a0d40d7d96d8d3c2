package coll

// Error is what this package and those below it return when an argument is at fault or memory is short.
// Errors of a Comm are passed on as they are.
type Error struct {
	Class int    // MPI error class, a constant of package abi
	Arg   string // the argument at fault, as MPI names it; empty if none is
	Msg   string
}

func (e *Error) Error() string {
	if e.Arg == "" {
		return e.Msg
	}
	return e.Arg + ": " + e.Msg
}
