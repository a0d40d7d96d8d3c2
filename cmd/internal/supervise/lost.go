package supervise

import (
	"fmt"
	"slices"
	"syscall"
)

// A fault-tolerant job (Config.Recovery) goes on without ranks that end abnormally. A rank is lost, and ends nobody
// else, if it ends so between MPI_Init and MPI_Finalize, and its job has formed: the ranks know of each other. Before
// that, others wait in MPI_Init for every rank, and its end is theirs. A rank that ends badly after MPI_Finalize, or in
// a set of which nobody calls MPI_Init, ends nobody either, and its code is that of the job. MPI_Abort ends all.
//
// Losses are no cause of the job's end. If the survivors end well, the job does.

// Loss is a rank without which the job goes on.
type Loss struct {
	Origin
	Did     string   // "was killed by signal 9 ..."
	Code    int      // that of the job if nobody survives
	Failure *Failure // what Did says in parts, and more; nil: that is all
}

// loses reports whether the end of a rank, as it stands, is a loss.
func (l *jobTable) loses(e *entry) bool {
	return l.spare && e.formed && !l.doomed && !l.signalled && e.phase == inside
}

// dooms reports whether the others have to end with a rank that has ended abnormally, and is not lost.
func (l *jobTable) dooms(e *entry) bool {
	switch {
	case e.phase == finalized:
		return false // nobody can be waiting for it
	case l.spare && e.phase == outside:
		return l.anyInside(e.lives) >= 0
	}
	return true
}

// lose notes a loss. The code is that of the job if nobody survives.
func (l *jobTable) lose(rank int, c Cause, did string) {
	e := &l.entries[rank]
	e.lost = true
	who := l.origin(e)
	c.Text = who.String() + " " + did
	if c.Failure != nil {
		c.Failure.Origins, c.Failure.Did = []Origin{who}, did
	}
	if l.firstLost == nil {
		l.firstLost = &c
	}
	if l.lost != nil {
		l.news = append(l.news, func() { l.lost(rank, Loss{who, did, c.Code, c.Failure}) })
	}
}

// abandoned notes that the program by which a rank was in MPI has ended without MPI_Finalize, while the rank's process
// goes on. It returns false if that is no loss.
func (l *jobTable) abandoned(rank, pid int) bool {
	if !l.loses(&l.entries[rank]) {
		return false
	}
	l.lose(rank, Cause{Code: 1}, leftMPI(pid))
	return true
}

func leftMPI(pid int) string {
	return fmt.Sprintf("process %d, which was in MPI as this rank, has ended without MPI_Finalize", pid)
}

// Formed notes that n ranks of a set, from first on, know of each other, and can go on without one.
func (s *Set) Formed(first, n int) {
	s.job.note(func(*jobTable) {
		for i := first; i < first+n; i++ {
			s.table.entries[i].formed = true
		}
	})
}

// Abandoned notes that a program of a rank, which is not the rank's process, has ended in MPI.
func (s *Set) Abandoned(rank, pid int) {
	s.job.note(func(*jobTable) {
		if !s.table.abandoned(rank, pid) {
			s.job.add(outcome{set: s, rank: rank, aborted: true, code: 1, text: leftMPI(pid), answer: true})
		}
	})
}

// NoSurvivor is the loss of the first rank, as a cause, if all ranks were lost; else nil. Those that they have spawned
// do not count: most of them have ended long before. It is for after Wait.
func (j *Job) NoSurvivor() *Cause {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.table.survivors > 0 {
		return nil
	}
	return j.table.firstLost
}

// tellLosses tells of losses that were noted. It is called without the lock.
func (j *Job) tellLosses() {
	j.mu.Lock()
	news := j.table.news
	j.table.news = nil
	j.mu.Unlock()
	for _, tell := range news {
		tell()
	}
}

// Condemn ends ranks of a fault-tolerant job, without which others go on already, and says why. It does nothing to
// those that have ended, are about to, or have left MPI.
func (s *Set) Condemn(why string, ranks ...int) {
	s.job.mu.Lock()
	defer s.job.mu.Unlock()
	for pid, m := range s.job.living {
		if m.set != s || !slices.Contains(ranks, m.rank) || !s.table.loses(m.entry()) {
			continue
		}
		if st, ok := readStat(pid); ok && !st.dying() {
			m.entry().condemned = why
			m.send(pid, syscall.SIGKILL)
		}
	}
}
