package server

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"time"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/sockets/strangers"
	"github.com/libimpi/libimpi/startup/auth"
	"github.com/libimpi/libimpi/transport/wire"
)

// The protocol as a pure state machine: what arrives on a connection goes in, what to do comes out. The way
// of one connection, with the functions in the same order:
//
//	Opened                           a connection is there
//	Received -> unit                 bytes are cut into commands, payloads and keys
//	  auth, key, join                AUTH, KEY, IMPI: who is it, which rank (2.3.3, 2.3.4)
//	    secured, challenge, answer   between them, for the methods of our own (auth.go)
//	  submit -> relay                COLL, DONE: values are stored, and broadcast when complete (2.3.5, 2.3.6)
//	  finish                         FINI (2.3.7)
//	  report                         LOST from another process of a client that has joined
//	  will                           WILL from a process of a client that has not
//	  traffic                        TRAFFIC, if we have asked for it (traffic.go)
//	Closed, Expired                  it went away, or took too long
//
// The phases of the job are gathering, until all ranks have joined; exchanging, until all have said DONE; running,
// until all have said FINI or died; over.

// phase is how far the job has come.
type phase uint8

const (
	gathering phase = iota
	exchanging
	running
	over
)

func (p phase) String() string {
	return [...]string{"waiting for clients", "exchanging start-up values", "running", "over"}[p]
}

// do is what the shell has to do.
type do uint8

const (
	doSend      do = iota // Data to Conn, after all that was sent before; Data is shared and must not be written to
	doSecure              // Data to Conn, and from then on TLS; the answer is Secured or Closed
	doClose               // Conn, when all that was sent to it is out; nothing of it is expected any more
	doReset               // Conn, at once and not in order: it may try again
	doHang                // close the listening socket: the job is over
	doLog                 // Text is for the user
	doTerminate           // the job is over, machine.Err says how; every connection has been closed or reset
)

// action is one thing to do, in the order given.
type action struct {
	Do   do
	Conn int
	Data []byte
	Text string
}

// rules are what a machine must know.
type rules struct {
	Clients    int // 1 to wire.MaxClients
	Auth       auth.Methods
	Preference []int32 // nil: auth.DefaultPreference
	MaxPayload int     // bytes in one command; 0: 32 MiB
	MaxStored  int     // bytes held for one client, not yet broadcast; 0: 128 MiB
	MaxPending int     // connections that have not joined; one more, and one is closed (strangers.Evict). 0: 128

	Nonce func() secure.Nonce // nil: secure.NewNonce
	Clock func() time.Time    // for views (view.go); nil: nothing is kept for them
}

const (
	maxAuthPayload = 64 // bytes: 16 mask words
	labelOverhead  = 64 // bytes that a stored label counts besides its data
)

// ClientError says which client broke the job, and where.
type ClientError struct {
	Rank int32
	Peer string
	Step string // what the client had last done
	What string // what went wrong
}

func (e *ClientError) Error() string {
	return fmt.Sprintf("client %d (%s) %s %s", e.Rank, e.Peer, e.What, e.Step)
}

// WithdrawnError is a client for which others wait, and which has said that it will not join.
type WithdrawnError struct {
	Rank int32
	Peer string
	Why  string // in its words
}

func (e *WithdrawnError) Error() string {
	return fmt.Sprintf("client %d (%s) will not join the others: %s", e.Rank, e.Peer, e.Why)
}

// machine is the state of one server. It is not safe for concurrent use.
type machine struct {
	rules     rules
	phase     phase
	settled   bool // running: see Settled
	conns     map[int]*conn
	pending   []*conn       // not joined, oldest first
	clients   []*conn       // by rank, nil: free
	sides     Sides         // of connections between clients that are cut
	withdrawn map[int]*conn // gathering: by rank, clients that have said that they will not join
	out       []action
	errs      []error
	lines     strangers.Lines // about connections that have not joined
	watched   *watched        // nil: nobody will ask for a view
}

type expects uint8

const (
	aHeader expects = iota
	aPayload
	aKey
	anAnswer
)

