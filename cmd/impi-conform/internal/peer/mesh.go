package peer

import (
	"errors"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
)

// isReset reports whether a connection was lost rather than closed.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Dial connects to a host of the client under test, from the address of one of ours. It says nothing yet.
func (j *Job) Dial(ours, theirs int) *events.Conn {
	d := net.Dialer{Deadline: j.T.Deadline()}
	if ours >= 0 {
		d.LocalAddr = &net.TCPAddr{IP: j.listeners[ours].Addr().(*net.TCPAddr).IP}
	}
	c, err := d.DialContext(j.T.Context(), "tcp", j.Hosts[theirs].Addr)
	if err != nil {
		j.T.Fatalf("host %d does not listen at %s: %v", theirs, j.Hosts[theirs].Addr, err)
	}
	return j.dialled(c.(*net.TCPConn), ours, theirs)
}

// dialled records what happens on a connection from a host of ours, -1 for none, to one of theirs.
func (j *Job) dialled(tcp *net.TCPConn, ours, theirs int) *events.Conn {
	c := j.T.Events().ToHost(tcp, j.hostName(ours), j.hostName(theirs))
	j.adopted(c)
	c.SetDeadline(j.T.Deadline())
	return c
}

// adopted keeps a connection until the end of the job.
func (j *Job) adopted(c *events.Conn) {
	if j.lasting {
		c.Lasts()
		j.conns = append(j.conns, c)
	}
	j.cleanup(func() { c.Close() })
}

// DialEarly is Dial before the tables are complete, to a port that the client under test has submitted.
func (j *Job) DialEarly(ours, theirs int, at *net.TCPAddr) (*events.Conn, error) {
	c, err := net.DialTCP("tcp", nil, at)
	if err != nil {
		return nil, err
	}
	return j.dialled(c, ours, theirs), nil
}

// Mesh connects every host of ours with every host of the client under test: the higher one connects and says
// its rank (2.3.8).
func (j *Job) Mesh() {
	for a, ours := range j.Hosts {
		if !j.ours(ours.Client) {
			continue
		}
		for b, theirs := range j.Hosts {
			if !j.ours(theirs.Client) && a > b {
				j.Connect(a, b)
			}
		}
		j.Await(a)
	}
}

// Connect connects host a of ours to the lower host b.
func (j *Job) Connect(a, b int) {
	c := j.Dial(a, b)
	if _, err := c.Write(codec.U32(uint32(a))); err != nil {
		j.T.Fatalf("host %d hangs up on host %d: %v", b, a, err)
	}
	j.Adopt(a, b, c)
}

// Await accepts the connections of all higher hosts at host a of ours.
func (j *Job) Await(a int) {
	var higher []int
	for b, theirs := range j.Hosts {
		if !j.ours(theirs.Client) && b > a {
			higher = append(higher, b)
		}
	}
	for len(higher) > 0 {
		b, c := j.accept(a)
		i := slices.Index(higher, b)
		if i < 0 {
			j.T.Fatalf("a connection to host %d says it is host %d, which is not to connect to it, or has done so", a, b)
		}
		higher = slices.Delete(higher, i, i+1)
		j.Adopt(a, b, c)
	}
}

// accept takes one connection at host a and reads who it is.
func (j *Job) accept(a int) (host int, c *events.Conn) {
	tcp, err := j.accepted(j.listeners[a])
	if err != nil {
		j.T.Fatalf("host %d waits in vain for a higher host of the client: %v", a, err)
	}
	c = j.T.Events().FromHost(tcp.(*net.TCPConn), j.hostName(a), j.hostName)
	j.adopted(c)
	c.SetDeadline(j.T.Deadline())
	b := make([]byte, 4)
	if _, err := io.ReadFull(c, b); err != nil {
		j.T.Fatalf("a connection to host %d does not say which host it is: %v", a, err)
	}
	return int(int32(codec.GetU32(b))), c
}

// Knocks reports whether a connection waits at host a of ours that nobody has accepted.
func (j *Job) Knocks(a int) bool {
	l := j.listeners[a].(interface{ SetDeadline(time.Time) error })
	l.SetDeadline(time.Now().Add(20 * time.Millisecond))
	c, err := j.listeners[a].Accept()
	if err == nil {
		c.Close()
	}
	return err == nil
}

// Either is for two connections that both say they are from host a of ours to host b: one of them must be closed,
// and the other is the one.
func (j *Job) Either(a, b int, c [2]*events.Conn) {
	var l [2]*Link
	for i := range c {
		j.Adopt(a, b, c[i])
		l[i] = j.Link(a, b)
	}
	keep := l[0]
	select {
	case <-l[0].over:
		keep = l[1]
	case <-l[1].over:
	case <-j.T.Context().Done():
		j.T.Fatalf("host %d keeps two connections of host %d", b, a)
	}
	j.mu.Lock()
	j.links[[2]int{a, b}] = keep
	j.mu.Unlock()
}

// Adopt makes a connection on which all has been said the one between host a of ours and host b.
func (j *Job) Adopt(a, b int, c *events.Conn) {
	l := &Link{job: j, Conn: c, Ours: a, Theirs: b, over: make(chan struct{})}
	j.mu.Lock()
	j.links[[2]int{a, b}] = l
	j.mu.Unlock()
	go l.read()
}

// Link is the socket between two hosts.
func (j *Job) Link(ours, theirs int) *Link {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.links[[2]int{ours, theirs}]
}

// LinkOf is the socket between the hosts of two processes.
func (j *Job) LinkOf(ours, theirs int) *Link { return j.Link(j.Procs[ours].Host, j.Procs[theirs].Host) }

// Links are all connections between hosts, in no particular order.
func (j *Job) Links() (list []*Link) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range j.links {
		list = append(list, l)
	}
	return list
}
