// Package agent is a host that serves several processes of its client (IMPI 0.0, 2.3.1). Two clients with agents need
// one TCP connection between them, however many processes they have. An agent runs in the launcher's process.
//
//	process -- pipes in shared memory -- agent == TCP == hosts of other clients
//
//	agent.go       start and end: the links, who has said FINI, who is lost
//	relay.go       the loop: which links are ready, in which order they are served, waiting
//	judge.go       whether a packet may travel, and where to, by its header. Pure
//	inbound.go     reading one link: whole packets go to the outlets
//	outlet.go      writing one link: at once if there is room, else in order when there is
//	unbuffered.go  long packets: from a ring to a socket and from a socket to a ring
//	silence.go     hosts that went silent, and others that are given up
//	traffic.go     what has passed, for whoever watches
//	sockets.go     a process's side
//
// The agent relays IMPI packets and changes no byte of them. Flow control (3.6) is between the processes, end to end:
// their windows bound what can be under way, and the agent neither counts nor acknowledges. What a process or a host
// does not take waits in its outlet, up to a limit. Beyond the limit, links that bring more for that outlet are not
// read until there is room. Nobody waits for ever, because processes and hosts read whatever else they are doing.
//
// One goroutine does everything, with system calls that never block, so that relaying a packet wakes no thread here.
// While there is traffic it polls the pipes and epoll, and yields its core in between. Then it asks the pipes to wake
// it, and sleeps in Go's netpoller.
//
// The end (3.8): when all processes have said FINI, the agent says it to every host; when all hosts have, it says it to
// every process. Acknowledgements and answers are relayed until the streams end. A host of libimpi is answered at once,
// and where all hosts are, so is a process: they may leave while others go on (tcp/finish.go).
//
// A client of several machines may have an agent on each, of which one, the gate, has the connections with other
// clients. It relays for the other agents of its client, too:
//
//	process -- pipes -- agent == TCP == gate == TCP == hosts of other clients
package agent

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bundle"
	"github.com/libimpi/libimpi/transport/pipe"
	"github.com/libimpi/libimpi/transport/tcp"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Config is what an agent has to know.
type Config struct {
	Job   *transport.Job
	Host  int32   // the agent's global host rank; its processes are those of the job's table
	Peers [][]int // connected sockets to other hosts, by global host rank: tcp.Mesh
	// Lost is called when a host is lost or has broken the protocol: once, as the job cannot go on, or for each host if it
	// is Tolerant. It must not call Close.
	Lost func(host int32, err error)
	// Tolerant says that the job goes on without hosts, and processes, that are lost: nothing is expected of them any
	// more, and what is for them is dropped.
	Tolerant bool

	Warn  func(text string) // a process of ours has broken the rules; its sockets are closed. May be nil
	Limit int               // bytes that may wait for one process or host; 0: defaultLimit

	Silence time.Duration // after which a host of which nothing is heard is lost; 0: never

	// Gate is the host of our client, perhaps this one, by which all others of it reach those of other clients; nil:
	// each has connections with these. All agents of the client have the same.
	Gate *int32
}

// defaultLimit is how many bytes may wait in one outlet before links that bring more for it are no longer read.
const defaultLimit = 8 << 20

// Agent relays between the processes of a host and the other hosts.
type Agent struct {
	config Config
	table  *table
	links  []*link // hosts first
	byHost []*link // by global host rank, nil: none
	byProc [][2]*link
	heard  func(fd int, silence time.Duration) error // tcp.Heard
	poller

	asking atomic.Int32 // goroutines that wait for mu in Traffic: the loop is to let it go between two rounds

	mu       sync.Mutex  // guards what follows, and the links: the loop holds it except while it waits
	active   []*link     // links that have something to do
	spare    []*link     // room for the next of these
	running  int         // links that have not ended in both directions
	open     [groups]int // links of a group that have not said FINI yet
	lost     bool
	closed   bool
	over     bool     // the loop has ended
	news     []func() // what is to be told, when mu is free
	finished chan struct{}
}

// kind says who is at the other end of a link.
type kind uint8

