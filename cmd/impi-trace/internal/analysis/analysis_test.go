package analysis

import (
	"cmp"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

// random calls a test with jobs of random steps.
func random(t *testing.T, check func(t *testing.T, s *jobtest.Sim)) {
	for seed := range int64(200) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			source := rand.New(rand.NewSource(seed))
			check(t, jobtest.Random(source, 1+source.Intn(8), source.Intn(120)))
		})
	}
}

func TestEachReceiveGetsItsSend(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		messages, unsent, unread := match(s.Job)
		if unsent != 0 || unread != 0 {
			t.Fatalf("%d receives and %d sends are alone", unsent, unread)
		}
		checkPairs(t, messages, s.Pairs)
	})
}

func checkPairs(t *testing.T, messages []Message, want [][4]int32) {
	t.Helper()
	got := make([][4]int32, len(messages))
	for i, m := range messages {
		got[i] = [4]int32{m.From, m.Send, m.To, m.Receive}
	}
	order := func(a, b [4]int32) int { return slices.Compare(a[:], b[:]) }
	want = slices.Clone(want)
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Fatalf("%v\nwant\n%v", got, want)
	}
}

// cut removes the first calls of a rank from a simulated job, as a recorder does that keeps the newest.
func cut(s *jobtest.Sim, rank int32, calls int32) {
	r := &s.Job.Ranks[rank]
	r.HeadLost = true
	r.Calls = r.Calls[calls:]
	halves := func(list []job.Half) (kept []job.Half, dropped int32) {
		for _, h := range list {
			if h.Call < calls {
				dropped++
				continue
			}
			h.Call, h.Done = h.Call-calls, h.Done-calls
			kept = append(kept, h)
		}
		return kept, dropped
	}
	var sends, receives int32
	r.Sends, sends = halves(r.Sends)
	r.Receives, receives = halves(r.Receives)
	var parts []job.Part
	for _, p := range r.Parts {
		if p.Call >= calls {
			p.Call, p.Done = p.Call-calls, p.Done-calls
			parts = append(parts, p)
		}
	}
	r.Parts = parts
	pairs := s.Pairs[:0]
	for _, p := range s.Pairs {
		if p[0] == rank {
			p[1] -= sends
		}
		if p[2] == rank {
			p[3] -= receives
		}
		if p[1] >= 0 && p[3] >= 0 {
			pairs = append(pairs, p)
		}
	}
	s.Pairs = pairs
}

func TestWithoutTheOldestCallsMessagesArePairedFromTheEnd(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		for rank := 0; rank < len(s.Job.Ranks); rank += 2 {
			cut(s, int32(rank), int32(len(s.Job.Ranks[rank].Calls)/3))
		}
		messages, _, _ := match(s.Job)
		checkPairs(t, messages, s.Pairs)
	})
}

func TestNothingIsPairedIfBothEndsAreLost(t *testing.T) {
	s := jobtest.New(2)
	s.Message(0, 1, 8, 0, false)
	s.Finish()
	s.Job.Ranks[0].HeadLost, s.Job.Ranks[1].TailLost = true, true
	if messages, unsent, unread := match(s.Job); len(messages) != 0 || unsent != 1 || unread != 1 {
		t.Errorf("%v, %d, %d", messages, unsent, unread)
	}
}

func TestOperationsHaveTheSameMembersFromBothEnds(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		whole := operations(s.Job)
		of := map[Member]int{}
		for i := range whole.Len() {
			for _, m := range whole.At(i) {
				of[m] = i
			}
		}
		before := len(s.Job.Ranks[0].Parts)
		cut(s, 0, int32(len(s.Job.Ranks[0].Calls)/2))
		dropped := int32(before - len(s.Job.Ranks[0].Parts))
		late := operations(s.Job)
		for i := range late.Len() {
			together := map[int]bool{}
			for _, m := range late.At(i) {
				if m.Rank == 0 {
					m.Part += dropped
				}
				together[of[m]] = true
			}
			if len(together) != 1 {
				t.Fatalf("operation %d has members of %v", i, together)
			}
		}
	})
}

