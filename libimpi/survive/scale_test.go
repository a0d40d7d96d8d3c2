package survive

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

// What an agreement of many members costs: a message takes one unit of time, and so does news of a failure.

// many are so many members; failing maps a time to those that fail then.
type many struct {
	members []*Agreements
	dead    Set
	failing map[int]Set
}

type cost struct {
	messages, time int
	busiest        int // the most messages that one member sends
}

func newMany(n int, shape Shape) *many {
	w := &many{failing: map[int]Set{}}
	for i := range n {
		w.members = append(w.members, New(i, n, shape))
	}
	return w
}

// fail makes members fail long before the next agreement: all know.
func (w *many) fail(s Set) {
	w.dead = w.dead.Union(s)
	w.lost()
}

func (w *many) lost() {
	for i, a := range w.members {
		if !w.dead.Has(i) {
			a.Lost(w.dead)
		}
	}
}

// agree lets all agree, and checks that survivors do.
func (w *many) agree(t *testing.T) cost {
	t.Helper()
	operations := make([]*Operation, len(w.members))
	var flying, next []Message
	var c cost
	sent := make([]int, len(w.members))
	send := func(i int) {
		m := w.members[i].Messages()
		next = append(next, m...)
		sent[i] += len(m)
		c.busiest = max(c.busiest, sent[i])
	}
	for i, a := range w.members {
		if !w.dead.Has(i) {
			operations[i] = a.Agree(Value{And: ^uint64(0), Max: uint64(i)})
			send(i)
		}
	}
	for now := 0; len(next) > 0 || len(w.failing) > 0; now++ {
		flying, next = next, flying[:0]
		c.messages += len(flying)
		if len(flying) > 0 {
			c.time++
		}
		if s, fail := w.failing[now]; fail {
			delete(w.failing, now)
			w.fail(s)
			for i := range w.members {
				send(i)
			}
		}
		for _, m := range flying {
			if w.dead.Has(m.To) {
				continue
			}
			if err := w.members[m.To].Receive(m); err != nil {
				t.Fatal(err)
			}
			send(m.To)
		}
	}
	var first *Operation
	for i, o := range operations {
		if w.dead.Has(i) {
			continue
		}
		if first == nil {
			first = o
		}
		if !o.Done() || !same(o.Value(), first.Value()) {
			t.Fatalf("member %d differs from the first survivor, or waits for ever", i)
		}
	}
	return c
}

// howMany is how many members a test has.
func howMany(short bool) int {
	if short {
		return 5_000
	}
	return 100_000
}

func TestManyMembersAgreeInLogarithmicTime(t *testing.T) {
	n := howMany(testing.Short())
	for _, s := range shapes[:2] {
		c := newMany(n, s).agree(t)
		t.Logf("shape %d: %+v", s, c)
		if c.messages != 2*(n-1) || c.time > 2*(bits.Len(uint(n))-1) {
			t.Errorf("shape %d: %d messages, %d steps", s, c.messages, c.time)
		}
	}
}

// Members fail at random while the others agree: each costs a few messages and steps more, the root many messages.
func TestFailuresDuringAnAgreementOfManyCostLittle(t *testing.T) {
	n := howMany(testing.Short())
	depth := bits.Len(uint(n)) - 1
	for _, s := range shapes[:2] {
		w := newMany(n, s)
		rng := rand.New(rand.NewPCG(uint64(n), 7))
		const failures = 12
		for range failures {
			now := rng.IntN(2 * depth)
			w.failing[now] = w.failing[now].Union(Of(rng.IntN(n), rng.IntN(n/100)))
		}
		for root := range 3 { // one after the other
			w.failing[depth+2*root] = w.failing[depth+2*root].Union(Of(root))
		}
		c := w.agree(t)
		t.Logf("shape %d: %+v with %d failures", s, c, len(w.dead))
		if c.messages > 2*n+8*depth*len(w.dead) || c.time > 10*depth {
			t.Errorf("shape %d: %d messages, %d steps", s, c.messages, c.time)
		}
	}
}

// A cluster, half of all members, fails: its ranks are consecutive, or every other one. One member may have to hear all
// others in the next agreement; in that after it the tree is as good as new.
func TestTheTreeIsMadeAnewOfThoseThatSurvived(t *testing.T) {
	const n = 2_000
	for name, cluster := range map[string]func(i int) int{
		"first half":  func(i int) int { return i },
		"second half": func(i int) int { return i + n/2 },
		"every other": func(i int) int { return 2 * i },
	} {
		for _, s := range shapes[:2] {
			w := newMany(n, s)
			var lost []int
			for i := range n / 2 {
				lost = append(lost, cluster(i))
			}
			w.fail(Of(lost...))
			first := w.agree(t)
			second := w.agree(t)
			t.Logf("shape %d, %s: %+v, then %+v", s, name, first, second)
			if first.messages > 2*(n/2-1) || second.messages != 2*(n/2-1) || second.busiest > bits.Len(uint(n)) ||
				second.time > 2*bits.Len(uint(n)) {
				t.Errorf("shape %d, %s: %+v, then %+v", s, name, first, second)
			}
		}
	}
}

// An agreement whose members fail while it repairs itself, root after root.
func TestRootAfterRootFails(t *testing.T) {
	const n = 64
	for _, s := range shapes[:2] {
		w := newMany(n, s)
		for root := range n - 1 {
			w.failing[6+root] = Of(root)
		}
		c := w.agree(t)
		t.Logf("shape %d: %+v", s, c)
		if len(w.dead) != n-1 {
			t.Errorf("%d failed", len(w.dead))
		}
	}
}

func TestARevocationReachesMany(t *testing.T) {
	n := howMany(testing.Short()) / 10
	sent, end := spread(t, n, 17, nil, nil)
	t.Logf("%d messages to %d members in %d steps", sent, n, end)
	if steps := bits.Len(uint(n)); end > steps/2+1 || sent > 2*n*steps {
		t.Errorf("%d messages in %d steps", sent, end)
	}
}

// An agreement without failures allocates its operation, and no more than a few times else.
func TestAnAgreementAllocatesLittle(t *testing.T) {
	w := newMany(8, Binomial)
	w.agree(t)
	queue := make([]Message, 0, 64)
	n := testing.AllocsPerRun(100, func() {
		queue = queue[:0]
		for _, a := range w.members {
			a.Agree(Value{And: 1})
			queue = append(queue, a.Messages()...)
		}
		for i := 0; i < len(queue); i++ {
			a := w.members[queue[i].To]
			if err := a.Receive(queue[i]); err != nil {
				t.Fatal(err)
			}
			queue = append(queue, a.Messages()...)
		}
	})
	if n > 8 {
		t.Errorf("%v allocations by 8 members", n)
	}
}

func BenchmarkAgreementOf8(b *testing.B) {
	members := newMany(8, Binomial).members
	var queue []Message
	b.ReportAllocs()
	for b.Loop() {
		queue = queue[:0]
		for _, a := range members {
			a.Agree(Value{And: 1})
			queue = append(queue, a.Messages()...)
		}
		for i := 0; i < len(queue); i++ {
			a := members[queue[i].To]
			if err := a.Receive(queue[i]); err != nil {
				b.Fatal(err)
			}
			queue = append(queue, a.Messages()...)
		}
	}
}
