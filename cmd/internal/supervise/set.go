package supervise

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/libimpi/report"
)

// Set is the processes of one MPI_COMM_WORLD on this machine. A job begins with one; Add adds those that are spawned.
// All share what they make of the job: the first abnormal end, of whatever set, is its cause.
//
// A set that is added is on trial until Connected: nobody counts on its processes yet, so that the end of one of them
// is told to SetConfig.Ended, and does no harm.
type Set struct {
	job    *Job
	config SetConfig
	table  *jobTable
}

// SetConfig is what a set needs beside its processes. Functions are called without locks, by Wait's goroutine.
type SetConfig struct {
	Name  string   // follows a rank in messages, such as " of spawned job 2"
	Names []string // by rank: follows that, such as " (worker)"
	// Streams is as that of Config.
	Streams func(rank int, name string) Stream
	Drain   func(rank int)             // as that of Config
	Ended   func(rank int, how string) // a process has ended during the trial: how, as in "exited with code 3"
	Over    func()                     // no process is left
	Lost    func(rank int, l Loss)     // the job goes on without a rank; it is told at once
}

// member is a process of a set.
type member struct {
	set  *Set
	rank int
}

func (m member) entry() *entry { return &m.set.table.entries[m.rank] }

// send needs the job's lock and a pid that was not reaped.
func (m member) send(pid int, s syscall.Signal) {
	if m.entry().own {
		pid = -pid
	}
	syscall.Kill(pid, s)
}

// kill is send, noting whether the process was well until then.
func (m member) kill(pid int, s syscall.Signal) {
	if st, ok := readStat(pid); ok && !st.dying() {
		m.entry().told = true
	}
	m.send(pid, s)
	if s == syscall.SIGTERM {
		m.send(pid, syscall.SIGCONT) // a stopped process takes SIGTERM when it goes on
	}
}

// Exits are how the processes of the initial set have ended, after Wait, and which world rank the first of them has.
func (j *Job) Exits() (first int, list []syscall.WaitStatus) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.table.entries {
		list = append(list, j.table.entries[i].status)
	}
	return j.table.first, list
}

// PIDs are those of the processes of the initial set.
func (j *Job) PIDs() (list []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.table.entries {
		list = append(list, j.table.entries[i].pid)
	}
	return list
}

// Initial is the set with which the job began.
func (j *Job) Initial() *Set { return j.initial }

// ErrOver: the job is ending, and no process is started any more.
var ErrOver = errors.New("the job is ending")

// Add starts a set of processes. failed says, by rank, which of them could not be started, and why; err that the job is
// ending, and none was. It waits until Wait, which must run, has time for it.
func (j *Job) Add(config SetConfig, processes []Process) (s *Set, failed []error, err error) {
	s = &Set{job: j, config: config}
	s.table = tableUnder(j.table.jobState, j.config.Host, len(processes))
	s.table.trial, s.table.name, s.table.lost = true, config.Name, config.Lost
	for i := range config.Names {
		s.table.entries[i].of = config.Names[i]
	}
	failed = make([]error, len(processes))
	err = j.onMain(func() error {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer null.Close()
		j.mu.Lock()
		ending := j.table.doomed || j.over()
		if !ending {
			j.sets = append(j.sets, s)
		}
		j.mu.Unlock()
		if ending {
			return ErrOver
		}
		for rank := range processes {
			_, failed[rank] = j.startOne(s, rank, &processes[rank], null)
		}
		j.note(func(*jobTable) {
			for rank, err := range failed {
				if err != nil {
					s.table.entries[rank].ended = true
				}
			}
			j.dismiss()
		})
		return nil
	})
	if err != nil {
		for i := range processes {
			processes[i].close()
		}
	}
	return s, failed, err
}

// Ended is closed when Wait has returned.
func (j *Job) Ended() <-chan struct{} { return j.waited }

// onMain has Wait's goroutine do something.
func (j *Job) onMain(do func() error) error {
	done := make(chan error, 1)
	select {
	case j.work <- func() { done <- do() }:
		return <-done
	case <-j.waited:
		return ErrOver
	}
}

// Initialized, Finalized and Aborted note what a rank said on its link; any goroutine may call them. text says why a
// rank gave up, if it did not call MPI_Abort itself. answer says that it gave up because it had lost another rank, and
// blamed is the client of that rank if that is not ours. told is why in parts; nil: it has not said more.
func (s *Set) Initialized(rank int) { s.job.note(func(*jobTable) { s.table.initialized(rank) }) }
func (s *Set) Finalized(rank int)   { s.job.note(func(*jobTable) { s.table.finalized(rank) }) }
func (s *Set) Aborted(rank, code int, text string, answer bool, blamed *int32, told *report.Error) {
	s.job.note(func(*jobTable) {
		s.job.add(outcome{set: s, rank: rank, aborted: true, code: code, text: text, answer: answer, blamed: blamed,
			told: told})
	})
}

// Crashed notes what a rank has told of the signal that is about to end it.
func (s *Set) Crashed(rank int, told *report.Error) {
	s.job.note(func(*jobTable) { s.table.entries[rank].crash = told })
}

