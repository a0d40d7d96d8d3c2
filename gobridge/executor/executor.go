// Package executor is what C does of MPI without entering Go: it executes what Go has laid out in tables, rings, plans
// and boards, and decides nothing that Go decides, too. An executor, impi_exec_X, either does the whole of a simple
// call or nothing, and answers IMPI_IN_GO; the shim of MPI_X asks it first.
//
//	fast*.{h,c}   messages of up to some KiB inside a machine and to oneself, on the rings of transport/shm; waits
//	board*.{h,c}  short collectives, on lines of shared memory; exchanges that come again
//	window.{h,c}  one-sided communication on windows whose memory is mapped
//	types.{h,c}   what C is shown of datatypes; pack.c
package executor

import "C"

import _ "github.com/libimpi/libimpi/gobridge/kernel"
