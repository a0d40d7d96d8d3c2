package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// How one argument of an entry becomes one of C's call.

// lower adds argument i.
func (e *entry) lower(i int, a Argument, all []Argument) {
	param := e.c.Params[i]
	if value := e.paired[i]; value != "" {
		e.pass("const "+e.parameterType(a)+" *"+a.Name, value)
		return
	}
	switch kind := a.handle(); {
	case a.Kind == "BUFFER":
		e.buffer(i, a, all)
	case a.Kind == "C_BUFFER": // an address, as INTEGER(MPI_ADDRESS_KIND) and as TYPE(C_PTR)
		e.pass("void *"+a.Name, a.Name)
	case a.Kind == "STATUS":
		e.statuses(a)
	case kind != "" && a.Length == "":
		if param.Stars > 0 && a.Dir == "in" { // MPI_Cancel
			a.Dir = "inout"
		}
		e.handleArgument(a, kind)
	case kind != "":
		e.handles(a, kind)
		if buffer, ok := e.blocks[i]; ok {
			e.blocksOf(buffer, a)
		}
	case a.Kind == "STRING":
		e.text1(a)
	case a.Length != "":
		e.numbers(a, param)
	default:
		e.number(a, param)
	}
}

// handle is the kind of handle that the argument is: Comm; "" if it is none.
func (a Argument) handle() string {
	name, ok := strings.CutPrefix(a.types[f08], "TYPE(MPI_")
	if !ok || name == "Status)" {
		return ""
	}
	return strings.TrimSuffix(name, ")")
}

func (e *entry) pass(param, value string) {
	e.params = append(e.params, param)
	e.values = append(e.values, value)
}

// fortranType is the C name of what Fortran passes the address of.
func (e *entry) fortranType(a Argument) string {
	return map[string]string{
		"INTEGER": "Fint", "LOGICAL": "Fint", "INTEGER(KIND=MPI_ADDRESS_KIND)": "MPI_Aint",
		"INTEGER(KIND=MPI_COUNT_KIND)": "MPI_Count", "INTEGER(KIND=MPI_OFFSET_KIND)": "MPI_Offset",
	}[a.types[e.form]]
}

// parameterType is the same of a handle or a number.
func (e *entry) parameterType(a Argument) string {
	if a.handle() != "" {
		return "Fint"
	}
	return e.fortranType(a)
}

func (a Argument) logical() bool { return strings.HasPrefix(a.Kind, "LOGICAL") }

// number is an integer or a LOGICAL.
func (e *entry) number(a Argument, param table.Param) {
	typ := e.fortranType(a)
	if a.Dir == "in" {
		value := "*" + a.Name
		switch {
		case a.logical():
			value = fmt.Sprintf("logical_in(*%s)", a.Name)
		case typ == "Fint" && param.Type == "int":
			value = fmt.Sprintf("int_in(*%s)", a.Name)
		}
		e.pass("const "+typ+" *"+a.Name, value)
		return
	}
	e.pass(typ+" *"+a.Name, "&c_"+a.Name)
	before := "*" + a.Name
	if a.Name == "outcount" { // of a call that fails there are none
		before = "0"
	}
	e.before = append(e.before, fmt.Sprintf("%s c_%s = (%[1]s)%[3]s;", param.Type, a.Name, before))
	value := "c_" + a.Name
	switch {
	case a.logical():
		value = fmt.Sprintf("logical_out(c_%s)", a.Name)
	case a.Kind == "INDEX" && e.fromOne():
		value = fmt.Sprintf("index_out(c_%s)", a.Name)
	}
	e.after = append(e.after, fmt.Sprintf("*%s = (%s)%s;", a.Name, typ, value))
}

// fromOne reports whether the procedure counts its requests from one.
func (e *entry) fromOne() bool {
	return strings.HasSuffix(e.p.Name, "any") || strings.HasSuffix(e.p.Name, "some")
}

// numbers is an array of them.
func (e *entry) numbers(a Argument, param table.Param) {
	typ, n := e.fortranType(a), e.length(a)
	e.room = true
	if a.Dir == "in" {
		conversion := "NUMBERS_IN"
		if a.Kind == "WEIGHT" {
			conversion = "WEIGHTS_IN"
		}
		e.pass("const "+typ+" *"+a.Name, "c_"+a.Name)
		e.before = append(e.before, fmt.Sprintf("%s *c_%s = %s(%[1]s, %[2]s, %[4]s);", param.Type, a.Name, conversion, n))
		if strings.HasSuffix(param.Dims, "[3]") {
			e.values[len(e.values)-1] = fmt.Sprintf("(int (*)[3])c_%s", a.Name)
		}
		return
	}
	e.pass(typ+" *"+a.Name, "c_"+a.Name)
	e.before = append(e.before, fmt.Sprintf("%s *c_%s = NUMBERS_IN(%[1]s, %[2]s, %[3]s);", param.Type, a.Name, n))
	back := "NUMBERS_OUT"
	if a.logical() {
		back = "LOGICALS_OUT"
	}
	e.after = append(e.after, fmt.Sprintf("%s(%s, c_%[2]s, %s);", back, a.Name, n))
	if a.Kind == "INDEX" && e.fromOne() {
		e.after = append(e.after, fmt.Sprintf("indices_out(%s, c_outcount);", a.Name))
	}
}

