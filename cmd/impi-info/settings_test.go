package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestEverySettingOfTheSourcesIsListed reads all Go sources for names of variables.
func TestEverySettingOfTheSourcesIsListed(t *testing.T) {
	var listed []string
	for _, s := range settings {
		listed = append(listed, s.name)
	}
	listed = append(listed, internal...)
	name := regexp.MustCompile(`"(IMPI_[A-Z_]+)"`)
	found := map[string]bool{}
	for _, room := range []string{"gobridge", "libimpi", "coll", "datatype", "transport", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../..", room), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "impi-conform" {
				return filepath.SkipDir // the tester's variables are between it and the programs it starts
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				d.Name() == "settings.go" {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
				if !slices.Contains(listed, m[1]) {
					t.Errorf("%s uses %s, which impi-info does not list", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range settings {
		if strings.HasPrefix(s.name, "IMPI_") && !found[s.name] {
			t.Errorf("impi-info lists %s, which nothing reads", s.name)
		}
	}
}

func TestASettingShowsItsSourceAndASecretItsExistenceOnly(t *testing.T) {
	env := func(string) (string, bool) { return "4711", true }
	none := func(string) (string, bool) { return "", false }
	for _, s := range settings {
		if v, source := s.inForce(none); v != s.fallback || source != "default" {
			t.Errorf("%s unset: %s, %s", s.name, v, source)
		}
		if v, source := s.inForce(env); (v == "4711") == s.secret || source != "environment" {
			t.Errorf("%s set: %s, %s", s.name, v, source)
		}
	}
}

// TestThePageOfSettingsIsTheList holds docs/settings.md against the list: the same names, and of settings the same
// defaults.
func TestThePageOfSettingsIsTheList(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // the second cell of a variable's row
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| ([^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		if _, twice := said[m[1]]; twice {
			t.Errorf("the page has two rows for %s", m[1])
		}
		said[m[1]] = m[2]
	}
	for _, s := range settings {
		if fallback, ok := said[s.name]; !ok || fallback != s.fallback {
			t.Errorf("%s: the page says %q (row: %v), and its default is %q", s.name, fallback, ok, s.fallback)
		}
		delete(said, s.name)
	}
	for _, name := range internal {
		if _, ok := said[name]; !ok {
			t.Errorf("the page has no row for %s, which the launcher sets", name)
		}
		delete(said, name)
	}
	for name := range said {
		t.Errorf("the page has a row for %s, which is no setting", name)
	}
}
