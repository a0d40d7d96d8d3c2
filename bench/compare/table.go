package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
)

// table writes one group. Without ours, or without a peer, there are no ratios.
type table struct {
	w       io.Writer
	group   string
	present []*library
	targets []target
	missed  int // targets, so far

	confidence float64 // of the intervals that stand beside ratios; 0: there are none
}

func (t *table) ratios() bool { return t.present[0].name == ours && len(t.present) > 1 }

// measure measures the parts of a group and writes each as soon as it is known, then the mean, where there is one, and
// what is there for information.
func (t *table) measure(parts []group, rounds int) []*line {
	var all, later []*line
	for i, p := range parts {
		counts, info := split(measure(p, t.present, rounds, t.doubtful))
		all, later = append(all, counts...), append(later, info...)
		if i == 0 {
			t.head()
		}
		t.print(counts)
	}
	if mean := meanLine(all, len(t.present)); mean != nil {
		t.print([]*line{mean})
	}
	t.print(later)
	return all
}

// doubtful tells whether one of a group's lines is held against its best value, and that is not good enough yet: other
// work of the machine may have met every round of ours.
func (t *table) doubtful(lines []*line) bool {
	for _, l := range lines {
		want, ok := findTarget(t.targets, t.group, l.metric)
		if ok && l.best && t.ratios() && !l.alone() && !want.met(l.ratio()) {
			return true
		}
	}
	return false
}

func (t *table) head() {
	fmt.Fprintf(t.w, "\n%-28s", t.group)
	for _, l := range t.present {
		fmt.Fprintf(t.w, " %14s", l.title())
	}
	fmt.Fprintf(t.w, " %-7s", "unit")
	if t.ratios() {
		fmt.Fprintf(t.w, " %8s  %s", "ratio", "target")
	}
	fmt.Fprintln(t.w)
}

func (t *table) print(lines []*line) {
	for _, l := range lines {
		fmt.Fprintf(t.w, "%-28s", l.metric)
		for i := range t.present {
			fmt.Fprintf(t.w, " %14s", cell(l.value(i), l.limitOf(i).Seconds()))
		}
		fmt.Fprintf(t.w, " %-7s", l.unit)
		if t.ratios() {
			ratio := l.ratio()
			fmt.Fprintf(t.w, " %8s%s", number(ratio), t.mark(l, ratio))
			if t.confidence > 0 {
				fmt.Fprint(t.w, interval(l.ratios(), t.confidence))
			}
		}
		fmt.Fprintln(t.w)
	}
}

// mark holds a ratio against its target, if there is one, and counts those missed.
func (t *table) mark(l *line, ratio float64) string {
	want, ok := findTarget(t.targets, t.group, l.metric)
	if !ok {
		return ""
	}
	sign, said := "<=", "met"
	if want.atLeast {
		sign = ">="
	}
	switch {
	case l.alone():
		said = "no peer in time"
	case !want.met(ratio):
		said = "MISSED"
		t.missed++
	}
	return fmt.Sprintf("  %s %.2f %s", sign, want.bound, said)
}

// cell is a value, or the limit in seconds that was exceeded.
func cell(v, limit float64) string {
	if math.IsNaN(v) && limit > 0 {
		return fmt.Sprintf("> %g s", limit)
	}
	return number(v)
}

func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "-"
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
}
