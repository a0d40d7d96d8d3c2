// Package client is a client's side of the start of an IMPI job (IMPI 0.0, 2.3): it joins at the server, says
// what its client has to say, and learns what the others are.
//
//	contribution.go  what this client says
//	client.go        Connect: the conversation, in the order in which it happens
//	auth.go          its beginning: who we are, and who the server is
//	tables.go        what the others say, checked and made a transport.Job; pure
//	session.go       the connection afterwards: FINI, and noticing that the server has gone
//	traffic.go       and telling it what has passed between hosts, if it asks
//	decline.go       or instead of all this: a client that cannot take part says so
//
// The conversation is in lock-step, as all known clients do it: a label is submitted, and its broadcast awaited.
package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Options limit how long a client waits. Zero values are the defaults.
type Options struct {
	ConnectTimeout  time.Duration // for a server to answer at the address, with retries; 0: 30 s
	AuthTimeout     time.Duration // for the server to answer AUTH; 0: 30 s
	JoinTimeout     time.Duration // for the other clients to join; 0: for ever, as they start by hand
	ExchangeTimeout time.Duration // for one broadcast; 0: 5 min
	// Silence is the time without an acknowledgement after which the server's machine is lost; 0: never.
	Silence time.Duration
	// Conn is a connection to the server on which nothing has been said yet; nil: Connect makes one. It belongs to
	// Connect.
	Conn       net.Conn
	Absent     func(limit time.Duration) // called if no server has answered for AbsentTime; nil: nobody cares
	AbsentTime time.Duration             // 0: 4 s
	// RetryTime is the pause before the first retry if strangers crowd the server, doubled each time; 0: 50 ms.
	RetryTime time.Duration
	// Waiting is called when the server has let us in, and the other clients are waited for; it may be nil.
	Waiting  func()
	Tolerant bool // use the defaults for labels that a foreign client leaves out
}

const (
	maxPayload = 1 << 30 // bytes of a broadcast that we would take
	probeTime  = 500 * time.Millisecond
)

func (o Options) withDefaults() Options {
	for v, d := range map[*time.Duration]time.Duration{
		&o.ConnectTimeout: 30 * time.Second, &o.AbsentTime: 4 * time.Second, &o.RetryTime: 50 * time.Millisecond,
		&o.AuthTimeout: 30 * time.Second, &o.ExchangeTimeout: 5 * time.Minute,
	} {
		if *v <= 0 {
			*v = d
		}
	}
	return o
}

// errGone is the server's closing of the connection, orderly or not.
var errGone = errors.New("the connection was closed by the server")

// Connect joins the job of the server at addr ("host:port") as client rank. It blocks until all clients have
// joined and exchanged their values, and returns the tables, with Me set to -1, which is the caller's to
// know, and the connection, which must stay open until the client's processes have finished.
//
// Errors say at which step it failed, and what to do where that is known. ctx ends it at any step.
func Connect(ctx context.Context, addr string, rank int32, m auth.Methods, c Contribution,
	opt Options) (*transport.Job, *Session, error) {
	opt = opt.withDefaults()
	c, err := c.complete()
	if err != nil {
		return nil, nil, err
	}
	if m.Mask() == 0 {
		return nil, nil, auth.ErrNoMethod
	}
	if rank < 0 || rank >= wire.MaxClients {
		return nil, nil, fmt.Errorf("client rank %d: ranks are 0 to %d", rank, wire.MaxClients-1)
	}
	conn := opt.Conn
	if conn == nil {
		if conn, err = dial(ctx, addr, opt); err != nil {
			return nil, nil, err
		}
	}
	job, session, early, err := converse(ctx, conn, addr, rank, m, c, opt)
	for pause, n := opt.RetryTime, 0; early && n < retries; pause, n = 2*pause, n+1 {
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-time.After(pause):
		}
		conn, failed := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if reset(failed) {
			continue
		}
		if failed != nil {
			return nil, nil, err // the job has started, perhaps
		}
		job, session, early, err = converse(ctx, conn, addr, rank, m, c, opt)
	}
	return job, session, err
}

// reset reports whether the other end of a connection has ended it out of order.
func reset(err error) bool { return errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) }

// retries is how often a client tries again after the server has reset its connection early. A reset means that the
// server needed room (strangers.Evict); a server that refuses a client closes the connection in order.
const retries = 4

// converse is one attempt of Connect. early says that the server reset the connection before it knew who we are, so
// that another attempt may succeed.
func converse(ctx context.Context, conn net.Conn, addr string, rank int32, m auth.Methods, c Contribution,
	opt Options) (job *transport.Job,
	s *Session, early bool, err error) {
	if c, ok := conn.(*net.TCPConn); ok && opt.Silence > 0 {
		c.SetKeepAliveConfig(alive.Probes(opt.Silence))
		alive.Insist(c, opt.Silence)
	}
	t := &talk{ctx: ctx, conn: conn, addr: addr, rank: rank, methods: m, sameImpl: c.Own != nil, opt: opt}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	job, err = t.start(c)
	if !stop() && err == nil {
		err = context.Cause(ctx) // its deadline may have been set by now: the connection is of no use
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && c.Own != nil && t.joined {
			t.lost(cause)
		}
		conn.Close()
		if cause := context.Cause(ctx); cause != nil {
			err = fmt.Errorf("IMPI server %s, %s: %w", addr, t.step, cause)
		}
		return nil, nil, reset(err) && !t.known && ctx.Err() == nil, err
	}
	t.conn.SetDeadline(time.Time{})
	return job, &Session{conn: t.conn, addr: addr, rank: rank, own: c.Own != nil}, false, nil
}

