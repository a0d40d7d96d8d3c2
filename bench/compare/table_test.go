package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestTableSaysWhatIsMissed(t *testing.T) {
	lines := []*line{
		{metric: "lat/8", unit: "us", rounds: [][]float64{{2, 1}}},
		{metric: "lat/0", unit: "us", rounds: [][]float64{{1, 2}}},
		{metric: "lat/1", unit: "us", rounds: [][]float64{{1, math.NaN()}}, late: []time.Duration{0, 20 * time.Second}},
	}
	targets, _ := parseTargets("shm lat/* <= 1")
	var b strings.Builder
	present := []*library{{name: ours}, {name: "mpich", version: "5.0.2"}}
	table := table{w: &b, group: "shm", present: present, targets: targets}
	table.head()
	table.print(lines)
	if table.missed != 1 {
		t.Errorf("%d missed, want 1", table.missed)
	}
	for _, want := range []string{"mpich 5.0.2", "<= 1.00 MISSED", "<= 1.00 met", "> 20 s", "<= 1.00 no peer in time"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
