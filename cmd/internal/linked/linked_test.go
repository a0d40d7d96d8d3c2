package linked

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// built makes libraries and a program in a folder of its own: each command is one of cc, with its words.
func built(t *testing.T, commands ...[]string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no cc")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte("int f(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.c"), []byte("int f(void); int main(void) { return f(); }\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, words := range commands {
		last := words[len(words)-1]
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(last)), 0o700); err != nil {
			t.Fatal(err)
		}
		run := exec.Command(cc, append(words[:len(words)-1:len(words)-1], "-o", last)...)
		run.Dir = dir
		if out, err := run.CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %s", words, err, out)
		}
	}
	return dir
}

func library(folder string) []string {
	return []string{"-shared", "-fPIC", "-Wl,-soname,libf.so.1", "f.c", folder + "/libf.so.1"}
}

func TestALibraryIsFoundWhereTheLoaderLooksFirst(t *testing.T) {
	dir := built(t, library("a"), library("b"), []string{"m.c", "a/libf.so.1", "plain"},
		[]string{"m.c", "a/libf.so.1", "-Wl,--enable-new-dtags,-rpath,none:${ORIGIN}/a", "runpath"},
		[]string{"m.c", "a/libf.so.1", "-Wl,--disable-new-dtags,-rpath,$ORIGIN/a", "rpath"})
	t.Chdir(dir)
	for _, c := range []struct {
		name, program, path, want string
		fixed                     bool
	}{
		{"nowhere", "plain", "", "", false},
		{"by LD_LIBRARY_PATH", "plain", "none:b", "b", false},
		{"LD_LIBRARY_PATH before RUNPATH", "runpath", "b", "b", false},
		{"by RUNPATH", "runpath", "", "a", false},
		{"RPATH before LD_LIBRARY_PATH", "rpath", "b", "a", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, _ := Libraries(c.program, c.path, func(string) bool { return false })

			if len(list) == 0 || list[0].Name != "libf.so.1" {
				t.Fatalf("read %+v", list)
			}
			got := list[0]
			if folder := filepath.Base(filepath.Dir(got.Path)); got.Path == "" && c.want != "" ||
				got.Path != "" && folder != c.want || got.Fixed != c.fixed {
				t.Errorf("found %q, fixed %v", got.Path, got.Fixed)
			}
		})
	}
}

func TestWhatALibraryNeedsIsFoundByTheProgramsRPATHAndNotByItsRUNPATH(t *testing.T) {
	outer := []string{"-shared", "-fPIC", "-Wl,--no-as-needed,-soname,libg.so.1", "f.c", "a/libf.so.1", "g/libg.so.1"}
	link := func(tags, name string) []string {
		return []string{"m.c", "g/libg.so.1", "-Wl,--" + tags + "-new-dtags,-rpath,$ORIGIN/a:$ORIGIN/g,-rpath-link,a", name}
	}
	dir := built(t, library("a"), outer, link("disable", "rpath"), link("enable", "runpath"))
	for tags, found := range map[string]bool{"rpath": true, "runpath": false} {

		list, _ := Libraries(filepath.Join(dir, tags), "", func(string) bool { return false })

		for _, l := range list {
			if l.Name == "libf.so.1" && (l.Path != "") != found {
				t.Errorf("%s: libf.so.1, which libg.so.1 needs, is found as %q", tags, l.Path)
			}
		}
		list, _ = Libraries(filepath.Join(dir, tags), "", func(name string) bool { return name == "libg.so.1" })
		for _, l := range list {
			if l.Name == "libf.so.1" {
				t.Errorf("%s: what a leaf needs was looked for", tags)
			}
		}
	}
}

func TestAScriptIsNoProgram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if list, ok := Libraries(file, "", func(string) bool { return false }); ok {
		t.Errorf("read %+v", list)
	}
}

func TestAFunctionIsDefinedOrImported(t *testing.T) {
	dir := built(t, library("a"), []string{"m.c", "a/libf.so.1", "bin"}, []string{"m.c", "f.c", "whole"})
	is := regexp.MustCompile("^f$")
	for file, defined := range map[string]bool{"a/libf.so.1": true, "bin": false, "whole": true} {
		file = filepath.Join(dir, file)
		if got := Defines(file, "f"); got != defined {
			t.Errorf("%s defines f: %v", file, got)
		}
		if imported := filepath.Base(file) == "bin"; Imports(file, is) != imported {
			t.Errorf("%s imports f: %v", file, !imported)
		}
	}
}
