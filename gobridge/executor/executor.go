// Package executor is what C does of MPI without entering Go: it executes what Go has laid out in tables, rings, plans
// and boards, and decides nothing that Go decides, too. An executor, impi_exec_X, either does the whole of a simple
// call or nothing, and answers IMPI_IN_GO; the shim of MPI_X asks it first.
//
//	fast*.{h,c}   messages of up to some KiB inside a machine and to oneself, on the rings of transport/shm; waits
//	board*.{h,c}  short collectives, on lines of shared memory
//	window.{h,c}  one-sided communication on windows whose memory is mapped
//	types.{h,c}   what C is shown of datatypes; pack.c
package executor

import "C"

import (
	_ "embed"

	_ "github.com/libimpi/libimpi/gobridge/kernel"
)

// The go command does not look at the headers of other packages when it decides what to compile anew. With the text of
// these in this package, what imports it follows their changes.
var (
	//go:embed board.h
	_ string
	//go:embed direct.h
	_ string
	//go:embed fast.h
	_ string
	//go:embed types.h
	_ string
	//go:embed window.h
	_ string
)
