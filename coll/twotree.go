package coll

import (
	"math/bits"

	"github.com/libimpi/libimpi/coll/choose"
)

// Two trees at once: half of the data goes through each of two binary trees. The leaves of the one are the inner nodes
// of the other, so that all ranks send and receive all the time. Each edge has a color, 0 or 1, and is used in rounds
// of that parity. The two edges through which a rank receives have different colors, and so have those through which it
// sends: in a round it receives at most one block and sends at most one.
//
// The ranks beside root are nodes 1 to m, m even. The first tree is the binary search tree of these numbers, in which
// the odd ones are leaves; the second one is its mirror image, node m+1-i in the place of i, with the other colors.
// If there is one rank more, it is a leaf of both, below the node that has one child. Root stands above both trees.
// Each rank computes its place in O(log p) steps.
//
// Source: Sanders, Speck and Traff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009; Traff
// 2010, 9.3, which has the mirror image and the colors.
type twoTrees struct {
	p, m int
}

// edge is the edge from a node up to its parent in one of the trees. round is when the first block passes down.
type edge struct {
	parent, color, round int
}

func newTwoTrees(p int) twoTrees { return twoTrees{p, (p - 1) &^ 1} }

// parent is the parent of i in the first tree, 0 if it is the root.
func (w *twoTrees) parent(i int) int {
	low := i & -i
	if i&(2*low) != 0 || i+low > w.m {
		return i - low
	}
	return i + low
}

// up is the edge above node i in the first tree.
func (w *twoTrees) up(i int) edge {
	if i > w.m {
		above := w.up(w.m)
		return below(above, w.m, 1-w.color(w.m-(w.m&-w.m)/2))
	}
	parent := w.parent(i)
	if parent == 0 {
		return edge{0, 1, 1}
	}
	above := w.up(parent)
	if i%2 == 1 {
		return below(above, parent, w.color(i))
	}
	color := above.color ^ w.m/2&1
	if parent > i {
		color ^= 1
	}
	return below(above, parent, color)
}

// color is the color of the edge above i in the first tree. A leaf has the color of its mirror image: the edge above it
// in the second tree has the other one.
func (w *twoTrees) color(i int) int {
	if i%2 == 1 {
		i = w.m + 1 - i
	}
	return w.up(i).color
}

// below is an edge of the given color under another one, which leads to parent.
func below(above edge, parent, color int) edge {
	round := above.round + 1
	if color == above.color {
		round++
	}
	return edge{parent, color, round}
}

// mirror is the node in the place of i in the other tree.
func (w *twoTrees) mirror(i int) int {
	if i == 0 || i > w.m {
		return i
	}
	return w.m + 1 - i
}

// edge is the edge above node i in tree 0 or 1.
func (w *twoTrees) edge(tree, i int) edge {
	if tree == 0 {
		return w.up(i)
	}
	e := w.up(w.mirror(i))
	return edge{w.mirror(e.parent), 1 - e.color, e.round - 1}
}

// children are the nodes below i, 0 if there is none: of node 0, the roots of the two trees; of another one, in the
// tree in which it is an inner node.
func (w *twoTrees) children(i int) (tree int, child [2]int) {
	if i == 0 {
		top := 1 << (bits.Len(uint(w.m)) - 1)
		return 0, [2]int{top, w.mirror(top)}
	}
	if i > w.m {
		return 0, child
	}
	if i%2 == 1 {
		tree = 1
	}
	at := i
	if tree == 1 {
		at = w.mirror(i)
	}
	half := (at & -at) / 2
	child[0] = w.mirrored(tree, at-half)
	for half > 0 && at+half > w.m {
		half /= 2
	}
	switch {
	case half > 0:
		child[1] = w.mirrored(tree, at+half)
	case w.m < w.p-1:
		child[1] = w.p - 1
	}
	return tree, child
}

func (w *twoTrees) mirrored(tree, i int) int {
	if tree == 1 {
		return w.mirror(i)
	}
	return i
}

// lane is an edge with the blocks that pass over it: those of its tree, in order, every second round from round on.
type lane struct {
	peer, round, tree int
}

// lanes are what a rank has to do with: the edges above it, and those below.
type lanes struct {
	above, below   [2]lane
	nAbove, nBelow int
	last           int // round
}

// lanes returns the edges of node i for n blocks in each tree.
func (w *twoTrees) lanes(i, n int) (l lanes) {
	tree, children := w.children(i)
	for k, child := range children {
		if child == 0 {
			continue
		}
		in := tree
		if i == 0 {
			in = k
		}
		l.below[l.nBelow] = lane{child, w.edge(in, child).round, in}
		l.nBelow++
	}
	for in := 0; i != 0 && in < 2; in++ {
		e := w.edge(in, i)
		l.above[l.nAbove] = lane{e.parent, e.round, in}
		l.nAbove++
	}
	for _, side := range [...][2]lane{l.above, l.below} {
		for _, a := range side {
			l.last = max(l.last, a.round+2*(n-1))
		}
	}
	return l
}