type stage uint8

const (
	atAuth stage = iota // AUTH must come first
	atTLS
	atKey // or an answer
	atImpi
	joined
	reported // a process of a client has said why that ends, and waits until the others know
	gone
)

// conn is one connection, and from stage joined on one client.
type conn struct {
	id     int
	peer   string
	stage  stage
	expect expects
	cmd    wire.Cmd // whose payload is expected
	skip   int      // bytes to throw away
	buf    []byte   // what has come of the unit expected
	proof  secure.Exchange

	rank     int32
	front    int64 // highest label submitted; beyond every label after DONE
	stored   []value
	bytes    int // held in stored
	done     bool
	fini     bool
	dead     bool   // running: reported, and counted as finished
	broken   bool   // the connection has not ended in order: its client may be well
	sameImpl bool   // it has submitted wire.COwn, or offered what only this library does: it knows wire.CmdLost
	will     bool   // at IMPI: if the connection ends, client rank does, because of why
	why      string // it ends badly, and has said why
	blamed   int32  // and which client is to blame; itself where it did not say
	which    int32  // how it has authenticated
	end      string // it is lost, and how

	gone map[int32]bool // ranks of it that are lost (gone.go)

	inquiry uint32 // its last question to the others (asking.go)
	awaited uint32 // who has not answered it: a bit for each client

	// For views.
	joinedAt time.Time
	since    time.Time // it has joined, or ended
	question uint32    // the number of the last one
	asked    bool      // and it has not been answered
	reported time.Time // when one has been answered; zero: never
	rows     int       // that it has; traffic may be fewer
	traffic  []Row     // never changed once it is here
}

type value struct {
	label wire.Label
	data  []byte
}

const noMoreLabels = math.MaxInt64

// newMachine starts a job that waits for its clients. It fails if nobody could ever join.
func newMachine(r rules) (*machine, error) {
	if r.Clients < 1 || r.Clients > wire.MaxClients {
		return nil, fmt.Errorf("-server %d: the number of clients must be 1 to %d", r.Clients, wire.MaxClients)
	}
	if r.Preference == nil {
		r.Preference = auth.DefaultPreference
	}
	if r.Auth.Mask() == 0 {
		return nil, auth.ErrNoMethod
	}
	if _, ok := r.Auth.Choose(r.Preference, math.MaxUint32); !ok {
		return nil, fmt.Errorf("-auth names no method that is enabled: %w", auth.ErrNoMethod)
	}
	setDefault(&r.MaxPayload, 32<<20)
	setDefault(&r.MaxStored, 128<<20)
	setDefault(&r.MaxPending, 128)
	if r.Nonce == nil {
		r.Nonce = secure.NewNonce
	}
	m := &machine{rules: r, conns: map[int]*conn{}, clients: make([]*conn, r.Clients), withdrawn: map[int]*conn{}}
	if r.Clock != nil {
		m.watched = newWatched(r.Clock)
	}
	return m, nil
}

// setDefault sets what is not said.
func setDefault[N ~int | ~int64](v *N, d N) {
	if *v <= 0 {
		*v = d
	}
}

// Err is how the job went: nil if every client has sent FINI. It is final after doTerminate.
func (m *machine) Err() error { return errors.Join(m.errs...) }

// take hands out what has gathered.
func (m *machine) take() []action {
	out := m.out
	m.out = nil
	return out
}

// Opened says that a connection with a new id is there; peer is its address.
func (m *machine) Opened(id int, peer string) []action {
	c := &conn{id: id, peer: peer, rank: -1}
	m.conns[id] = c
	if m.phase == over {
		m.drop(c, "")
		return m.take()
	}
	m.pending = append(m.pending, c)
	if len(m.pending) > m.rules.MaxPending {
		list := make([]strangers.Stranger, len(m.pending))
		for i, p := range m.pending {
			host, _, _ := net.SplitHostPort(p.peer)
			list[i] = strangers.Stranger{Host: host, Said: int(p.stage)}
		}
		old := m.pending[strangers.Evict(list)]
		m.act(action{Do: doReset, Conn: old.id})
		m.drop(old, fmt.Sprintf("%s closed: %d connections have not joined yet", old.peer, len(m.pending)))
	}
	return m.take()
}

