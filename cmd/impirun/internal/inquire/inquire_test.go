package inquire

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/internal/inquiry"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/stat"
	"github.com/libimpi/libimpi/libimpi/report"
)

// ranks are two that receive from each other.
type ranks struct {
	mu   sync.Mutex
	time int64
}

func (r *ranks) states(time.Duration) (list []stat.Rank, whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.time += int64(time.Second)
	for i := range 2 {
		list = append(list, stat.Rank{Rank: i, Process: &report.Process{Rank: i, ThreadCount: 1,
			Threads: []report.Thread{{Call: "MPI_Recv", For: report.ForRequests, Peer: 1 - i, World: 1 - i, Tag: 3,
				Since: r.time, Settled: true}}}})
	}
	return list, true
}

// opened is an inquiry about two ranks, and what it says.
func opened(t *testing.T, c Config) (*Inquiry, <-chan string) {
	said := make(chan string, 8)
	r := &ranks{}
	c.Name, c.States = "the job", r.states
	c.Say = func(text string) { said <- text }
	c.Rest = func() bool { return true }
	q := Open(c)
	t.Cleanup(q.Close)
	return q, said
}

func TestASignalAndALauncherGetReports(t *testing.T) {
	q, said := opened(t, Config{Signal: syscall.SIGUSR2, Deadlock: options.DeadlockIgnore})
	syscall.Kill(os.Getpid(), syscall.SIGUSR2)
	if got := <-said; !strings.HasPrefix(got, "impirun: what ranks do:\n  rank 0: MPI_Recv from rank 1 tag 3") {
		t.Errorf("%q", got)
	}
	q.Report("title")
	if got := <-said; !strings.HasPrefix(got, "impirun: title:\n") {
		t.Errorf("%q", got)
	}
}

func TestClientsGetTextAndJSON(t *testing.T) {
	opened(t, Config{Deadlock: options.DeadlockIgnore})
	self := inquiry.Job{PID: os.Getpid(), UID: os.Geteuid()}
	text, err := inquiry.Ask(self, inquiry.Text)
	if err != nil || !strings.HasPrefix(string(text), "the job, 2 ranks:\n  rank 0: MPI_Recv") {
		t.Errorf("%q, %v", text, err)
	}
	b, err := inquiry.Ask(self, inquiry.JSON)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Job   string
		PID   int
		Lines []stat.Line
	}
	if err := json.Unmarshal(b, &got); err != nil || got.Job != "the job" || got.PID != os.Getpid() ||
		len(got.Lines) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestADeadlockIsSaidOnceAndEndsTheJobIfTheUserWants(t *testing.T) {
	aborted := make(chan string, 1)
	_, said := opened(t, Config{Deadlock: options.DeadlockAbort, After: time.Millisecond,
		Abort: func(why string) { aborted <- why }})
	if got := <-said; !strings.HasPrefix(got, "impirun: deadlock: no call of ranks 0,1 can return") {
		t.Errorf("%q", got)
	}
	<-aborted
}

func TestReportsAreObjectsForPrograms(t *testing.T) {
	q, said := opened(t, Config{Deadlock: options.DeadlockReport, After: time.Millisecond, Objects: true})
	q.Report("title")
	for range 2 {
		var got struct {
			Report struct {
				Message  string
				Deadlock *stat.Deadlock
				Lines    []stat.Line
			}
		}
		text := <-said
		err := json.Unmarshal([]byte(text), &got)
		if err != nil || strings.Count(text, "\n") != 1 || len(got.Report.Lines) != 2 {
			t.Errorf("%q, %v", text, err)
		}
		if proven := got.Report.Deadlock != nil; proven == (got.Report.Message == "title") {
			t.Errorf("%+v", got)
		}
	}
}

func TestNothingIsSaidOfAJobThatHasNotCalledMPI(t *testing.T) {
	q, said := opened(t, Config{Deadlock: options.DeadlockIgnore})
	q.config.States = func(time.Duration) ([]stat.Rank, bool) { return []stat.Rank{{State: stat.Outside}}, true }
	q.Report("title")
	select {
	case got := <-said:
		t.Errorf("%q", got)
	default:
	}
}
