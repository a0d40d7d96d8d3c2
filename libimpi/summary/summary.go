// Package summary is the page that says at the end of a job where its time went (IMPI_SUMMARY): what processes have
// counted, merged two by two, and the page as text, HTML and JSON. It knows nothing of the engine.
//
// Flow: each process makes a Summary of its own -> Merge, along a tree -> Text, HTML or JSON at the first.
package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"time"
)

// Summary is what some processes of a job have counted between MPI_Init and MPI_Finalize. Times are nanoseconds.
type Summary struct {
	Program string    `json:"program"`
	Begin   time.Time `json:"begin"`
	Size    int       `json:"size"`    // of MPI_COMM_WORLD
	Clients int       `json:"clients"` // of IMPI that it consists of
	Client  int       `json:"client"`  // whose processes these are
	Ranks   []Rank    `json:"ranks"`   // by rank
	Calls   []Call    `json:"calls"`
	Sites   []Call    `json:"sites"` // the same by where they were called; those beyond MostSites are together
	// Sizes are messages that were sent, by distance, and by how long they were: see Bucket.
	Sizes [Distances][Buckets]Traffic `json:"sizes"`
	// Pairs are messages from block to block of so many ranks: Width is 1 in jobs of up to MostBlocks.
	Width      int         `json:"width"`
	Pairs      []Pair      `json:"pairs"`
	Waited     []Waited    `json:"waited_for"` // time in receives, by the rank (or block) whose message they got
	Algorithms []Algorithm `json:"algorithms"`
}

// Limits of a summary that is sent.
const (
	MostSites  = 256
	MostBlocks = 128
	Buckets    = 42 // by length in bytes: 0, 1, 2 to 3, 4 to 7 ..., and all from 2^40 on
)

// Bucket is where a length counts.
func Bucket(bytes int64) int { return min(bits.Len64(uint64(max(bytes, 0))), Buckets-1) }

// Distance is how far a message goes.
type Distance int

// The distances.
const (
	Self Distance = iota
	Machine
	Client
	Abroad
	Distances
)

func (d Distance) String() string {
	return [...]string{"to itself", "same machine", "other machine", "other client"}[d]
}

// Traffic is messages, and the bytes of their data.
type Traffic struct {
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

func (t *Traffic) add(o Traffic) { t.Messages, t.Bytes = t.Messages+o.Messages, t.Bytes+o.Bytes }

// Rank is one process.
type Rank struct {
	Rank     int32  `json:"rank"`
	Machine  string `json:"machine"`
	PID      int    `json:"pid"`
	Time     int64  `json:"time_ns"`   // from MPI_Init to MPI_Finalize
	MPI      int64  `json:"mpi_ns"`    // in calls; of several threads, the sum
	Asleep   int64  `json:"asleep_ns"` // of it, in waits that slept
	Memory   int64  `json:"memory"`    // the most bytes that it had in memory
	Calls    uint64 `json:"calls"`
	Threads  int    `json:"threads"` // that have called MPI
	Sent     int64  `json:"sent"`    // bytes of messages, of its own calls
	Received int64  `json:"received"`
}

// Call is what was counted of a call, or of its calls from one place.
type Call struct {
	Name     string  `json:"name"`
	Place    string  `json:"place,omitempty"` // FILE+OFFSET, or FILE:LINE; "": of Calls, or other places
	Ranks    int     `json:"ranks"`           // that have called it
	Count    uint64  `json:"count"`
	Time     int64   `json:"time_ns"` // of all ranks together
	Longest  int64   `json:"longest_ns"`
	Sent     int64   `json:"sent"`
	Received int64   `json:"received"`
	Least    Extreme `json:"least"` // of the ranks that have called it, by their time in it
	Most     Extreme `json:"most"`
}

// Extreme is a rank's time in a call.
type Extreme struct {
	Rank int32 `json:"rank"`
	Time int64 `json:"time_ns"`
}

// Pair is messages from one rank, or block of ranks, to another.
type Pair struct {
	From int32 `json:"from"`
	To   int32 `json:"to"`
	Traffic
}

// Waited is time in receives that got a message of a rank, or block of ranks.
type Waited struct {
	For  int32 `json:"for"`
	Time int64 `json:"time_ns"`
}

// Algorithm is how often an operation was carried out so.
type Algorithm struct {
	Operation string `json:"operation"`
	Name      string `json:"name"`
	Times     uint64 `json:"times"`
}

// WidthFor is Width of a job.
func WidthFor(size int) int { return (size + MostBlocks - 1) / MostBlocks }

// Merge adds what other processes of the job have counted.
func (s *Summary) Merge(o *Summary) {
	if s.Begin.After(o.Begin) {
		s.Begin = o.Begin
	}
	s.Ranks = append(s.Ranks, o.Ranks...)
	slices.SortFunc(s.Ranks, func(a, b Rank) int { return cmp.Compare(a.Rank, b.Rank) })
	s.Calls = mergeCalls(s.Calls, o.Calls)
	s.Sites = bound(mergeCalls(s.Sites, o.Sites))
	for d := range s.Sizes {
		for i := range s.Sizes[d] {
			s.Sizes[d][i].add(o.Sizes[d][i])
		}
	}
	s.Pairs = merge(s.Pairs, o.Pairs, comparePairs, func(p *Pair, q Pair) { p.add(q.Traffic) })
	s.Waited = merge(s.Waited, o.Waited, func(a, b Waited) int { return cmp.Compare(a.For, b.For) },
		func(w *Waited, v Waited) { w.Time += v.Time })
	s.Algorithms = merge(s.Algorithms, o.Algorithms, func(a, b Algorithm) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Name, b.Name))
	}, func(a *Algorithm, b Algorithm) { a.Times = max(a.Times, b.Times) }) // all members take the same one
}

