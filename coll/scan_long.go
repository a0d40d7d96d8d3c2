package coll

import "github.com/libimpi/libimpi/coll/choose"

// Scan and Exscan of long vectors, in blocks. As in scan.go, acc includes the rank's own vector, and if apart, recv
// does not.

// scanPipeline: the blocks go from rank to rank. N + p-2 rounds for N blocks; with the best N it takes the time
// (sqrt((p-2) a) + sqrt(m b))^2 for m bytes.
//
// Source: Traff 2010, 9.4 (the linear pipeline).
func (s *Scratch) scanPipeline(c Comm, own, recv Buf, op Op, apart bool) error {
	acc, err := s.accumulator(c, own, recv, apart)
	if err != nil {
		return err
	}
	p, r := c.Size(), c.Rank()
	n := int(min(int64(choose.Blocks(acc.Size(), p-2)), acc.Count))
	k := evenly(acc, n)
	var came [2]Buf
	for i := range came {
		var err error
		if came[i], err = s.Typed(k.longest(), acc.Type); err != nil {
			return err
		}
	}
	in := func(i int) Buf { return came[i%2].Slice(0, k.start(i+1)-k.start(i)) }
	if r > 0 {
		if err := s.Add(c.Irecv(in(0), r-1, tagScan)); err != nil {
			return err
		}
	}
	for i := range n {
		part := k.of(acc, i, i+1)
		if r > 0 {
			if err := s.Wait(c); err != nil {
				return err
			}
			if i+1 < n {
				if err := s.Add(c.Irecv(in(i+1), r-1, tagScan)); err != nil {
					return err
				}
			}
			if apart {
				if err := c.Copy(k.of(recv, i, i+1), in(i)); err != nil {
					return err
				}
			}
			if err := c.Combine(op, in(i), part); err != nil {
				return err
			}
		}
		if r < p-1 {
			if err := c.Send(part, r+1, tagScan); err != nil {
				return err
			}
		}
	}
	return nil
}

// scanTree combines up and down a binary tree in which the ranks are in order, both at the same time. What a node's
// subtree makes goes up; what all ranks below the subtree make comes down. In a round a node exchanges a block in both
// directions with one of its up to three neighbors, and each of them has its turn in every third round: the left child
// after the parent, the right child after the left one. So the first block leaves a left child two rounds before it
// leaves its parent, a right child one round; and it comes down to them one and two rounds later.
//
// 3 N + 4 log2 p rounds at most for N blocks; with the best N it takes the time (sqrt(4 a log2 p) + sqrt(3 m b))^2 for
// m bytes.
//
// Source: Sanders and Traff, Parallel prefix (scan) algorithms for MPI, 2006; Traff 2010, 9.4.
func (s *Scratch) scanTree(c Comm, own, recv Buf, op Op, apart bool) error {
	acc, err := s.accumulator(c, own, recv, apart)
	if err != nil {
		return err
	}
	p, r := c.Size(), c.Rank()
	n := int(min(int64(choose.Blocks(acc.Size(), 4*rounds(p)/3)), acc.Count))
	t := scanNode{cut: evenly(acc, n), n: n, acc: acc, recv: recv, op: op, apart: apart}
	t.place(p, r)
	for _, b := range [...]*Buf{&t.left.in, &t.right.in, &t.parent.in} {
		var err error
		if *b, err = s.Typed(t.cut.longest(), acc.Type); err != nil {
			return err
		}
	}
	for round := range t.last(n) + 1 {
		if err := t.turn(s, c, round); err != nil {
			return err
		}
	}
	return nil
}

// scanNode is a rank in the tree of a scan.
type scanNode struct {
	cut       cut
	n         int // blocks
	acc, recv Buf
	op        Op
	apart     bool

	parent, left, right link
}

// link is an edge to a neighbor: in which rounds the first blocks pass it in both directions, and the block that came
// last.
type link struct {
	peer     int
	there    bool
	up, down int // -1: nothing passes
	in       Buf
}

