package abi

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// The tables of constants, for names in messages: of the ABI, and our own.
var (
	//go:embed constants.tsv
	constantsText string
	//go:embed extensions.tsv
	extensionsText string
)

// Groups of constants, as constants.tsv names them.
const (
	Ranks        = "wildcards and rank sentinels"
	Modes        = "file open modes"
	Assertions   = "window assertion modes"
	ThreadLevels = "thread levels"
	Orders       = "array order"
	Distribution = "array distribution"
	SplitTypes   = "communicator split types"
	LockTypes    = "window lock types"
	Positioning  = "file positioning"
	Keys         = "predefined attribute keys"
	TypeClasses  = "type classes"
	Classes      = "error classes"
	handles      = ""
)

type constant struct {
	group string
	value int64
}

// constantNames has the names of handles under the group handles.
var constantNames = sync.OnceValue(func() map[constant]string {
	names := map[constant]string{}
	for line := range strings.Lines(constantsText + extensionsText) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 4 {
			continue
		}
		value, err := strconv.ParseInt(fields[2], 0, 64)
		if err != nil {
			continue
		}
		c := constant{fields[3], value}
		if kind, _, _ := strings.Cut(fields[1], " "); kind == "handle" && !strings.Contains(fields[1], "MPI_T_") {
			c.group = handles
		}
		if names[c] == "" {
			names[c] = fields[0]
		}
	}
	return names
})

// ConstantName is the name of the constant of a group that has a value; "" if none has.
func ConstantName(group string, value int64) string { return constantNames()[constant{group, value}] }

// HandleName is the name of the predefined handle of a value; "" if that is none.
func HandleName(value uint64) string { return constantNames()[constant{handles, int64(value)}] }
