package job

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/layout"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup"
)

// partWith is a part of n ranks that are in MPI as these processes, and do not answer.
func partWith(pids ...int) *Part {
	p := partOf(layout.Share{N: len(pids)}, "j", nil)
	for i, pid := range pids {
		p.left = append(p.left, make(chan struct{}))
		p.seats[i] = seat{lives: 1, pid: pid, inside: &startup.LauncherEnd{}}
	}
	return p
}

func TestARoundTakesAnswersToItsOwnQuestionOnly(t *testing.T) {
	r := &round{}
	first, _ := r.begin(2)
	r.take(0, first, &report.Process{})
	r.end()
	second, all := r.begin(2)
	r.take(0, first, &report.Process{PID: 1})
	r.take(1, second, &report.Process{PID: 2})
	r.take(1, second, &report.Process{PID: 3})
	select {
	case <-all:
		t.Fatal("one answer is still due")
	default:
	}
	r.leave(0)
	<-all
	if got := r.end(); got[0] != nil || got[1].PID != 2 {
		t.Errorf("%v", got)
	}
	r.take(0, second, &report.Process{}) // too late
}

func TestSilentRanksAreDescribedByTheirProcesses(t *testing.T) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	child.Process.Signal(syscall.SIGSTOP)
	for sampleOf(child.Process.Pid).state != 'T' {
		time.Sleep(time.Millisecond)
	}
	p := partWith(child.Process.Pid, 0, 0, 0, 0)
	p.seats[1].lives = 0
	p.seats[2].inside = nil
	p.seats[3].gone = true
	got := p.States(0, time.Second)
	for i, want := range []stat.State{stat.Stopped, stat.Outside, stat.Finalized, stat.Ended, stat.Entering} {
		if got[i].State != want || got[i].Rank != i {
			t.Errorf("rank %d is %+v, want %s", i, got[i], want)
		}
	}
}

func TestARestIsNoticedInTheSecondLookAtProcessesThatSleep(t *testing.T) {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	for sampleOf(child.Process.Pid).state != 'S' {
		time.Sleep(time.Millisecond)
	}
	p, r := partWith(child.Process.Pid), Rest{}
	if r.All(p) {
		t.Fatal("at rest at first sight")
	}
	if !r.All(p) {
		t.Error("it sleeps, and is not at rest")
	}
	busy, r := partWith(child.Process.Pid, os.Getpid()), Rest{}
	r.All(busy)
	for start := sampleOf(os.Getpid()).ticks; sampleOf(os.Getpid()).ticks <= start+restTicks; {
	}
	if r.All(busy) {
		t.Error("we are busy, and at rest")
	}
	p.seats[0].inside = nil
	r = Rest{}
	r.All(p)
	if r.All(p) {
		t.Error("nobody is in MPI, and all are at rest")
	}
}
