// Package table reads the tables of the MPI 5.0 C binding: functions.tsv,
// constants.tsv, extensions.tsv, mpix.tsv.
//
// A row's prototype becomes a Function (function.go). A function and its
// large-count form MPI_X_c are compared parameter by parameter (pair.go); what
// both need of the engine is one Call (call.go), from which the shim and the
// Go signature of the export follow. What is not understood is refused: no
// type, shape or difference is guessed.
package table

import (
	"fmt"
	"regexp"
	"strings"
)

// Class says how a parameter or result travels between C and Go.
type Class int

const (
	Void    Class = iota
	Int           // int, MPI_Fint, enumerations: 32 bits
	Wide          // MPI_Count, MPI_Aint, MPI_Offset: 64 bits
	Handle        // an opaque handle, by value
	Double        // double (MPI_Wtime)
	Pointer       // an address: buffer, array, string, output, callback
)

// Function is one row of functions.tsv.
type Function struct {
	Name       string // MPI_Send
	Since      string
	Status     string
	Areas      []string
	Collective bool
	InABI      string // yes, no, stub-header-only
	Prototype  string
	Result     string // C type: int, double, MPI_Comm, ...
	Params     []Param
	Variadic   bool
}

// Param is one parameter of a prototype.
type Param struct {
	Name  string
	Const bool
	Type  string // without const and stars: int, MPI_Comm, void, MPI_User_function, ...
	Stars int
	Dims  string // "", "[]" or "[][3]"
	Class Class
}

// Short is the name without its prefix MPI_ or MPIX_: Send.
func (f Function) Short() string {
	_, short, _ := strings.Cut(f.Name, "_")
	return short
}

// Extension reports whether the function is of mpix.h: no standard has it.
func (f Function) Extension() bool { return strings.HasPrefix(f.Name, "MPIX_") }

// ReturnsCode reports whether the result is an error code, and not a value.
func (f Function) ReturnsCode() bool {
	return f.Result == "int" && !strings.HasSuffix(f.Name, "_toint")
}

// Tool reports whether the function belongs to the tool interface, whose
// errors reach no error handler (MPI 5.0, 15.3.10).
func (f Function) Tool() bool { return strings.HasPrefix(f.Name, "MPI_T_") }

// Decl is the C declaration of the parameter.
func (p Param) Decl() string {
	s := p.Type + " " + strings.Repeat("*", p.Stars) + p.Name + p.Dims
	if p.Const {
		return "const " + s
	}
	return s
}

// ParamList is the C parameter list without its parentheses.
func (f Function) ParamList() string {
	var list []string
	for _, p := range f.Params {
		list = append(list, p.Decl())
	}
	if f.Variadic {
		list = append(list, "...")
	}
	if len(list) == 0 {
		return "void"
	}
	return strings.Join(list, ", ")
}

// Types says of each C type name how a value of that type travels. Function
// types are listed as Pointer: as a parameter they decay to one.
type Types map[string]Class

// NewTypes collects the types that constants.tsv defines, and C's own.
func NewTypes(constants []Constant) Types {
	t := Types{"void": Void, "char": Void, "int": Int, "double": Double}
	for _, c := range constants {
		switch {
		case c.Kind == "handle type":
			t[c.Name] = Handle
		case c.Name == "MPI_Fint", c.Kind == "enum type":
			t[c.Name] = Int
		case c.Kind == "integer type":
			t[c.Name] = Wide
		case c.Kind == "struct":
			t[c.Name] = Void
		case strings.HasPrefix(c.Kind, "callback typedef"):
			t[c.Name] = Pointer
		}
	}
	return t
}

// ReadFunctions parses functions.tsv.
func ReadFunctions(tsv string, types Types) ([]Function, error) {
	rows, err := ReadTSV(tsv, "name", "since", "status", "area", "collective", "prototype", "in_abi")
	if err != nil {
		return nil, err
	}
	var all []Function
	seen := map[string]bool{}
	for _, r := range rows {
		f, err := ParsePrototype(r[5], types)
		if err != nil {
			return nil, err
		}
		if f.Name != r[0] || seen[f.Name] {
			return nil, fmt.Errorf("%s: row named %s, or a second row", f.Name, r[0])
		}
		seen[f.Name] = true
		f.Since, f.Status, f.Areas = r[1], r[2], strings.Split(r[3], ";")
		f.Collective, f.InABI = r[4] == "yes", r[6]
		all = append(all, f)
	}
	return all, nil
}

var (
	prototypeForm = regexp.MustCompile(`^(\w+) (MPIX?_\w+)\(([^()]*)\)$`)
	paramForm     = regexp.MustCompile(`^(const )?(\w+) (\**)(\w+)((?:\[\d*\])*)$`)
)

// ParsePrototype reads a C prototype as functions.tsv writes it.
func ParsePrototype(text string, types Types) (Function, error) {
	m := prototypeForm.FindStringSubmatch(text)
	if m == nil {
		return Function{}, fmt.Errorf("not a prototype: %q", text)
	}
	f := Function{Prototype: text, Result: m[1], Name: m[2]}
	if class, known := types[f.Result]; !known || class == Void || class == Pointer {
		return f, fmt.Errorf("%s: result type %s", f.Name, f.Result)
	}
	if m[3] == "void" {
		return f, nil
	}
	for text := range strings.SplitSeq(m[3], ", ") {
		if f.Variadic {
			return f, fmt.Errorf("%s: parameter behind the ellipsis", f.Name)
		}
		if text == "..." && len(f.Params) > 0 {
			f.Variadic = true
			continue
		}
		p, err := parseParam(text, types)
		if err != nil {
			return f, fmt.Errorf("%s: %w", f.Name, err)
		}
		for _, q := range f.Params {
			if p.Name == q.Name {
				return f, fmt.Errorf("%s: two parameters named %s", f.Name, p.Name)
			}
		}
		f.Params = append(f.Params, p)
	}
	return f, nil
}

func parseParam(text string, types Types) (Param, error) {
	m := paramForm.FindStringSubmatch(text)
	if m == nil {
		return Param{}, fmt.Errorf("not a parameter: %q", text)
	}
	p := Param{Const: m[1] != "", Type: m[2], Stars: len(m[3]), Name: m[4], Dims: m[5]}
	class, known := types[p.Type]
	if !known {
		return p, fmt.Errorf("parameter %s: unknown type %s", p.Name, p.Type)
	}
	if p.Dims != "" && p.Dims != "[]" && p.Dims != "[][3]" {
		return p, fmt.Errorf("parameter %s: unknown shape %s", p.Name, p.Dims)
	}
	p.Class = class
	if p.Stars > 0 || p.Dims != "" {
		p.Class = Pointer
	}
	if p.Class == Void {
		return p, fmt.Errorf("parameter %s: a %s by value", p.Name, p.Type)
	}
	return p, nil
}
