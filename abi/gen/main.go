// Command gen writes everything that follows from the tables of the MPI 5.0 C
// binding:
//
//	functions.tsv, constants.tsv, extensions.tsv  (what MPI and its ABI say)
//	mpix.tsv        (functions that no standard has)
//	gobridge/*.go  with //export impi_X           (what the engine offers)
//	gobridge/*/*.c with a definition of impi_direct_X or impi_exec_X
//	  -> mpi.h                      the public header
//	  -> mpix.h                     that of extensions
//	  -> abi/z_constants.go         the constants, for Go
//	  -> gobridge/shim/z_shim_*.c   PMPI_X and its weak alias MPI_X
//	  -> gobridge/shim/z_exports.h  the exports as C calls them
//	  -> gobridge/shim/z_direct.h   the direct functions as the shim expects them
//	  -> gobridge/shim/z_callbacks.h  calls of the program's functions
//	  -> gobridge/shim/z_shim.h     kinds of handles, narrowing
//	  -> gobridge/shim/z_exports.map  the exported symbols
//	  -> docs/functions.md          which functions work
//	  -> tests/errors/z_wrong_calls.h  calls with wrong arguments
//	abi/front/*.tsv                 (constants of other ABIs)
//	  -> abi/front/z_*, cxx/z_*     the functions for programs of these ABIs
//	  -> gobridge/vendor/z_*.h      what we pass to libraries of these ABIs
//
// Run it from anywhere inside the module: go run ./abi/gen. Nothing is written
// when anything is refused, and a file whose content stays is not touched.
//
//	-signatures     print the Go signature of every export instead
//	-man DIR        write the manual's section 3 below DIR instead; its pages
//	                show -source NAME and -date DATE
//	-check          write nothing, fail if a file is not up to date
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/libimpi/libimpi/abi/fortran"
	"github.com/libimpi/libimpi/abi/table"
	"github.com/libimpi/libimpi/tools/roff"
)

func main() {
	signatures := flag.Bool("signatures", false, "print the Go signature of every export")
	check := flag.Bool("check", false, "write nothing, fail if a file is not up to date")
	man := flag.String("man", "", "write the manual's section 3 below this folder")
	source := flag.String("source", "libimpi", "name and version that the manual shows")
	date := flag.String("date", "", "date that the manual shows")
	flag.Parse()
	var err error
	if *man != "" {
		err = runManual(*man, roff.Software{Name: *source, Date: *date})
	} else {
		err = run(*signatures, *check)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "abi/gen:", err)
		os.Exit(1)
	}
}

func run(signatures, check bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	in, err := readInput(root)
	if err != nil {
		return err
	}
	if signatures {
		for _, c := range in.allCalls() {
			fmt.Println(c.GoSignature())
		}
		return nil
	}
	files, err := generate(in)
	if err != nil {
		return err
	}
	if check {
		return compareFiles(root, files)
	}
	return writeFiles(root, files)
}

func runManual(dir string, of roff.Software) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	in, err := readInput(root)
	if err != nil {
		return err
	}
	if in.procedures, err = fortran.Synopses(root); err != nil {
		return err
	}
	w, err := readWords(filepath.Join(root, "abi"))
	if err != nil {
		return err
	}
	pages, err := manualPages(in, w, of)
	if err != nil {
		return err
	}
	return writeManual(dir, pages)
}

// input is all that the generated files depend on.
type input struct {
	constants  []table.Constant
	functions  []table.Function
	calls      []table.Call
	extensions []table.Function // of mpix.h
	more       []table.Call     // what they need
	found      implementations
	foreign    map[string]map[string]foreign // constants of other ABIs (front_tables.go)
	procedures map[string]fortran.Synopsis   // of Fortran
	fortran    map[string]foreign            // numbers of handles in Open MPI's Fortran
	arguments  map[string][]argument         // of functions, and of procedures of Fortran (calls.go)
}

func readInput(root string) (input, error) {
	var in input
	var err error
	if in.constants, in.functions, in.calls, err = table.Load(filepath.Join(root, "abi")); err != nil {
		return in, err
	}
	if in.extensions, in.more, err = table.LoadExtensions(filepath.Join(root, "abi"), in.constants); err != nil {
		return in, err
	}
	if in.found, err = scan(filepath.Join(root, "gobridge")); err != nil {
		return in, err
	}
	in.foreign = map[string]map[string]foreign{}
	for _, name := range frontABIs {
		if in.foreign[name], err = readForeign(filepath.Join(root, "abi", "front", name+".tsv")); err != nil {
			return in, err
		}
	}
	if in.arguments, err = readKinds(filepath.Join(root, "abi", "fortran", "arguments.tsv")); err != nil {
		return in, err
	}
	if in.fortran, err = readForeign(filepath.Join(root, "abi", "front", "openmpi_fortran.tsv")); err != nil {
		return in, err
	}
	return in, nil
}

