package fortran

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/entries.txt from what is generated")

func load(t *testing.T) input {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	in, err := read(root)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func (in input) procedure(t *testing.T, name string) Procedure {
	t.Helper()
	i := slices.IndexFunc(in.procedures, func(p Procedure) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("there is no %s", name)
	}
	return in.procedures[i]
}

func TestWhatHasAFortranBinding(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Send": true, "MPI_Wtime": true, "MPI_Type_struct": true, "MPI_Comm_spawn": true, "MPI_Status_f2f08": true,
		"MPI_Send_c": false, "MPI_Comm_c2f": false, "MPI_Comm_toint": false, "MPI_Type_fromint": false,
		"MPI_Status_c2f08": false, "MPI_Status_f082c": false, "MPI_T_init_thread": false,
	} {
		if bound(name) != want {
			t.Errorf("bound(%q) is %v", name, !want)
		}
	}
}

// What an entry does with arguments of all kinds, for both lengths of an INTEGER.
func TestEntriesConvertArguments(t *testing.T) {
	in := load(t)
	var b strings.Builder
	for _, name := range []string{"MPI_Send", "MPI_Waitsome", "MPI_Testany", "MPI_Cart_sub", "MPI_Info_get",
		"MPI_Comm_get_name", "MPI_Type_create_struct", "MPI_Ialltoallw", "MPI_Dist_graph_create_adjacent", "MPI_Cancel",
		"MPI_Group_range_incl", "MPI_Aint_add"} {
		p := in.procedure(t, name)
		for _, integer := range []int{4, 8} {
			text := p.entries(target{integer: integer})
			old, _, _ := strings.Cut(text, "NAMES(")
			b.WriteString(old)
		}
	}
	const path = "testdata/entries.txt"
	if *rewrite {
		if err := write(path, b.String()); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("entries differ from %s; go test ./abi/fortran -rewrite accepts them:\n%s", path, b.String())
	}
}

// Arrays whose length no argument says: of how many processes, neighbors, dimensions or requests they tell.
func TestLengthsOfArrays(t *testing.T) {
	in := load(t)
	for _, c := range []struct{ procedure, argument, want string }{
		{"MPI_Gatherv", "recvcounts", "peers(Comm_in(*comm))"},
		{"MPI_Neighbor_alltoallw", "sendtypes", "neighbors(Comm_in(*comm), 1)"},
		{"MPI_Ineighbor_alltoallv", "rdispls", "neighbors(Comm_in(*comm), 0)"},
		{"MPI_Waitsome", "array_of_indices", "*incount"},
		{"MPI_Cart_rank", "coords", "dimensions(Comm_in(*comm))"},
		{"MPI_Cart_create", "dims", "*ndims"},
		{"MPI_Graph_create", "edges", "last(index, *nnodes)"},
		{"MPI_Group_range_excl", "ranges", "3 * (int64_t)*n"},
		{"MPI_Dist_graph_create", "weights", "sum(degrees, *n)"},
		{"MPI_Type_create_darray", "array_of_psizes", "*ndims"},
		{"MPI_Waitall", "array_of_statuses", "*count"},
	} {
		p := in.procedure(t, c.procedure)
		i := slices.IndexFunc(p.Args, func(a Argument) bool { return a.Name == c.argument })
		if i < 0 {
			t.Errorf("%s has no %s", c.procedure, c.argument)
			continue
		}
		e := entry{p: p}
		if got := e.length(p.Args[i]); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.argument, c.procedure, got, c.want)
		}
	}
}

// An array of no known length is taken to be as long as there are processes. That is so in some collective calls only.
func TestOnlyCollectiveCallsHaveArraysOfAsManyElementsAsProcesses(t *testing.T) {
	for _, p := range load(t).procedures {
		if byHand[p.Name] {
			continue
		}
		for _, a := range p.Args {
			e := entry{p: p}
			if a.Length == "" || a.Kind == "STRING" || e.length(a) != "peers(Comm_in(*comm))" {
				continue
			}
			name := strings.TrimSuffix(p.Name, "_init")
			if !strings.HasSuffix(name, "v") && !strings.HasSuffix(name, "w") && !strings.HasSuffix(name, "educe_scatter") {
				t.Errorf("%s of %s has no length", a.Name, p.Name)
			}
		}
	}
}

func TestOptionsChangeTheValuesOfDefaultDatatypes(t *testing.T) {
	in := load(t)
	for _, c := range []struct{ variant, name, is string }{
		{"", "MPI_INTEGER", "MPI_INTEGER"}, {"i8", "MPI_INTEGER", "MPI_INTEGER8"}, {"i8", "MPI_LOGICAL", "MPI_LOGICAL8"},
		{"i8", "MPI_2INTEGER", "IMPI_2INTEGER8"}, {"i8", "MPI_REAL", "MPI_REAL"}, {"i8", "MPI_INTEGER4", "MPI_INTEGER4"},
		{"r8", "MPI_REAL", "MPI_REAL8"}, {"r8", "MPI_COMPLEX", "MPI_COMPLEX16"}, {"r8", "MPI_2REAL", "MPI_2DOUBLE_PRECISION"},
		{"r8", "MPI_DOUBLE_PRECISION", "MPI_REAL16"}, {"r8", "MPI_INTEGER", "MPI_INTEGER"},
		{"r8d8", "MPI_DOUBLE_PRECISION", "MPI_DOUBLE_PRECISION"}, {"r8d8", "MPI_REAL", "MPI_REAL8"},
		{"i8r8", "MPI_INTEGER", "MPI_INTEGER8"}, {"i8r8", "MPI_DOUBLE_COMPLEX", "MPI_COMPLEX32"},
		{"i8r8d8", "MPI_DOUBLE_COMPLEX", "MPI_DOUBLE_COMPLEX"},
	} {
		i := slices.IndexFunc(variants, func(v variant) bool { return v.name == c.variant })
		got := in.value(variants[i], handle{name: c.name, value: in.handle(c.name)})
		if got != in.handle(c.is) {
			t.Errorf("%s of %q is %#x, not %s", c.name, c.variant, got, c.is)
		}
	}
}

