package main

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// The constants of gobridge/vendor: what libimpi says to another MPI library, in each ABI that such a library may have.

// vendorABIs says what these ABIs are called, by the names of their files.
var vendorABIs = map[string]string{
	"standard": "the ABI of MPI 5.0", "mpich": "MPICH's ABI", "openmpi": "Open MPI's ABI",
}

// vendorNumbers are the numbers and addresses that libimpi passes to a library, without MPI_.
var vendorNumbers = []string{"ANY_SOURCE", "IN_PLACE", "STATUS_IGNORE", "THREAD_SERIALIZED", "APPNUM", "UNIVERSE_SIZE",
	"MAX_LIBRARY_VERSION_STRING", "MAX_ERROR_STRING"}

// vendorHandles are the predefined handles that libimpi passes, without MPI_: the types and operations are those of
// coll/vendor.go.
var vendorHandles = []string{"COMM_WORLD", "ERRORS_RETURN", "BYTE",
	"INT", "DOUBLE", "FLOAT", "LONG", "UNSIGNED", "UNSIGNED_LONG", "INT64_T", "UINT64_T", "INT32_T", "UINT32_T",
	"LONG_LONG", "UNSIGNED_LONG_LONG", "SHORT", "UNSIGNED_SHORT", "SIGNED_CHAR", "UNSIGNED_CHAR", "INT8_T", "UINT8_T",
	"INT16_T", "UINT16_T",
	"SUM", "MIN", "MAX", "PROD", "BAND", "BOR", "BXOR", "LAND", "LOR", "LXOR"}

// vendorConstants is gobridge/vendor/z_ABI.h. of has the constants of that ABI; nil: it is the standard's own.
func vendorConstants(constants []table.Constant, of map[string]foreign, abi string) ([]byte, error) {
	native := map[string]int64{}
	for _, c := range constants {
		if _, isValue := c.CType(); isValue {
			if v, err := c.Int(); err == nil { // only names of Fortran have none
				native[c.Name] = v
			}
		}
	}
	there := func(name string) (foreign, error) {
		number, known := native[name]
		if f, ok := of[name]; ok {
			return f, nil
		} else if of == nil && known {
			return foreign{number: number}, nil
		}
		return foreign{}, fmt.Errorf("gobridge/vendor: there is no %s in %s", name, vendorABIs[abi])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s/* What libimpi says to a library with %s. */\n\n", generatedLine, vendorABIs[abi])
	fmt.Fprintf(&b, "#define V_ABI \"%s\"\n", vendorABIs[abi])
	for _, short := range vendorNumbers {
		f, err := there("MPI_" + short)
		switch {
		case err != nil:
			return nil, err
		case f.symbol != "":
			return nil, fmt.Errorf("gobridge/vendor: MPI_%s is no number in %s", short, vendorABIs[abi])
		}
		fmt.Fprintf(&b, "#define V_%s (%d)\n", short, f.number)
	}
	b.WriteString("\n/* X(number in the ABI of MPI 5.0, value or symbol there) */\n#define V_HANDLES(X)")
	for _, short := range vendorHandles {
		f, err := there("MPI_" + short)
		if err != nil {
			return nil, err
		}
		value := fmt.Sprintf("0x%x", uint32(f.number))
		if f.symbol != "" {
			value = f.symbol
		}
		fmt.Fprintf(&b, " \\\n    X(0x%x, %s)", native["MPI_"+short], value)
	}
	b.WriteString("\n")
	return []byte(b.String()), nil
}
