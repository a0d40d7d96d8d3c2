// Package text writes what was found in a trace for a terminal: in the order in which one asks. How long did it take,
// and how much of that was MPI; who was late, and where; what waited longest; what is the job's length made of; which
// calls.
package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/load"
)

// rows is how many lines a list has.
const rows = 10

// Write writes the summary.
func Write(out io.Writer, r *analysis.Result) error {
	w := &writer{Writer: bufio.NewWriter(out), r: r, j: r.Job}
	w.head()
	w.faults()
	w.late()
	w.waits()
	w.path()
	w.calls()
	return w.Flush()
}

type writer struct {
	*bufio.Writer
	r *analysis.Result
	j *job.Job
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

func (w *writer) head() {
	present, mpi, span, waited := 0, int64(0), int64(0), int64(0)
	most, least := int64(0), int64(1<<63-1)
	for i := range w.j.Ranks {
		if w.j.Ranks[i].Missing {
			continue
		}
		s := &w.r.Ranks[i]
		present++
		mpi, span, waited = mpi+s.MPI, span+s.Span, waited+s.Waited()
		most, least = max(most, s.Computing()), min(least, s.Computing())
	}
	w.line("%s: %s, %s, %s, %s", Clean(w.j.Program), Count(len(w.j.Ranks), "rank"), Time(w.j.Span()),
		Count(w.j.Count(), "call"), Count(len(w.r.Messages), "message"))
	if present == 0 {
		return
	}
	w.line("  %s of the time of ranks is in MPI, of which %s was waited for others", Share(mpi, span), Share(waited, mpi))
	mean := (span - mpi) / int64(present)
	w.line("  computing: %s on average, from %s to %s (imbalance %s)", Time(mean), Time(least), Time(most),
		Share(most-mean, most))
}

// faults says what is not in the trace.
func (w *writer) faults() {
	list := Notes(w.r)
	for i, fault := range list {
		if i == rows {
			w.line("  note: and %d more", len(list)-rows)
			break
		}
		w.line("  note: %s", fault)
	}
}

// Notes say what is not in the trace, or may be wrong.
func Notes(r *analysis.Result) (list []string) {
	for _, fault := range r.Job.Faults {
		list = append(list, Clean(fault))
	}
	if n := r.Unsent + r.Unread; n > 0 {
		list = append(list, fmt.Sprintf("%d sends and %d receives have no other side in the trace", r.Unread, r.Unsent))
	}
	if n := r.Ops.Apart; n > 0 {
		list = append(list, fmt.Sprintf("%d collective calls cannot be told apart, since both ends of a trace are lost", n))
	}
	if r.Backward > 0 {
		list = append(list, fmt.Sprintf("%d messages came before they were sent: clocks differ by %s at least", r.Backward,
			Time(r.Skew)))
	}
	return list
}

// late lists the ranks for which others waited.
func (w *writer) late() {
	type late struct {
		rank int
		sum  *analysis.RankSum
	}
	var list []late
	total := int64(0)
	for i := range w.r.Ranks {
		if s := &w.r.Ranks[i]; s.Caused > 0 {
			list = append(list, late{i, s})
			total += s.Caused
		}
	}
	if len(list) == 0 {
		w.line("\nNo rank waited for another.")
		return
	}
	slices.SortStableFunc(list, func(a, b late) int { return cmp.Compare(b.sum.Caused, a.sum.Caused) })
	w.line("\nLate ranks: how long others waited for them, in all")
	for _, l := range list[:min(rows, len(list))] {
		c := &w.j.Ranks[l.rank].Calls[l.sum.Late]
		w.line("  rank %-5d %10s  %5s  computed %s; mostly late at %s (%s)", l.rank, Time(l.sum.Caused),
			Share(l.sum.Caused, total), Time(l.sum.Computing()), Call(w.j, c), Time(l.sum.LateBy))
	}
}

// Longest are the longest waits of all ranks.
type Longest struct {
	Rank int
	analysis.Wait
}

// LongestWaits returns the n longest waits.
func LongestWaits(r *analysis.Result, n int) []Longest {
	var list []Longest
	shorten := func() {
		slices.SortFunc(list, func(a, b Longest) int {
			return cmp.Or(cmp.Compare(b.Length(), a.Length()), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Call, b.Call))
		})
		list = list[:min(n, len(list))]
	}
	for rank := range r.Waits {
		for i := range r.Waits[rank] {
			w := &r.Waits[rank][i]
			if list = append(list, Longest{rank, *w}); len(list) >= 4*n+64 {
				shorten()
			}
		}
	}
	shorten()
	return list
}

