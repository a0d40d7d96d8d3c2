// Package mpit is what can be said of the tool information interface (MPI 5.0, 15.3) without a running process: which
// performance variables, events and categories there are, what the handle of a variable makes of what is counted, and
// how events wait until their functions can be called.
//
//	variables.go   the performance variables
//	events.go      the event types, and their data as programs read it
//	categories.go  what belongs together; control variables are those of package settings
//	measure.go     starting, stopping, resetting
//	dispatch.go    from what happens to the calls of the program's functions
//
// docs/tools.md has its tables from here (go test ./mpit -rewrite), and impi-info -tools prints them.
package mpit

import "github.com/libimpi/libimpi/abi"

// Enum is an enumeration: names of the values of an MPI_INT, or of the elements of an event.
type Enum struct {
	Name  string
	Items []Item
}

// Item is a value of an enumeration.
type Item struct {
	Value int32
	Name  string
}

// The levels of verbosity that are in use.
const (
	userBasic  = abi.MPI_T_VERBOSITY_USER_BASIC
	userDetail = abi.MPI_T_VERBOSITY_USER_DETAIL
	tuner      = abi.MPI_T_VERBOSITY_TUNER_BASIC
	tunerMore  = abi.MPI_T_VERBOSITY_TUNER_DETAIL
	developer  = abi.MPI_T_VERBOSITY_MPIDEV_BASIC
)
