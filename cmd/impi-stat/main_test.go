package main

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/inquiry"
	"github.com/libimpi/libimpi/cmd/internal/usage"
)

func TestAJobIsShownByItsLauncherAndByItsProcesses(t *testing.T) {
	door, err := inquiry.Listen(func(f inquiry.Format) []byte { return []byte("as " + f + "\n") })
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	self := strconv.Itoa(os.Getpid())
	for words, want := range map[string]string{"": "as text\n", self: "as text\n", "--json " + self: "as json\n",
		"-json": "as json\n"} {
		var out, errs bytes.Buffer
		if code := run(strings.Fields(words), &out, &errs); code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%q: code %d, %q, %q", words, code, out.String(), errs.String())
		}
	}
}

func TestMistakesHaveCodesAndReasons(t *testing.T) {
	for words, want := range map[string]struct {
		code int
		text string
	}{
		"--jsn":    {codeUsage, "--jsn is no option"},
		"abc":      {codeUsage, "abc is no option"},
		"-3":       {codeUsage, "-3 is no option"},
		"99999999": {codeFailed, "process 99999999 is no launcher"},
	} {
		var out, errs bytes.Buffer
		if code := run([]string{words}, &out, &errs); code != want.code || !strings.Contains(errs.String(), want.text) {
			t.Errorf("%q: code %d, %q", words, code, errs.String())
		}
	}
}

func TestJobsAreChosen(t *testing.T) {
	ours, theirs := inquiry.Job{PID: 10, UID: os.Geteuid()}, inquiry.Job{PID: 20, UID: os.Geteuid() + 1}
	parents := map[int]int{12: 11, 11: 10, 30: 1, 5: 5}
	parent := func(pid int) int { return parents[pid] }
	for _, c := range []struct {
		pids []int
		want []inquiry.Job
	}{
		{nil, []inquiry.Job{ours}},
		{[]int{12}, []inquiry.Job{ours}},
		{[]int{20}, []inquiry.Job{theirs}}, // it is asked for by name, and refused
		{[]int{30}, nil},
		{[]int{5}, nil},
	} {
		got, err := choose([]inquiry.Job{ours, theirs}, c.pids, parent)
		if !reflect.DeepEqual(got, c.want) || (err != nil) != (c.want == nil) {
			t.Errorf("%v: %v, %v", c.pids, got, err)
		}
	}
	if _, err := choose([]inquiry.Job{theirs}, nil, parent); err == nil {
		t.Error("another user's job is shown")
	}
}

func TestTheHelpHasTheOptions(t *testing.T) {
	var out bytes.Buffer
	if code := run([]string{"--help"}, &out, &out); code != 0 || !strings.Contains(out.String(), "--json") {
		t.Errorf("code %d: %s", code, out.String())
	}
	if !slices.ContainsFunc(usage.Stat.Options, func(o usage.Option) bool { return o.Names[0] == "json" }) {
		t.Error("the table has no --json")
	}
}
