package launcher

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Where output goes, and in which form.

// twoStreams writes some lines to both, the last without an end.
var twoStreams = sh(`echo "out of $IMPI_RANK"; echo "err of $IMPI_RANK" >&2; printf end`)

// filesBelow are the contents of all files below a folder.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			text, readErr := os.ReadFile(path)
			found[name], err = string(text), readErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestOutputGoesToAFileOfEachRank(t *testing.T) {
	for _, how := range []string{"-n 2", "-clients 2 -n 2"} {
		dir := t.TempDir()
		for range 2 { // the second finds the files of the first, and begins them anew
			r := run(t, words(how, "-outfile-pattern", dir+"/a/%r.out", "-errfile-pattern", dir+"/all.err", twoStreams)...)
			r.expect(t, 0, "")
			if r.stdout != "" {
				t.Errorf("%s: %q", how, r.stdout)
			}
		}
		got := filesBelow(t, dir)
		if len(got) != 3 || got["a/0.out"] != "out of 0\nend" || got["a/1.out"] != "out of 1\nend" ||
			!slices.Equal(sorted(got["all.err"]), []string{"err of 0", "err of 1"}) {
			t.Errorf("%s: %q", how, got)
		}
		// In a folder, and besides.
		r := run(t, words(how, "--output-filename", dir+"/b", "--merge-stderr-to-stdout", twoStreams)...)
		r.expect(t, 0, "")
		got = filesBelow(t, dir+"/b")
		if len(got) != 2 || got["1/rank.1/stdout"] != "out of 1\nerr of 1\nend" {
			t.Errorf("%s: %q", how, got)
		}
		for _, line := range []string{"out of 0\n", "err of 0\n", "out of 1\n", "err of 1\n"} {
			if !strings.Contains(r.stdout, line) {
				t.Errorf("%s: %q is missing in %q", how, line, r.stdout)
			}
		}
		if r := run(t, words(how, "--output-filename", dir+"/c:nocopy", "-l", twoStreams)...); r.stdout+r.stderr != "" {
			t.Errorf("%s: %q and %q", how, r.stdout, r.stderr)
		}
		if got := filesBelow(t, dir+"/c")["1/rank.1/stdout"]; got != "[1] out of 1\n[1] end [no newline]\n" {
			t.Errorf("%s: %q", how, got)
		}
	}
	run(t, words("-n 2 -outfile-pattern /proc/none/%r true")...).expect(t, 1, "for output of ranks: mkdir /proc/none")
	run(t, words("-n 2 --output-filename /dev/full/x true")...).expect(t, 1, "for output of ranks: mkdir /dev/full")
	run(t, words("-n 1 -l -outfile-pattern /dev/full echo x")...).expect(t, 1, "output of ranks is lost: /dev/full")
}

func TestLinesOfOutputAreObjectsForPrograms(t *testing.T) {
	script := sh(`echo "say \"$IMPI_RANK\""; printf '\377' ; [ $IMPI_RANK != 1 ] || exit 3`)
	r := run(t, words(machines(t), "--output json", script)...)
	r.expect(t, 3, "rank 1 on")
	var got []string
	for text := range strings.Lines(r.stdout) {
		var l struct {
			Time, Host, Stream, Text string
			Rank, Job                int
			Bytes                    []byte
			Open                     bool
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if l.Time == "" || l.Host == "" || l.Stream != "stdout" || l.Job != 0 {
			t.Errorf("%q", text)
		}
		got = append(got, fmt.Sprintf("%d %s%x %v", l.Rank, l.Text, l.Bytes, l.Open))
	}
	for _, want := range []string{`1 say "1" false`, "1 ff true"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}

func TestAPatternStandsBeforeLinesOnAllMachines(t *testing.T) {
	r := run(t, words(machines(t), "-prepend-pattern", []string{"<%r of %g, 100%%> "}, sh("echo $IMPI_RANK"))...)
	r.expect(t, 0, "")
	want := []string{"<0 of 0, 100%> 0", "<1 of 0, 100%> 1", "<2 of 0, 100%> 2", "<3 of 0, 100%> 3", "<4 of 0, 100%> 4"}
	if got := sorted(r.stdout); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
