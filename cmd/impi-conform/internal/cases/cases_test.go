package cases

import (
	"regexp"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"

	"go.starlark.net/syntax"
)

func TestEveryFileHasItsPlace(t *testing.T) {
	entries, err := files.ReadDir("files")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(order) {
		t.Errorf("there are %d files, and %d in the order", len(entries), len(order))
	}
	seen := map[string]bool{}
	for _, f := range Files() {
		if seen[f.Name] || f.Text == "" || !strings.HasSuffix(f.Name, ".star") {
			t.Errorf("file %q", f.Name)
		}
		seen[f.Name] = true
	}
}

// Where a case says that its definition stands, there is a call of case().
func TestEveryCaseStandsWhereItSays(t *testing.T) {
	lines := map[string][]string{}
	for _, f := range Files() {
		lines[f.Name] = strings.Split(f.Text, "\n")
	}
	for _, c := range All() {
		if n := lines[c.File]; c.Line < 1 || c.Line > len(n) || !strings.Contains(n[c.Line-1], "case(") {
			t.Errorf("%s: %s:%d", c.Name, c.File, c.Line)
		}
	}
}

// Cases that may follow each other in one job name it alike, and can be played in it.
func TestCasesShareJobs(t *testing.T) {
	of := map[string]int{}
	for _, c := range All() {
		if (c.Job == "") != (c.Within == nil) {
			t.Errorf("%s has the job %q and can be played in one: %v", c.Name, c.Job, c.Within != nil)
		}
		of[c.Job]++
	}
	if n := of[(peer.Setup{Procs: 1, Others: [][]int{{1}}, Manual: true}).Text()]; n < 2 {
		t.Errorf("%d cases share the job of cancel/short-standard", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		for _, f := range Files()[:len(order)] {
			if _, err := script.Parse(f.Name, f.Text); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// The words for a problem fit their arguments. They are put together only when there is one.
func TestTheWordsForProblemsFit(t *testing.T) {
	text := map[string]int{"check": 1, "wrong": 0, "fail": 0} // the place of the text among the arguments
	verbs := regexp.MustCompile("%[a-z]")
	found := 0
	for _, f := range Files() {
		tree, err := (&syntax.FileOptions{}).Parse(f.Name, f.Text, 0)
		if err != nil {
			t.Fatal(err)
		}
		syntax.Walk(tree, func(n syntax.Node) bool {
			c, ok := n.(*syntax.CallExpr)
			if !ok {
				return true
			}
			name, _ := c.Fn.(*syntax.Ident)
			if name == nil {
				return true
			}
			at, ok := text[name.Name]
			if !ok {
				return true
			}
			found++
			words, ok := c.Args[at].(*syntax.Literal)
			if !ok || len(verbs.FindAllString(words.Value.(string), -1)) != len(c.Args)-at-1 {
				t.Errorf("%v: the text and its arguments do not fit", c.Lparen)
			}
			return true
		})
	}
	if found < 30 {
		t.Errorf("%d texts were found", found)
	}
}
