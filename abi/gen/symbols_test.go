package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
)

// compareSymbols reads the dynamic symbols of a library, which exports each
// function of the MPI binding as a strong PMPI_X and a weak MPI_X, and nothing
// else but others. The error names every symbol that is missing, too many, or of another kind.
func compareSymbols(library string, functions []table.Function, others ...string) error {
	file, err := elf.Open(library)
	if err != nil {
		return err
	}
	defer file.Close()
	list, err := file.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("%s: %w", library, err)
	}
	want := map[string]elf.SymBind{}
	for _, f := range functions {
		want[f.Name] = elf.STB_WEAK
		want["P"+f.Name] = elf.STB_GLOBAL
	}
	for _, name := range others {
		want[name] = elf.STB_GLOBAL
	}
	var problems []error
	for _, s := range list {
		if s.Section == elf.SHN_UNDEF {
			continue // imported
		}
		binding, known := want[s.Name]
		delete(want, s.Name)
		switch got, kind := elf.ST_BIND(s.Info), elf.ST_TYPE(s.Info); {
		case !known:
			problems = append(problems, fmt.Errorf("%s is exported and is no MPI function", s.Name))
		case kind != elf.STT_FUNC || got != binding:
			problems = append(problems, fmt.Errorf("%s is %v %v, want %v STT_FUNC", s.Name, got, kind, binding))
		}
	}
	for name := range want {
		problems = append(problems, fmt.Errorf("%s is missing", name))
	}
	sort.Slice(problems, func(i, j int) bool { return problems[i].Error() < problems[j].Error() })
	return errors.Join(problems...)
}

func allFunctions(t *testing.T) []table.Function {
	t.Helper()
	_, all, _, err := table.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The library that the build made: IMPI_LIB, or where the build puts it. Before
// the first build there is nothing to check.
func TestTheLibraryExportsTheTable(t *testing.T) {
	library := os.Getenv("IMPI_LIB")
	if library == "" {
		library = filepath.Join("..", "..", "build", "stage", "lib", "libmpi.so")
		if _, err := os.Stat(library); err != nil {
			t.Skip("not built yet, and IMPI_LIB is not set")
		}
	}
	if err := compareSymbols(library, allFunctions(t), forFortran...); err != nil {
		t.Error(err)
	}
}

func TestEachKindOfDeviationIsReported(t *testing.T) {
	dir := t.TempDir()
	source := `int PMPI_Init(int *c, char ***v) { return c && v; }
extern __typeof__(PMPI_Init) MPI_Init __attribute__((weak, alias("PMPI_Init")));
int MPI_Barrier(void *c) { return !c; }
int PMPI_Barrier;
int helper(void) { return 1; }
`
	file, library := filepath.Join(dir, "l.c"), filepath.Join(dir, "l.so")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-o", library, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	err := compareSymbols(library, allFunctions(t))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"MPI_Barrier is STB_GLOBAL STT_FUNC, want STB_WEAK STT_FUNC",
		"PMPI_Barrier is STB_GLOBAL STT_OBJECT",
		"helper is exported and is no MPI function", "PMPI_Send is missing", "MPI_Send is missing"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %q", want)
		}
	}
	if strings.Contains(err.Error(), "MPI_Init is") {
		t.Errorf("MPI_Init is reported: %v", err)
	}
	if err := compareSymbols(file, allFunctions(t)); err == nil {
		t.Error("a file that is no library is accepted")
	}
}
