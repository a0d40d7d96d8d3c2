package spec

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
)

func TestATextIsParsedIntoSectionsOfBlocks(t *testing.T) {
	about, got := parse("What it\nis.\n\n# 1 One\n\n# 1.1 A title of words\n\nTwo\nlines.\n\n- an\n  item\n- another\n\n" +
		"- 1. a third\n    int f() {\n\n      g();\n    }\nAfter.\n")
	want := []Section{
		{Number: "1", Title: "One"},
		{Number: "1.1", Title: "A title of words", Blocks: []Block{
			{"p", "Two lines."},
			{"item", "an item"}, {"item", "another"}, {"item", "1. a third"},
			{"pre", "int f() {\n\n  g();\n}"},
			{"p", "After."},
		}},
	}
	if about != "What it is." {
		t.Errorf("before the first section: %q", about)
	}
	equal := func(a, b Section) bool {
		return a.Number == b.Number && a.Title == b.Title && slices.Equal(a.Blocks, b.Blocks)
	}
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheTextSaysWhereItIsFrom(t *testing.T) {
	for _, word := range []string{"IMPI", "NIST", "2000", "public domain", "The original counts."} {
		if !strings.Contains(About(), word) {
			t.Errorf("%q does not say %q", About(), word)
		}
	}
}

// numbers are those of a section's number.
func numbers(t *testing.T, section string) (all []int) {
	t.Helper()
	for _, field := range strings.Split(section, ".") {
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("section %q: %v", section, err)
		}
		all = append(all, n)
	}
	return all
}

func TestNumbersOfSectionsAscendWithoutGaps(t *testing.T) {
	last := []int{0}
	for _, s := range Sections() {
		n := numbers(t, s.Number)
		next := slices.Clone(last[:min(len(n), len(last))])
		if len(n) > len(last) {
			next = append(next, 1)
		} else {
			next[len(next)-1]++
		}
		if !slices.Equal(n, next) {
			t.Errorf("%s follows %v", s.Number, last)
		}
		if s.Title == "" {
			t.Errorf("%s has no title", s.Number)
		}
		last = n
	}
	if !slices.Equal(last, []int{4, 26}) {
		t.Errorf("the last section is %v", last)
	}
}

func TestOnlySectionsWithSubsectionsAreEmpty(t *testing.T) {
	all := Sections()
	for i, s := range all {
		parent := i+1 < len(all) && strings.HasPrefix(all[i+1].Number, s.Number+".")
		if len(s.Blocks) == 0 && !parent {
			t.Errorf("%s %s is empty", s.Number, s.Title)
		}
		for _, b := range s.Blocks {
			if b.Text == "" {
				t.Errorf("%s %s has an empty block %q", s.Number, s.Title, b.Kind)
			}
		}
	}
}

// Numbers of the printed lines were between the words of the copy that the text is from.
func TestTheTextHasNoNumbersOfLines(t *testing.T) {
	digits := regexp.MustCompile(`^\s*\d+\s*$|[⁰¹²³⁴-⁹]|\s{2,}\d{1,2}$`)
	constant := regexp.MustCompile(`^    IMPI_MAX_LINEAR_[A-Z]+ +4$|^    IMPI_AUTH_(NONE|KEY) `)
	for i, line := range strings.Split(text, "\n") {
		if digits.MatchString(line) && !constant.MatchString(line) {
			t.Errorf("line %d: %q", i+1, line)
		}
	}
}

func TestLinesAreShort(t *testing.T) {
	for i, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, indent) {
			t.Errorf("line %d has %d characters", i+1, n)
		}
		if strings.TrimRight(line, " \t") != line || strings.Contains(line, "\t") {
			t.Errorf("line %d has a tab, or spaces at its end", i+1)
		}
	}
}

// odd is the only statement whose parentheses are not balanced, in the original, too.
const odd = "return(MPI_Send(sbuf, count, dtype, root, IMPI_REDUCE_TAG, comm);"

func TestCodeIsBalanced(t *testing.T) {
	pairs := map[rune]rune{')': '(', ']': '[', '}': '{'}
	for _, s := range Sections() {
		for _, b := range s.Blocks {
			if b.Kind != "pre" {
				continue
			}
			var open []rune
			for _, c := range strings.Replace(b.Text, odd, "", 1) {
				if strings.ContainsRune("([{", c) {
					open = append(open, c)
				} else if o, closes := pairs[c]; closes {
					if len(open) == 0 || open[len(open)-1] != o {
						t.Fatalf("%s: %q closes nothing in\n%s", s.Number, c, b.Text)
					}
					open = open[:len(open)-1]
				}
			}
			if len(open) > 0 {
				t.Errorf("%s: %q remains open in\n%s", s.Number, open, b.Text)
			}
		}
	}
}

