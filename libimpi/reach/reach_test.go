package reach

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport"
)

// A host for a report: the number of its ranks, its client, and the last number of its machine's address.
type reported struct {
	ranks, client int32
	machine       byte
	host          transport.Host
}

func reportOf(list ...reported) *transport.Job {
	j := &transport.Job{}
	for i, h := range list {
		id := netip.AddrFrom4([4]byte{10, 0, 0, h.machine}).As16()
		h.host.Client, h.host.First, h.host.NProcs = h.client, int32(len(j.Procs)), h.ranks
		h.host.SameImpl = true
		j.Hosts, j.Clients = append(j.Hosts, h.host), max(j.Clients, h.client+1)
		for range h.ranks {
			j.Procs = append(j.Procs, transport.Proc{HostID: id, Host: int32(i), Client: h.client})
		}
	}
	return j
}

func TestAReportSaysByWhatRanksTalk(t *testing.T) {
	type host = transport.Host
	const head = " ranks, by machine, and by what they talk. Line 0 is what rank 0 has found out, the others are what " +
		"the tables of the job say:"
	for name, tt := range map[string]struct {
		r    Report
		want []string
	}{
		"alone": {Report{Job: reportOf(reported{1, 0, 1, host{}}), Near: []int32{0}},
			[]string{"1 rank on here, which has nobody to talk to"}},
		"a machine whose ranks read": {
			Report{Job: reportOf(reported{4, 0, 1, host{}}), Near: []int32{0, 1, 2, 3}, Reads: 3},
			[]string{"4 ranks on here talk by shared memory, and read each other's memory"}},
		"one whose ranks may not": {Report{Job: reportOf(reported{4, 0, 1, host{}}), Near: []int32{0, 1, 2, 3}},
			[]string{"4 ranks on here talk by shared memory, and do not read each other's memory"}},
		"one where some may": {Report{Job: reportOf(reported{4, 0, 1, host{}}), Near: []int32{0, 1, 2, 3}, Reads: 2},
			[]string{"4 ranks on here talk by shared memory, and rank 0 reads the memory of 2 of 3"}},
		"another library": {Report{Job: reportOf(reported{2, 0, 1, host{}}), Near: []int32{0, 1}, Vendor: "MPICH 5",
			Apart: true},
			[]string{"2 ranks on here talk by MPICH 5"}},
		"another library on two machines, and another client": {Report{Job: reportOf(reported{2, 0, 1, host{}},
			reported{1, 0, 2, host{}}, reported{2, 1, 3, host{}}), Near: []int32{0, 1}, Vendor: "MPICH 5",
			Apart: true},
			[]string{"5" + head,
				"  0: ranks 0-1 on here, client 0: MPICH 5; MPICH 5 with 1; tcp with 2",
				"  1: rank 2 on 10.0.0.2, client 0: MPICH 5 with 0; tcp with 2",
				"  2: ranks 3-4 on 10.0.0.3, client 1: shared memory; tcp with 0-1"}},
		"another library between machines": {Report{Job: reportOf(reported{2, 0, 1, host{}}, reported{2, 0, 2, host{}},
			reported{1, 1, 1, host{}}), Near: []int32{0, 1}, Vendor: "MPICH 5", Reads: 1},
			[]string{"5" + head,
				"  0: ranks 0-1 on here, client 0: shared memory, and read each other's memory; MPICH 5 with 1; tcp with 2",
				"  1: ranks 2-3 on 10.0.0.2, client 0: shared memory; MPICH 5 with 0; tcp with 2",
				"  2: rank 4 on here, client 1: tcp with 0-1"}},
		"three machines": {Report{Job: reportOf(reported{1, 0, 1, host{Streams: 4}}, reported{1, 0, 2, host{Streams: 4}},
			reported{1, 0, 3, host{Streams: 2}}, reported{1, 0, 1, host{Streams: 4}}), Near: []int32{0, 3}, Reads: 1},
			[]string{"4" + head,
				"  0: ranks 0,3 on here: shared memory, and read each other's memory; tcp (4 connections) with 1; " +
					"tcp (2 connections) with 2",
				"  1: rank 1 on 10.0.0.2: tcp (4 connections) with 0; tcp (2 connections) with 2",
				"  2: rank 2 on 10.0.0.3: tcp (2 connections) with 0-1"}},
		"clients, an agent, TLS": {Report{Job: reportOf(reported{2, 0, 1, host{Machine: 5}},
			reported{2, 1, 9, host{Machine: 5, Sealed: true}}, reported{1, 2, 3, host{Machine: 6, Others: 1}}),
			Near: []int32{0, 1}, Reads: 1},
			[]string{"5" + head,
				"  0: ranks 0-1 on here, client 0: shared memory, and read each other's memory; tcp with TLS with 1; " +
					"tcp by an agent with 2",
				"  1: ranks 2-3 on here, client 1: shared memory; tcp with TLS with 0; tcp by an agent with 2",
				"  2: rank 4 on 10.0.0.3, client 2: tcp by an agent with 0-1"}},
		"an agent of our own": {Report{Job: reportOf(reported{1, 0, 1, host{}}, reported{1, 1, 2, host{}}), Near: []int32{0},
			Agent: true},
			[]string{"2" + head, "  0: rank 0 on here, client 0: tcp by an agent with 1",
				"  1: rank 1 on 10.0.0.2, client 1: tcp by an agent with 0"}},
	} {
		tt.r.Machine = "here"
		if got := tt.r.Lines(); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestAReportOfAnotherImplementationClaimsNothingOfItsInside(t *testing.T) {
	j := reportOf(reported{1, 0, 1, transport.Host{}}, reported{2, 1, 2, transport.Host{}})
	j.Hosts[1].SameImpl = false
	lines := Report{Job: j, Near: []int32{0}, Machine: "here"}.Lines()
	if want := "  1: ranks 1-2 on 10.0.0.2, client 1: what their own MPI has; tcp with 0"; lines[2] != want {
		t.Errorf("%q, want %q", lines[2], want)
	}
}

func TestAReportOfManyMachinesIsBounded(t *testing.T) {
	var list []reported
	for i := range 50 {
		list = append(list, reported{2, 0, byte(i + 1), transport.Host{}})
	}
	lines := Report{Job: reportOf(list...), Near: []int32{0, 1}, Reads: 1, Machine: "here"}.Lines()
	last := lines[len(lines)-1]
	if len(lines) != mostRows+2 || last != "     and 18 machines more, 50 in all" {
		t.Errorf("%d lines, the last is %q", len(lines), last)
	}
	if want := "tcp with 1-49"; !strings.HasSuffix(lines[1], want) {
		t.Errorf("%q does not end with %q", lines[1], want)
	}
}
