package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/page"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/report"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

// recordsPage lists runs.
type recordsPage struct {
	base
	Runs []runLine
}

type runLine struct {
	ID    int
	Title string
	Kind  string
	Began string
	Phase session.Phase
	Took  float64
	Count map[session.State]int
}

// verdicts are the columns of runs.
var verdicts = []session.State{"pass", "fail", "indeterminate", "skip"}

// Verdicts are for the page.
func (recordsPage) Verdicts() []session.State { return verdicts }

func (s *Server) records(r *request) error {
	p := &recordsPage{base: base{Title: "Records"}}
	if r.session != nil {
		for _, run := range r.session.Runs() {
			snap := run.Snapshot(0)
			p.Runs = append(p.Runs, runLine{run.ID, run.Title, run.Kind, run.Began.Format("15:04:05"), snap.Phase,
				snap.Seconds, snap.Count})
		}
	}
	s.render(r, http.StatusOK, "records.html", p)
	return nil
}

// download sends a record as a file.
func (s *Server) download(r *request) error {
	run, err := s.runOf(r, r.PathValue("run"))
	if err != nil {
		return err
	}
	whole, junit := run.Record(s.Head)
	ending := filepath.Ext(r.PathValue("file"))
	var kind string
	var write func(io.Writer) error
	switch {
	case r.PathValue("file") != "record"+ending || run.Kind == "record" && ending != ".json":
	case ending == ".html":
		kind, write = "text/html; charset=utf-8", func(w io.Writer) error { return page.Write(w, whole) }
	case ending == ".json":
		kind, write = "application/json", whole.Write
	case ending == ".xml":
		kind, write = "application/xml", junit.Write
		for _, p := range whole.Properties() {
			junit.Properties = append(junit.Properties, report.Property(p))
		}
	}
	if write == nil {
		return fail(http.StatusNotFound, "there is no such file")
	}
	name := fmt.Sprintf("impi-conform-%s-%d%s", run.Began.Format("20060102-150405"), run.ID, ending)
	r.w.Header().Set("Content-Type", kind)
	r.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(10 * time.Minute)) // it may be long
	write(r.w)                                                                         // an error: who asked is gone
	return nil
}

// comparePage says what changed.
type comparePage struct {
	base
	A, B    string
	Changes []change
	Worse   int
	Same    int
}

type change struct {
	Case, How string
	From, To  session.State
}

// compare compares two runs of the session.
func (s *Server) compare(r *request) error {
	a, err := s.runOf(r, r.FormValue("a"))
	if err != nil {
		return err
	}
	b, err := s.runOf(r, r.FormValue("b"))
	if err != nil {
		return err
	}
	ra, _ := a.Record(s.Head)
	rb, _ := b.Record(s.Head)
	p := &comparePage{base: base{Title: "Compare", Here: "/records"}, A: called(a), B: called(b)}
	list := record.Compare(ra, rb)
	before := map[string]bool{}
	for _, c := range ra.Cases {
		before[c.Name] = true
	}
	for _, c := range rb.Cases {
		if before[c.Name] {
			p.Same++
		}
	}
	for _, c := range list {
		x := change{c.Case, "better", session.State(c.From), session.State(c.To)}
		switch {
		case c.From == "":
			x.How = "appeared"
		case c.To == "":
			x.How = "vanished"
		case c.Worse():
			x.How = "worse"
			p.Worse++
		}
		if c.From != "" && c.To != "" {
			p.Same--
		}
		p.Changes = append(p.Changes, x)
	}
	s.render(r, http.StatusOK, "compare.html", p)
	return nil
}

func called(r *session.Run) string { return fmt.Sprintf("run %d (%s)", r.ID, r.Title) }

// maxCases bounds the cases of a record that is sent.
const maxCases = 10_000

// upload takes a record, and compares it with a run of the session.
func (s *Server) upload(r *request) error {
	parts, err := r.MultipartReader()
	if err != nil {
		return fail(http.StatusBadRequest, "the form cannot be read")
	}
	if err := s.begin(r); err != nil {
		return err
	}
	with := ""
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fail(http.StatusUnprocessableEntity, "no record was sent")
		}
		if err != nil {
			return tooLong(err)
		}
		switch part.FormName() {
		case "with":
			b, err := io.ReadAll(io.LimitReader(part, 20))
			if err != nil {
				return tooLong(err)
			}
			with = string(b)
		case "record":
			sent, err := record.ReadVerdicts(part, maxCases)
			var big *http.MaxBytesError
			if errors.As(err, &big) {
				return tooLong(err)
			}
			if err != nil {
				return fail(http.StatusUnprocessableEntity, "%s is no record: %v",
					events.Clean(filepath.Base(part.FileName()), 100), err)
			}
			old := r.session.AddRecord(events.Clean(filepath.Base(part.FileName()), 100), sent)
			if _, err := strconv.Atoi(with); err != nil {
				return seeOther(r, "/records")
			}
			return seeOther(r, fmt.Sprintf("/compare?a=%d&b=%s", old.ID, with))
		}
	}
}
