package main

import (
	"math"
	"testing"
)

func TestTargetsAreFoundByGroupAndPattern(t *testing.T) {
	targets, err := parseTargets("# comment\nshm lat/8 <= 1.0\ncoll coll/* <= 1.5 # all\nshm bw/* >= 0.9\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		group, metric string
		ratio         float64
		found, met    bool
	}{
		{"shm", "lat/8", 1, true, true},
		{"shm", "lat/8", 1.01, true, false},
		{"tcp", "lat/8", 1, false, false},
		{"coll", "coll/bcast/8", 1.4, true, true},
		{"shm", "bw/1024", 0.89, true, false},
		{"shm", "lat/8", math.NaN(), true, false},
	} {
		got, ok := findTarget(targets, c.group, c.metric)
		if ok != c.found || ok && got.met(c.ratio) != c.met {
			t.Errorf("%s %s at %v: found %v, met %v", c.group, c.metric, c.ratio, ok, got.met(c.ratio))
		}
	}
	for _, bad := range []string{"shm lat/8 1.0", "shm lat/8 == 1", "shm lat/8 <= x"} {
		if _, err := parseTargets(bad); err == nil {
			t.Errorf("parseTargets(%q) takes it", bad)
		}
	}
}
