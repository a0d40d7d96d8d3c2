// Package diagram makes a sequence diagram of a case's trace: rows by time, columns by party, arrows for what
// travels, and for each command and packet its fields. It is laid out here, and drawn as SVG within HTML by a template,
// diagram.html.
package diagram

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/record"
)

// Text defines the template "diagram", of a *Diagram.
//
//go:embed diagram.html
var Text string

// CSS is the style of diagrams. It has no comments, which html/template would drop. The lines of columns are drawn by
// reference, for which only selectors without ancestors count.
//
//go:embed diagram.css
var CSS string

// Sizes in pixels.
const (
	left  = 110 // of the first column
	apart = 150 // between columns
	line  = 20  // where the arrow of a row is; a row is 30 high
)

// Diagram is a trace, laid out.
type Diagram struct {
	ID string // unique on the page
	Layout
	Rows []Row
}

// Layout is where the columns are; it lays out rows one by one.
type Layout struct {
	Width   int
	Columns []Column

	x       map[string]int
	hiWater uint32
}

// Column is a party.
type Column struct {
	Name           string
	Implementation bool
	X              int
}

// Row is an event, or, if Gap is not empty, says that some are not shown.
type Row struct {
	ID     string
	Width  int
	Gap    string
	Time   string
	Title  string // the row in words, for those who do not see it
	Kind   string // "unit", "connection", "mark", "problem"
	X1, X2 int    // the arrow; equal: there is none
	Head   string // the points of its head
	Label  string
	At     int    // where the label is
	Anchor string // how it stands there: "start", "middle", "end"
	Wrong  bool
	Fields []Segment
}

// Segment is a piece of the text of fields.
type Segment struct {
	Text  string
	Wrong bool
}

