package tree

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/libimpi/libimpi/"

// allowed is a row of the table in docs/imports.md: what a package may import, and its tests besides.
type allowed struct {
	imports, tests []string
}

// covers tells whether a pattern (a/b, or a/b/... for a/b and all below) covers the path.
func covers(pattern, path string) bool {
	below, tree := strings.CutSuffix(pattern, "/...")
	return path == below || tree && strings.HasPrefix(path, below+"/")
}

func anyCovers(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, path) })
}

var quoted = regexp.MustCompile("`([^`]+)`")

// importTable reads the rows of a page. The first cell names packages, the second what they import, the third what
// their tests import, too; each name stands in backquotes.
func importTable(t *testing.T, page []string) map[string]allowed {
	t.Helper()
	table := map[string]allowed{}
	for _, line := range page {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		if len(cells) != 3 {
			t.Fatalf("%q has %d cells, not 3", line, len(cells))
		}
		names := func(i int) []string {
			var all []string
			for _, m := range quoted.FindAllStringSubmatch(cells[i], -1) {
				all = append(all, m[1])
			}
			return all
		}
		for _, name := range names(0) {
			if _, twice := table[name]; twice {
				t.Errorf("%s has two rows", name)
			}
			table[name] = allowed{names(1), names(2)}
		}
	}
	return table
}

// rowOf is the row for a package: its own, or else the longest pattern that covers it.
func rowOf(table map[string]allowed, pkg string) (row string, found bool) {
	if _, own := table[pkg]; own {
		return pkg, true
	}
	for pattern := range table {
		if covers(pattern, pkg) && (!found || len(pattern) > len(row)) {
			row, found = pattern, true
		}
	}
	return row, found
}

// importsOf are the imports of a Go file that the table speaks of: packages of this module, and C.
func importsOf(t *testing.T, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if within, ours := strings.CutPrefix(imported, module); ours {
			found = append(found, within)
		} else if imported == "C" {
			found = append(found, imported)
		}
	}
	return found
}

func TestImportsGoOneWay(t *testing.T) {
	const page = "docs/imports.md"
	table := importTable(t, lines(t, page))
	used := map[string]bool{}
	for _, name := range sources(t, ".go") {
		pkg, isTest := path.Dir(name), strings.HasSuffix(name, "_test.go")
		row, known := rowOf(table, pkg)
		if !known {
			t.Errorf("%s: %s has no row for %s", name, page, pkg)
			continue
		}
		used[row] = true
		for _, imported := range importsOf(t, name) {
			used[row+" "+imported] = true
			switch may := table[row]; {
			case imported == pkg, anyCovers(may.imports, imported):
			case isTest && anyCovers(may.tests, imported):
			default:
				t.Errorf("%s imports %s, which the table in %s does not allow %s", name, imported, page, row)
			}
		}
	}
	for row, may := range table {
		if !used[row] {
			t.Errorf("%s: there is no package %s", page, row)
		}
		for _, pattern := range slices.Concat(may.imports, may.tests) {
			ok := false
			for key := range used {
				from, imported, found := strings.Cut(key, " ")
				ok = ok || found && from == row && covers(pattern, imported)
			}
			if !ok {
				t.Errorf("%s allows %s to import %s, which it does not: take it out", page, row, pattern)
			}
		}
	}
}

// unsafe stands in files that say so by their names. gobridge is where C and Go meet, and all of it.
func TestUnsafeStandsInFilesThatSaySo(t *testing.T) {
	for _, name := range sources(t, ".go") {
		if strings.HasPrefix(name, "gobridge/") || strings.Contains(path.Base(name), "_unsafe") {
			continue
		}
		for _, line := range lines(t, name) {
			if strings.TrimSpace(line) == `"unsafe"` || line == `import "unsafe"` {
				t.Errorf("%s imports unsafe, and is not called *_unsafe.go", name)
			}
		}
	}
}

func TestATableOfImportsIsRead(t *testing.T) {
	table := importTable(t, strings.Split("# Imports\n| package | imports |\n|---|---|---|\n"+
		"| `a`, `a/b` | `c/...` | |\n| `a/...` | - | `d` |\nwords\n", "\n"))
	if len(table) != 3 || !slices.Equal(table["a/b"].imports, []string{"c/..."}) ||
		!slices.Equal(table["a/..."].tests, []string{"d"}) {
		t.Errorf("%v", table)
	}
	for pkg, want := range map[string]string{"a": "a", "a/b": "a/b", "a/b/c": "a/...", "a/c": "a/...", "ab": ""} {
		if got, _ := rowOf(table, pkg); got != want {
			t.Errorf("the row of %s is %q, want %q", pkg, got, want)
		}
	}
	if !covers("c/...", "c") || !covers("c/...", "c/d") || covers("c/...", "cd") || covers("c", "c/d") {
		t.Error("patterns cover what they should not, or not what they should")
	}
}
