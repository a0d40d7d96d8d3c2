// Package fortran has Fortran's bindings, from the tables of the C binding, of each argument's kind, and of what a kind
// is in Fortran:
//
//	functions.tsv, constants.tsv, fortran/arguments.tsv, fortran/kinds.tsv
//
// It writes the C functions that procedures are (entry.go), the modules (modules.go), and how the manual shows
// procedures (synopsis.go). The entries need no Fortran compiler: the modules have interfaces only, which each compiler
// translates for itself.
package fortran

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// Files says what to write, and where; "": not.
type Files struct {
	Entries string // the C functions; beside it is what a library has once
	Integer int    // bytes of an INTEGER for them: 4 or 8
	Front   string // whose they are: "", mpich, openmpi
	Header  string // mpi.h with the ABI of that front
	Modules string // folder for the modules, mpif.h and mpif-ext.h
	Calls   string // folder for the test of all calls
}

// Write writes the files.
func (f Files) Write() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	in, err := read(root)
	if err != nil {
		return err
	}
	if f.Entries != "" {
		t := target{f.Integer, f.Front}
		if err := write(f.Entries, in.entries(t)); err != nil {
			return err
		}
		if err := writeAll(filepath.Dir(f.Entries), in.once(t)); err != nil {
			return err
		}
	}
	if f.Header != "" {
		text, err := frontHeader(root, f.Front)
		if err == nil {
			err = write(f.Header, text)
		}
		if err != nil {
			return err
		}
	}
	if f.Modules != "" {
		if err := writeAll(f.Modules, in.modules()); err != nil {
			return err
		}
	}
	if f.Calls != "" {
		return writeAll(f.Calls, in.calls())
	}
	return nil
}

func writeAll(dir string, files map[string]string) error {
	for name, text := range files {
		if err := write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	return nil
}

// entries is the file of all entries.
func (in input) entries(t target) string {
	var b bytes.Buffer
	b.WriteString(onceTop)
	for _, p := range in.procedures {
		b.WriteString(p.entries(t))
	}
	for _, p := range in.extensions {
		b.WriteString(p.extension(t))
	}
	return b.String()
}

// once are the files beside the entries: what a library has once, and headers.
func (in input) once(t target) map[string]string {
	files := map[string]string{"names.h": t.names(), "handles.h": in.handlesHeader(t),
		"trampolines.h": in.trampolinesHeader(t), "trampolines.c": in.trampolinesOf(t), "constants.c": in.constantsOf(t)}
	if t.front != "" {
		files["modules.c"] = in.modulesOf(t)
	}
	return files
}

// write makes a file, but leaves one that has this text.
func write(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o666)
}

// moduleRoot is the folder of go.mod, at or above the current one.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod here or above")
		}
		dir = filepath.Dir(dir)
	}
}
