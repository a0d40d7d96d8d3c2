package launcher

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/libimpi/libimpi/gobridge/callsite"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport/shm"
)

// asked are the ranks of a job whose launcher is the test.
type asked struct {
	t    *testing.T
	ends []*startup.LauncherEnd
	pids []int
}

// ask starts n ranks of a program on this machine, and welcomes them.
func ask(t *testing.T, n int, argv ...string) *asked {
	t.Helper()
	shared, err := shm.Create(n)
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{t: t}
	for rank := range n {
		end, child, err := startup.NewLauncherEnd()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Env = append(os.Environ(), startup.RankEnv(3, rank, n, rank, n)...)
		cmd.ExtraFiles, cmd.Stderr = []*os.File{child}, os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		child.Close()
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
			end.Close()
		})
		end.SetDeadline(time.Now().Add(limit))
		a.ends, a.pids = append(a.ends, end), append(a.pids, cmd.Process.Pid)
	}
	numbers := make([]uint32, n)
	for i, pid := range a.pids {
		numbers[i] = uint32(pid)
		next[startup.Hello](t, a.ends[i])
	}
	for rank, end := range a.ends {
		job := startup.OneClient(numbers...)
		job.Me = int32(rank)
		if err := end.Welcome(startup.Welcome{LocalRank: int32(rank), LocalSize: int32(n), JobID: "asked", Shared: shared,
			Job: job}); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// limit is how long ranks may take to come to where they wait.
const limit = time.Minute

// next is what a rank says next.
func next[T any](t *testing.T, end *startup.LauncherEnd) (said T) {
	t.Helper()
	m, err := end.Next()
	said, is := m.(T)
	if err != nil || !is {
		t.Fatalf("a rank says %+v, %v", m, err)
	}
	return said
}

// until asks a rank until what it tells is so.
func (a *asked) until(rank int, is func(p *report.Process) bool) *report.Process {
	a.t.Helper()
	var last []byte
	defer func() {
		if a.t.Failed() {
			a.t.Logf("rank %d has told last: %s", rank, last)
		}
	}()
	for number := uint32(1); ; number++ {
		if !a.ends[rank].AskReport(number, limit) {
			a.t.Fatal("a rank does not tell what it does")
		}
		text := next[startup.Report](a.t, a.ends[rank]).Text
		if text == nil {
			continue // it is in MPI_Init
		}
		last = text
		p, err := report.Parse(text)
		if err != nil {
			a.t.Fatal(err)
		}
		if is(p) {
			return p
		}
	}
}

func TestALauncherIsToldWhatItsRanksWaitFor(t *testing.T) {
	waits := []struct {
		call string
		line int
	}{
		{"MPI_Recv count=1 datatype=MPI_INT source=4 tag=0 comm=MPI_COMM_WORLD", 9},
		{"MPI_Wait", 15},
		{"MPI_Barrier comm=communicator of size 2", 18},
		{"MPI_Bcast comm=communicator of size 2", 20},
	}
	last := len(waits)
	a := ask(t, last+1, program(t, "waits"))
	traced := runtime.GOARCH == "amd64" // the way out of Go's stacks is described for amd64 alone
	for rank, w := range waits {
		p := a.until(rank, func(p *report.Process) bool {
			return len(p.Threads) == 1 && p.Threads[0].World == last && p.Threads[0].Settled &&
				(len(p.Threads[0].Returns) > 0 || !traced) && p.Threads[0].Call != "MPI_Comm_split"
		})
		got := p.Threads[0].Call
		for _, arg := range p.Threads[0].Args {
			got += " " + arg.Name + "=" + arg.Text
		}
		if got != w.call || p.Rank != rank || p.PID != a.pids[rank] || p.Computing {
			t.Errorf("rank %d is in %q, and not in %q: %+v", rank, got, w.call, p)
		}
		if !traced {
			continue
		}
		if site, _ := callsite.Call(p.Threads[0].Returns[0]).Line(); filepath.Base(site.File) != "waits.c" ||
			site.Line != w.line {
			t.Errorf("rank %d: the call is at %v, and not in line %d", rank, site, w.line)
		}
	}
	p := a.until(last, func(p *report.Process) bool { return p.Computing && p.LastCall == "MPI_Comm_split" })
	if len(p.Threads) > 0 || p.PID != a.pids[last] {
		t.Errorf("the last rank: %+v", p)
	}
}