// block is the block that passes over the lane in a round, -1 if there is none: of n in each tree.
func (a *lane) block(round, n int) int {
	k := round - a.round
	if k < 0 || k%2 == 1 || k/2 >= n {
		return -1
	}
	return a.tree*n + k/2
}

// active is the lane of several over which a block passes in a round.
func active(side []lane, round, n int) (peer, block int) {
	for i := range side {
		if b := side[i].block(round, n); b >= 0 {
			return side[i].peer, b
		}
	}
	return 0, -1
}

// halfBlocks is the number of blocks in each tree.
func halfBlocks(bytes int64, p int) int { return (choose.Blocks(bytes, 2*rounds(p)) + 1) / 2 }

// bcastTwoTree: half of the m bytes goes through each tree. N + 2 log2 p rounds at most for N blocks; with the best N
// it takes the time (sqrt(2 a log2 p) + sqrt(m b))^2.
func bcastTwoTree(c Comm, b Buf, root int) (err error) {
	s := c.Scratch()
	defer s.Done(&err)
	p := c.Size()
	v := (c.Rank() - root + p) % p
	m, err := s.flat(c, b, v == 0)
	if err != nil {
		return err
	}
	if err := s.downTwoTrees(c, m, halfBlocks(m.Count, p), root, tagBcast); err != nil {
		return err
	}
	return unflat(c, b, m, v == 0)
}

// downTwoTrees passes m down, in n blocks through each tree.
func (s *Scratch) downTwoTrees(c Comm, m Buf, n, root, tag int) error {
	p := c.Size()
	w, k := newTwoTrees(p), evenly(m, 2*n)
	l := w.lanes((c.Rank()-root+p)%p, n)
	for t := range l.last + 1 {
		if from, get := active(l.above[:l.nAbove], t, n); get >= 0 {
			if err := s.Add(c.Irecv(k.of(m, get, get+1), (from+root)%p, tag)); err != nil {
				return err
			}
		}
		if to, put := active(l.below[:l.nBelow], t, n); put >= 0 {
			if err := c.Send(k.of(m, put, put+1), (to+root)%p, tag); err != nil {
				return err
			}
		}
		if err := s.Wait(c); err != nil {
			return err
		}
	}
	return nil
}

// reduceTwoTree is the broadcast in reverse, for operations that commute: the same rounds. The halves of the vector are
// not combined in the same order.
func (s *Scratch) reduceTwoTree(c Comm, own, recv Buf, op Op, root int) error {
	acc := recv
	if c.Rank() != root {
		var err error
		if acc, err = s.Typed(own.Count, own.Type); err != nil {
			return err
		}
	}
	if err := c.Copy(acc, own); err != nil {
		return err
	}
	return s.upTwoTrees(c, acc, halfBlocks(own.Size(), c.Size()), op, root, tagReduce)
}

// upTwoTrees combines everybody's acc into that of root.
func (s *Scratch) upTwoTrees(c Comm, acc Buf, n int, op Op, root, tag int) error {
	p := c.Size()
	w, k := newTwoTrees(p), evenly(acc, 2*n)
	tmp, err := s.Typed(k.longest(), acc.Type)
	if err != nil {
		return err
	}
	l := w.lanes((c.Rank()-root+p)%p, n)
	for t := l.last; t >= 0; t-- {
		in, from, out, to := Buf{}, -1, Buf{}, -1
		if v, get := active(l.below[:l.nBelow], t, n); get >= 0 {
			in, from = k.of(acc, get, get+1), (v+root)%p
		}
		if v, put := active(l.above[:l.nAbove], t, n); put >= 0 {
			out, to = k.of(acc, put, put+1), (v+root)%p
		}
		if err := s.exchangeAndCombine(c, op, tmp, in, from, out, to, tag); err != nil {
			return err
		}
	}
	return nil
}

// allreduceTwoTree reduces to rank 0 and broadcasts from there: twice the rounds, 2 n bytes.
func (s *Scratch) allreduceTwoTree(c Comm, acc Buf, op Op) error {
	n := halfBlocks(acc.Size(), c.Size())
	if err := s.upTwoTrees(c, acc, n, op, 0, tagAllreduce); err != nil {
		return err
	}
	return s.downTwoTrees(c, acc, n, 0, tagAllreduce)
}
