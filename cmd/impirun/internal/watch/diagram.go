package watch

import (
	"fmt"
	"time"

	"github.com/libimpi/libimpi/startup/server"
)

// The diagram: time goes to the right, and each client and each of its hosts has a row. A client's row shows how far it
// has come, a host's row how much it has sent and received. Everything in it stands in the tables, too. Pure.

// Diagram is a drawing of shapes, in pixels.
type Diagram struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	Note   string  `json:"note"`
	Shapes []Shape `json:"shapes"`
}

// Shape is a rectangle, or a text whose line begins at X, Y.
type Shape struct {
	X     int    `json:"x"`
	Y     int    `json:"y"`
	W     int    `json:"w"` // of a rectangle; 0: it is a text
	H     int    `json:"h"`
	Class string `json:"class"` // the style sheet has them
	Text  string `json:"text"`
}

const (
	labelWidth = 170
	plotWidth  = 600
	rowHeight  = 30
	axisHeight = 24
	maxLanes   = 48
	minLabel   = 70 // pixels that a text in a bar needs
)

// scale turns times into pixels.
type scale struct{ from, to time.Time }

func (s scale) x(t time.Time) int {
	all := s.to.Sub(s.from)
	if all <= 0 || t.Before(s.from) {
		return labelWidth
	}
	return labelWidth + min(plotWidth, int(float64(plotWidth)*float64(t.Sub(s.from))/float64(all)))
}

// diagramOf draws a view, with the samples of each host.
func diagramOf(v *server.View, samples []series) Diagram {
	s := scale{v.Began, v.Now}
	if v.Over {
		s.to = v.Since
	}
	d := Diagram{Width: labelWidth + plotWidth + 10}
	lanes, left := 0, 0
	next := func() (y int, room bool) {
		if lanes == maxLanes {
			left++
			return 0, false
		}
		lanes++
		return axisHeight + (lanes-1)*rowHeight, true
	}
	most := fastest(samples)
	for i := range v.Clients {
		if y, room := next(); room {
			d.client(s, v, &v.Clients[i], y)
		}
		for h := range v.Hosts {
			if v.Hosts[h].Client != i {
				continue
			}
			if y, room := next(); room {
				var of series
				if h < len(samples) {
					of = samples[h]
				}
				d.host(s, hostName(h, v.Hosts[h]), of, most, y)
			}
		}
	}
	d.Height = axisHeight + lanes*rowHeight + 6
	d.text(labelWidth, 16, "axis", v.Began.Format(time.TimeOnly))
	d.text(labelWidth+plotWidth-60, 16, "axis", s.to.Format(time.TimeOnly))
	d.Note = "A bar of a client says how far it has come. A bar of a host is as high as its traffic; the highest is " +
		amount(uint64(most)) + " per second. It stands on a thick line where a socket or a window was full."
	if most == 0 {
		d.Note = "A bar of a client says how far it has come. No host has told any traffic."
	}
	if left > 0 {
		d.Note += fmt.Sprintf(" %d more rows are not drawn.", left)
	}
	return d
}

func (d *Diagram) text(x, y int, class, text string) {
	d.Shapes = append(d.Shapes, Shape{X: x, Y: y, Class: class, Text: text})
}

// bar draws a bar with its name in it, if that fits.
func (d *Diagram) bar(x0, x1, y, h int, class, name string) {
	d.Shapes = append(d.Shapes, Shape{X: x0, Y: y, W: max(1, x1-x0), H: h, Class: class})
	if x1-x0 >= minLabel && name != "" {
		d.text(x0+5, y+h-6, "in", name)
	}
}

// client draws a client's stages: each until the next begins, or now.
func (d *Diagram) client(s scale, v *server.View, c *server.ClientView, y int) {
	d.text(4, y+19, "label", fmt.Sprintf("client %d: %s", c.Rank, short(c)))
	if c.Joined.IsZero() {
		return
	}
	end := s.to
	if c.Stage == "finished" || c.Stage == "lost" {
		end = c.Since
	}
	stages := []struct {
		class, name string
		from        time.Time
	}{{"joined", "joined", c.Joined}, {"exchanging", "exchanging", v.Met}, {"running", "running", v.Started}}
	for i, x := range stages {
		to := end
		if i+1 < len(stages) && !stages[i+1].from.IsZero() {
			to = stages[i+1].from
		}
		if !x.from.IsZero() && !to.Before(x.from) {
			d.bar(s.x(x.from), s.x(to), y+4, rowHeight-8, x.class, x.name)
		}
	}
	switch c.Stage {
	case "finished", "lost":
		d.bar(s.x(end)-3, s.x(end), y+2, rowHeight-4, c.Stage, "")
	}
}

// hostName names a host and its ranks.
func hostName(number int, h server.HostView) string {
	if h.Procs == 1 {
		return fmt.Sprintf("host %d, rank %s", number, ranks(h))
	}
	return fmt.Sprintf("host %d, ranks %s", number, ranks(h))
}

// short is a client's stage in a word or two.
func short(c *server.ClientView) string {
	if len(c.Stage) > 10 && c.Stage[:10] == "exchanging" {
		return "exchanging"
	}
	return c.Stage
}

// host draws a host's traffic.
func (d *Diagram) host(s scale, name string, of series, most float64, y int) {
	d.text(18, y+19, "label", name)
	const room = rowHeight - 8
	for _, x := range of {
		from, to := s.x(x.from), s.x(x.to)
		if h := int(float64(room) * x.rate() / max(most, 1)); x.bytes > 0 {
			d.bar(from, to, y+4+room-max(1, h), max(1, h), "traffic", "")
		}
		if x.full {
			d.bar(from, to, y+4+room, 3, "full", "")
		}
	}
}

// sample is what a host has sent and received in a time.
type sample struct {
	from, to time.Time
	bytes    uint64
	full     bool // a socket or a window was
}

func (x sample) rate() float64 {
	d := x.to.Sub(x.from).Seconds()
	if d <= 0 {
		return 0
	}
	return float64(x.bytes) / d
}

// series are the samples of a host, in order: maxSamples at most.
type series []sample

const maxSamples = 200

// add adds a sample. If there are too many, each two become one: a long time takes as much memory as a short one.
func (of series) add(x sample) series {
	if len(of) == maxSamples {
		for i := range maxSamples / 2 {
			a, b := of[2*i], of[2*i+1]
			of[i] = sample{a.from, b.to, a.bytes + b.bytes, a.full || b.full}
		}
		of = of[:maxSamples/2]
	}
	return append(of, x)
}

// fastest is the highest rate of all.
func fastest(all []series) (most float64) {
	for _, of := range all {
		for _, x := range of {
			most = max(most, x.rate())
		}
	}
	return most
}
