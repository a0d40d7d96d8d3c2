package startup

import (
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/transport/wire"
)

// form reads a form given as names and values.
func form(words ...string) (f Form, problems string, ok bool) {
	m := map[string]string{}
	for i := 0; i < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	f, job, negotiated, ok := Read(func(name string) string { return m[name] })
	for _, x := range append(job, negotiated...) {
		problems += x.Problem
	}
	return f, problems, ok
}

func TestAnEmptyFormIsTheSmallestJob(t *testing.T) {
	f, _, ok := form()
	s := f.setup()
	if !ok || f.Server != Tester || f.Auth != Key || s.Procs != 1 || len(s.Others) != 1 || !slices.Equal(s.Others[0], []int{1}) ||
		s.Env != nil || s.XSize != nil || f.Case().Needs != conform.Client {
		t.Errorf("got %+v, %+v", f, s)
	}
}

func TestAFormIsTheJobThatItSays(t *testing.T) {
	f, _, ok := form("clients", "3", "hosts", "2", "procs", "4", "rank", "3", "own", "5", "auth", "none", "datalen", "100",
		"ackmark", "2", "hiwater", "4", "xsize", "0")
	s := f.setup()
	if !ok || s.Rank != 3 || s.Procs != 5 || len(s.Others) != 3 || !slices.Equal(s.Others[2], []int{4, 4}) || s.DataLen != 100 ||
		s.AckMark != 2 || s.HiWater != 4 || !s.Told || *s.XSize != 0 || *s.MaxLinear != 4 ||
		!slices.Equal(s.Env, []string{"IMPI_AUTH_NONE="}) {
		t.Errorf("got %+v", s)
	}
	if c := f.Case(); c.Needs != conform.Values || !strings.Contains(c.About, "client 3 of 4 with 5 processes") {
		t.Errorf("got %+v", c)
	}
	if f, _, ok := form("server", Implementation, "clients", "32"); !ok || f.Case().Needs != conform.Server {
		t.Errorf("got %+v", f)
	}
}

func TestNumbersThatDoNotFitAreRefused(t *testing.T) {
	for want, words := range map[string][]string{
		"from 0 to 32":                      {"clients", "33"},
		"Hosts of each must be a number":    {"hosts", "x"},
		"from 1 to 16":                      {"procs", "99999999999999999999"},
		"there are at most 32 clients":      {"clients", "32"},
		"below the number of all clients":   {"rank", "2"},
		"a server needs at least one":       {"server", Implementation, "clients", "0"},
		"the tester plays at most 64 hosts": {"clients", "20", "hosts", "8"},
		"must be at most H_HIWATER, 4":      {"hiwater", "4"},
		"C_TAGUB must be a number":          {"tagub", "5"},
	} {
		if _, problems, ok := form(words...); ok || !strings.Contains(problems, want) {
			t.Errorf("%v: %v, %q, must have %q", words, ok, problems, want)
		}
	}
}

// Every contribution has the length that the protocol gives it.
func TestContributionsHaveTheirLengths(t *testing.T) {
	f, _, _ := form("hosts", "2", "procs", "3")
	for _, l := range wire.Labels {
		per, size, _ := l.Shape()
		n := map[wire.Per]int{wire.PerClient: 1, wire.PerHost: 2, wire.PerProc: 6}[per]
		if b := f.contribution(l, 1); l != wire.CVersion && len(b) != n*size {
			t.Errorf("%v has %d bytes, must have %d", l, len(b), n*size)
		}
	}
	if b := f.contribution(wire.PPID, 1); codec.GetU64(b[8:]) != 2001 {
		t.Errorf("P_PID is % x", b)
	}
}
