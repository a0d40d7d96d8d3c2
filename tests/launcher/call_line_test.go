package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A call that ends the job is named with its line, where the program has debug information.
func TestAWrongCallIsNamedWithItsLine(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []struct{ compiler, file, text string }{
		{"mpicc", "wrong.c", `#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Send(argv, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);
    return MPI_Finalize();
}
`},
		{"mpifort", "wrong.f90", `program wrong
  use mpi_f08
  integer :: word
  call MPI_Init()
  call MPI_Send(word, 1, MPI_INTEGER, 9, 0, MPI_COMM_WORLD)
  call MPI_Finalize()
end program
`},
	} {
		if _, err := exec.LookPath("gfortran"); err != nil && p.compiler == "mpifort" {
			t.Skip("there is no gfortran (Debian: gfortran)")
		}
		source, file := filepath.Join(dir, p.file), filepath.Join(dir, p.compiler)
		if err := os.WriteFile(source, []byte(p.text), 0o666); err != nil {
			t.Fatal(err)
		}
		compile := exec.Command(filepath.Join(stage(t), "bin", p.compiler), "-g", "-o", file, source)
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", compile, err, out)
		}
		says := fmt.Sprintf("MPI_Send at %s:5: MPI_ERR_RANK: argument dest is 9", p.file)
		if r := run(t, words("-n 2", file)...); r.code == 0 || !strings.Contains(r.stderr, says) {
			t.Errorf("code %d, %q, without %q", r.code, r.stderr, says)
		}
	}
}
