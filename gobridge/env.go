package main

// #include <stdlib.h>
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi"
)

// Enquiries about the environment (MPI 5.0, 9.1), and memory (9.2).

// Version is the release. The string that programs see begins with the name, because tools read "impi" as that of
// another library.
const Version = "0.1.0"

// commit is what git describe said of the checkout that the library was built from, set by the build (-ldflags -X).
var commit string

//export impi_Get_version
func impi_Get_version(version, subversion uintptr) int32 {
	k := check{fn: "MPI_Get_version"}
	k.result(version, "version")
	k.result(subversion, "subversion")
	if k.err != nil {
		return k.fail()
	}
	put[int32](version, abi.MPI_VERSION)
	put[int32](subversion, abi.MPI_SUBVERSION)
	return 0
}

//export impi_Get_library_version
func impi_Get_library_version(version, resultlen uintptr) int32 {
	k := check{fn: "MPI_Get_library_version"}
	k.result(version, "version")
	k.result(resultlen, "resultlen")
	if k.err != nil {
		return k.fail()
	}
	s := fmt.Sprintf("libimpi %s (Interoperable MPI; not Intel MPI), MPI %d.%d, ABI %d.%d, IMPI 0.0, %s",
		Version, abi.MPI_VERSION, abi.MPI_SUBVERSION, abi.MPI_ABI_VERSION, abi.MPI_ABI_SUBVERSION, runtime.Version())
	if commit != "" {
		s += ", commit " + commit
	}
	put(resultlen, int32(putText(version, s, abi.MPI_MAX_LIBRARY_VERSION_STRING)))
	return 0
}

//export impi_Get_processor_name
func impi_Get_processor_name(name, resultlen uintptr) int32 {
	k := check{fn: "MPI_Get_processor_name"}
	if !k.notStarted() {
		k.result(name, "name")
		k.result(resultlen, "resultlen")
	}
	if k.err != nil {
		return k.fail()
	}
	host, err := os.Hostname()
	if err != nil {
		return k.failed(err)
	}
	put(resultlen, int32(putText(name, host, abi.MPI_MAX_PROCESSOR_NAME)))
	return 0
}

//export impi_Alloc_mem
func impi_Alloc_mem(size int64, info, baseptr uintptr) int32 {
	k := check{fn: "MPI_Alloc_mem"}
	if size < 0 {
		k.set(abi.MPI_ERR_ARG, "argument size is negative: %d", size)
	}
	alignment := alignmentOf(k.info(info))
	k.result(baseptr, "baseptr")
	if k.err != nil {
		return k.fail()
	}
	p := allocate(size, alignment)
	if p == nil {
		return k.failed(noMemory(size, alignment))
	}
	put(baseptr, p)
	return 0
}

// leastAlignment is a line of the caches, and enough for any predefined type.
const leastAlignment = 64

// allocate is memory for the program, at a multiple of an alignment, which is a power of two or 0; nil: there is none.
func allocate(size, alignment int64) (p unsafe.Pointer) {
	if C.posix_memalign(&p, C.size_t(max(alignment, leastAlignment)), C.size_t(max(size, 1))) != 0 {
		return nil
	}
	return p
}

func noMemory(size, alignment int64) error {
	if alignment <= leastAlignment {
		return libimpi.Errorf(abi.MPI_ERR_NO_MEM, "no memory for %d bytes", size)
	}
	return libimpi.Errorf(abi.MPI_ERR_NO_MEM, "no memory for %d bytes at a multiple of %d", size, alignment)
}

//export impi_Free_mem
func impi_Free_mem(base uintptr) int32 {
	C.free(at(base))
	return 0
}

// newPredefinedValues makes room for the values of predefined attributes in C memory: the program may keep their
// addresses.
func newPredefinedValues() *predefinedValues {
	return keepOne[predefinedValues]()
}

// newColors makes room for the values of IMPI's attributes of a communicator (IMPI 0.0, 2.5) in C memory.
func newColors(values [4]int32) *[4]int32 {
	c := keepOne[[4]int32]()
	*c = values
	return c
}

func freeColors(c *[4]int32) { letGo(unsafe.Pointer(c)) }
