package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFilesNameTheHeadersAsTheyAre(t *testing.T) {
	const root = "../.."
	for _, p := range packages {
		want, err := headers(root, p)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(root, p, name)); string(got) != want {
			t.Errorf("%s/%s is not what the tree has: go run ./tools/headers (%v)", p, name, err)
		}
	}
}

// A header changes the file of each package that includes it, directly or by way of another one, but for its own.
func TestAChangedHeaderChangesTheFilesOfThoseThatIncludeIt(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files := func() (all [3]string) {
		t.Helper()
		for i, p := range []string{"a", "b", "c"} {
			var err error
			if all[i], err = headers(root, p); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	write("a/a.c", "#include \"../b/b.h\"\n#include <stdio.h>\n")
	write("b/b.h", "#include \"b2.h\"\n")
	write("b/b2.h", "int b;\n")
	write("c/c.go", "package c\n\n// #include \"../a/a.h\"\nimport \"C\"\n")
	write("a/a.h", "#include \"../b/b2.h\"\n")
	before := files()
	for i, want := range []bool{true, false, true} {
		if strings.Contains(before[i], " b/b2.h ") != want {
			t.Errorf("%q", before[i])
		}
	}
	write("b/b2.h", "long b;\n")
	if after := files(); after[0] == before[0] || after[1] != before[1] || after[2] == before[2] {
		t.Errorf("%q, then %q", before, after)
	}
}
