package launcher

import (
	"fmt"
	"strings"
	"testing"
)

// What others wait for in one-sided communication ends with the rank that dies: fences, locks, epochs, flushes.

// windows are the kinds of windows that a job spread in this way can have: shared memory needs one machine and client.
func windows(how string) []string {
	if strings.Contains(how, "clients") {
		return []string{"create", "allocate", "dynamic"}
	}
	return []string{"create", "allocate", "shared", "dynamic"}
}

func TestADeathInAnEpochEndsAllAndIsTheCause(t *testing.T) {
	file := program(t, "window")
	for _, how := range []string{"-n 4", "-clients 2 -n 4"} {
		for _, kind := range windows(how) {
			for i, moment := range []string{"fence", "exposed", "started", "locking", "flush", "free"} {
				who := (i + 1) % 4 // each rank in turn, so that locks are held by, and of, several
				t.Run(fmt.Sprintf("%s %s %s", how, kind, moment), func(t *testing.T) {
					r := run(t, words(how, file, moment, kind, fmt.Sprint(who))...)
					said := fmt.Sprintf("rank %d on", who)
					if r.code != 137 || !strings.Contains(r.stderr, said) || !strings.Contains(r.stderr, "signal 9 (SIGKILL") {
						t.Errorf("code %d, stderr %q; want 137, %q and SIGKILL", r.code, r.stderr, said)
					}
					if n := strings.Count(r.stderr, "impirun: "); n != 1 {
						t.Errorf("%d lines of impirun: %q", n, r.stderr)
					}
				})
			}
		}
	}
}

func TestTheSameEpochsWithoutADeathAreSilent(t *testing.T) {
	file := program(t, "window")
	for _, how := range []string{"-n 4", "-clients 2 -n 4"} {
		for _, kind := range windows(how) {
			run(t, words(how, file, "not", kind, "2")...).expect(t, 0, "")
		}
	}
}
