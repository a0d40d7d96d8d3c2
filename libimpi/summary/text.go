package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The page as text. It begins with what stands out, in sentences; the tables that they come from follow.

// How many rows tables have at most.
const (
	shownCalls = 20
	shownSites = 20
	shownPairs = 10
	shownRanks = 16 // in a job of more, those that spend least and most
	matrixMost = 16 // ranks, or blocks, of which there is a matrix
)

// totals is what the page computes first.
type totals struct {
	time, mpi, asleep int64 // of all ranks
	sent              Traffic
	calls             uint64
	machines          int
	memory            Rank // that had most
}

func (s *Summary) totals() (t totals) {
	seen := map[string]bool{}
	for i := range s.Ranks {
		r := &s.Ranks[i]
		t.time, t.mpi, t.asleep, t.calls = t.time+r.Time, t.mpi+r.MPI, t.asleep+r.Asleep, t.calls+r.Calls
		seen[r.Machine] = true
		if r.Memory > t.memory.Memory {
			t.memory = *r
		}
	}
	for d := range s.Sizes {
		for _, n := range s.Sizes[d] {
			t.sent.add(n)
		}
	}
	t.machines = len(seen)
	return t
}

// JSON is the summary for programs.
func (s *Summary) JSON() string {
	text, _ := json.MarshalIndent(s, "", " ")
	return string(text) + "\n"
}

// table is rows of cells, the first of which are words.
type table struct {
	title, note string
	head        []string
	rows        [][]string
	words       int // how many cells are words, on the left
}

