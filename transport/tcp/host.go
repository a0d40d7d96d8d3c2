// Package tcp carries packets between hosts: IMPI 0.0, chapter 3, over TCP.
//
// A host owns the sockets of some processes of its client to all hosts of other clients, one each. In a job
// of `direct` clients every process is a host of its own; an agent is a host that serves several.
//
//	connect.go    start-up: a listener, and a Host of the sockets that are connected
//	mesh.go       who connects to whom (2.3.8)
//	accept.go     who is let in, and how strangers are kept out
//	greeting.go   how both ends prove who they are
//	monitor.go    hosts that go before all are connected
//	host.go       the Transport: Send, SendFrom, Poll
//	link.go       one socket: writing, reading, blocking
//	header.go     what stands before their payload
//	inbound.go    bytes in, checked packets out; a pure state machine
//	flow.go       the window of each pair of processes (3.6)
//	restrain.go   keeping acknowledgements back
//	directory.go  names in packets to world ranks (3.2)
//	watch.go      noticing traffic when nobody polls
//	apart.go      and paying nothing for that while somebody does
//	gather.go     packets that leave together
//	long.go       continuations of long messages, without a copy
//	pipes.go      links that lead through shared memory
//	silence.go    hosts that are lost without a word
//	traffic.go    what has been exchanged with each host, for whoever watches
//	finish.go     FINI and the end (3.8)
//	part.go       the same with one host, while others go on
//
// Outward: Send -> window open? -> header encoded -> one sendmsg from the caller's memory.
// Inward: Poll -> recv into the link's buffer -> inbound -> Receiver.Deliver in place -> PROTOACKs in one send.
//
// All of it runs on the calling thread, with non-blocking system calls, under the engine's lock. Neither
// direction waits for the other: a full socket makes Send answer false, and never keeps Poll from reading.
// Two things of this package run on their own, the watcher and, during Connect, the mesh; neither touches a
// Host's state.
package tcp

import (
	"fmt"
	"os"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/bundle"
	"github.com/libimpi/libimpi/transport/kernel"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Host is the transport to the processes of other clients. Its methods are serialised by the engine's lock,
// but for Arm.
type Host struct {
	job    *transport.Job
	me     int32
	recv   transport.Receiver
	placer transport.Placer // recv, if it is one
	dir    *Directory
	flow   *flow
	pipes  []*link // those of pipes: all or none
	links  []*link // by global host rank; nil: ourselves, and the other hosts of our client
	epoll  int     // the inner epoll of watch.go; -1: closed
	watch  *watch
	guard  guard
	ended  uint64 // segments sent again on connections that are closed

	nopen    int           // links that can still bring something
	nblocked int           // links that wait for room
	corked   int           // Cork without Uncork: packets gather in their links
	dirty    []*link       // links with something in out that waits for the end of a batch
	posting  bool          // between Post and Posted: so they may
	posted   bool          // and some do
	paced    bool          // between PostPaced and Posted, and the packet does not gather
	turn     uint32        // counts what ends a burst (gather.go)
	pace     time.Duration // paceMax; tests have others
	linger   time.Duration // how long packets of a burst gather, if nothing sends them
	expired  time.Time     // when that was over the last time, until it is seen what the program does next

	born      time.Time     // the clock's zero
	pacedTurn uint32        // the turn to which the last of PostPaced belongs; turn begins at 1
	pacedLast time.Duration // and when that was over

	hot    *link // the link that brought something last: read first, without asking epoll
	streak int   // how often it was, while others may have waited
	wins   int   // how often it has brought something (apart.go)
	events [64]unix.EpollEvent
	in     transport.Header // the packet being received

	watching  bool
	polling   bool
	finishing bool
	failures  []error // of Finish
	leaving   []*link // whose FINI is still to be answered

	finished func(host int32) // Options.Finished
}

var (
	_ transport.Transport  = (*Host)(nil)
	_ transport.Observable = (*Host)(nil)
)

// fairness is how many times in a row the hot link is served before all others are looked at.
const fairness = 8

// newHost is a host with no links.
func newHost(job *transport.Job, me int32, recv transport.Receiver, wake func()) (*Host, error) {
	dir, err := NewDirectory(job)
	if err != nil {
		return nil, err
	}
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	w, err := newWatch(epoll, wake)
	if err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("epoll", err)
	}
	placer, _ := recv.(transport.Placer)
	return &Host{
		placer: placer, job: job, me: me, recv: recv, dir: dir, flow: newFlow(job, me),
		links: make([]*link, len(job.Hosts)), epoll: epoll, watch: w,
		linger: burstTime, pace: paceMax, turn: 1, born: time.Now(),
	}, nil
}

