package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// The functions of abi/front: what programs call that were compiled with another MPI library's mpi.h. Each converts its
// arguments, calls the function of libimpi, and converts the results. Which ABI it is, is the matter of the C compiler:
// F_Comm and its like are types of that ABI, front_Comm_in and front_Comm_out convert (abi/front/front.h).
//
// How a parameter is converted follows from its type, and for numbers from the rules below.

// frontByHand are functions that abi/front has in C written by hand, or not at all because only the standard ABI has
// them.
var frontByHand = []string{
	"MPI_Abi_get_version", "MPI_*_toint", "MPI_*_fromint", "MPI_*_c2f", "MPI_*_f2c", "MPI_Status_c2f08",
	"MPI_Status_f082c", "MPI_Status_f082f", "MPI_Status_f2f08", "MPI_Pcontrol", "MPI_Op_create", "MPI_Op_create_c",
	"MPI_*_create_errhandler", "MPI_Errhandler_create", "MPI_*_create_keyval", "MPI_Keyval_create",
	"MPI_Comm_get_attr", "MPI_Win_get_attr", "MPI_Attr_get", "MPI_Type_get_contents", "MPI_Type_get_contents_c",
	"MPI_Grequest_start", "MPI_Register_datarep", "MPI_Register_datarep_c", "MPI_T_*_handle_alloc",
	"MPI_T_event_register_callback", "MPI_T_event_handle_free", "MPI_T_event_set_dropped_handler",
	"MPI_Status_set_error", "MPI_Status_get_error", "MPI_Get_library_version", "MPI_Psend_init_c", "MPI_Precv_init_c",
}

// frontRule says what the numbers of a parameter mean.
type frontRule struct{ function, param, role string }

// frontRules: the first that fits counts. A role is a group of constants (front_tables.go), "" is a mere number, and
// "text=X" a text of at most MPI_X characters for which the program has memory as its own header says.
var frontRules = []frontRule{
	{"MPI_Abort", "errorcode", ""},
	{"*", "errorcode", "error"}, {"*", "errorclass", "error"}, {"*", "array_of_errcodes", "error"},
	{"MPI_Group_translate_ranks", "ranks1", "rank"}, {"MPI_Group_translate_ranks", "ranks2", "rank"},
	{"*", "dest", "rank"}, {"*", "source", "rank"}, {"*", "target_rank", "rank"}, {"*", "root", "rank"},
	{"MPI_Win_*", "rank", "rank"},
	{"*", "rank_source", "rank"}, {"*", "rank_dest", "rank"},
	{"MPI_T_*", "tag", ""}, {"*", "tag", "tag"}, {"*", "sendtag", "tag"}, {"*", "recvtag", "tag"},
	{"MPI_*_compare", "result", "compare"}, {"MPI_Topo_test", "status", "topology"},
	{"MPI_Type_get_envelope*", "combiner", "combiner"}, {"MPI_Type_create_*", "order", "order"},
	{"*", "array_of_distribs", "distribution"}, {"*", "array_of_dargs", "argument"},
	{"*", "lock_type", "lock"}, {"MPI_Win_*", "assert", "assertion"}, {"*", "required", "thread"},
	{"*", "provided", "thread"}, {"*", "split_type", "split"}, {"*", "whence", "whence"},
	{"*", "typeclass", "typeclass"}, {"*", "comm_keyval", "keyval"}, {"*", "win_keyval", "keyval"},
	{"*", "type_keyval", "keyval"}, {"*", "keyval", "keyval"}, {"*", "amode", "amode"},
	{"MPI_File_set_view", "disp", "displacement"},
	{"MPI_T_*", "verbosity", "verbosity"}, {"MPI_T_*", "bind", "bind"}, {"MPI_T_*", "scope", "scope"},
	{"MPI_T_*", "var_class", "pvarclass"}, {"MPI_T_*", "cb_safety", "safety"}, {"MPI_T_*", "ordering", "ordering"},
	{"MPI_Get_processor_name", "name", "text=MAX_PROCESSOR_NAME"}, {"MPI_Error_string", "string", "text=MAX_ERROR_STRING"},
	{"MPI_Open_port", "port_name", "text=MAX_PORT_NAME"}, {"MPI_Lookup_name", "port_name", "text=MAX_PORT_NAME"},
	{"MPI_Comm_get_name", "comm_name", "text=MAX_OBJECT_NAME"}, {"MPI_Type_get_name", "type_name", "text=MAX_OBJECT_NAME"},
	{"MPI_Win_get_name", "win_name", "text=MAX_OBJECT_NAME"}, {"MPI_Info_get_nthkey", "key", "text=MAX_INFO_KEY"},
}

