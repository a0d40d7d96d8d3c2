package launcher

import (
	"fmt"
	"sort"
	"strings"
	"testing"
)

// The end of a program that uses sessions only is the end of the process: in order if all sessions are finalized.
func TestProgramsOfSessionsEndLikeOthers(t *testing.T) {
	file := program(t, "sessions")
	for do, want := range map[string]struct {
		code int
		said string
	}{
		"nothing 0":      {0, ""},
		"afterwards 1 3": {3, "exited with code 3"},
		"leave-open 1 0": {1, "exited without calling MPI_Finalize"},
		"abort 2 9":      {9, "called MPI_Abort(9)"},
		"error 0":        {6, "MPI_Send"},

		"finalized 1 0":      {0, ""},
		"finalized 2 3":      {3, "exited with code 3"},
		"killed-resting 2 9": {137, "signal 9 (SIGKILL"},
		"quits-resting 3 0":  {1, "exited without calling MPI_Finalize"},
	} {
		for _, how := range append([]string{machines(t)}, spread...) {
			t.Run(how+" "+do, func(t *testing.T) {
				r := run(t, words(how, file, do)...)
				who := fmt.Sprintf("rank %s on", strings.Fields(do)[1])
				if r.code != want.code || want.code != 0 &&
					(!strings.Contains(r.stderr, who) || !strings.Contains(r.stderr, want.said)) {
					t.Errorf("code %d, stderr %q; want %d, %q and %q", r.code, r.stderr, want.code, who, want.said)
				}
				if want.code == 0 && r.stderr != "" {
					t.Errorf("stderr %q", r.stderr)
				}
			})
		}
	}
}

func TestEachProgramHasItsNumber(t *testing.T) {
	file := program(t, "sessions")
	r := run(t, words("-n 1", file, "which 0 : -n 2", file, "which 0 : -n 1", file, "which 0")...)
	lines := strings.Fields(r.stdout)
	sort.Strings(lines)
	if got := strings.Join(lines, " "); r.code != 0 || got != "0:0 1:1 2:1 3:2" {
		t.Errorf("code %d, %q", r.code, got)
	}
}
