package main

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
)

func TestRanksAreDealtToMachines(t *testing.T) {
	for _, tt := range []struct {
		slots      []int
		n, perHost int
		want       []int
	}{
		{[]int{0, 0, 0}, 7, 0, []int{3, 2, 2}},
		{[]int{0, 0, 0}, 2, 0, []int{1, 1, 0}},
		{[]int{2, 2, 2}, 3, 0, []int{2, 1, 0}},
		{[]int{2, 0, 2}, 5, 0, []int{2, 1, 2}},
		{[]int{2, 2}, 7, 0, []int{4, 3}},
		{[]int{4, 4}, 4, 1, []int{2, 2}}, // one each, and the rest evenly
		{[]int{0, 0}, 4, 2, []int{2, 2}},
		{[]int{1}, 3, 0, []int{3}},
	} {
		list := make([]machine, len(tt.slots))
		for i, s := range tt.slots {
			list[i].slots = s
		}
		deal(list, tt.n, tt.perHost)
		got := make([]int, len(list))
		for i := range list {
			got[i] = list[i].n
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%v, %d ranks, %d per host: %s", tt.slots, tt.n, tt.perHost, d)
		}
	}
}

func TestHostFilesOfOtherLaunchersAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	read := func(text string) ([]machine, error) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return readHostFile(file)
	}
	list, err := read("# all\nalpha slots=4 max_slots=8\n\nbeta:2 # two\n" +
		"10.255.255.1 addr=10.255.255.2 sched=yes\nfe80::1\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []machine{{name: "alpha", slots: 4}, {name: "beta", slots: 2},
		{name: "10.255.255.1", addr: netip.MustParseAddr("10.255.255.2")}, {name: "fe80::1"}}
	if d := cmp.Diff(want, list, cmp.AllowUnexported(machine{}), cmpopts.EquateComparable(netip.Addr{})); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"a slots=x", "a slots=0", "a:b", "-oProxyCommand=x", "a addr=here", "a b c d", ":::",
		"x::", "a:0", "localhost:0", ":2"} {
		if _, err := read("good\n" + bad + "\n"); err == nil || !strings.Contains(err.Error(), "line 2, column ") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := readHostFile(file + ".not"); err == nil {
		t.Error("a file that is not there")
	}
}

func TestMachinesThatAreNamedTwiceAreOne(t *testing.T) {
	plan, err := options.Parse(strings.Fields("-host alpha,localhost:2,alpha:3,127.0.0.1 -n 6 p"), func(string) string {
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	list, err := machines(plan)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].slots != 4 || list[1].slots != 3 || !list[1].local || list[0].local || list[0].n != 4 ||
		list[1].n != 2 {
		t.Errorf("%+v", list)
	}
}

func TestProgramsAreCutWhereMachinesEnd(t *testing.T) {
	programs := []options.Program{{N: 3, Argv: []string{"a"}}, {N: 1, Argv: []string{"b"}}, {N: 4, Argv: []string{"c"}}}
	for first := range 8 {
		for n := 1; first+n <= 8; n++ {
			got := ""
			for _, g := range cutPrograms(programs, first, n) {
				got += strings.Repeat(g.Argv[0], g.N)
			}
			if want := "aaabcccc"[first : first+n]; got != want {
				t.Errorf("%d ranks from %d: %s, want %s", n, first, got, want)
			}
		}
	}
	if programs[0].N != 3 {
		t.Error("the plan itself has changed")
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
	r := &nodeLink{member: member{N: 2}}
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

func TestWordsForAShellAreQuoted(t *testing.T) {
	for _, s := range []string{"", "a b", "it's", "$(x)", "a\nb"} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q comes out as %q, %v", s, out, err)
		}
	}
}

func FuzzHostLines(f *testing.F) {
	for _, line := range []string{"alpha slots=4 max_slots=8", "beta:2", "ssh://me@host:22 slots=2", "fe80::1 addr=::1",
		"ssh://", "ssh://[::1]:22", "a slots=x", "  b  c"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words := strings.Fields(line)
		if len(words) == 0 {
			return
		}
		m, at, err := parseMachine(words)
		switch {
		case err != nil:
			if column := columnOf(line, at); !strings.HasPrefix(line[column-1:], words[at]) {
				t.Errorf("%q: column %d", line, column)
			}
		case m.name == "" || m.name[0] == '-' || strings.HasPrefix(m.user, "-") || m.slots < 0 || m.port < 0 ||
			m.port > 65535:
			t.Errorf("%q: %+v", line, m)
		}
	})
}