// add makes a link of connected non-blocking sockets, which it owns from now on. maxLen bounds pk_len.
func (h *Host) add(host int32, fds []int, maxLen uint32, pipes bool) error {
	l := &link{host: host, fd: fds[0]}
	l.inbound = inbound{
		dir: h.dir, flow: h.flow, procs: h.job.Procs, from: host, to: h.me, maxLen: maxLen, short: h.short(host),
		buf: make([]byte, max(bufferMin, wire.PacketSize+int(maxLen)+bufferMin/2)),
	}
	l.stream = max(h.job.Hosts[host].Stream, h.job.Hosts[host].StreamIn)
	l.maxOut = maxOut(h.job, int(h.job.Hosts[h.me].NProcs)*int(h.job.Hosts[host].NProcs))
	if l.short {
		l.srcR, l.dstR = h.job.Hosts[host].First, h.job.Hosts[h.me].First
		l.pair = h.flow.pair(l.dstR, l.srcR)
	}
	h.links[host] = l
	if len(fds) > 1 {
		l.many = bundle.New(fds)
		if err := l.many.Register(h.epoll, host, unix.EPOLLIN); err != nil {
			return err
		}
	} else if err := h.open(l, pipes); err != nil {
		return err
	} else if err := unix.EpollCtl(h.epoll, unix.EPOLL_CTL_ADD, l.fd,
		&unix.EpollEvent{Events: unix.EPOLLIN, Fd: host}); err != nil {
		return os.NewSyscallError("epoll_ctl", err)
	}
	h.nopen++
	h.hot = l
	return nil
}

// bufferMin is the least size of a link's receive buffer, in bytes. Pages that no traffic reaches are never
// touched.
const bufferMin = 256 << 10

// Limits are C_DATALEN's in both: what is longer goes as a long message (3.7).
func (h *Host) Limits() transport.Limits {
	n := int(h.job.MaxDataLen)
	return transport.Limits{Eager: n, Packet: n}
}

// Send puts one packet on its way, as transport.Transport says. False: the pair's window is closed, or the
// socket is full. A packet to a process that is lost, or whose host has finished, is dropped: true.
// Send panics if the process is not another client's, or the kind not IMPI's.
func (h *Host) Send(hd *transport.Header, payload []byte) bool {
	l, w := h.route(hd)
	if l.closed() {
		return true
	}
	if l.blocked || l.owed > 0 || !h.admits(l, w) {
		return false
	}
	if hd.Kind == transport.SyncAck && hd.DrqID != 0 {
		l.narrow = true
	}
	head := l.headSize(hd)
	if hd.Len <= gatherMax && h.gathers(l) {
		room := l.reserve(head + hd.Len)
		h.encode(l, room[:head], hd)
		copy(room[head:], payload[:hd.Len])
		h.gather(l)
		l.acks = 0
		h.left(l, w, hd.Len)
		return true
	}
	h.encode(l, l.head[:head], hd)
	if !h.write(l, head, payload[:hd.Len]) {
		return false
	}
	h.left(l, w, hd.Len)
	return true
}

// SendFrom is Send with the payload packed straight into the link's buffer, in one piece.
func (h *Host) SendFrom(hd *transport.Header, p transport.Packer) bool {
	l, w := h.route(hd)
	if l.closed() {
		return true
	}
	if l.blocked || l.owed > 0 || !h.admits(l, w) {
		return false
	}
	head := l.headSize(hd)
	room := l.reserve(head + hd.Len)
	h.encode(l, room[:head], hd)
	if hd.Len > 0 {
		p.Pack(room[head:])
	}
	h.left(l, w, hd.Len)
	l.acks = 0
	if h.gathers(l) {
		h.gather(l)
	} else {
		h.flush(l)
	}
	return true
}

