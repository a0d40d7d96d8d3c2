package events

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// Conn is a connection of the tester's whose traffic is recorded: what the tester writes, before it is written, and
// what it reads, after it was read.
type Conn struct {
	*net.TCPConn

	mu          sync.Mutex // guards what follows; the recorder's is taken after it
	r           *Recorder
	ours, other Party
	lasts       bool          // it outlives the recorder's case
	in, out     *codec.Framer // what follows is guarded by r.mu, too
	lastIn      int           // number of the last event that came in
	closed      bool
	ended       bool                  // the other side has
	host        func(rank int) string // the name of a host, "" if there is none
}

// ToServer is a connection that the tester, as a client, has made to a server under test.
func (r *Recorder) ToServer(c *net.TCPConn) *Conn {
	out, in := codec.NewStartUp()
	us, server := r.Unknown("connection", false), r.Party("server", true)
	return r.conn(&Conn{TCPConn: c, ours: us, other: server, in: in, out: out}, true)
}

// FromClient is a connection of the client under test to the tester's server.
func (r *Recorder) FromClient(c *net.TCPConn, client string) *Conn {
	in, out := codec.NewStartUp()
	return r.conn(&Conn{TCPConn: c, ours: r.Party("server", false), other: r.Party(client, true), in: in, out: out}, false)
}

// ToHost is a connection that a host of the tester's, "" for somebody who is none, has made to one under test.
func (r *Recorder) ToHost(c *net.TCPConn, ours, theirs string) *Conn {
	var from Party
	if ours == "" {
		from = r.Unknown("stranger", false)
	} else {
		from = r.Party(ours, false)
	}
	out, in := codec.NewMesh()
	return r.conn(&Conn{TCPConn: c, ours: from, other: r.Party(theirs, true), in: in, out: out}, true)
}

// FromHost is a connection that a host of the tester's has accepted; host names hosts by their rank.
func (r *Recorder) FromHost(c *net.TCPConn, ours string, host func(rank int) string) *Conn {
	in, out := codec.NewMesh()
	return r.conn(&Conn{TCPConn: c, ours: r.Party(ours, false), other: r.Unknown("connection", true), in: in, out: out,
		host: host}, false)
}

// conn begins a connection that one of the two sides has made.
func (r *Recorder) conn(c *Conn, byUs bool) *Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.r = r
	r.keep(c)
	from, to := c.other, c.ours
	if byUs {
		from, to = to, from
	}
	r.note(from, to, Event{Kind: Opened})
	return c
}

// Lasts makes a connection one that outlives the case: MoveTo gives it the next one's recorder.
func (c *Conn) Lasts() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lasts = true
}

// MoveTo lets another case's recorder record from now on, in which the parties have the same names.
func (c *Conn) MoveTo(r *Recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.r.mu.Lock()
	ours, other := c.r.columns[c.ours], c.r.columns[c.other]
	c.r.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ours, c.other = r.party(ours.Name, ours.Implementation), r.party(other.Name, other.Implementation)
	c.r, c.lastIn = r, 0
	r.seen = true // the implementation is there: it has connected
	r.keep(c)
}

// lock locks the connection and its recorder.
func (c *Conn) lock() (unlock func()) {
	c.mu.Lock()
	r := c.r
	r.mu.Lock()
	return func() {
		r.mu.Unlock()
		c.mu.Unlock()
	}
}

// Read reads, and records what has come.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.TCPConn.Read(b)
	defer c.lock()()
	c.in.Feed(b[:n], c.came)
	if err != nil && !c.ended && !c.closed && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.ended = true
		c.in.Flush(c.came)
		c.r.note(c.other, c.ours, Event{Kind: Closed, Text: how(err)})
	}
	return n, err
}

// Write records, and writes.
func (c *Conn) Write(b []byte) (int, error) {
	unlock := c.lock()
	c.out.Feed(b, c.goes)
	unlock()
	return c.TCPConn.Write(b)
}

// WriteTo and ReadFrom go the same way, and not around it.
func (c *Conn) WriteTo(w io.Writer) (int64, error)  { return io.Copy(w, struct{ io.Reader }{c}) }
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{c}, r) }

// Close closes the connection.
func (c *Conn) Close() error {
	unlock := c.lock()
	if !c.closed {
		c.closed = true
		c.flush()
		c.r.note(c.ours, c.other, Event{Kind: Closed})
	}
	unlock()
	return c.TCPConn.Close()
}

// LastIn is the number of the event that came last.
func (c *Conn) LastIn() int {
	defer c.lock()()
	return c.lastIn
}

// flush notes what has come of units that are not whole. The lock is held.
func (c *Conn) flush() {
	c.in.Flush(c.came)
	c.out.Flush(c.goes)
}

func (c *Conn) came(u codec.Unit) {
	c.learn(c.other, u)
	c.lastIn = c.r.unit(c.other, c.ours, u)
}

func (c *Conn) goes(u codec.Unit) {
	c.learn(c.ours, u)
	c.r.unit(c.ours, c.other, u)
}

// learn notes who a party is that says so.
func (c *Conn) learn(p Party, u codec.Unit) {
	if u.Whole > u.Total || !c.r.columns[p].alone {
		return
	}
	switch {
	case u.Kind == codec.ToServer && len(u.Bytes) == 12 && codec.GetU32(u.Bytes) == uint32(wire.CmdImpi):
		c.r.named(p, fmt.Sprintf("client %d", int32(codec.GetU32(u.Bytes[8:]))), true)
	case u.Kind == codec.HostRank && c.host != nil && len(u.Bytes) == 4:
		if name := c.host(int(int32(codec.GetU32(u.Bytes)))); name != "" {
			c.r.named(p, name, false)
		}
	}
}

// how is how a connection ended, "" if in order.
func how(err error) string {
	switch {
	case errors.Is(err, io.EOF):
		return ""
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	}
	return Clean(err.Error(), maxLine)
}