// frontGiven are functions whose handle behind a pointer is given, not only an answer.
var frontGiven = []string{"MPI_*_free", "MPI_*_free_keyval", "MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Cancel",
	"MPI_Type_commit",
	"MPI_Comm_disconnect", "MPI_File_close", "MPI_Session_finalize", "MPI_M*recv*", "MPI_Im*recv*", "MPI_*_set_errhandler"}

// frontLengths are how many elements an array has that is converted.
var frontLengths = []struct{ function, param, length string }{
	{"MPI_Group_translate_ranks", "*", "n"},
	{"MPI_Waitsome", "*", "incount"}, {"MPI_Testsome", "*", "incount"}, {"MPI_Request_get_status_some", "*", "incount"},
	{"MPI_Waitall", "*", "count"}, {"MPI_Testall", "*", "count"}, {"MPI_Waitany", "*", "count"},
	{"MPI_Testany", "*", "count"}, {"MPI_Startall", "*", "count"}, {"MPI_Request_get_status_*", "*", "count"},
	{"MPI_*eighbor_*", "sendtypes", "front_edges(comm, 1)"}, {"MPI_*eighbor_*", "recvtypes", "front_edges(comm, 0)"},
	{"MPI_*lltoallw*", "*", "front_ranks(comm)"}, {"MPI_Type_create_struct*", "*", "count"},
	{"MPI_Type_struct", "*", "count"},
	{"MPI_Type_create_darray*", "*", "ndims"},
	{"MPI_Comm_spawn_multiple", "array_of_info", "front_at_root(root, comm, count)"},
	{"MPI_T_event_get_info", "array_of_datatypes", "num_elements ? *num_elements : 0"},
}

// frontFilled are how many elements of an array of answers the call has filled, where that is not its length.
var frontFilled = map[string]string{
	"MPI_Waitsome": "outcount ? *outcount : 0", "MPI_Testsome": "outcount ? *outcount : 0",
	"MPI_Request_get_status_some": "outcount ? *outcount : 0", "MPI_Testall": "flag && *flag ? count : 0",
	"MPI_Request_get_status_all": "flag && *flag ? count : 0",
}

const generatedLine = "/* Code generated by abi/gen; DO NOT EDIT. */\n"

func fits(pattern, name string) bool {
	ok, _ := path.Match(pattern, name) // the patterns are well-formed
	return ok
}

func fitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
}

func roleOf(f table.Function, p table.Param) string {
	for _, r := range frontRules {
		if fits(r.function, f.Name) && fits(r.param, p.Name) {
			return r.role
		}
	}
	return ""
}

func lengthOf(f table.Function, p table.Param) (string, error) {
	for _, l := range frontLengths {
		if fits(l.function, f.Name) && fits(l.param, p.Name) {
			return l.length, nil
		}
	}
	return "", fmt.Errorf("front: %s: how long is %s?", f.Name, p.Name)
}

// frontType is the C type of abi/front for one of MPI, in prototypes that programs see.
func frontType(t string) string {
	switch short := strings.TrimPrefix(t, "MPI_"); {
	case t == "MPI_Aint":
		return "intptr_t"
	case t == "MPI_Count", t == "MPI_Offset":
		return "int64_t"
	case t == "MPI_Fint", t == "MPI_T_cb_safety", t == "MPI_T_source_order":
		return "int"
	case strings.HasPrefix(t, "MPI_T_"):
		return "void *"
	case strings.Contains(t, "_function"), t == "MPI_F08_status":
		return "void"
	case short != t:
		return "F_" + short
	}
	return t
}

func frontDecl(p table.Param) string {
	s := strings.TrimSuffix(frontType(p.Type), " ") + " " + strings.Repeat("*", p.Stars) + p.Name + p.Dims
	if p.Const {
		return "const " + s
	}
	return s
}

