package survive

import (
	"container/heap"
	"math/rand/v2"
	"testing"
)

// spread simulates a revocation by one member while others fail before they send, or before they hear. It returns how
// many messages were sent, and when the last survivor knew, if a message takes one unit of time.
func spread(t *testing.T, n, first int, rng *rand.Rand, deaths map[int]int) (sent, end int) {
	t.Helper()
	members := make([]*Revocation, n)
	for i := range members {
		members[i] = NewRevocation(i, n)
	}
	var queue events
	now, step, order := 0, 0, 0
	post := func(e *event, delay int) {
		order++
		e.at, e.order = now+delay, order
		heap.Push(&queue, e)
	}
	dead := map[int]bool{}
	die := func() {
		if m, fails := deaths[step]; fails && !dead[m] {
			dead[m] = true
			for i := range n {
				post(&event{to: i, lost: Of(m)}, 1+rng.IntN(4))
			}
		}
		step++
	}
	post(&event{to: first, start: true}, 0)
	for len(queue) > 0 {
		e := heap.Pop(&queue).(*event)
		now = e.at
		die()
		r := members[e.to]
		if dead[e.to] {
			continue
		}
		news := false
		switch {
		case e.start:
			news = r.Revoke()
		case e.lost != nil:
			r.Lost(e.lost)
		case !dead[e.message.From] || rng.IntN(2) == 0:
			news = r.Heard(e.message.From)
		}
		if news {
			end = now
		}
		for _, to := range append([]int(nil), r.Tell()...) {
			if die(); dead[e.to] {
				break
			}
			sent++
			post(&event{to: to, message: &Message{From: e.to}}, 1)
		}
	}
	known := 0
	for i, r := range members {
		if !dead[i] && r.Revoked() {
			known++
		}
	}
	if known != 0 && known != n-len(dead) {
		t.Fatalf("%d of %d survivors know, after %v", known, n-len(dead), deaths)
	}
	if known == 0 && !dead[first] {
		t.Fatal("nobody knows")
	}
	return sent, end
}

func TestARevocationReachesAllInLogarithmicTime(t *testing.T) {
	for n := 1; n <= 66; n++ {
		steps, connections := 0, map[int]bool{}
		for step := 1; step < n; step *= 2 {
			steps++
			connections[step], connections[n-step] = true, true
		}
		sent, end := spread(t, n, n/3, nil, nil)
		if end > steps/2+1 || sent > n*len(connections) {
			t.Errorf("%d messages in %d steps of %d members", sent, end, n)
		}
	}
}

func TestARevocationReachesAllSurvivorsOrNone(t *testing.T) {
	for n := 2; n <= 7; n++ {
		for step := range n * n {
			for m := range n {
				spread(t, n, 0, rand.New(rand.NewPCG(1, 2)), map[int]int{step: m})
			}
		}
	}
	runs := 6000
	if testing.Short() {
		runs = 1000
	}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 3))
		n := 2 + rng.IntN(20)
		deaths, step := map[int]int{}, 0
		for range rng.IntN(n) {
			deaths[step] = rng.IntN(n)
			step += 1 + rng.IntN(n)
		}
		spread(t, n, rng.IntN(n), rng, deaths)
	}
}

// All neighbors of a member have failed: only those behind them are left.
func TestARevocationPassesMembersThatHaveFailed(t *testing.T) {
	const n = 32
	a := NewRevocation(0, n)
	neighbors := Of(1, 2, 4, 8, 16, 24, 28, 30, 31)
	a.Lost(neighbors)
	a.Revoke()
	told := Of(a.Tell()...)
	if len(told) == 0 || len(told.Common(neighbors)) > 0 {
		t.Errorf("it tells %v", told)
	}
	if a.Lost(told[:1]); len(a.Tell()) == 0 {
		t.Error("nobody takes the place of a member that failed later")
	}
}
