package main

import (
	"math"
	"strings"
	"testing"
)

func TestCliffsAreFoundAndNothingElse(t *testing.T) {
	nan := math.NaN()
	at := func(metric string, us float64) *line {
		return &line{metric: metric, unit: "us", rounds: [][]float64{{us, 1}}}
	}
	for _, c := range []struct {
		what  string
		lines []*line
		want  string
	}{
		{"proportional", []*line{at("steps/1000", 10), at("steps/1001", 10.01), at("steps/2000", 20)}, ""},
		{"a step of one packet", []*line{at("steps/8", 0.1), at("steps/16", 0.41)}, ""},
		{"noise", []*line{at("steps/1000", 10.9), at("steps/1001", 10)}, ""},
		{"longer is quicker", []*line{at("steps/1000", 12), at("steps/1001", 10)},
			"1000 bytes take 12.000 us, 1001 bytes 10.000 us"},
		{"doubling", []*line{at("steps/1000", 10), at("steps/2000", 23)},
			"1000 bytes take 10.000 us, 2000 bytes 23.000 us, 2.3 times"},
		{"missing", []*line{at("steps/1000", 10), at("steps/2000", nan)}, ""},
		{"another unit", []*line{at("steps/1000", 10), {metric: "bw/2000", unit: "MB/s", rounds: [][]float64{{99, 1}}}}, ""},
	} {
		found := strings.Join(cliffs(c.lines, 0), "\n")
		if c.want == "" && found != "" || !strings.Contains(found, c.want) {
			t.Errorf("%s: %q, want %q", c.what, found, c.want)
		}
	}
}
