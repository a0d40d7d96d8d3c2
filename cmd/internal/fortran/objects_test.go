package fortran

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// object compiles C that has what every Fortran object with MPI has.
func object(t *testing.T, name, source string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	path := filepath.Join(t.TempDir(), name)
	command := exec.Command(cc, "-x", "c", "-fcommon", "-c", "-", "-o", path)
	command.Stdin = strings.NewReader(source)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return path
}

func TestObjectsTellTheLengthOfTheirIntegers(t *testing.T) {
	short := object(t, "short.o", "int mpi_abi_status_ignore_[8];")
	long := object(t, "long.o", "long long mpi_abi_status_ignore_[8];")
	capital := object(t, "capital.o", "long long MPI_ABI_STATUS_IGNORE[8];")
	none := object(t, "none.o", "int x;")
	archive := filepath.Join(t.TempDir(), "lib.a")
	if said, err := exec.Command("ar", "rc", archive, none, long).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	broken := filepath.Join(t.TempDir(), "broken.a")
	if err := os.WriteFile(broken, []byte("!<arch>\n"+strings.Repeat("9", 200)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		files []string
		want  int
		fails bool
	}{
		{nil, 0, false}, {[]string{none}, 0, false}, {[]string{short}, 4, false}, {[]string{none, long}, 8, false},
		{[]string{capital}, 8, false}, {[]string{archive, long}, 8, false}, {[]string{broken, short}, 4, false},
		{[]string{"/nonexistent.o", short}, 4, false}, {[]string{short, long}, 0, true}, {[]string{archive, short}, 0, true},
	} {
		got, err := Integers(c.files)
		if (err != nil) != c.fails || got != c.want {
			t.Errorf("%q: %d, %v; want %d", c.files, got, err, c.want)
		}
	}
}
