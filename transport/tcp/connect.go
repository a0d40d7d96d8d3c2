package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// What this package offers to those who start a job: a listener, whose port is published, and then Connect, or Mesh and
// Adopt, which are its halves (mesh.go, accept.go, host.go).

// Options are what a user may want to set. The zero value is good.
type Options struct {
	MaxDataLen    uint32           // largest pk_len accepted, bytes: our C_DATALEN. At least Job.MaxDataLen, and so if 0
	SendBuffer    int              // SO_SNDBUF, bytes; 0: right for the round trip
	ReceiveBuffer int              // SO_RCVBUF, bytes; 0: the system's choice
	Silence       time.Duration    // after which a host of which nothing is heard is lost; 0: never
	Warn          func(msg string) // told of strangers and such, from any goroutine; may be nil
	Pipes         bool             // Adopt: the descriptors are of pipes to processes of this machine (transport/pipe)
	greetTime     time.Duration    // for a stranger to say who it is; 0: greetTime
	Apart         []bool           // by host: one of our own client on another machine, to be connected, too; nil: none
	Finished      func(host int32) // told by Reap and Finish of each host that has ended in order, or is lost; may be nil
}

// Listener is where higher hosts connect to. It is opened before its port is published (H_PORT).
type Listener struct{ tcp *net.TCPListener }

// listenAt opens a listener at an address and a port of this machine.
func listenAt(at netip.AddrPort) (*Listener, error) {
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return &Listener{tcp}, nil
}

// ListenBetween opens a listener at the first port from low to high that is free; 0: at any.
func ListenBetween(bind netip.Addr, low, high int) (*Listener, error) {
	for port := low; ; port++ {
		l, err := listenAt(netip.AddrPortFrom(bind, uint16(port)))
		if err == nil || !errors.Is(err, unix.EADDRINUSE) || port >= high {
			return l, err
		}
	}
}

// Addr is where the listener listens.
func (l *Listener) Addr() netip.AddrPort {
	a := l.tcp.Addr().(*net.TCPAddr).AddrPort()
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// Close gives the listener up, if Connect has not done so.
func (l *Listener) Close() error { return l.tcp.Close() }

// Connect joins host `host` of the job with all hosts of other clients. It blocks until all have come, ctx
// is done, or, if ctx has no deadline, a minute has passed; the error says who has not come. The listener is
// closed in any case.
//
// Deliver and Lost are called from Poll only. wake is called from a goroutine of the Host's when there is
// traffic and nobody polls; before it returns it should have taken the engine's lock and called Poll. It is
// not called before the first Poll or Arm, and may be called once more after Finish or Abort.
func Connect(ctx context.Context, job *transport.Job, host int32, l *Listener, recv transport.Receiver, wake func(),
	opts Options) (*Host, error) {
	sockets, err := Mesh(ctx, job, host, l, opts)
	if err != nil {
		return nil, err
	}
	return Adopt(job, host, sockets, recv, wake, opts)
}

// Mesh is the first half of Connect: it answers the connected sockets by host, none, one, or as many as were agreed on.
// They do not block, and are the caller's.
func Mesh(ctx context.Context, job *transport.Job, host int32, l *Listener, opts Options) ([][]int, error) {
	defer l.Close()
	if err := check(job, host); err != nil {
		return nil, err
	}
	m := newMesh(job, host, opts)
	if err := m.form(ctx, l.tcp); err != nil {
		m.closeAll()
		return nil, err
	}
	return m.sockets, nil
}

// Adopt is the second half: a Host with sockets that somebody has connected, as Mesh answers them. They are stream
// sockets that do not block, and the Host's from now on, also if there is an error.
func Adopt(job *transport.Job, host int32, sockets [][]int, recv transport.Receiver, wake func(),
	opts Options) (*Host, error) {
	m := &mesh{sockets: sockets}
	if err := check(job, host); err != nil {
		m.closeAll()
		return nil, err
	}
	if len(sockets) != len(job.Hosts) {
		m.closeAll()
		return nil, fmt.Errorf("sockets for %d hosts of %d", len(sockets), len(job.Hosts))
	}
	h, err := newHost(job, host, recv, wake)
	if err != nil {
		m.closeAll()
		return nil, err
	}
	h.finished = opts.Finished
	h.guard.start(opts.Silence, h.watch.wake)
	for i, fds := range m.sockets {
		if len(fds) == 0 {
			continue
		}
		m.sockets[i] = nil
		if err := h.add(int32(i), fds, max(opts.MaxDataLen, job.MaxDataLen), opts.Pipes); err != nil {
			m.closeAll()
			h.Abort()
			return nil, err
		}
	}
	return h, nil
}

// check is for what this package divides by and indexes with.
func check(job *transport.Job, host int32) error {
	if host < 0 || int(host) >= len(job.Hosts) {
		return fmt.Errorf("host %d of %d", host, len(job.Hosts))
	}
	if job.AckMark < 1 || job.AckMark > job.HiWater || job.MaxDataLen < 1 {
		return fmt.Errorf("ackmark %d, hiwater %d, maxdatalen %d: want 1 <= ackmark <= hiwater and 1 <= maxdatalen",
			job.AckMark, job.HiWater, job.MaxDataLen)
	}
	next := int32(0)
	for i, x := range job.Hosts {
		if x.First != next || x.NProcs < 0 || int(x.NProcs) > len(job.Procs)-int(next) {
			return fmt.Errorf("host %d: %d processes from %d on, of %d", i, x.NProcs, x.First, len(job.Procs))
		}
		next += x.NProcs
		for p := x.First; p < next; p++ {
			if job.Procs[p].Host != int32(i) {
				return fmt.Errorf("process %d is on host %d and on host %d", p, job.Procs[p].Host, i)
			}
		}
	}
	if int(next) != len(job.Procs) {
		return fmt.Errorf("%d of %d processes are on hosts", next, len(job.Procs))
	}
	_, err := NewDirectory(job)
	return err
}
