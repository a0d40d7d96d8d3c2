package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/libimpi/libimpi/abi/table"
)

// implementations are the functions that gobridge offers, by their name
// without impi_, impi_direct_ or impi_exec_.
type implementations struct {
	exports   map[string]goExport
	direct    map[string]string // name -> file
	executors map[string]string // name -> file
	others    []otherExport     // exports that are no MPI functions, by name
}

// otherExport is an export that hand-written C calls: impi_ring.
type otherExport struct {
	name          string
	names, params []string
	result        string
}

type goExport struct {
	where  string // file:line
	params []string
	result string
}

// scan reads the Go exports of dir, and the direct C functions and the executors of the packages below it. Generated
// files and tests count for nothing. An export whose name goes on in lower case (impi_progress) is none of MPI's.
func scan(dir string) (implementations, error) {
	found := implementations{exports: map[string]goExport{}, direct: map[string]string{}, executors: map[string]string{}}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		name := filepath.Base(path)
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(name, "z_"), strings.HasSuffix(name, "_test.go"):
		case strings.HasSuffix(name, ".go"):
			return scanGo(path, &found)
		case strings.HasSuffix(name, ".c"):
			return scanC(path, found)
		}
		return nil
	})
	sort.Slice(found.others, func(i, j int) bool { return found.others[i].name < found.others[j].name })
	return found, err
}

var exportForm = regexp.MustCompile(`^//export impi_(\w+)\s*$`)

func scanGo(path string, found *implementations) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		for _, c := range f.Doc.List {
			m := exportForm.FindStringSubmatch(c.Text)
			if m == nil {
				continue
			}
			if m[1][0] >= 'a' {
				found.others = append(found.others, otherExport{"impi_" + m[1], fieldNames(f.Type.Params),
					fieldTypes(f.Type.Params), strings.Join(fieldTypes(f.Type.Results), ", ")})
				continue
			}
			exports := found.exports
			where := fmt.Sprintf("%s:%d", filepath.Base(path), fset.Position(f.Pos()).Line)
			if old, twice := exports[m[1]]; twice {
				return fmt.Errorf("%s: impi_%s is exported at %s already", where, m[1], old.where)
			}
			exports[m[1]] = goExport{where, fieldTypes(f.Type.Params), strings.Join(fieldTypes(f.Type.Results), ", ")}
		}
	}
	return nil
}

func fieldTypes(list *ast.FieldList) []string {
	var types []string
	if list == nil {
		return nil
	}
	for _, field := range list.List {
		text := "?" // no type that an export may have
		switch t := field.Type.(type) {
		case *ast.Ident:
			text = t.Name
		case *ast.StarExpr:
			if s, ok := t.X.(*ast.SelectorExpr); ok {
				text = "*C." + s.Sel.Name
			}
		}
		for range max(1, len(field.Names)) {
			types = append(types, text)
		}
	}
	return types
}

func fieldNames(list *ast.FieldList) []string {
	var names []string
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

var (
	commentForm = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	cForm       = regexp.MustCompile(`(?m)^[A-Za-z_][\w \t*]*[ \t*\n]impi_(direct|exec)_([A-Z]\w*)[ \t]*` +
		`\([^(){};]*\)\s*\{`)
)

// scanC finds definitions, not declarations and calls: a result type at the
// beginning of a line, and a body.
func scanC(path string, found implementations) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text = commentForm.ReplaceAll(text, []byte(" "))
	for _, m := range cForm.FindAllSubmatch(text, -1) {
		kind, name, functions := string(m[1]), string(m[2]), found.direct
		if kind == "exec" {
			functions = found.executors
		}
		if old, twice := functions[name]; twice {
			return fmt.Errorf("%s: impi_%s_%s is defined in %s already", filepath.Base(path), kind, name, old)
		}
		functions[name] = filepath.Base(path)
	}
	return nil
}

// checkExport compares an export with the signature that the prototypes demand.
func checkExport(c table.Call, e goExport) error {
	var want []string
	for _, p := range c.GoParams() {
		want = append(want, p.Type)
	}
	if strings.Join(want, ", ") == strings.Join(e.params, ", ") && c.Result == e.result {
		return nil
	}
	return fmt.Errorf("%s: the export must be\n\t%s\nbut has types (%s) %s",
		e.where, c.GoSignature(), strings.Join(e.params, ", "), e.result)
}
