package analysis

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Row is a line of the table of calls: a function at a site of the program, of all ranks.
type Row struct {
	Function uint16
	Site     int32
	Calls    int64
	Bytes    int64
	Time     int64
	Longest  int64
	Waits    [6]int64 // by cause
	Caused   int64    // what others waited, until they came here
	OnPath   int64    // its share of the critical path
	Before   int64    // of the critical path, time computed just before this call
	Ranks    int      // how many call it
	Most     int64    // the time of the rank that spent most
	MostRank int32
}

// Waited is what was waited in its calls.
func (r *Row) Waited() (sum int64) {
	for _, w := range r.Waits {
		sum += w
	}
	return sum
}

// RankSum is what one rank did.
type RankSum struct {
	Span   int64 // from its first to its last event
	MPI    int64 // in calls
	Waits  [6]int64
	Caused int64 // what others waited for it
	OnPath int64
	Late   int32 // the call with which it made others wait most; -1: none
	LateBy int64 // how long they waited for all calls of that function and site
	Calls  int
}

// Waited is what it waited.
func (r *RankSum) Waited() (sum int64) {
	for _, w := range r.Waits {
		sum += w
	}
	return sum
}

// Computing is its time outside of calls.
func (r *RankSum) Computing() int64 { return r.Span - r.MPI }

// key is a row's function and site.
type key struct {
	function uint16
	site     int32
}

// rows are the rows of one rank.
type rows struct {
	index  map[key]int32
	list   []Row
	recent key
	at     int32
}

func (t *rows) of(c *job.Call) *Row {
	k := key{c.Function, c.Site}
	if t.index == nil {
		t.index = map[key]int32{}
	} else if k == t.recent {
		return &t.list[t.at]
	}
	at, ok := t.index[k]
	if !ok {
		at = int32(len(t.list))
		t.index[k] = at
		t.list = append(t.list, Row{Function: k.function, Site: k.site})
	}
	t.recent, t.at = k, at
	return &t.list[at]
}

// table sums up calls by function and site, the most time first.
func table(j *job.Job, waits [][]Wait, path []Segment) []Row {
	tables := perRank(j, waits, path)
	var sum rows
	for rank := range tables {
		for i := range tables[rank].list {
			r := &tables[rank].list[i]
			s := sum.of(&job.Call{Function: r.Function, Site: r.Site})
			s.Calls += r.Calls
			s.Bytes += r.Bytes
			s.Time += r.Time
			s.Longest = max(s.Longest, r.Longest)
			for c := range r.Waits {
				s.Waits[c] += r.Waits[c]
			}
			s.OnPath += r.OnPath
			s.Before += r.Before
			s.Ranks++
			if r.Time > s.Most || s.Ranks == 1 {
				s.Most, s.MostRank = r.Time, int32(rank)
			}
		}
	}
	for rank := range waits {
		for i := range waits[rank] {
			w := &waits[rank][i]
			sum.of(&j.Ranks[w.By].Calls[w.ByCall]).Caused += w.Length()
		}
	}
	slices.SortFunc(sum.list, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Site, b.Site))
	})
	return sum.list
}

// perRank is the table of each rank, without what it caused.
func perRank(j *job.Job, waits [][]Wait, path []Segment) []rows {
	tables := make([]rows, len(j.Ranks))
	parts := make([][]Segment, len(j.Ranks))
	for _, s := range path {
		parts[s.Rank] = append(parts[s.Rank], s)
	}
	each(len(j.Ranks), func(rank int) {
		t, calls := &tables[rank], j.Ranks[rank].Calls
		for i := range calls {
			c := &calls[i]
			r := t.of(c)
			r.Calls++
			r.Bytes += c.Bytes
			r.Time += c.End - c.Start
			r.Longest = max(r.Longest, c.End-c.Start)
		}
		for i := range waits[rank] {
			w := &waits[rank][i]
			t.of(&calls[w.Call]).Waits[w.Cause] += w.Length()
		}
		walk(calls, parts[rank], func(call int32, computed, inside int64) {
			if call >= 0 {
				r := t.of(&calls[call])
				r.OnPath += inside
				r.Before += computed
			}
		})
	})
	return tables
}

