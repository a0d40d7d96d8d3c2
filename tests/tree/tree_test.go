// Package tree checks what holds for the source tree as a whole: which way imports go, how long lines are, how much C
// there is. What is checked stands in docs/architecture.md, in testdata, or at the top of a test, with its reason.
package tree

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// root is the source tree, seen from this package's folder, where tests run.
var root = os.DirFS("../..")

// sources are the paths of all files of the tree whose names end in one of the given ways, in order. The build, and
// folders whose names begin with a dot, are not part of the tree.
func sources(t *testing.T, endings ...string) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "build" || name != "." && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains(endings, path.Ext(name)):
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Fatalf("the source tree has no files %q: is the test run in its folder?", endings)
	}
	return found
}

// generated tells whether a generator has written a file.
func generated(name string) bool { return strings.HasPrefix(path.Base(name), "z_") || name == "mpi.h" }

// lines are those of a file of the tree, without their ends.
func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := fs.ReadFile(root, name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(bytes.TrimSuffix(text, []byte("\n"))), "\n")
}
