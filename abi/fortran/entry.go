package fortran

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

	leading   string   // values of C's first parameters, which Fortran does not have
	functions []string // of the program
	family    string   // of trampolines, if C tells a function nothing of which one it is
	state     string   // that function
	space     string   // argument that says how long a string is
	needs     []string // conditions on which there is no memory
}

// byHand are the procedures that functions take, or whose arguments depend on one another.
var byHand = map[string]bool{}

// spawns are those whose entries are in spawn.c.
var spawns = []string{"MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}

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
	switch {
	case slices.Contains(spawns, p.Name) || t.absent(p):
		return ""
	case p.C == nil || strings.HasPrefix(p.Name, "MPI_Status_f"):
		return p.onlyFortran(t)
	case bounds[p.Name] != "":
		return fmt.Sprintf(boundEntry, p.Lower(), strings.ToUpper(p.Lower()), bounds[p.Name])
	}
	var b strings.Builder
	lower, upper := p.Lower(), strings.ToUpper(p.Lower())
	c := p.C
	if t.integer == 8 && p.widens() && !p.separate() { // an INTEGER is an MPI_Count
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
	} else if p.detaches() {
		b.WriteString(p.entry(fmt.Sprintf("F08_(%s)", lower), c, f08, false, t))
	} else {
		fmt.Fprintf(&b, "ALSO_F08(%s)\n", lower)
	}
	if t.large(p) {
		b.WriteString(p.entry(fmt.Sprintf("%s(%s)", wide, lower), p.Large, large, section, t))
	}
	return b.String()
}

// extension is the C of an entry of mpix.h, which the MPI library over which libimpi's own runs may not have.
func (p Procedure) extension(t target) string {
	var b strings.Builder
	lower, upper := p.Lower(), strings.ToUpper(p.Lower())
	there := ""
	if t.front == "" {
		fmt.Fprintf(&b, "#pragma weak %s\n", p.Name)
		there = p.Name + " && "
	}
	if lower == "comm_iagree" {
		fmt.Fprintf(&b, agreeLater, map[bool]string{true: "flag", false: "NULL"}[t.integer == 4], there)
	} else {
		b.WriteString(p.entry(fmt.Sprintf("X_(%s)", lower), p.C, old, false, t))
	}
	fmt.Fprintf(&b, "EXTENSION_NAMES(%s, %s)\n", lower, upper)
	if t.front == "" && p.flags() {
		fmt.Fprintf(&b, "EXTENSION_INTEGER(%s, %s)\n", lower, upper)
	}
	return b.String()
}

// agreeLater is the entry of MPIX_Comm_iagree, which stores an int in the program's INTEGER when the request is done:
// an INTEGER of 8 bytes is none.
const agreeLater = `void X_(comm_iagree)(const Fint *comm, Fint *flag, Fint *request, Fint *ierror)
{
    int *c_flag = (int *)(void *)%s, e = MPI_ERR_UNSUPPORTED_OPERATION;
    MPI_Request c_request = MPI_REQUEST_NULL;
    (void)flag;
    if (%sc_flag) e = MPIX_Comm_iagree(Comm_in(*comm), c_flag, &c_request);
    if (e == MPI_SUCCESS) *request = Request_out(c_request);
    done(ierror, e);
}
`

// bounds are those of datatypes, for which MPI-1 had a function each.
var bounds = map[string]string{"MPI_Type_extent": "extent", "MPI_Type_lb": "lb", "MPI_Type_ub": "lb + extent"}

const boundEntry = `void F_(%[1]s)(const Fint *datatype, Fint *bound, Fint *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    int e = C_(Type_get_extent)(Datatype_in(*datatype), &lb, &extent);
    if (e == MPI_SUCCESS) *bound = (Fint)(%[3]s);
    done(ierror, e);
}
NAMES(%[1]s, %[2]s)
`

// onlyFortran are the entries of procedures that call nothing of C.
func (p Procedure) onlyFortran(t target) string {
	lower, upper := p.Lower(), strings.ToUpper(p.Lower())
	names := fmt.Sprintf("NAMES(%s, %s)\n", lower, upper)
	switch {
	case p.Name == "MPI_Sizeof" && t.front != "": // of modules
		return ""
	case p.Name == "MPI_Sizeof":
		return "void F_(sizeof_f08ts)(const struct descriptor *x, Fint *size, Fint *ierror)\n" +
			"{\n    *size = (Fint)x->elem_len;\n    done(ierror, MPI_SUCCESS);\n}\n"
	case p.Name == "MPI_F_sync_reg":
		text := "void F_(f_sync_reg)(void *buf) { (void)buf; }\n" + names
		if t.descriptors() {
			return text + "void F08TS_(f_sync_reg)(const struct descriptor *buf) { (void)buf; }\n"
		}
		return text + "ALSO_F08(f_sync_reg)\n"
	} // statuses of all bindings are the same INTEGERs
	return fmt.Sprintf("void F_(%s)(const Fint *from, Fint *to, Fint *ierror)\n"+
		"{\n    memcpy(to, from, STATUS_INTEGERS * sizeof(Fint));\n    done(ierror, MPI_SUCCESS);\n}\n%s"+
		"ALSO_F08(%[1]s)\n", lower, names)
}

// bare reports whether there is no error code.
func (p Procedure) bare() bool { return p.Name == "MPI_Pcontrol" || p.Name == "MPI_F_sync_reg" }

// detaches reports whether an address comes out that mpi_f08 alone says.
func (p Procedure) detaches() bool {
	return slices.ContainsFunc(p.Args, func(a Argument) bool { return a.Kind == "C_BUFFER2" })
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
	e.leave()
	for i, a := range args {
		e.lower(i, a, args)
	}
	if !p.bare() {
		e.params = append(e.params, "Fint *ierror")
	}
	return e.text(name, t)
}

// leave leaves out what Fortran does not say: the arguments of a program.
func (e *entry) leave() {
	n := len(e.c.Params) - len(e.p.Args)
	if n <= 0 || e.c.Params[0].Name != "argc" {
		return
	}
	for _, p := range e.c.Params[:n] {
		e.leading += map[bool]string{true: "NULL, ", false: "0, "}[p.Class == table.Pointer]
	}
	c := *e.c
	c.Params = c.Params[n:]
	e.c = &c
}

func (e *entry) text(name string, t target) string {
	var b strings.Builder
	fmt.Fprintf(&b, "void %s(%s)\n{\n", name, strings.Join(append(e.params, e.lengths...), ", "))
	if e.room {
		b.WriteString("    ROOM(room);\n")
	}
	for _, s := range e.before {
		b.WriteString("    " + s + "\n")
	}
	if e.p.bare() {
		return b.String() + fmt.Sprintf("    %s;\n}\n", e.calling(t))
	}
	fmt.Fprintf(&b, "    int e = %s;\n", e.calling(t))
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
