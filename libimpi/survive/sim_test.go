package survive

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A simulator of members that run a program of agreements while some fail. Messages between two members may overtake
// each other, those of a failed member arrive or not, and each survivor hears of a failure at another time. An oracle
// checks each value when a member gets it.

// plan is what happens in a simulation.
type plan struct {
	members int
	shape   Shape
	program []kind
	ahead   bool // members call all operations at once, otherwise each after the one before
	seed    uint64
	delay   int // of messages: 1 to so much, but for a few that are slow
	notice  int // of news of failures, in the same way
	deaths  []death
}

// death is the failure of a member before that step: before it sends a message, or before something happens to it.
type death struct{ step, member int }

func (p plan) String() string {
	return fmt.Sprintf("%d members, shape %d, %v, ahead %v, seed %d, delays %d and %d, deaths %v", p.members, p.shape,
		p.program, p.ahead, p.seed, p.delay, p.notice, p.deaths)
}

type event struct {
	at, order int
	to        int
	message   *Message
	lost      Set
	start     bool
}

type events []*event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// process is a member, its calls, and what it has got.
type process struct {
	*Agreements
	dead  bool
	calls []*Operation
	mine  []Value // with the failures that it knew of when it called
	got   []*Value
}

type world struct {
	plan
	t       *testing.T
	rng     *rand.Rand
	process []*process
	queue   events
	now     int
	order   int
	step    int
	sent    int
	dead    Set
	differs int // values of dead members that no survivor has
}

func simulate(t *testing.T, p plan) *world {
	t.Helper()
	w := &world{plan: p, t: t, rng: rand.New(rand.NewPCG(p.seed, 40))}
	for i := range p.members {
		w.process = append(w.process, &process{Agreements: New(i, p.members, p.shape), got: make([]*Value, len(p.program))})
	}
	for i := range p.members {
		w.post(&event{to: i, start: true}, 1+w.rng.IntN(2*p.delay))
	}
	for len(w.queue) > 0 {
		e := heap.Pop(&w.queue).(*event)
		w.now = e.at
		w.happen(e)
		if t.Failed() {
			t.Fatalf("in %v, at %d", p, w.now)
		}
	}
	for i, q := range w.process {
		if !q.dead && q.got[len(q.got)-1] == nil {
			t.Fatalf("%v: member %d waits for ever", p, i)
		}
	}
	return w
}

func (w *world) post(e *event, delay int) {
	w.order++
	e.at, e.order = w.now+delay, w.order
	heap.Push(&w.queue, e)
}

// wait is a random delay of 1 to most; one in eight is much longer.
func (w *world) wait(most int) int {
	d := 1 + w.rng.IntN(most)
	if w.rng.IntN(8) == 0 {
		d *= 8
	}
	return d
}

// die makes those fail whose step it is.
func (w *world) die() {
	for _, d := range w.deaths {
		if d.step != w.step || w.process[d.member].dead {
			continue
		}
		w.process[d.member].dead = true
		w.dead = w.dead.Union(Of(d.member))
		for i := range w.process {
			w.post(&event{to: i, lost: Of(d.member)}, w.wait(w.notice))
		}
	}
	w.step++
}

func (w *world) happen(e *event) {
	w.die()
	p := w.process[e.to]
	if p.dead || e.message != nil && w.process[e.message.From].dead && w.rng.IntN(2) == 0 {
		return
	}
	switch {
	case e.start:
		w.call(e.to)
	case e.message != nil:
		if err := p.Receive(*e.message); err != nil {
			w.t.Error(err)
		}
	default:
		p.Lost(e.lost)
	}
	w.settle(e.to)
}

// settle sends what a member has to send, and checks what it has got. It may fail between any two of these.
func (w *world) settle(member int) {
	p := w.process[member]
	messages := slices.Clone(p.Messages())
	for i := range messages {
		if w.die(); p.dead {
			return
		}
		w.sent++
		m, err := Parse(member, messages[i].To, messages[i].Append(nil))
		if err != nil {
			w.t.Fatal(err)
		}
		w.post(&event{to: m.To, message: &m}, w.wait(w.delay))
	}
	if w.die(); p.dead {
		return
	}
	for i, o := range p.calls {
		if o.Done() && p.got[i] == nil {
			v := o.Value()
			p.got[i] = &v
			w.check(member, i)
			if !w.ahead && i+1 < len(w.program) {
				w.post(&event{to: member, start: true}, w.wait(w.delay))
			}
		}
	}
}

// call calls the next operation, or all.
func (w *world) call(member int) {
	p := w.process[member]
	for len(p.calls) < len(w.program) {
		i := len(p.calls)
		known := p.Known()
		v := Value{And: ^(1 << member), Max: w.rng.Uint64(), Acked: known}
		if len(known) > 0 && w.rng.IntN(4) == 0 {
			v.Acked = known[1:]
		}
		var o *Operation
		switch w.program[i] {
		case once:
			o = p.Agree(v)
		case confirmed:
			o = p.Confirmed(v)
		case shrink:
			o = p.Shrink(v.Max)
		}
		v.Failed = known
		p.calls, p.mine = append(p.calls, o), append(p.mine, v)
		if !w.ahead {
			return
		}
	}
}

// check is the oracle: agreement with all survivors, and validity.
func (w *world) check(member, op int) {
	v := *w.process[member].got[op]
	for i, p := range w.process {
		if u := p.got[op]; u != nil && !same(*u, v) {
			if !p.dead || w.program[op] == confirmed {
				w.t.Errorf("member %d got %v from operation %d, but member %d %v", member, v, op, i, *u)
			}
			w.differs++
		}
	}
	if !v.Failed.Within(w.dead) {
		w.t.Errorf("of %v said to have failed, only %v have", v.Failed, w.dead)
	}
	if w.program[op] == shrink {
		w.checkShrink(op, v)
		return
	}
	want := Value{And: ^uint64(0)}
	for i, p := range w.process {
		if v.And&(1<<i) != 0 {
			if !p.dead {
				w.t.Errorf("operation %d of member %d does not have the contribution of member %d", op, member, i)
			}
			continue
		}
		if want.And == ^uint64(0) {
			want = p.mine[op]
		}
		want = want.with(p.mine[op])
	}
	if v.And != want.And || v.Max != want.Max || !slices.Equal(v.Acked, want.Acked) || !want.Failed.Within(v.Failed) {
		w.t.Errorf("member %d got %v from operation %d, want %v", member, v, op, want)
	}
}

func (w *world) checkShrink(op int, v Value) {
	proposed := false
	for i, p := range w.process {
		if !p.dead && (v.Failed.Has(i) || !p.mine[op].Failed.Within(v.Failed) || p.mine[op].Max > v.Max) {
			w.t.Errorf("shrink %d made %v, but member %d lives, and said %v", op, v, i, p.mine[op])
		}
		proposed = proposed || len(p.mine) > op && p.mine[op].Max == v.Max
	}
	if !proposed {
		w.t.Errorf("nobody has proposed %d in shrink %d", v.Max, op)
	}
}

func same(v, w Value) bool {
	return v.And == w.And && v.Max == w.Max && slices.Equal(v.Failed, w.Failed) && slices.Equal(v.Acked, w.Acked)
}
