package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// words are what the manual pages say and no prototype does: purposes.tsv has one sentence for each function that is
// no form of another, arguments.tsv what arguments mean where that can be said in a line.
type words struct {
	purposes map[string]string
	meanings []meaning
}

// meaning is a row of arguments.tsv. The first one that matches a parameter holds.
type meaning struct {
	functions string // a pattern of path.Match for the name without _c
	argument  string // the parameter as parameterKey writes it
	text      string
}

func readWords(dir string) (words, error) {
	w := words{purposes: map[string]string{}}
	rows, err := readRows(filepath.Join(dir, "purposes.tsv"), 2)
	if err != nil {
		return w, err
	}
	for _, r := range rows {
		if w.purposes[r[0]] != "" {
			return w, fmt.Errorf("purposes.tsv: %s stands twice", r[0])
		}
		w.purposes[r[0]] = r[1]
	}
	if rows, err = readRows(filepath.Join(dir, "arguments.tsv"), 3); err != nil {
		return w, err
	}
	for _, r := range rows {
		if _, err := path.Match(r[0], ""); err != nil {
			return w, fmt.Errorf("arguments.tsv: %s: %v", r[0], err)
		}
		w.meanings = append(w.meanings, meaning{r[0], r[1], r[2]})
	}
	return w, nil
}

// readRows reads a table with a header line.
func readRows(file string, columns int) ([][]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for n, line := range strings.Split(strings.TrimRight(string(text), "\n"), "\n") {
		row := strings.Split(line, "\t")
		if len(row) != columns {
			return nil, fmt.Errorf("%s:%d: %d columns, want %d", filepath.Base(file), n+1, len(row), columns)
		}
		rows = append(rows, row)
	}
	return rows[1:], nil
}

// form says that a function is a form of another: "nonblocking" of MPI_Bcast is MPI_Ibcast.
type form struct {
	base string
	kind string
}

const (
	nonblocking = "nonblocking"
	persistent  = "persistent"
	splitBegin  = "beginning of the split form"
	splitEnd    = "end of the split form"
	countForm   = "with counts of type MPI_Count"
)

// formOf returns what f is a form of; known tells names of functions.
func formOf(name string, known func(string) bool) (form, bool) {
	prefix, short, _ := strings.Cut(name, "_")
	prefix += "_"
	var candidates []form
	for ending, kind := range map[string]string{"_init": persistent, "_begin": splitBegin, "_end": splitEnd,
		"_x": countForm} {
		if base, ok := strings.CutSuffix(name, ending); ok {
			candidates = append(candidates, form{base, kind})
		}
	}
	if rest, ok := strings.CutPrefix(short, "I"); ok && rest != "" {
		candidates = append(candidates, form{prefix + strings.ToUpper(rest[:1]) + rest[1:], nonblocking})
	}
	if object, rest, ok := strings.Cut(short, "_i"); ok {
		candidates = append(candidates, form{prefix + object + "_" + rest, nonblocking})
	}
	for _, c := range candidates {
		if known(c.base) {
			return c, true
		}
	}
	return form{}, false
}

// objects are what the conversions with Fortran convert.
var objects = map[string]string{"Comm": "communicator", "Errhandler": "error handler", "File": "file",
	"Group": "group", "Info": "info object", "Message": "message", "Op": "operation", "Request": "request",
	"Session": "session", "Type": "datatype", "Win": "window"}

// purpose is one line for what a function does; "" if nobody has said it.
func (w words) purpose(name string) string {
	if text := w.purposes[name]; text != "" {
		return text
	}
	if f, ok := formOf(name, func(base string) bool { return w.purposes[base] != "" }); ok {
		return w.purposes[f.base] + " (" + f.kind + ")"
	}
	short := strings.TrimPrefix(name, "MPI_")
	if i := strings.LastIndexByte(short, '_'); i > 0 && objects[short[:i]] != "" {
		switch object := objects[short[:i]]; short[i+1:] {
		case "c2f":
			return "convert the handle of a " + object + " from C to Fortran"
		case "f2c":
			return "convert the handle of a " + object + " from Fortran to C"
		case "toint":
			return "convert the handle of a " + object + " to an integer"
		case "fromint":
			return "convert an integer to the handle of a " + object
		}
	}
	return ""
}

// meaning returns what a parameter means, "" if the table does not know.
func (w words) meaning(f table.Function, p table.Param) string {
	if i := w.meaningRow(f, p); i >= 0 {
		return w.meanings[i].text
	}
	return ""
}

func (w words) meaningRow(f table.Function, p table.Param) int {
	key, name := parameterKey(p), strings.TrimSuffix(f.Name, "_c")
	return slices.IndexFunc(w.meanings, func(m meaning) bool { return m.argument == key && fits(m.functions, name) })
}

// parameterKey is a parameter's name with what makes it a place to store something: *request, dims[]. Memory of no
// type, texts and constant memory go by their names alone.
func parameterKey(p table.Param) string {
	if p.Type == "void" || p.Type == "char" && p.Stars == 1 && p.Dims == "" || p.Const && p.Dims == "" {
		if p.Name != "name" {
			return p.Name
		}
	}
	return strings.Repeat("*", p.Stars) + p.Name + p.Dims
}
