package manager

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/tcp"
)

// Agents of a client that another launcher has started: on each machine with several of its processes, the first of
// these is the IMPI host of all. It relays what they and other clients say to each other, on a goroutine of its own,
// through pipes that the others get with the memory of the machine (share.go).

// hostsOf are the ranks on each IMPI host of the client.
func hostsOf(cards []card, agents bool) (list [][]int32) {
	for r := range cards {
		switch local := sharers(cards, r); {
		case !agents:
			list = append(list, []int32{int32(r)})
		case local[0] == int32(r):
			list = append(list, local)
		}
	}
	return list
}

// shareWithAgent shares the machine's memory, and makes its agent, if it has one: the pipes of the other processes go
// out with the memory.
func (j *joining) shareWithAgent(ctx context.Context, near *net.UnixListener, members []int32, w *Joined) (err error) {
	if j.outside != nil && !j.oneHost() { // of one machine: the agent's is the gate's
		if w.Listener != nil {
			w.Listener.Close()
		}
		w.Listener, j.outside = j.outside, nil
	}
	host := &w.Job.Hosts[w.Job.Procs[w.Job.Me].Host]
	if host.NProcs == 1 {
		w.Shared, err = j.share(ctx, near, members)
		return err
	}
	if w.LocalRank > 0 {
		if w.Listener != nil {
			w.Listener.Close() // the agent's is the host's
			w.Listener = nil
		}
		w.Shared, err = j.share(ctx, near, members)
		w.Pipes = &j.pipes
		return err
	}
	ends := make([][2]*pipe.End, len(members))
	j.hands = map[int32][2]int{}
	defer func() {
		for _, r := range members[1:] {
			if fds, there := j.hands[r]; there {
				agent.CloseSockets(fds[:]...)
			}
		}
		if w.Agent == nil {
			closeEnds(ends)
		}
	}()
	for i, r := range members {
		if ends[i], j.hands[r], err = agent.Pipes(w.Job, w.Local[i]); err != nil {
			delete(j.hands, r)
			return err
		}
	}
	own := j.hands[members[0]]
	w.Pipes = &own
	if w.Shared, err = j.share(ctx, near, members); err != nil {
		return err
	}
	return j.relay(ctx, w, ends)
}

func closeEnds(ends [][2]*pipe.End) {
	for _, pair := range ends {
		for _, end := range pair {
			if end != nil {
				end.Close()
			}
		}
	}
}

// meshTime bounds the connections to the other hosts.
const meshTime = 60 * time.Second

// relay connects this host with the others, and starts the agent.
func (j *joining) relay(ctx context.Context, w *Joined, ends [][2]*pipe.End) error {
	ctx, cancel := context.WithTimeout(ctx, meshTime)
	defer cancel()
	listener, outside := w.Listener, j.outside
	w.Listener, j.outside = nil, nil // the mesh closes them
	config := agent.Config{Job: w.Job, Host: w.Job.Procs[w.Job.Me].Host, Silence: j.among.Silence, Warn: j.among.Warn,
		Lost: func(host int32, err error) { j.among.Lost(w.Job.Hosts[host].Client, err) }}
	options := tcp.Options{Warn: j.among.Warn, Silence: j.among.Silence}
	var err error
	if j.oneHost() {
		err = j.peersAcross(ctx, &config, listener, outside, options)
	} else {
		options.Apart = make([]bool, len(w.Job.Hosts))
		for h := range options.Apart {
			options.Apart[h] = int32(h) != config.Host && w.Job.Hosts[h].Client == j.among.Rank && !j.among.Inside
		}
		config.Peers, err = tcp.Mesh(ctx, w.Job, config.Host, listener, options)
	}
	if err != nil {
		return err
	}
	taken := slices.Clone(ends)
	clear(ends) // they are the agent's, also if there is an error
	w.Agent, err = agent.New(config, taken)
	return err
}
