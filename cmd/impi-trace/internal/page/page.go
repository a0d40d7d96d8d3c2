// Package page writes a job as one page of HTML, which needs no network and no other file.
//
// Flow: what people read (template page.html: tables of ranks, waits, calls, sizes) -> the data of the timeline, packed
// (data.go) -> the script that draws it (data.js, timeline.js, page.js). The policy allows the page this script and
// style and nothing else. Without a script the tables are there all the same.
package page

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/text"
)

// Neither style nor scripts have comments of HTML: html/template would drop them, and the policy has the sum of what is
// here.
var (
	//go:embed page.html
	markup string
	//go:embed style.css
	style string
	//go:embed data.js
	dataScript string
	//go:embed timeline.js
	timelineScript string
	//go:embed page.js
	pageScript string
)

var script = "'use strict';\n" + dataScript + timelineScript + pageScript

// How many lines tables have.
const (
	mostWaits = 200
	mostCalls = 2000
	mostPairs = 100
	mostRanks = 4096
	mostParts = 20
)

// Write writes the page. It has so many calls one by one.
func Write(out io.Writer, r *analysis.Result, events int) error {
	w := bufio.NewWriterSize(out, 1<<20)
	v := newView(r)
	d := newData(r, events)
	v.Left, v.Shortest = d.left, d.shortest
	if err := page.ExecuteTemplate(w, "head", v); err != nil {
		return err
	}
	if err := d.write(w); err != nil {
		return err
	}
	io.WriteString(w, "<script>"+script+"</script>\n</body></html>\n")
	return w.Flush()
}

// policy allows the page its own style and script.
func policy() string {
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + sum(style) + "; script-src " +
		sum(script)
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{"time": text.Time, "bytes": text.Bytes,
	"share": text.Share, "add": func(a, b int) int { return a + b }}).
	Parse(`{{define "style"}}` + style + `{{end}}` + markup))

// view is what the template shows.
type view struct {
	R        *analysis.Result
	Job      *job.Job
	Policy   string
	Program  string
	Span     int64
	Calls    int
	Present  int
	MPI      string
	Waited   string
	Mean     int64
	Most     int64
	Balance  string
	Notes    []string
	Ranks    []rankRow
	Waits    []waitRow
	Causes   []causeRow
	Parts    []part
	Table    []callRow
	More     int
	Sizes    []sizeRow
	Pairs    []pairRow
	Left     int
	Shortest int64
}

type rankRow struct {
	Rank    int
	Machine string
	*analysis.RankSum
	Where    string
	Computed int64
}

type waitRow struct {
	text.Longest
	Length int64
	Mine   string
	Theirs string
}

type causeRow struct {
	Name   string
	Class  string
	Length int64
}

type part struct {
	Text   string
	Length int64
}

type callRow struct {
	*analysis.Row
	Name, Place string
	Number      int
}

type sizeRow struct {
	analysis.Size
	To    int64
	Width int
}

type pairRow struct{ analysis.Pair }

func newView(r *analysis.Result) *view {
	j := r.Job
	v := &view{R: r, Job: j, Policy: policy(), Program: text.Clean(j.Program), Span: j.Span(), Calls: j.Count(),
		Notes: text.Notes(r)}
	v.sums()
	for i := range j.Ranks {
		s, rank := &r.Ranks[i], &j.Ranks[i]
		if rank.Missing || len(v.Ranks) == mostRanks {
			continue
		}
		row := rankRow{Rank: i, Machine: text.Clean(rank.Machine), RankSum: s, Computed: s.Computing()}
		if s.Late >= 0 {
			row.Where = text.Call(j, &rank.Calls[s.Late])
		}
		v.Ranks = append(v.Ranks, row)
	}
	for _, l := range text.LongestWaits(r, mostWaits) {
		v.Waits = append(v.Waits, waitRow{l, l.Length(), text.Call(j, &j.Ranks[l.Rank].Calls[l.Call]),
			text.Call(j, &j.Ranks[l.By].Calls[l.ByCall])})
	}
	v.Parts = pathParts(r)
	for i := range r.Table {
		if i == mostCalls {
			v.More = len(r.Table) - mostCalls
			break
		}
		row := &r.Table[i]
		v.Table = append(v.Table, callRow{row, text.Clean(j.Names[row.Function]), text.Site(j, row.Site), i})
	}
	v.traffic()
	return v
}

// sums fills in what the head of the page says.
func (v *view) sums() {
	var mpi, span, waited int64
	var causes [6]int64
	for i := range v.R.Ranks {
		s := &v.R.Ranks[i]
		if v.Job.Ranks[i].Missing {
			continue
		}
		v.Present++
		mpi, span, waited = mpi+s.MPI, span+s.Span, waited+s.Waited()
		v.Most = max(v.Most, s.Computing())
		for c := range s.Waits {
			causes[c] += s.Waits[c]
		}
	}
	v.MPI, v.Waited = text.Share(mpi, span), text.Share(waited, mpi)
	if v.Present > 0 {
		v.Mean = (span - mpi) / int64(v.Present)
		v.Balance = text.Share(v.Most-v.Mean, v.Most)
	}
	for _, c := range analysis.Causes {
		v.Causes = append(v.Causes, causeRow{c.String(), classes[firstCause+int(c)-1], causes[c]})
	}
}

// pathParts is what the critical path consists of, the longest first.
func pathParts(r *analysis.Result) (parts []part) {
	for i := range r.Table {
		row := &r.Table[i]
		at := text.Place(r.Job, row.Function, row.Site)
		parts = append(parts, part{"computing before " + at, row.Before}, part{"in " + at, row.OnPath})
	}
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.Length == 0 })
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.Length, a.Length) })
	return parts[:min(mostParts, len(parts))]
}

// traffic fills in who sends whom how much.
func (v *view) traffic() {
	most := int64(1)
	for _, s := range v.R.Sizes {
		most = max(most, s.Messages)
	}
	for _, s := range v.R.Sizes {
		v.Sizes = append(v.Sizes, sizeRow{s, max(0, 2*s.Least-1), int(1 + 299*s.Messages/most)})
	}
	pairs := slices.Clone(v.R.Pairs)
	slices.SortStableFunc(pairs, func(a, b analysis.Pair) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, p := range pairs[:min(mostPairs, len(pairs))] {
		v.Pairs = append(v.Pairs, pairRow{p})
	}
}
