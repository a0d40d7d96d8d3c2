// Package links gives a process its transports: shared memory for the processes of its machine, and connections to all
// others, its own or by its client's agent; and, if the user says so, another MPI library for the processes of its
// client. It is the one place that knows all transports by name.
package links

import (
	"context"
	"time"

	"github.com/libimpi/libimpi/startup/ports"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/vendor"
)

// Config is what a process has been given to reach the others by.
type Config struct {
	Job      *transport.Job
	Segment  *shm.Segment  // the machine's; of one rank if the process is alone
	World    []int32       // world rank of each local rank of the segment
	Listener *tcp.Listener // where higher hosts connect to; nil if they need not
	Agent    *[2]int       // pipes to the client's agent, the transport's from now on; nil: we are a host of our own
	Silence  time.Duration // after which a host of another client of which nothing is heard is lost; 0: never
	NoRead   bool          // never read other processes' memory
	Warn     func(string)  // told of what a user may want to know; may be nil
	Vendor   *Vendor       // carries what processes of this client say to each other that share no memory; nil: tcp does
	Meet     ports.Config  // how processes of other jobs are met; what is for meetings only is found out here
}

// Vendor is another MPI library.
type Vendor struct {
	MPI   vendor.MPI
	World []int32 // world ranks of this client's processes, by their ranks in the library
	Rank  int     // of this process in it
	Name  string  // what it calls itself
	Apart bool    // processes of this client share no memory, even on one machine
}

// Open makes the transports; it is a transport.Open.
func (c Config) Open(ctx context.Context, r transport.Receiver, wake func()) (transport.Links, error) {
	local, err := shm.New(shm.Config{Segment: c.Segment, World: c.World, Receiver: r, NoRead: c.NoRead})
	if err != nil {
		return transport.Links{}, err
	}
	all := transport.Links{Local: local, Meet: c.meet(local)}
	if c.Vendor != nil {
		if all.Vendor, err = vendor.New(vendor.Config{
			MPI: c.Vendor.MPI, World: c.Vendor.World, Rank: c.Vendor.Rank, Near: c.World, Receiver: r,
			Wake: wake,
		}); err != nil {
			return transport.Links{}, err
		}
		all.VendorName, all.Apart = c.Vendor.Name, c.Vendor.Apart
		if len(c.Vendor.World) == len(c.Job.Procs) {
			return all, nil
		}
	}
	if len(c.World) == len(c.Job.Procs) {
		return all, nil
	}
	opts := tcp.Options{Warn: c.Warn, Silence: c.Silence, Apart: c.apart()}
	if c.Agent != nil {
		opts.Pipes = true
		all.Network, err = tcp.Adopt(agent.View(c.Job), agent.ViewHost, agent.ViewSockets(*c.Agent), r, wake, opts)
		all.Others = 1
		return all, err
	}
	all.Network, err = tcp.Connect(ctx, c.Job, c.Job.Procs[c.Job.Me].Host, c.Listener, r, wake, opts)
	all.Syscalls = true
	return all, err
}

// meet begins meetings of this process.
func (c Config) meet(local *shm.Transport) func() (transport.Meeting, error) {
	lock := futex.On(c.Segment.Home(c.World).Lock)
	conf := c.Meet
	conf.Rank, conf.Memory, conf.Lock, conf.Bell = c.Job.Me, local, &lock, c.Segment
	return func() (transport.Meeting, error) { return ports.New(conf) }
}

// apart are the hosts of our own client to which we need connections: we share no memory, and no other library carries
// what we say.
func (c Config) apart() []bool {
	me := &c.Job.Procs[c.Job.Me]
	list := make([]bool, len(c.Job.Hosts))
	if c.Vendor != nil {
		return list
	}
	for i, h := range c.Job.Hosts {
		list[i] = h.Client == me.Client
	}
	for _, w := range c.World {
		list[c.Job.Procs[w].Host] = false
	}
	return list
}
