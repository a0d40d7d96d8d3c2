package survive

import (
	"math/bits"
	"slices"
	"sort"
)

// Shape is the shape of a tree whose nodes are 0, 1, 2 ..., 0 its root, each below a smaller one.
type Shape uint8

const (
	// Binomial: the parent of a node lacks its lowest bit. Few edges cross the border between two clusters, and every
	// path crosses it at most once, if their ranks are consecutive.
	Binomial Shape = iota
	// Binary: the parent of i is (i-1)/2. No node has more than two children.
	Binary
	// Star: all are below 0. Two steps where there are few members, and less waiting where they share cores.
	Star
)

// parent of a node other than 0.
func (s Shape) parent(i int) int {
	switch s {
	case Binary:
		return (i - 1) / 2
	case Star:
		return 0
	}
	return i & (i - 1)
}

// degree is how many children a node has in a tree of n.
func (s Shape) degree(i, n int) int {
	switch {
	case s == Binary:
		return max(0, min(2, n-1-2*i))
	case s == Star && i > 0:
		return 0
	case s == Star:
		return n - 1
	}
	fit := bits.Len(uint(n - 1 - i)) // powers of two that do not lead out of the tree
	if i == 0 {
		return fit
	}
	return min(fit, bits.TrailingZeros(uint(i)))
}

// child is the child of that number, from 0 on. The last has most below it.
func (s Shape) child(i, number int) int {
	switch s {
	case Binary:
		return 2*i + 1 + number
	case Star:
		return 1 + number
	}
	return i + 1<<number
}

// tree places members on the nodes: all of a communicator of that size but those that are gone, in their order. It
// needs no memory but that of the set, and all members that agree on who is gone have the same tree.
type tree struct {
	shape Shape
	size  int
	gone  Set
}

func (t tree) nodes() int { return t.size - len(t.gone) }

// member is who stands on a node.
func (t tree) member(node int) int {
	before := sort.Search(len(t.gone), func(i int) bool { return int(t.gone[i])-i > node })
	return node + before
}

// node is where a member stands that is not gone.
func (t tree) node(member int) int {
	before, _ := slices.BinarySearch(t.gone, int32(member))
	return member - before
}

// parent is the node that a node reports to, if these members have failed: the next above it that lives, or if none
// does, the root, which is the first that lives. The parent of the root is -1.
func (t tree) parent(node, root int, failed Set) int {
	if node == root {
		return -1
	}
	for node != 0 {
		node = t.shape.parent(node)
		if !failed.Has(t.member(node)) {
			return node
		}
	}
	return root
}

// fewMembers is how many a star is for.
const fewMembers = 16

// ShapeFor is the shape for a communicator of that size.
func ShapeFor(size int) Shape {
	if size <= fewMembers {
		return Star
	}
	return Binomial
}
