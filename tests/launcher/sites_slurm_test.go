package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// impirun inside a Slurm of the test's own: it takes the allocation, and starts its nodes by srun.

// allocated runs impirun in an allocation.
func (s *slurm) allocated(t *testing.T, options []option, how string, line ...string) *job {
	t.Helper()
	path := environ("PATH=" + filepath.Dir(s.tools["srun"]) + ":" + os.Getenv("PATH"))
	return s.start(t, append(options, path), "salloc",
		words("-Q", how, filepath.Join(stage(t), "bin", "impirun"), line)...)
}

func TestImpirunInAnAllocationOfSlurm(t *testing.T) {
	s := newSlurm(t, nil)
	t.Run("ranks", func(t *testing.T) {
		r := s.settled(t, s.allocated(t, nil, "-N 3 --ntasks-per-node=2", words("-l", sh("echo $IMPI_LOCAL_RANK"))...))
		r.expect(t, 0, "")
		for rank := range 6 {
			if line := fmt.Sprintf("[%d] %d\n", rank, rank%2); !strings.Contains(r.stdout, line) {
				t.Errorf("%q is missing in %q", line, r.stdout)
			}
		}
	})
	t.Run("programs", func(t *testing.T) {
		for _, how := range []string{"", "-branch-count 1", "-host n3,n1 -n 3"} {
			r := s.settled(t, s.allocated(t, nil, "-N 3 -n 5", words(how, program(t, "negotiate"))...))
			r.expect(t, 0, "")
		}
		s.settled(t, s.allocated(t, nil, "-N 2 -n 4", words(program(t, "../coll/reduce"))...)).expect(t, 0, "")
	})
	t.Run("output", func(t *testing.T) {
		r := s.settled(t, s.allocated(t, nil, "-N 3 -n 3", words(sh("seq 20000; printf end"))...))
		r.expect(t, 0, "")
		if n := strings.Count(r.stdout, "\n"); n != 3*20000 {
			t.Errorf("%d lines", n)
		}
	})
	t.Run("input", func(t *testing.T) {
		in := stdin(strings.NewReader(strings.Repeat("every byte\n", 1<<15)))
		r := s.settled(t, s.allocated(t, []option{in}, "-N 2 -n 2", words(sh("wc -c"))...))
		if r.code != 0 || !strings.Contains(r.stdout, fmt.Sprint(11<<15)) {
			t.Errorf("code %d, %q, %q", r.code, r.stdout, r.stderr)
		}
	})
	t.Run("ends", func(t *testing.T) {
		for do, code := range map[string]int{"abort 1 17": 17, "raise 2 9": 137} {
			r := s.settled(t, s.allocated(t, nil, "-N 3 -n 3", words(program(t, "misbehave"), do)...))
			if r.code != code || strings.Count(r.stderr, "impirun: ") != 1 || strings.Contains(r.stderr, "srun: ") {
				t.Errorf("%s: code %d, %s", do, r.code, r.stderr)
			}
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		j := s.allocated(t, nil, "-N 2 -n 4 -J canceled", words(program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 4)
		s.start(t, nil, "scancel", "-n", "canceled").wait().expect(t, 0, "")
		if r := s.settled(t, j); r.code == 0 || !strings.Contains(r.stderr, "impirun: ") {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
	t.Run("not there", func(t *testing.T) {
		r := s.settled(t, s.allocated(t, nil, "-N 1 -w n1", words("-host n2 true")...))
		if r.code != 2 || !strings.Contains(r.stderr, "machine n2 is not in the allocation of Slurm job") {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
}
