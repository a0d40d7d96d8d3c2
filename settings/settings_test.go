package settings

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the tables of docs/settings.md anew")

// mostSettings bounds what a user has to know. What can be measured or agreed on is no setting.
const mostSettings = 40

func TestThereAreFewSettingsEachWithANameAndAGroupOfItsOwn(t *testing.T) {
	seen, users := map[string]bool{}, 0
	for _, s := range All {
		if seen[s.Name] {
			t.Errorf("%s stands there twice", s.Name)
		}
		seen[s.Name] = true
		if !slices.ContainsFunc(Groups, func(g Group) bool { return g.Name == s.Group }) {
			t.Errorf("%s: there is no group %q", s.Name, s.Group)
		}
		if s.Detail != Internal {
			users++
		}
		if (s.Kind == Choose) != (len(s.Choices) > 0) {
			t.Errorf("%s: kind %d, and %d choices", s.Name, s.Kind, len(s.Choices))
		}
		if (s.Written == Never) != (s.Scope == Constant) {
			t.Errorf("%s: scope %d, written %d", s.Name, s.Scope, s.Written)
		}
	}
	if users > mostSettings {
		t.Errorf("%d settings; at most %d are bearable", users, mostSettings)
	}
}

// TestEverySettingOfTheSourcesIsListed reads all Go sources for names of variables.
func TestEverySettingOfTheSourcesIsListed(t *testing.T) {
	name := regexp.MustCompile(`"(IMPI_[A-Z_]+)"`)
	found := map[string]bool{}
	for _, room := range []string{"gobridge", "libimpi", "coll", "datatype", "transport", "startup", "sockets", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", room), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "impi-conform" {
				return filepath.SkipDir // the tester's variables are between it and the programs it starts
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				found[m[1]] = true
				if find(m[1]) == nil {
					t.Errorf("%s uses %s, which the table does not list", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range All {
		if strings.HasPrefix(s.Name, "IMPI_") && !found[s.Name] {
			t.Errorf("the table lists %s, which nothing reads", s.Name)
		}
	}
}

func TestASettingShowsItsSourceAndASecretItsExistenceOnly(t *testing.T) {
	env := func(string) (string, bool) { return "4711", true }
	none := func(string) (string, bool) { return "", false }
	for _, s := range All {
		if v, source := s.InForce(none); v != s.Default || source != "default" {
			t.Errorf("%s unset: %s, %s", s.Name, v, source)
		}
		if v, source := s.InForce(env); (v == "4711") == s.Secret || source != "environment" {
			t.Errorf("%s set: %s, %s", s.Name, v, source)
		}
	}
}

func TestIntegersAndTextsOfASettingSayTheSame(t *testing.T) {
	for _, c := range []struct {
		name, env string
		set       bool
		want      int32
	}{
		{"IMPI_STREAMS", "", false, 1}, {"IMPI_STREAMS", "7", true, 7}, {"IMPI_STREAMS", "many", true, 1},
		{"IMPI_SINGLE_COPY", "", false, -1}, {"IMPI_SINGLE_COPY", "", true, -1}, {"IMPI_SINGLE_COPY", "1", true, 1},
		{"IMPI_VIA", "", false, 2}, {"IMPI_VIA", "agent", true, 1}, {"IMPI_CHECK", "1", true, 1},
	} {
		s := find(c.name)
		if got := s.Integer(func(string) (string, bool) { return c.env, c.set }); got != c.want {
			t.Errorf("%s=%q (%v): %d, want %d", c.name, c.env, c.set, got, c.want)
		}
	}
	for i := range All {
		for _, c := range All[i].Choices {
			if text, ok := All[i].Format(c.Value); !ok || text != c.Text {
				t.Errorf("%s: %d is %q (%v)", All[i].Name, c.Value, text, ok)
			}
		}
	}
	if _, ok := find("IMPI_CHECK").Format(7); ok {
		t.Error("IMPI_CHECK has a value 7")
	}
}

func TestAPlainMeaningHasNoMarkdown(t *testing.T) {
	const got = "a `b` ([c.md](d/c.md#e)), `f`"
	if want := "a b (see d/c.md), f"; Plain(got) != want {
		t.Errorf("%q, want %q", Plain(got), want)
	}
}

// rows are the table of a section of the page.
func rows(group string) []string {
	table := []string{"| variable | default | meaning |", "|---|---|---|"}
	if group == "rank" {
		table = []string{"| variable | meaning |", "|---|---|"}
	}
	for _, s := range All {
		switch {
		case s.Group != group:
		case s.Detail == Internal:
			table = append(table, "| `"+s.Name+"` | "+s.Meaning+" |")
		default:
			table = append(table, "| `"+s.Name+"` | "+s.Default+" | "+s.Meaning+" |")
		}
	}
	return table
}

// find is the setting of that name; nil if there is none.
func find(name string) *Setting {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

// TestThePageIsMadeOfTheTable holds docs/settings.md against the table, or writes its tables anew (-rewrite).
func TestThePageIsMadeOfTheTable(t *testing.T) {
	const page = "../docs/settings.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	made := string(text)
	for _, g := range Groups {
		head := strings.Index(made, "\n## "+g.Title+"\n")
		from := head + strings.Index(made[max(head, 0):], "\n| variable |")
		to := from + strings.Index(made[max(from, 0):], "|\n\n")
		if head < 0 || from < head || to < from {
			t.Fatalf("%s has no section %q with a table of variables", page, g.Title)
		}
		made = made[:from+1] + strings.Join(rows(g.Name), "\n") + made[to+1:]
	}
	if made == string(text) {
		return
	}
	if !*rewrite {
		t.Fatalf("%s is not what the table says: go test ./settings -rewrite", page)
	}
	if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
		t.Fatal(err)
	}
}