// nativeDecl is a parameter of the function that is called.
func nativeDecl(p table.Param) string {
	t := frontType(p.Type)
	switch {
	case p.Type == "MPI_Status":
		t = "struct n_status"
	case strings.HasPrefix(t, "F_"):
		t = "uintptr_t"
	}
	p.Type = t
	return frontDecl(p)
}

// frontCall is a function of abi/front while it is written.
type frontCall struct {
	f                 table.Function
	before, args, end []string
}

// add converts one parameter.
func (c *frontCall) add(p table.Param) error {
	kind, handle := strings.CutPrefix(frontType(p.Type), "F_")
	role := roleOf(c.f, p)
	array := p.Dims == "[]" || p.Stars == 1 && strings.HasPrefix(p.Name, "array_of_")
	switch {
	case p.Type == "MPI_Status":
		return c.status(p, array)
	case handle && !array && p.Stars == 0:
		c.args = append(c.args, fmt.Sprintf("front_%s_in(%s)", kind, p.Name))
	case handle && !array:
		c.handleBehind(p, kind)
	case handle:
		return c.handles(p, kind)
	case role != "" && strings.HasPrefix(role, "text="):
		c.text(p, strings.TrimPrefix(role, "text="))
	case role != "":
		return c.number(p, role, array)
	case p.Type == "void" && p.Stars == 1:
		c.buffer(p)
	case p.Type == "int" && (array || p.Stars == 1) && strings.HasSuffix(p.Name, "weights"):
		c.args = append(c.args, fmt.Sprintf("front_weights_in(%s)", p.Name))
	case p.Type == "MPI_T_pvar_handle" && p.Stars == 0:
		c.args = append(c.args, fmt.Sprintf("front_pvar_in(%s)", p.Name))
	default:
		c.args = append(c.args, p.Name)
	}
	return nil
}

// buffer passes an address on, of which some stand for something else.
func (c *frontCall) buffer(p table.Param) {
	switch p.Name {
	case "sendbuf", "recvbuf", "buffer":
		cast := "void *"
		if p.Const {
			cast = "const void *"
		}
		c.args = append(c.args, fmt.Sprintf("(%s)front_buffer_in(%s)", cast, p.Name))
	case "buffer_addr":
		c.args = append(c.args, p.Name)
		c.end = append(c.end, "if (!code) front_buffer_out("+p.Name+");")
	default:
		c.args = append(c.args, p.Name)
	}
}

func (c *frontCall) status(p table.Param, array bool) error {
	n := "n_" + p.Name
	switch {
	case array:
		length, err := lengthOf(c.f, p)
		if err != nil {
			return err
		}
		filled, ok := frontFilled[c.f.Name]
		if !ok {
			filled = length
		}
		c.before = append(c.before, fmt.Sprintf("FRONT_STATUSES(%s, %s, %s);", n, p.Name, length))
		c.args = append(c.args, n)
		c.end = append(c.end, fmt.Sprintf("front_statuses_out(%s, %s, %s);", p.Name, n, filled), "FRONT_DROP("+n+");")
	case p.Const || strings.HasPrefix(c.f.Name, "MPI_Status_set_"):
		c.before = append(c.before, fmt.Sprintf("struct n_status %s; struct n_status *p_%s = front_status_in(%s, &%s);",
			n, p.Name, p.Name, n))
		c.args = append(c.args, "p_"+p.Name)
		if !p.Const {
			c.end = append(c.end, fmt.Sprintf("front_status_out(%s, p_%s);", p.Name, p.Name))
		}
	default:
		c.before = append(c.before, fmt.Sprintf("struct n_status %s; struct n_status *p_%s = front_status_for(%s, &%s);",
			n, p.Name, p.Name, n))
		c.args = append(c.args, "p_"+p.Name)
		c.end = append(c.end, fmt.Sprintf("front_status_out(%s, p_%s);", p.Name, p.Name))
	}
	return nil
}

