package launcher

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// examples_c/steering.c: a process steers a solver in its own job, and in another client.

// steering is the command of a process of that program.
func steering(t *testing.T, role string) []string {
	return []string{filepath.Join(filepath.Dir(stage(t)), "examples_c", "steering"), role}
}

// commands gives the process that steers its input.
func commands() option { return stdin(strings.NewReader("wait\nset 3\nfaster\nwait\nstop\n")) }

// replies are the parts of its output that do not depend on time.
var replies = regexp.MustCompile(`hot end is at \S+, the mean at [0-9.]+|commands:.*|answer:.*`)

var wantReplies = []string{"hot end is at 1, the mean at 0.5000", "hot end is at 3, the mean at 0.5000",
	"commands: set VALUE, status, wait, stop", "hot end is at 3, the mean at 1.5000",
	"hot end is at 3, the mean at 1.5000"}

func expectReplies(t *testing.T, stdout string) {
	t.Helper()
	if got := replies.FindAllString(stdout, -1); !slices.Equal(got, wantReplies) {
		t.Errorf("%q, want %q", got, wantReplies)
	}
}

const wantAnswer = "answer: the hot end is at 3, the mean at 1.5000\n"

func TestAProcessSteersASolverOfItsJob(t *testing.T) {
	r := startWith(t, []option{commands()}, words("-n 1", steering(t, "steer"), ": -n 3", steering(t, "solve"))...).wait()
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, wantAnswer) {
		t.Errorf("%q, without %q", r.stdout, wantAnswer)
	}
	expectReplies(t, strings.Replace(r.stdout, wantAnswer, "", 1)) // which may come anywhere
}

func TestAProcessAloneSteersASolverThatIsAnotherClient(t *testing.T) {
	s, address := server(t, with(key), "2")
	solver := startWith(t, with(key), words("-client 0", address, "-n 2", steering(t, "solve"))...)
	do := steering(t, "steer")
	laptop := startProgram(t, append(with(key, "IMPI_JOIN=1@"+address), commands()), do[0], do[1:]...)
	r := laptop.wait()
	r.expect(t, 0, "")
	expectReplies(t, r.stdout)
	r = solver.wait()
	if r.expect(t, 0, ""); r.stdout != wantAnswer {
		t.Errorf("%q, want %q", r.stdout, wantAnswer)
	}
	s.wait().expect(t, 0, "")
}