// lost tells the server that this client has ended, and why. If cause is a *LostError it blames that client.
func (t *talk) lost(cause error) error {
	t.conn.SetDeadline(time.Now().Add(lingerTime))
	blamed, text := t.rank, cause.Error()
	var other *LostError
	if errors.As(cause, &other) {
		blamed, text = other.Client, other.Text
	}
	return t.write(wire.AppendLost(nil, blamed, text))
}

// dial connects, trying again for a while: the server may be about to start.
func dial(ctx context.Context, addr string, opt Options) (net.Conn, error) {
	outer, limit := ctx, opt.ConnectTimeout
	if opt.Absent != nil && limit > opt.AbsentTime {
		notice := time.AfterFunc(opt.AbsentTime, func() { opt.Absent(limit) })
		defer notice.Stop()
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var d net.Dialer
	for pause, tries := 10*time.Millisecond, 1; ; tries++ {
		c, err := d.DialContext(ctx, "tcp", addr)
		if err == nil {
			return c, nil
		}
		if outer.Err() != nil {
			return nil, fmt.Errorf("connecting to the IMPI server at %s: %w", addr, context.Cause(outer))
		}
		fail := fmt.Errorf("no IMPI server answers at %s (tries: %d, within %v): %w", addr, tries, limit, err)
		var dns *net.DNSError
		var bad *net.AddrError
		if errors.As(err, &bad) || errors.As(err, &dns) && dns.IsNotFound {
			return nil, fail
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fail
		case <-timer.C:
			pause = min(2*pause, 500*time.Millisecond)
		}
	}
}

// talk is one conversation with the server.
type talk struct {
	ctx      context.Context
	conn     net.Conn
	addr     string
	rank     int32
	methods  auth.Methods
	sameImpl bool // the server may know that we are of this library
	opt      Options
	step     string // what we are doing, for errors
	which    int32  // the method that the server chose
	known    bool   // it has been shown what proves that we may talk with it, or needs no proof
	joined   bool   // it knows who we are
}

func (t *talk) start(c Contribution) (*transport.Job, error) {
	if err := t.authenticate(); err != nil {
		return nil, t.fail(err)
	}
	size, err := t.join()
	if err != nil {
		return nil, t.fail(err)
	}
	job, err := t.exchange(c, size)
	if err != nil {
		return nil, t.fail(err)
	}
	return job, nil
}

func (t *talk) fail(err error) error {
	return fmt.Errorf("IMPI server %s, %s: %w", t.addr, t.step, err)
}

// join returns who we are and waits until everybody has done so.
func (t *talk) join() (size int32, err error) {
	if err := t.introduce(); err != nil {
		return 0, t.refused(err)
	}
	if t.opt.Waiting != nil {
		t.opt.Waiting()
	}
	t.limit(t.opt.JoinTimeout)
	for {
		cmd, err := t.header()
		if err != nil {
			return 0, t.refused(err)
		}
		if cmd.Cmd != wire.CmdImpi {
			if err := t.discard(cmd.Len); err != nil {
				return 0, t.refused(err)
			}
			continue
		}
		if cmd.Len != wire.ImpiSize {
			return 0, fmt.Errorf("it answered IMPI with %d bytes", cmd.Len)
		}
		b, err := t.read(wire.ImpiSize)
		if err != nil {
			return 0, err
		}
		size, _ = wire.ParseImpi(b)
		if size < 1 || size > wire.MaxClients || t.rank >= size {
			return 0, fmt.Errorf("it says that the job has %d clients, and we are client %d", size, t.rank)
		}
		return size, nil
	}
}

// introduce returns which client we are.
func (t *talk) introduce() error {
	t.step = fmt.Sprintf("joining as client %d", t.rank)
	err := t.write(wire.AppendImpi(nil, t.rank))
	t.joined = err == nil
	return err
}

// exchange submits every label and takes its broadcast, then says DONE and waits for the others to do so.
func (t *talk) exchange(c Contribution, size int32) (*transport.Job, error) {
	mine := c.values(t.rank)
	own := t.own(c.Own)
	tab := newTables(int(t.rank), int(size), mine, t.opt.Tolerant)
	var b []byte
	for i, label := range wire.Labels {
		t.step = fmt.Sprintf("exchanging %v", label)
		t.limit(t.opt.ExchangeTimeout)
		b = append(wire.AppendColl(b[:0], label, len(mine[i])), mine[i]...)
		if err := t.write(b); err != nil {
			return nil, err
		}
		mask, data, err := t.broadcast(label)
		if err != nil {
			return nil, err
		}
		if err := tab.take(label, mask, data); err != nil {
			return nil, err
		}
	}
	t.step = "waiting for DONE"
	t.limit(t.opt.ExchangeTimeout)
	b = b[:0]
	if own != nil { // nobody owes an answer to these: what there is of them comes before DONE
		machines := c.machines()
		b = own.Append(wire.AppendColl(b, wire.COwn, wire.OwnSize))
		b = append(wire.AppendColl(b, wire.HMachine, len(machines)), machines...)
	}
	if err := t.write(wire.Cmd{Cmd: wire.CmdDone}.Append(b)); err != nil {
		return nil, err
	}
	if err := t.finish(tab, own, c.machines()); err != nil {
		return nil, err
	}
	if err := tab.reverse(c.Own); err != nil {
		return nil, err
	}
	return tab.job()
}

// finish reads on to DONE, and takes on the way what clients of this library say beyond IMPI 0.0.
func (t *talk) finish(tab *tables, own *wire.Own, machines []byte) error {
	for {
		cmd, err := t.header()
		if err != nil {
			return err
		}
		if cmd.Cmd == wire.CmdColl && own != nil && cmd.Len >= wire.ChdrSize && cmd.Len <= maxPayload {
			head, err := t.read(wire.ChdrSize)
			if err != nil {
				return err
			}
			cmd.Len -= wire.ChdrSize
			if label, mask, _, _ := wire.ParseChdr(head); label == wire.COwn || label == wire.HMachine {
				data, err := t.read(int(cmd.Len))
				switch {
				case err != nil:
				case label == wire.COwn:
					err = tab.takeOwn(mask, data, *own, t.methods)
				default:
					tab.takeMachines(mask, data, machines)
				}
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := t.discard(cmd.Len); err != nil {
			return err
		}
		if cmd.Cmd == wire.CmdDone {
			return nil
		}
	}
}

// broadcast reads on to the broadcast of one label. Labels that we did not submit, and commands that we do not
// know, are others' business.
func (t *talk) broadcast(want wire.Label) (mask uint32, data []byte, err error) {
	for {
		cmd, err := t.header()
		if err != nil {
			return 0, nil, err
		}
		switch cmd.Cmd {
		case wire.CmdColl:
			if cmd.Len < wire.ChdrSize || cmd.Len > maxPayload {
				return 0, nil, fmt.Errorf("it sent COLL with %d bytes", cmd.Len)
			}
			head, err := t.read(wire.ChdrSize)
			if err != nil {
				return 0, nil, err
			}
			label, mask, _, _ := wire.ParseChdr(head)
			if label == want {
				data, err := t.read(int(cmd.Len) - wire.ChdrSize)
				return mask, data, err
			}
			cmd.Len -= wire.ChdrSize
		case wire.CmdDone:
			return 0, nil, errors.New("it said DONE before we did")
		}
		if err := t.discard(cmd.Len); err != nil {
			return 0, nil, err
		}
	}
}

// limit sets the deadline of the next reads and writes to d from now; 0 is no deadline. ctx can end them sooner.
func (t *talk) limit(d time.Duration) {
	if d <= 0 {
		t.conn.SetDeadline(time.Time{})
	} else {
		t.conn.SetDeadline(time.Now().Add(d))
	}
	if t.ctx.Err() != nil {
		t.conn.SetDeadline(time.Unix(1, 0)) // ctx ended while we set ours
	}
}

func (t *talk) header() (wire.Cmd, error) {
	b, err := t.read(wire.CmdSize)
	if err != nil {
		return wire.Cmd{}, err
	}
	cmd, _ := wire.ParseCmd(b)
	if cmd.Len < 0 {
		return cmd, fmt.Errorf("it sent %v with %d bytes", cmd.Cmd, cmd.Len)
	}
	if cmd.Cmd == wire.CmdLost && cmd.Len <= wire.LostHead+wire.LostMax {
		b, err := t.read(int(cmd.Len))
		if err != nil {
			return wire.Cmd{}, err
		}
		if rank, text, ok := wire.ParseLost(b); ok {
			return wire.Cmd{}, &LostError{rank, text}
		}
		cmd.Len = 0
	}
	return cmd, nil
}

// read reads exactly n bytes. Memory grows with what arrives.
func (t *talk) read(n int) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(min(n, 4096))
	_, err := io.CopyN(&b, t.conn, int64(n))
	return b.Bytes(), t.explain(err)
}

func (t *talk) discard(n int32) error {
	_, err := io.CopyN(io.Discard, t.conn, int64(n))
	return t.explain(err)
}

func (t *talk) write(b []byte) error {
	_, err := t.conn.Write(b)
	return t.explain(err)
}

func (t *talk) explain(err error) error {
	var timeout net.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errGone
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer in time: %w", err)
	}
	return fmt.Errorf("%w (%w)", errGone, err)
}
