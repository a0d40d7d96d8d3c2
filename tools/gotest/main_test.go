package main

import (
	"strings"
	"testing"
)

const module = "github.com/libimpi/libimpi/"

func TestSkippedTestsAreNamedAndOnlyFailuresAreHeard(t *testing.T) {
	const events = `{"Action":"start","Package":"` + module + `a"}
{"Action":"output","Package":"` + module + `a","Test":"TestGood","Output":"=== RUN TestGood\n"}
{"Action":"pass","Package":"` + module + `a","Test":"TestGood"}
{"Action":"output","Package":"` + module + `a","Test":"TestZ","Output":"    a_test.go:1: no root\n"}
{"Action":"skip","Package":"` + module + `a","Test":"TestZ"}
{"Action":"skip","Package":"` + module + `a","Test":"TestB/sub"}
{"Action":"pass","Package":"` + module + `a"}
{"Action":"skip","Package":"` + module + `without/tests"}
{"Action":"output","Package":"` + module + `b","Test":"TestBad","Output":"    b_test.go:7: wrong\n"}
{"Action":"fail","Package":"` + module + `b","Test":"TestBad"}
{"Action":"output","Package":"` + module + `b","Output":"FAIL b\n"}
{"Action":"fail","Package":"` + module + `b"}
`
	const want = `    b_test.go:7: wrong
FAIL b
passed: 1 tests of 1 packages
skipped: 2 (a.TestB/sub, a.TestZ)
`
	var got strings.Builder
	if err := summarize(strings.NewReader(events), &got); err != nil || got.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got.String(), want)
	}
}

func TestWhatWasRunningWhenAPackageEndedIsHeard(t *testing.T) {
	const events = `{"Action":"output","Package":"p","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"p"}`
	var got strings.Builder
	err := summarize(strings.NewReader(events), &got)
	if err != nil || !strings.HasPrefix(got.String(), "panic: test timed out\n") {
		t.Errorf("%v\n%s", err, got.String())
	}
}

func TestErrorsOfTheBuildAndLinesThatAreNoEventsAreHeard(t *testing.T) {
	const events = "go: warning\n" + `{"ImportPath":"p","Action":"build-output","Output":"p.go:1: syntax error\n"}`
	var got strings.Builder
	want := "go: warning\np.go:1: syntax error\npassed: 0 tests of 0 packages\n"
	if err := summarize(strings.NewReader(events), &got); err != nil || got.String() != want {
		t.Errorf("%v\n%s", err, got.String())
	}
}
