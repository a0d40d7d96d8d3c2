package main

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/startup/client"
)

func TestHostsStandInTheOrderOfTheirRanks(t *testing.T) {
	host := func(pids ...uint32) (h client.Host) {
		for _, pid := range pids {
			h.Procs = append(h.Procs, client.Proc{PID: pid})
		}
		return h
	}
	nodes := []*nodeLink{
		{member: member{Ranks: []int{0, 3, 6}}, hosts: []client.Host{host(0), host(3), host(6)}},
		{member: member{Ranks: []int{4, 5}}, hosts: []client.Host{host(4, 5)}},
		{member: member{Ranks: []int{1, 2}}, hosts: []client.Host{host(1), host(2)}},
	}
	next := uint32(0)
	for _, h := range inRankOrder(nodes) {
		for _, p := range h.Procs {
			if p.PID != next {
				t.Errorf("rank %d is %d", next, p.PID)
			}
			next++
		}
	}
	if next != 7 {
		t.Errorf("%d ranks", next)
	}
}

func TestRanksThatAlternateAreHostsOfTheirOwn(t *testing.T) {
	block := []hosts.Machine{{Ranks: []int{0, 1}}, {Ranks: []int{2}}}
	apart := []hosts.Machine{{Ranks: []int{1}}, {Name: "a", Ranks: []int{0, 2}}}
	for _, tt := range []struct {
		list  []hosts.Machine
		via   options.Via
		agent bool
		stays bool
		fails bool
	}{
		{block, options.ViaAgent, true, true, false}, {block, options.ViaAuto, true, true, false},
		{apart, options.ViaAgent, true, true, true}, {apart, options.ViaAuto, true, false, false},
		{apart, options.ViaDirect, false, false, false},
	} {
		m := &join.Plan{Agent: tt.agent}
		err := oneHostEach(&options.Plan{Via: tt.via}, m, tt.list)
		if (err != nil) != tt.fails || m.Agent != tt.stays {
			t.Errorf("%+v: agent %v, %v", tt, m.Agent, err)
		}
	}
	if err := oneHostEach(&options.Plan{}, nil, apart); err != nil {
		t.Error(err)
	}
}

func TestFramesAreReadBackAndNonsenseIsNot(t *testing.T) {
	var wire bytes.Buffer
	f := &frames{in: &wire, out: &wire, machine: 7}
	sent := frame{Hosts: []hostFrame{{Addr: netip.MustParseAddrPort("10.0.0.1:5"),
		Procs: []procFrame{{HostID: make([]byte, 16), PID: 7}}}}}
	if err := f.send(sent); err != nil {
		t.Fatal(err)
	}
	if text := wire.String(); text[len(text)-1] != '\n' {
		t.Errorf("%q could be held back by who hands on lines", text)
	}
	x, err := f.letter()
	if err != nil || x.machine != 7 {
		t.Fatal(x, err)
	}
	got, err := x.frame()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sent, got, cmpopts.EquateComparable(netip.AddrPort{})); d != "" {
		t.Error(d)
	}
	frame := func(n uint32, text string) string {
		return string(binary.BigEndian.AppendUint32(nil, n)) + "\x00\x00\x00\x07" + text
	}
	for _, bad := range []string{"", "ab", "Welcome to this machine\n", frame(0, ""), frame(1, "1"),
		frame(maxFrame+1, "{}"), frame(maxFrame, "{}"),
		frame(2, "xy"), frame(4, "{}")} {
		f := &frames{in: strings.NewReader(bad)}
		if m, err := f.receive(); err == nil {
			t.Errorf("%q: %+v", bad, m)
		}
	}
}

func TestWhatANodeSaysOfItsHostsIsChecked(t *testing.T) {
	r := &nodeLink{member: member{Ranks: []int{0, 1}}}
	proc := procFrame{HostID: make([]byte, 16)}
	for _, bad := range [][]hostFrame{nil, {{Procs: []procFrame{proc}}}, {{Procs: []procFrame{proc, proc, proc}}},
		{{Procs: []procFrame{proc, {HostID: []byte{1}}}}}} {
		if _, err := r.take(bad); err == nil {
			t.Errorf("%+v was believed", bad)
		}
	}
	if hosts, err := r.take([]hostFrame{{Procs: []procFrame{proc}}, {Procs: []procFrame{proc}}}); err != nil ||
		len(hosts) != 2 {
		t.Error(hosts, err)
	}
}

func TestTheMachineOfTheRankThatWasLostOutranksThoseThatMissIt(t *testing.T) {
	missing := &supervise.Cause{Code: 1, Text: "rank 0 gave up", Answer: true}
	culprit := &supervise.Cause{Code: 7, Text: "rank 3 exited with code 7"}
	for name, order := range map[string][]*supervise.Cause{"late": {missing, missing, culprit, missing},
		"early": {culprit, missing}} {
		plan := &options.Plan{}
		h := &head{plan: plan, spawner: newSpawner(plan, nil, "", 1)}
		for _, c := range order {
			h.fail(c)
		}
		if h.cause != culprit {
			t.Errorf("%s: %+v", name, h.cause)
		}
	}
}
