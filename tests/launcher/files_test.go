package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A rank that dies while it writes ends the job, and leaves nothing but the file: no lock, and no file of the library's
// own. The next job finds it free.
func TestADeathWhileWritingEndsAllAndLeavesTheFileFree(t *testing.T) {
	program := program(t, "files")
	for _, how := range []string{"-n 4", "-clients 2 -n 4"} {
		for i, access := range []string{"strided", "atomic", "all", "shared"} {
			who := (i + 1) % 4
			t.Run(fmt.Sprintf("%s %s", how, access), func(t *testing.T) {
				folder := t.TempDir()
				file := filepath.Join(folder, "data")
				r := run(t, words(how, program, access, file, fmt.Sprint(who))...)
				said := fmt.Sprintf("rank %d on", who)
				if r.code != 137 || !strings.Contains(r.stderr, said) || !strings.Contains(r.stderr, "signal 9 (SIGKILL") {
					t.Errorf("code %d, stderr %q; want 137, %q and SIGKILL", r.code, r.stderr, said)
				}
				left, err := os.ReadDir(folder)
				if err != nil || len(left) != 1 || left[0].Name() != "data" {
					t.Errorf("the folder has %v (%v); want data alone", left, err)
				}
				run(t, words(how, program, access, file, "-1")...).expect(t, 0, "")
			})
		}
	}
}
