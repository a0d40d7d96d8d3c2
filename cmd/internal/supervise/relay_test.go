package supervise

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func mark(s string) Stamp {
	return Prefixed(func(b []byte, _ time.Time) []byte { return append(b, s...) })
}

// relayed runs one relay over in and returns what arrived.
func relayed(t *testing.T, in io.Reader, stamp Stamp) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	relay(io.NopCloser(in), []*sink{{out: file}}, stamp)
	got, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestPrefixesStandAtTrueLineStartsOnly(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"a\n":                              "> a\n",
		"a\nb\n":                           "> a\n> b\n",
		"\n\n":                             "> \n> \n",
		"a":                                "> a [no newline]\n",
		"a\nb":                             "> a\n> b [no newline]\n",
		"a\x00b\xff\n":                     "> a\x00b\xff\n",
		strings.Repeat("x", 200000) + "\n": "> " + strings.Repeat("x", 200000) + "\n",
	} {
		if got := relayed(t, strings.NewReader(in), mark("> ")); got != want {
			t.Errorf("%.20q: %.60q, want %.60q", in, got, want)
		}
		if got := relayed(t, iotest.OneByteReader(strings.NewReader(in)), mark("> ")); got != want {
			t.Errorf("%.20q byte by byte: %.60q, want %.60q", in, got, want)
		}
	}
}

// Without a stamp bytes arrive as they are, whole lines at a time.
func TestWithoutAStampOutputIsTheSameByteForByte(t *testing.T) {
	for _, in := range []string{"", "a\n", "a", "\n\na\x00b\xff\nc", strings.Repeat("y", 5*maxLine/2) + "\nz"} {
		if got := relayed(t, iotest.HalfReader(strings.NewReader(in)), asItIs); got != in {
			t.Errorf("%.20q: %.60q", in, got)
		}
	}
}

func TestALineWithoutEndIsCutAndNothingIsLost(t *testing.T) {
	in := strings.Repeat("y", 5*maxLine/2) + "\n"
	got := relayed(t, strings.NewReader(in), mark("> "))
	if n := strings.Count(got, "y"); n != 5*maxLine/2 {
		t.Errorf("%d of %d bytes arrived", n, 5*maxLine/2)
	}
	for _, line := range strings.SplitAfter(strings.TrimSuffix(got, "\n"), "\n") {
		if !strings.HasPrefix(line, "> y") {
			t.Errorf("a line begins with %.10q", line)
		}
	}
}

func TestLinesOfManyRanksNeverMix(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	to := &sink{out: file}
	const ranks, lines = 8, 500
	var done sync.WaitGroup
	for r := range ranks {
		var in bytes.Buffer
		for i := range lines {
			fmt.Fprintf(&in, "%s %d\n", strings.Repeat(string(rune('a'+r)), 1+i%97), i)
		}
		done.Go(func() { relay(io.NopCloser(iotest.HalfReader(&in)), []*sink{to}, mark(fmt.Sprint(r, " "))) })
	}
	done.Wait()
	got, _ := os.ReadFile(file.Name())
	next := [ranks]int{}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(got), "\n"), "\n") {
		var r, i int
		var text string
		if _, err := fmt.Sscan(line, &r, &text, &i); err != nil || r < 0 || r >= ranks {
			t.Fatalf("line %q: %v", line, err)
		}
		if want := strings.Repeat(string(rune('a'+r)), 1+i%97); text != want || i != next[r] {
			t.Fatalf("line %q: want line %d of rank %d", line, next[r], r)
		}
		next[r]++
	}
	for r, n := range next {
		if n != lines {
			t.Errorf("rank %d: %d of %d lines", r, n, lines)
		}
	}
}

func TestInputForAllReachesEveryReaderAndSurvivesOneThatLeaves(t *testing.T) {
	in := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	var pipes []*os.File
	var got [2]bytes.Buffer
	var done sync.WaitGroup
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		pipes = append(pipes, w)
		if i == 2 {
			r.Close() // leaves at once
			continue
		}
		done.Go(func() { io.Copy(&got[i], r); r.Close() })
	}
	spread(iotest.HalfReader(bytes.NewReader(in)), pipes)
	done.Wait()
	for i := range got {
		if !bytes.Equal(got[i].Bytes(), in) {
			t.Errorf("reader %d has %d bytes of %d", i, got[i].Len(), len(in))
		}
	}
}
