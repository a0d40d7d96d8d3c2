package stat

import (
	"cmp"
	"fmt"
	"slices"
)

// Ranks whose acts are equal are one line. Where there are more lines than a reader takes in, acts that differ in the
// peer alone are put together, too: a peer that is always as far from the rank is "rank+1", as in a ring.

// few is how many lines of one call stand as they are.
const few = 6

// group is ranks with equal acts.
type group struct {
	job   *job
	first act
	ranks []int
	acts  []act // by rank, as the peers differ
	least int64
	most  int64
}

func (g *group) add(rank int, a act) {
	if len(g.ranks) == 0 {
		g.least, g.most = a.since, a.since
		g.first = a
	}
	g.ranks, g.acts = append(g.ranks, rank), append(g.acts, a)
	g.least, g.most = min(g.least, a.since), max(g.most, a.since)
}

// lines are the lines of a job, by first rank.
func (j *job) lines() (lines []Line) {
	type exact struct{ before, after, peer, site string }
	type alike struct{ before, after, site string }
	groups := map[exact]*group{}
	var order []*group
	kinds := map[alike][]*group{}
	for _, r := range j.ranks {
		for _, a := range r.acts() {
			k := exact{a.before, a.after, "", a.site}
			if a.moves {
				k.peer = fmt.Sprint(a.peer, a.world)
			}
			g := groups[k]
			if g == nil {
				g = &group{job: j}
				groups[k] = g
				order = append(order, g)
				like := alike{a.before, a.after, a.site}
				kinds[like] = append(kinds[like], g)
			}
			g.add(r.Rank, a)
		}
	}
	for _, g := range order {
		like := kinds[alike{g.first.before, g.first.after, g.first.site}]
		switch {
		case len(like) <= few:
			lines = append(lines, g.line(g.first.what()))
		case like[0] == g:
			lines = append(lines, j.together(like))
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(firstOf(a.Ranks), firstOf(b.Ranks)) })
	return lines
}

// firstOf is the number with which a list of ranks begins.
func firstOf(ranks string) (n int) {
	fmt.Sscanf(ranks, "%d", &n)
	return n
}

func (g *group) line(what string) Line {
	return Line{Job: g.job.number, Ranks: spans(g.ranks), Count: len(g.ranks), What: what, Site: g.first.site,
		Least: g.least, Most: g.most}
}

// together is one line of groups that differ in the peer.
func (j *job) together(groups []*group) Line {
	all := group{job: j}
	for _, g := range groups {
		for i, rank := range g.ranks {
			all.add(rank, g.acts[i])
		}
	}
	a := all.first
	step, ok := stepOf(all.acts)
	if !ok {
		var peers []int
		for i := range all.acts {
			peers = append(peers, all.acts[i].peer)
		}
		return all.line(a.before + "among " + spans(peers) + a.after)
	}
	own := "own rank"
	switch {
	case step > 0:
		own += fmt.Sprintf("+%d", step)
	case step < 0:
		own += fmt.Sprintf("-%d", -step)
	}
	return all.line(a.before + "(" + own + ")" + a.after)
}

// stepOf is how far the peer is from each rank, if that is the same for all, or is modulo the number of ranks.
func stepOf(acts []act) (step int, ok bool) {
	size := acts[0].size
	if size < 1 {
		return 0, false
	}
	wrap := func(d int) int { return ((d % size) + size) % size }
	step = wrap(acts[0].peer - acts[0].own)
	for i := range acts {
		if acts[i].size != size || wrap(acts[i].peer-acts[i].own) != step {
			return 0, false
		}
	}
	if step > size/2 {
		step -= size
	}
	return step, true
}
