package fortran

import (
	"fmt"
	"strings"
)

// Functions of the program, and attributes. C is given a function in C that calls the program's, which it finds in a
// state of Fortran's library (library/callbacks.c).

// procedure is an argument that is a function.
func (e *entry) procedure(a Argument) {
	e.functions = append(e.functions, a.Name)
	e.pass("procedure "+a.Name, "")
	value := &e.values[len(e.values)-1]
	name := strings.TrimSuffix(strings.TrimPrefix(a.Callback, "MPI_"), "_function")
	switch {
	case a.Callback == "MPI_User_function":
		large := map[bool]string{true: "_c"}[e.form == large]
		e.unnamed("operator"+large, a.Callback+large, a.Name)
		*value = "c"
	case strings.HasSuffix(name, "_errhandler"):
		e.unnamed(strings.ToLower(name), a.Callback, a.Name)
		*value = "c"
	case name == "Copy":
		*value = "impi_fortran_comm_copy_attr"
	case name == "Delete":
		*value = "impi_fortran_comm_delete_attr"
	case name == "Datarep_conversion":
		which := strings.TrimSuffix(a.Name, "_conversion_fn") + map[bool]string{true: "_c"}[e.form == large]
		*value = fmt.Sprintf("is_conversion_null(%s) ? NULL : impi_fortran_%s", a.Name, which)
	default:
		*value = "impi_fortran_" + strings.ToLower(name)
	}
}

// unnamed is a function that C tells nothing of which one it is: it is a state, or has one of a pool.
func (e *entry) unnamed(family, typedef, f string) {
	e.family = family
	e.state = f
	e.before = append(e.before, typedef+" *c;")
}

// extra is what the program's functions are told: C keeps the state that knows it, and them. Those of generalized
// requests are told the variable itself, as by other MPIs: programs have it changed.
func (e *entry) extra(a Argument) {
	for len(e.functions) < 3 {
		e.functions = append(e.functions, "NULL")
	}
	first := boolToInt(a.Kind == "EXTRA_STATE2") // of MPI-1
	e.pass("const "+e.fortranType(a)+" *"+a.Name, "state")
	value := "*" + a.Name
	if e.p.Name == "MPI_Grequest_start" {
		value = "(MPI_Aint)" + a.Name
	}
	e.before = append(e.before, fmt.Sprintf("struct state *state = impi_fortran_state(%s, %s, %d);",
		strings.Join(e.functions, ", "), value, first))
	e.after = append(e.after, "if (e) impi_fortran_no_state(state);")
	e.need("!state")
}

// attribute is the value of an attribute: an address in C, of a cell that has what Fortran gives.
func (e *entry) attribute(a Argument) {
	typ := e.fortranType(a)
	if a.Dir == "in" {
		e.pass("const "+typ+" *"+a.Name, "c_"+a.Name)
		e.before = append(e.before, fmt.Sprintf("void *c_%s = impi_fortran_cell(*%[1]s);", a.Name))
		e.need("!c_" + a.Name)
		return
	}
	e.pass(typ+" *"+a.Name, "&c_"+a.Name)
	e.before = append(e.before, fmt.Sprintf("void *c_%s = NULL;", a.Name))
	e.after = append(e.after, fmt.Sprintf("if (e == MPI_SUCCESS && c_flag) *%s = (%s)impi_fortran_value(%s, c_%[1]s);",
		a.Name, typ, e.values[1]))
}

// need has the call fail for want of memory on a condition.
func (e *entry) need(lacking string) { e.needs = append(e.needs, lacking) }

// calling is the call, with what comes before it.
func (e *entry) calling(t target) string {
	call := fmt.Sprintf("C_(%s)(%s)", e.c.Short(), strings.TrimSuffix(e.leading+strings.Join(e.values, ", "), ", "))
	if e.c.Extension() {
		call = fmt.Sprintf("%s(%s)", e.c.Name, strings.Join(e.values, ", "))
		if t.front == "" {
			call = fmt.Sprintf("%s ? %s : MPI_ERR_UNSUPPORTED_OPERATION", e.c.Name, call)
		}
	}
	if e.family != "" {
		call = fmt.Sprintf("(c = impi_fortran_pooled_%s(%s)) ? %s : impi_fortran_exhausted()", e.family, e.state, call)
		if t.front == "" {
			f := family{name: e.family}
			rest := strings.Join(e.values[1:], ", ")
			state := "NULL, (void *)" + e.state + ", " + rest
			if f.creator() == "Op_create_x" { // it knows whether it commutes first
				state = "NULL, " + e.values[1] + ", (void *)" + e.state + ", " + e.values[2]
			}
			call = fmt.Sprintf("PMPIX_%s ? PMPIX_%[1]s(impi_fortran_%s_x, %s) : %s", f.creator(), e.family, state, call)
		}
	}
	for _, s := range e.sections {
		call = fmt.Sprintf("%s.error ? %[1]s.error : %s", s, call)
	}
	if e.room {
		e.need("room.full")
	}
	if len(e.needs) > 0 {
		call = fmt.Sprintf("%s ? no_room() : %s", strings.Join(e.needs, " || "), call)
	}
	return call
}
