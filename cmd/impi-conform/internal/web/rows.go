package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/diagram"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/web/session"
)

// maxRows bounds a piece of a trace.
const maxRows = 500

// rows are a piece of a trace, laid out.
type rows struct {
	State   session.State `json:"state"`
	Total   int           `json:"total"` // events that are kept
	Width   int           `json:"width"`
	Columns []column      `json:"columns"`
	From    int           `json:"from"`
	Rows    []row         `json:"rows"`
	Marks   []mark        `json:"marks"` // what is wrong, if the case is over
}

type column struct {
	Name   string `json:"name"`
	X      int    `json:"x"`
	Tested bool   `json:"tested,omitempty"`
}

// row is an event. Its members are diagram.Row's.
type row struct {
	N      int    `json:"n"`
	Gap    int    `json:"gap,omitempty"` // events before it that were not kept
	Time   string `json:"time"`
	Title  string `json:"title"`
	Kind   string `json:"kind"`
	X1     int    `json:"x1"`
	X2     int    `json:"x2"`
	Head   string `json:"head,omitempty"`
	Label  string `json:"label"`
	At     int    `json:"at"`
	Anchor string `json:"anchor"`
	Wrong  bool   `json:"wrong,omitempty"`
	Fields bool   `json:"fields,omitempty"` // it can be opened
}

// mark is a problem, at the place of its event among those that are kept; -1: it is not.
type mark struct {
	Row  int    `json:"row"`
	N    int    `json:"n"`
	Text string `json:"text"`
}

// rows answers with a piece of a case's trace.
func (s *Server) rows(r *request) error {
	run, err := s.runOf(r, r.PathValue("run"))
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	from, _ := strconv.Atoi(r.FormValue("from"))
	count, _ := strconv.Atoi(r.FormValue("count"))
	from = max(from, 0)
	c, result, ok := run.Result(name)
	if !ok {
		return fail(http.StatusNotFound, "the run has no such case")
	}
	// One event more, to see whether the first has a gap before it.
	before := min(from, 1)
	t, total := run.Trace(name, from-before, min(max(count, 0), maxRows)+before)
	out := rows{State: c.State, Total: total, From: from, Columns: []column{}, Rows: []row{}, Marks: []mark{}}
	if t == nil {
		return answerJSON(r.w, out)
	}
	wrong := map[int]bool{}
	if result != nil {
		for _, p := range result.Problems {
			wrong[p.Event] = true
		}
		out.Marks = marks(run, name, result.Problems)
	}
	l := diagram.NewLayout(t.Columns, t.HiWater)
	out.Width = l.Width
	for _, c := range l.Columns {
		out.Columns = append(out.Columns, column{c.Name, c.X, c.Implementation})
	}
	last := 0
	for i, e := range t.Events {
		if i >= before {
			d := l.Row(e, e.N > 0 && wrong[e.N])
			out.Rows = append(out.Rows, row{e.N, e.N - last - 1, d.Time, d.Title, d.Kind, d.X1, d.X2, d.Head, d.Label, d.At,
				d.Anchor, d.Wrong, len(e.Bytes) > 0})
		}
		last = e.N
	}
	return answerJSON(r.w, out)
}

// marks finds the events of problems in the trace of a case that is over: the one that shows it, or else the one that
// says it.
func marks(run *session.Run, name string, problems []conform.Problem) []mark {
	list := make([]mark, len(problems))
	_, total := run.Trace(name, 0, 0)
	t, _ := run.Trace(name, 0, total)
	for i, p := range problems {
		list[i] = mark{-1, p.Event, events.Clean(p.Text, 2000)}
		if t == nil {
			continue
		}
		list[i].Row = slices.IndexFunc(t.Events, func(e events.Event) bool {
			if p.Event > 0 {
				return e.N == p.Event
			}
			return e.Kind == events.Problem && (e.Text == p.Text || e.Text == events.Clean(p.Text, 1024))
		})
		if list[i].Row >= 0 {
			list[i].N = t.Events[list[i].Row].N
		}
	}
	return list
}

// packet is an event with all its fields.
type packet struct {
	Title  string   `json:"title"`
	Text   string   `json:"text,omitempty"`
	Fields []field  `json:"fields"`
	Wrong  []string `json:"wrong"` // what is said of it
}

// field is a field, and what it must be if that is something else.
type field struct {
	codec.Field
	Must      codec.Hex `json:"must,omitempty"`
	MustValue string    `json:"must_value,omitempty"`
}

// event answers with one event of a trace, by its place.
func (s *Server) event(r *request) error {
	run, err := s.runOf(r, r.PathValue("run"))
	if err != nil {
		return err
	}
	name := r.PathValue("name")
	at, err := strconv.Atoi(r.FormValue("at"))
	t, _ := run.Trace(name, at, 1)
	if err != nil || at < 0 || t == nil || len(t.Events) == 0 {
		return fail(http.StatusNotFound, "the trace has no such event")
	}
	e := t.Events[0]
	_, result, _ := run.Result(name)
	p := packet{Fields: []field{}, Wrong: []string{}, Text: e.Text}
	must := map[string]codec.Field{}
	if result != nil {
		for _, x := range result.Problems {
			if x.Event != e.N {
				continue
			}
			p.Wrong = append(p.Wrong, events.Clean(x.Text, 2000))
			for _, f := range x.Must {
				must[f.Name] = f
			}
		}
	}
	p.Title = diagram.NewLayout(t.Columns, t.HiWater).Row(e, len(p.Wrong) > 0).Title
	if len(e.Bytes) > 0 {
		for _, f := range e.Unit().Fields() {
			m := must[f.Name]
			p.Fields = append(p.Fields, field{f, m.Raw, m.Value})
		}
	}
	return answerJSON(r.w, p)
}

func answerJSON(w http.ResponseWriter, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(b)
	if err != nil {
		return nil // who asked is gone
	}
	return nil
}
