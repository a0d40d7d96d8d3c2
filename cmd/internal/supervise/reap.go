package supervise

import (
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reap waits for children until there are none, and reports them in batches: those that were dead at the
// same moment together. It runs on its own goroutine.
func (j *Job) reap() {
	defer close(j.reaped)
	for {
		err := j.look()
		if err == unix.EINTR {
			continue
		}
		dead := batch{}
		switch err {
		case nil:
			dead = j.collect()
		case unix.ECHILD: // nobody is left
			dead.last = true
		default:
			dead.err = err
		}
		j.reaped <- dead
		if dead.last || dead.err != nil {
			return
		}
	}
}

// look waits until a child has ended, and does not reap it (WNOWAIT): its pid is not used again before collect reaps it
// under the lock.
func look() error { return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil) }

// collect reaps every child that is dead now.
func (j *Job) collect() batch {
	j.mu.Lock()
	defer j.mu.Unlock()
	var dead batch
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid == 0 {
			if dead.last = err == syscall.ECHILD; !dead.last {
				dead.err = err
			}
			break
		}
		e := ending{status: status}
		if pid == j.guard {
			j.guard = 0
		}
		if m, ok := j.living[pid]; ok {
			delete(j.living, pid)
			e.member = m
		}
		j.staying = slices.DeleteFunc(j.staying, func(p int) bool { return p == pid })
		if c, ok := j.companions[pid]; ok {
			delete(j.companions, pid)
			c.ended <- status
		}
		dead.endings = append(dead.endings, e)
	}
	return dead
}

// shutdown is the way from a doomed or finished job to an empty machine: SIGTERM once, SIGKILL after the
// grace, to ranks and to what they left behind.
type shutdown struct {
	job   *Job
	told  bool             // Config.Doomed has been called
	grace <-chan time.Time // running since SIGTERM
	force bool             // the grace is over

	since  time.Time        // when the first rank told of an error that others may be about to meet
	gather <-chan time.Time // ticks when to look again
}

// An error that one rank has met is often that of all, who meet it a moment later. They are not ended before that, so
// that the user is told of all of them: for gatherLeast, and as long as they run for at most gatherMost.
const (
	gatherLeast = 60 * time.Millisecond
	gatherMost  = time.Second
	gatherStep  = 20 * time.Millisecond
)

// awaitsSame reports whether ranks are given that moment. MPI_Abort ends them at once.
func (s *shutdown) awaitsSame(c *Cause) bool {
	s.gather = nil
	if s.grace != nil || s.force || c.Failure == nil || c.Failure.Call == "MPI_Abort" {
		return false
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if past := time.Since(s.since); past >= gatherMost || !s.job.awaited(past < gatherLeast) {
		return false
	}
	s.gather = time.After(gatherStep)
	return true
}

// awaited reports whether a rank that has not said that it ends the job does something, and does not sleep, or has said
// that it crashes, and has not ended. any: whether there is one.
func (j *Job) awaited(any bool) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for pid, m := range j.living {
		if e := m.entry(); !e.aborted && (any || e.crash != nil || awake(pid)) {
			return true
		}
	}
	return false
}

// awake reports whether a thread of a process runs, or the process is dying.
func awake(pid int) bool {
	for _, tid := range namesOf("/proc/" + strconv.Itoa(pid) + "/task") {
		s, ok := readStatOf("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(tid) + "/stat")
		if ok && s.state != "S" && s.state != "T" && s.state != "t" {
			return true
		}
	}
	return false
}

// advance is called after every event. It does nothing while the job is well. It returns true when no child is left but
// those that stay.
func (s *shutdown) advance() bool {
	j := s.job
	j.mu.Lock()
	doomed, over := j.table.doomed, j.over()
	cause := Cause{Code: 1, Text: "the job is ending"}
	if j.table.cause != nil {
		cause = *j.table.cause
	}
	j.mu.Unlock()
	if doomed && !s.told && j.config.Doomed != nil {
		s.told = true
		j.config.Doomed(cause)
	}
	if !doomed && !over {
		return false
	}
	if doomed && s.awaitsSame(&cause) {
		return false
	}
	if s.grace == nil && !s.force {
		s.grace = time.After(j.config.Grace)
		j.kill(syscall.SIGTERM)
	}
	if s.force {
		j.kill(syscall.SIGKILL)
	}
	return over && s.sweep()
}

// now ends the grace.
func (s *shutdown) now() {
	s.grace, s.force = nil, true
	s.job.mu.Lock()
	s.job.table.doomed = true
	s.job.mu.Unlock()
}

// sweep signals what ranks left behind. Orphans become our children; the children of those we kill become
// ours in turn, and each death is an event that comes back here, so that nobody remains. It returns true if there is
// nobody but those that stay, of whom no such event can be expected.
func (s *shutdown) sweep() bool {
	sig := syscall.SIGTERM
	if s.force {
		sig = syscall.SIGKILL
	}
	s.job.mu.Lock()
	defer s.job.mu.Unlock()
	left := slices.DeleteFunc(children(), func(pid int) bool { return slices.Contains(s.job.staying, pid) })
	for _, pid := range left {
		if pid != s.job.guard {
			syscall.Kill(pid, sig)
		}
	}
	if len(left) == 1 && left[0] == s.job.guard {
		syscall.Kill(s.job.guard, syscall.SIGKILL)
	}
	return len(left) == 0 && len(s.job.staying) > 0
}
