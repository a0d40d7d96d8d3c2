package analysis

import (
	"cmp"
	"slices"
	"sort"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Segment is a part of the critical path: what one rank did from one time to another.
type Segment struct {
	From, To int64
	Rank     int32
	Call     int32 // the rank's call that ended somebody's wait, and so leads to the next segment; -1 in the last
}

// criticalPath is the chain of events that made the job as long as it was, from its first to its last event. It is
// found backward (Bohme and others, Scalable critical-path based performance analysis, 2012): from the end of the rank
// that ended last, back to the end of its last wait, from there to the rank that ended this wait, and so on.
func criticalPath(j *job.Job, waits [][]Wait) []Segment {
	ended := make([][]Wait, len(waits)) // by their end
	each(len(waits), func(i int) {
		ended[i] = slices.Clone(waits[i])
		slices.SortStableFunc(ended[i], func(a, b Wait) int { return cmp.Compare(a.End, b.End) })
	})
	rank, at := int32(-1), int64(-1)
	for i := range j.Ranks {
		if !j.Ranks[i].Missing && j.Ranks[i].End > at {
			rank, at = int32(i), j.Ranks[i].End
		}
	}
	if rank < 0 {
		return nil
	}
	var path []Segment
	call := int32(-1)
	for {
		w := lastBefore(ended[rank], at)
		if w == nil {
			path = append(path, Segment{min(j.Ranks[rank].Begin, at), at, rank, call})
			break
		}
		if w.End < at {
			path = append(path, Segment{w.End, at, rank, call})
		}
		rank, at, call = w.By, w.End, w.ByCall
	}
	slices.Reverse(path)
	return path
}

// lastBefore is the last wait that ended before a time.
func lastBefore(ended []Wait, at int64) *Wait {
	i := sort.Search(len(ended), func(i int) bool { return ended[i].End >= at })
	if i == 0 {
		return nil
	}
	return &ended[i-1]
}
