package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi/table"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func tables(t *testing.T) input {
	t.Helper()
	var in input
	var err error
	in.constants, in.functions, in.calls, err = table.Load("..")
	if err != nil {
		t.Fatal(err)
	}
	in.found = implementations{exports: map[string]goExport{}, direct: map[string]string{}, executors: map[string]string{}}
	return in
}

// writeTree writes the generated files, and others given as path and text, to dir.
func writeTree(t *testing.T, dir string, in input, others ...string) {
	t.Helper()
	files, err := generate(in)
	if err != nil {
		t.Fatal(err)
	}
	const layout = "libimpi/z_layout.h" // which the shim includes
	if files[layout], err = os.ReadFile("../../" + layout); err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(others); n += 2 {
		files[others[n]] = []byte(others[n+1])
	}
	if err := writeFiles(dir, files); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestTheGeneratedFilesAreUpToDate(t *testing.T) {
	if err := run(false, true); err != nil {
		t.Fatal(err)
	}
}

func TestGenerationIsDeterministic(t *testing.T) {
	in := everyExport(tables(t))
	first, err := generate(in)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := generate(in)
		if err != nil {
			t.Fatal(err)
		}
		for path := range first {
			if !bytes.Equal(first[path], again[path]) {
				t.Errorf("%s differs from run to run", path)
			}
		}
	}
}

func TestAChangedOrForeignFileIsNotUpToDate(t *testing.T) {
	dir, in := t.TempDir(), tables(t)
	writeTree(t, dir, in)
	files, err := generate(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := compareFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "gobridge", "shim", "z_shim_old.c")
	for _, path := range []string{filepath.Join(dir, "mpi.h"), foreign} {
		if err := os.WriteFile(path, []byte("/* */\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := compareFiles(dir, files); err == nil || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("changed %s: got error %v", path, err)
		}
	}
	if err := writeFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	if err := compareFiles(dir, files); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(foreign); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", foreign, err)
	}
}

func TestTheVersionScriptNamesEachFunctionTwice(t *testing.T) {
	in := tables(t)
	script := string(versionScript(in.functions))
	for _, f := range in.functions {
		for _, name := range []string{f.Name, "P" + f.Name} {
			if n := strings.Count(script, " "+name+";\n"); n != 1 {
				t.Errorf("%s appears %d times", name, n)
			}
		}
	}
	for _, name := range forFortran {
		if n := strings.Count(script, " "+name+";\n"); n != 1 {
			t.Errorf("%s appears %d times", name, n)
		}
	}
	if n := strings.Count(script, ";\n"); n != 2*len(in.functions)+len(forFortran)+2 {
		t.Errorf("%d entries for %d functions", n, len(in.functions))
	}
}

func TestTheStatePageCounts(t *testing.T) {
	in := tables(t)
	in.found.direct["Wtime"] = "clock.c"
	for _, c := range in.calls {
		if c.Export() == "impi_Type_get_extent" {
			in.found.exports["Type_get_extent"] = exportOf(c)
		}
	}
	files, err := generate(in)
	if err != nil {
		t.Fatal(err)
	}
	page := string(files["docs/functions.md"])
	for _, want := range []string{
		"Of 702 functions 4 work and 698 do not yet.",
		"| datatypes | 66 | 3 |",
		"| MPI_Wtime | 1.1 | current | yes, in C |",
		"| MPI_Type_get_extent_c | 4.0 | current | yes |",
		"| MPI_Type_get_extent_x | 3.0 | deprecated 4.1 | yes, as MPI_Type_get_extent_c |",
		"| MPI_Send | 1.1 | current | no |",
	} {
		if !strings.Contains(page, want+"\n") && !strings.Contains(page, want+" ") {
			t.Errorf("the page has no %q", want)
		}
	}
}

// exportOf is an export with the signature that the prototypes demand.
func exportOf(c table.Call) goExport {
	e := goExport{where: "x.go:1", result: c.Result}
	for _, p := range c.GoParams() {
		e.params = append(e.params, p.Type)
	}
	return e
}

func everyExport(in input) input {
	for _, c := range in.calls {
		in.found.exports[c.Small.Short()] = exportOf(c)
	}
	return in
}