func comparePairs(a, b Pair) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) }

func compareCalls(a, b Call) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Place, b.Place))
}

func mergeCalls(a, b []Call) []Call { return merge(a, b, compareCalls, (*Call).add) }

// merge joins two lists, and entries that are the same. Neither has to be sorted.
func merge[E any](a, b []E, compare func(a, b E) int, add func(a *E, b E)) (all []E) {
	sorted := slices.Concat(a, b)
	slices.SortStableFunc(sorted, compare)
	for _, e := range sorted {
		if n := len(all); n > 0 && compare(all[n-1], e) == 0 {
			add(&all[n-1], e)
		} else {
			all = append(all, e)
		}
	}
	return all
}

func (c *Call) add(o Call) {
	c.Ranks, c.Count, c.Time = c.Ranks+o.Ranks, c.Count+o.Count, c.Time+o.Time
	c.Sent, c.Received, c.Longest = c.Sent+o.Sent, c.Received+o.Received, max(c.Longest, o.Longest)
	if by := cmp.Compare(o.Least.Time, c.Least.Time); by < 0 || by == 0 && o.Least.Rank < c.Least.Rank {
		c.Least = o.Least
	}
	if by := cmp.Compare(o.Most.Time, c.Most.Time); by > 0 || by == 0 && o.Most.Rank < c.Most.Rank {
		c.Most = o.Most
	}
}

// bound keeps the places of calls that took most time.
func bound(sites []Call) []Call {
	if len(sites) <= MostSites {
		return sites
	}
	slices.SortStableFunc(sites, func(a, b Call) int { return cmp.Compare(b.Time, a.Time) })
	others := slices.Clone(sites[MostSites:])
	for i := range others {
		others[i].Place = ""
	}
	return mergeCalls(sites[:MostSites], others)
}

// Complete makes a process's own lists what the others expect: its calls by place become calls.
func (s *Summary) Complete() {
	s.Calls = nil
	for _, c := range s.Sites {
		c.Place = ""
		s.Calls = append(s.Calls, c)
	}
	s.Calls = merge(s.Calls, nil, compareCalls, (*Call).addOwn)
	s.Sites = bound(merge(s.Sites, nil, compareCalls, (*Call).addOwn))
	s.Pairs = merge(s.Pairs, nil, comparePairs, func(p *Pair, q Pair) { p.add(q.Traffic) })
}

// addOwn is add for calls of the same process.
func (c *Call) addOwn(o Call) {
	ranks := c.Ranks
	c.add(o)
	c.Ranks = ranks
	c.Least.Time, c.Most.Time = c.Time, c.Time
}

// Resolve finds the lines of the places that took most time.
func (s *Summary) Resolve(line func(place string) (string, bool)) {
	slices.SortStableFunc(s.Sites, func(a, b Call) int { return cmp.Compare(b.Time, a.Time) })
	for i := range s.Sites[:min(len(s.Sites), shownSites)] {
		if at, ok := line(s.Sites[i].Place); ok {
			s.Sites[i].Place = at
		}
	}
	s.Sites = merge(s.Sites, nil, compareCalls, func(c *Call, o Call) { // two calls of a line
		ranks := max(c.Ranks, o.Ranks)
		c.add(o)
		c.Ranks = ranks
	})
}

// Encode is the summary as it is sent.
func (s *Summary) Encode() ([]byte, error) { return json.Marshal(s) }

// Parse reads a summary of another process, and trusts nothing.
func Parse(b []byte) (*Summary, error) {
	s := &Summary{}
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("a process's summary: %w", err)
	}
	if s.Size < 1 || s.Width < 1 || s.Width != WidthFor(s.Size) || len(s.Ranks) == 0 {
		return nil, fmt.Errorf("a process's summary is of a job of %d, in blocks of %d", s.Size, s.Width)
	}
	for _, p := range s.Pairs {
		if p.From < 0 || p.To < 0 || int(p.From)*s.Width >= s.Size || int(p.To)*s.Width >= s.Size {
			return nil, fmt.Errorf("a process's summary has messages from %d to %d", p.From, p.To)
		}
	}
	return s, nil
}
