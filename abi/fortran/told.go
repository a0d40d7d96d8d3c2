package fortran

import (
	"fmt"
	"slices"
	"strings"
)

// Functions of the program that C tells a state: trampolines.c has one for each, which passes on what C says as Fortran
// has it.

// callback is one of these functions: what C's callback is called, where the state has it, and whether there is a form
// for large counts.
type callback struct {
	name, function string
	at             int
	large          bool
}

var told = []callback{
	{"grequest_query", "Grequest_query", 0, false}, {"grequest_free", "Grequest_free", 1, false},
	{"grequest_cancel", "Grequest_cancel", 2, false},
	{"read", "Datarep_conversion", 0, true}, {"write", "Datarep_conversion", 1, true},
	{"datarep_extent", "Datarep_extent", 2, false},
}

// trampoline is the C function of a callback's type.
func (in input) trampoline(c callback, typedef string) string {
	var prototype string
	for _, constant := range in.constants {
		if constant.Name == "MPI_"+typedef {
			prototype = constant.Value
		}
	}
	result, params, _ := strings.Cut(strings.TrimSuffix(prototype, ")"), " (*)(")
	var before, after string
	var types, values []string
	for p := range strings.SplitSeq(params, ", ") {
		at := strings.LastIndexAny(p, " *") + 1
		typ, name := strings.TrimSpace(p[:at]), p[at:]
		fortran, value := "Fint *", "&f_"+name
		switch kind := strings.TrimPrefix(typ, "MPI_"); {
		case name == "extra_state" && strings.HasPrefix(c.name, "grequest"):
			fortran, value = "MPI_Aint *", "(MPI_Aint *)s->extra"
		case name == "extra_state":
			fortran, value = "MPI_Aint *", "&s->extra"
		case typ == "MPI_Status *":
			before += "    ROOM(room);\n    Fint *f_status = NUMBERS_IN(Fint, (int *)status, STATUS_INTEGERS);\n" +
				"    if (!f_status) return MPI_ERR_NO_MEM;\n"
			after += "    NUMBERS_OUT((int *)status, f_status, STATUS_INTEGERS);\n    leave(&room);\n"
			value = "f_status"
		case strings.HasSuffix(typ, "*"):
			fortran, value = typ, name
		case kind == "Offset" || kind == "Count":
			fortran, value = typ+" *", "&"+name
		case kind != typ: // a handle
			before += fmt.Sprintf("    Fint f_%s = %s_out(%[1]s);\n", name, kind)
		case name == "complete":
			before += fmt.Sprintf("    Fint f_%s = logical_out(%[1]s);\n", name)
		default:
			before += fmt.Sprintf("    Fint f_%s = %[1]s;\n", name)
		}
		types, values = append(types, fortran), append(values, value)
	}
	if c.name == "grequest_free" {
		after = "    free(s);\n"
	}
	name := c.name + map[bool]string{true: "_c"}[strings.HasSuffix(typedef, "_c")]
	return fmt.Sprintf("%s impi_fortran_%s(%s)\n{\n    struct state *s = (struct state *)extra_state;\n"+
		"    Fint ierror = MPI_SUCCESS;\n%s    CALL(s->functions[%d], %s, Fint *)(%s, &ierror);\n%s"+
		"    return int_in(ierror);\n}\n", result, name, params, before, c.at, strings.Join(types, ", "),
		strings.Join(values, ", "), after)
}

// predicates tell what keys and procedures are: keys of predefined attributes that are ints, procedures that are
// constants.
func (in input) predicates(b *strings.Builder) {
	b.WriteString("int impi_fortran_is_int(int keyval)\n{\n")
	others := []string{"MPI_KEYVAL_INVALID", "MPI_WIN_BASE", "MPI_WIN_SIZE"}
	for _, c := range in.constants {
		if c.Group == "predefined attribute keys" && !slices.Contains(others, c.Name) {
			fmt.Fprintf(b, "#ifdef %s\n    if (keyval == %[1]s) return 1;\n#endif\n", c.Name)
		}
	}
	b.WriteString("    return 0;\n}\n")
	for _, is := range []struct{ name, suffix string }{{"dup", "dup_fn"}, {"nothing", "null_copy_fn null_delete_fn"}} {
		fmt.Fprintf(b, "int impi_fortran_is_%s(procedure f)\n{\n    return 0", is.name)
		for _, p := range predefined {
			for name := range strings.FieldsSeq(p.names) {
				for suffix := range strings.FieldsSeq(is.suffix) {
					if strings.HasSuffix(name, suffix) {
						fmt.Fprintf(b, " || f == (procedure)mpi_%s_", name)
					}
				}
			}
		}
		b.WriteString(";\n}\n")
	}
}
