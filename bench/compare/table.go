package main

import (
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"
)

// line is one metric of a group: a row of values for each round, a column for each library, NaN where there is none.
type line struct {
	metric, unit string
	rounds       [][]float64
}

// target is the ratio asked for: at most (or at least) bound.
type target struct {
	group, metric string // metric may be a pattern as in path.Match
	atLeast       bool
	bound         float64
}

// measure runs a group: every round runs each library once. A run that fails is reported once and leaves a gap.
func measure(g group, present []*library, rounds int) []*line {
	var lines []*line
	find := func(metric, unit string) *line {
		for _, l := range lines {
			if l.metric == metric {
				return l
			}
		}
		l := &line{metric: metric, unit: unit}
		for range rounds {
			row := make([]float64, len(present))
			for i := range row {
				row[i] = math.NaN()
			}
			l.rounds = append(l.rounds, row)
		}
		lines = append(lines, l)
		return l
	}
	failed := map[string]bool{}
	for round := range rounds {
		for i, lib := range present {
			samples, err := g.run(lib)
			if err != nil && !failed[lib.name] {
				failed[lib.name] = true
				fmt.Printf("%s: %v\n", g.name, err)
			}
			for _, s := range samples {
				find(s.metric, s.unit).rounds[round][i] = s.value
			}
		}
	}
	return lines
}

func higherIsBetter(unit string) bool {
	return unit == "MB/s" || unit == "Mmsg/s" || unit == "%"
}

// ratio is ours (column 0) over the better peer, the median over the rounds that have both; NaN if none has, or both are 0.
// What has unit x is a ratio already.
func (l *line) ratio() float64 {
	if l.unit == "x" {
		return l.value(0)
	}
	var ratios []float64
	for _, row := range l.rounds {
		best := math.NaN()
		for _, v := range row[1:] {
			if math.IsNaN(best) || (v > best) == higherIsBetter(l.unit) && !math.IsNaN(v) {
				best = v
			}
		}
		if r := row[0] / best; !math.IsNaN(r) { // infinite where only we hide anything
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return math.NaN()
	}
	return median(ratios)
}

// value is a library's median over the rounds.
func (l *line) value(column int) float64 {
	var v []float64
	for _, row := range l.rounds {
		if !math.IsNaN(row[column]) {
			v = append(v, row[column])
		}
	}
	if len(v) == 0 {
		return math.NaN()
	}
	return median(v)
}

// parseTargets reads lines of group, metric, <= or >=, ratio; # begins a comment.
func parseTargets(text string) ([]target, error) {
	var targets []target
	for i, s := range strings.Split(text, "\n") {
		s, _, _ = strings.Cut(s, "#")
		f := strings.Fields(s)
		if len(f) == 0 {
			continue
		}
		if len(f) != 4 || f[2] != "<=" && f[2] != ">=" {
			return nil, fmt.Errorf("line %d: want group, metric, <= or >=, ratio", i+1)
		}
		bound, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		targets = append(targets, target{f[0], f[1], f[2] == ">=", bound})
	}
	return targets, nil
}

// findTarget is the first target of this metric; a pattern's * stands for anything, slashes too.
func findTarget(targets []target, group, metric string) (target, bool) {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", ".") }
	for _, t := range targets {
		if ok, _ := path.Match(flat(t.metric), flat(metric)); ok && t.group == group {
			return t, true
		}
	}
	return target{}, false
}

func (t target) met(ratio float64) bool {
	if t.atLeast {
		return ratio >= t.bound
	}
	return ratio <= t.bound
}

// printTable writes one group and answers how many targets were missed. Without ours, or without a peer, there
// are no ratios.
func printTable(w io.Writer, name string, present []*library, lines []*line, targets []target) int {
	ours := present[0].name == "ours" && len(present) > 1
	fmt.Fprintf(w, "\n%-28s", name)
	for _, l := range present {
		fmt.Fprintf(w, " %12s", l.name)
	}
	fmt.Fprintf(w, " %-7s", "unit")
	if ours {
		fmt.Fprintf(w, " %8s  %s", "ratio", "target")
	}
	fmt.Fprintln(w)
	missed := 0
	for _, l := range lines {
		fmt.Fprintf(w, "%-28s", l.metric)
		for i := range present {
			fmt.Fprintf(w, " %12s", number(l.value(i)))
		}
		fmt.Fprintf(w, " %-7s", l.unit)
		if ours {
			ratio := l.ratio()
			fmt.Fprintf(w, " %8s", number(ratio))
			if t, ok := findTarget(targets, name, l.metric); ok {
				sign, verdict := "<=", "met"
				if t.atLeast {
					sign = ">="
				}
				if !t.met(ratio) {
					verdict = "MISSED"
					missed++
				}
				fmt.Fprintf(w, "  %s %.2f %s", sign, t.bound, verdict)
			}
		}
		fmt.Fprintln(w)
	}
	return missed
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