func (c *frontCall) handleBehind(p table.Param, kind string) {
	n := "n_" + p.Name
	if fitsAny(frontGiven, c.f.Name) {
		c.before = append(c.before, fmt.Sprintf("uintptr_t %s = %s ? front_%s_in(*%s) : 0;", n, p.Name, kind, p.Name))
		c.end = append(c.end, fmt.Sprintf("if (%s) *%s = front_%s_out(%s);", p.Name, p.Name, kind, n))
	} else {
		c.before = append(c.before, fmt.Sprintf("uintptr_t %s = 0;", n))
		c.end = append(c.end, fmt.Sprintf("if (%s && %s) *%s = front_%s_out(%s);", p.Name, n, p.Name, kind, n))
	}
	c.args = append(c.args, fmt.Sprintf("%s ? &%s : NULL", p.Name, n))
}

func (c *frontCall) handles(p table.Param, kind string) error {
	length, err := lengthOf(c.f, p)
	if err != nil {
		return err
	}
	n := "n_" + p.Name
	given := 1
	if strings.HasPrefix(c.f.Name, "MPI_T_") {
		given = 0
	}
	c.before = append(c.before, fmt.Sprintf("FRONT_HANDLES(%s, %s, %s, %s, %d);", kind, n, p.Name, length, given))
	c.args = append(c.args, n)
	if !p.Const {
		c.end = append(c.end, fmt.Sprintf("FRONT_HANDLES_OUT(%s, %s, %s);", kind, p.Name, n))
	}
	c.end = append(c.end, "FRONT_DROP("+n+");")
	return nil
}

func (c *frontCall) text(p table.Param, limit string) {
	n := "n_" + p.Name
	c.before = append(c.before, fmt.Sprintf("char %s[N_MPI_%s]; %s[0] = 0;", n, limit, n))
	c.args = append(c.args, fmt.Sprintf("%s ? %s : NULL", p.Name, n))
	length := "NULL"
	for _, q := range c.f.Params {
		if q.Name == "resultlen" {
			length = q.Name
		}
	}
	c.end = append(c.end, fmt.Sprintf("if (!code) front_text_out(%s, %s, F_MPI_%s, %s);", p.Name, n, limit, length))
}

func (c *frontCall) number(p table.Param, role string, array bool) error {
	n := "n_" + p.Name
	switch {
	case p.Name == "array_of_errcodes": // only the root knows how many there are
		c.before = append(c.before, fmt.Sprintf("int *%s = front_codes_for(%s);", n, p.Name),
			fmt.Sprintf("if (%s && !%s) return F_MPI_ERR_NO_MEM;", p.Name, n))
		c.args = append(c.args, n)
		c.end = append(c.end, fmt.Sprintf("front_codes_out(%s, %s);", p.Name, n))
	case !array && p.Stars == 0:
		c.args = append(c.args, fmt.Sprintf("front_%s_in(%s)", role, p.Name))
	case !array:
		given := fitsAny(frontGiven, c.f.Name)
		if given {
			c.before = append(c.before, fmt.Sprintf("int %s = %s ? front_%s_in(*%s) : 0;", n, p.Name, role, p.Name))
		} else {
			c.before = append(c.before, fmt.Sprintf("int %s = 0;", n))
		}
		c.args = append(c.args, fmt.Sprintf("%s ? &%s : NULL", p.Name, n))
		c.end = append(c.end, fmt.Sprintf("if (%s && !code) *%s = front_%s_out(%s);", p.Name, p.Name, role, n))
	default:
		length, err := lengthOf(c.f, p)
		if err != nil {
			return err
		}
		if p.Const {
			c.before = append(c.before, fmt.Sprintf("FRONT_NUMBERS(%s, %s, %s, %s);", role, n, p.Name, length))
			c.args = append(c.args, n)
			c.end = append(c.end, "FRONT_DROP("+n+");")
		} else {
			c.args = append(c.args, p.Name)
			c.end = append(c.end, fmt.Sprintf("FRONT_NUMBERS_OUT(%s, %s, code ? 0 : %s);", role, p.Name, length))
		}
	}
	return nil
}

