// Package load makes a job (package job) of the traces in a folder.
//
// Flow: folder -> the files of one job -> each file for itself, several at once (rank.go, finish.go): events become
// calls, and their items become halves of messages and parts of collective operations -> numbers that only a file knows
// (names of calls, communicators, sites) become the job's (shared.go) -> sites become lines of the program, times begin
// at 0.
package load

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// Window is a part of the job's time in nanoseconds; Calls that overlap it are loaded. The zero Window is all.
type Window struct{ From, To int64 }

// Folder loads a job of a folder: which-th (from 1), the one that began last first.
func Folder(dir string, which int, window Window, line Lines) (*job.Job, error) {
	if stat, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !stat.IsDir() {
		return nil, fmt.Errorf("%s is not a folder: give the folder that IMPI_TRACE named", dir)
	}
	jobs, problems := trace.OpenFolder(dir)
	defer func() {
		for _, j := range jobs {
			for _, f := range j.Files {
				f.Close()
			}
		}
	}()
	if len(jobs) == 0 {
		if len(problems) == 0 {
			return nil, fmt.Errorf("%s has no traces", dir)
		}
		return nil, fmt.Errorf("%w%s", problems[0], more(len(problems)-1))
	}
	if which < 1 || which > len(jobs) {
		return nil, fmt.Errorf("%s has traces of %d jobs, and no job %d", dir, len(jobs), which)
	}
	j := files(jobs[which-1].Files, window, line)
	for _, p := range problems {
		j.Faults = append(j.Faults, p.Error())
	}
	if n := len(jobs); n > 1 {
		j.Faults = append(j.Faults, fmt.Sprintf("the folder has traces of %d jobs; this is number %d (-job)", n, which))
	}
	return j, nil
}

func more(n int) string {
	if n < 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// mostRanks bounds the size of a job that is believed.
const mostRanks = 1 << 20

// files loads the files of a job.
func files(list []*trace.File, window Window, line Lines) *job.Job {
	size := list[0].Size
	for _, f := range list {
		size = min(size, f.Size, mostRanks)
	}
	s := newShared(size)
	ranks := make([]rank, len(list))
	var group sync.WaitGroup
	next := make(chan int)
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				ranks[i] = read(list[i], s)
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	group.Wait()
	j := s.job()
	j.Program = filepath.Base(list[0].Program)
	j.Ranks = make([]job.Rank, size)
	for i := range j.Ranks {
		j.Ranks[i].Missing = true
	}
	var problems []string
	of := map[string][]int{} // ranks that have a problem
	for i, f := range list {
		at := int(f.Rank)
		if at >= len(j.Ranks) || !j.Ranks[at].Missing {
			j.Faults = append(j.Faults, fmt.Sprintf("%s: another trace of rank %d of %d; it is left out", f.Path, f.Rank, size))
			continue
		}
		j.Ranks[at] = ranks[i].Rank
		for _, p := range f.Problems {
			if of[p] == nil {
				problems = append(problems, p)
			}
			of[p] = append(of[p], at)
		}
	}
	for _, p := range problems {
		j.Faults = append(j.Faults, fmt.Sprintf("%s: %s", ranksText(of[p]), p))
	}
	start(j)
	if window != (Window{}) {
		cut(j, window)
	}
	j.Faults = append(j.Faults, missing(j)...)
	j.Faults = append(j.Faults, clocks(list)...)
	resolve(j, s.places, line)
	return j
}

// start lets times begin at 0.
func start(j *job.Job) {
	first := int64(1<<63 - 1)
	for i := range j.Ranks {
		if r := &j.Ranks[i]; !r.Missing {
			first = min(first, r.Begin)
		}
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if r.Missing {
			continue
		}
		r.Begin -= first
		r.End -= first
		for k := range r.Calls {
			r.Calls[k].Start -= first
			r.Calls[k].End -= first
		}
	}
}

// missing says of which ranks there is no trace.
func missing(j *job.Job) []string {
	var list []int
	for i := range j.Ranks {
		if j.Ranks[i].Missing {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d ranks have no trace: %s", len(list), len(j.Ranks), ranksText(list))}
}

// ranksText is a list of ranks, which are sorted, in words: ranks 0-3,7.
func ranksText(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	text := "ranks "
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if i > 0 {
			text += ","
		}
		text += fmt.Sprint(list[i])
		if k > i {
			text += fmt.Sprintf("-%d", list[k])
		}
		i = k + 1
	}
	return text
}

// clocks says where times of different machines cannot be compared.
func clocks(list []*trace.File) (faults []string) {
	boots := map[string]bool{}
	for _, f := range list {
		boots[f.Boot] = true
	}
	if len(boots) < 2 {
		return nil
	}
	unknown, worst := 0, int64(0)
	for _, f := range list {
		wrong, known := f.Aligned()
		if !known {
			unknown++
		}
		worst = max(worst, wrong)
	}
	if unknown > 0 {
		faults = append(faults, fmt.Sprintf("the clocks of %d ranks were not compared with rank 0's: waits between "+
			"machines may be wrong", unknown))
	}
	if worst > 20000 {
		faults = append(faults, fmt.Sprintf("clocks of machines may differ by %d µs", worst/1000))
	}
	return faults
}

// cut keeps the calls that overlap a window, and what began in them.
func cut(j *job.Job, w Window) {
	if w.To == 0 {
		w.To = 1<<63 - 1
	}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		at := make([]int32, len(r.Calls))
		var calls []job.Call
		for k, c := range r.Calls {
			at[k] = -1
			if c.End >= w.From && c.Start < w.To {
				at[k] = int32(len(calls))
				calls = append(calls, c)
			}
		}
		moved := func(call int32) int32 {
			if call < 0 {
				return -1
			}
			return at[call]
		}
		r.HeadLost = r.HeadLost || len(calls) > 0 && at[0] < 0
		r.TailLost = r.TailLost || len(calls) > 0 && at[len(at)-1] < 0
		halves := func(list []job.Half) []job.Half {
			for k := range list {
				list[k].Call, list[k].Done = moved(list[k].Call), moved(list[k].Done)
			}
			return slices.DeleteFunc(list, func(h job.Half) bool { return h.Call < 0 })
		}
		r.Sends, r.Receives = halves(r.Sends), halves(r.Receives)
		for k := range r.Parts {
			r.Parts[k].Call, r.Parts[k].Done = moved(r.Parts[k].Call), moved(r.Parts[k].Done)
		}
		r.Parts = slices.DeleteFunc(r.Parts, func(p job.Part) bool { return p.Call < 0 })
		r.Calls = calls
		r.Begin, r.End = max(r.Begin, w.From), min(r.End, w.To)
	}
}
