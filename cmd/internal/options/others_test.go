package options

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEveryOptionOfOtherLaunchersIsUnderstoodPassedOverOrRefusedWithAReason reads testdata/others.txt: a line has an
// option, the number of its values, and what becomes of it. go test -rewrite writes the last anew. Those that say where
// ranks run, and how other machines are reached, are in plans.txt.
func TestEveryOptionOfOtherLaunchersIsUnderstoodPassedOverOrRefusedWithAReason(t *testing.T) {
	const name = "testdata/others.txt"
	golden, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	kinds := map[string]int{}
	for line := range strings.Lines(string(golden)) {
		var option string
		var values int
		if n, _ := fmt.Sscan(line, &option, &values); n != 2 || line[0] == '#' {
			got.WriteString(line)
			continue
		}
		kind, reason := becomesOf(t, option, values)
		kinds[kind]++
		got.WriteString(strings.TrimSpace(fmt.Sprintf("%s %d %s %s", option, values, kind, reason)) + "\n")
	}
	for _, kind := range []string{"understood", "passed-over", "refused:"} {
		if kinds[kind] < 15 {
			t.Errorf("%d options only are %s", kinds[kind], kind)
		}
	}
	if *rewrite {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(golden), got.String()); diff != "" {
		t.Errorf("options differ (-golden +got):\n%s", diff)
	}
}

// valuesOf are the values that some options take; others take any word.
var valuesOf = map[string]string{"n": "2", "np": "2", "c": "2", "ppn": "2", "N": "2", "npernode": "2", "stdin": "0",
	"timeout": "5", "usize": "4", "nameserver": "h:1", "output": "tag", "x": "A", "debug": "0",
	"xterm": "0", "with-ft": "ulfm"}

func becomesOf(t *testing.T, option string, values int) (kind, reason string) {
	words := []string{"-" + option, "A", "b"}[:1+values]
	if v := valuesOf[option]; v != "" {
		words[1] = v
	}
	line := strings.Join(words, " ") + " program"
	if option == configNames[0] || option == configNames[1] {
		words, err := WithFile(words, func(string) ([]byte, error) { return []byte("program"), nil })
		if err != nil {
			t.Error(err)
		}
		line = strings.Join(words, " ")
	}
	plan, err := Parse(strings.Fields(line), noEnv)
	switch {
	case err != nil:
		reason, found := strings.CutPrefix(err.Error(), strings.Join(words, " ")+": not supported: ")
		if !found {
			t.Errorf("%s: %v", line, err)
		}
		return "refused:", reason
	case len(plan.Notes) > 0:
		return "passed-over", ""
	}
	return "understood", ""
}