// place finds the rank's place in the tree of p ranks.
func (t *scanNode) place(p, r int) {
	w := twoTrees{p: p, m: p} // numbers its nodes from 1 on
	i := r + 1
	lefts, rights := 0, 0 // turns on the way from the root
	for at := i; ; {
		above := w.parent(at)
		if above == 0 {
			break
		}
		if above > at {
			lefts++
		} else {
			rights++
		}
		if at == i {
			t.parent.peer, t.parent.there = above-1, true
		}
		at = above
	}
	top := 2 * rounds(p+1) // the round in which the first block is complete at the root
	up, down := top-2*lefts-rights, top+lefts+2*rights
	t.parent.up, t.parent.down = only(lefts > 0, up), only(rights > 0, down)
	half := (i & -i) / 2
	if half == 0 {
		return
	}
	t.left.peer, t.left.there = i-half-1, true
	t.left.up, t.left.down = up-2, only(rights > 0, down+1)
	for half > 0 && i+half > p {
		half /= 2
	}
	if half > 0 {
		t.right.peer, t.right.there = i+half-1, true
		t.right.up, t.right.down = only(lefts > 0, up-1), down+2
	}
}

func only(is bool, round int) int {
	if is {
		return round
	}
	return -1
}

// last is the last round in which the node has something to do.
func (t *scanNode) last(n int) (round int) {
	for _, l := range [...]*link{&t.parent, &t.left, &t.right} {
		if l.there {
			round = max(round, l.up+3*(n-1), l.down+3*(n-1))
		}
	}
	return round
}

// block is the block of a round in a direction, -1 if there is none.
func (t *scanNode) block(round, first int) int {
	if k := round - first; first >= 0 && k >= 0 && k%3 == 0 && k/3 < t.n {
		return k / 3
	}
	return -1
}

// turn is one round.
func (t *scanNode) turn(s *Scratch, c Comm, round int) error {
	switch {
	case t.parent.there && (t.block(round, t.parent.up) >= 0 || t.block(round, t.parent.down) >= 0):
		out, in := t.block(round, t.parent.up), t.block(round, t.parent.down)
		value := t.of(t.acc, out)
		if t.right.there && out >= 0 {
			value = t.room(&t.right, out) // where it has arisen
		}
		if err := t.exchange(s, c, &t.parent, out, value, in); err != nil || in < 0 {
			return err
		}
		return t.add(c, &t.parent, in, t.left.there)
	case t.left.there && (t.block(round, t.left.up) >= 0 || t.block(round, t.left.down) >= 0):
		out, in := t.block(round, t.left.down), t.block(round, t.left.up)
		if err := t.exchange(s, c, &t.left, out, t.room(&t.parent, out), in); err != nil || in < 0 {
			return err
		}
		return t.add(c, &t.left, in, false)
	case t.right.there && (t.block(round, t.right.up) >= 0 || t.block(round, t.right.down) >= 0):
		out, in := t.block(round, t.right.down), t.block(round, t.right.up)
		if err := t.exchange(s, c, &t.right, out, t.of(t.acc, out), in); err != nil || in < 0 {
			return err
		}
		return c.Combine(t.op, t.of(t.acc, in), t.room(&t.right, in))
	}
	return nil
}

func (t *scanNode) of(b Buf, block int) Buf {
	if block < 0 {
		return Buf{Type: b.Type}
	}
	return t.cut.of(b, block, block+1)
}

// room is where a block from a neighbor comes.
func (t *scanNode) room(l *link, block int) Buf {
	return l.in.Slice(0, t.of(t.acc, block).Count)
}

func (t *scanNode) exchange(s *Scratch, c Comm, l *link, out int, value Buf, in int) error {
	if in >= 0 {
		if err := s.Add(c.Irecv(t.room(l, in), l.peer, tagScan)); err != nil {
			return err
		}
	}
	if out >= 0 {
		if err := c.Send(value, l.peer, tagScan); err != nil {
			return err
		}
	}
	return s.Wait(c)
}

// add combines what came from ranks below into the result, and if it is kept apart and not the first to come, there,
// too.
func (t *scanNode) add(c Comm, l *link, block int, second bool) error {
	came := t.room(l, block)
	if t.apart {
		var err error
		if second {
			err = c.Combine(t.op, came, t.of(t.recv, block))
		} else {
			err = c.Copy(t.of(t.recv, block), came)
		}
		if err != nil {
			return err
		}
	}
	return c.Combine(t.op, came, t.of(t.acc, block))
}
