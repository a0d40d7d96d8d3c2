package programs

import "testing"

func TestTheNamesOfMPILibrariesAreKnown(t *testing.T) {
	for name, want := range map[string]struct{ mpi, fortran bool }{
		"libmpi.so":                        {mpi: true}, // HPE MPT
		"libmpi.so.0":                      {mpi: true}, // LAM, Fujitsu
		"libmpi.so.12":                     {mpi: true},
		"libmpi.so.20":                     {mpi: true},
		"libmpi_mt.so.4":                   {mpi: true},
		"libmpi_ibm.so.3":                  {mpi: true},
		"libmpi_cray.so.12":                {mpi: true},
		"libmpi_gnu_91.so.12":              {mpi: true},
		"libmpich.so.10":                   {mpi: true},
		"libmpich_gnu_123.so.3":            {mpi: true},
		"libpmpich.so.3":                   {mpi: true},
		"libmpi_abi.so.1":                  {mpi: true},
		"libmpi_mpifh.so.40":               {fortran: true},
		"libmpi_usempif08.so.40":           {fortran: true},
		"libmpi_usempi_ignore_tkr.so.40":   {fortran: true},
		"libmpi_f77.so.1":                  {fortran: true},
		"libmpifort.so.12":                 {fortran: true},
		"libmpichf90.so.3":                 {fortran: true},
		"libfmpich.so.12":                  {fortran: true},
		"libmpigf.so.4":                    {fortran: true},
		"libmpi_cxx.so.40":                 {},
		"libmpicxx.so.12":                  {},
		"libmpichcxx.so.12":                {},
		"libmpi_java.so.40":                {},
		"libmpitrampoline.so.5":            {},
		"libmpifr.so.3":                    {}, // multiple precision
		"libmpc.so.3":                      {},
		"libmpiwrap-amd64-linux.so":        {},
		"libhdf5_openmpi.so.103":           {},
		"libboost_mpi.so.1.74.0":           {},
		"libmpi_abi_profiling_of_users.so": {},
		"libmpiP.so":                       {},
		"libpmi.so.0":                      {},
		"mpi4py.MPI.cpython-311.so":        {},
		"libvtkParallelMPI-9.1.so.9.1":     {},
		"libcaf_mpi.so.3":                  {},
		"libmpi_usempif08_of_mine.so":      {},
		"libscalapack-openmpi.so.2.2":      {},
		"libmpich_gnu_of_somebody_else.so": {},
		"libopen-rte.so.40":                {},
		"liblam.so.4":                      {mpi: true},
		"libmpi_dbg.so.4":                  {mpi: true},
		"libmpi_ilp64.so.4":                {mpi: true},
		"libpmpi.so.12":                    {mpi: true},
		"libmpi_usempi.so.20":              {fortran: true},
		"libmpichfort.so.12":               {fortran: true},
	} {
		if mpiLibrary.MatchString(name) != want.mpi || fortranLibrary.MatchString(name) != want.fortran {
			t.Errorf("%s is an MPI library: %v, with Fortran's bindings: %v", name, !want.mpi, !want.fortran)
		}
	}
}

func TestTheNamesOfFortransFunctionsAreKnown(t *testing.T) {
	for name, want := range map[string]bool{"mpi_init_": true, "pmpi_send_": true, "mpi_comm_rank_f08_": true,
		"mpi_init": false, "MPI_Init": false, "my_mpi_init_": false} {
		if fortranCall.MatchString(name) != want {
			t.Errorf("%s is Fortran's: %v", name, !want)
		}
	}
}
