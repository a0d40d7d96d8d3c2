package supervise

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAJobWhoseRanksCannotBeWaitedForIsNoSuccess(t *testing.T) {
	j := &Job{table: newJobTable("here", 1, false), living: map[int]member{}, changed: make(chan struct{}, 1),
		waited:  make(chan struct{}),
		signals: make(chan os.Signal, 1), reaped: make(chan batch, 1), look: func() error { return unix.EINVAL }}
	go j.reap()
	if c := j.Wait(); c == nil || c.Code != 1 || !strings.Contains(c.Text, "cannot wait for the ranks: invalid argument") {
		t.Errorf("cause %+v", c)
	}
}

func TestOnlyAClosedPipeTellsARankThatItsOutputIsLost(t *testing.T) {
	for _, tt := range []struct {
		err       error
		goes, bad bool
	}{{nil, true, false}, {unix.ENOSPC, true, true}, {unix.EPIPE, false, false}} {
		s := &sink{out: failing{tt.err}}
		if goes := s.write([]byte("x\n")); goes != tt.goes || (s.lost != nil) != tt.bad {
			t.Errorf("%v: goes on %v, lost %v", tt.err, goes, s.lost)
		}
	}
}

type failing struct{ err error }

func (f failing) Write(b []byte) (int, error) { return len(b), f.err }
