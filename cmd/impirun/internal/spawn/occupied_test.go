package spawn

import (
	"slices"
	"testing"
)

func TestPlacesOfEndedJobsAreGivenToTheNext(t *testing.T) {
	var o occupied
	for _, step := range []struct {
		machine     string
		n           int
		before, own []int
		back        []int
	}{
		{"", 2, nil, []int{0, 1}, nil},
		{"", 2, []int{0, 1}, []int{2, 3}, nil},
		{"alpha", 1, nil, []int{0}, nil},
		{"", 1, []int{0, 1, 2, 3}, []int{4}, []int{2, 3}},
		{"", 3, []int{0, 1, 4}, []int{2, 3, 5}, nil},
		{"alpha", 1, []int{0}, []int{1}, nil},
	} {
		before, own := o.take(step.machine, step.n)
		if !slices.Equal(before, step.before) || !slices.Equal(own, step.own) {
			t.Errorf("%d on %q: %v beside %v, want %v beside %v", step.n, step.machine, own, before, step.own, step.before)
		}
		o.giveBack(step.machine, step.back)
	}
}
