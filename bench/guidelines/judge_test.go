package main

import (
	"math"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestALineHasANameASizeAndFourTimes(t *testing.T) {
	got, err := parse("gatherv<=gather 8 0.5 0.25 1.5 1.25")
	want := measurement{"gatherv<=gather", 8, pair{0.5, 0.25}, pair{1.5, 1.25}}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "gather 8 1 1 1", "gather eight 1 1 1 1", "gather 8 1 1 1 x", "gather 8 1 1 1 1 1",
		"gather 8 1 -1 1 1", "gather 8 1 NaN 1 1", "gather 8 1 Inf 1 1"} {
		if m, err := parse(bad); err == nil {
			t.Errorf("%q is %+v", bad, m)
		}
	}
}

func TestAViolationShowsInTheLeastTimesAndInTheMedians(t *testing.T) {
	b := bounds{factor: 1.3, epsilon: 1}
	for _, tt := range []struct {
		name          string
		least, median pair
		factor        float64
		violated      bool
	}{
		{"gather<=allgather", pair{3, 2}, pair{4, 2}, 1.5, true},
		{"gather<=allgather", pair{4, 2}, pair{3, 2}, 1.5, true},
		{"gather<=allgather", pair{2, 2}, pair{9, 2}, 1, false},
		{"gather<=allgather", pair{9, 2}, pair{2, 2}, 1, false},
		{"gather<=allgather", pair{13, 10}, pair{13, 10}, 1.3, false},
		{"gather<=allgather", pair{0, 0}, pair{0, 0}, 1, false},
		{"ibcast<=bcast+epsilon", pair{2, 1}, pair{3, 1}, 1, false},
		{"ibcast<=bcast+epsilon", pair{4, 1}, pair{3, 1}, 1.5, true},
	} {
		got := b.judge(measurement{tt.name, 8, tt.least, tt.median})
		if math.Abs(got.factor-tt.factor) > 1e-9 || got.violated != tt.violated {
			t.Errorf("%+v: factor %v, violated %v", tt, got.factor, got.violated)
		}
	}
}

func TestTheSummaryNamesTheWorst(t *testing.T) {
	b, sum := bounds{factor: 1.3}, &tally{}
	for i, left := range []float64{1, 2, 3, 1.5} {
		sum.add(b.judge(measurement{"exscan<=scan", 8 << i, pair{left, 1}, pair{left, 1}}))
	}
	if got, want := sum.String(), "4 measured, 3 violated; the worst: exscan<=scan of 32 bytes, 3.00\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	none := &tally{measured: 2}
	if got := none.String(); got != "2 measured, 0 violated\n" {
		t.Errorf("%q", got)
	}
}

func TestColumnsStandUnderTheirHeadings(t *testing.T) {
	line := bounds{factor: 1.3}.judge(measurement{"exscan<=scan", 1048576, pair{5, 2.5}, pair{5, 2.5}}).String()
	for _, column := range [][2]string{
		{"bytes", "1048576"}, {"left us", "5.00"}, {"right us", "2.50"}, {"factor", "2.00"},
	} {
		end := func(text, word string) int { return strings.Index(text, word) + len(word) }
		if got, want := end(line, column[1]), end(heading, column[0]); got != want {
			t.Errorf("%s ends in column %d, its heading in %d\n%s%s", column[1], got, want, heading, line)
		}
	}
}

func TestNumbersOfRanksAreChecked(t *testing.T) {
	if got, err := numbers("2,8"); err != nil || len(got) != 2 || got[0] != 2 || got[1] != 8 {
		t.Error(got, err)
	}
	for _, bad := range []string{"", "0", "2,", "two"} {
		if _, err := numbers(bad); err == nil {
			t.Errorf("%q", bad)
		}
	}
}

func TestBoundRanksHaveCoresOfTheirOwn(t *testing.T) {
	var cores unix.CPUSet
	for _, core := range []int{1, 4, 6} {
		cores.Set(core)
	}
	got := strings.Join(bound(&cores, 2, []string{"program", "-r", "3"}), " ")
	if want := "-n 1 taskset -c 1 program -r 3 : -n 1 taskset -c 4 program -r 3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
