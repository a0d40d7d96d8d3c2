package table

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// Call is the one entry of the engine behind MPI_X and, where it exists,
// MPI_X_c: the Go export impi_X.
type Call struct {
	Small  Function     // MPI_X
	Large  *Function    // MPI_X_c, or nil
	Diffs  []Difference // of Form().Params; nil without a large form
	Wide   bool         // a last parameter says which form was called: 0 MPI_X, 1 MPI_X_c
	Result string       // Go type
}

// Form is the function whose parameters the export has: the large one if there
// is one.
func (c Call) Form() Function {
	if c.Large != nil {
		return *c.Large
	}
	return c.Small
}

// Export is the name of the Go export: impi_Send.
func (c Call) Export() string { return "impi_" + c.Small.Short() }

// A datatype remembers which form built it: MPI_Type_get_envelope counts the
// same arguments as integers and addresses, or as large counts (MPI 5.0, 5.1.13).
// These constructors need to be told although their parameters convert without loss.
var remembersForm = map[string]bool{
	"MPI_Type_contiguous":            true,
	"MPI_Type_vector":                true,
	"MPI_Type_create_hvector":        true,
	"MPI_Type_create_hindexed_block": true,
	"MPI_Type_create_resized":        true,
}

// Calls derives the engine's entries from the functions. MPI_X_c without MPI_X
// is an error.
func Calls(functions []Function) ([]Call, error) {
	byName := map[string]Function{}
	for _, f := range functions {
		byName[f.Name] = f
	}
	var calls []Call
	for _, f := range functions {
		if base, ok := strings.CutSuffix(f.Name, "_c"); ok {
			if _, ok := byName[base]; !ok {
				return nil, fmt.Errorf("%s has no small form", f.Name)
			}
			continue
		}
		c := Call{Small: f, Result: goResult(f)}
		if large, ok := byName[f.Name+"_c"]; ok {
			diffs, err := Compare(f, large)
			if err != nil {
				return nil, err
			}
			c.Large, c.Diffs = &large, diffs
			c.Wide = remembersForm[f.Name] || needsForm(diffs)
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// needsForm: the export cannot read an array, call a callback, check a position
// or fill all outputs without knowing which form the caller used.
func needsForm(diffs []Difference) bool {
	return slices.ContainsFunc(diffs, func(d Difference) bool {
		return d == WiderArray || d == OtherCallback || d == WiderPosition || d == OnlyLarge
	})
}

// GoParam is a parameter of an export.
type GoParam struct{ Name, Type string }

// GoParams lists the export's parameters. Every address is a uintptr: MPI_IN_PLACE
// and its like are small integers that the garbage collector must never see as
// pointers.
func (c Call) GoParams() []GoParam {
	var list []GoParam
	for _, p := range c.Form().Params {
		name := p.Name
		if token.IsKeyword(name) {
			name += "_"
		}
		list = append(list, GoParam{name, goType(p.Class)})
	}
	if c.Wide {
		list = append(list, GoParam{"wide", "int32"})
	}
	return list
}

// GoSignature is the export's declaration: func impi_Send(buf uintptr, ...) int32.
func (c Call) GoSignature() string {
	params := c.GoParams()
	var b strings.Builder
	for i, p := range params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name)
		if i+1 == len(params) || params[i+1].Type != p.Type {
			b.WriteString(" " + p.Type)
		}
	}
	return fmt.Sprintf("func %s(%s) %s", c.Export(), b.String(), c.Result)
}

func goType(c Class) string {
	switch c {
	case Int:
		return "int32"
	case Wide:
		return "int64"
	case Double:
		return "float64"
	}
	return "uintptr"
}

func goResult(f Function) string {
	switch {
	case f.Result == "double":
		return "float64"
	case f.Result == "int", f.Result == "MPI_Fint":
		return "int32"
	case wideTypes[f.Result]:
		return "int64"
	}
	return "uintptr"
}
