// Package version names this release, once for all programs.
package version

// Number is this release; the ABI is that of MPI 5.0, chapter 20.
const (
	Number      = "0.1.0"
	MPIStandard = "5.0"
	ABI         = "1.0"
	Soname      = "libmpi_abi.so.1"
	Text        = "libimpi " + Number + " (Interoperable MPI; not Intel MPI)"
)
