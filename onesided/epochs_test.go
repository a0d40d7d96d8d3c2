package onesided

import (
	"strings"
	"testing"
)

// step is one call, by its name, and whether it is allowed.
type step struct {
	call string
	says string // in the refusal; "": allowed
}

func (s *Epochs) call(name string) error {
	var err *Error
	switch name {
	case "put 1":
		err = s.Access(1)
	case "put 2":
		err = s.Access(2)
	case "rput 1":
		err = s.Request(1)
	case "fence", "fence last":
		if err = s.Fence(); err == nil {
			s.Fenced(name == "fence last")
		}
	case "start 1":
		err = s.Start([]int{1})
	case "complete":
		if _, err = s.Started(); err == nil {
			s.Completed()
		}
	case "post":
		err = s.Post([]int{0})
	case "wait":
		if _, err = s.Posted("MPI_Win_wait"); err == nil {
			s.Waited()
		}
	case "lock 1":
		err = s.Lock(1, Shared)
	case "lock 2":
		err = s.Lock(2, Exclusive)
	case "unlock 1":
		if _, err = s.Locked(1); err == nil {
			s.Unlocked(1)
		}
	case "unlock 2":
		if _, err = s.Locked(2); err == nil {
			s.Unlocked(2)
		}
	case "lock_all":
		err = s.LockAll(Shared)
	case "unlock_all":
		if _, err = s.LockedAll(); err == nil {
			s.UnlockedAll()
		}
	case "flush 1":
		err = s.Flush(1, "MPI_Win_flush")
	case "flush_all":
		err = s.FlushAll("MPI_Win_flush_all")
	case "free":
		err = s.Free()
	}
	if err == nil {
		return nil
	}
	return err
}

func TestCallsAreAllowedInTheirEpochsOnly(t *testing.T) {
	for _, trace := range [][]step{
		{{"put 1", "no access epoch"}, {"complete", "MPI_Win_start"}, {"wait", "MPI_Win_post"}, {"unlock 1", "MPI_Win_lock"},
			{"unlock_all", "MPI_Win_lock_all"}, {"flush 1", "MPI_Win_lock"}, {"flush_all", "MPI_Win_lock_all"}, {"free", ""}},
		{{"fence", ""}, {"put 1", ""}, {"rput 1", "with a request"}, {"lock 1", "MPI_MODE_NOSUCCEED"}, {"start 1", "fence"},
			{"free", "MPI_Win_fence"}, {"fence", ""}, {"free", ""}},
		{{"fence", ""}, {"lock 1", ""}, {"fence", "MPI_Win_unlock"}, {"unlock 1", ""}, {"put 1", "no access epoch"}},
		{{"fence", ""}, {"put 1", ""}, {"fence last", ""}, {"put 1", "no access epoch"}},
		{{"start 1", ""}, {"put 1", ""}, {"put 2", "must contain target rank 2"}, {"start 1", "MPI_Win_complete"},
			{"lock 2", "MPI_Win_complete"}, {"free", "MPI_Win_complete"}, {"post", ""}, {"fence", "MPI_Win_wait"},
			{"complete", ""}, {"free", "MPI_Win_wait"}, {"post", "MPI_Win_wait"}, {"wait", ""}, {"free", ""}},
		{{"lock 1", ""}, {"put 1", ""}, {"rput 1", ""}, {"flush 1", ""}, {"put 2", "MPI_Win_lock for target rank 2"},
			{"lock 2", ""}, {"put 2", ""}, {"lock 1", "MPI_Win_unlock"}, {"lock_all", "MPI_Win_unlock"}, {"unlock 1", ""},
			{"flush 1", "MPI_Win_lock"}, {"put 2", ""}, {"free", "MPI_Win_unlock"}, {"unlock 2", ""}, {"lock_all", ""}},
		{{"lock_all", ""}, {"put 2", ""}, {"rput 1", ""}, {"unlock 1", "MPI_Win_unlock_all"}, {"flush_all", ""},
			{"lock 1", "MPI_Win_unlock_all"}, {"fence", "MPI_Win_unlock_all"}, {"unlock_all", ""}, {"free", ""}},
	} {
		s := NewEpochs(NewView(3))
		for i, step := range trace {
			err := s.call(step.call)
			switch {
			case step.says == "" && err != nil:
				t.Errorf("%v, step %d: %v", trace, i, err)
			case step.says != "" && (err == nil || !strings.Contains(err.Error(), step.says)):
				t.Errorf("%v, step %d: %v, which does not say %q", trace, i, err, step.says)
			}
		}
	}
}