// Left notes that a process has ended that is not our child (Config.Attend).
func (s *Set) Left(rank int) {
	s.job.note(func(*jobTable) {
		unix.Close(s.job.attended)
		s.job.attended = 0
		s.job.add(outcome{set: s, rank: rank})
	})
}

// Connected ends the trial: from now on the set's processes are like those of the first. numbers says which rank each
// process has; -1: it is none, and its end is of no interest. It returns false, and the trial goes on, if a process
// that has a rank has ended meanwhile.
func (s *Set) Connected(numbers []int) bool {
	s.job.mu.Lock()
	defer s.job.mu.Unlock()
	for i, n := range numbers {
		if s.table.entries[i].ended && n >= 0 {
			return false
		}
	}
	s.table.trial = false
	for i, n := range numbers {
		s.table.entries[i].formed = n >= 0
		s.table.entries[i].number, s.table.entries[i].dropped = n, n < 0
	}
	return true
}

// Kill ends processes of a set: those of the given ranks, or all. It does not wait.
func (s *Set) Kill(ranks ...int) {
	s.signal(syscall.SIGTERM, ranks)
	time.AfterFunc(s.job.config.Grace, func() { s.signal(syscall.SIGKILL, ranks) })
}

func (s *Set) signal(sig syscall.Signal, ranks []int) {
	s.job.mu.Lock()
	defer s.job.mu.Unlock()
	for pid, m := range s.job.living {
		if m.set == s && (len(ranks) == 0 || slices.Contains(ranks, m.rank)) {
			m.kill(pid, sig)
		}
	}
}

// ended notes the end of a rank whose last words have been heard.
func (s *Set) ended(rank int, status syscall.WaitStatus) {
	trial := false
	s.job.note(func(*jobTable) {
		e := &s.table.entries[rank]
		e.status = status
		if trial = s.table.trial; !trial && !e.dropped {
			s.job.add(outcome{set: s, rank: rank, status: status})
			return
		}
		e.ended = true
		s.job.dismiss()
	})
	if trial && s.config.Ended != nil {
		s.config.Ended(rank, How(status))
	}
}

// How returns how a process has ended.
func How(status syscall.WaitStatus) string {
	switch {
	case status.Signaled():
		return fmt.Sprintf("was killed by signal %d (%s)", int(status.Signal()), unix.SignalName(status.Signal()))
	case status.ExitStatus() != 0:
		return fmt.Sprintf("exited with code %d", status.ExitStatus())
	}
	return "ended"
}

// over reports whether no process of any set, and no companion, is left. The caller holds the job's lock.
func (j *Job) over() bool {
	return len(j.companions) == 0 && !slices.ContainsFunc(j.sets, func(s *Set) bool { return !s.table.over() })
}

// dismiss forgets sets that are over, so that a job may spawn for as long as it likes. The caller holds the job's lock.
func (j *Job) dismiss() {
	if len(j.sets) < 2 {
		return
	}
	j.sets = slices.DeleteFunc(j.sets, func(s *Set) bool {
		over := s.table != j.table && s.table.over()
		if over && s.config.Over != nil {
			go s.config.Over()
		}
		return over
	})
}

// attend takes in a process that runs already: the one that has started us.
func (j *Job) attend(pid int) error {
	if j.guard == 0 {
		return errors.New("cannot start a guard")
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	if os.Getppid() != pid { // it has gone, and the number may be another's
		unix.Close(fd)
		return errors.New("the process that has started this launcher has gone")
	}
	j.attended = fd
	j.table.started(0, pid)
	return nil
}

// Companion is a child that is no rank: the command through which a part of the job runs on another machine. The job
// is not over before it is. It is not sent the signals that ranks get.
type Companion struct {
	job   *Job
	pid   int
	ended chan syscall.WaitStatus
}

// Accompany starts a command as a companion. cmd.Wait is not to be called.
func (j *Job) Accompany(cmd *exec.Cmd) (*Companion, error) {
	c := &Companion{job: j, ended: make(chan syscall.WaitStatus, 1)}
	return c, j.onMain(func() error {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.table.doomed || j.over() {
			return ErrOver
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		c.pid = cmd.Process.Pid
		cmd.Process.Release()
		j.companions[c.pid] = c
		return nil
	})
}

// Wait waits for the companion's end and returns an error that says how, if that was not well. It is to be called once.
func (c *Companion) Wait() error {
	status := <-c.ended
	if status.Signaled() || status.ExitStatus() != 0 {
		return errors.New(How(status))
	}
	return nil
}

// Kill ends the companion at once.
func (c *Companion) Kill() {
	c.job.mu.Lock()
	defer c.job.mu.Unlock()
	if c.job.companions[c.pid] == c {
		syscall.Kill(c.pid, syscall.SIGKILL)
	}
}

// Leave starts a command in a session of its own, without our environment, output and terminal, that stays when the job
// is over.
func (j *Job) Leave(argv []string) error {
	return j.onMain(func() error {
		null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer null.Close()
		j.mu.Lock()
		defer j.mu.Unlock()
		pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Dir: "/", Env: []string{},
			Files: []uintptr{null.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true}})
		if err == nil {
			j.staying = append(j.staying, pid)
		}
		return err
	})
}