const (
	aHost kind = iota
	aProcess
)

// group is whose FINI is awaited together.
type group uint8

const (
	ourProcesses group = iota
	otherHosts
	ourHosts // of a gate's client; they are among the otherHosts of an agent that is none
	groups
)

// link is one stream: a socket, several of them, or a pipe.
type link struct {
	kind   kind
	group  group
	peer   int32          // global host rank, or world rank
	fd     int            // -1: closed
	many   *bundle.Bundle // it has several sockets, and fd is the first; nil: one
	pipe   *pipe.End      // it is a pipe, and fd rings for it; nil: it is not
	number int32          // in Agent.links
	in     inbound
	out    outlet
	fini   bool // its peer has said FINI
	told   bool // and so have we

	waiting  bool // stands in Agent.active
	writable bool // there is room again
	readable bool // there may be something to read
	hup      bool // the peer will write no more: read to the end
	stalled  bool // what it has brought waits for room in an outlet

	doomed error // it has been silent for too long, or its host is forgotten: the loop is to end it
	tally  tally
}

// New starts to relay. ends are the agent's ends of what Pipes made, by local rank. They and all descriptors belong to
// the agent, even if there is an error.
func New(c Config, ends [][2]*pipe.End) (*Agent, error) {
	a, err := newAgent(c, ends)
	if err != nil {
		for _, fds := range c.Peers {
			CloseSockets(fds...)
		}
		for _, pair := range ends {
			closePipes(pair)
		}
		return nil, err
	}
	go a.run()
	if c.Silence > 0 {
		go a.guard()
	}
	return a, nil
}

