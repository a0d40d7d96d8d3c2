package main

import (
	"slices"
	"testing"
)

func TestASendIsHeldAgainstWhatTwoCoresReach(t *testing.T) {
	got := compareBounds([]sample{{"send/column", 900, "MB/s"}, {"send/transpose", 1000, "MB/s"}},
		[]sample{{"bound/column", 1200, "MB/s"}, {"bound/panel-16", 9000, "MB/s"}})
	want := []sample{{"send/column", 900, "MB/s"}, {"bound/column", 1200, "MB/s"}, {"send:bound/column", 0.75, "x"}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
