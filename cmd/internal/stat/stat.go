// Package stat says what the processes of a job wait for, as text and as data. It is pure: reports come in, words
// leave.
//
// Flow: what each rank has told, or why it is silent (Rank) -> Make -> ranks that do the same are one line (lines.go,
// describe.go) -> who is missing in a collective operation, and calls that do not agree (collective.go) -> sends and
// receives that would match but for one thing (mistakes.go) -> who waits for whom in a circle (circle.go) -> Text.
// Prove (deadlock.go) compares two rounds of reports: only that says that a job cannot go on.
//
// Reports come from other processes. Package report has checked their lengths; here texts are cleaned and cut, ranks
// are looked up before they are used, and each list of the result is bounded.
package stat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
)

// State is what is known of a rank from outside, if it has not answered.
type State string

// States of silent ranks.
const (
	Answered  State = ""          // it has told: Rank.Process is there
	Outside   State = "outside"   // it has not called MPI_Init, or does not use MPI
	Entering  State = "entering"  // it waits in MPI_Init for others
	Finalized State = "finalized" // it has called MPI_Finalize
	Ended     State = "ended"     // its process is gone
	Stopped   State = "stopped"   // by a signal, or a debugger
	Disk      State = "disk"      // in the kernel, uninterruptibly: for a disk, or swapped out
	Running   State = "running"   // it uses a processor, and does not answer
	Mute      State = "mute"      // nothing is known
)

// gone reports whether a rank in this state takes no further part in the job.
func (s State) gone() bool { return s == Finalized || s == Ended }

// Rank is what is known of one process.
type Rank struct {
	Job     int // 0, or the number of a spawned job, each of which has an MPI_COMM_WORLD of its own
	Rank    int // in that
	Process *report.Process
	State   State  // Answered exactly if Process is not nil
	Detail  string // of the state, in words: "in folio_wait_bit"; may be empty
}

// Line is ranks of one job that do the same.
type Line struct {
	Job   int    `json:"job,omitempty"`
	Ranks string `json:"ranks"` // "0-2,5"
	Count int    `json:"count"`
	What  string `json:"what"`
	Site  string `json:"site,omitempty"`
	Least int64  `json:"leastNanoseconds,omitempty"` // the shortest and the longest time for which they have waited
	Most  int64  `json:"mostNanoseconds,omitempty"`
}

// Report is what Make finds. All lists are bounded; Left says how many entries were left out of each.
type Report struct {
	Ranks    int      `json:"ranks"`
	Lines    []Line   `json:"lines"`
	Odd      []string `json:"odd,omitempty"`      // who is missing in collective operations, and calls that do not agree
	Mistakes []string `json:"mistakes,omitempty"` // likely ones
	Circle   string   `json:"circle,omitempty"`   // who waits for whom
	Queues   []string `json:"queues,omitempty"`   // messages, windows and files
	Left     Left     `json:"left,omitzero"`
}

// Left counts what was left out.
type Left struct {
	Lines    int `json:"lines,omitempty"`
	Odd      int `json:"odd,omitempty"`
	Mistakes int `json:"mistakes,omitempty"`
	Queues   int `json:"queues,omitempty"`
}

// Bounds of the lists.
const (
	mostLines    = 64
	mostOdd      = 16
	mostMistakes = 16
	mostQueues   = 32
)

// Make groups and compares what ranks do. It does not keep or change what it is given.
func Make(ranks []Rank) *Report {
	r := &Report{Ranks: len(ranks)}
	jobs := split(ranks)
	for _, j := range jobs {
		r.Lines = append(r.Lines, j.lines()...)
		ops := j.operations()
		r.Odd = append(r.Odd, j.odd(ops)...)
		r.Mistakes = append(r.Mistakes, j.mistakes(ops)...)
		if r.Circle == "" {
			r.Circle = j.circle(ops)
		}
		r.Queues = append(r.Queues, j.queues()...)
	}
	r.Lines, r.Left.Lines = cut(r.Lines, mostLines)
	r.Odd, r.Left.Odd = cut(r.Odd, mostOdd)
	r.Mistakes, r.Left.Mistakes = cut(r.Mistakes, mostMistakes)
	r.Queues, r.Left.Queues = cut(r.Queues, mostQueues)
	return r
}

