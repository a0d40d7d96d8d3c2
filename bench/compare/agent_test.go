package main

import "testing"

func TestAnAgentIsHeldAgainstThreeHops(t *testing.T) {
	got := compareHops([]sample{{"hops/8", 12, "us"}, {"hops/64", 5, "us"}}, []sample{{"hops/8", 5, "us"}},
		[]sample{{"hops1/8", 9, "us"}, {"hops3/8", 24, "us"}})
	want := []sample{{"agent/8", 12, "us"}, {"direct/8", 5, "us"}, {"hops3/8", 24, "us"}, {"agent:3direct/8", 0.8, "x"},
		{"agent:hops3/8", 0.5, "x"}}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}
