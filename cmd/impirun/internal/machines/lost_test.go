package machines

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/cmd/impirun/internal/join"
	"github.com/libimpi/libimpi/cmd/impirun/internal/outcome"
	"github.com/libimpi/libimpi/cmd/impirun/internal/spawn"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/cmd/internal/options"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport"
)

// tolerant is the launcher of client 1, ranks 2 to 5, on two machines, in a job of three clients.
func tolerant(recovery bool) *head {
	h := &head{plan: &options.Plan{Recovery: recovery, Quiet: true, Programs: []options.Program{{N: 4}}}, first: 2,
		nodes: []*nodeLink{{Member: tree.Member{Name: "a", Ranks: []int{0, 2}}, ended: true},
			{Member: tree.Member{Name: "b", Ranks: []int{1, 3}}, ended: true}},
		tables: &transport.Job{}}
	for _, c := range []int32{0, 0, 1, 1, 1, 1, 2} {
		h.tables.Procs = append(h.tables.Procs, transport.Proc{Client: c})
	}
	h.spawner = spawn.New(h.plan, nil, "", 0, nil)
	return h
}

func dead(text string, ranks ...int32) *tree.DeadFrame {
	return &tree.DeadFrame{Lost: startup.Lost{Ranks: ranks}, Loss: outcome.Loss{Text: text, Code: 139}}
}

func TestTheLossOfAMachineIsThatOfItsRanks(t *testing.T) {
	h := tolerant(true)
	if h.mourn(h.nodes[1], dead("the first", 3)); h.cause != nil || h.noSurvivor() != nil {
		t.Fatalf("cause %+v", h.cause)
	}
	if !h.loseMachines(h.nodes[1:], "machine b: gone") || len(h.graves.ranks) != 2 || !h.graves.ranks[5] {
		t.Errorf("lost %v", h.graves.ranks)
	}
	if h.loseMachines(h.nodes[:1], "machine a: gone"); h.cause != nil {
		t.Errorf("cause %+v", h.cause)
	}
	if c := h.noSurvivor(); c == nil || c.Code != 139 || c.Text != "the first" {
		t.Errorf("nobody is left, and the cause is %+v", c)
	}
}

func TestAMachineIsMissedByAllBeforeTheTablesAreThere(t *testing.T) {
	early, other := tolerant(true), tolerant(false)
	early.tables = nil
	if early.loseMachines(early.nodes, "x") || other.loseMachines(other.nodes, "x") {
		t.Error("the job goes on")
	}
}

func TestTheLossOfAClientIsThatOfItsRanks(t *testing.T) {
	h := tolerant(true)
	for range 2 {
		h.loseOthers(&client.LostError{Client: 2, Text: "x"})
	}
	if h.cause != nil || len(h.graves.ranks) != 1 || !h.graves.ranks[6] || h.noSurvivor() != nil {
		t.Errorf("cause %+v, lost %v", h.cause, h.graves.ranks)
	}
	h = tolerant(false)
	if h.loseOthers(&client.LostError{Client: 2, Text: "x"}); h.cause == nil || *h.cause.Blamed != 2 || !h.cause.Answer {
		t.Errorf("cause %+v", h.cause)
	}
}

func TestTheLossOfSomeRanksOfAClient(t *testing.T) {
	h := tolerant(true)
	h.first, h.joinPlan = 0, &join.Plan{}
	h.loseOthers(&client.RanksError{Client: 1, Ranks: []int32{3, 9}, Text: "x"})
	h.loseOthers(client.ErrServerLost)
	if h.cause != nil || len(h.graves.ranks) != 1 || !h.graves.ranks[5] {
		t.Errorf("cause %+v, lost %v", h.cause, h.graves.ranks)
	}
}

func TestANodeCannotLoseTheRanksOfAnother(t *testing.T) {
	h := tolerant(true)
	h.mourn(h.nodes[0], dead("x", 3))
	if h.cause == nil || !strings.Contains(h.cause.Text, "machine a: it says that rank 3") {
		t.Errorf("cause %+v", h.cause)
	}
}
