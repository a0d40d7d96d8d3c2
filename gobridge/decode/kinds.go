package decode

import (
	"strings"

	"github.com/libimpi/libimpi/abi"
)

// form is how a kind of arguments is put into words.
type form int

const (
	number  form = iota // as it is
	address             // of memory or a function: hexadecimal
	handle              // by the object's name
	rank                // by the rank in MPI_COMM_WORLD, too
	named               // by the name of a constant, if it is one
	flags               // as names of bits
	truth
)

// kind is one of abi.Param's.
type kind struct {
	form  form
	group string // of constants
	only  string // the one constant of these that a value may be; "": all
	wide  bool   // 8 bytes in memory, whatever the function
}

// base is a kind without what does not matter here: that it is not negative, or at least 1.
func base(k string) string {
	for _, suffix := range []string{"_NNI", "_PI"} {
		k = strings.TrimSuffix(k, suffix)
	}
	return k
}

// kinds are those that are not numbers of 4 bytes; what begins with POLY has 8 in functions whose names end with _c.
var kinds = map[string]kind{
	"BUFFER": {form: address}, "C_BUFFER": {form: address}, "C_BUFFER2": {form: address},
	"LOCATION_SMALL": {form: address}, "ATTRIBUTE_VAL": {form: address}, "ATTRIBUTE_VAL_10": {form: address},
	"EXTRA_STATE": {form: address}, "EXTRA_STATE2": {form: address}, "FUNCTION": {form: address},
	"FUNCTION_SMALL": {form: address}, "POLYFUNCTION": {form: address}, "STATUS": {form: address},
	"F90_STATUS": {form: address}, "F08_STATUS": {form: address}, "LOGICAL_VOID": {form: address},
	"STRING": {form: address}, "STRING_ARRAY": {form: address}, "STRING_2DARRAY": {form: address},
	"ARGUMENT_COUNT": {form: address}, "ARGUMENT_LIST": {form: address}, "GENERIC_DTYPE_INT": {form: number},

	"COMMUNICATOR": {form: handle}, "DATATYPE": {form: handle}, "OPERATION": {form: handle}, "GROUP": {form: handle},
	"INFO": {form: handle}, "FILE": {form: handle}, "WINDOW": {form: handle}, "ERRHANDLER": {form: handle},
	"REQUEST": {form: handle}, "MESSAGE": {form: handle}, "SESSION": {form: handle},

	"RANK": {form: rank}, "TAG": {form: named, group: abi.Ranks, only: "MPI_ANY_TAG"},
	"COLOR":  {form: named, group: abi.Ranks, only: "MPI_UNDEFINED"},
	"ASSERT": {form: flags, group: abi.Assertions}, "ACCESS_MODE": {form: flags, group: abi.Modes},
	"THREAD_LEVEL": {form: named, group: abi.ThreadLevels}, "ORDER": {form: named, group: abi.Orders},
	"DISTRIB_ENUM": {form: named, group: abi.Distribution}, "DTYPE_DISTRIBUTION": {form: named, group: abi.Distribution},
	"SPLIT_TYPE": {form: named, group: abi.SplitTypes}, "LOCK_TYPE": {form: named, group: abi.LockTypes},
	"UPDATE_MODE": {form: named, group: abi.Positioning}, "KEYVAL": {form: named, group: abi.Keys},
	"TYPECLASS": {form: named, group: abi.TypeClasses}, "ERROR_CLASS": {form: named, group: abi.Classes},
	"ERROR_CODE": {form: named, group: abi.Classes}, "LOGICAL": {form: truth},

	"DISPLACEMENT": {wide: true}, "OFFSET": {wide: true}, "POLYDISPLACEMENT_AINT_COUNT": {wide: true},
	"POLYDTYPE_STRIDE_BYTES": {wide: true},
}
