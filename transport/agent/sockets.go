package agent

import (
	"slices"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/pipe"
	"golang.org/x/sys/unix"
)

// A process's side. To a process its agent looks like two hosts: one that has all lower world ranks, and one that has
// all higher ones. So the transport of a process behind an agent is that of any other host (tcp.Adopt), with two
// pipes that lead to the agent.

// side is the pipe on which a process dst hears of process src: 0 for lower ranks, 1 for higher ones.
func side(src, dst int32) int {
	if src < dst {
		return 0
	}
	return 1
}

// ViewHost is the global host rank of a process in its own view.
const ViewHost = 1

// View is the job as a process behind an agent gives it to tcp.Adopt.
func View(j *transport.Job) *transport.Job {
	v := *j
	n := int32(len(j.Procs))
	v.Clients = 3
	v.Hosts = []transport.Host{
		{Client: 0, First: 0, NProcs: j.Me},
		{Client: 1, First: j.Me, NProcs: 1},
		{Client: 2, First: j.Me + 1, NProcs: n - j.Me - 1},
	}
	same := !slices.ContainsFunc(j.Hosts, func(h transport.Host) bool {
		return h.Client != j.Procs[j.Me].Client && !h.SameImpl
	})
	v.Hosts[0].SameImpl, v.Hosts[2].SameImpl = same, same
	v.Procs = slices.Clone(j.Procs)
	for r := range v.Procs {
		host := int32(ViewHost)
		switch {
		case int32(r) < j.Me:
			host = 0
		case int32(r) > j.Me:
			host = 2
		}
		v.Procs[r].Host, v.Procs[r].Client = host, host
	}
	for s := range v.Hosts {
		v.Hosts[s].Stream, v.Hosts[s].StreamIn = streams(j, &v.Hosts[s])
	}
	return &v
}

// streams returns the longest continuations, in bytes, that may go out to a side and come in from it: out is what all
// hosts there take, in what any of them sends, and neither is more than Stream. Processes behind the same agent do not
// count; those that one host has on other machines do.
func streams(j *transport.Job, side *transport.Host) (out, in uint32) {
	out = Stream
	me := &j.Procs[j.Me]
	for _, p := range j.Procs[side.First : side.First+side.NProcs] {
		if p.Host != me.Host || p.HostID != me.HostID {
			out, in = min(out, j.Hosts[p.Host].Stream), max(in, j.Hosts[p.Host].Stream)
		}
	}
	return min(out, in), in
}

// ViewSockets places a process's descriptors of its two pipes in the order of View's hosts.
func ViewSockets(ends [2]int) [][]int {
	view := make([][]int, 3)
	for side, fd := range ends {
		if fd >= 0 {
			view[2*side] = []int{fd}
		}
	}
	return view
}

// Pipes makes the pipes of the process with world rank me: the agent's ends, and the descriptors that the process
// opens. A side without processes has no pipe: nil and -1. Errors are those of the kernel.
func Pipes(j *transport.Job, me int32) (agent [2]*pipe.End, process [2]int, err error) {
	process = [2]int{-1, -1}
	for s, n := range [2]int32{me, int32(len(j.Procs)) - me - 1} {
		if n == 0 {
			continue
		}
		if agent[s], process[s], err = pipe.New(); err != nil {
			closePipes(agent)
			CloseSockets(process[:]...)
			return [2]*pipe.End{}, [2]int{-1, -1}, err
		}
	}
	return agent, process, nil
}

// closePipes closes the agent's ends of a process.
func closePipes(ends [2]*pipe.End) {
	for _, e := range ends {
		if e != nil {
			e.Close()
		}
	}
}

// CloseSockets closes the descriptors that there are.
func CloseSockets(fds ...int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
