package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// TestMain lets the test's program be what impi-info starts of itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], hiddenPrefix) {
		os.Exit(hidden(os.Args[1], os.Args[2:]))
	}
	os.Exit(m.Run())
}

func TestACommandLineIsUnderstood(t *testing.T) {
	for line, want := range map[string]wish{
		"":                       {},
		"--json":                 {json: true},
		"-json IMPI_VIA":         {json: true, words: []string{"IMPI_VIA"}},
		"--check host a:1":       {check: true, words: []string{"host", "a:1"}},
		"-h":                     {help: true},
		"--version --help -V":    {version: true, help: true},
		"IMPI_VIA --names extra": {names: true, words: []string{"IMPI_VIA", "extra"}},
	} {
		got, err := parse(strings.Fields(line))
		if err != nil || !slices.Equal(got.words, want.words) {
			t.Errorf("%s: %+v, %v", line, got, err)
		}
		got.words, want.words = nil, nil
		if got.json != want.json || got.check != want.check || got.help != want.help || got.names != want.names ||
			got.version != want.version {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
	if _, err := parse([]string{"--nonsense"}); err == nil || !strings.Contains(err.Error(), "--nonsense") {
		t.Errorf("--nonsense: %v", err)
	}
}

func TestEveryOptionThatTheHelpListsIsUnderstood(t *testing.T) {
	for _, o := range usage.Info.Options {
		for _, name := range o.Names {
			if got, err := parse([]string{"--" + name}); err != nil || got.words != nil {
				t.Errorf("--%s: %+v, %v", name, got, err)
			}
		}
	}
}

func TestASettingIsShownByItsName(t *testing.T) {
	env := func(name string) (string, bool) { return "agent", name == "IMPI_VIA" }
	var text, document bytes.Buffer
	if code := some(&text, parameters(env), []string{"impi_via"}, false); code != 0 ||
		!strings.HasPrefix(text.String(), "IMPI_VIA=agent\n  source: environment\n  default: auto\n  level: basic\n  ") {
		t.Errorf("code %d: %s", code, text.String())
	}
	if code := some(&document, parameters(env), []string{"IMPI_VIA", "IMPI_XSIZE"}, true); code != 0 {
		t.Errorf("code %d", code)
	}
	var got []map[string]string
	if err := json.Unmarshal(document.Bytes(), &got); err != nil || len(got) != 2 || got[0]["value"] != "agent" ||
		got[1]["name"] != "IMPI_XSIZE" || got[1]["level"] != "tuning" {
		t.Errorf("%v, %v", got, err)
	}
	if code := some(&text, parameters(env), []string{"IMPI_NONE"}, false); code != codeUsage {
		t.Errorf("a name that is none has code %d", code)
	}
}

func TestTheKeysOfTheDocumentsStay(t *testing.T) {
	keys := func(document any) string {
		text, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		var names []string
		for name := range fields {
			names = append(names, name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	for _, c := range []struct {
		document any
		want     string
	}{
		{document{}, "collectives files mpi_abi mpi_standard parameters platform prefix soname version wire_protocol"},
		{parameter{}, "default help level name source value"},
		{place{}, "path present"},
		{collectives{}, "from operations parameters"},
		{operation{}, "algorithms bytes_of chosen defaults name"},
		{algorithm{}, "name needs"},
		{finding{}, "do is name state"},
	} {
		if got := keys(c.document); got != c.want {
			t.Errorf("%T has the keys %s, and programs read %s", c.document, got, c.want)
		}
	}
}
