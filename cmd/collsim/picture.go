package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/simulate"
)

// A chart shows lines over logarithmic axes.
type chart struct {
	title, x string
	lines    []line
	label    func(x float64) string // of a mark on the x axis
	base     float64                // between marks of the x axis
}

type line struct {
	name   string
	x      []float64
	y      []simulate.Time
	dashed bool
}

func (l *line) add(x int64, y simulate.Time) {
	l.x, l.y = append(l.x, float64(x)), append(l.y, y)
}

// Where things are, in pixels.
const (
	width, height     = 720, 400
	left, right       = 80, 200
	top, bottom       = 40, 50
	plotW, plotH      = width - left - right, height - top - bottom
	colors            = "#0072b2 #d55e00 #009e73 #cc79a7 #e69f00 #56b4e9 #000000 #8c564b #7f7f7f #bcbd22"
	text, grid, frame = "#333333", "#dddddd", "#888888"
)

// svg draws the chart.
func (c *chart) svg() string {
	x0, x1 := c.lines[0].x[0], c.lines[0].x[0]
	y0, y1 := c.lines[0].y[0], c.lines[0].y[0]
	for _, l := range c.lines {
		for i := range l.x {
			x0, x1 = min(x0, l.x[i]), max(x1, l.x[i])
			y0, y1 = min(y0, l.y[i]), max(y1, l.y[i])
		}
	}
	// The y axis goes from decade to decade.
	low, high := math.Floor(math.Log10(float64(y0))), math.Ceil(math.Log10(float64(y1)))
	atX := func(x float64) float64 { return left + plotW*math.Log(x/x0)/math.Log(x1/x0) }
	atY := func(y float64) float64 { return top + plotH*(high-math.Log10(y))/(high-low) }

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+
		"\n<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", width, height, width, height)
	say := func(x, y float64, anchor, fill, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, fill, s)
	}
	rule := func(x, y, u, v float64) {
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x, y, u, v, grid)
	}
	say(left, 24, "start", text, c.title)
	say(left+plotW/2, height-10, "middle", text, c.x)
	for d := low; d <= high; d++ {
		y := math.Pow(10, d)
		rule(left, atY(y), left+plotW, atY(y))
		say(left-8, atY(y)+4, "end", text, duration(simulate.Time(math.Round(y))))
	}
	for x := x0; x <= x1*1.001; x *= c.base {
		rule(atX(x), top, atX(x), top+plotH)
		say(atX(x), top+plotH+18, "middle", text, c.label(x))
	}
	fmt.Fprintf(&b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n", left, top, plotW,
		plotH, frame)
	palette := strings.Fields(colors)
	for i, l := range c.lines {
		color, dashes := palette[i%len(palette)], ""
		if l.dashed {
			dashes = ` stroke-dasharray="6 3"`
		}
		var points []string
		for j := range l.x {
			points = append(points, fmt.Sprintf("%.1f,%.1f", atX(l.x[j]), atY(float64(l.y[j]))))
		}
		fmt.Fprintf(&b, "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
			strings.Join(points, " "), color, dashes)
		y := float64(top + 10 + 18*i)
		fmt.Fprintf(&b, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
			left+plotW+12, y, left+plotW+40, y, color, dashes)
		say(left+plotW+46, y+4, "start", text, l.name)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// overRanks shows operations as their ranks become more, on the machine of the linear model, and in clusters (dashed).
func overRanks() (string, error) {
	c := chart{title: "8 bytes: one port and 1 µs a message; dashed: machines of 50 ranks, clusters of 100 machines",
		x: "ranks", base: 10, label: func(x float64) string { return fmt.Sprintf("%.0f", x) }}
	var dashed []line
	for _, name := range []string{"barrier", "bcast", "allreduce", "allgather", "alltoall"} {
		solid, broken := line{name: name}, line{name: name + ", clusters", dashed: true}
		for _, p := range []int{10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000} {
			times, err := timesOf(simulate.Case{Operation: name, Ranks: p, Bytes: 8}, []machine{machines[0], machines[2]})
			if err != nil {
				return "", err
			}
			if times != nil {
				solid.add(int64(p), times[0])
				broken.add(int64(p), times[1])
			}
		}
		c.lines, dashed = append(c.lines, solid), append(dashed, broken)
	}
	c.lines = append(c.lines, dashed...)
	return c.svg(), nil
}

// overBytes shows all algorithms of allreduce as the vector becomes longer, and the default one (dashed).
func overBytes() (string, error) {
	const ranks = 64
	c := chart{title: fmt.Sprintf("allreduce among %d ranks: 1 µs + 0.1 ns a byte, one port", ranks), x: "bytes", base: 8,
		label: func(x float64) string { return size(int64(math.Round(x))) }}
	names := []string{""}
	for _, o := range choose.Operations {
		for _, a := range o.Algorithms {
			if o.Name == "allreduce" {
				names = append(names, a.Name)
			}
		}
	}
	for _, name := range names {
		l := line{name: name}
		if name == "" {
			l = line{name: "default", dashed: true}
		}
		for n := int64(8); n <= 16<<20; n *= 2 {
			times, err := timesOf(simulate.Case{Operation: "allreduce", Algorithm: name, Ranks: ranks, Bytes: n}, machines[:1])
			if err != nil {
				return "", err
			}
			if times != nil {
				l.add(n, times[0])
			}
		}
		if l.x != nil {
			c.lines = append(c.lines, l)
		}
	}
	c.lines = append(c.lines[1:], c.lines[0]) // the default on top of the others
	return c.svg(), nil
}
