package main

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/coll/simulate"
)

var (
	rewrite = flag.Bool("rewrite", false, "write the tables and pictures of docs/collectives.md anew")
	long    = flag.Bool("long", false, "compute what the page says of the largest number of ranks, too")
)

const (
	folder = "../../docs/"
	page   = folder + "collectives.md"
	again  = "go test ./cmd/collsim -rewrite"
)

// Nearly all of the time goes into the last columns of times, and into the comparisons of machines, which -rewrite and
// -long alone compute.
func TestThePageShowsWhatTheProgramPrints(t *testing.T) {
	if race || testing.Short() {
		t.Skip("computes for minutes under the race detector, and for long elsewhere")
	}
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := columns
	t.Cleanup(func() { columns = all })
	if !*rewrite && !*long {
		columns = columns[:len(columns)-slow]
	}
	now := string(old)
	for _, part := range parts {
		begin := "<!-- " + part.name + ", written by: " + again + " -->\n\n"
		before, rest, found := strings.Cut(now, begin)
		shown, after, closed := strings.Cut(rest, "\n<!-- end -->\n")
		if !found || !closed {
			t.Fatalf("%s has no part %q up to <!-- end -->", page, begin)
		}
		if part.name == "machines" && !*rewrite && !*long {
			continue
		}
		text, err := part.text()
		if err != nil {
			t.Fatal(err)
		}
		if part.name == "times" && len(columns) < len(all) && text == withoutLastColumns(shown) {
			text = shown
		}
		now = before + begin + text + "\n<!-- end -->\n" + after
	}
	expect(t, page, now)
}

// slow is how many columns of times take long.
const slow = 2

// withoutLastColumns takes the slow cells from each row of the tables in a text.
func withoutLastColumns(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for range slow {
			if cells, isRow := strings.CutSuffix(line, "|\n"); isRow {
				line = cells[:strings.LastIndex(cells, "|")+1] + "\n"
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

func TestPicturesAreThoseThatTheProgramDraws(t *testing.T) {
	if race {
		t.Skip("computes for minutes under the race detector")
	}
	for _, p := range pictures {
		svg, err := p.draw()
		if err != nil {
			t.Fatal(err)
		}
		expect(t, folder+p.file, svg)
	}
}

// expect compares a file with what it ought to be, or writes it.
func expect(t *testing.T, name, want string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(name); string(got) != want {
		t.Errorf("%s is not what the program prints now: %s (%v)", name, again, err)
	}
}

func TestDurationsHaveThreeDigits(t *testing.T) {
	for d, want := range map[simulate.Time]string{0: "0.00 µs", 4 * ns: "0.00 µs", 5 * ns: "0.01 µs", 9990 * ns: "9.99 µs",
		9996 * ns: "10.0 µs", 123456 * ns: "123 µs", 999_400 * ns: "999 µs", 999_600 * ns: "1.00 ms", 12_340 * us: "12.3 ms",
		3 * simulate.Second: "3.00 s", 4321 * simulate.Second: "4321 s"} {
		if got := duration(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
