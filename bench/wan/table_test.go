package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func thePlan(t *testing.T, clients, streams string) *plan {
	t.Helper()
	p := &plan{path: path{rtt: 40 * time.Millisecond, rate: 1000, mtu: 9000}, ranks: 2, via: []string{"direct", "agent"}}
	if err := p.complete(clients, streams); err != nil {
		t.Fatal(err)
	}
	return p
}

// fixed measures nothing.
func fixed(f figures) runner {
	return func(string, int, int, string) (figures, error) { return f, nil }
}

func contains(t *testing.T, text string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestCollectivesAreToldInRoundTripsAndHeldAgainstTheOptimum(t *testing.T) {
	p := thePlan(t, "2,4", "1")
	var b strings.Builder
	if err := p.coll(&b,
		fixed(figures{"barrier": 0.042, "bcast/8": 0.0601, "reduce/8": 0.1, "allreduce/8": 0.02,

			"allgather/8": 0.02, "gatherv/8": 0.02, "scan/8": 0.02, "reduce_scatter/8": 0.02, "bcast/1048576": 0.04,
			"reduce/1048576": 0.04, "allreduce/1048576": 0.04, "ibarrier": 0.04,
			"ibcast/8": 0.02, "iallreduce/8": 0.04, "overlap/8": 0.002, "overlap/65536": 0.002})); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "2, direct", "4, agent",
		"barrier                        1.05           1.05           1.05           1.05      0.5      1.5 met\n",
		"bcast/8                        1.50           1.50           1.50           1.50      0.5      1.5 MISSED\n",
		"reduce/8                       2.50           2.50           2.50           2.50      0.5\n",
		"overlap/8                      0.05           0.05           0.05           0.05      0.0\n")
}

func TestLongMessagesAreToldInSharesOfTheLink(t *testing.T) {
	p := thePlan(t, "2", "1,4")
	var b strings.Builder
	asked := ""
	if err := p.bw(&b, func(part string, clients, streams int, via string) (figures, error) {
		asked += via
		return figures{"bw/1048576": 62.5e6, "bw/67108864": 125e6 - float64(streams-1)*10e6}, nil
	}); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "direct, 1 stream               50.0          100.0  >= 90 met\n",
		"agent, 4 streams               50.0           76.0  >= 90 MISSED\n")
	if asked != "directdirectagentagent" {
		t.Error(asked)
	}
}

func TestPingPongsStandBesidePlainSockets(t *testing.T) {
	p := thePlan(t, "2", "1")
	f, g := figures{}, figures{}
	for _, n := range []string{"1", "8", "1024", "8192", "65536", "262144", "1048576", "4194304"} {
		f["pingpong/"+n], g["pingpong/"+n] = 0.04, 0.0415
	}
	var b strings.Builder
	give := func(f figures, err error) func() (figures, error) { return func() (figures, error) { return f, err } }
	if err := p.pingpong(&b, []column{{"plain sockets", give(f, nil)}, {"direct", give(g, nil)}}); err != nil {
		t.Fatal(err)
	}
	contains(t, b.String(), "plain sockets         direct\n", "8192 bytes                    40.00          41.50\n")
}

func TestWhatIsNotMeasuredIsAnError(t *testing.T) {
	p := thePlan(t, "2", "1")
	var b strings.Builder
	none, failed := fixed(figures{}), errors.New("failed")
	no := func() (figures, error) { return figures{}, nil }
	if p.coll(&b, none) == nil || p.bw(&b, none) == nil || p.pingpong(&b, []column{{"none", no}}) == nil {
		t.Error("a table without figures")
	}
	bad := func(string, int, int, string) (figures, error) { return nil, failed }
	if p.coll(&b, bad) != failed || p.bw(&b, bad) != failed || p.pingpong(&b, []column{{"bad", func() (figures, error) {
		return nil, failed
	}}}) != failed {
		t.Error("a run that fails is passed over")
	}
	if _, err := parse("nothing\n"); err == nil {
		t.Error("a run without figures is no error")
	}
	if f, err := parse("noise of three words\nbarrier 0.05\n"); err != nil || len(f) != 1 || f["barrier"] != 0.05 {
		t.Error(f, err)
	}
}

func TestListsAreChecked(t *testing.T) {
	for _, bad := range []plan{{parts: []string{"all"}}, {via: []string{"relay"}}} {
		if bad.complete("2", "1") == nil {
			t.Errorf("%+v", bad)
		}
	}
	for _, bad := range []string{"", "1", "33", "2,x"} {
		if new(plan).complete(bad, "1") == nil {
			t.Errorf("%q clients", bad)
		}
	}
	if new(plan).complete("2", "17") == nil {
		t.Error("17 streams")
	}
}

func TestPacketsGoToTheEndThatTheirAddressNames(t *testing.T) {
	l := &link{names: make([]string, 4)}
	for _, tt := range []struct {
		packet []byte
		want   int
	}{
		{[]byte{0x45, 19: 1}, -1},
		{[]byte{0x45, 16: 10, 77, 0, 3}, 2},
		{[]byte{0x45, 16: 10, 77, 0, 5}, -1},
		{[]byte{0x45, 16: 10, 77, 0, 0}, -1},
		{[]byte{0x60, 16: 10, 77, 0, 3}, -1},
		{[]byte{0x45, 10, 77}, -1},
	} {
		if got := l.end(tt.packet); got != tt.want {
			t.Errorf("%v: end %d, want %d", tt.packet, got, tt.want)
		}
	}
}
