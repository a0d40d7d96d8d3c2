package launcher

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// spread are the ways in which four ranks can be divided: the rules are the same in all of them.
var spread = []string{"-n 4", "-clients 2 -n 4", "-clients 3 -n 4", "-clients 3 -via agent -n 4"}

func TestAGoodJobIsSilent(t *testing.T) {
	file := program(t, "misbehave")
	for _, how := range spread {
		run(t, words(how, file, "not 0")...).expect(t, 0, "")
	}
}

func TestTheDeathOfOneRankEndsAllAndIsTheCause(t *testing.T) {
	file := program(t, "misbehave")
	for do, want := range map[string]struct {
		code int
		said string
	}{
		"abort 0 7":            {7, "called MPI_Abort(7)"},
		"abort 3 0":            {1, "called MPI_Abort(0)"},
		"abort 1 256":          {1, "called MPI_Abort(256)"},
		"abort 2 300":          {44, "called MPI_Abort(300)"},
		"no-finalize 1 0":      {1, "exited without calling MPI_Finalize"},
		"no-finalize 1 5":      {5, "exited with code 5"},
		"raise 2 9":            {137, "signal 9 (SIGKILL"},
		"raise 3 6":            {134, "signal 6 (SIGABRT"},
		"raise-later 1 9":      {137, "signal 9 (SIGKILL"},
		"exit-later 2 4":       {4, "exited with code 4"},
		"crash 0":              {139, "signal 11 (SIGSEGV"},
		"before-init 2 0":      {1, "without calling MPI_Init"},
		"before-init 2 6":      {6, "exited with code 6"},
		"killed-before-init 1": {137, "signal 9 (SIGKILL"},
		"after-finalize 2 3":   {3, "exited with code 3"},

		"killed-in-finalize 1":    {137, "signal 9 (SIGKILL"},
		"killed-after-finalize 3": {137, "signal 9 (SIGKILL"},
	} {
		for _, how := range spread {
			t.Run(how+" "+do, func(t *testing.T) {
				r := run(t, words(how, file, do)...)
				who := fmt.Sprintf("rank %s on", strings.Fields(do)[1])
				if r.code != want.code || !strings.Contains(r.stderr, who) || !strings.Contains(r.stderr, want.said) {
					t.Errorf("code %d, stderr %q; want %d, %q and %q", r.code, r.stderr, want.code, who, want.said)
				}
				if n := strings.Count(r.stderr, "impirun: "); n != 1 {
					t.Errorf("%d lines of impirun: %q", n, r.stderr)
				}
			})
		}
	}
}

// Whoever waits for a rank that is gone ends for that reason: in MPI_Waitall, whose error is of a class of its own,
// with an exit code of the program's, or by MPI_Abort. None of them is the cause.
func TestASurvivorIsNeverBlamed(t *testing.T) {
	file := program(t, "misbehave")
	for _, how := range append([]string{machines(t)}, spread...) {
		for _, do := range []string{"leave-waiting 1 7", "leave-exiting 3 7", "leave-aborting 2 7"} {
			t.Run(how+" "+do, func(t *testing.T) {
				run(t, words(how, file, do)...).expect(t, 7, fmt.Sprintf("rank %s on", strings.Fields(do)[1]))
			})
		}
	}
}

// The launcher of the rank that is gone says so; that of the others names its client.
func TestNoClientBlamesASurvivor(t *testing.T) {
	file := program(t, "misbehave")
	for _, via := range []string{"direct", "agent"} {
		for _, do := range []string{"leave-waiting 3 7", "leave-exiting 3 7", "leave-aborting 3 7"} {
			t.Run(via+" "+do, func(t *testing.T) {
				s, address := server(t, with(key), "2")
				a := startWith(t, with(key), words("-client 0", address, "-via", via, "-np 2", file, do)...)
				b := startWith(t, with(key), words("-client 1", address, "-via", via, "-np 2", file, do)...)
				b.wait().expect(t, 7, "rank 3 on")
				if r := a.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 1") && !strings.Contains(r.stderr, "rank 3 ") {
					t.Errorf("code %d, %q", r.code, r.stderr)
				}
				if r := s.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 1") {
					t.Errorf("the server ended with %d: %q", r.code, r.stderr)
				}
			})
		}
	}
}

func TestWhatMPIProgramsLeaveBehindIsEnded(t *testing.T) {
	for _, how := range spread {
		run(t, words("--kill-grace 0.1", how, program(t, "misbehave"), "child-stays 0")...).expect(t, 0, "")
	}
}

func TestAKilledLauncherTakesMPIRanksAlong(t *testing.T) {
	for _, how := range spread {
		j := start(t, words(how, program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 4)
		j.signal(syscall.SIGKILL)
		if r := j.wait(); r.code != 137 {
			t.Errorf("%s: code %d", how, r.code)
		}
	}
}

func TestAKilledLauncherTakesRanksInFinalizeAlong(t *testing.T) {
	for _, how := range spread {
		j := start(t, words(how, program(t, "misbehave"), "wait-in-finalize 1")...)
		j.stdout.await("ready", 1)
		j.signal(syscall.SIGKILL)
		if r := j.wait(); r.code != 137 {
			t.Errorf("%s: code %d", how, r.code)
		}
	}
}

func TestAnInterruptEndsAnMPIJob(t *testing.T) {
	for _, how := range spread {
		j := start(t, words(how, program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 4)
		j.signal(syscall.SIGINT)
		j.wait().expect(t, 130, "SIGINT")
	}
}

// Every way to let clients in, between clients and between their hosts.
func TestClientsOfEveryAuthenticationMethodMakeOneJob(t *testing.T) {
	file := program(t, "misbehave")
	for _, env := range []string{"IMPI_AUTH_KEY=5", "IMPI_AUTH_SECRET=a-secret", "IMPI_AUTH_TLS=1"} {
		name, value, _ := strings.Cut(env, "=")
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			for _, how := range spread[1:] {
				run(t, words(how, file, "not 0")...).expect(t, 0, "")
				if r := run(t, words(how, file, "raise 2 9")...); r.code != 137 {
					t.Errorf("%s: code %d, stderr %q", how, r.code, r.stderr)
				}
			}
		})
	}
}
