package fortran

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// Argument is one row of arguments.tsv, with what its kind is in Fortran.
type Argument struct {
	Name     string
	Kind     string // KIND of kinds.tsv: COMMUNICATOR, POLYXFER_NUM_ELEM, ...
	Dir      string // in, out, inout
	Length   string // of an array: another argument, "*", "[n, 3]"; of a string: a constant; "" of a scalar
	Flags    map[string]bool
	Callback string // prototype of a procedure
	types    [columns]string
}

// The columns of kinds.tsv that say what an argument is in Fortran.
const (
	old   = iota // mpif.h and module mpi
	f08          // module mpi_f08
	large        // module mpi_f08, with large counts
	columns
)

// Procedure is an MPI function or callback with a Fortran binding.
type Procedure struct {
	Name   string // MPI_Send
	Args   []Argument
	Result string          // Fortran type of a function; "": a subroutine
	C      *table.Function // what it calls; nil: only Fortran has it, or a callback
	Large  *table.Function // the form with large counts
}

// Lower is the name in lower case without its prefix, MPI_ or MPIX_: send.
func (p Procedure) Lower() string {
	_, short, _ := strings.Cut(p.Name, "_")
	return strings.ToLower(short)
}

// input is all that this program reads.
type input struct {
	constants  []table.Constant
	procedures []Procedure          // in the order of functions.tsv
	extensions []Procedure          // of mpix.tsv, that have rows: libimpi's own library has them
	callbacks  map[string]Procedure // by name: MPI_User_function, ...
}

func read(root string) (input, error) {
	var in input
	dir := filepath.Join(root, "abi")
	constants, functions, _, err := table.Load(dir)
	if err != nil {
		return in, err
	}
	rows, err := readArguments(filepath.Join(dir, "fortran"))
	if err != nil {
		return in, err
	}
	in.constants = constants
	byName := map[string]*table.Function{}
	for i := range functions {
		byName[functions[i].Name] = &functions[i]
	}
	for i := range functions {
		if f := &functions[i]; bound(f.Name) {
			p := Procedure{Name: f.Name, Args: rows[f.Name], C: f, Large: byName[f.Name+"_c"]}
			if successor := successors[f.Name]; successor != "" {
				p.C = byName[successor]
			}
			if p.Large != nil && p.Large.InABI != "yes" {
				p.Large = nil
			}
			if err := p.settle(); err != nil {
				return in, err
			}
			in.procedures = append(in.procedures, p)
		}
	}
	more, _, err := table.LoadExtensions(dir, constants)
	if err != nil {
		return in, err
	}
	for i := range more {
		if args := rows[more[i].Name]; args != nil {
			in.extensions = append(in.extensions, Procedure{Name: more[i].Name, Args: args, C: &more[i]})
		}
	}
	for _, name := range []string{"MPI_Sizeof", "MPI_F_sync_reg"} {
		in.procedures = append(in.procedures, Procedure{Name: name, Args: rows[name]})
	}
	in.callbacks = map[string]Procedure{}
	for name, args := range rows {
		if isCallback(name) {
			in.callbacks[name] = Procedure{Name: name, Args: slices.DeleteFunc(args, func(a Argument) bool {
				return a.types[f08] == "None" || a.Name == "return"
			})}
		}
	}
	return in, nil
}

// isCallback reports whether rows are about a procedure that a program provides, or a predefined one of that kind.
func isCallback(name string) bool {
	return strings.HasSuffix(name, "_function") || strings.HasSuffix(name, "_FN") || strings.HasSuffix(name, "_FN_NULL")
}

// successors are what entries call for functions that the ABI has not: others with the same parameters.
var successors = map[string]string{
	"MPI_Address":           "MPI_Get_address",
	"MPI_Attr_delete":       "MPI_Comm_delete_attr",
	"MPI_Attr_get":          "MPI_Comm_get_attr",
	"MPI_Attr_put":          "MPI_Comm_set_attr",
	"MPI_Errhandler_create": "MPI_Comm_create_errhandler",
	"MPI_Errhandler_get":    "MPI_Comm_get_errhandler",
	"MPI_Errhandler_set":    "MPI_Comm_set_errhandler",
	"MPI_Keyval_create":     "MPI_Comm_create_keyval",
	"MPI_Keyval_free":       "MPI_Comm_free_keyval",
	"MPI_Type_hindexed":     "MPI_Type_create_hindexed",
	"MPI_Type_hvector":      "MPI_Type_create_hvector",
	"MPI_Type_struct":       "MPI_Type_create_struct",
}

// bound reports whether a C function has a Fortran binding. A large form is one with its function.
func bound(name string) bool {
	for _, prefix := range []string{"MPI_T_"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	for _, suffix := range []string{"_c", "_c2f", "_f2c", "_toint", "_fromint", "_c2f08", "_f082c"} {
		if strings.HasSuffix(name, suffix) {
			return false
		}
	}
	return true
}

// settle takes the result out of the arguments, and what is only in C.
func (p *Procedure) settle() error {
	var args []Argument
	for _, a := range p.Args {
		switch {
		case a.Name == "return":
			p.Result = a.types[old]
		case a.types[old] == "None":
		default:
			args = append(args, a)
		}
	}
	p.Args = args
	n := 0
	for _, a := range args {
		if !a.Flags["large_only"] {
			n++
		}
	}
	if want := len(p.C.Params); n != want && p.Name != "MPI_Init" && p.Name != "MPI_Init_thread" &&
		p.Name != "MPI_Info_create_env" && p.Name != "MPI_Pcontrol" {
		return fmt.Errorf("%s has %d parameters and %d rows", p.Name, want, n)
	}
	return nil
}

// of lists the arguments of the small or the large form.
func (p Procedure) of(wide bool) []Argument {
	var list []Argument
	for _, a := range p.Args {
		if wide || !a.Flags["large_only"] {
			list = append(list, a)
		}
	}
	return list
}

func readArguments(dir string) (map[string][]Argument, error) {
	kinds, err := readTable(filepath.Join(dir, "kinds.tsv"), "kind", "C", "C, large count", "mpif.h and use mpi",
		"use mpi_f08", "use mpi_f08, large count")
	if err != nil {
		return nil, err
	}
	types := map[string][columns]string{}
	for _, k := range kinds {
		types[k[0]] = [columns]string{k[3], k[4], k[5]}
	}
	table, err := readTable(filepath.Join(dir, "arguments.tsv"), "function", "position", "argument", "kind", "direction",
		"length", "flags", "callback")
	if err != nil {
		return nil, err
	}
	rows := map[string][]Argument{}
	for _, r := range table {
		a := Argument{Name: r[2], Kind: r[3], Dir: r[4], Length: r[5], Callback: r[7], Flags: map[string]bool{}}
		for _, f := range strings.Fields(r[6]) {
			a.Flags[f] = true
		}
		var known bool
		if a.types, known = types[a.Kind]; !known {
			return nil, fmt.Errorf("%s: kind %s is not in kinds.tsv", r[0], a.Kind)
		}
		rows[r[0]] = append(rows[r[0]], a)
	}
	return rows, nil
}

func readTable(path string, columns ...string) ([][]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rows, err := table.ReadTSV(string(text), columns...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}