// Received takes the next bytes of a connection, in pieces of any size. data is not kept.
func (m *machine) Received(id int, data []byte) []action {
	c := m.conns[id]
	if c == nil {
		return nil
	}
	for c.stage != gone && m.phase != over {
		if c.stage == atTLS {
			if len(data) > 0 {
				m.broken(c, "went on before it was told to")
			}
			break
		}
		if c.skip > 0 {
			n := min(c.skip, len(data))
			c.skip -= n
			data = data[n:]
			if c.skip > 0 {
				break
			}
			continue
		}
		need := c.need()
		n := min(need-len(c.buf), len(data))
		if cap(c.buf)-len(c.buf) < n { // memory grows with what arrives, not with what is announced
			c.buf = slices.Grow(c.buf, min(need-len(c.buf), max(n, len(c.buf))))
		}
		c.buf = append(c.buf, data[:n]...)
		data = data[n:]
		if len(c.buf) < need {
			break
		}
		unit := c.buf
		c.buf = c.buf[:0]
		m.unit(c, unit)
	}
	return m.take()
}

func (c *conn) need() int {
	switch c.expect {
	case aPayload:
		return int(c.cmd.Len)
	case aKey:
		return wire.AuthKeySize
	case anAnswer:
		return wire.AuthAnswerSize
	}
	return wire.CmdSize
}

// unit takes one header, payload or key.
func (m *machine) unit(c *conn, b []byte) {
	expected := c.expect
	c.expect = aHeader
	switch expected {
	case aHeader:
		c.cmd, _ = wire.ParseCmd(b)
		m.header(c)
	case aKey:
		m.key(c, b)
	case anAnswer:
		m.answer(c, b)
	case aPayload:
		switch c.cmd.Cmd {
		case wire.CmdAuth:
			m.auth(c, b)
		case wire.CmdImpi:
			m.join(c, b)
		case wire.CmdColl:
			m.submit(c, b)
		case wire.CmdWill:
			m.will(c, b)
		case wire.CmdTraffic:
			m.traffic(c, b)
		case wire.CmdAsk:
			m.asks(c, b)
		case wire.CmdTold:
			m.told(c, b)
		case wire.CmdGone:
			m.losesRanks(c, b)
		case wire.CmdSuspect:
			m.suspects(c, b)
		case wire.CmdLost:
			switch {
			case c.stage == atImpi && m.phase == gathering:
				m.withdraw(c, b)
			case c.stage == atImpi:
				m.report(c, b)
			default:
				m.farewell(c, b)
			}
		}
	}
}