// New lays a trace out, of at most limit events: the first ones, the last ones, and those that show a problem.
func New(id string, t *events.Trace, problems []record.Problem, limit int) *Diagram {
	must := map[int][]codec.Field{}
	for _, p := range problems {
		if p.Event > 0 {
			must[p.Event] = append(must[p.Event], p.Must...)
		}
	}
	shown := choose(t.Events, must, limit)
	var speak []events.Column
	for _, c := range t.Columns {
		has := func(i int) bool { e := t.Events[i]; return e.From == c.Name || e.To == c.Name }
		if slices.ContainsFunc(shown, has) {
			speak = append(speak, c)
		}
	}
	l := NewLayout(speak, t.HiWater)
	d := &Diagram{ID: id, Layout: *l}
	last, n := -1, 0 // the event before, in t.Events and as it was numbered
	for _, i := range shown {
		e := t.Events[i]
		if text := gap(i-last-1, e.N-n-1); text != "" {
			d.Rows = append(d.Rows, Row{Gap: text})
		}
		last, n = i, e.N
		bad, wrong := must[e.N]
		r := l.Row(e, wrong)
		r.ID = fmt.Sprintf("%s-%d", id, e.N)
		if len(e.Bytes) > 0 {
			r.Fields = fields(e.Unit().Fields(), bad)
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}

// choose returns the places of the events that are shown.
func choose(all []events.Event, must map[int][]codec.Field, limit int) (shown []int) {
	first := limit / 2
	last := len(all) - (limit - first)
	more := limit // events of the middle that may be shown because of a problem
	for i, e := range all {
		_, wrong := must[e.N]
		switch {
		case len(all) <= limit || i < first || i >= last:
		case (wrong || e.Kind == events.Problem) && more > 0:
			more--
		default:
			continue
		}
		shown = append(shown, i)
	}
	return shown
}

// gap says what is between two events that are shown: recorded ones, of all that happened.
func gap(recorded, all int) string {
	var words []string
	if recorded > 0 {
		words = append(words, fmt.Sprintf("%d events are not shown here; the record as JSON has them", recorded))
	}
	if lost := all - recorded; lost > 0 {
		words = append(words, fmt.Sprintf("%d events were not recorded", lost))
	}
	return strings.Join(words, "; ")
}

// NewLayout places columns. hiWater is what was negotiated, 0: not known.
func NewLayout(columns []events.Column, hiWater uint32) *Layout {
	l := &Layout{x: map[string]int{}, hiWater: hiWater}
	for i, c := range columns {
		l.x[c.Name] = left + apart/2 + apart*i
		l.Columns = append(l.Columns, Column{c.Name, c.Implementation, l.x[c.Name]})
	}
	l.Width = left + apart*max(len(columns), 4)
	return l
}

// Row lays an event out, all but its fields.
func (l *Layout) Row(e events.Event, wrong bool) Row {
	r := Row{Width: l.Width, Time: stamp(e.At), Label: label(e, l.hiWater), Kind: kind(e), Wrong: wrong}
	x1, from := l.x[e.From]
	x2, to := l.x[e.To]
	r.Title = r.Time
	switch {
	case from && to:
		r.X1, r.X2, r.At, r.Anchor = x1, x2, (x1+x2)/2, "middle"
		r.Head = head(x1, x2)
		r.Title += ", " + e.From + " to " + e.To
	case from || to:
		r.X1 = max(x1, x2)
		r.X2 = r.X1
		r.At, r.Anchor = r.X1+8, "start"
		if r.X1 > l.Width/2 {
			r.At, r.Anchor = r.X1-8, "end"
		}
		r.Title += ", " + e.From + e.To
	default:
		r.At, r.Anchor = left, "start"
	}
	r.Title += ": " + r.Label
	if wrong {
		r.Title += "; this is wrong"
	}
	return r
}

func kind(e events.Event) string {
	switch e.Kind {
	case events.Opened, events.Closed:
		return "connection"
	case events.Started, events.Line, events.Ended:
		return "mark"
	case events.Problem:
		return "problem"
	}
	return "unit"
}

// stamp is a time in milliseconds.
func stamp(d time.Duration) string { return fmt.Sprintf("%.3f ms", float64(d.Microseconds())/1000) }

func head(from, to int) string {
	back := -8
	if to < from {
		back = 8
	}
	return fmt.Sprintf("%d,%d %d,%d %d,%d", to, line, to+back, line-4, to+back, line+4)
}

// most is how many characters of a label are shown.
const most = 160

// label is what stands at an event.
func label(e events.Event, hiWater uint32) string {
	text := e.Name
	switch e.Kind {
	case events.Opened:
		text = "connects"
	case events.Closed:
		text = "closes"
		if e.Text != "" {
			text += " (" + e.Text + ")"
		}
	case events.Started:
		text = "start: " + e.Text
	case events.Line:
		text = e.Name + ": " + e.Text
	case events.Ended:
		text = "end: " + e.Text
	case events.Problem:
		text = "✗ " + e.Text
	default:
		text += more(e)
		if e.Whole > e.Total {
			text += fmt.Sprintf(", %d of %d bytes", e.Total, e.Whole)
		}
		if e.Window != nil && hiWater > 0 {
			text += fmt.Sprintf(" [%d/%d]", *e.Window, hiWater)
		}
	}
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// more is what matters most of a command or packet besides its name.
func more(e events.Event) string {
	h, ok := e.Unit().Header()
	switch {
	case ok && (e.Name == "DATA" || e.Name == "DATASYNC"):
		return fmt.Sprintf(", tag %d, %d bytes", h.Tag, h.Len)
	case e.Kind == codec.ToServer || e.Kind == codec.FromServer || e.Kind == codec.Choice:
		for _, f := range e.Unit().Fields() {
			switch f.Name {
			case "rank", "size":
				return " " + f.Name + " " + f.Value
			case "mask", "method":
				if !strings.HasPrefix(e.Name, "COLL") {
					return " " + f.Value
				}
			case "data":
				if len(f.Value) > 0 && len(f.Value) < 20 {
					return ": " + f.Value
				}
			}
		}
	}
	return ""
}

// fields are a unit's in lines, with those marked that must be something else.
func fields(list, must []codec.Field) (s []Segment) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			s = append(s, Segment{Text: plain.String()})
			plain.Reset()
		}
	}
	plain.WriteString("offset length name            bytes\n")
	for _, f := range list {
		i := slices.IndexFunc(must, func(m codec.Field) bool { return m.Offset == f.Offset && m.Name == f.Name })
		sign := " "
		if i >= 0 {
			sign = "✗"
		}
		fmt.Fprintf(&plain, "%s%5d %6d %-15s ", sign, f.Offset, f.Length, f.Name)
		if i < 0 {
			plain.WriteString(dump(f))
			continue
		}
		for k, b := range f.Raw {
			if k < len(must[i].Raw) && must[i].Raw[k] == b {
				fmt.Fprintf(&plain, "%02x", b)
				continue
			}
			flush()
			s = append(s, Segment{fmt.Sprintf("%02x", b), true})
		}
		fmt.Fprintf(&plain, "  %s, must be %x  %s\n", f.Value, must[i].Raw, must[i].Value)
	}
	flush()
	return s
}

// perLine is how many bytes stand in a line.
const perLine = 32

// dump is a field's bytes in hexadecimal, and its value.
func dump(f codec.Field) string {
	var b strings.Builder
	for i := 0; i < len(f.Raw); i += perLine {
		if i > 0 {
			fmt.Fprintf(&b, "\n%*s", 30, "")
		}
		fmt.Fprintf(&b, "%x", []byte(f.Raw[i:min(i+perLine, len(f.Raw))]))
	}
	if f.Length > len(f.Raw) {
		fmt.Fprintf(&b, " ... (%d bytes in all)", f.Length)
	}
	if f.Value != "" {
		b.WriteString("  " + f.Value)
	}
	return b.String() + "\n"
}