func TestNumbersOfTheTraceCount(t *testing.T) {
	s := jobtest.New(3)
	s.Collective(jobtest.Barrier, 0, -1)
	s.Collective(jobtest.Barrier, 0, -1)
	s.Finish()
	for r := range s.Job.Ranks {
		for i := range s.Job.Ranks[r].Parts {
			s.Job.Ranks[r].Parts[i].Number, s.Job.Ranks[r].Parts[i].Numbered = int32(10+i), true
		}
	}
	s.Job.Ranks[1].Parts = s.Job.Ranks[1].Parts[1:]
	ops := operations(s.Job)
	if ops.Len() != 2 || len(ops.At(0)) != 2 || len(ops.At(1)) != 3 {
		t.Errorf("%+v", ops)
	}
}

func TestWaitsAreWhatTheSimulatorMadeRanksWait(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		r := Analyze(s.Job)
		got := []jobtest.Truth{}
		for rank, list := range r.Waits {
			for _, w := range list {
				got = append(got, jobtest.Truth{Rank: int32(rank), Call: w.Call, By: w.By, Length: w.Length()})
			}
		}
		order := func(a, b jobtest.Truth) int {
			return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Call, b.Call))
		}
		want := slices.Clone(s.Waits)
		slices.SortFunc(want, order)
		same := slices.EqualFunc(got, want, func(a, b jobtest.Truth) bool {
			return a.Rank == b.Rank && a.Call == b.Call && a.Length == b.Length
		})
		if !same {
			t.Fatalf("%+v\nwant\n%+v", got, want)
		}
	})
}

// slowPath is the critical path, found by looking at all waits in each step.
func slowPath(j *job.Job, waits [][]Wait) (path []Segment) {
	rank := int32(0)
	for i := range j.Ranks {
		if j.Ranks[i].End > j.Ranks[rank].End {
			rank = int32(i)
		}
	}
	at, call := j.Ranks[rank].End, int32(-1)
	for {
		var last *Wait
		for i := range waits[rank] {
			if w := &waits[rank][i]; w.End < at && (last == nil || w.End >= last.End) {
				last = w
			}
		}
		if last == nil {
			path = append(path, Segment{j.Ranks[rank].Begin, at, rank, call})
			slices.Reverse(path)
			return path
		}
		path = append(path, Segment{last.End, at, rank, call})
		rank, at, call = last.By, last.End, last.ByCall
	}
}

func TestTheCriticalPathIsThatOfASlowSearch(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		r := Analyze(s.Job)
		if want := slowPath(s.Job, r.Waits); !slices.Equal(r.Path, want) {
			t.Fatalf("%v\nwant\n%v", r.Path, want)
		}
		if r.Length != s.Job.Span() {
			t.Errorf("the path is %d long, the job %d", r.Length, s.Job.Span())
		}
		for i := 1; i < len(r.Path); i++ {
			if r.Path[i].From != r.Path[i-1].To {
				t.Fatalf("the path has a gap: %v", r.Path[i-1:i+1])
			}
		}
	})
}

