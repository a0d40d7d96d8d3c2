package fortran

import (
	"fmt"
	"strings"
)

// Interface bodies: what a compiler must know of an entry.

// body is one on its way into Fortran.
type body struct {
	name    string // of the procedure in Fortran
	symbol  string // of an entry that takes descriptors; "": what the compiler makes of the name
	args    []Argument
	form    int
	pointer bool // addresses are TYPE(C_PTR)
	result  string
	bare    bool // neither MPI's error argument nor an interface to import from: a callback
}

// text is the interface body.
func (b body) text() string {
	var out strings.Builder
	var names []string
	for _, a := range b.args {
		names = append(names, a.Name)
	}
	if b.error() {
		names = append(names, "ierror")
	}
	head := "subroutine " + b.name
	if b.result != "" {
		head = "function " + b.name
	}
	head += "(" + strings.Join(names, ", ") + ")"
	if b.symbol != "" {
		head += fmt.Sprintf(" bind(C, name=%q)", b.symbol)
	}
	out.WriteString(wrap(head))
	out.WriteString("  import\n  implicit none\n")
	if b.result != "" {
		fmt.Fprintf(&out, "  %s :: %s\n", strings.ToLower(b.result), b.name)
	}
	for _, scalars := range []bool{true, false} { // shapes may be given by scalars
		for _, a := range b.args {
			if (a.Length == "") == scalars {
				out.WriteString(b.declare(a))
			}
		}
	}
	if b.error() {
		if b.form == old {
			out.WriteString("  integer, intent(out) :: ierror\n")
		} else {
			out.WriteString("  integer, optional, intent(out) :: ierror\n")
		}
	}
	word, _, _ := strings.Cut(head, " ")
	fmt.Fprintf(&out, "end %s\n", word)
	return out.String()
}

// error reports whether the last argument is MPI's error code.
func (b body) error() bool { return b.result == "" && !b.bare }

// declare is the declaration of an argument.
func (b body) declare(a Argument) string {
	typ := strings.ToLower(a.types[b.form])
	shape := a.shape()
	switch {
	case a.Kind == "BUFFER" && b.form == old:
		return fmt.Sprintf("  type(*), dimension(*) :: %s\n"+
			"!GCC$ ATTRIBUTES NO_ARG_CHECK :: %[1]s\n!DIR$ IGNORE_TKR %[1]s\n!DEC$ ATTRIBUTES NO_ARG_CHECK :: %[1]s\n", a.Name)
	case a.Kind == "C_BUFFER2" && b.form == old:
		return fmt.Sprintf("  type(*), dimension(*) :: %s\n!GCC$ ATTRIBUTES NO_ARG_CHECK :: %[1]s\n!DIR$ IGNORE_TKR %[1]s\n",
			a.Name)
	case a.Kind == "BUFFER":
		typ = "type(*), dimension(..)"
	case strings.HasPrefix(a.Kind, "C_BUFFER") && (b.pointer || b.form != old):
		typ = strings.ToLower(a.types[f08])
	case a.text():
		typ = "character(len=*)"
	case strings.Contains(a.Kind, "FUNCTION") && b.form == old:
		return fmt.Sprintf("  external :: %s\n", a.Name)
	case strings.Contains(a.Kind, "FUNCTION"):
		typ = "procedure(" + b.callback(a) + ")"
	case a.Kind == "STATUS" && b.form == old || a.Kind == "F90_STATUS":
		typ = "integer"
		shape = strings.Replace("(MPI_STATUS_SIZE"+strings.TrimPrefix(shape, "(")+")", "))", ")", 1)
		if a.Length != "" {
			shape = "(MPI_STATUS_SIZE, *)"
		}
	}
	return fmt.Sprintf("  %s%s :: %s%s\n", typ, b.attributes(a), a.Name, shape)
}

// attributes are those of an argument: whether it comes in or goes out, and may change behind the procedure's back.
func (b body) attributes(a Argument) string {
	attributes := b.intent(a)
	switch {
	case a.Kind == "BUFFER":
		attributes = ""
		if a.Flags["constant"] {
			attributes = ", intent(in)"
		}
	case strings.HasPrefix(a.Kind, "C_BUFFER") && (b.pointer || b.form != old):
		if strings.Contains(a.types[f08], "VALUE") {
			attributes = ""
		}
	case a.text():
	case strings.Contains(a.Kind, "FUNCTION"), a.Kind == "STATUS" && b.form == old, a.Kind == "F90_STATUS",
		a.Kind == "STATUS" && a.Dir != "in", a.Flags["no-intent-in-f08"]:
		attributes = ""
	}
	if a.Flags["asynchronous"] && b.form != old {
		attributes += ", asynchronous"
	}
	return attributes
}

// callback is the interface of a procedure that a program provides.
func (b body) callback(a Argument) string {
	if b.form == large && a.Kind == "POLYFUNCTION" {
		return a.Callback + "_c"
	}
	return a.Callback
}

func (b body) intent(a Argument) string {
	if b.bare {
		return ""
	}
	return ", intent(" + a.Dir + ")"
}

// text reports whether the argument is a string, or an array of them.
func (a Argument) text() bool {
	return a.Kind == "STRING" || a.Kind == "STRING_ARRAY" || a.Kind == "STRING_2DARRAY"
}

func (a Argument) shape() string {
	switch {
	case a.Kind == "STRING_ARRAY":
		return "(*)"
	case a.Kind == "STRING_2DARRAY":
		return "(count, *)"
	case a.Kind == "STRING" || a.Kind == "C_BUFFER4" || a.Length == "":
		return ""
	case a.Length == "[n, 3]":
		return "(3, *)"
	}
	return "(*)"
}

// wrap breaks a statement at commas into lines of at most 120 columns.
func wrap(s string) string {
	var b strings.Builder
	for len(s) > 110 {
		at := strings.LastIndex(s[:110], ", ") + 2
		b.WriteString(s[:at] + "&\n    ")
		s = s[at:]
	}
	b.WriteString(s + "\n")
	return b.String()
}
