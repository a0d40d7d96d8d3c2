package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What ranks note of their calls (-trace), impi-trace reads: who was late, at which line, and why.
func TestATraceSaysWhoWasLateAndWhy(t *testing.T) {
	t.Parallel()
	file := program(t, "late")
	for _, where := range []string{"-n 3", "-clients 3 -n 3"} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "trace")
			run(t, words("-trace", dir, where, file)...).expect(t, 0, "")
			text, err := exec.Command(filepath.Join(stage(t), "bin", "impi-trace"), dir).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			for _, want := range []string{`^late: 3 ranks, .*, 3 messages\n`,
				`ms  rank 1 in MPI_Recv late\.c:\d+: late sender, rank 0 in MPI_Send late\.c:\d+\n`,
				`ms  rank 0 in MPI_Ssend late\.c:\d+: late receiver, rank 1 in MPI_Recv late\.c:\d+\n`,
				`ms  rank 0 in MPI_Send late\.c:\d+: late receiver, rank 1 in MPI_Irecv late\.c:\d+\n`,
				`ms  rank [01].* in MPI_Allreduce late\.c:\d+: late at collective, rank 2 in MPI_Allreduce late\.c:\d+\n`,
				`computing before MPI_Allreduce late\.c:\d+\n`} {
				if !regexp.MustCompile(want).Match(text) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
			if strings.Contains(string(text), "no other side") {
				t.Errorf("messages are not matched:\n%s", text)
			}
			for _, name := range []string{"trace.html", "trace.pftrace"} {
				if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || len(b) < 1000 {
					t.Errorf("%s: %d bytes, %v", name, len(b), err)
				}
			}
		})
	}
}
