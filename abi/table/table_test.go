package table

import (
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

type tables struct {
	constants []Constant
	functions map[string]Function
	calls     map[string]Call
	types     Types
}

func load(t *testing.T) tables {
	t.Helper()
	constants, functions, calls, err := Load("..")
	if err != nil {
		t.Fatal(err)
	}
	l := tables{constants, map[string]Function{}, map[string]Call{}, NewTypes(constants)}
	for _, f := range functions {
		l.functions[f.Name] = f
	}
	for _, c := range calls {
		l.calls[c.Small.Short()] = c
	}
	return l
}

func TestEveryPrototypeIsReadAndWrittenBackAlike(t *testing.T) {
	l := load(t)
	if len(l.functions) != 702 {
		t.Errorf("%d functions, want 702", len(l.functions))
	}
	for _, f := range l.functions {
		if got := f.Result + " " + f.Name + "(" + f.ParamList() + ")"; got != f.Prototype {
			t.Errorf("read  %s\nwrote %s", f.Prototype, got)
		}
	}
}

func TestParametersAreClassified(t *testing.T) {
	types := load(t).types
	for _, c := range []struct{ text, want string }{
		{"int count", "count int 0 '' Int"},
		{"const int level", "level const int 0 '' Int"},
		{"MPI_Count count", "count MPI_Count 0 '' Wide"},
		{"MPI_Aint target_disp", "target_disp MPI_Aint 0 '' Wide"},
		{"MPI_Fint comm", "comm MPI_Fint 0 '' Int"},
		{"MPI_T_cb_safety cb_safety", "cb_safety MPI_T_cb_safety 0 '' Int"},
		{"MPI_Comm comm", "comm MPI_Comm 0 '' Handle"},
		{"MPI_T_enum enumtype", "enumtype MPI_T_enum 0 '' Handle"},
		{"const void *buf", "buf const void 1 '' Pointer"},
		{"char ***argv", "argv char 3 '' Pointer"},
		{"char *argv[]", "argv char 1 '[]' Pointer"},
		{"int ranges[][3]", "ranges int 0 '[][3]' Pointer"},
		{"MPI_Request *request", "request MPI_Request 1 '' Pointer"},
		{"MPI_User_function *user_fn", "user_fn MPI_User_function 1 '' Pointer"},
		{"MPI_T_event_cb_function event_cb_function", "event_cb_function MPI_T_event_cb_function 0 '' Pointer"},
	} {
		p, err := parseParam(c.text, types)
		if err != nil {
			t.Error(err)
			continue
		}
		kind := p.Type
		if p.Const {
			kind = "const " + kind
		}
		class := [...]string{"Void", "Int", "Wide", "Handle", "Double", "Pointer"}[p.Class]
		if got := fmt.Sprintf("%s %s %d '%s' %s", p.Name, kind, p.Stars, p.Dims, class); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestUnknownPrototypesAreRefused(t *testing.T) {
	types := load(t).types
	for _, c := range []struct{ text, want string }{
		{"int MPI_X(long count)", "unknown type long"},
		{"int MPI_X(MPI_Thing thing)", "unknown type MPI_Thing"},
		{"int MPI_X(int a[4])", "unknown shape [4]"},
		{"int MPI_X(int a[][])", "unknown shape"},
		{"int MPI_X(void buf)", "a void by value"},
		{"int MPI_X(MPI_Status status)", "a MPI_Status by value"},
		{"int MPI_X(int)", "not a parameter"},
		{"int MPI_X(int (*f)(int))", "not a prototype"},
		{"int MPI_X(int a, int a)", "two parameters named a"},
		{"int MPI_X(int a, ..., int b)", "parameter behind the ellipsis"},
		{"int MPI_X(...)", "not a parameter"},
		{"int MPI_X()", "not a parameter"},
		{"void MPI_X(int a)", "result type void"},
		{"void *MPI_X(int a)", "not a prototype"},
		{"MPI_Status MPI_X(int a)", "result type MPI_Status"},
		{"int mpi_x(int a)", "not a prototype"},
	} {
		if _, err := ParsePrototype(c.text, types); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want one with %q", c.text, err, c.want)
		}
	}
}

// Every pair of the standard, by what differs. A change here is a change of how
// the shim converts.
func TestThePairsDifferInTheseWays(t *testing.T) {
	count := map[Difference]int{}
	where := map[Difference]map[string]bool{}
	pairs := 0
	for _, c := range load(t).calls {
		if c.Large == nil {
			continue
		}
		pairs++
		for n, d := range c.Diffs {
			count[d]++
			if where[d] == nil {
				where[d] = map[string]bool{}
			}
			where[d][c.Small.Short()+"."+c.Large.Params[n].Name] = true
		}
	}
	if pairs != 161 {
		t.Errorf("%d pairs, want 161", pairs)
	}
	want := map[Difference]int{Same: 826, Retyped: 16, WiderValue: 167, WiderArray: 78, WiderOutput: 11,
		WiderPosition: 2, OtherCallback: 3, OnlyLarge: 3}
	for d := Same; d <= OnlyLarge; d++ {
		if count[d] != want[d] {
			t.Errorf("%s: %d parameters, want %d", d, count[d], want[d])
		}
	}
	members := func(d Difference, names ...string) {
		for _, n := range names {
			if !where[d][n] {
				t.Errorf("%s: %s is missing", d, n)
			}
		}
	}
	members(Retyped, "Type_create_hvector.stride", "Type_get_extent.lb", "Pack_external.position",
		"Type_create_hindexed.array_of_displacements", "File_get_type_extent.extent")
	members(WiderValue, "Send.count", "Win_create.disp_unit", "Unpack.insize")
	members(WiderArray, "Allgatherv.displs", "Type_indexed.array_of_displacements", "Type_create_subarray.array_of_starts")
	members(WiderOutput, "Get_count.count", "Type_size.size", "Type_get_envelope.num_integers",
		"Win_shared_query.disp_unit", "Buffer_detach.size")
	members(WiderPosition, "Pack.position", "Unpack.position")
	members(OtherCallback, "Op_create.user_fn", "Register_datarep.read_conversion_fn")
	members(OnlyLarge, "Type_get_envelope.num_large_counts", "Type_get_contents.max_large_counts",
		"Type_get_contents.array_of_large_counts")
}

func TestOtherDifferencesAreRefused(t *testing.T) {
	types := load(t).types
	for _, c := range [][2]string{
		{"int MPI_X(int *a)", "int MPI_X_c(const MPI_Count *a)"},
		{"int MPI_X(int a[])", "int MPI_X_c(MPI_Count a[])"},
		{"int MPI_X(const int a[])", "int MPI_X_c(const MPI_Count *a)"},
		{"int MPI_X(int a)", "int MPI_X_c(MPI_Comm a)"},
		{"int MPI_X(MPI_Count a)", "int MPI_X_c(int a)"},
		{"int MPI_X(int a)", "int MPI_X_c(int b)"},
		{"int MPI_X(int a, int b)", "int MPI_X_c(int b, int a)"},
		{"MPI_Comm MPI_X(int a)", "int MPI_X_c(int a)"},
		{"int MPI_X(int ranges[][3])", "int MPI_X_c(MPI_Count ranges[][3])"},
	} {
		small, err1 := ParsePrototype(c[0], types)
		large, err2 := ParsePrototype(c[1], types)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if diffs, err := Compare(small, large); err == nil {
			t.Errorf("%s and %s: accepted as %v", c[0], c[1], diffs)
		}
	}
}

func TestExportsHaveTheseSignatures(t *testing.T) {
	calls := load(t).calls
	for _, want := range []string{
		"func impi_Send(buf uintptr, count int64, datatype uintptr, dest, tag int32, comm uintptr) int32",
		"func impi_Get_count(status, datatype, count uintptr) int32",
		"func impi_Pack(inbuf uintptr, incount int64, datatype, outbuf uintptr, outsize int64, position, comm uintptr, " +
			"wide int32) int32",
		"func impi_Pack_external(datarep, inbuf uintptr, incount int64, datatype, outbuf uintptr, outsize int64, position " +
			"uintptr) int32",
		"func impi_Gatherv(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr, " +
			"root int32, comm uintptr, wide int32) int32",
		"func impi_Op_create(user_fn uintptr, commute int32, op uintptr, wide int32) int32",
		"func impi_Type_get_envelope(datatype, num_integers, num_addresses, num_large_counts, num_datatypes, combiner " +
			"uintptr, wide int32) int32",
		"func impi_Type_contiguous(count int64, oldtype, newtype uintptr, wide int32) int32",
		"func impi_Win_create(base uintptr, size, disp_unit int64, info, comm, win uintptr) int32",
		"func impi_Init(argc, argv uintptr) int32",
		"func impi_Finalize() int32",
		"func impi_Wtime() float64",
		"func impi_Aint_add(base, disp int64) int64",
		"func impi_Comm_fromint(comm int32) uintptr",
		"func impi_Comm_c2f(comm uintptr) int32",
		"func impi_Pcontrol(level int32) int32",
	} {
		name := regexp.MustCompile(`impi_(\w+)`).FindStringSubmatch(want)[1]
		if got := calls[name].GoSignature(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestEverySignatureIsGo(t *testing.T) {
	for _, c := range load(t).calls {
		if _, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+c.GoSignature(), 0); err != nil {
			t.Errorf("%s: %v", c.GoSignature(), err)
		}
	}
}

func TestBadTablesAreRefused(t *testing.T) {
	const columns = "name\tkind\tvalue\tgroup\tnote\n"
	for _, c := range []struct{ abi, own, want string }{
		{"name\tkind\n", columns, "header"},
		{columns + "MPI_A\tint constant\t1\tg\n", columns, "4 columns"},
		{columns + "MPI_A\tint constant\tx1\tg\t\n", columns, "not a number"},
		{columns + "MPI_A\tint constant\t1\tg\t\nMPI_A\tint constant\t1\tg\t\n", columns, "twice"},
		{columns + "MPI_A\tint constant\t1\tg\t\n", columns + "MPI_A\tint constant\t2\tg\t\n", "fixes"},
		{columns + "MPI_A\tint constant\t1\tg\t\n", columns + "MPI_B\tint constant\t2\tg\t\n", "not a name"},
	} {
		if _, err := ReadConstants(c.abi, c.own); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want one with %q", err, c.want)
		}
	}
}

// Values of libimpi's own must not meet those that the ABI has or reserves.
func TestOwnValuesMeetNoValueOfTheABI(t *testing.T) {
	values := map[string]string{}
	for _, c := range load(t).constants {
		ctype, ok := c.CType()
		if !ok || !c.Own || ctype == "MPI_Fint *" || ctype == "MPI_F08_status *" {
			continue
		}
		v, err := c.Int()
		if err != nil {
			t.Fatal(err)
		}
		// The low 7 bits of a code are its class (gobridge/errors.go); the ABI has classes up to 62.
		if class := c.Kind == "error class int"; class && (v < 100 || v > 127) || !class && v <= 4095 {
			t.Errorf("%s = %d lies in the range of the ABI", c.Name, v)
		}
		if old := values[c.Value]; old != "" {
			t.Errorf("%s and %s are both %s", old, c.Name, c.Value)
		}
		values[c.Value] = c.Name
	}
	if len(values) != 14 {
		t.Errorf("%d own values, want 14", len(values))
	}
}
