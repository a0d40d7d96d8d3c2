package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/jobtest"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/load"
	"github.com/libimpi/libimpi/cmd/internal/usage"
)

// traced is a folder with a trace of three ranks.
func traced(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := jobtest.Write(dir, jobtest.Uneven(3, 10, 1), 1, ""); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAFolderIsEnough(t *testing.T) {
	dir := traced(t)
	var out, errs bytes.Buffer
	if code := run([]string{dir}, &out, &errs); code != 0 || errs.Len() > 0 {
		t.Fatalf("code %d, %s", code, &errs)
	}
	for _, want := range []string{"solver: 3 ranks", "Late ranks", "rank 1 ",
		"Written: " + filepath.Join(dir, "trace.html")} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	for name, want := range map[string]string{"trace.html": "<!DOCTYPE html>", "trace.pftrace": "\n"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.HasPrefix(string(b), want) {
			t.Errorf("%s: %.20q, %v", name, b, err)
		}
	}
}

func TestOptionsSayWhatIsWritten(t *testing.T) {
	dir, to := traced(t), t.TempDir()
	at := func(name string) string { return filepath.Join(to, name) }
	for words, want := range map[string][]string{
		"-text":                                  nil,
		"-o " + at("a"):                          {"a"},
		"--html=" + at("b") + " -csv " + at("c"): {"b", "c"},
		"-text -o " + at("d"):                    {"d"},
	} {
		before, _ := os.ReadDir(dir)
		var out, errs bytes.Buffer
		if code := run(append(strings.Fields(words), dir), &out, &errs); code != 0 {
			t.Errorf("%s: code %d, %s", words, code, &errs)
		}
		for _, name := range want {
			if _, err := os.Stat(at(name)); err != nil {
				t.Errorf("%s: %v", words, err)
			}
		}
		if after, _ := os.ReadDir(dir); len(after) != len(before) {
			t.Errorf("%s writes into the trace's folder", words)
		}
	}
	if left, _ := filepath.Glob(at("*.*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestMistakesHaveCodesAndReasons(t *testing.T) {
	dir := traced(t)
	for words, want := range map[string]struct {
		code int
		text string
	}{
		"":                               {codeUsage, "needs the folder"},
		"-frob x " + dir:                 {codeUsage, "no such option"},
		"-o":                             {codeUsage, "needs a value"},
		"a b":                            {codeUsage, "two folders"},
		"-from 2 -to 1 " + dir:           {codeUsage, "not after"},
		"-from yesterday " + dir:         {codeUsage, "not a time"},
		"-job 0 " + dir:                  {codeUsage, "from 1 on"},
		"-html= " + dir:                  {codeUsage, "empty"},
		"-text /no/such/folder":          {codeFailed, "no such file"},
		"-job 2 -text " + dir:            {codeFailed, "no job 2"},
		"-o /no/such/folder/x " + dir:    {codeFailed, "name other places"},
		"-csv /dev/null/x " + dir:        {codeFailed, "not a directory"},
		"-html /dev/null/x -text " + dir: {codeFailed, "not a directory"},
	} {
		var out, errs bytes.Buffer
		code := run(strings.Fields(words), &out, &errs)
		text := errs.String()
		if code != want.code || !strings.Contains(text, want.text) || !strings.HasPrefix(text, "impi-trace: ") {
			t.Errorf("%q: code %d, %q", words, code, errs.String())
		}
	}
}

func TestTimesAreSecondsOrHaveAUnit(t *testing.T) {
	a, _, err := parse([]string{"-from", "1.5", "-to", "1600ms", "-job=2", "-events", "10", "d"})
	want := load.Window{From: 1_500_000_000, To: 1_600_000_000}
	if err != nil || a.window != want || a.job != 2 || a.events != 10 {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestTheHelpHasTheOptionsAndTheCommandTakesThem(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"--help"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "-otf2 DIR") {
		t.Errorf("code %d: %s", code, &out)
	}
	for _, o := range usage.Trace.Options {
		words := []string{"-" + o.Names[0]}
		if len(o.Values) > 0 {
			words = append(words, "1")
		}
		if _, _, err := parse(append(words, "d")); err != nil && !strings.Contains(err.Error(), "after") {
			t.Errorf("%q: %v", words, err)
		}
	}
	if !slices.ContainsFunc(usage.Trace.Options, func(o usage.Option) bool { return o.Names[0] == "html" }) {
		t.Error("the table has no -html")
	}
}

// A page of a part of the time begins there.
func TestAPartOfTheTimeIsShown(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run([]string{"-text", "-from", "200us", "-to", "400us", traced(t)}, &out, &errs); code != 0 {
		t.Fatalf("code %d, %s", code, &errs)
	}
	if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, "200 µs") {
		t.Errorf("it is %s", first)
	}
}