func cut[T any](list []T, most int) (short []T, left int) {
	if len(list) <= most {
		return list, 0
	}
	return list[:most], len(list) - most
}

// job is the ranks of one MPI_COMM_WORLD.
type job struct {
	number int
	ranks  []*Rank // by rank, ascending
	at     map[int]*Rank

	// What is found out once.
	keys   map[*report.Comm]comm
	ids    map[commKey]comm
	groups map[comm][]int
	post   *post
}

// split makes jobs of ranks. Of two that claim to be the same, the first counts.
func split(ranks []Rank) (jobs []*job) {
	of := map[int]*job{}
	for i := range ranks {
		r := &ranks[i]
		j := of[r.Job]
		if j == nil {
			j = &job{number: r.Job, at: map[int]*Rank{}, keys: map[*report.Comm]comm{}, ids: map[commKey]comm{},
				groups: map[comm][]int{}}
			of[r.Job] = j
			jobs = append(jobs, j)
		}
		if j.at[r.Rank] == nil {
			j.at[r.Rank] = r
			j.ranks = append(j.ranks, r)
		}
	}
	for _, j := range jobs {
		slices.SortFunc(j.ranks, func(a, b *Rank) int { return a.Rank - b.Rank })
	}
	slices.SortFunc(jobs, func(a, b *job) int { return a.number - b.number })
	return jobs
}

// name is "rank 3", or "rank 3 of spawned job 2".
func (j *job) name(rank int) string { return fmt.Sprintf("rank %d%s", rank, ofJob(j.number)) }

// names is "ranks 0-2,5", or "rank 5" if it is one.
func (j *job) names(ranks []int) string {
	if len(ranks) == 1 {
		return j.name(ranks[0])
	}
	return fmt.Sprintf("ranks %s%s", spans(ranks), ofJob(j.number))
}

func ofJob(number int) string {
	if number == 0 {
		return ""
	}
	return fmt.Sprintf(" of spawned job %d", number)
}

// Text is the report as people read it: lines that end in a newline, each indented by two spaces.
func (r *Report) Text() string {
	var b strings.Builder
	for _, l := range r.Lines {
		b.WriteString("  " + l.text() + "\n")
	}
	more := func(n int, what string) {
		if n > 0 {
			fmt.Fprintf(&b, "  and %d more %s\n", n, what)
		}
	}
	more(r.Left.Lines, "lines")
	list := func(head string, texts []string, left int, what string) {
		for _, t := range texts {
			b.WriteString("  " + head + t + "\n")
		}
		more(left, what)
	}
	list("", r.Odd, r.Left.Odd, "operations")
	list("likely mistake: ", r.Mistakes, r.Left.Mistakes, "likely mistakes")
	if r.Circle != "" {
		b.WriteString("  waiting in a circle: " + r.Circle + "\n")
	}
	list("", r.Queues, r.Left.Queues, "ranks with messages, windows or files")
	return b.String()
}

func (l *Line) text() string {
	text := "rank"
	if l.Count > 1 {
		text = "ranks"
	}
	text += " " + l.Ranks + ofJob(l.Job) + ": " + l.What
	if l.Site != "" {
		text += ", " + l.Site
	}
	if l.Most > 0 {
		text += ", for " + times(l.Least, l.Most)
	}
	return text
}

// times is "42 s", or "3 to 42 s" if the shortest and the longest time differ by more than a second and a tenth.
func times(least, most int64) string {
	a, b := time.Duration(least).Seconds(), time.Duration(most).Seconds()
	if b-a > max(1, b/10) {
		return fmt.Sprintf("%s to %s s", seconds(a), seconds(b))
	}
	return seconds(b) + " s"
}

func seconds(s float64) string {
	if s < 10 {
		return fmt.Sprintf("%.1f", s)
	}
	return fmt.Sprintf("%.0f", s)
}
