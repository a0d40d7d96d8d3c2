package coll

import "github.com/libimpi/libimpi/coll/choose"

// alltoallFactor: p rounds of one block, p-1 if p is even (factor).
func (s *Scratch) alltoallFactor(c Comm, send, recv Buf) error {
	return s.factor(c, Even(send), Even(recv))
}

// factor: in round i the ranks whose sum is i exchange their blocks (modulo p, or if p is even, modulo p-1, where the
// last rank has for its partner the one that is left over). So a rank talks with one other in a round, in both
// directions: the rounds are a 1-factorization of the complete graph.
//
// Source: Sanders and Traff, The hierarchical factor algorithm for all-to-all communication, 2002; Traff 2010, 9.7.
func (s *Scratch) factor(c Comm, send, recv Blocks) error {
	p, r := c.Size(), c.Rank()
	if err := c.Copy(recv.At(r), send.At(r)); err != nil {
		return err
	}
	for i := range factorRounds(p) {
		if peer := factorPartner(p, r, i); peer != r {
			if err := s.Exchange(c, send.At(peer), peer, recv.At(peer), peer, tagAlltoall); err != nil {
				return err
			}
		}
	}
	return nil
}

// factorRounds is the number of rounds of factor among p.
func factorRounds(p int) int { return p - 1 + p%2 }

// factorPartner is the partner of rank r in round i, r itself if it has none.
func factorPartner(p, r, i int) int {
	if p%2 == 1 {
		return (i - r + p) % p
	}
	n := p - 1
	if r == n { // i = 2 x modulo n
		return (i + i%2*n) / 2
	}
	if peer := (i - r + n) % n; peer != r {
		return peer
	}
	return n
}

// alltoallHierarchical is the hierarchical factor algorithm for blocks of one length, of which a rank has a long one
// under way at a time.
func (s *Scratch) alltoallHierarchical(c Comm, send, recv Buf) error {
	f := byFactors{s: s, c: c, send: Even(send), recv: Even(recv)}
	return f.run(recv.Size() >= choose.Overlap())
}

// alltoallvHierarchical is the same for blocks of any length.
func (s *Scratch) alltoallvHierarchical(c Comm, send, recv Blocks) error {
	f := byFactors{s: s, c: c, send: send, recv: recv}
	return f.run(false)
}

// byFactors is the hierarchical factor algorithm. In a round of factor a machine has one partner, and each rank of it
// exchanges blocks with all ranks of that. Meanwhile the ranks of a machine exchange theirs with each other.
//
// If machines have different numbers of ranks there are phases. In a phase of the machines with more than `done`
// ranks, of which the smallest has `now`, two machines exchange the blocks of the ranks at places from done to now-1
// of either one, and all later ones of the other. So the small machines are done first, and do not wait in all rounds
// for large ones. M m rounds between M machines of m ranks; n (p-1) bytes through each rank.
type byFactors struct {
	s          *Scratch
	c          Comm
	send, recv Blocks
	width      int // exchanges of a rank under way at once
	k          *levels
	local      int // rounds of factor within the machine that have begun
}

// run exchanges all blocks: if not one at a time, as many as keep the port of a machine busy, whose ranks share it.
func (f *byFactors) run(oneAtATime bool) error {
	k := f.s.levelsBy(f.c, 0)
	if f.k, f.width = k, 1; !oneAtATime {
		f.width = max(2, min(window/2, 2*window/k.here()))
	}
	if err := f.c.Copy(f.recv.At(f.c.Rank()), f.send.At(f.c.Rank())); err != nil {
		return err
	}
	active, err := f.s.Counts(k.m.Count())
	if err != nil {
		return err
	}
	for done := 0; done <= k.within.me; {
		now, n, mine := 0, 0, 0
		for i := range k.m.members {
			size := k.m.Members(i)
			if size <= done {
				continue
			}
			if now == 0 || size < now {
				now = size
			}
			if i == k.between.me {
				mine = n
			}
			active[n] = int64(i)
			n++
		}
		for i := range factorRounds(n) {
			if other := factorPartner(n, mine, i); other != mine {
				if err := f.pair(k.m.members[active[other]], done, now); err != nil {
					return err
				}
			}
		}
		done = now
	}
	for f.local < factorRounds(k.here()) {
		if err := f.within(); err != nil {
			return err
		}
	}
	return f.s.Wait(f.c)
}

// pair exchanges the blocks of this rank and those of the ranks of another machine, as far as one of the two is at a
// place from done to now-1. Ranks whose places from done on add up to i have their turn in step i. All ranks of a
// machine go through all steps: so no two of them can be in different rounds within and wait for each other.
func (f *byFactors) pair(there []int32, done, now int) error {
	me := f.k.within.me
	steps := max(f.k.here(), len(there)) - done
	for i := range steps {
		if f.local < factorRounds(f.k.here()) {
			if err := f.within(); err != nil {
				return err
			}
		}
		place := done + (i-(me-done)+steps)%steps
		if place >= len(there) || me >= now && place >= now {
			continue
		}
		if err := f.swap(int(there[place])); err != nil {
			return err
		}
		if len(f.s.reqs) >= 2*f.width {
			if err := f.s.Wait(f.c); err != nil {
				return err
			}
		}
	}
	return nil
}

// within begins the next round of factor within the machine.
func (f *byFactors) within() error {
	if len(f.s.reqs) >= 2*f.width {
		if err := f.s.Wait(f.c); err != nil {
			return err
		}
	}
	w := &f.k.within
	peer := factorPartner(len(w.ranks), w.me, f.local)
	if f.local++; peer == w.me {
		return nil
	}
	return f.swap(w.rank(peer))
}

// swap starts to exchange blocks with a rank.
func (f *byFactors) swap(peer int) error {
	if err := f.s.Add(f.c.Isend(f.send.At(peer), peer, tagAlltoall)); err != nil {
		return err
	}
	return f.s.Add(f.c.Irecv(f.recv.At(peer), peer, tagAlltoall))
}
