package fortran

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// place is an installation with sources, a user with a home, and a compiler that is a script: it writes what it was
// told into mpi.mod and the like.
type place struct {
	Store
	home, prefix string
	compiler     Compiler
	said         []string
	environment  map[string]string
}

const translating = `#!/bin/sh
if [ "$1" = --version ]; then echo "GNU Fortran (X) 12.2.0"; exit; fi
for last; do :; done
name=$(basename "$last" .F90)
: >$name.o
`

func newPlace(t *testing.T, script string) *place {
	t.Helper()
	p := &place{home: t.TempDir(), prefix: t.TempDir(), environment: map[string]string{}}
	p.environment["HOME"], p.environment["TMPDIR"] = p.home, t.TempDir()
	p.Store = Store{Sources: filepath.Join(p.prefix, "share"), Installed: filepath.Join(p.prefix, "lib", "fortran"),
		Getenv: func(name string) string { return p.environment[name] },
		Say:    func(line string) { p.said = append(p.said, line) }}
	for _, name := range sources {
		put(t, p.source(name), "! "+name+"\n")
	}
	fc := filepath.Join(t.TempDir(), "gfortran")
	put(t, fc, translating+script)
	if err := os.Chmod(fc, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.compiler, err = Ask([]string{fc}); err != nil || p.compiler.String() != "gfortran 12.2.0" {
		t.Fatal(p.compiler, err)
	}
	return p
}

const writing = `echo "$@" >$name.mod`

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// files are the names in a folder.
func files(t *testing.T, folder string) string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestModulesAreMadeOnceInTheCacheAndItIsSaidOnce(t *testing.T) {
	p := newPlace(t, writing)
	first := p.Find(p.compiler, Usual)
	again := p.Find(p.compiler, Usual)
	if first.Lacks != "" || first != again || files(t, first.Folder) != "mpi.mod mpi_f08.mod mpi_types.mod" {
		t.Errorf("%+v, %+v, %s", first, again, files(t, first.Folder))
	}
	want := filepath.Join(p.home, ".cache", "libimpi", "fortran", "gfortran-12.2.0-")
	if !strings.HasPrefix(first.Folder, want) {
		t.Errorf("%s is not %s...", first.Folder, want)
	}
	if len(p.said) != 1 || !strings.Contains(p.said[0], "built MPI's modules for gfortran 12.2.0 in "+first.Folder) {
		t.Errorf("said %q", p.said)
	}
	long := p.Find(p.compiler, KindsOf([]string{"-freal-4-real-8", "-i8"}))
	text, err := os.ReadFile(filepath.Join(long.Folder, "mpi.mod"))
	want = "-fdefault-integer-8 -fdefault-real-8 -fdefault-double-8 -DIMPI_INTEGER8 -DIMPI_REAL8 -DIMPI_DOUBLE8 -c "
	if err != nil || string(text) != want+p.source("mpi")+"\n" || !strings.Contains(long.Folder, "-i8r8d8-") {
		t.Errorf("%s: %q, %v", long.Folder, text, err)
	}
}

func TestOtherSourcesAndOtherCompilersHaveOtherModules(t *testing.T) {
	p := newPlace(t, writing)
	seen := map[string]bool{}
	look := func(c Compiler, k Kinds) {
		t.Helper()
		m := p.Find(c, k)
		if m.Folder == "" || seen[m.Folder] {
			t.Errorf("%v has the modules of another one: %+v", c, m)
		}
		seen[m.Folder] = true
	}
	look(p.compiler, Usual)
	newer, other := p.compiler, p.compiler
	newer.Version = "12.3.0"
	look(newer, Usual)
	other.Family, other.known = "ftn", false
	look(other, Usual)
	look(other, KindsOf([]string{"-i8"}))
	look(other, KindsOf([]string{"-qintsize=8"}))
	put(t, p.source("mpi_f08"), "! another release\n")
	look(p.compiler, Usual)
}

func TestModulesOfTheInstallationComeFirst(t *testing.T) {
	p := newPlace(t, writing)
	stale := filepath.Join(p.Installed, "gfortran-11.0.0-01234567")
	put(t, filepath.Join(stale, "mpi.mod"), "")
	put(t, filepath.Join(p.Installed, "README"), "")
	if err := os.Symlink(filepath.Base(stale)+"/mpi.mod", filepath.Join(p.Installed, "mpi.mod")); err != nil {
		t.Fatal(err)
	}
	folders, err := p.Install(p.compiler)
	if err != nil || len(folders) != len(Variants) {
		t.Fatal(folders, err)
	}
	m := p.Find(p.compiler, Usual)
	if m.Folder != folders[0] || filepath.Dir(m.Folder) != p.Installed || len(p.said) != 0 {
		t.Errorf("%+v, said %q", m, p.said)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("modules of other sources are still there")
	}
	if to, _ := filepath.EvalSymlinks(filepath.Join(p.Installed, "mpi.mod")); to != filepath.Join(folders[0], "mpi.mod") {
		t.Errorf("pkg-config finds %s", to)
	}
	second := p.compiler
	second.Family = "flang"
	if _, err := p.Install(second); err != nil {
		t.Fatal(err)
	}
	if to, _ := filepath.EvalSymlinks(filepath.Join(p.Installed, "mpi.mod")); to != filepath.Join(folders[0], "mpi.mod") {
		t.Errorf("a second compiler changes what pkg-config finds to %s", to)
	}
}

func TestAHomeThatCannotBeWrittenLeavesAFolderForTemporaryFiles(t *testing.T) {
	p := newPlace(t, writing)
	p.environment["XDG_CACHE_HOME"] = "/dev/null/cache"
	m := p.Find(p.compiler, Usual)
	if m.Lacks != "" || !strings.HasPrefix(m.Folder, p.environment["TMPDIR"]+"/libimpi-fortran-") {
		t.Errorf("%+v", m)
	}
	if again := p.Find(p.compiler, Usual); again != m || len(p.said) != 1 {
		t.Errorf("%+v, said %q", again, p.said)
	}
}

// The name of the folder for temporary files is known to everybody.
func TestAFolderThatOthersMayChangeIsNotUsed(t *testing.T) {
	p := newPlace(t, writing)
	p.environment["XDG_CACHE_HOME"] = "/dev/null/cache"
	m := p.Find(p.compiler, Usual)
	root := filepath.Dir(m.Folder)
	for _, spoil := range []func() error{
		func() error { return os.Chmod(root, 0o777) },
		func() error { return os.Rename(root, root+"x") },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(root); err != nil {
			if err := os.Symlink(root+"x", root); err != nil {
				t.Fatal(err)
			}
		}
		m = p.Find(p.compiler, Usual)
		if m.Folder != "" || !strings.Contains(m.Lacks, "set XDG_CACHE_HOME, or run mpifort -install-modules") {
			t.Errorf("%+v", m)
		}
	}
}

func TestProcessesThatNeedModulesAtTheSameTimeMakeThemOnce(t *testing.T) {
	p := newPlace(t, writing+`; echo x >>"$TIMES"`)
	times := filepath.Join(t.TempDir(), "times")
	t.Setenv("TIMES", times)
	var all sync.WaitGroup
	var saying sync.Mutex
	lines := 0
	for range 8 {
		all.Go(func() {
			s := p.Store
			s.Say = func(string) { saying.Lock(); lines++; saying.Unlock() }
			if m := s.Find(p.compiler, Usual); m.Lacks != "" || m.Folder == "" {
				t.Errorf("%+v", m)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(times)
	if err != nil || strings.Count(string(text), "x") != len(sources) || lines != 1 {
		t.Errorf("%d modules were made, and %d lines said: %v", strings.Count(string(text), "x"), lines, err)
	}
}

func TestWhatAProcessLeftUnfinishedIsRemoved(t *testing.T) {
	p := newPlace(t, writing)
	root := filepath.Join(p.home, ".cache", "libimpi", "fortran")
	put(t, filepath.Join(root, building+"123", "mpi.mod"), "half")
	m := p.Find(p.compiler, Usual)
	if got := files(t, root); got != filepath.Base(m.Folder) {
		t.Errorf("left: %s", got)
	}
}

func TestACompilerThatCannotHaveMpiF08HasTheOthers(t *testing.T) {
	for _, c := range []struct{ version, script, lacks string }{
		{"8.3.0", writing,
			"gfortran 8.3.0 is too old for module mpi_f08, which needs gfortran 9: module mpi and mpif.h work"},
		{"12.2.0", `if [ $name = mpi_f08 ]; then echo mpi_f08.F90:1:2:; echo Error: no such thing; exit 1; fi; ` + writing,
			"gfortran 12.2.0 does not translate module mpi_f08 (Error: no such thing): module mpi and mpif.h work"},
	} {
		p := newPlace(t, c.script)
		p.compiler.Version = c.version
		first := p.Find(p.compiler, Usual)
		again := p.Find(p.compiler, Usual)
		if first.Lacks != c.lacks || again != first || files(t, first.Folder) != "lacks mpi.mod mpi_types.mod" {
			t.Errorf("%+v, %+v: %s", first, again, files(t, first.Folder))
		}
	}
}

// What goes wrong today may go well tomorrow.
func TestNothingIsKeptOfACompilerThatFails(t *testing.T) {
	for _, c := range []struct{ script, lacks string }{
		{`echo Error: no licence; exit 1`, "does not translate MPI's modules (Error: no licence): mpif.h works"},
		{`if [ $name = mpi_f08 ]; then echo "Fatal Error: No space left on device"; exit 1; fi; ` + writing, "No space left"},
	} {
		p := newPlace(t, c.script)
		if m := p.Find(p.compiler, Usual); m.Folder != "" || !strings.Contains(m.Lacks, c.lacks) {
			t.Errorf("%+v", m)
		}
		if got := files(t, filepath.Join(p.home, ".cache", "libimpi", "fortran")); got != "" {
			t.Errorf("left: %s", got)
		}
		if _, err := p.Install(p.compiler); err == nil {
			t.Error("installing is no error")
		}
	}
}

func TestACompilerThatSaysNothingHasNoModules(t *testing.T) {
	if c, err := Ask([]string{"false"}); err == nil {
		t.Errorf("%+v", c)
	}
	if c, err := Ask([]string{"/nonexistent/ftn"}); err == nil {
		t.Errorf("%+v", c)
	}
}