// route is the link to the packet's destination, and the window of its pair.
func (h *Host) route(hd *transport.Header) (*link, *window) {
	l := h.links[h.job.Procs[hd.Dst].Host]
	if l == nil {
		panic(fmt.Sprintf("tcp: process %d is not another client's", hd.Dst))
	}
	return l, h.flow.pair(hd.Src, hd.Dst)
}

// Poll delivers what has arrived, at most one buffer of each socket, acknowledges it, and sends what waits
// for room. It reports whether there was anything, room for packets included.
func (h *Host) Poll() bool {
	if h.polling || h.epoll < 0 {
		return false
	}
	h.polling = true
	h.watch.polled()
	h.Settle()
	if !h.watching {
		h.watching = true
		h.watch.start()
	}
	h.corked++
	if h.guard.due.Load() {
		h.look()
	}
	did := h.poll()
	h.corked--
	if did {
		h.watch.found()
	}
	if len(h.dirty) > 0 && h.corked == 0 {
		h.settle(!did)
	}
	h.polling = false
	return did
}

func (h *Host) poll() bool {
	if len(h.pipes) > 0 {
		return h.pollPipes()
	}
	did := false
	if l := h.hot; l != nil && (h.streak < fairness || h.nopen == 1 || h.watch.apart.Load() >= 0) {
		if did = h.read(l); did {
			h.standApart(l)
		}
		h.streak++
	}
	if did && h.nblocked == 0 && (h.streak <= fairness || h.nopen == 1) || h.epoll < 0 {
		return did
	}
	h.streak = 0
	if l := h.hot; l != nil && l.blocked && h.watch.apart.Load() >= 0 {
		h.interest(l, unix.EPOLLIN|unix.EPOLLOUT) // there was no room for it
	}
	if h.nopen == 0 || h.nopen == 1 && h.nblocked == 0 && h.hot != nil {
		return did
	}
	return h.sweep(kernel.Ready(h.epoll, h.events[:])) || did
}

// sweep serves the sockets that the first n events speak of.
func (h *Host) sweep(n int) bool {
	for _, e := range h.events[:n] {
		l := h.links[e.Fd]
		if l.fd < 0 {
			continue
		}
		if l.pipe != nil {
			h.signalled(l)
			continue
		}
		if l.many != nil && e.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			h.room(l, e.Pad)
		}
		if l.blocked && e.Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0 {
			h.flush(l)
		}
		if !l.ended && e.Events&^unix.EPOLLOUT != 0 {
			h.warm(l)
			h.read(l)
		}
	}
	return n > 0
}

// take passes on a packet.
func (h *Host) take(l *link, hd *transport.Header, payload []byte) {
	if l.finiOut {
		h.discard(l, hd)
		return
	}
	h.recv.Deliver(hd, payload)
}

// lose tells the engine, once, that the processes of a host are gone.
func (h *Host) lose(host int32, err error) {
	x := h.job.Hosts[host]
	if x.Addr.IsValid() {
		err = fmt.Errorf("host %d (client %d, %v): %w", host, x.Client, x.Addr, err)
	} else {
		err = fmt.Errorf("the agent: %w", err)
	}
	if h.finishing {
		if !h.job.FaultTolerant { // in one that is, nobody waits for those that are lost
			h.failures = append(h.failures, err)
		}
		return
	}
	for p := x.First; p < x.First+x.NProcs; p++ {
		h.recv.Lost(p, err)
	}
}

// Counts implements transport.Counter.
func (h *Host) Counts() transport.Counts {
	c := h.flow.counts
	c.Retransmitted = h.ended
	for _, l := range h.links {
		if l != nil {
			c.Retransmitted += l.retransmitted()
		}
	}
	return c
}

// retransmitted is how many segments TCP has sent again.
func (l *link) retransmitted() (n uint64) {
	count := func(_, fd int) {
		if fd < 0 || l.pipe != nil {
			return
		}
		if info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			n += uint64(info.Total_retrans)
		}
	}
	if l.many != nil {
		l.many.Each(count)
	} else {
		count(0, l.fd)
	}
	return n
}

// Arm promises that traffic which no call of Poll has seen, or will see, leads to a call of the function
// wake given to Connect. A thread calls it after its last Poll and before it sleeps; any thread may, with
// or without the engine's lock. It costs one load if the promise stands already.
func (h *Host) Arm() { h.watch.arm() }