// handleArgument is a handle.
func (e *entry) handleArgument(a Argument, kind string) {
	switch a.Dir {
	case "in":
		e.pass("const Fint *"+a.Name, fmt.Sprintf("%s_in(*%s)", kind, a.Name))
	case "inout":
		e.pass("Fint *"+a.Name, "&c_"+a.Name)
		e.before = append(e.before, fmt.Sprintf("MPI_%s c_%s = %[1]s_in(*%[2]s);", kind, a.Name))
		out := fmt.Sprintf("%s_out(c_%s)", kind, a.Name)
		if kind == "Request" {
			out = fmt.Sprintf("request_out(*%s, c_%[1]s)", a.Name)
		}
		e.after = append(e.after, fmt.Sprintf("*%s = %s;", a.Name, out))
	default:
		e.pass("Fint *"+a.Name, "&c_"+a.Name)
		e.before = append(e.before, fmt.Sprintf("MPI_%s c_%s = MPI_%s_NULL;", kind, a.Name, strings.ToUpper(kind)))
		e.after = append(e.after, fmt.Sprintf("if (e == MPI_SUCCESS) *%s = %s_out(c_%[1]s);", a.Name, kind))
	}
}

// handles is an array of them. What an operation goes on reading is kept with its request.
func (e *entry) handles(a Argument, kind string) {
	e.room = true
	n := e.length(a)
	if a.Dir == "in" {
		e.pass("const Fint *"+a.Name, "c_"+a.Name)
		keeper := "room"
		if a.Flags["asynchronous"] {
			keeper = "kept"
			e.keep()
		}
		e.before = append(e.before, fmt.Sprintf("MPI_%s *c_%s = %[1]ss_in(&%[3]s, %[2]s, %[4]s);", kind, a.Name, keeper, n))
		return
	}
	e.pass("Fint *"+a.Name, "c_"+a.Name)
	if a.Dir == "inout" {
		e.before = append(e.before, fmt.Sprintf("MPI_%s *c_%s = %[1]ss_in(&room, %[2]s, %[3]s);", kind, a.Name, n))
	} else {
		e.before = append(e.before, fmt.Sprintf("MPI_%s *c_%s = allocate(&room, %s, sizeof *c_%[2]s);", kind, a.Name, n))
	}
	out := kind + "s_out"
	if kind == "Request" {
		out = "requests_out"
	}
	e.after = append(e.after, fmt.Sprintf("%s(%s, c_%[2]s, %s);", out, a.Name, n))
}

// keep has arrays last as long as the request.
func (e *entry) keep() {
	if !e.keeps {
		e.keeps = true
		e.before = append(e.before, "KEPT(kept);")
		e.after = append(e.after, "keep(&kept, e, request);")
	}
}

// statuses is a status or an array of them.
func (e *entry) statuses(a Argument) {
	n, ignore := "1", "status"
	if a.Length != "" {
		n, ignore = e.length(a), "statuses"
	}
	e.room = true
	typ := "Fint *"
	if a.Dir == "in" {
		typ = "const Fint *"
	}
	e.pass(typ+a.Name, "c_"+a.Name)
	e.before = append(e.before, fmt.Sprintf("MPI_Status *c_%s = %s_in(&room, %[1]s, %[3]s);", a.Name, ignore, n))
	if a.Dir != "in" {
		e.after = append(e.after, fmt.Sprintf("statuses_out(%s, c_%[1]s, %s);", a.Name, n))
	}
}

// text1 is a string.
func (e *entry) text1(a Argument) {
	e.room = true
	if a.Dir == "in" {
		conversion := "string_in"
		if strings.HasPrefix(e.p.Name, "MPI_Info_") {
			conversion = "trimmed_in" // blanks on both sides mean nothing
		}
		e.string(a, true)
		e.values = append(e.values, "c_"+a.Name)
		e.before = append(e.before, fmt.Sprintf("char *c_%s = %s(&room, %s);", a.Name, conversion, e.stringOf(a)))
		return
	}
	e.string(a, false)
	e.values = append(e.values, "c_"+a.Name)
	e.before = append(e.before, fmt.Sprintf("char *c_%s = allocate(&room, %s + 1, 1);", a.Name, e.most(a)))
	found := ""
	if slices.ContainsFunc(e.p.Args, func(a Argument) bool { return a.Name == "flag" }) {
		found = " && c_flag"
	}
	e.after = append(e.after, fmt.Sprintf("if (e == MPI_SUCCESS%s) string_out(%s, c_%s);", found, e.stringOf(a), a.Name))
}

// string adds the parameters of a string: beside descriptors it is one, where C says how procedures are called.
func (e *entry) string(a Argument, in bool) {
	switch {
	case e.texts:
		e.params = append(e.params, "struct descriptor *"+a.Name)
	case in:
		e.params = append(e.params, "const char *"+a.Name)
	default:
		e.params = append(e.params, "char *"+a.Name)
	}
	if !e.texts {
		e.lengths = append(e.lengths, "size_t "+a.Name+"_len")
	}
}

func (e *entry) stringOf(a Argument) string {
	if e.texts {
		return fmt.Sprintf("%s->base, %[1]s->elem_len", a.Name)
	}
	return fmt.Sprintf("%s, %[1]s_len", a.Name)
}

// most is how many characters C may write, without the NUL.
func (e *entry) most(a Argument) string {
	switch a.Length {
	case "":
		return map[string]string{"datarep": "MPI_MAX_DATAREP_STRING", "key": "MPI_MAX_INFO_KEY"}[a.Name]
	case "valuelen":
		return "at_least_0(*valuelen)"
	}
	return a.Length
}
