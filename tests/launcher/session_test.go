package launcher

import (
	"fmt"
	"os"
	"path/filepath"
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

// A client whose ranks have ended in order is done, launcher and all, while ranks of another go on.
func TestAClientOfSessionsEndsBeforeOthers(t *testing.T) {
	for _, via := range []string{"direct", "agent"} {
		sign := filepath.Join(t.TempDir(), "sign")
		s, address := server(t, with(key), "2")
		do := words("-via", via, "-np 2", program(t, "sessions"), "outlives 3", sign)
		a := startWith(t, with(key), append(words("-client 0", address), do...)...)
		b := startWith(t, with(key), append(words("-client 1", address), do...)...)
		a.wait().expect(t, 0, "")
		if err := os.WriteFile(sign, nil, 0o644); err != nil { // rank 3 has waited for it
			t.Fatal(err)
		}
		b.wait().expect(t, 0, "")
		s.wait().expect(t, 0, "")
	}
}

// Beside a client that takes nothing but IMPI 0.0 all end at once.
func TestProgramsOfSessionsEndBesideAnotherImplementation(t *testing.T) {
	for _, via := range []string{"direct", "agent"} {
		s, address := server(t, with(key), "3")
		var clients []*job
		for i, plain := range []string{"0", "1", "0"} {
			clients = append(clients, startWith(t, with(key, "IMPI_PLAIN="+plain),
				words("-client", fmt.Sprint(i), address, "-via", via, "-np 2", program(t, "sessions"), "nothing 0")...))
		}
		for _, c := range clients {
			c.wait().expect(t, 0, "")
		}
		s.wait().expect(t, 0, "")
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