func TestFunctionsAreIndentedByTheirBraces(t *testing.T) {
	functions := 0
	for _, s := range Sections() {
		if !strings.HasPrefix(s.Number, "4.") {
			continue
		}
		for _, b := range s.Blocks {
			if b.Kind == "pre" && strings.Contains(b.Text, "\n{\n") {
				functions += strings.Count("\n"+b.Text, "\n{\n")
				checkIndent(t, s.Number, b.Text)
			}
		}
	}
	if functions < 40 {
		t.Errorf("chapter 4 has %d functions", functions)
	}
}

// checkIndent reports a brace at the beginning of a line that is not below the statement whose brace it closes.
func checkIndent(t *testing.T, section, code string) {
	t.Helper()
	var open []int                 // how far the statements with an open brace are indented
	statement, parentheses := 0, 0 // the last one, and how many are open in it
	for line := range strings.Lines(strings.Replace(code, odd, "", 1)) {
		bare := strings.TrimLeft(line, " ")
		if parentheses == 0 {
			statement = len(line) - len(bare)
		}
		if strings.HasPrefix(bare, "}") && (len(open) == 0 || open[len(open)-1] != statement) {
			t.Errorf("%s: %q is not below its brace, %v", section, line, open)
			return
		}
		for _, c := range bare {
			switch c {
			case '(':
				parentheses++
			case ')':
				parentheses--
			case '{':
				open = append(open, statement)
			case '}':
				open = open[:len(open)-1]
			}
		}
	}
}

func TestARuleIsCutIntoParts(t *testing.T) {
	link := func(s string) Part { return Part{s, s} }
	plain := func(s string) Part { return Part{Text: s} }
	for _, c := range []struct {
		rule string
		want []Part
	}{
		{"2.2.1", []Part{link("2.2.1")}},
		{"2.3.5 C_COLL_XSIZE, erratum D-5", []Part{link("2.3.5"), plain(" C_COLL_XSIZE, erratum D-5")}},
		{"3.7.2, MPI 3.2.6", []Part{link("3.7.2"), plain(", MPI 3.2.6")}},
		{"3.7, MPI 3.8", []Part{link("3.7"), plain(", MPI 3.8")}},
		{"MPI 3.5, 3.5", []Part{plain("MPI 3.5, "), link("3.5")}},
		{"4.12-4.23, erratum D-57", []Part{link("4.12"), plain("-"), link("4.23"), plain(", erratum D-57")}},
		{"2.3, 2.4, 3.8", []Part{link("2.3"), plain(", "), link("2.4"), plain(", "), link("3.8")}},
		{"notes B.2", []Part{plain("notes B.2")}},
		{"notes E.1 S13", []Part{plain("notes E.1 S13")}},
		{"3.7.4, errata D.0", []Part{link("3.7.4"), plain(", errata D.0")}},
		{"9.9", []Part{plain("9.9")}},
		{"2.3.50", []Part{plain("2.3.50")}},
		{"", nil},
	} {
		if got := Rule(c.rule); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.rule, got, c.want)
		}
	}
}

// others are the first words of references that are not to sections: other texts, or a label of the section before.
var others = regexp.MustCompile(`^(MPI|notes|errata|erratum|[CHP]_[A-Z0-9_]+)$`)

func TestRulesOfCasesNameSectionsThatExist(t *testing.T) {
	linked := 0
	for _, c := range cases.All() {
		var joined string
		for _, p := range Rule(c.Rule) {
			joined += p.Text
			if p.Section != "" {
				linked++
			}
		}
		if joined != c.Rule {
			t.Errorf("%s: the parts of %q are %q", c.Name, c.Rule, joined)
		}
		for _, reference := range strings.Split(c.Rule, ", ") {
			name, _, _ := strings.Cut(reference, " ")
			if others.MatchString(name) {
				continue
			}
			for _, n := range strings.Split(name, "-") {
				if !slices.ContainsFunc(Sections(), func(s Section) bool { return s.Number == n }) {
					t.Errorf("%s: %q names a section %q, which is not", c.Name, c.Rule, n)
				}
			}
		}
	}
	if linked < len(cases.All())*9/10 {
		t.Errorf("the rules of %d cases have only %d links", len(cases.All()), linked)
	}
}
