package machines

import (
	"testing"

	"github.com/libimpi/libimpi/cmd/impirun/internal/hosts"
	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/cmd/internal/supervise"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup/client"
)

// A rank that has finalized may end as it likes; so may any with -enable-recovery. The job goes on, and says so at its
// end. A job that is being spawned needs all.
func TestAMildEndOfANodeEndsNobody(t *testing.T) {
	for _, tt := range []struct {
		end        tree.EndFrame
		job        int
		mild, ends bool
	}{{tree.EndFrame{}, 0, false, false}, {tree.EndFrame{Code: 4, Mild: true}, 0, true, false},
		{tree.EndFrame{Code: 4}, 0, false, true}, {tree.EndFrame{Code: 4, Mild: true}, 1, false, true}} {
		h := &head{plan: &options.Plan{}, job: tt.job, settled: make(chan struct{})}
		h.spawner = spawn.New(h.plan, nil, "", 0, nil)
		h.judge(&tt.end)
		if (h.mild != nil) != tt.mild || (h.cause != nil) != tt.ends {
			t.Errorf("%+v: mild %v, cause %v", tt, h.mild, h.cause)
		}
	}
}

// A machine that was not reached has its own reason, which is told when no other is on its way.
func TestAMachineThatIsMissingIsNotTakenForOneThatHasEnded(t *testing.T) {
	h := &head{plan: &options.Plan{}, nodes: []*nodeLink{
		{Member: tree.Member{Name: "a", Ranks: []int{0}}, hosts: []client.Host{{}}},
		{Member: tree.Member{Name: "b", Number: 1, Ranks: []int{1}}, ended: true}}}
	h.spawner = spawn.New(h.plan, nil, "", 0, nil)
	if h.lack(); h.cause != nil {
		t.Errorf("%+v", h.cause)
	}
	h.nodes[1].told = true
	if h.lack(); h.cause == nil || h.cause.Text != "rank 1 on b ended without calling MPI_Init, which rank 0 has called" {
		t.Errorf("%+v", h.cause)
	}
}

func TestHostsStandInTheOrderOfTheirRanks(t *testing.T) {
	host := func(pids ...uint32) (h client.Host) {
		for _, pid := range pids {
			h.Procs = append(h.Procs, client.Proc{PID: pid})
		}
		return h
	}
	nodes := []*nodeLink{
		{Member: tree.Member{Ranks: []int{0, 3, 6}}, hosts: []client.Host{host(0), host(3), host(6)}},
		{Member: tree.Member{Ranks: []int{4, 5}}, hosts: []client.Host{host(4, 5)}},
		{Member: tree.Member{Ranks: []int{1, 2}}, hosts: []client.Host{host(1), host(2)}},
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
		via   client.Via
		agent bool
		stays bool
		fails bool
	}{
		{block, client.ViaAgent, true, true, false}, {block, client.ViaAuto, true, true, false},
		{apart, client.ViaAgent, true, true, true}, {apart, client.ViaAuto, true, false, false},
		{apart, client.ViaDirect, false, false, false},
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

func TestWhatANodeSaysOfItsHostsIsChecked(t *testing.T) {
	r := &nodeLink{Member: tree.Member{Ranks: []int{0, 1}}}
	proc := tree.ProcFrame{HostID: make([]byte, 16)}
	one := tree.HostFrame{Procs: []tree.ProcFrame{proc}}
	for _, bad := range [][]tree.HostFrame{nil, {one}, {{Procs: []tree.ProcFrame{proc, proc, proc}}},
		{{Procs: []tree.ProcFrame{proc, {HostID: []byte{1}}}}}} {
		if _, err := r.take(bad); err == nil {
			t.Errorf("%+v was believed", bad)
		}
	}
	if hosts, err := r.take([]tree.HostFrame{one, one}); err != nil || len(hosts) != 2 {
		t.Error(hosts, err)
	}
}

func TestTheMachineOfTheRankThatWasLostOutranksThoseThatMissIt(t *testing.T) {
	missing := &supervise.Cause{Code: 1, Text: "rank 0 gave up", Answer: true}
	culprit := &supervise.Cause{Code: 7, Text: "rank 3 exited with code 7"}
	for name, order := range map[string][]*supervise.Cause{"late": {missing, missing, culprit, missing},
		"early": {culprit, missing}} {
		plan := &options.Plan{}
		h := &head{plan: plan, spawner: spawn.New(plan, nil, "", 1, nil)}
		for _, c := range order {
			h.fail(c)
		}
		if h.cause != culprit {
			t.Errorf("%s: %+v", name, h.cause)
		}
	}
}

func TestTheSameErrorOnSeveralMachinesIsOneCause(t *testing.T) {
	h := &head{plan: &options.Plan{}, nodes: []*nodeLink{{Member: tree.Member{Name: "a", Ranks: []int{0, 2}}},
		{Member: tree.Member{Name: "b", Ranks: []int{1}}}}}
	h.spawner = spawn.New(h.plan, nil, "", 0, nil)
	for rank, machine := range []string{"a", "b"} {
		h.judge(&tree.EndFrame{Code: 6, Text: "one", Failure: &supervise.Failure{Did: "gave up: no",
			Error:   report.Error{Call: "MPI_Send", Text: "no"},
			Origins: []supervise.Origin{{Rank: rank, Machine: machine, PID: 7}}}})
	}
	h.judge(&tree.EndFrame{Code: 9, Text: "another"})
	if h.cause.Code != 6 || h.cause.Text != "ranks 0-1 on a, b gave up: no" {
		t.Errorf("%+v", h.cause)
	}
	h.first = 10
	if at := h.machineOf(11) + h.machineOf(12) + h.machineOf(3); at != "ba" {
		t.Errorf("ranks 11, 12 and 3 are on %q", at)
	}
}
