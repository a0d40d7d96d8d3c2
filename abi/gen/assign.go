package main

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// implementation says what stands behind one MPI function: a direct C function,
// a Go export, maybe with an executor before it, or nothing.
type implementation struct {
	as       table.Function // the function whose implementation it is: f itself or its substitute
	direct   bool           // impi_direct_<as>
	executor string         // impi_exec_<executor>: it does what it can, and leaves the rest to the export
	shared   bool           // the executor serves a nonblocking function and, with no request, the blocking one
	call     *table.Call    // the Go export; of a direct function the one that it turns to in doubt, if any
	large    bool           // as is the large form of call
}

func (i implementation) missing() bool { return !i.direct && i.call == nil }

// Old and Fortran names of functions that are the same under a newer name. They
// are served by its implementation unless they have their own.
var substitutes = map[string]string{
	"MPI_Address":           "MPI_Get_address",
	"MPI_Attr_delete":       "MPI_Comm_delete_attr",
	"MPI_Attr_get":          "MPI_Comm_get_attr",
	"MPI_Attr_put":          "MPI_Comm_set_attr",
	"MPI_Keyval_create":     "MPI_Comm_create_keyval",
	"MPI_Keyval_free":       "MPI_Comm_free_keyval",
	"MPI_Errhandler_create": "MPI_Comm_create_errhandler",
	"MPI_Errhandler_get":    "MPI_Comm_get_errhandler",
	"MPI_Errhandler_set":    "MPI_Comm_set_errhandler",
	"MPI_Type_hindexed":     "MPI_Type_create_hindexed",
	"MPI_Type_hvector":      "MPI_Type_create_hvector",
	"MPI_Type_struct":       "MPI_Type_create_struct",
}

// substitute returns the name that serves f, or "": the list above, MPI_X_c for
// MPI_X_x, and toint and fromint for the conversions with MPI_Fint, which is int.
func substitute(f table.Function) string {
	if name, ok := substitutes[f.Name]; ok {
		return name
	}
	if strings.HasPrefix(f.Name, "MPI_Status_") && f.Name != "MPI_Status_set_elements_x" {
		return "" // conversions of statuses, not of handles
	}
	if f.Extension() {
		return ""
	}
	for old, now := range map[string]string{"_x": "_c", "_c2f": "_toint", "_f2c": "_fromint"} {
		if base, ok := strings.CutSuffix(f.Name, old); ok {
			return base + now
		}
	}
	return ""
}

// assign finds the implementation of every function, and refuses implementations
// of no function, exports with another signature, and unlike substitutes.
func assign(functions []table.Function, calls []table.Call, found implementations) (map[string]implementation, error) {
	byName := map[string]table.Function{}
	for _, f := range functions {
		byName[f.Name] = f
	}
	callOf := map[string]*table.Call{}     // by the name of either form
	exportable := map[string]*table.Call{} // by the name without prefix
	for i := range calls {
		c := &calls[i]
		exportable[c.Small.Short()] = c
		callOf[c.Small.Name] = c
		if c.Large != nil {
			callOf[c.Large.Name] = c
		}
	}
	if err := checkFound(byName, exportable, callOf, found); err != nil {
		return nil, err
	}
	own := func(f table.Function) implementation {
		i := implementation{as: f}
		c := callOf[f.Name]
		if _, ok := found.exports[c.Small.Short()]; ok {
			i.call, i.large = c, c.Small.Name != f.Name
		}
		_, i.direct = found.direct[f.Short()]
		i.executor, i.shared = found.executorOf(c.Small.Short())
		return i
	}
	impl := map[string]implementation{}
	for _, f := range functions {
		if (chapterOf(f) == chapter{}) {
			return nil, fmt.Errorf("%s: unknown area %s", f.Name, f.Areas[0])
		}
		i := own(f)
		if name := substitute(f); name != "" {
			g, ok := byName[name]
			if !ok || !substitutable(f, g) {
				return nil, fmt.Errorf("%s cannot stand for %s", name, f.Name)
			}
			if i.missing() {
				i = own(g)
			}
		}
		impl[f.Name] = i
	}
	return impl, nil
}

// sameExecutor are functions whose simple cases are another's.
var sameExecutor = map[string]string{"Rsend": "Send"}

// executorOf names the executor of a function, "" if there is none: its own, or that of the nonblocking form if the
// blocking one has none. Then both share it.
func (found implementations) executorOf(name string) (executor string, shared bool) {
	if same, ok := sameExecutor[name]; ok {
		name = same
	}
	has := func(name string) bool { return found.executors[name] != "" && found.exports[name].where != "" }
	if later := "I" + strings.ToLower(name[:1]) + name[1:]; !has(name) && has(later) {
		return later, true
	}
	if !has(name) {
		return "", false
	}
	if name[0] != 'I' || len(name) == 1 {
		return name, false
	}
	blocking := strings.ToUpper(name[1:2]) + name[2:]
	return name, found.exports[blocking].where != "" && !has(blocking)
}

func checkFound(byName map[string]table.Function, exportable map[string]*table.Call, callOf map[string]*table.Call,
	found implementations) error {
	var problems []string
	for name, e := range found.exports {
		switch {
		case exportable[name] != nil:
			if err := checkExport(*exportable[name], e); err != nil {
				problems = append(problems, err.Error())
			}
		case byName["MPI_"+name].Name != "":
			problems = append(problems, fmt.Sprintf("%s: no export impi_%s: impi_%s serves both forms",
				e.where, name, strings.TrimSuffix(name, "_c")))
		default:
			problems = append(problems, fmt.Sprintf("%s: impi_%s is no MPI function", e.where, name))
		}
	}
	for name, file := range found.direct {
		if byName["MPI_"+name].Name == "" {
			problems = append(problems, fmt.Sprintf("%s: impi_direct_%s is no MPI function", file, name))
		}
	}
	for name, file := range found.executors {
		if c := callOf["MPI_"+name]; c == nil || !executable(*c) || c.Small.Short() != name {
			problems = append(problems, fmt.Sprintf("%s: impi_exec_%s is no function that an executor can stand for", file,
				name))
		} else if _, ok := found.exports[name]; !ok {
			problems = append(problems, fmt.Sprintf("%s: impi_exec_%s has no export that it could leave anything to", file,
				name))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	sort.Strings(problems)
	return fmt.Errorf("%s", strings.Join(problems, "\n"))
}

// executable: one C function can serve both forms of a call, since they differ in numbers and outputs only.
func executable(c table.Call) bool {
	if !c.Small.ReturnsCode() || c.Small.Tool() || c.Small.Variadic {
		return false
	}
	return !slices.ContainsFunc(c.Diffs, func(d table.Difference) bool {
		return d == table.OnlyLarge || d == table.WiderArray || d == table.OtherCallback
	})
}

// substitutable: the arguments of f can be passed to g as they are, but for const,
// array notation, and names of equal types.
func substitutable(f, g table.Function) bool {
	sameType := func(a, b string) bool {
		return a == b || (a == "MPI_Fint" && b == "int") || strings.HasSuffix(a, "_function") && strings.HasSuffix(b,
			"_function")
	}
	if !sameType(f.Result, g.Result) || len(f.Params) != len(g.Params) || f.Variadic || g.Variadic {
		return false
	}
	for i, p := range f.Params {
		q := g.Params[i]
		if !sameType(p.Type, q.Type) || p.Class != q.Class || depth(p) != depth(q) {
			return false
		}
	}
	return true
}

func depth(p table.Param) int { return p.Stars + strings.Count(p.Dims, "[") }
