package tree

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest is how many characters a line has at most; a tab is one.
const longest = 120

// mostFiles is how many files testdata/long_lines.txt may name: those with longer lines. Lower it with each that
// leaves.
const mostFiles = 168

func TestLinesAreOfAtMost120Characters(t *testing.T) {
	const list = "tests/tree/testdata/long_lines.txt"
	excepted := lines(t, list)
	if len(excepted) > mostFiles {
		t.Errorf("%s names %d files, and may name %d: the list only becomes shorter", list, len(excepted), mostFiles)
	}
	if !slices.IsSorted(excepted) {
		t.Errorf("%s is not in order", list)
	}
	all := sources(t, ".go", ".c", ".h")
	for _, name := range excepted {
		if !slices.Contains(all, name) {
			t.Errorf("%s names %q, which is not there: take it off the list", list, name)
		}
	}
	for _, name := range all {
		if generated(name) {
			continue
		}
		long := tooLong(lines(t, name))
		switch expected := slices.Contains(excepted, name); {
		case len(long) > 0 && !expected:
			for _, number := range long {
				t.Errorf("%s:%d: more than %d characters", name, number, longest)
			}
		case len(long) == 0 && expected:
			t.Errorf("%s has no long line any more: take it off the list in %s", name, list)
		}
	}
}

// tooLong are the numbers of the lines that are.
func tooLong(lines []string) []int {
	var numbers []int
	for i, line := range lines {
		if utf8.RuneCountInString(line) > longest {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

func TestALineIsMeasuredInCharacters(t *testing.T) {
	fits := strings.Repeat("ä", longest)
	if got := tooLong([]string{"", fits, fits + "x", "\t" + fits[2:]}); !slices.Equal(got, []int{3}) {
		t.Errorf("%v, want line 3 alone", got)
	}
}
