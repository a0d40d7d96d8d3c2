package fortran

import (
	"fmt"
	"slices"
	"strings"
)

// Synopsis is how the manual shows a procedure, as the MPI standard does: its head, and the declarations of arguments.
type Synopsis struct {
	Name  string
	F08   string // of mpi_f08; of both forms if there are large counts; "": it has none
	Old   string // of mpi and mpif.h
	OnlyF bool   // C has no such function
}

// Synopses are those of all procedures below the root of the module, by name.
func Synopses(root string) (map[string]Synopsis, error) {
	in, err := read(root)
	if err != nil {
		return nil, err
	}
	all := map[string]Synopsis{}
	for _, p := range slices.Concat(in.procedures, in.extensions) {
		all[p.Name] = p.synopsis()
	}
	return all, nil
}

func (p Procedure) synopsis() Synopsis {
	s := Synopsis{Name: p.Name, Old: p.show(old, strings.ToUpper(p.Name)), OnlyF: p.C == nil}
	if isOld(p.Name) {
		return s
	}
	s.F08 = p.show(f08, p.Name)
	switch {
	case p.Large == nil:
	case p.distinct():
		s.F08 += "\n" + p.show(large, p.Name)
	case p.separate():
		s.F08 += "\n" + p.show(large, p.Name+"_c")
	}
	return s
}

// show is one form of a procedure.
func (p Procedure) show(form int, name string) string {
	args := p.of(form == large)
	var names []string
	for _, a := range args {
		names = append(names, a.Name)
	}
	body := p.body(name, form, "")
	if body.error() {
		names = append(names, "ierror")
	}
	head := name + "(" + strings.Join(names, ", ") + ")"
	if form == old {
		head = strings.ToUpper(head)
	}
	var b strings.Builder
	if p.Result != "" {
		b.WriteString(p.Result + " ")
	}
	b.WriteString(wrap(head))
	for _, l := range body.declarations() {
		b.WriteString("    " + strings.ReplaceAll(wrap(l), "\n    ", "\n        "))
	}
	return b.String()
}

// declarations are those of all arguments, one for each type, in the order in which the types come.
func (b body) declarations() []string {
	var types []string
	names := map[string][]string{}
	add := func(typ, name string) {
		if !slices.Contains(types, typ) {
			types = append(types, typ)
		}
		names[typ] = append(names[typ], name)
	}
	between, errors := " :: ", "INTEGER, OPTIONAL, INTENT(OUT)"
	if b.form == old {
		between, errors = " ", "INTEGER"
	}
	for _, a := range b.args {
		if b.form == old {
			add(a.oldType(), strings.ToUpper(a.Name+a.oldShape()))
		} else {
			add(b.newType(a), a.Name+a.newShape())
		}
	}
	if b.error() {
		name := "ierror"
		if b.form == old {
			name = "IERROR"
		}
		add(errors, name)
	}
	var list []string
	for _, t := range types {
		list = append(list, t+between+strings.Join(names[t], ", "))
	}
	return list
}

// oldType is the type of an argument in mpif.h and mpi.
func (a Argument) oldType() string {
	if a.Kind == "STATUS" || a.Kind == "F90_STATUS" {
		return "INTEGER"
	}
	return a.types[old]
}

func (a Argument) oldShape() string {
	switch {
	case a.Kind == "STATUS" && a.Length != "":
		return "(MPI_STATUS_SIZE, *)"
	case a.Kind == "STATUS" || a.Kind == "F90_STATUS":
		return "(MPI_STATUS_SIZE)"
	case a.Kind == "BUFFER" || a.Kind == "C_BUFFER2":
		return "(*)"
	}
	return a.shape()
}

// newType is the type of an argument in mpi_f08, with its attributes.
func (b body) newType(a Argument) string {
	typ := a.types[b.form]
	switch {
	case a.text():
		typ = "CHARACTER(LEN=" + a.most() + ")"
	case strings.Contains(a.Kind, "FUNCTION"):
		return "PROCEDURE(" + b.callback(a) + ")"
	case a.Kind == "F90_STATUS":
		return "INTEGER, INTENT(" + strings.ToUpper(a.Dir) + ")"
	}
	return typ + strings.ToUpper(b.attributes(a))
}

// most is the length of a string: out of MPI it may be a constant.
func (a Argument) most() string {
	if a.Kind == "STRING" && a.Dir == "out" && a.Length != "" {
		return a.Length
	}
	return "*"
}

func (a Argument) newShape() string {
	switch {
	case a.Kind == "F90_STATUS":
		return "(MPI_STATUS_SIZE)"
	case a.Kind == "STRING" || a.Length == "" || strings.HasPrefix(a.Kind, "C_BUFFER"):
		return ""
	case a.Kind == "STRING_ARRAY" || a.Kind == "STRING_2DARRAY":
		return a.shape()
	case a.Length == "[n, 3]":
		return "(3, n)"
	}
	return fmt.Sprintf("(%s)", a.Length)
}