// walk goes through the segments of one rank, which are in the order of time, and tells of each call there how much of
// it is on the path, and how much was computed before it; call -1 is the time after the last call.
func walk(calls []job.Call, parts []Segment, tell func(call int32, computed, inside int64)) {
	i := 0
	for _, s := range parts {
		at := s.From
		for i < len(calls) && calls[i].End <= at {
			i++
		}
		k := i
		for ; k < len(calls) && calls[k].Start < s.To; k++ {
			c := &calls[k]
			computed := max(0, c.Start-at)
			at = max(at, c.Start)
			inside := max(0, min(c.End, s.To)-at)
			at += inside
			tell(int32(k), computed, inside)
		}
		if k == len(calls) {
			k = -1
		}
		tell(int32(k), max(0, s.To-at), 0)
	}
}

// rankSums sums up what each rank did.
func rankSums(j *job.Job, waits [][]Wait, path []Segment) []RankSum {
	sums := make([]RankSum, len(j.Ranks))
	type blame struct {
		rank int32
		key
	}
	blames := map[blame]int64{}
	worst := map[blame]*Wait{}
	for rank := range waits {
		for i := range waits[rank] {
			w := &waits[rank][i]
			sums[rank].Waits[w.Cause] += w.Length()
			sums[w.By].Caused += w.Length()
			c := &j.Ranks[w.By].Calls[w.ByCall]
			b := blame{w.By, key{c.Function, c.Site}}
			blames[b] += w.Length()
			if old := worst[b]; old == nil || w.Length() > old.Length() {
				worst[b] = w
			}
		}
	}
	each(len(sums), func(rank int) {
		s, r := &sums[rank], &j.Ranks[rank]
		s.Span, s.Calls, s.Late = r.End-r.Begin, len(r.Calls), -1
		s.MPI = covered(r.Calls)
	})
	for b, length := range blames {
		s, call := &sums[b.rank], worst[b].ByCall
		if length > s.LateBy || length == s.LateBy && call < s.Late {
			s.Late, s.LateBy = call, length
		}
	}
	for _, s := range path {
		sums[s.Rank].OnPath += s.To - s.From
	}
	return sums
}

// covered is the time in which a rank was in at least one call.
func covered(calls []job.Call) (sum int64) {
	until := int64(-1 << 62)
	for i := range calls {
		c := &calls[i]
		if c.End > until {
			sum += c.End - max(c.Start, until)
			until = c.End
		}
	}
	return sum
}

// Pair is what one rank sent another.
type Pair struct {
	From, To int32
	Messages int64
	Bytes    int64
}

// Size is how many messages are of a size: from Least on, up to twice that.
type Size struct {
	Least    int64
	Messages int64
	Bytes    int64
}

// traffic sums up messages by who talks to whom, and by their sizes. Sends without a receive count, too.
func traffic(j *job.Job) (pairs []Pair, sizes []Size) {
	perRank := make([][]Pair, len(j.Ranks))
	bySize := make([][65]Size, len(j.Ranks))
	each(len(j.Ranks), func(rank int) {
		index := map[int32]int{}
		for i := range j.Ranks[rank].Sends {
			h := &j.Ranks[rank].Sends[i]
			at, ok := index[h.Peer]
			if !ok {
				at = len(perRank[rank])
				index[h.Peer] = at
				perRank[rank] = append(perRank[rank], Pair{From: int32(rank), To: h.Peer})
			}
			p := &perRank[rank][at]
			p.Messages++
			p.Bytes += h.Bytes
			s := &bySize[rank][bits.Len64(uint64(max(0, h.Bytes)))]
			s.Messages++
			s.Bytes += h.Bytes
		}
		slices.SortFunc(perRank[rank], func(a, b Pair) int { return cmp.Compare(a.To, b.To) })
	})
	for _, p := range perRank {
		pairs = append(pairs, p...)
	}
	for k := range 65 {
		sum := Size{}
		if k > 0 {
			sum.Least = 1 << (k - 1)
		}
		for rank := range bySize {
			sum.Messages += bySize[rank][k].Messages
			sum.Bytes += bySize[rank][k].Bytes
		}
		if sum.Messages > 0 {
			sizes = append(sizes, sum)
		}
	}
	return pairs, sizes
}
