package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/script"
	"github.com/libimpi/libimpi/cmd/internal/usage"
)

var rewrite = flag.Bool("rewrite", false, "write the lists in docs/conformance.md anew")

const (
	document = "../../docs/conformance.md"
	marker   = "<!-- written by: go test ./cmd/impi-conform -rewrite -->\n"

	bindingsMarker = "<!-- bindings, written by: go test ./cmd/impi-conform -rewrite -->\n"
	bindingsEnd    = "<!-- end of bindings -->\n"
)

// The lists of cases, and of what scripts have, are those that there are.
func TestTheDocumentListsAllThereIs(t *testing.T) {
	old, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(old), marker)
	before, bindings, ok1 := strings.Cut(head, bindingsMarker)
	_, after, ok2 := strings.Cut(bindings, bindingsEnd)
	if !ok || !ok1 || !ok2 {
		t.Fatalf("%s lacks one of the lines\n%s%s%s", document, marker, bindingsMarker, bindingsEnd)
	}
	want := before + bindingsMarker + "\n" + script.Manual() + "\n" + bindingsEnd + after + marker +
		"\n| case | IMPI 0.0 | what |\n|---|---|---|\n"
	for _, c := range cases.All() {
		want += fmt.Sprintf("| %s | %s | %s |\n", c.Name, c.Rule, c.About)
	}
	if *rewrite {
		if err := os.WriteFile(document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(old) != want {
		t.Errorf("%s does not list the present cases and bindings: go test ./cmd/impi-conform -rewrite", document)
	}
}

// The example of the page is a case as it stands in its file.
func TestTheExampleIsACase(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```python\n")
	example, _, ok := strings.Cut(example, "```\n")
	for _, f := range cases.Files() {
		if ok && strings.Contains(strings.ReplaceAll(f.Text, "TWO", "[[1]]"), example) {
			return
		}
	}
	t.Errorf("no file has this:\n%s", example)
}

func TestEveryCaseHasANameOfItsOwnARuleAndASentence(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases.All() {
		group, what, ok := strings.Cut(c.Name, "/")
		if !ok || group == "" || what == "" || seen[c.Name] || c.Rule == "" || c.About == "" || c.Run == nil ||
			strings.Contains(c.About, "|") {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
	}
}

// Every case stands in the table of rules, and the table names nothing else.
func TestEveryCaseStandsByItsRule(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Rules\n")
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for word := range strings.FieldsSeq(table) {
		if strings.Contains(word, "/") {
			prefix, open := strings.CutSuffix(word, "*")
			found := false
			for _, c := range cases.All() {
				if c.Name == prefix || open && strings.HasPrefix(c.Name, prefix) {
					named[c.Name], found = true, true
				}
			}
			if !found {
				t.Errorf("there is no case %s", word)
			}
		}
	}
	for _, c := range cases.All() {
		if !named[c.Name] {
			t.Errorf("%s stands by no rule", c.Name)
		}
	}
}

func TestTheHelpListsTheFlagsThatThereAre(t *testing.T) {
	var listed, there []string
	for _, o := range usage.Conform.Options {
		listed = append(listed, o.Names...)
	}
	new(flags).set().VisitAll(func(f *flag.Flag) { there = append(there, f.Name) })
	slices.Sort(listed)
	if !slices.Equal(listed, there) {
		t.Errorf("listed are %q, there are %q", listed, there)
	}
}
