package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// line is one metric of a group: a row of values for each round, a column for each library, NaN where there is none.
type line struct {
	metric, unit string
	rounds       [][]float64
	late         []time.Duration // by library: the limit that a run exceeded, or 0; may be nil
	best         bool            // the best of the rounds counts, of each library; else the median
}

// measure runs a group: every round runs each library once, forth and back by turns, since what ran before leaves the
// machine in a state. A run that fails is reported once and leaves a gap; a library that exceeds its limit is not run
// again.
//
// If wanting says of the lines so far that they need more, as many rounds follow once more.
func measure(g group, present []*library, rounds int, wanting func([]*line) bool) []*line {
	var lines []*line
	find := func(metric, unit string) *line {
		for _, l := range lines {
			if l.metric == metric {
				return l
			}
		}
		lines = append(lines, newLine(metric, unit, len(present), 2*rounds))
		return lines[len(lines)-1]
	}
	failed := map[int]bool{}
	late := map[int]bool{}
	for round := range 2 * rounds {
		if round == rounds && !wanting(lines) {
			break
		}
		for _, i := range order(len(present), round) {
			if late[i] {
				continue
			}
			samples, err := g.run(present[i])
			for _, s := range samples {
				find(s.metric, s.unit).rounds[round][i] = s.value
			}
			var limit *tooLong
			late[i] = errors.As(err, &limit)
			if late[i] {
				for _, s := range samples {
					find(s.metric, s.unit).late[i] = limit.limit
				}
			}
			if err != nil && !failed[i] && !(late[i] && len(samples) > 0) {
				failed[i] = true
				fmt.Printf("%s: %v\n", g.name, err)
			}
		}
	}
	return lines
}

func newLine(metric, unit string, libraries, rounds int) *line {
	l := &line{metric: metric, unit: unit, late: make([]time.Duration, libraries), best: strings.HasPrefix(metric,
		appsTime)}
	for range rounds {
		row := make([]float64, libraries)
		for i := range row {
			row[i] = math.NaN()
		}
		l.rounds = append(l.rounds, row)
	}
	return l
}

// order is that in which the libraries run in a round.
func order(libraries, round int) []int {
	at := make([]int, libraries)
	for i := range at {
		at[i] = i
		if round%2 == 1 {
			at[i] = libraries - 1 - i
		}
	}
	return at
}

func higherIsBetter(unit string) bool {
	return unit == "MB/s" || unit == "Mmsg/s" || unit == "%"
}

// ratio is ours (column 0) over the better peer, the median over the rounds that have both, or that of the best values;
// NaN if none has, or both are 0. What has unit x is a ratio already.
func (l *line) ratio() float64 {
	if l.unit == "x" {
		return l.value(0)
	}
	if l.best {
		var peers []float64
		for i := 1; i < len(l.rounds[0]); i++ {
			peers = append(peers, l.value(i))
		}
		return l.value(0) / l.better(peers)
	}
	ratios := l.ratios()
	if len(ratios) == 0 {
		return math.NaN()
	}
	return median(ratios)
}

// ratios are those of the rounds that have both.
func (l *line) ratios() (ratios []float64) {
	for _, row := range l.rounds {
		r := row[0]
		if l.unit != "x" {
			r /= l.better(row[1:])
		}
		if !math.IsNaN(r) { // infinite where only we hide anything
			ratios = append(ratios, r)
		}
	}
	return ratios
}

// better is the best of some values, NaN if there is none.
func (l *line) better(values []float64) float64 {
	best := math.NaN()
	for _, v := range values {
		if math.IsNaN(best) || (v > best) == higherIsBetter(l.unit) && !math.IsNaN(v) {
			best = v
		}
	}
	return best
}

// value is a library's median over the rounds, or its best.
func (l *line) value(column int) float64 {
	var v []float64
	for _, row := range l.rounds {
		if !math.IsNaN(row[column]) {
			v = append(v, row[column])
		}
	}
	switch {
	case len(v) == 0:
		return math.NaN()
	case l.best:
		return l.better(v)
	}
	return median(v)
}

// limitOf is what a library exceeded, or 0.
func (l *line) limitOf(column int) time.Duration {
	if column < len(l.late) {
		return l.late[column]
	}
	return 0
}

// alone: we have a value, and no peer, of which at least one took too long. There is nothing to hold ours against.
func (l *line) alone() bool {
	late := false
	for i := 1; i < len(l.late); i++ {
		if !math.IsNaN(l.value(i)) {
			return false
		}
		late = late || l.late[i] > 0
	}
	return late && !math.IsNaN(l.value(0))
}
