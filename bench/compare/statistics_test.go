package main

import (
	"math"
	"testing"
)

func TestAMedianIsThatOfTheValuesInOrder(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		v    []float64
		want float64
	}{
		{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{1, 9, 2, 3}, 2.5},
		{[]float64{0.5, 7, 0.25, 1, 2, 0.125, 3}, 1},
		// Infinite where only we hide anything.
		{[]float64{inf, 1, 2}, 2}, {[]float64{inf, 1, inf}, inf}, {[]float64{inf}, inf}, {[]float64{1, inf}, inf},
	} {
		if got := median(c.v); got != c.want && math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", c.v, got, c.want)
		}
	}
	v := []float64{3, 1, 2}
	if median(v); v[0] != 3 || v[1] != 1 {
		t.Errorf("the values are in another order: %v", v)
	}
}

func TestAnIntervalNeedsSeveralRounds(t *testing.T) {
	v := []float64{1.1, 0.9, 1, 1.2, 0.8, 1.05, 0.95, 1.02}
	for n, want := range map[int]string{0: "", 1: "", 3: "", 8: " [0.800, 1.100]"} {
		if got := interval(v[:n], 0.95); got != want {
			t.Errorf("%d values: %q, want %q", n, got, want)
		}
	}
	if got := interval(append(v, math.Inf(1)), 0.5); got == "" {
		t.Error("an infinite value leaves no interval")
	}
}
