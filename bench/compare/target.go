package main

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// target is the ratio asked for: at most (or at least) bound.
type target struct {
	group, metric string // metric may be a pattern as in path.Match
	atLeast       bool
	bound         float64
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

// findTarget is the first target of this metric.
func findTarget(targets []target, group, metric string) (target, bool) {
	for _, t := range targets {
		if t.group == group && matches(t.metric, metric) {
			return t, true
		}
	}
	return target{}, false
}

// matches: a pattern's * stands for anything, slashes too.
func matches(pattern, name string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", ".") }
	ok, _ := path.Match(flat(pattern), flat(name))
	return ok
}

func (t target) met(ratio float64) bool {
	if t.atLeast {
		return ratio >= t.bound
	}
	return ratio <= t.bound
}
