package main

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// purposes are the folders that are drawn, with what they are for, in the order in which they stand in a row at first.
// Other folders are no part of the product.
var purposes = []struct{ folder, purpose string }{
	{"cmd", "the launcher and other commands"},
	{"gobridge", "where C and Go meet: libmpi.so"},
	{"startup", "how a process finds its job"},
	{"mpit", "what tools may ask"},
	{"libimpi", "the engine: communicators, progress"},
	{"file", "files"},
	{"onesided", "windows"},
	{"coll", "collective algorithms"},
	{"transport", "how packets travel"},
	{"datatype", "types, packing, copying"},
	{"sockets", "for whoever opens sockets"},
	{"settings", "the table of settings"},
	{"abi", "MPI 5.0 and its ABI, as data"},
	{"topology", "where processes should run"},
}

// folder is one at the top of the tree.
type folder struct {
	name, purpose string
	packages      []string // below it, by the names of their folders in this one
	imports       []*folder
}

// read finds the folders, and the imports that do not follow from others: if a imports b, and b imports c, that a
// imports c, too, is left out.
func read(root fs.FS) ([]*folder, error) {
	byName := map[string]*folder{}
	var all []*folder
	for _, p := range purposes {
		f := &folder{name: p.folder, purpose: p.purpose}
		all, byName[f.name] = append(all, f), f
	}
	table, err := fs.ReadFile(root, "docs/imports.md")
	if err != nil {
		return nil, err
	}
	for name, imports := range importsIn(string(table)) {
		f := byName[name]
		for _, imported := range imports {
			if to := byName[imported]; f != nil && to != nil {
				f.imports = append(f.imports, to)
			}
		}
	}
	for _, f := range all {
		if f.imports = slices.DeleteFunc(f.imports, func(to *folder) bool { return to == f }); f.reaches(f) {
			return nil, fmt.Errorf("%s imports itself by way of others: there is no floor for it", f.name)
		}
		if f.packages, err = packagesBelow(root, f.name); err != nil {
			return nil, err
		}
	}
	reduced := make([][]*folder, len(all))
	for i, f := range all {
		for _, to := range f.imports {
			if !slices.ContainsFunc(f.imports, func(via *folder) bool { return via != to && via.reaches(to) }) {
				reduced[i] = append(reduced[i], to)
			}
		}
		slices.SortFunc(reduced[i], func(a, b *folder) int { return slices.Index(all, a) - slices.Index(all, b) })
	}
	for i, f := range all {
		f.imports = reduced[i]
	}
	return all, nil
}

var quoted = regexp.MustCompile("`([^`]+)`")

// importsIn reads the table of imports: which folders each folder imports, each once.
func importsIn(table string) map[string][]string {
	found := map[string]map[string]bool{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(line, "|\n"), "|")
		if !strings.HasPrefix(line, "| `") || len(cells) < 2 {
			continue
		}
		for _, from := range topFolders(cells[0]) {
			if found[from] == nil {
				found[from] = map[string]bool{}
			}
			for _, to := range topFolders(cells[1]) {
				found[from][to] = true
			}
		}
	}
	imports := map[string][]string{}
	for from, set := range found {
		imports[from] = slices.Sorted(maps.Keys(set))
	}
	return imports
}

// topFolders are the first folders of the packages that a cell names.
func topFolders(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		name, _, _ := strings.Cut(m[1], "/")
		names = append(names, name)
	}
	return names
}

// reaches reports whether imports lead from a folder to another.
func (f *folder) reaches(to *folder) bool {
	seen := map[*folder]bool{}
	var visit func(f *folder) bool
	visit = func(f *folder) bool {
		for _, next := range f.imports {
			if next == to {
				return true
			}
			if !seen[next] {
				if seen[next] = true; visit(next) {
					return true
				}
			}
		}
		return false
	}
	return visit(f)
}

// packagesBelow are the folders directly below one that have Go packages in them, with how many if there are several.
func packagesBelow(root fs.FS, top string) ([]string, error) {
	count := map[string]map[string]bool{}
	err := fs.WalkDir(root, top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".go" || strings.Contains(name, "/testdata/") {
			return err
		}
		dir := path.Dir(name)
		if below, is := strings.CutPrefix(dir, top+"/"); is {
			first, _, _ := strings.Cut(below, "/")
			if count[first] == nil {
				count[first] = map[string]bool{}
			}
			count[first][dir] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n := len(count[name]); n > 1 {
			name = fmt.Sprintf("%s (%d)", name, n)
		}
		list = append(list, name)
	}
	return list, nil
}
