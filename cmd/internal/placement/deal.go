package placement

import "slices"

// Entry is a line of a list of machines.
type Entry struct {
	Machine int // its number: lines may name one again
	Slots   int // 0: not said
}

// Deal gives n ranks to machines, and returns the ranks of each, in ascending order. chunk is how many ranks a machine
// takes before the next one's turn, if machines take turns: the units of one machine if the units of all do (Span).
//
// The order of the lines is the order of the ranks: each line gets as many ranks as it has slots, and of what is left,
// or of all if nobody has said how many slots there are, an even share. Map says that machines take ranks in turn
// instead, as long as they have slots, and then beyond them. perHost is how many ranks each machine gets of each turn;
// 0: not said.
func (p *Policy) Deal(list []Entry, n, perHost, chunk int) [][]int {
	machines := 0
	for _, e := range list {
		machines = max(machines, e.Machine+1)
	}
	if machines == 0 {
		return nil
	}
	var turns []int // the machine of each rank
	switch {
	case p.spreads():
		turns = spread(room(list, machines, perHost), n, chunk)
	default:
		turns = fill(list, n, perHost)
	}
	if p.spreads() && p.Rank != "" && p.Rank != Node && p.Rank != Span {
		slices.Sort(turns) // machine by machine
	}
	if !p.spreads() && (p.Rank == Node || p.Rank == Span) {
		turns = interleave(turns, machines, chunk)
	}
	ranks := make([][]int, machines)
	for rank, m := range turns {
		ranks[m] = append(ranks[m], rank)
	}
	return ranks
}

// spreads reports whether machines take ranks in turn.
func (p *Policy) spreads() bool { return p.PerUnit == 0 && (p.Map == Node || p.Span) }

// room is how many ranks each machine can take; -1: nobody has said.
func room(list []Entry, machines, perHost int) []int {
	room := make([]int, machines)
	said := slices.ContainsFunc(list, func(e Entry) bool { return e.Slots > 0 })
	for _, e := range list {
		room[e.Machine] += max(1, e.Slots)
	}
	for i := range room {
		switch {
		case perHost > 0:
			room[i] = perHost
		case !said:
			room[i] = -1
		}
	}
	return room
}

// spread gives the machines ranks in turn.
func spread(room []int, n, chunk int) (turns []int) {
	for len(turns) < n {
		before := len(turns)
		for m := range room {
			for range chunk {
				if len(turns) < n && room[m] != 0 {
					turns = append(turns, m)
					room[m]--
				}
			}
		}
		if len(turns) == before { // all are full
			for m := range room {
				room[m] = -1
			}
		}
	}
	return turns
}

// fill gives ranks line by line.
func fill(list []Entry, n, perHost int) (turns []int) {
	said := perHost > 0
	seen := map[int]bool{}
	var lines []Entry
	for _, e := range list {
		said = said || e.Slots > 0 || seen[e.Machine]
		if perHost > 0 && seen[e.Machine] {
			continue
		}
		seen[e.Machine] = true
		lines = append(lines, e)
	}
	counts := make([]int, len(lines))
	for i, e := range lines {
		if said {
			counts[i] = min(n, max(1, e.Slots))
			if perHost > 0 {
				counts[i] = min(n, perHost)
			}
			n -= counts[i]
		}
	}
	for i := range counts {
		counts[i] += n / len(counts)
		if i < n%len(counts) {
			counts[i]++
		}
		for range counts[i] {
			turns = append(turns, lines[i].Machine)
		}
	}
	return turns
}

// interleave gives the machines as many ranks as they have, but in turn.
func interleave(turns []int, machines, chunk int) []int {
	lists := make([][]int, machines)
	for _, m := range turns {
		lists[m] = append(lists[m], m)
	}
	return inTurn(lists, chunk)
}
