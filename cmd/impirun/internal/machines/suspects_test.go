package machines

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impirun/internal/job"
	"github.com/libimpi/libimpi/cmd/impirun/internal/tree"
	"github.com/libimpi/libimpi/startup"
)

// A client of three machines, a, b and c, with ranks 0 and 1, 2, and 3: each pair is what ranks of one say of those of
// another, in that order, before anything is decided.
func TestTheMachineThatMostCannotReachIsGivenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		said   [][2]string
		breach bool
		known  []int32
		lost   []int32
	}{
		"c is cut off, and speaks first": {[][2]string{{"c", "a"}, {"c", "b"}, {"b", "c"}, {"a", "c"}}, false, nil,
			[]int32{3}},
		"a and b cannot reach each other": {[][2]string{{"b", "a"}, {"a", "b"}}, false, nil, []int32{0, 1}},
		"c has died, and b is cut off": {[][2]string{{"b", "a"}, {"a", "c"}, {"a", "b"}}, false, []int32{3},
			[]int32{0, 1, 3}},
		"c is known":            {[][2]string{{"b", "c"}}, false, []int32{3}, []int32{3}},
		"from one that is lost": {[][2]string{{"c", "a"}}, false, []int32{3}, []int32{3}},
		"a breach":              {[][2]string{{"b", "a"}}, true, nil, []int32{0, 1}},
	} {
		h := tolerant(true)
		h.first, h.nodes = 0, []*nodeLink{{Member: tree.Member{Number: 0, Name: "a", Ranks: []int{0, 1}}, ended: true},
			{Member: tree.Member{Number: 1, Name: "b", Ranks: []int{2}}, ended: true},
			{Member: tree.Member{Number: 2, Name: "c", Ranks: []int{3}}, ended: true}}
		h.graves.ranks = map[int32]bool{}
		for _, r := range tt.known {
			h.graves.ranks[r] = true
		}
		machine := map[string]*nodeLink{"a": h.nodes[0], "b": h.nodes[1], "c": h.nodes[2]}
		ranks := map[string][]int32{"a": {0, 1}, "b": {2}, "c": {3}}
		for _, s := range tt.said {
			h.suspicions = append(h.suspicions, suspicion{machine[s[0]], &tree.SuspectFrame{By: ranks[s[0]],
				Suspects: startup.Suspects{Lost: startup.Lost{Ranks: ranks[s[1]], Text: "reset"}, Breach: tt.breach}}})
		}
		for len(h.suspicions) > 0 {
			h.decideFirst()
		}
		if got := slices.Sorted(maps.Keys(h.graves.ranks)); !slices.Equal(got, tt.lost) || h.cause != nil {
			t.Errorf("%s: lost %v, want %v (%+v)", name, got, tt.lost, h.cause)
		}
	}
}

// A machine that the launcher does not hear loses, though it speaks first, and though more machines cannot reach the
// other.
func TestAMachineThatDoesNotAnswerIsGivenUp(t *testing.T) {
	for name, tt := range map[string]struct {
		asked [2]time.Duration // ago; 0: it has answered
		lost  int32
	}{
		"both answer":                {[2]time.Duration{0, 0}, 0},
		"b does not":                 {[2]time.Duration{0, job.SuspectTime}, 1},
		"a does not":                 {[2]time.Duration{job.SuspectTime, 0}, 0},
		"neither does":               {[2]time.Duration{job.SuspectTime, job.SuspectTime}, 0},
		"b has only just been asked": {[2]time.Duration{0, 1}, 0},
	} {
		h := tolerant(true)
		h.first, h.nodes = 0, []*nodeLink{{Member: tree.Member{Number: 0, Name: "a", Ranks: []int{0}}, ended: true},
			{Member: tree.Member{Number: 1, Name: "b", Ranks: []int{1}}, ended: true}}
		h.graves.ranks = map[int32]bool{}
		for i, ago := range tt.asked {
			if ago > 0 {
				h.nodes[i].asked = time.Now().Add(-ago)
			}
		}
		h.decide(h.nodes[1], &tree.SuspectFrame{By: []int32{1}, Suspects: startup.Suspects{
			Lost: startup.Lost{Ranks: []int32{0}, Text: "silent"}}})
		if got := slices.Sorted(maps.Keys(h.graves.ranks)); !slices.Equal(got, []int32{tt.lost}) {
			t.Errorf("%s: lost %v, want %v", name, got, tt.lost)
		}
	}
}

// A node whose ranks cannot reach others waits for the launcher's answer, and for no more.
func TestANodeThatGetsNoAnswerEndsItsRanks(t *testing.T) {
	n := &node{}
	n.waiting = waiting{limit: time.Hour, open: 2, late: time.AfterFunc(time.Hour, func() {})}
	n.hearsAlive(&tree.AliveFrame{Answer: true})
	if !n.waiting.late.Stop() {
		t.Error("one answer is enough for two questions")
	}
	n.hearsAlive(&tree.AliveFrame{Answer: true})
	if n.waiting.late.Stop() || n.waiting.open != 0 || n.wasCutOff() {
		t.Error("it waits for ever")
	}
	n.hearsAlive(&tree.AliveFrame{Answer: true}) // nobody had asked
	n.isCutOff("rank 3 is silent")
	if !n.wasCutOff() || n.ended == nil || !strings.Contains(n.ended.Text, "may go on without this machine: rank 3") {
		t.Errorf("%+v", n.ended)
	}
	for silence, want := range map[time.Duration]time.Duration{0: 0, time.Second: leastAnswer, time.Hour: mostAnswer,
		12 * time.Second: 12 * time.Second} {
		if got := answerTime(silence); got != want {
			t.Errorf("%v for a silence of %v", got, silence)
		}
	}
}

// What a rank of another machine says, or a node that is not there, is nothing; nor in a job that ends with a rank.
func TestOnlyOwnRanksSuspectOthers(t *testing.T) {
	said := &tree.SuspectFrame{By: []int32{3}, Suspects: startup.Suspects{Lost: startup.Lost{Ranks: []int32{4, 99, -1}},
		Breach: true}}
	h := tolerant(true)
	h.suspects(h.nodes[0], said) // rank 3 is b's
	h.suspects(h.nodes[1], &tree.SuspectFrame{Suspects: said.Suspects})
	if len(h.graves.ranks) != 0 {
		t.Errorf("lost %v", h.graves.ranks)
	}
	if h.suspects(h.nodes[1], said); len(h.graves.ranks) != 1 || !h.graves.ranks[4] {
		t.Errorf("lost %v", h.graves.ranks)
	}
	h = tolerant(false)
	if h.suspects(h.nodes[1], said); len(h.graves.ranks) != 0 || h.cause != nil {
		t.Errorf("lost %v", h.graves.ranks)
	}
}
