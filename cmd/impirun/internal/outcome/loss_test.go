package outcome

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/libimpi/report"
)

func TestALossSaysWithoutWhomTheJobGoesOn(t *testing.T) {
	one := OfRank(supervise.Loss{Origin: supervise.Origin{Rank: 3, Machine: "a", PID: 7}, Did: "was killed by signal 9"})
	many := Loss{Ranks: []int{4, 5, 6, 9}, Text: "client 1 is lost: it has hung up"}
	fourth := Loss{Ranks: []int{4}, Machines: []string{"b"}, Text: "machine b: it is gone"}
	for want, l := range map[string]Loss{
		"rank 3 on a (pid 7) was killed by signal 9; the job goes on without it": one,
		"machine b: it is gone; the job goes on without rank 4":                  fourth,
		"client 1 is lost: it has hung up; the job goes on without ranks 4-6,9":  many,
	} {
		if got := string(l.Bytes(false, nil)); got != "impirun: "+want+"\n" {
			t.Errorf("%q, want %q", got, want)
		}
	}
	one.Failure = &supervise.Failure{Error: report.Error{Signal: 11, File: "a.c", Line: 3},
		Origins: []supervise.Origin{{Rank: 3, Machine: "a"}}}
	text := string(one.Bytes(true, nil))
	var object map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil || strings.Count(text, "\n") != 1 {
		t.Fatalf("%q: %v", text, err)
	}
	for _, want := range []string{`{"loss":{"time":"2`,
		`"message":"rank 3 on a (pid 7) was killed by signal 9"`, `"ranks":[3]`,
		`"machines":["a"]`, `"line":3`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
}
