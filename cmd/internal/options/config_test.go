package options

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestAFileSaysTheProgramsOfAJob(t *testing.T) {
	read := func(name string) ([]byte, error) {
		text, ok := map[string]string{
			"two":   "# programs\n-n 1 -x A='a b' ./master \"the file\"\n\n  -n 3 ./worker  # many\n",
			"colon": "-n 1 a :\n-n 2 b : c\n",
			"odd":   `-n 1 a\ b '' "x\"y" 'p\q' z#`,
			"open":  "-n 1 a\n-n 1 'b\n",
			"empty": "\n# nothing\n",
		}[name]
		if !ok {
			return nil, errors.New("no file " + name)
		}
		return []byte(text), nil
	}
	for line, want := range map[string]string{
		"-v -configfile two":      "-v|-n|1|-x|A=a b|./master|the file|:|-n|3|./worker",
		"--app=two":               "-n|1|-x|A=a b|./master|the file|:|-n|3|./worker",
		"-configfile colon":       "-n|1|a|:|-n|2|b|:|c",
		"-configfile odd":         `-n|1|a b||x"y|p\q|z#`,
		"-configfile empty":       "",
		"-configfile none":        "error: -configfile: no file none",
		"-configfile open":        "error: -configfile open, line 2: a quote ' has no end",
		"-configfile two x":       `error: -configfile two: the file says what to run, and "x" is too much`,
		"-n 2 a -configfile two":  "-n|2|a|-configfile|two",
		"-- -configfile two":      "--|-configfile|two",
		"-nonsense -configfile x": "-nonsense|-configfile|x",
		"-n":                      "-n",
	} {
		words, err := WithFile(strings.Fields(line), read)
		got := strings.Join(words, "|")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	args := []string{"-v", "-configfile", "two"}
	if _, err := WithFile(args, read); err != nil || !slices.Equal(args, []string{"-v", "-configfile", "two"}) {
		t.Errorf("the words that were given have changed: %q, %v", args, err)
	}
}
