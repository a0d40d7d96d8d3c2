// Package version names this release, once for all programs.
package version

// Number is this release; the ABI is that of MPI 5.0, chapter 20.
const (
	Number      = "0.1.0"
	MPIStandard = "5.0"
	ABI         = "1.0"
	Soname      = "libmpi_abi.so.1"
)

// commit is what git describe said of the checkout that this program was built from. The build sets it
// (cmake/Stage.cmake, -ldflags -X); it is empty where there was no checkout, and in tests.
var commit string

// Text is the name of the library, its number, and the commit if it is known.
func Text() string {
	text := "libimpi " + Number + " (Interoperable MPI; not Intel MPI)"
	if commit != "" {
		text += ", commit " + commit
	}
	return text
}
