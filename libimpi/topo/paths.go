package topo

import "github.com/libimpi/libimpi/transport"

// Paths leads to each of some processes through the levels of the job's tables: clients that have machines in common,
// the client, the host if one stands for several machines, as an agent may, and the machine. Hosts inside a machine
// separate nothing: their processes share its memory.
func Paths(job *transport.Job, worlds []int32) [][]int32 {
	first := map[[16]byte]int32{}            // process on each machine
	machine := make([]int32, len(job.Procs)) // of each process
	near := make([]int32, job.Clients)       // clients on one machine, as disjoint sets
	for i := range near {
		near[i] = int32(i)
	}
	outer := true // a machine is not of several hosts
	for w := range job.Procs {
		p := &job.Procs[w]
		f, known := first[p.HostID]
		if !known {
			f = int32(w)
			first[p.HostID] = f
		}
		machine[w] = f
		of := &job.Procs[f]
		join(near, p.Client, of.Client)
		if p.Client == of.Client && p.Host != of.Host {
			outer = false
		}
	}
	list := make([][]int32, len(worlds))
	for i, w := range worlds {
		p := &job.Procs[w]
		list[i] = []int32{find(near, p.Client), p.Client, 0, machine[w]}
		if outer {
			list[i][2] = p.Host
		}
	}
	return list
}

// find is the smallest number in the set of a.
func find(sets []int32, a int32) int32 {
	for sets[a] != a {
		sets[a] = sets[sets[a]]
		a = sets[a]
	}
	return a
}

// join makes one set of the two that a and b are in.
func join(sets []int32, a, b int32) {
	a, b = find(sets, a), find(sets, b)
	sets[max(a, b)] = min(a, b)
}