// header decides what becomes of the payload that a command announces: kept, or thrown away.
func (m *machine) header(c *conn) {
	n := int(c.cmd.Len)
	if n < 0 || n > m.rules.MaxPayload {
		m.broken(c, fmt.Sprintf("announced %d bytes with %v", n, c.cmd.Cmd))
		return
	}
	switch {
	case c.stage == reported:
		c.skip = n
	case c.stage == atAuth:
		switch {
		case c.cmd.Cmd != wire.CmdAuth:
			m.broken(c, fmt.Sprintf("began with %v instead of AUTH", c.cmd.Cmd))
		case n < wire.ClientAuthSize || n > maxAuthPayload || n%wire.ClientAuthSize != 0:
			m.broken(c, fmt.Sprintf("sent AUTH with %d bytes", n))
		default:
			c.expect = aPayload
		}
	case c.cmd.Cmd == wire.CmdLost && n <= wire.LostHead+wire.LostMax:
		c.expect = aPayload
	case c.cmd.Cmd == wire.CmdWill && c.stage == atImpi && n <= wire.LostHead+wire.LostMax:
		c.expect = aPayload
	case c.stage == atImpi:
		switch c.cmd.Cmd {
		case wire.CmdImpi:
			if n != wire.ImpiSize {
				m.broken(c, fmt.Sprintf("sent IMPI with %d bytes", n))
				return
			}
			c.expect = aPayload
		case wire.CmdAuth, wire.CmdColl, wire.CmdDone, wire.CmdFini:
			m.broken(c, fmt.Sprintf("sent %v before IMPI", c.cmd.Cmd))
		default:
			c.skip = n
		}
	case c.cmd.Cmd == wire.CmdTraffic && c.asked && n <= wire.TrafficMaxBytes:
		c.expect = aPayload
	case (c.cmd.Cmd == wire.CmdGone || c.cmd.Cmd == wire.CmdSuspect) && c.answers() && n <= wire.GoneMax,
		c.cmd.Cmd == wire.CmdAsk && c.sameImpl && n <= wire.AskHead+wire.AskMax,
		c.cmd.Cmd == wire.CmdTold && m.owes(c) && n <= wire.AskHead+wire.ToldMax:
		c.expect = aPayload
	case c.cmd.Cmd == wire.CmdColl && !c.done:
		if n < wire.CollSize {
			m.broken(c, fmt.Sprintf("sent COLL with %d bytes", n))
			return
		}
		c.expect = aPayload
		c.buf = nil // what is read next will be kept
	case c.cmd.Cmd == wire.CmdDone:
		c.skip = n
		m.done(c)
	case c.cmd.Cmd == wire.CmdFini:
		c.skip = n
		m.finish(c)
	default:
		c.skip = n
	}
}

// auth answers AUTH with the method that we prefer.
func (m *machine) auth(c *conn, b []byte) {
	mask, _ := wire.ParseClientAuth(b)
	c.sameImpl = mask&(wire.AuthHMACMask|wire.AuthTLSMask|wire.AuthSameImplMask) != 0
	if m.phase != gathering && !c.sameImpl { // nobody else has anything to say any more
		m.drop(c, "")
		return
	}
	which, ok := m.rules.Auth.Choose(m.rules.Preference, mask)
	if !ok {
		m.broken(c, fmt.Sprintf("offers authentication methods %#x and this server %#x: none in common",
			mask&^wire.AuthSameImplMask, m.rules.Auth.Mask()))
		return
	}
	c.proof.Mask, c.which = mask, which
	switch which {
	case wire.AuthTLS:
		c.stage = atTLS
		m.act(action{Do: doSecure, Conn: c.id, Data: wire.ServerAuth{Which: which}.Append(nil)})
		return
	case wire.AuthHMAC:
		m.challenge(c, wire.ServerAuth{Which: which, Len: wire.AuthNonceSize}.Append(nil))
		return
	case wire.AuthKey:
		m.send(c, wire.ServerAuth{Which: which}.Append(nil))
		c.stage, c.expect = atKey, aKey
		return
	}
	m.send(c, wire.ServerAuth{Which: which}.Append(nil))
	c.stage = atImpi
	m.log("warning: %s has authenticated with IMPI_AUTH_NONE, as anybody could", c.peer)
}

// key tells a client that its key is wrong by hanging up, and that it is right by not doing so.
func (m *machine) key(c *conn, b []byte) {
	if key, _ := wire.ParseAuthKey(b); key != m.rules.Auth.Key {
		m.broken(c, "sent a wrong key")
		return
	}
	c.stage = atImpi
}

// join gives a client its rank, and starts the exchange when it is the last.
func (m *machine) join(c *conn, b []byte) {
	rank, _ := wire.ParseImpi(b)
	if rank < 0 || int(rank) >= len(m.clients) {
		m.broken(c, fmt.Sprintf("wants client rank %d, and ranks are 0 to %d", rank, len(m.clients)-1))
		return
	}
	if first := m.clients[rank]; first != nil {
		m.broken(c, fmt.Sprintf("wants client rank %d, which %s has", rank, first.peer))
		return
	}
	m.unpend(c)
	c.stage, c.rank, c.front, c.will, c.why = joined, rank, 0, false, ""
	m.clients[rank] = c
	m.stamp(c)
	c.joinedAt = c.since
	delete(m.withdrawn, int(rank)) // it has been started again
	if slices.Contains(m.clients, nil) {
		m.expectOthers()
		return
	}
	m.enter(exchanging)
	for _, late := range slices.Clone(m.pending) {
		m.drop(late, "")
	}
	m.sendAll(wire.AppendImpi(nil, int32(len(m.clients))))
	m.relay()
}

