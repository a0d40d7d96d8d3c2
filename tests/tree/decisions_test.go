package tree

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A decision is a page that is read in a minute, and the index names all of them.
func TestADecisionIsAShortPageOfTheIndex(t *testing.T) {
	const longestPage = 60
	index := strings.Join(lines(t, "docs/decisions/README.md"), "\n")
	for _, name := range decisions(t) {
		page := lines(t, name)
		if len(page) > longestPage {
			t.Errorf("%s has %d lines, more than %d", name, len(page), longestPage)
		}
		if !strings.Contains(index, "]("+path.Base(name)+")") {
			t.Errorf("%s is not in docs/decisions/README.md", name)
		}
		if number := path.Base(name)[:2]; !strings.HasPrefix(page[0], "# "+number+". ") {
			t.Errorf("%s begins with %q", name, page[0])
		}
	}
}

// Sources refer to a decision by its number.
func TestDecisionsThatSourcesNameExist(t *testing.T) {
	reference := regexp.MustCompile(`docs/decisions/(\d\d)\b`)
	known := map[string]bool{}
	for _, name := range decisions(t) {
		known[path.Base(name)[:2]] = true
	}
	for _, name := range sources(t, ".go", ".c", ".h", ".S", ".md") {
		for i, line := range lines(t, name) {
			for _, found := range reference.FindAllStringSubmatch(line, -1) {
				if !known[found[1]] {
					t.Errorf("%s:%d: there is no decision %s", name, i+1, found[1])
				}
			}
		}
	}
}

// decisions are the paths of the pages, in order.
func decisions(t *testing.T) []string {
	t.Helper()
	pages, err := fs.Glob(root, "docs/decisions/[0-9][0-9]-*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("there are no pages of decisions: %v", err)
	}
	return pages
}
