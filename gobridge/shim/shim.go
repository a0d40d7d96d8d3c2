// Package shim is the entry points of libmpi.so: PMPI_X, and MPI_X as a weak alias (generated, z_shim_*.c), each of
// which calls the Go export impi_X of gobridge, maybe after an executor; what of MPI is C from beginning to end
// (direct.c); the calls of the program's functions (bridge.c); and what a process needs of C while it loads
// Go's runtime (load.c), and when it meets bad memory (fault.c).
package shim

import "C"

import _ "github.com/libimpi/libimpi/gobridge/executor"