// write writes a table as text.
func (t *table) write(b *strings.Builder) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", t.title)
	if t.note != "" {
		fmt.Fprintf(b, "  (%s)\n", t.note)
	}
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, c := range row {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		line := " "
		for i, c := range row {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if i < t.words {
				line += " " + c + pad
			} else {
				line += "  " + pad + c
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// Text is the page.
func (s *Summary) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "libimpi: %s\n", s.title())
	for _, line := range s.Findings() {
		fmt.Fprintf(&b, "  - %s\n", line)
	}
	for _, t := range s.tables() {
		t.write(&b)
	}
	return b.String()
}

func (s *Summary) title() string {
	t := s.totals()
	of := ""
	if s.Clients > 1 {
		of = fmt.Sprintf(" (client %d of %d; %d ranks in all)", s.Client, s.Clients, s.Size)
	}
	longest := int64(0)
	for _, r := range s.Ranks {
		longest = max(longest, r.Time)
	}
	return fmt.Sprintf("where the time went: %s, %s on %s%s, %s from MPI_Init to MPI_Finalize, %s",
		printable(filepath.Base(s.Program)), count(len(s.Ranks), "rank"), count(t.machines, "machine"), of, span(longest),
		s.Begin.Format(time.DateTime+" UTC"))
}

// Findings are what stands out, most important first.
func (s *Summary) Findings() (found []string) {
	t := s.totals()
	if t.time == 0 || len(s.Ranks) == 0 {
		return nil
	}
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	least, most := s.extremes()
	say("MPI took %s of the ranks' time: from %s (rank %d) to %s (rank %d). Of it, %s were spent asleep in waits.",
		percent(t.mpi, t.time), percent(least.MPI, least.Time), least.Rank, percent(most.MPI, most.Time), most.Rank,
		percent(t.asleep, t.mpi))
	if share(t.mpi, t.time) < 0.05 {
		say("There is little to gain from communication: look at what the program computes.")
	}
	for _, c := range s.byTime(s.Calls)[:min(3, len(s.Calls))] {
		if gap := c.Most.Time - c.Least.Time; c.Ranks > 1 && share(gap, t.time/int64(len(s.Ranks))) > 0.05 {
			say("%s: rank %d spends %s there, rank %d only %s: the others wait for it, or it has less to do.", c.Name,
				c.Most.Rank, span(c.Most.Time), c.Least.Rank, span(c.Least.Time))
		}
	}
	if w, all := s.lateSender(); all > 0 && share(all, t.time) > 0.05 && share(w.Time, all) > 2/float64(len(s.Ranks)) {
		say("Receives took %s in all, %s of it for messages from %s: that sender is late.", span(all), percent(w.Time, all),
			s.block(w.For))
	}
	small := uint64(0)
	for d := range s.Sizes {
		for i := range Bucket(128) {
			small += s.Sizes[d][i].Messages
		}
	}
	if seconds := float64(t.time) / 1e9; small > t.sent.Messages/2 && float64(small)/seconds > 1e5 {
		say("%s of %s messages have less than 128 bytes, %.0f a second at each rank: fewer, longer ones cost less.",
			number(small), number(t.sent.Messages), float64(small)/seconds)
	}
	return found
}

// extremes are the ranks with the least and the greatest share of MPI.
func (s *Summary) extremes() (least, most Rank) {
	by := func(a, b Rank) int { return cmp.Compare(share(a.MPI, a.Time), share(b.MPI, b.Time)) }
	return slices.MinFunc(s.Ranks, by), slices.MaxFunc(s.Ranks, by)
}

func (s *Summary) lateSender() (most Waited, all int64) {
	for _, w := range s.Waited {
		all += w.Time
		if w.Time > most.Time {
			most = w
		}
	}
	return most, all
}

func (s *Summary) byTime(calls []Call) []Call {
	sorted := slices.Clone(calls)
	slices.SortStableFunc(sorted, func(a, b Call) int { return cmp.Compare(b.Time, a.Time) })
	return sorted
}

// tables are all tables of the page.
func (s *Summary) tables() []table {
	return []table{s.rankTable(), s.callTable("Calls", s.Calls, shownCalls, false),
		s.callTable("Places in the program", s.Sites, shownSites, true), s.sizeTable(), s.distanceTable(), s.matrix(),
		s.pairTable(), s.waitTable(), s.algorithmTable()}
}

func (s *Summary) rankTable() table {
	t := table{title: "Ranks", words: 2, head: []string{"rank", "machine", "time", "MPI", "asleep", "calls", "threads",
		"bytes sent", "received", "memory"}}
	shown := s.Ranks
	if len(shown) > shownRanks {
		shown = slices.Clone(shown)
		slices.SortStableFunc(shown, func(a, b Rank) int { return cmp.Compare(share(a.MPI, a.Time), share(b.MPI, b.Time)) })
		shown = slices.Concat(shown[:shownRanks/2], shown[len(shown)-shownRanks/2:])
		t.note = "those with the least and the greatest share of MPI"
	}
	for _, r := range shown {
		t.rows = append(t.rows, []string{strconv.Itoa(int(r.Rank)), printable(r.Machine), span(r.Time),
			percent(r.MPI, r.Time), percent(r.Asleep, r.Time), number(r.Calls), strconv.Itoa(r.Threads), size(r.Sent),
			size(r.Received), size(r.Memory)})
	}
	return t
}

func (s *Summary) callTable(title string, calls []Call, most int, places bool) table {
	t := table{title: title, words: 1, head: []string{"call", "ranks", "count", "time of all", "of run", "mean",
		"longest", "least", "at rank", "most", "at rank", "sent", "received"}}
	if places {
		t.words = 2
		t.head = slices.Insert(t.head, 1, "place")
	}
	whole := s.totals().time
	sorted := s.byTime(calls)
	if len(sorted) > most {
		t.note = fmt.Sprintf("those that took most time, %d of %d; least and most are by rank", most, len(sorted))
		sorted = sorted[:most]
	}
	for _, c := range sorted {
		row := []string{c.Name, strconv.Itoa(c.Ranks), number(c.Count), span(c.Time), percent(c.Time, whole),
			span(c.Time / max(int64(c.Count), 1)), span(c.Longest), span(c.Least.Time), strconv.Itoa(int(c.Least.Rank)),
			span(c.Most.Time), strconv.Itoa(int(c.Most.Rank)), size(c.Sent), size(c.Received)}
		if places {
			row = slices.Insert(row, 1, printable(cmp.Or(c.Place, "(elsewhere)")))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (s *Summary) sizeTable() table {
	t := table{title: "Messages by length", words: 1, head: []string{"bytes"}}
	for d := range Distances {
		t.head = append(t.head, d.String())
	}
	for i := range Buckets {
		row, any := []string{bucketName(i)}, false
		for d := range Distances {
			n := s.Sizes[d][i].Messages
			row, any = append(row, number(n)), any || n > 0
		}
		if any {
			t.rows = append(t.rows, row)
		}
	}
	return t
}

func bucketName(i int) string {
	switch {
	case i < 2:
		return strconv.Itoa(i)
	case i == Buckets-1:
		return "from " + size(1<<(i-1))
	}
	return size(1<<(i-1)) + " to < " + size(1<<i)
}

func (s *Summary) distanceTable() table {
	t := table{title: "Messages by distance", words: 1, head: []string{"to", "messages", "bytes", "mean"}}
	for d := range Distances {
		var n Traffic
		for _, m := range s.Sizes[d] {
			n.add(m)
		}
		if n.Messages > 0 {
			t.rows = append(t.rows, []string{d.String(), number(n.Messages), size(int64(n.Bytes)),
				size(int64(n.Bytes / n.Messages))})
		}
	}
	return t
}

// matrix is who sends how much to whom, of few ranks.
func (s *Summary) matrix() table {
	n := (s.Size + s.Width - 1) / s.Width
	t := table{title: "Bytes from row to column", words: 1, head: []string{"from"}}
	if n > matrixMost || len(s.Pairs) == 0 {
		return t
	}
	for i := range n {
		t.head = append(t.head, strconv.Itoa(i))
		row := make([]string, n+1)
		row[0] = strconv.Itoa(i)
		for _, p := range s.Pairs {
			if int(p.From) == i && int(p.To) < n {
				row[1+p.To] = size(int64(p.Bytes))
			}
		}
		t.rows = append(t.rows, row)
	}
	return t
}

func (s *Summary) pairTable() table {
	t := table{title: "Who sends most to whom", words: 2, head: []string{"from", "to", "messages", "bytes", "mean"}}
	pairs := slices.Clone(s.Pairs)
	slices.SortStableFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(b.Messages, a.Messages))
	})
	for _, p := range pairs[:min(len(pairs), shownPairs)] {
		t.rows = append(t.rows, []string{s.block(p.From), s.block(p.To), number(p.Messages), size(int64(p.Bytes)),
			size(int64(p.Bytes / max(p.Messages, 1)))})
	}
	return t
}

// block names a rank, or a block of ranks.
func (s *Summary) block(i int32) string {
	if s.Width <= 1 {
		return "rank " + strconv.Itoa(int(i))
	}
	first := int(i) * s.Width
	return fmt.Sprintf("ranks %d-%d", first, min(first+s.Width, s.Size)-1)
}

func (s *Summary) waitTable() table {
	t := table{title: "Time in receives, by the sender of the message", words: 1,
		head: []string{"sender", "time", "of all"},
		note: "blocking receives and waits; it includes the transfer"}
	waits := slices.Clone(s.Waited)
	slices.SortStableFunc(waits, func(a, b Waited) int { return cmp.Compare(b.Time, a.Time) })
	_, all := s.lateSender()
	for _, w := range waits[:min(len(waits), shownPairs)] {
		t.rows = append(t.rows, []string{s.block(w.For), span(w.Time), percent(w.Time, all)})
	}
	return t
}

func (s *Summary) algorithmTable() table {
	t := table{title: "Algorithms of collective operations", words: 2, head: []string{"operation", "algorithm", "times"},
		note: "those by messages; operations on shared slots are not among them"}
	for _, a := range s.Algorithms {
		t.rows = append(t.rows, []string{a.Operation, a.Name, number(a.Times)})
	}
	return t
}

// Words for numbers.

func share(part, of int64) float64 { return float64(part) / float64(max(of, 1)) }

func percent(part, of int64) string { return fmt.Sprintf("%.1f %%", 100*share(part, of)) }

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// number groups digits by thousands.
func number(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// span is a time with three digits.
func span(ns int64) string {
	switch v := float64(ns); {
	case v < 1e3:
		return fmt.Sprintf("%d ns", ns)
	case v < 1e6:
		return fmt.Sprintf("%.3g us", v/1e3)
	case v < 1e9:
		return fmt.Sprintf("%.3g ms", v/1e6)
	case v < 100e9:
		return fmt.Sprintf("%.3g s", v/1e9)
	}
	return number(uint64(ns/1e9)) + " s"
}

// size is a number of bytes with three digits.
func size(n int64) string {
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for ; v >= 1000 && i < len(units)-1; i++ {
		v /= 1024
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

// printable shows a name from outside on one line.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if strconv.IsPrint(r) {
			return r
		}
		return '?'
	}, name)
}
