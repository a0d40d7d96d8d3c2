package report

// NameOf is how Thread.Comm and Message.Comm name a communicator by its ID.
func NameOf(id uint64) uint64 { return id + 1 }

// Find returns the communicator that something names; nil: none, or it was cut.
func (p *Process) Find(name uint64) *Comm {
	for i := range p.Comms {
		if name != 0 && p.Comms[i].ID == name-1 {
			return &p.Comms[i]
		}
	}
	return nil
}

// World returns the rank in MPI_COMM_WORLD of a rank that messages on the communicator name; None if there is no such
// rank, or the list of members was cut.
func (c *Comm) World(rank int) int {
	for _, r := range c.Members {
		if rank >= 0 && rank < r.Count {
			return r.First + rank
		}
		rank -= r.Count
		if rank < 0 {
			break
		}
	}
	return None
}

// mostRuns bounds the members of one communicator in a report. Longer lists are cut.
const mostRuns = 4096

// Runs makes n numbers, of which at gives each, a list of runs.
func Runs(n int, at func(i int) int) (runs []Run) {
	for i := range n {
		v := at(i)
		if last := len(runs) - 1; last >= 0 && runs[last].First+runs[last].Count == v {
			runs[last].Count++
			continue
		}
		if len(runs) == mostRuns {
			return runs
		}
		runs = append(runs, Run{First: v, Count: 1})
	}
	return runs
}
