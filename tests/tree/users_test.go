package tree

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// docs/users.md names the tests of what it says: each row at least one, and all of them exist.
func TestThePageForUsersNamesTestsThatExist(t *testing.T) {
	functions := goTests(t)
	rows := 0
	for _, line := range lines(t, "docs/users.md") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what goes wrong |") {
			continue
		}
		if rows++; len(cells) != 3 {
			t.Errorf("%.60q has %d cells, not 3", line, len(cells))
			continue
		}
		names := quoted.FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("%.60q: no test", line)
		}
		for _, m := range names {
			name := m[1]
			if strings.HasPrefix(name, "Test") {
				if !functions[name] {
					t.Errorf("%s: no package has this test", name)
				}
			} else if _, err := fs.Stat(root, name); err != nil || !strings.HasPrefix(name, "tests/") {
				t.Errorf("%s is no test: %v", name, err)
			}
		}
	}
	if rows < 25 {
		t.Errorf("%d rows only are found", rows)
	}
}

var testFunction = regexp.MustCompile(`^func (Test\w+)\(t \*testing\.T\)`)

// goTests are the names of all Go tests.
func goTests(t *testing.T) map[string]bool {
	found := map[string]bool{}
	for _, name := range sources(t, ".go") {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, line := range lines(t, name) {
			if m := testFunction.FindStringSubmatch(line); m != nil {
				found[m[1]] = true
			}
		}
	}
	return found
}
