package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/cases"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
)

// fake runs one case of an implementation that is a script, "" for one that is not there. No player is compiled.
func fake(t *testing.T, name, script string, deadline time.Duration) conform.Result {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "implementation")
	if script != "" {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at, err := target.New(context.Background(), path+" {clients}", path+" {rank} {server} {n} {prog}", "", "true", dir)
	if err != nil {
		t.Fatal(err)
	}
	var result conform.Result
	conform.Run(context.Background(), conform.Select(cases.All(), regexp.MustCompile("^"+name+"$")),
		conform.Options{Timeout: deadline, Target: at, Trace: true}, func(r conform.Result) { result = r })
	return result
}

func TestAnImplementationOfWhichNothingIsSeenDoesNotFail(t *testing.T) {
	const server, client, soon, late = "server/one-line", "client/smallest-job", 100 * time.Millisecond, time.Minute
	for name, x := range map[string]struct {
		of, script string
		deadline   time.Duration // late: it is not waited for
		want       conform.Outcome
	}{
		"a server that is not there":      {server, "", late, conform.Indeterminate},
		"a client that is not there":      {client, "", late, conform.Indeterminate},
		"a server that says nothing":      {server, "sleep 30", soon, conform.Indeterminate},
		"a client that says nothing":      {client, "sleep 30", soon, conform.Indeterminate},
		"a server that ends":              {server, "exit 1", late, conform.Fail},
		"a client that ends":              {client, "exit 1", late, conform.Fail},
		"a server that says another word": {server, "echo hello; sleep 30", late, conform.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r := fake(t, x.of, x.script, x.deadline); r.Outcome != x.want {
				t.Errorf("got %v, want %v: %+v", r.Outcome, x.want, r.Problems)
			}
		})
	}
}

func TestTheTraceOfAFailureSaysWhatTheImplementationDid(t *testing.T) {
	r := fake(t, "server/one-line", "echo \"for $1\" >&2; exit 3", time.Minute)
	var kinds []string
	for _, e := range r.Trace.Events {
		kinds = append(kinds, string(e.Kind))
	}
	want := []string{string(events.Started), string(events.Line), string(events.Ended), string(events.Problem)}
	if strings.Join(kinds, ", ") != strings.Join(want, ", ") || r.Trace.Events[1].Text != "for 2" ||
		r.Trace.Events[2].Text != "exit code 3" {
		t.Errorf("got %+v", r.Trace.Events)
	}
}

func TestComparingNeedsTwoRecords(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for path, verdict := range map[string]string{a: "pass", b: "fail"} {
		text := `{"format":1,"cases":[{"name":"x/y","verdict":"` + verdict + `"}]}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		a, b string
		want int
	}{{a, a, 0}, {b, a, 0}, {a, b, codeFailed}, {a, filepath.Join(dir, "none"), codeUsage}} {
		var out bytes.Buffer
		if got := compareRecords(x.a, x.b, &out); got != x.want {
			t.Errorf("%s and %s: %d\n%s", x.a, x.b, got, &out)
		}
	}
}
