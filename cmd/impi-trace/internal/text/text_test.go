package text

import (
	"flag"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden file")

func summary(t *testing.T, j *job.Job) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, analysis.Analyze(j)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The golden file has a job with each kind of wait, one without any, and one of which little is there.
func TestSummaries(t *testing.T) {
	busy := jobtest.Random(rand.New(rand.NewSource(5)), 5, 60).Job
	alone := jobtest.New(1)
	alone.Compute(0, 5000)
	little := jobtest.Uneven(3, 4, 1)
	little.Ranks[2] = job.Rank{Missing: true}
	little.Faults = []string{"1 of 3 ranks have no trace: 2", "rank 0: its name is \x1b[31m"}
	got := ""
	for _, s := range []struct {
		name string
		job  *job.Job
	}{{"one rank is late", jobtest.Uneven(4, 50, 2)}, {"all kinds of waits", busy}, {"one rank", alone.Finish()},
		{"a rank is missing", little}, {"nothing", &job.Job{Program: "x", Ranks: []job.Rank{{Missing: true}}}}} {
		got += "==== " + s.name + "\n" + summary(t, s.job)
	}
	const name = "testdata/summaries.txt"
	if *rewrite {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("go test ./cmd/impi-trace/internal/text -rewrite writes this to %s:\n%s", name, got)
	}
}

func TestTimesAndBytesForPeople(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 9995: "10.0 µs", 99949: "99.9 µs",
		999499: "999 µs", 999500: "1.00 ms", 1.5e9: "1.50 s", 1e12: "1000 s", -2500: "-2.50 µs"} {
		if got := Time(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 3 << 40: "3.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if Share(1, 0) != "0 %" || Share(1, 3) != "33 %" {
		t.Error("shares")
	}
}

func TestNamesCannotMoveTheCursor(t *testing.T) {
	if got := Clean("a\x1b[2J\nb\u202ec ä"); strings.ContainsAny(got, "\x1b\n\u202e") || !strings.HasSuffix(got, "c ä") {
		t.Errorf("%q", got)
	}
}

func TestTheLongestWaitsAreThoseOfASlowSearch(t *testing.T) {
	r := analysis.Analyze(jobtest.Random(rand.New(rand.NewSource(1)), 6, 900).Job)
	var all []int64
	for _, list := range r.Waits {
		for _, w := range list {
			all = append(all, w.Length())
		}
	}
	for _, n := range []int{1, 7, 40} {
		got := LongestWaits(r, n)
		if len(got) != n {
			t.Fatalf("%d waits", len(got))
		}
		longer := 0
		for _, length := range all {
			if length > got[n-1].Length() {
				longer++
			}
		}
		if longer >= n {
			t.Errorf("%d waits are longer than the last of %d", longer, n)
		}
		for i := 1; i < n; i++ {
			if got[i].Length() > got[i-1].Length() {
				t.Errorf("wait %d is longer than the one before", i)
			}
		}
	}
}