// submit stores what a client contributes to a label.
func (m *machine) submit(c *conn, b []byte) {
	label, data, _ := wire.ParseColl(b)
	c.buf = nil // b is ours to keep
	if label == wire.NoLabel {
		return
	}
	if int64(label) <= c.front {
		m.broken(c, fmt.Sprintf("submitted %v, and labels must ascend", label))
		return
	}
	if c.bytes+len(data)+labelOverhead > m.rules.MaxStored {
		m.broken(c, fmt.Sprintf("has submitted more than %d bytes that others are not ready for", m.rules.MaxStored))
		return
	}
	c.front = int64(label)
	c.sameImpl = c.sameImpl || label == wire.COwn
	c.bytes += len(data) + labelOverhead
	c.stored = append(c.stored, value{label, data})
	m.relay()
}

// done notes that a client has no more labels.
func (m *machine) done(c *conn) {
	if c.done {
		return
	}
	c.done, c.front = true, noMoreLabels
	m.relay()
}

// relay broadcasts every label that is complete: the lowest one stored, as soon as each client has submitted
// it or can no longer do so. All clients get it, with a mask that says whose values it has. When all labels
// are out and all clients have said DONE, so do we.
func (m *machine) relay() {
	for m.phase == exchanging {
		lowest, some := wire.Label(0), false
		front, done := int64(noMoreLabels), true
		for _, c := range m.clients {
			front = min(front, c.front)
			done = done && c.done
			if len(c.stored) > 0 && (!some || c.stored[0].label < lowest) {
				lowest, some = c.stored[0].label, true
			}
		}
		switch {
		case some && front >= int64(lowest):
			m.broadcast(lowest)
		case done:
			m.enter(running)
			m.sendAll(wire.Cmd{Cmd: wire.CmdDone}.Append(nil))
			m.end()
		default:
			return
		}
	}
}

func (m *machine) broadcast(label wire.Label) {
	total, mask := 0, uint32(0)
	for i, c := range m.clients {
		if len(c.stored) > 0 && c.stored[0].label == label {
			total += len(c.stored[0].data)
			mask |= 1 << i
		}
	}
	if total > math.MaxInt32-wire.ChdrSize {
		m.abort(fmt.Errorf("%v has %d bytes in all, more than one command can carry", label, total))
		return
	}
	b := make([]byte, 0, wire.CmdSize+wire.ChdrSize+total)
	b = wire.AppendChdr(b, label, mask, total)
	for _, c := range m.clients {
		if len(c.stored) > 0 && c.stored[0].label == label {
			b = append(b, c.stored[0].data...)
			if m.watched != nil {
				m.watched.keep(label, len(m.clients), int(c.rank), c.stored[0].data)
			}
			c.bytes -= len(c.stored[0].data) + labelOverhead
			c.stored[0].data = nil
			c.stored = c.stored[1:]
		}
	}
	m.sendAll(b)
}

// finish notes that all of a client's processes have ended. Before its DONE that means nothing.
func (m *machine) finish(c *conn) {
	if c.done && !c.fini {
		c.fini = true
		m.stamp(c)
		m.end()
	}
}

func (m *machine) act(a action) { m.out = append(m.out, a) }

func (m *machine) log(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if m.watched != nil {
		m.watched.say(text)
	}
	m.act(action{Do: doLog, Text: text})
}

func (m *machine) send(c *conn, b []byte) { m.act(action{Do: doSend, Conn: c.id, Data: b}) }

func (m *machine) sendAll(b []byte) {
	for _, c := range m.clients {
		if c.stage != gone {
			m.send(c, b)
		}
	}
}
