package coll

import "testing"

// Every node hears from both trees; what parents and children know of an edge agrees; the edges into a node have
// different colors, and those out of it, too; no block is sent before it has come; the trees are low.
func TestTwoTreesReachEveryNodeAndAreLow(t *testing.T) {
	for p := 3; p <= 1100; p++ {
		w := newTwoTrees(p)
		edges := 0
		for i := range p {
			tree, children := w.children(i)
			for k, child := range children {
				if child == 0 {
					continue
				}
				in := tree
				if i == 0 {
					in = k
				}
				edges++
				if e := w.edge(in, child); e.parent != i {
					t.Fatalf("p=%d tree %d: %d is below %d, which is not its parent %d", p, in, child, i, e.parent)
				}
			}
			if i == 0 {
				if a, b := w.edge(0, children[0]), w.edge(1, children[1]); a.color == b.color {
					t.Fatalf("p=%d: both roots have color %d", p, a.color)
				}
				continue
			}
			if children[0] != 0 && children[1] != 0 && w.edge(tree, children[0]).color == w.edge(tree, children[1]).color {
				t.Fatalf("p=%d: both children of %d have one color", p, i)
			}
			if a, b := w.edge(0, i), w.edge(1, i); a.color == b.color {
				t.Fatalf("p=%d: both edges above %d have one color", p, i)
			}
			for in := range 2 {
				e := w.edge(in, i)
				if e.round%2 != e.color {
					t.Fatalf("p=%d: edge above %d has color %d and round %d", p, i, e.color, e.round)
				}
				if e.round > 2*rounds(p) {
					t.Fatalf("p=%d: the first block comes to %d in round %d", p, i, e.round)
				}
				if e.parent != 0 && w.edge(in, e.parent).round >= e.round {
					t.Fatalf("p=%d: %d gets a block before its parent", p, i)
				}
			}
		}
		if edges != 2*(p-1) {
			t.Fatalf("p=%d: %d edges", p, edges)
		}
	}
}
