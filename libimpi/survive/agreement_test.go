package survive

import (
	"math/rand/v2"
	"slices"
	"testing"
)

var shapes = []Shape{Binomial, Binary, Star}

func TestWithoutFailuresAnAgreementIsTwoMessagesForEachMemberButOne(t *testing.T) {
	for n := 1; n <= 64; n++ {
		for _, s := range shapes {
			w := simulate(t, plan{members: n, shape: s, program: []kind{once}, delay: 3, notice: 1})
			if w.sent != 2*(n-1) {
				t.Errorf("%d messages of %d members", w.sent, n)
			}
		}
	}
}

// Whoever fails, before whatever step, alone.
func TestSurvivorsAgreeWhenOneMemberFailsAtAnyStep(t *testing.T) {
	most := 16
	if testing.Short() {
		most = 6
	}
	for n := 2; n <= most; n++ {
		for _, s := range shapes {
			for _, k := range []kind{once, confirmed, shrink} {
				if k == confirmed && n > 8 {
					continue // as once, twice
				}
				p := plan{members: n, shape: s, program: []kind{k}, seed: uint64(n), delay: 3, notice: 7}
				steps := simulate(t, p).step
				for step := range steps {
					for m := range n {
						p.deaths = []death{{step, m}}
						simulate(t, p)
					}
				}
			}
		}
	}
}

// Any two fail, before any two steps.
func TestSurvivorsAgreeWhenTwoMembersFailAtAnySteps(t *testing.T) {
	most := 5
	if testing.Short() {
		most = 4
	}
	for n := 3; n <= most; n++ {
		for _, s := range shapes {
			p := plan{members: n, shape: s, program: []kind{once}, seed: uint64(n), delay: 2, notice: 5}
			steps := simulate(t, p).step + 8 // what the first failure leads to
			for i := range steps * n {
				for j := range i {
					p.deaths = []death{{i / n, i % n}, {j / n, j % n}}
					simulate(t, p)
				}
			}
		}
	}
}

// random is a simulation with up to n-1 failures, most of them close to each other.
func random(rng *rand.Rand) plan {
	p := plan{members: 2 + rng.IntN(15), shape: shapes[rng.IntN(2)], ahead: rng.IntN(3) == 0, seed: rng.Uint64(),
		delay: 1 + rng.IntN(9), notice: 1 + rng.IntN(40)}
	for range 1 + rng.IntN(4) {
		p.program = append(p.program, kind(rng.IntN(3)))
	}
	step := rng.IntN(3 * p.members)
	for range rng.IntN(p.members) {
		p.deaths = append(p.deaths, death{step, rng.IntN(p.members)})
		step += rng.IntN(1 + rng.IntN(6*p.members))
	}
	return p
}

func TestSurvivorsAgreeInRandomProgramsWithRandomFailures(t *testing.T) {
	runs := 20000
	if testing.Short() {
		runs = 2000
	}
	differs := 0
	for i := range runs {
		differs += simulate(t, random(rand.New(rand.NewPCG(uint64(i), 1)))).differs
	}
	t.Logf("%d values of dead members that no survivor has", differs)
	if differs == 0 {
		t.Error("no member died with a value of its own: the failures are too harmless")
	}
}

func FuzzSurvivorsAgree(f *testing.F) {
	for i := range 8 {
		f.Add(uint64(i), uint64(i*i))
	}
	f.Fuzz(func(t *testing.T, a, b uint64) { simulate(t, random(rand.New(rand.NewPCG(a, b)))) })
}

// step gives a member messages, and returns those that it sends.
func step(t *testing.T, a *Agreements, messages ...Message) []Message {
	t.Helper()
	for _, m := range messages {
		if err := a.Receive(m); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Clone(a.Messages())
}

// contributed are three members that have contributed, and the root, which is about to send its decision.
func contributed(t *testing.T) (one, two *Agreements, decision []Message) {
	t.Helper()
	root := New(0, 3, Binomial)
	one, two = New(1, 3, Binomial), New(2, 3, Binomial)
	for i, a := range []*Agreements{root, one, two} {
		a.Agree(Value{And: ^(1 << i)})
	}
	return one, two, step(t, root, append(step(t, one), step(t, two)...)...)
}

func TestANewRootTakesTheDecisionOfTheOldOne(t *testing.T) {
	one, two, decision := contributed(t)
	step(t, two, decision[0])
	one.Lost(Of(0))
	query := step(t, one)
	answer := step(t, two, query...)
	rest := step(t, one, answer...)
	if len(query) != 1 || query[0].Kind != Query || len(answer) != 1 || answer[0].Kind != Down || len(rest) > 0 {
		t.Errorf("the new root sends %v, is answered %v, and then sends %v", query, answer, rest)
	}
	step(t, one, decision[1]) // late
	if v := one.last; !same(v, two.last) || v.And != ^uint64(7) {
		t.Errorf("it has %v", v)
	}
}

func TestNobodyListensToAnOldRootAfterItHasReportedToTheNewOne(t *testing.T) {
	one, two, decision := contributed(t)
	one.Lost(Of(0))
	report := step(t, two, step(t, one)...) // by which it learns of the failure
	if late := step(t, two, decision[0]); len(report) != 1 || report[0].Kind != Up || len(late) > 0 || !two.active {
		t.Errorf("it reports %v, then sends %v", report, late)
	}
	step(t, two, step(t, one, report...)...)
	if !same(one.last, two.last) || !slices.Equal(two.last.Failed, Of(0)) {
		t.Errorf("the new root has %v, the other member %v", one.last, two.last)
	}
}

func TestOneReportOfAMemberThatIsAheadIsKept(t *testing.T) {
	a := New(0, 3, Binomial)
	step(t, a, Message{From: 1, Kind: Up, Value: Value{Max: 1}}, Message{From: 2, Kind: Up},
		Message{From: 1, Kind: Up, Value: Value{Max: 2}})
	if len(a.early) != 2 || a.Agree(Value{}).Value().Max != 2 {
		t.Errorf("%v are kept", a.early)
	}
}

func TestShrinkEndsAtOnceIfNobodyHasFailedSinceTheAgreementBefore(t *testing.T) {
	a := New(0, 2, Binomial)
	a.Lost(Of(1))
	first, second := a.Shrink(3), a.Shrink(4)
	if first.Rounds() != 2 || second.Rounds() != 1 {
		t.Errorf("%d and %d rounds", first.Rounds(), second.Rounds())
	}
}

func TestAFailureIsUnacknowledgedUntilAllHaveAcknowledgedIt(t *testing.T) {
	a := New(0, 3, Binomial)
	a.Lost(Of(1, 2))
	if v := a.Agree(Value{Acked: Of(1)}).Value(); !v.Unacknowledged() {
		t.Errorf("%v", v)
	}
	if v := a.Agree(Value{Acked: Of(1, 2)}).Value(); v.Unacknowledged() {
		t.Errorf("%v", v)
	}
}
