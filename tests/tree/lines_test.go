package tree

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest is how many characters a line has at most; a tab is one.
const longest = 120

func TestLinesAreOfAtMost120Characters(t *testing.T) {
	for _, name := range sources(t, ".go", ".c", ".h") {
		if generated(name) {
			continue
		}
		for _, number := range tooLong(lines(t, name)) {
			t.Errorf("%s:%d: more than %d characters", name, number, longest)
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

// The map of the sources stays one that a newcomer reads to its end.
func TestTheMapHasAtMost200Lines(t *testing.T) {
	if n := len(lines(t, "docs/architecture.md")); n > 200 {
		t.Errorf("docs/architecture.md has %d lines", n)
	}
}
