// Package executor is what C does of MPI without entering Go: it executes what Go has prepared in tables, rings, plans
// and boards, and decides nothing that Go also decides. The shim of MPI_X first calls the executor, impi_exec_X, which
// either does the whole of a simple call, or does nothing and returns IMPI_IN_GO; then the shim calls the Go export.
//
//	fast.h        messages of up to some KiB inside a machine and to oneself, on the rings of transport/shm: the rules;
//	              fast.c: sends; fast_recv.c: receives, probes; fast_wait.c: waits; fast_ring.h: lock, records
//	board*.{h,c}  short collectives, on lines of shared memory; exchanges that come again
//	window.{h,c}  one-sided communication on windows whose memory is mapped
//	types.{h,c}   what C is shown of datatypes; pack.c
package executor

import "C"

import _ "github.com/libimpi/libimpi/gobridge/kernel"
