package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestTrafficThatDidNotUseTheNetworkDoesNotCount(t *testing.T) {
	run := []sample{{"lat/8", 4, "us"}, {"least", 10, "MB"}}
	got, err := checkSent(run, 12)
	if err != nil || !slices.Equal(got, []sample{{"lat/8", 4, "us"}, {"sent", 1.2, "x-least"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := checkSent(run, 9.9); err == nil || !strings.Contains(err.Error(), "9.9 MB instead of 10.0 MB") {
		t.Error(err)
	}
	if _, err := checkSent(run[:1], 12); err == nil {
		t.Error("a run that was not complete counts")
	}
}

func TestEachLauncherReachesTheMachinesInItsOwnWords(t *testing.T) {
	for _, tt := range []struct {
		l    library
		says string
	}{
		{library{name: ours}, "-rsh /shell -host m0:1,m1:1 -iface eth0"},
		{library{name: "mpich"}, "-launcher ssh -launcher-exec /shell -hosts m0,m1 -ppn 1"},
		{library{name: "openmpi", version: "4.1.4"}, "--mca plm_rsh_agent /shell"},
		{library{name: "openmpi", version: "5.0.11"}, "--prtemca plm_ssh_agent /shell"},
	} {
		args, _ := tt.l.across("/shell", 2, 1)
		if got := strings.Join(args, " "); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s, without %s", tt.l.title(), got, tt.says)
		}
	}
}

func TestRawLinesKeepEveryRound(t *testing.T) {
	l := newLine("lat/8", "us", 2, 3)
	l.rounds[0][0], l.rounds[1][0], l.rounds[2][0] = 4, 5, 4.5
	want := "lat/8                        us      4.000,5.000,4.500 / -\n"
	if got := rawLines([]*line{l}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What cluster.c measures, it is asked for.
func TestThePartsOfClusterGroupsExist(t *testing.T) {
	source, err := os.ReadFile("../cluster.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range clusterGroups {
		for _, part := range g.parts {
			if !strings.Contains(string(source), strings.TrimSuffix(part, "-all")) {
				t.Errorf("%s: cluster.c has no part %s", g.name, part)
			}
		}
	}
}