// mpif.h has to do in fixed form, where columns beyond 72 are ignored, and in free form; so has mpif-ext.h.
func TestHeadersFitBothForms(t *testing.T) {
	modules := load(t).modules()
	names := []string{"mpif-ext.h"}
	for _, v := range variants {
		names = append(names, filepath.Join(v.name, "mpif.h"))
	}
	for _, name := range names {
		header := modules[name]
		if header == "" {
			t.Errorf("there is no %s", name)
		}
		for line := range strings.Lines(header) {
			line = strings.TrimSuffix(line, "\n")
			if len(line) > 72 || !strings.HasPrefix(line, "      ") && !strings.HasPrefix(line, "!") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

func TestLargeFormsAreOverloadsWhereArgumentsTellThemApart(t *testing.T) {
	in := load(t)
	for name, want := range map[string]bool{
		"MPI_Send": true, "MPI_Type_contiguous": true, "MPI_Win_create": true, "MPI_Type_create_resized": false,
		"MPI_Get_elements": true,
	} {
		if p := in.procedure(t, name); p.distinct() != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	module := in.modules()["mpi_f08.F90"]
	for _, name := range []string{"MPI_Op_create_c", "MPI_Register_datarep_c"} {
		if !strings.Contains(module, "interface "+name+"\n") {
			t.Errorf("mpi_f08 has no %s", name)
		}
	}
}

// Programs of Open MPI find the names of mpix.h in modules of their own, and some under other names in the usual ones.
func TestModulesOfExtensions(t *testing.T) {
	modules := load(t).modules()
	for name, parts := range map[string][]string{
		"mpi.F90": {"module mpi_ext\n", "use mpi, only: MPIX_ERR_REVOKED\n", "only: MPIX_Comm_shrink, PMPIX_Comm_shrink\n"},
		"mpi_f08.F90": {"module mpi_f08_ext\n", "use mpi_f08, only: MPIX_FT\n",
			"subroutine PMPIX_Comm_is_revoked_f08_integer(comm, flag, ierror)\n"},
		"mpi_types.F90": {"MPI_ERR_PROC_FAILED = 120\n", "MPIX_TYPECLASS_LOGICAL"},
		"mpif.h":        {"PARAMETER (MPI_FT=65541)\n"},
	} {
		for _, part := range parts {
			if !strings.Contains(modules[name], part) {
				t.Errorf("%s has no %q", name, part)
			}
		}
		text := modules[name]
		if strings.Contains(text, "only: MPIX_TYPECLASS") || strings.Contains(text, " MPI_TYPECLASS_LOGICAL") {
			t.Errorf("%s takes a constant of the ABI for one of mpix.h", name)
		}
	}
}

// A library that has the ABI of MPI 5.0 and nothing else serves all entries.
func TestEntriesCallOnlyWhatTheABIHas(t *testing.T) {
	in := load(t)
	called := regexp.MustCompile(`C_\((\w+)\)`)
	has := map[string]bool{}
	_, functions, _, err := table.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range functions {
		has[f.Name] = f.InABI == "yes"
	}
	texts := []string{in.entries(target{integer: 4}), in.entries(target{integer: 8})}
	for _, name := range []string{"spawn.c", "contents.c"} {
		text, err := os.ReadFile(filepath.Join("library", name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	n := 0
	for _, text := range texts {
		for _, m := range called.FindAllStringSubmatch(text, -1) {
			if n++; !has["MPI_"+m[1]] && !slices.Contains([]string{"c_get", "c_set", "call"}, m[1]) {
				t.Errorf("MPI_%s is called, and is not in the ABI", m[1])
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d calls", n)
	}
}

// Contents of datatypes have counts of their own, which only the library for INTEGERs of 8 bytes puts among the others.
func TestContentsAreByHandForLongIntegers(t *testing.T) {
	in := load(t)
	for _, p := range in.procedures {
		want := p.Name == "MPI_Type_get_contents" || p.Name == "MPI_Type_get_envelope"
		if p.recounts() != want {
			t.Errorf("%s: %v", p.Name, !want)
		}
	}
	p := in.procedure(t, "MPI_Type_get_contents")
	if text := p.entries(target{integer: 8}); strings.Contains(text, "NAMES(") || !strings.Contains(text, "LARGE_(") {
		t.Errorf("entries of INTEGERs of 8 bytes: %s", text)
	}
	if text := p.entries(target{integer: 4}); !strings.Contains(text, "NAMES(type_get_contents") {
		t.Errorf("entries of INTEGERs of 4 bytes: %s", text)
	}
}
