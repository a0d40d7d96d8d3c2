// Command write writes Fortran's bindings (package fortran):
//
//	-entries FILE  the C functions that Fortran's procedures are, for INTEGERs of 4 bytes, or -integer 8
//	-front NAME    of the front mpich or openmpi
//	-header FILE   mpi.h with the ABI of that front
//	-modules DIR   mpif.h, mpif-ext.h, mpi.F90, mpi_f08.F90
//	-calls DIR     programs that call all procedures, and a library that finds out whether they do it right
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/libimpi/libimpi/abi/fortran"
)

func main() {
	var f fortran.Files
	flag.StringVar(&f.Entries, "entries", "", "write the C functions to this file")
	flag.IntVar(&f.Integer, "integer", 4, "bytes of an INTEGER for them: 4 or 8")
	flag.StringVar(&f.Front, "front", "", "write what the front mpich or openmpi needs")
	flag.StringVar(&f.Header, "header", "", "write the C header of that front to this file")
	flag.StringVar(&f.Modules, "modules", "", "write the modules and mpif.h to this folder")
	flag.StringVar(&f.Calls, "calls", "", "write the test of all calls to this folder")
	flag.Parse()
	if err := f.Write(); err != nil {
		fmt.Fprintln(os.Stderr, "abi/fortran:", err)
		os.Exit(1)
	}
}