// allFunctions are MPI's and the extensions.
func (in input) allFunctions() []table.Function { return slices.Concat(in.functions, in.extensions) }

func (in input) allCalls() []table.Call { return slices.Concat(in.calls, in.more) }

// generate returns the content of every generated file under its path in the module.
func generate(in input) (map[string][]byte, error) {
	impl, err := assign(in.allFunctions(), in.allCalls(), in.found)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	header, err := header(in.constants, in.functions)
	if err != nil {
		return nil, err
	}
	files["mpi.h"] = header
	files["mpix.h"] = extensionHeader(in.constants, in.extensions)
	if files["abi/z_constants.go"], err = goConstants(in.constants); err != nil {
		return nil, err
	}
	files["abi/z_calls.go"] = goCalls(in.allFunctions(), in.arguments)
	files["gobridge/shim/z_calls.h"] = callsHeader(in.allFunctions())
	files["gobridge/observe/z_roles.h"] = rolesHeader(in.allFunctions())
	for name, text := range shims(in.allFunctions(), impl) {
		files["gobridge/shim/"+name] = text
	}
	files["gobridge/shim/z_exports.h"] = exportsHeader(in.allCalls(), in.found)
	files["gobridge/shim/z_direct.h"] = directHeader(in.functions, in.calls)
	if files["gobridge/shim/z_callbacks.h"], err = callbacksHeader(in.constants); err != nil {
		return nil, err
	}
	files["gobridge/shim/z_shim.h"] = shimHeader(header)
	files["gobridge/shim/z_exports.map"] = versionScript(in.allFunctions())
	files["docs/functions.md"] = functionsPage(in.functions, in.extensions, impl)
	files["tests/errors/z_wrong_calls.h"] = wrongCalls(in.functions, impl)
	forOthers := slices.Concat(in.functions, frontExtensions(in.extensions))
	if files["abi/front/z_functions.c"], err = frontFunctions(forOthers); err != nil {
		return nil, err
	}
	files["abi/front/z_native.h"] = frontNative(forOthers)
	files["abi/front/cxx/z_mpich.h"] = frontCxx(in.functions, in.foreign["mpich"])
	for name, values := range in.foreign {
		fortran := in.fortran
		if name != "openmpi" { // handles are the same there in C and in Fortran
			fortran = nil
		}
		if files["abi/front/z_"+name+".h"], err = frontTables(in.constants, values, fortran, name); err != nil {
			return nil, err
		}
		if files["gobridge/vendor/z_"+name+".h"], err = vendorConstants(in.constants, values, name); err != nil {
			return nil, err
		}
	}
	files["gobridge/vendor/z_standard.h"], err = vendorConstants(in.constants, nil, "standard")
	return files, err
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "abi", "functions.tsv")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("abi/functions.tsv not found here or above")
		}
		dir = up
	}
}

// writeFiles replaces what changed and removes shims that are generated no more.
func writeFiles(root string, files map[string][]byte) error {
	for path, text := range files {
		name := filepath.Join(root, path)
		if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		temporary := name + ".new"
		if err := os.WriteFile(temporary, text, 0o666); err != nil {
			return err
		}
		if err := os.Rename(temporary, name); err != nil {
			return err
		}
	}
	for _, path := range staleShims(root, files) {
		if err := os.Remove(filepath.Join(root, path)); err != nil {
			return err
		}
	}
	return nil
}

func compareFiles(root string, files map[string][]byte) error {
	stale := staleShims(root, files)
	for path, text := range files {
		if old, err := os.ReadFile(filepath.Join(root, path)); err != nil || !bytes.Equal(old, text) {
			stale = append(stale, path)
		}
	}
	if len(stale) > 0 {
		sort.Strings(stale)
		return fmt.Errorf("not up to date, run go run ./abi/gen: %s", strings.Join(stale, " "))
	}
	return nil
}

func staleShims(root string, files map[string][]byte) []string {
	var stale []string
	names, _ := filepath.Glob(filepath.Join(root, "gobridge", "shim", "z_shim_*.c")) // the pattern is well-formed
	for _, name := range names {
		path := "gobridge/shim/" + filepath.Base(name)
		if _, ok := files[path]; !ok {
			stale = append(stale, path)
		}
	}
	return stale
}
