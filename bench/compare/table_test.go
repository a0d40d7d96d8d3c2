package main

import (
	"math"
	"strings"
	"testing"
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

func TestSamplesAreReadFromAmongOtherLines(t *testing.T) {
	got, err := parseSamples("hello\nlat/0      0.1000 us\nsome other words here\nrate/8 15.5 Mmsg/s\n")
	if err != nil || len(got) != 2 || got[0] != (sample{"lat/0", 0.1, "us"}) || got[1] != (sample{"rate/8", 15.5, "Mmsg/s"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := parseSamples("nothing\n"); err == nil {
		t.Error("no figures are no error")
	}
}

func TestTableSaysWhatIsMissed(t *testing.T) {
	var b strings.Builder
	present := []*library{{name: "ours"}, {name: "mpich"}}
	lines := []*line{{metric: "lat/8", unit: "us", rounds: [][]float64{{2, 1}}}, {metric: "lat/0", unit: "us", rounds: [][]float64{{1, 2}}}}
	targets, _ := parseTargets("shm lat/* <= 1")
	if missed := printTable(&b, "shm", present, lines, targets); missed != 1 {
		t.Errorf("%d missed, want 1", missed)
	}
	if s := b.String(); !strings.Contains(s, "<= 1.00 MISSED") || !strings.Contains(s, "<= 1.00 met") {
		t.Error(s)
	}
}

func TestGroupsAreChosenByName(t *testing.T) {
	if all, err := chooseGroups(nil); err != nil || len(all) != len(groups()) {
		t.Errorf("%d groups, %v", len(all), err)
	}
	if two, err := chooseGroups([]string{"tcp", "shm"}); err != nil || len(two) != 2 || two[0].name != "shm" {
		t.Errorf("%v, %v", two, err)
	}
	if _, err := chooseGroups([]string{"fast"}); err == nil {
		t.Error("an unknown group is taken")
	}
}
