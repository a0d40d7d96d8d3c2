package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// pair is the time of either side of a guideline, in microseconds.
type pair struct{ left, right float64 }

// measurement is a line of guidelines.c.
type measurement struct {
	guideline     string
	bytes         int // 0: the guideline has no size
	least, median pair
}

// parse reads a line: name, bytes, the least time of the left and of the right side, the medians of both.
func parse(line string) (measurement, error) {
	fields := strings.Fields(line)
	if len(fields) != 6 {
		return measurement{}, fmt.Errorf("%q: %d words, not 6", line, len(fields))
	}
	bytes, err := strconv.Atoi(fields[1])
	if err != nil {
		return measurement{}, fmt.Errorf("%q: %w", line, err)
	}
	var times [4]float64
	for i := range times {
		times[i], err = strconv.ParseFloat(fields[2+i], 64)
		if err != nil {
			return measurement{}, fmt.Errorf("%q: %w", line, err)
		}
		if !(times[i] >= 0) || math.IsInf(times[i], 0) {
			return measurement{}, fmt.Errorf("%q: %v is no time", line, times[i])
		}
	}
	return measurement{fields[0], bytes, pair{times[0], times[1]}, pair{times[2], times[3]}}, nil
}

// bounds say what is a violation.
type bounds struct {
	factor  float64
	epsilon float64 // microseconds: added to the right side of a guideline that names it
}

// judgement is a measurement, its factor, and whether that is too much.
type judgement struct {
	measurement
	factor   float64
	violated bool
}

// judge returns the factor, the time of the left side over that of the right one: the smaller of those of the least
// times and of the medians. Noise that hits one side seldom raises both.
func (b bounds) judge(m measurement) judgement {
	allowed := 0.0
	if strings.HasSuffix(m.guideline, "+epsilon") {
		allowed = b.epsilon
	}
	factor := min(m.least.over(allowed), m.median.over(allowed))
	return judgement{m, factor, factor > b.factor}
}

// over is the left side over the right one and what it is granted; no time on either side is a factor of 1.
func (p pair) over(allowed float64) float64 {
	const tick = 1e-4 // the last digit of guidelines.c
	return max(p.left, tick) / max(p.right+allowed, tick)
}

const heading = "guideline                                      bytes      left us     right us   factor\n"

// String is the line of a table: the medians, and the factor.
func (j judgement) String() string {
	mark := ""
	if j.violated {
		mark = " violated"
	}
	return fmt.Sprintf("%-42s %9d %12.2f %12.2f %8.2f%s\n", j.guideline, j.bytes, j.median.left, j.median.right, j.factor,
		mark)
}

// tally counts the judgements of a run.
type tally struct {
	measured, violated int
	worst              judgement
}

// add reports whether the guideline is violated.
func (t *tally) add(j judgement) bool {
	t.measured++
	if !j.violated {
		return false
	}
	t.violated++
	if j.factor > t.worst.factor {
		t.worst = j
	}
	return true
}

func (t *tally) String() string {
	text := fmt.Sprintf("%d measured, %d violated", t.measured, t.violated)
	if t.violated > 0 {
		text += fmt.Sprintf("; the worst: %s of %d bytes, %.2f", t.worst.guideline, t.worst.bytes, t.worst.factor)
	}
	return text + "\n"
}