// frontFunction is one function of abi/front.
func frontFunction(f table.Function) (string, error) {
	c := frontCall{f: f}
	var params []string
	for _, p := range f.Params {
		params = append(params, frontDecl(p))
		if err := c.add(p); err != nil {
			return "", err
		}
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	call := fmt.Sprintf("front_native.%s(%s)", f.Short(), strings.Join(c.args, ", "))
	var b strings.Builder
	result := frontType(f.Result)
	fmt.Fprintf(&b, "%s P%s(%s)\n{\n", result, f.Name, strings.Join(params, ", "))
	switch {
	case !f.ReturnsCode() || result != "int":
		fmt.Fprintf(&b, "    return %s;\n", call)
	case len(c.before)+len(c.end) == 0:
		fmt.Fprintf(&b, "    return front_error_out(%s);\n", call)
	default:
		for _, line := range c.before {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		fmt.Fprintf(&b, "    int code = %s;\n", call)
		for _, line := range c.end {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		b.WriteString("    return front_error_out(code);\n")
	}
	fmt.Fprintf(&b, "}\nWEAK(%s);\n\n", f.Name)
	return b.String(), nil
}

// frontExtensions are those of mpix.h that programs of other ABIs may call: all but the ones with functions of the
// program, which libraries look for when they are loaded, and do without.
func frontExtensions(extensions []table.Function) (list []table.Function) {
	for _, f := range extensions {
		if !slices.ContainsFunc(f.Params, func(p table.Param) bool { return strings.Contains(p.Type, "_function") }) {
			list = append(list, f)
		}
	}
	return list
}

// frontFunctions is abi/front/z_functions.c.
func frontFunctions(functions []table.Function) ([]byte, error) {
	var b strings.Builder
	b.WriteString(generatedLine + "/* What programs of another ABI call: PMPI_X, and MPI_X as a weak alias that a tool " +
		"may replace. */\n\n#include \"front.h\"\n\n")
	for _, f := range functions {
		if fitsAny(frontByHand, f.Name) {
			continue
		}
		text, err := frontFunction(f)
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return []byte(b.String()), nil
}

// frontNative is abi/front/z_native.h: libimpi's functions as abi/front calls them.
func frontNative(functions []table.Function) []byte {
	var b strings.Builder
	b.WriteString(generatedLine + "/* The functions of libimpi, found when the library is loaded (load.c). Handles are " +
		"numbers here. */\n\nstruct front_native {\n")
	for _, f := range functions {
		var params []string
		for _, p := range f.Params {
			params = append(params, nativeDecl(p))
		}
		if len(params) == 0 {
			params = []string{"void"}
		}
		if f.Variadic {
			params = append(params, "...")
		}
		result := frontType(f.Result)
		if strings.HasPrefix(result, "F_") {
			result = "uintptr_t"
		}
		fmt.Fprintf(&b, "    %s (*%s)(%s);\n", result, f.Short(), strings.Join(params, ", "))
	}
	b.WriteString("};\n\n/* X(member, name without P) */\n#define FRONT_NATIVE(X) \\\n")
	for i, f := range functions {
		b.WriteString("    X(" + f.Short() + ", " + f.Name + ")")
		if i+1 < len(functions) {
			b.WriteString(" \\")
		}
		b.WriteString("\n")
	}
	return []byte(b.String())
}

// frontCxx is abi/front/cxx/z_mpich.h: what the C++ bindings call, and constants, as programs of MPICH's ABI see them.
func frontCxx(functions []table.Function, of map[string]foreign) []byte {
	var b strings.Builder
	b.WriteString(generatedLine + "/* Functions and constants of MPICH's ABI. */\n\nextern \"C\" {\n")
	for _, f := range functions {
		if strings.HasPrefix(f.Name, "MPI_T_") || f.Since > "2.2" {
			continue
		}
		var params []string
		for _, p := range f.Params {
			if strings.Contains(p.Type, "_function") {
				p.Type, p.Stars = "MPI_callback_function", 1 // void *: which function it is, C++ says itself
			}
			params = append(params, frontDecl(p))
		}
		if f.Variadic {
			params = append(params, "...")
		}
		fmt.Fprintf(&b, "%s %s(%s);\n", frontType(f.Result), f.Name, strings.Join(params, ", "))
	}
	b.WriteString("}\n\n")
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if v := of[name]; v.symbol == "" {
			fmt.Fprintf(&b, "#define %s %d\n", name, v.number)
		}
	}
	return []byte(b.String())
}