func (w *writer) waits() {
	var sums [6]int64
	for i := range w.r.Ranks {
		for c, length := range w.r.Ranks[i].Waits {
			sums[c] += length
		}
	}
	longest := LongestWaits(w.r, rows*max(8, min(256, len(w.j.Ranks))))
	if len(longest) == 0 {
		return
	}
	w.line("\nWaits by cause")
	for _, c := range analysis.Causes {
		if sums[c] > 0 {
			w.line("  %-20s %10s", c, Time(sums[c]))
		}
	}
	w.line("\nLongest waits")
	list := fold(longest)
	for _, f := range list[:min(rows, len(list))] {
		mine, theirs := &w.j.Ranks[f.Rank].Calls[f.Call], &w.j.Ranks[f.By].Calls[f.ByCall]
		who := fmt.Sprintf("rank %d", f.Rank)
		if f.ranks > 1 {
			who += fmt.Sprintf(" and %d more", f.ranks-1)
		}
		w.line("  %10s at %s  %s in %s: %s, rank %d in %s", Time(f.Length()), Time(f.Start), who, Call(w.j, mine), f.Cause,
			f.By, Call(w.j, theirs))
	}
}

// folded are waits for the same call of a rank.
type folded struct {
	Longest
	ranks int
}

func fold(list []Longest) (all []folded) {
	for _, l := range list {
		same := func(f folded) bool { return f.By == l.By && f.ByCall == l.ByCall && f.Cause == l.Cause }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].ranks++
			continue
		}
		all = append(all, folded{l, 1})
	}
	return all
}

// path says what the critical path consists of.
func (w *writer) path() {
	if w.r.Length <= 0 {
		return
	}
	type part struct {
		text   string
		length int64
	}
	var parts []part
	for i := range w.r.Table {
		row := &w.r.Table[i]
		at := Place(w.j, row.Function, row.Site)
		parts = append(parts, part{"computing before " + at, row.Before}, part{"in " + at, row.OnPath})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.length, a.length) })
	w.line("\nCritical path: %s in %s; by rank and by what it consists of", Time(w.r.Length),
		Count(len(w.r.Path), "part"))
	order := make([]int, len(w.r.Ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(w.r.Ranks[b].OnPath, w.r.Ranks[a].OnPath) })
	for i, rank := range order {
		if length := w.r.Ranks[rank].OnPath; i < rows/2 && length > 0 {
			w.line("  rank %-5d %10s  %5s", rank, Time(length), Share(length, w.r.Length))
		}
	}
	for i, p := range parts {
		if i < rows && p.length > 0 {
			w.line("  %-10s %10s  %5s  %s", "", Time(p.length), Share(p.length, w.r.Length), p.text)
		}
	}
}

// calls is the table of calls.
func (w *writer) calls() {
	if len(w.r.Table) == 0 {
		return
	}
	w.line("\nCalls%35s %10s %10s %10s %10s", "calls", "time", "waited", "longest", "bytes")
	for i := range w.r.Table {
		if i == rows {
			w.line("  and %d more (-html, -csv)", len(w.r.Table)-rows)
			break
		}
		row := &w.r.Table[i]
		w.line("  %-30s %7d %10s %10s %10s %10s", Place(w.j, row.Function, row.Site), row.Calls, Time(row.Time),
			Time(row.Waited()), Time(row.Longest), Bytes(row.Bytes))
	}
}

// Place is a function at a line.
func Place(j *job.Job, function uint16, site int32) string {
	if at := Site(j, site); at != "" {
		return Clean(j.Names[function]) + " " + at
	}
	return Clean(j.Names[function])
}

// Site is a line, or "".
func Site(j *job.Job, site int32) string {
	if site < 0 {
		return ""
	}
	return Clean(load.Text(j.Sites[site]))
}

// Call is a call's function and line.
func Call(j *job.Job, c *job.Call) string { return Place(j, c.Function, c.Site) }

// Time is a time for people: three digits and a unit.
func Time(ns int64) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if v < 999.5 && v > -999.5 {
			break
		}
		v, unit = v/1000, next
	}
	digits := 2
	switch size := max(v, -v); {
	case size >= 99.95 || unit == "ns":
		digits = 0
	case size >= 9.995:
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, unit)
}

// Count is a number of things.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Bytes is a number of bytes for people.
func Bytes(n int64) string {
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// Share is a part in percent.
func Share(part, whole int64) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// Clean makes a name from a trace safe for a terminal: what could move the cursor or end the line becomes "?".
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
