package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// An entry is the C function that a procedure of Fortran is: mpi_send_, mpi_send_f08ts_, mpi_send_c_f08ts_. It takes
// what Fortran passes, addresses and lengths of strings, and makes one call of C. fortran.h has all that it needs.

// entry is one entry on its way into C.
type entry struct {
	p        Procedure
	c        *table.Function // what it calls
	form     int             // old, f08, large: the types of its arguments
	section  bool            // buffers come as descriptors
	texts    bool            // strings beside them, too
	params   []string        // in C
	lengths  []string        // hidden, behind them
	before   []string        // statements
	values   []string        // what C is called with
	after    []string
	room     bool // needs room for copies
	keeps    bool // copies last as long as the request
	sections []string
	second   string           // buffer that shares the section of the one before
	paired   map[int]string   // counts and datatypes that a section may change, by position
	blocks   map[int]Argument // buffers by the arrays of datatypes that say what is in them
}

// byHand are the procedures whose entries are in by_hand.c and callbacks.c.
var byHand = map[string]bool{}

func init() {
	for name := range strings.FieldsSeq(`Init Init_thread Info_create_env Pcontrol Sizeof F_sync_reg
		Comm_create_keyval Type_create_keyval Win_create_keyval Keyval_create
		Comm_get_attr Type_get_attr Win_get_attr Attr_get Comm_set_attr Type_set_attr Win_set_attr Attr_put
		Comm_create_errhandler Win_create_errhandler File_create_errhandler Session_create_errhandler Errhandler_create
		Op_create Grequest_start Register_datarep
		Comm_spawn Comm_spawn_multiple Info_get_string Session_get_nth_pset
		Type_extent Type_lb Type_ub
		Buffer_detach Comm_detach_buffer Session_detach_buffer
		Status_f2f08 Status_f082f Abi_get_fortran_booleans Abi_set_fortran_booleans`) {
		byHand["MPI_"+name] = true
	}
}

// entries is the C of all entries of a procedure in a library.
func (p Procedure) entries(t target) string {
	if byHand[p.Name] || t.absent(p) {
		return ""
	}
	var b strings.Builder
	lower, upper := p.Lower(), strings.ToUpper(p.Lower())
	c := p.C
	if t.integer == 8 && p.widens() { // an INTEGER is an MPI_Count
		c = p.Large
	}
	if t.integer == 8 && p.recounts() {
		return p.entry(fmt.Sprintf("LARGE_(%s)", lower), p.Large, large, false, t)
	}
	b.WriteString(p.entry(fmt.Sprintf("F_(%s)", lower), c, old, false, t))
	fmt.Fprintf(&b, "NAMES(%s, %s)\n", lower, upper)
	if t.extension(p) {
		fmt.Fprintf(&b, "EXTENSION(%s, %s)\n", lower, upper)
	}
	if p.pointers() {
		fmt.Fprintf(&b, "CPTR(%s, %s)\n", lower, upper)
	}
	section := p.buffers() && t.descriptors()
	name, wide := "F08_", "LARGE_"
	if section {
		name, wide = "F08TS_", "LARGETS_"
		b.WriteString(p.entry(fmt.Sprintf("%s(%s)", name, lower), c, f08, true, t))
	} else {
		fmt.Fprintf(&b, "ALSO_F08(%s)\n", lower)
	}
	if t.large(p) {
		b.WriteString(p.entry(fmt.Sprintf("%s(%s)", wide, lower), p.Large, large, section, t))
	}
	return b.String()
}

// widens reports whether the large form takes the same arguments as the small one where INTEGER has 8 bytes.
func (p Procedure) widens() bool { return p.Large != nil && len(p.of(true)) == len(p.of(false)) }

// recounts reports whether the large form has counts in an array of their own, which INTEGERs of 8 bytes hold
// (contents.c).
func (p Procedure) recounts() bool { return p.Large != nil && !p.widens() }

// buffers reports whether there are choice buffers, which mpi_f08 passes as descriptors.
func (p Procedure) buffers() bool {
	return slices.ContainsFunc(p.Args, func(a Argument) bool { return a.Kind == "BUFFER" })
}

// pointers reports whether an address comes out, which mpi_f08 takes as a TYPE(C_PTR), and mpi as one or as an integer.
func (p Procedure) pointers() bool {
	return slices.ContainsFunc(p.Args, func(a Argument) bool { return a.Kind == "C_BUFFER" })
}

// entry is the C of one entry that calls c.
func (p Procedure) entry(name string, c *table.Function, form int, section bool, t target) string {
	e := entry{p: p, c: c, form: form, section: section, texts: section && t.front == "", paired: map[int]string{},
		blocks: map[int]Argument{}}
	if p.Result != "" {
		return e.function(name)
	}
	args := p.of(form == large)
	for i, a := range args {
		e.lower(i, a, args)
	}
	e.params = append(e.params, "Fint *ierror")
	return e.text(name)
}

func (e *entry) text(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "void %s(%s)\n{\n", name, strings.Join(append(e.params, e.lengths...), ", "))
	if e.room {
		b.WriteString("    ROOM(room);\n")
	}
	for _, s := range e.before {
		b.WriteString("    " + s + "\n")
	}
	call := fmt.Sprintf("C_(%s)(%s)", e.c.Short(), strings.Join(e.values, ", "))
	for _, s := range e.sections {
		call = fmt.Sprintf("%s.error ? %[1]s.error : %s", s, call)
	}
	if e.room {
		call = "room.full ? no_room() : " + call
	}
	fmt.Fprintf(&b, "    int e = %s;\n", call)
	for _, s := range e.after {
		b.WriteString("    " + s + "\n")
	}
	if e.room {
		b.WriteString("    leave(&room);\n")
	}
	b.WriteString("    done(ierror, e);\n}\n")
	return b.String()
}

// function is the C of an entry that has a value: MPI_Wtime, MPI_Aint_add.
func (e *entry) function(name string) string {
	var params, values []string
	for _, a := range e.p.Args {
		params = append(params, "const MPI_Aint *"+a.Name)
		values = append(values, "*"+a.Name)
	}
	if params == nil {
		params = []string{"void"}
	}
	return fmt.Sprintf("%s %s(%s) { return C_(%s)(%s); }\n", e.c.Result, name, strings.Join(params, ", "), e.c.Short(),
		strings.Join(values, ", "))
}
