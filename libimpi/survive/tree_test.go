package survive

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestChildrenAreThoseWhoseParentItIs(t *testing.T) {
	for _, s := range shapes {
		for n := 1; n < 70; n++ {
			for i := range n {
				var want, got []int
				for c := 1; c < n; c++ {
					if s.parent(c) == i {
						want = append(want, c)
					}
				}
				for c := range s.degree(i, n) {
					got = append(got, s.child(i, c))
				}
				if !slices.Equal(got, want) {
					t.Errorf("shape %d of %d: the children of %d are %v, want %v", s, n, i, got, want)
				}
			}
		}
	}
}

func TestATreeIsOfLogarithmicDepth(t *testing.T) {
	for _, s := range shapes {
		for n := 1; n < 3000; n++ {
			depth := 0
			for i := n - 1; i > 0; i = s.parent(i) {
				depth++
			}
			if depth > bits.Len(uint(n))-1 {
				t.Errorf("shape %d: node %d is at depth %d", s, n-1, depth)
			}
		}
	}
}

func TestMembersStandOnTheNodesInTheirOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		size := 1 + rng.IntN(40)
		all := rng.Perm(size)
		tr := tree{size: size, gone: Of(all[:rng.IntN(size)]...)}
		node := 0
		for m := range size {
			if tr.gone.Has(m) {
				continue
			}
			if tr.member(node) != m || tr.node(m) != node {
				t.Errorf("without %v, node %d has member %d, and member %d is on node %d", tr.gone, node, tr.member(node), m,
					tr.node(m))
			}
			node++
		}
		if node != tr.nodes() {
			t.Errorf("%d nodes, want %d", tr.nodes(), node)
		}
	}
}
