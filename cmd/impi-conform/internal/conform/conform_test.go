package conform

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

type list []Result

func (l *list) Ended(r Result) { *l = append(*l, r) }

func TestResultsComeInOrderWithTheirOutcomes(t *testing.T) {
	var undone []string
	first := make(chan bool)
	cases := []Case{
		{Name: "a/waits", Run: func(t *T) { <-first }}, // ends after the next one
		{Name: "a/fails", Run: func(t *T) {
			t.Errorf("one %d", 1)
			t.Check(false, "two")
			t.Check(true, "not")
			close(first)
		}},
		{Name: "b/fatal", Run: func(t *T) {
			t.Cleanup(func() { undone = append(undone, "outer") })
			t.Cleanup(func() { undone = append(undone, "inner") })
			t.Output("said")
			t.Fatalf("end")
			t.Errorf("not reached")
		}},
		{Name: "b/skipped", Run: func(t *T) { t.Errorf("ran") }},
		//lint:ignore SA5000 the panic is the case
		{Name: "b/panics", Run: func(t *T) { var m map[int]int; m[1] = 1 }},
	}
	var got list
	count := Run(context.Background(), cases, Options{Timeout: time.Minute, Jobs: 2, Skip: func(c Case) string {
		if c.Name == "b/skipped" {
			return "no reason"
		}
		return ""
	}}, got.Ended)
	var short []string
	for _, r := range got {
		short = append(short, r.Case.Name+" "+r.Outcome.String())
	}
	want := []string{"a/waits pass", "a/fails FAIL", "b/fatal FAIL", "b/skipped skip", "b/panics FAIL"}
	if !slices.Equal(short, want) || count != [3]int{1, 3, 1} {
		t.Errorf("got %v, %v", short, count)
	}
	if !slices.Equal(got[1].Problems, []string{"one 1", "two"}) || !slices.Equal(got[2].Problems, []string{"end"}) ||
		got[2].Output != "said" {
		t.Errorf("got %+v", got[1:3])
	}
	if !slices.Equal(undone, []string{"inner", "outer"}) {
		t.Errorf("undone %v", undone)
	}
	if !strings.Contains(got[4].Problems[0], "tester itself") {
		t.Errorf("got %v", got[4].Problems)
	}
}

func TestACaseSeesItsDeadline(t *testing.T) {
	var got list
	Run(context.Background(), []Case{{Name: "x", Run: func(t *T) {
		<-t.Context().Done()
		t.Fatalf("deadline")
	}}}, Options{Timeout: time.Millisecond}, got.Ended)
	if got[0].Outcome != Fail {
		t.Error(got)
	}
}

func TestCasesAreSelectedByName(t *testing.T) {
	cases := []Case{{Name: "a/x"}, {Name: "b/x"}}
	if got := Select(cases, regexp.MustCompile("^b/")); len(got) != 1 || got[0].Name != "b/x" {
		t.Error(got)
	}
	if len(Select(cases, nil)) != 2 {
		t.Error("no expression selects not all")
	}
}
