package analysis

import (
	"cmp"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// Operations are the collective operations of a job: those of operation i are Members[Begin[i]:Begin[i+1]].
type Operations struct {
	Members []Member
	Begin   []int32
	Apart   int // parts that could not be told, since both ends of a trace are lost
}

// Member is what one rank did in an operation.
type Member struct{ Rank, Part int32 }

// Len is how many there are.
func (o *Operations) Len() int { return max(len(o.Begin)-1, 0) }

// At are the members of an operation.
func (o *Operations) At(i int) []Member { return o.Members[o.Begin[i]:o.Begin[i+1]] }

// operations brings the parts of each operation together: members call the operations of a communicator in the same
// order (MPI 5.0, 6.14), so that the nth of one is the nth of all. Where the oldest calls of some rank are not there,
// it counts from the end.
func operations(j *job.Job) Operations {
	type keyed struct {
		comm, number int32
		member       Member
	}
	var all []keyed
	var apart int
	lost := lostEnds(j)
	for rank := range j.Ranks {
		parts := j.Ranks[rank].Parts
		counts := map[int32]int32{}
		if len(parts) > 0 {
			for i := range parts {
				counts[parts[i].Comm]++
			}
		}
		seen := map[int32]int32{}
		for i := range parts {
			p := &parts[i]
			number := seen[p.Comm]
			seen[p.Comm]++
			switch ends := lost[p.Comm]; {
			case p.Numbered:
				number = p.Number
			case ends.head && ends.tail:
				apart++
				continue
			case ends.head:
				number -= counts[p.Comm] // -1 is the last
			}
			all = append(all, keyed{p.Comm, number, Member{int32(rank), int32(i)}})
		}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		if c := cmp.Compare(a.comm, b.comm); c != 0 {
			return c
		}
		if c := cmp.Compare(a.number, b.number); c != 0 {
			return c
		}
		return cmp.Compare(a.member.Rank, b.member.Rank)
	})
	o := Operations{Members: make([]Member, 0, len(all)), Apart: apart}
	for i := range all {
		if i == 0 || all[i].comm != all[i-1].comm || all[i].number != all[i-1].number {
			o.Begin = append(o.Begin, int32(i))
		}
		o.Members = append(o.Members, all[i].member)
	}
	if len(all) > 0 {
		o.Begin = append(o.Begin, int32(len(all)))
	}
	return o
}

type ends struct{ head, tail bool }

// lostEnds tells which ends of the operations of each communicator some member has lost.
func lostEnds(j *job.Job) map[int32]ends {
	lost := map[int32]ends{}
	for i := range j.Ranks {
		r := &j.Ranks[i]
		if !r.HeadLost && !r.TailLost {
			continue
		}
		for k := range r.Parts {
			e := lost[r.Parts[k].Comm]
			lost[r.Parts[k].Comm] = ends{e.head || r.HeadLost, e.tail || r.TailLost}
		}
	}
	return lost
}
