package tuned

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/coll/choose"
)

const good = "latency 100\noverhead 40\ngap 60\nbyte-short 0.2\nbyte-long 0.08\ncombine 0.1\ncopy 0.06\n"

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheFirstFileThatIsThereCounts(t *testing.T) {
	root := t.TempDir()
	env := map[string]string{"HOME": filepath.Join(root, "home")}
	find := func() (choose.Parameters, string) {
		t.Helper()
		p, from, err := Find(func(name string) string { return env[name] }, filepath.Join(root, "prefix"))
		if err != nil {
			t.Fatal(err)
		}
		return p, from
	}
	if p, from := find(); p != choose.BuiltIn || from != "" {
		t.Errorf("no file: %v from %q", p, from)
	}
	site := write(t, filepath.Join(root, "prefix/share/libimpi/tune"), good)
	user := filepath.Join(root, "home/.config/libimpi/tune")
	config := filepath.Join(root, "config/libimpi/tune")
	named := write(t, filepath.Join(root, "named"), strings.Replace(good, "latency 100", "latency 300", 1))
	if p, from := find(); p.Latency != 100 || from != site {
		t.Errorf("site's: %v from %q", p, from)
	}
	write(t, user, strings.Replace(good, "latency 100", "latency 200", 1))
	if p, from := find(); p.Latency != 200 || from != user {
		t.Errorf("user's: %v from %q", p, from)
	}
	env["XDG_CONFIG_HOME"] = filepath.Join(root, "config")
	write(t, config, good)
	if _, from := find(); from != config {
		t.Errorf("in XDG_CONFIG_HOME: %q", from)
	}
	env[Setting] = named
	if p, from := find(); p.Latency != 300 || from != named {
		t.Errorf("named: %v from %q", p, from)
	}
	env[Setting] = "none"
	if p, from := find(); p != choose.BuiltIn || from != "" {
		t.Errorf("none: %v from %q", p, from)
	}
}

func TestAFileThatCannotBeUsedIsAnErrorThatSaysWhere(t *testing.T) {
	root := t.TempDir()
	for text, want := range map[string]string{
		"latency 100\n\noverhead none\n":             ":3: overhead is ",
		good + "speed 9":                             `:8: "speed" is none of latency, overhead, `,
		"latency 1 2":                                ":1: a line is a name and a number",
		strings.Repeat("# long\n", mostBytes/7+1):    " has more than ",
		strings.Replace(good, "copy 0.06\n", "", 1):  ":7: the file ends without copy",
		strings.Replace(good, "gap 60", "gap -1", 1): `:3: gap is "-1"`,
	} {
		path := write(t, filepath.Join(root, "tune"), text)
		p, from, err := Find(func(name string) string {
			if name == Setting {
				return path
			}
			return ""
		}, root)
		if err == nil || !strings.HasPrefix(err.Error(), path+want) || p != choose.BuiltIn || from != "" {
			t.Errorf("%.30q: %v, %v from %q", text, err, p, from)
		}
	}
	for _, path := range []string{filepath.Join(root, "absent"), root} {
		if _, _, err := Find(func(string) string { return path }, root); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// After su, or in a container, HOME may be another user's, or no folder.
func TestAHomeOfSomebodyElseIsNoReasonForAWarning(t *testing.T) {
	root := t.TempDir()
	home := write(t, filepath.Join(root, "home"), "a file")
	for _, closed := range []string{home, "/proc/1/root"} {
		p, from, err := Find(func(name string) string {
			if name == "HOME" {
				return closed
			}
			return ""
		}, root)
		if err != nil || from != "" || p != choose.BuiltIn {
			t.Errorf("%s: %v, from %q", closed, err, from)
		}
	}
}
