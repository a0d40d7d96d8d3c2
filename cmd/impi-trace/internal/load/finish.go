package load

import (
	"cmp"
	"slices"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// finish puts calls into the order of their begin, and drops receives that got nothing.
func (r *rank) finish() {
	r.HeadLost = !r.f.First()
	r.TailLost = r.f.Lost > 0 || !r.f.Whole
	has := func(word string) bool {
		return slices.ContainsFunc(r.f.Problems, func(p string) bool { return strings.Contains(p, word) })
	}
	if cut := has("cut off"); cut || has("damaged") || has("cannot be") {
		r.TailLost = true
		r.HeadLost = r.HeadLost || has("damaged") || !cut // something is missing in the middle
	}
	if !slices.IsSortedFunc(r.Calls, func(a, b job.Call) int { return cmp.Compare(a.Start, b.Start) }) {
		r.sort()
	}
	r.Receives = slices.DeleteFunc(r.Receives, func(h job.Half) bool { return h.Peer < 0 || h.Tag < 0 })
	r.Sends = slices.DeleteFunc(r.Sends, func(h job.Half) bool { return h.Peer < 0 })
	r.lifetime()
	r.f, r.s, r.comms, r.sites, r.pending, r.templates = nil, nil, nil, nil, nil, nil
}

// lifetime says when the rank began and ended: in MPI_Init and MPI_Finalize, if the file has that. What it computed
// before its first call and after its last one counts.
func (r *rank) lifetime() {
	c, align := &r.f.Clock, r.f.Clock.AtStart
	begin, end := c.Start.Monotonic+align.Offset, int64(0)
	if c.End.Ticks != 0 {
		if c.AtEnd.Known {
			align = c.AtEnd
		}
		end = c.End.Monotonic + align.Offset
	}
	if len(r.Calls) == 0 {
		r.Begin, r.End = begin, max(begin, min(end, begin+mostBefore))
		r.Missing = begin < 0 || begin > latest
		return
	}
	r.Begin, r.End = r.Calls[0].Start, 0
	for i := range r.Calls {
		r.End = max(r.End, r.Calls[i].End)
	}
	if begin < r.Begin && begin >= max(0, r.Begin-mostBefore) && !r.HeadLost {
		r.Begin = begin
	}
	if end > r.End && end <= r.End+mostBefore && !r.TailLost {
		r.End = end
	}
}

// latest is the last time that is believed, in the year 2116: differences of times do not overflow.
const latest = int64(1 << 62)

// mostBefore is how long before its first call a process may have begun, in nanoseconds, for the header to be believed.
const mostBefore = int64(30 * 24 * 3600 * 1e9)

// sort sorts calls by their begin, and what refers to them.
func (r *rank) sort() {
	order := make([]int32, len(r.Calls))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(r.Calls[a].Start, r.Calls[b].Start) })
	calls, to := make([]job.Call, len(order)), make([]int32, len(order))
	for now, before := range order {
		calls[now], to[before] = r.Calls[before], int32(now)
	}
	r.Calls = calls
	moved := func(call int32) int32 {
		if call < 0 {
			return call
		}
		return to[call]
	}
	for _, list := range [][]job.Half{r.Sends, r.Receives} {
		for i := range list {
			list[i].Call, list[i].Done = moved(list[i].Call), moved(list[i].Done)
		}
		slices.SortStableFunc(list, func(a, b job.Half) int { return cmp.Compare(a.Call, b.Call) })
	}
	for i := range r.Parts {
		r.Parts[i].Call, r.Parts[i].Done = moved(r.Parts[i].Call), moved(r.Parts[i].Done)
	}
	slices.SortStableFunc(r.Parts, func(a, b job.Part) int { return cmp.Compare(a.Call, b.Call) })
}
