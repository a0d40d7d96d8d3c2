package abi

import (
	"fmt"
	"strings"
	"sync"
)

// Call is a function of MPI that is not of the tool interface.
type Call struct {
	Name   string // MPI_Send
	Params []Param
}

// Param is a parameter of a function, as the standard describes it in all its bindings.
type Param struct {
	Name string
	// Kind is one of abi/fortran/kinds.tsv: BUFFER, COMMUNICATOR, RANK, ...; "" if the standard does not say.
	Kind    string
	In, Out bool
	// Length is that of an array or string: another parameter, a constant, "*"; "" of a single value.
	Length string
}

// callTable reads calls once.
var callTable = sync.OnceValue(func() []Call {
	var table []Call
	for line := range strings.Lines(strings.TrimPrefix(calls, "\n")) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		c := Call{Name: fields[0]}
		for _, f := range fields[1:] {
			p := strings.SplitN(f, ":", 4)
			c.Params = append(c.Params, Param{Name: p[0], Kind: p[1], In: strings.HasPrefix(p[2], "in"),
				Out: strings.HasSuffix(p[2], "out"), Length: p[3]})
		}
		table = append(table, c)
	}
	return table
})

// CallNumbered returns the function with a number IMPI_CALL_X of gobridge/shim/z_calls.h.
func CallNumbered(n int) Call {
	if table := callTable(); n >= 0 && n < len(table) {
		return table[n]
	}
	return Call{Name: fmt.Sprintf("call %d", n)}
}

// Calls is how many there are.
func Calls() int { return len(callTable()) }
