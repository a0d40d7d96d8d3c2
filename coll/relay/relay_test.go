package relay

import (
	"slices"
	"testing"
)

// all leads from each of some ranks to each.
func all(ranks int) []int32 {
	to := make([]int32, ranks)
	for i := range to {
		to[i] = int32(i)
	}
	return to
}

// Each edge between machines is collected by one rank, sent by one, and dealt to the rank that it leads to.
func TestEachEdgeHasOneWay(t *testing.T) {
	for _, of := range [][]int32{{0, 0, 0, 1, 1, 1}, {0, 1, 0, 1, 0, 1, 2, 2, 2}, make([]int32, 40)} {
		if len(of) == 40 {
			for r := range of {
				of[r] = int32(r / 20)
			}
		}
		ranks := all(len(of))
		collected, sent, dealt, got, away := 0, 0, 0, 0, 0
		for r := range of {
			p, ok := New(Graph{Rank: r, Of: of, Out: func(int) []int32 { return ranks }, In: ranks})
			if !ok {
				t.Fatalf("%v: rank %d sees a contradiction", of, r)
			}
			for i := range ranks {
				if of[i] != of[r] {
					away++
				}
				if p.Out[i] != (of[i] != of[r]) || p.In[i] != p.Out[i] {
					t.Errorf("%v: rank %d, edge %d: %v out, %v in", of, r, i, p.Out[i], p.In[i])
				}
			}
			for _, c := range p.Collects {
				collected += len(c.Edges)
			}
			for _, s := range p.Senders {
				sent += s.Total
			}
			for _, v := range p.Receivers {
				for _, share := range v.Shares {
					dealt += len(share.Edges)
				}
			}
			for _, g := range p.Gets {
				got += len(g.Edges)
			}
		}
		if want := []int{away, away, away, away}; !slices.Equal(want, []int{collected, sent, dealt, got}) {
			t.Errorf("%v: of %d edges %d are collected, %d sent, %d dealt, %d got", of, away, collected, sent, dealt, got)
		}
	}
}

// One edge, or one for each rank, takes no fewer messages by a detour.
func TestFewEdgesGoDirectly(t *testing.T) {
	of := []int32{0, 0, 0, 1, 1, 1}
	for r := range of {
		other := []int32{int32((r + 3) % 6)}
		p, ok := New(Graph{Rank: r, Of: of, Out: func(rank int) []int32 { return []int32{int32((rank + 3) % 6)} }, In: other})
		if !ok || p.Pays() || p.Out[0] || p.In[0] {
			t.Errorf("rank %d: %+v, %v", r, p, ok)
		}
	}
}

// Many edges between two machines are several messages, each between other ranks.
func TestManyEdgesAreSharedAmongRanks(t *testing.T) {
	const each = 32
	of, ranks := make([]int32, 2*each), all(2*each)
	for r := range of {
		of[r] = int32(r / each)
	}
	senders, receivers := 0, 0
	for r := range of {
		p, _ := New(Graph{Rank: r, Of: of, Out: func(int) []int32 { return ranks }, In: ranks})
		if len(p.Senders) > 1 || len(p.Receivers) > 1 {
			t.Errorf("rank %d sends %d messages to a machine, and receives %d", r, len(p.Senders), len(p.Receivers))
		}
		senders, receivers = senders+len(p.Senders), receivers+len(p.Receivers)
	}
	if senders != receivers || senders < 8 || senders > each {
		t.Errorf("%d messages, and %d", senders, receivers)
	}
}