func newAgent(c Config, ends [][2]*pipe.End) (*Agent, error) {
	if c.Limit <= 0 {
		c.Limit = defaultLimit
	}
	dir, err := tcp.NewDirectory(c.Job)
	if err != nil {
		return nil, err
	}
	a := &Agent{config: c, table: &table{job: c.Job, dir: dir, host: c.Host, gate: c.Gate}, heard: tcp.Heard,
		byHost: make([]*link, len(c.Job.Hosts)), finished: make(chan struct{})}
	var errs []error
	for h, fds := range c.Peers {
		if len(fds) > 0 {
			l, err := a.host(int32(h), fds)
			errs = append(errs, err)
			a.byHost[h] = l
		}
	}
	first := c.Job.Hosts[c.Host].First
	for i, pair := range ends {
		var both [2]*link
		for side, end := range pair {
			if end != nil {
				l := a.add(&link{kind: aProcess, peer: first + int32(i), fd: end.Descriptor(), pipe: end})
				a.pipes = append(a.pipes, l)
				both[side] = l
			}
		}
		a.byProc = append(a.byProc, both)
	}
	if n := int(c.Job.Hosts[c.Host].NProcs); n != len(ends) {
		errs = append(errs, fmt.Errorf("agent: pipes of %d processes, and the host has %d", len(ends), n))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return a, a.poller.start(a.links)
}

// host takes the descriptors of another host.
func (a *Agent) host(peer int32, fds []int) (*link, error) {
	for _, fd := range fds {
		kindOf, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
		if err == nil && kindOf != unix.SOCK_STREAM {
			err = unix.EPROTOTYPE
		}
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err != nil {
			return nil, fmt.Errorf("agent: descriptor %d: %w", fd, err)
		}
	}
	l := &link{kind: aHost, peer: peer, fd: fds[0]}
	if len(fds) > 1 {
		l.many = bundle.New(fds)
	}
	return a.add(l), nil
}

// add takes a link.
func (a *Agent) add(l *link) *link {
	longest := a.table.longest(l.kind, l.peer)
	l.in = inbound{agent: a, link: l, longest: longest, buf: make([]byte, bufferFor(longest))}
	l.group = a.table.group(l.kind, l.peer)
	a.links = append(a.links, l)
	a.open[l.group]++
	a.running++
	return l
}

// linkTo returns the link for packets from process src to process dst: that to the host of dst, or to the gate, or one
// of the two of dst itself if dst is ours. It is nil if there is none.
func (a *Agent) linkTo(src, dst int32) *link {
	host := a.config.Job.Procs[dst].Host
	if host != a.config.Host {
		return a.byHost[a.table.hop(host)]
	}
	i := dst - a.config.Job.Hosts[host].First
	return a.byProc[i][side(src, dst)]
}

// finis notes a FINI of a link. When the last process has said it, all hosts are told, and when the last host has, all
// processes are; with three groups, when the last of two has, the third is. After a FINI in both directions nothing can
// follow that anybody needs, and we close our direction.
func (a *Agent) finis(l *link) {
	l.fini = true
	a.open[l.group]--
	if a.table.answers(l.kind, l.peer) {
		a.sayFini(l)
	}
	if a.open[l.group] == 0 {
		for _, other := range a.links {
			if other.group != l.group && a.openBeside(other.group) == 0 {
				a.sayFini(other)
			}
		}
	}
	for _, l := range a.links {
		if l.fini && l.told {
			a.finish(l)
		}
	}
}

// openBeside is how many links of the other groups have not said FINI yet.
func (a *Agent) openBeside(g group) (n int) {
	for other, open := range a.open {
		if group(other) != g {
			n += open
		}
	}
	return n
}

// sayFini says FINI to a link, once.
func (a *Agent) sayFini(l *link) {
	if l.told {
		return
	}
	var fini [wire.PacketSize]byte
	wire.Packet(fini[:]).Encode(&transport.Header{Kind: transport.Fini}, &wire.ProcID{}, &wire.ProcID{})
	a.put(l, fini[:])
	l.told = true
}

// ended handles the end of a link's stream. cause is nil if it was closed in order, after its FINI.
func (a *Agent) ended(l *link, cause error) {
	l.in.evict()
	l.in.ended = true
	if cause == nil {
		a.finish(l)
		a.settle(l)
		return
	}
	a.breakOff(l)
	a.settle(l)
	quiet := a.lost
	switch {
	case a.config.Tolerant:
		quiet = errors.Is(cause, errForgotten)
		if !l.fini {
			a.finis(l) // nobody waits for it
		}
	case l.kind == aHost:
		a.lost = true
	}
	if quiet {
		return
	}
	if l.kind == aHost {
		x := a.config.Job.Hosts[l.peer]
		err := fmt.Errorf("host %d (client %d, %v): %w", l.peer, x.Client, x.Addr, cause)
		a.news = append(a.news, func() { a.config.Lost(l.peer, err) })
		return
	}
	var bad *violation
	if errors.As(cause, &bad) && a.config.Warn != nil {
		text := fmt.Sprintf("rank %d of MPI_COMM_WORLD and its agent: %v", l.peer, cause)
		a.news = append(a.news, func() { a.config.Warn(text) })
	}
}

// settle closes a link whose directions have both ended.
func (a *Agent) settle(l *link) {
	if l.in.ended && l.out.ended {
		a.shut(l)
	}
}

// shut shuts down and closes a link. The shutdown tells the other end even if a forked child has a copy of the socket.
func (a *Agent) shut(l *link) {
	if l.fd >= 0 {
		if l.many != nil {
			l.many.Close()
		} else if l.pipe != nil {
			l.pipe.Close()
		} else {
			unix.Shutdown(l.fd, unix.SHUT_WR)
			unix.Close(l.fd)
		}
		l.fd = -1
		a.running--
	}
}

// Finish waits up to d until every stream has ended in order, and closes what is still open. It reports whether all
// hosts have said FINI.
func (a *Agent) Finish(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-a.finished:
	case <-timer.C:
	}
	a.mu.Lock()
	well := a.openBeside(ourProcesses) == 0 && !a.lost
	a.mu.Unlock()
	a.Close()
	return well
}

// Close ends all links at once. Peers that have not finished see that this client has ended abnormally.
func (a *Agent) Close() {
	a.mu.Lock()
	a.closed = true
	if !a.over {
		a.kick()
	}
	a.mu.Unlock()
	<-a.finished
}
