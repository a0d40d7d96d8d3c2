package main

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestRatioIsTheMedianOfPairedRounds(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		unit   string
		rounds [][]float64
		want   float64
	}{
		{"us", [][]float64{{1, 2, 4}}, 0.5},
		{"us", [][]float64{{4, nan, 2}}, 2},
		{"MB/s", [][]float64{{4, 2, 8}}, 0.5},
		{"MB/s", [][]float64{{4, 2, nan}}, 2},
		// The machine is ten times slower in the second round; the ratio does not notice.
		{"us", [][]float64{{1, 2, 3}, {10, 20, 30}, {1, 2, 3}}, 0.5},
		{"us", [][]float64{{nan, 2, 3}, {6, 2, 3}}, 3},
		{"us", [][]float64{{nan, 2, 3}}, nan},
		{"us", [][]float64{{1, nan, nan}}, nan},
		{"us", [][]float64{{1}}, nan},
	} {
		got := (&line{unit: c.unit, rounds: c.rounds}).ratio()
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v %s: ratio %v, want %v", c.rounds, c.unit, got, c.want)
		}
	}
}

func TestWhatIsARatioItselfIsHeldAgainstItsTargetAsItIs(t *testing.T) {
	nan := math.NaN()
	l := &line{metric: "agent:3direct/8", unit: "x", rounds: [][]float64{{0.7, nan}, {0.9, nan}, {1.2, nan}}}
	if got := l.ratio(); got != 0.9 {
		t.Errorf("ratio %v", got)
	}
}

// enough wants no more rounds.
func enough([]*line) bool { return false }

func TestOfAWholeProgramTheBestTimeCounts(t *testing.T) {
	nan := math.NaN()
	l := newLine("time/solver/2", "s", 3, 3)
	l.rounds = [][]float64{{2, 1.5, nan}, {1, 3, 3}, {nan, nan, nan}}
	if got := l.ratio(); got != 1/1.5 || l.value(0) != 1 || l.value(2) != 3 {
		t.Errorf("ratio %v of %v and %v", got, l.value(0), l.value(2))
	}
	if l := newLine("cpu/solver/2", "s/rank", 3, 3); l.best {
		t.Error("the best of what is for information only")
	}
}

func TestARowThatMissesItsTargetIsRunOnceMore(t *testing.T) {
	for _, c := range []struct {
		ours float64
		ran  int
	}{{1.0, 2}, {1.5, 4}} {
		ran := 0
		g := group{"apps/x/2", func(l *library) ([]sample, error) {
			if l.name == ours {
				ran++
				return []sample{{"time/x/2", c.ours, "s"}}, nil
			}
			return []sample{{"time/x/2", 1, "s"}}, nil
		}}
		w := &table{group: "apps", present: []*library{{name: ours}, {name: "peer"}},
			targets: []target{{group: "apps", metric: "time/*", bound: 1.05}}}
		if lines := measure(g, w.present, 2, w.doubtful); ran != c.ran || lines[0].ratio() != c.ours {
			t.Errorf("ours %v: %d rounds, ratio %v", c.ours, ran, lines[0].ratio())
		}
	}
}

func TestRoundsGoForthAndBack(t *testing.T) {
	var ran []string
	g := group{"g", func(l *library) ([]sample, error) {
		ran = append(ran, l.name)
		return []sample{{"m", float64(len(ran)), "us"}}, nil
	}}
	lines := measure(g, []*library{{name: "a"}, {name: "b"}}, 3, enough)
	if !slices.Equal(ran, []string{"a", "b", "b", "a", "a", "b"}) {
		t.Error(ran)
	}
	if l := lines[0]; len(lines) != 1 || l.rounds[1][0] != 4 || l.rounds[1][1] != 3 {
		t.Errorf("%+v", l)
	}
}

func TestALibraryThatTakesTooLongIsRunOnce(t *testing.T) {
	ran := map[string]int{}
	g := group{"g", func(l *library) ([]sample, error) {
		ran[l.name]++
		if l.name == "slow" {
			return []sample{{"m", math.NaN(), "s"}}, &tooLong{"slow", 7 * time.Second}
		}
		return []sample{{"m", 1, "s"}}, nil
	}}
	lines := measure(g, []*library{{name: ours}, {name: "slow"}, {name: "quick"}}, 3, enough)
	if ran["slow"] != 1 || ran["quick"] != 3 || len(lines) != 1 {
		t.Error(ran, lines)
	}
	if l := lines[0]; l.limitOf(1) != 7*time.Second || l.limitOf(2) != 0 || l.ratio() != 1 || l.alone() {
		t.Errorf("%+v", l)
	}
	if l := measure(g, []*library{{name: ours}, {name: "slow"}}, 1, enough)[0]; !l.alone() || !math.IsNaN(l.ratio()) {
		t.Errorf("%+v", l)
	}
}
