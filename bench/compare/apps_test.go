package main

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestGeometricMeanOfRatios(t *testing.T) {
	for _, c := range []struct {
		ratios []float64
		want   float64
	}{{[]float64{2, 0.5}, 1}, {[]float64{0.9}, 0.9}, {[]float64{1, 1, 8}, 2}} {
		if got := geometricMean(c.ratios); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.ratios, got, c.want)
		}
	}
}

func TestMeanIsOfTheTimesThatHaveARatio(t *testing.T) {
	nan := math.NaN()
	lines := []*line{
		{metric: "time/a/2", unit: "s", rounds: [][]float64{{1, 2}}},
		{metric: "time/b/2", unit: "us", rounds: [][]float64{{4, 2}}},
		{metric: "time/c/2", unit: "s", rounds: [][]float64{{1, nan}}},
		{metric: "cpu/a/2", unit: cpuUnit, rounds: [][]float64{{9, 1}}},
	}
	if m := meanLine(lines, 2); m == nil || math.Abs(m.ratio()-1) > 1e-12 || m.metric != appsMean {
		t.Errorf("%+v", m)
	}
	if m := meanLine(lines[2:], 2); m != nil {
		t.Errorf("%+v", m)
	}
}

func TestTheMeanHasATargetOfItsOwn(t *testing.T) {
	text, err := os.ReadFile("../targets.txt")
	if err != nil {
		t.Fatal(err)
	}
	targets, err := parseTargets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{appsMean: 0.95, appsTime + "solver/4-tcp": 1.05} {
		if got, ok := findTarget(targets, appsGroup, metric); !ok || got.bound != want || got.atLeast {
			t.Errorf("%s: %+v", metric, got)
		}
	}
	if _, ok := findTarget(targets, appsGroup, "cpu/solver/2"); ok {
		t.Error("what is told for information has a target")
	}
}

func TestUsageOfAllRanksIsReadBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage")
	for _, u := range []rankUsage{{2, 1, 100, 1024}, {4, 3, 800, 2048}} {
		if err := note(file, u); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	used, err := parseUsage(string(text), 2)
	if err != nil {
		t.Fatal(err)
	}
	if cpu, switches := perRank(used); cpu != 2 || switches != 125 {
		t.Errorf("%v s, %v switches a second", cpu, switches)
	}
	if _, err := parseUsage(string(text), 3); err == nil {
		t.Error("a rank that told nothing is not missed")
	}
	if _, err := parseUsage("1 2\n", 1); err == nil {
		t.Error("half a line is taken")
	}
}

func TestUsageAnswersTheCommandsExitCode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage")
	if code := usage(file, []string{"sh", "-c", "exit 7"}); code != 7 {
		t.Errorf("exit code %d", code)
	}
	if code := usage(file, []string{"sh", "-c", "kill -9 $$"}); code != 137 {
		t.Errorf("exit code %d of a killed command", code)
	}
	text, _ := os.ReadFile(file)
	if used, err := parseUsage(string(text), 2); err != nil || used[0].wall <= 0 {
		t.Error(used, err)
	}
}

func TestRowsAreNamedByRanksAndWay(t *testing.T) {
	r := appRow{app: app{name: "solver"}, ranks: 4, tcp: true}
	if s := r.time(1.5); s != (sample{"time/solver/4-tcp", 1.5, "s"}) {
		t.Errorf("%v", s)
	}
	r = appRow{app: app{name: "app-solver", figure: "app/solver/"}, ranks: 2}
	if s := r.time(90); s != (sample{"time/app-solver/2", 90, "us"}) {
		t.Errorf("%v", s)
	}
}

func TestOnlyARunThatTookTooLongHasARowWithoutTime(t *testing.T) {
	r := appRow{app: app{name: "solver"}, ranks: 4}
	if s := r.exceeded(&tooLong{"solver", time.Second}); len(s) != 1 || !math.IsNaN(s[0].value) {
		t.Error(s)
	}
	if s := r.exceeded(errors.New("it crashed")); s != nil {
		t.Error(s)
	}
}

func TestProgramsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range append(appList("bench", "examples_c", "data"), hpcc("tree", "-lblas")) {
		if seen[a.name] || a.build == nil {
			t.Errorf("%+v", a)
		}
		seen[a.name] = true
	}
}

func TestAProgramTellsItsFigure(t *testing.T) {
	if v, err := figure("app/solver/2 90.5 us\napp/solver-switches/2 3 1/s\n", "app/solver/2"); err != nil || v != 90.5 {
		t.Error(v, err)
	}
	if _, err := figure("app/solver/2 90.5 us\n", "app/solver/4"); err == nil {
		t.Error("a figure that is not there is found")
	}
}

func TestWordsAreLettersAndDiffer(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(100_000) {
		w := word(n)
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" || seen[w] {
			t.Fatalf("word %d is %q", n, w)
		}
		seen[w] = true
	}
}

func TestInformationStandsBehindWhatCounts(t *testing.T) {
	counts, info := split([]*line{{metric: "a", unit: "s"}, {metric: "b", unit: cpuUnit}, {metric: "c", unit: "us"}})
	names := func(lines []*line) (all []string) {
		for _, l := range lines {
			all = append(all, l.metric)
		}
		return all
	}
	if !slices.Equal(names(counts), []string{"a", "c"}) || !slices.Equal(names(info), []string{"b"}) {
		t.Error(names(counts), names(info))
	}
}
