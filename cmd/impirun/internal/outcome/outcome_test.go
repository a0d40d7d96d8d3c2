package outcome

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/libimpi/report"
)

func TestAnObjectHasWhatTheTextHas(t *testing.T) {
	peer := 2
	cause := &supervise.Cause{Code: 6, Text: "ranks 0-1 on a gave up: no", Failure: &supervise.Failure{
		Error: report.Error{Call: "MPI_Send", Class: "MPI_ERR_RANK", Text: "no", File: "a.c", Line: 3, Peer: &peer,
			Arguments: []report.Arg{{Name: "dest", Text: "<9>"}}, Hint: "try"},
		Origins: []supervise.Origin{{Rank: 0, Machine: "a"}, {Rank: 1, Machine: "a"}}}}
	e := &Error{Cause: cause, MachineOf: func(rank int) string { return map[int]string{2: "b"}[rank] }}
	got := map[string]map[string]any{}
	line := string(e.object())
	if err := json.Unmarshal([]byte(line), &got); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%q: %v", line, err)
	}
	text, _ := json.Marshal(got["error"])
	for _, want := range []string{`"call":"MPI_Send"`, `"class":"MPI_ERR_RANK"`, `"text":"no"`, `"file":"a.c"`, `"line":3`,
		`"ranks":[0,1]`, `"machines":["a"]`, `"peer":2`, `"peerMachine":"b"`, `"hint":"try"`, `"code":6`, `"name":"dest"`,
		`"message":"ranks 0-1 on a gave up: no"`, `"time":"20`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	plain := string((&Error{Cause: &supervise.Cause{Code: 3, Text: "a reason"}}).object())
	if !strings.Contains(plain, `"code":3,"message":"a reason"}}`) {
		t.Error(plain)
	}
}