func TestSumsAddUp(t *testing.T) {
	random(t, func(t *testing.T, s *jobtest.Sim) {
		r := Analyze(s.Job)
		var calls, time, waited, caused, onPath, before int64
		for _, row := range r.Table {
			calls += row.Calls
			time += row.Time
			waited += row.Waited()
			caused += row.Caused
			onPath += row.OnPath
			before += row.Before
		}
		var byRank, mpi, causedBy, path int64
		for _, sum := range r.Ranks {
			byRank += sum.Waited()
			mpi += sum.MPI
			causedBy += sum.Caused
			path += sum.OnPath
		}
		if calls != int64(s.Job.Count()) || time != mpi || waited != byRank || caused != waited || causedBy != waited {
			t.Errorf("calls %d of %d, time %d and %d, waits %d, %d, %d, %d", calls, s.Job.Count(), time, mpi, waited, byRank,
				caused, causedBy)
		}
		if path != r.Length || onPath+before != r.Length {
			t.Errorf("path %d, of ranks %d, of calls %d", r.Length, path, onPath+before)
		}
		var messages, bySize int64
		for _, p := range r.Pairs {
			messages += p.Messages
		}
		for _, size := range r.Sizes {
			bySize += size.Messages
		}
		if messages != int64(len(s.Pairs)) || bySize != messages {
			t.Errorf("messages %d, %d, %d", messages, bySize, len(s.Pairs))
		}
	})
}

func TestTheRankThatComputesLongerIsFound(t *testing.T) {
	j := jobtest.Uneven(4, 50, 2)
	r := Analyze(j)
	for rank, sum := range r.Ranks {
		if rank != 2 && sum.Caused > r.Ranks[2].Caused/10 {
			t.Errorf("rank %d is said to be late", rank)
		}
	}
	late := r.Ranks[2].Late
	if name := j.Name(&j.Ranks[2].Calls[max(0, late)]); late < 0 || name != "MPI_Waitall" && name != "MPI_Allreduce" {
		t.Errorf("late at call %d", late)
	}
	if share := r.Ranks[2].OnPath; share < r.Length*9/10 {
		t.Errorf("only %d of the path's %d ns are rank 2's", share, r.Length)
	}
}

func TestASendThatFindsTheReceiverComputingWaitsForIt(t *testing.T) {
	j := jobtest.New(2).Finish()
	one := []job.Call{{Start: 0, End: 50000, Function: jobtest.Send, Comm: 0, Peer: 1}}
	two := []job.Call{{Start: 0, End: 100, Function: jobtest.Irecv}, {Start: 40000, End: 51000, Function: jobtest.Waitall}}
	j.Ranks[0] = job.Rank{End: 50000, Calls: one, Sends: []job.Half{{Call: 0, Done: 0, Peer: 1}}}
	j.Ranks[1] = job.Rank{End: 51000, Calls: two, Receives: []job.Half{{Call: 0, Done: 1, Peer: 0}}}
	j.Ranks[0].Calls[0].Start = 200
	for way, want := range map[job.Way]Cause{job.Rendezvous: Handshake, job.Unknown: Handshake, job.Eager: Pressure} {
		j.Ranks[0].Sends[0].Way, j.Ranks[0].Sends[0].Bytes = way, 1<<20
		r := Analyze(j)
		if len(r.Waits[0]) != 1 || r.Waits[0][0].Cause != want || r.Waits[0][0].Length() != 39800 {
			t.Errorf("%v: %+v", way, r.Waits[0])
		}
	}
}

func TestClocksThatDifferAreNoticed(t *testing.T) {
	s := jobtest.New(2)
	s.Message(0, 1, 8, 0, false)
	s.Finish()
	for i := range s.Job.Ranks[0].Calls {
		s.Job.Ranks[0].Calls[i].Start += 5000
		s.Job.Ranks[0].Calls[i].End += 5000
	}
	if r := Analyze(s.Job); r.Backward != 1 || r.Skew <= 0 || r.Skew > 5000 {
		t.Errorf("%d messages, %d ns", r.Backward, r.Skew)
	}
}

func TestEmptyJobsHaveNoPath(t *testing.T) {
	for _, j := range []*job.Job{{}, {Ranks: []job.Rank{{Missing: true}}}} {
		if r := Analyze(j); len(r.Path) != 0 || len(r.Table) != 0 {
			t.Errorf("%+v", r)
		}
	}
}

func TestCausesHaveNames(t *testing.T) {
	for _, c := range Causes {
		if c.String() == "" {
			t.Errorf("cause %d", c)
		}
	}
}
