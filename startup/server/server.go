// Package server is the IMPI server (IMPI 0.0, 2.2.1 and 2.3): the meeting point of the clients of one job.
// It collects what each has to say at start-up, sends it back to all, and waits until all have finished. It
// understands none of it, and carries no messages of the program.
//
//	machine.go  the protocol, pure: bytes in, actions out
//	auth.go     its part for authentication beyond IMPI 0.0
//	view.go     what somebody who watches a job sees; pure, too
//	traffic.go  and what clients say of their traffic for that
//	gone.go     ranks without which clients go on
//	server.go   sockets and clocks around it
//
// Each connection has two goroutines. The reader passes what it reads to the machine, under the server's lock,
// and carries out the answer, which never blocks: what is to be sent goes to the connection's writer. So a
// client that does not read delays nobody, and one that does not write holds nothing up but the job.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/startup/auth"
)

// Options are what a user can say to a server. Zero values are the defaults.
type Options struct {
	Clients    int          // -server N: 1 to 32
	Port       int          // -port: 0 lets the system choose
	Bind       netip.Addr   // address to listen at and to print; zero: all addresses, IPv6 and IPv4
	Auth       auth.Methods // auth.FromEnv
	Preference []int32      // -auth: auth.ParsePreference; nil: auth.DefaultPreference
	Log        func(string) // one line for the user, without newline, usually to stderr; nil: nowhere

	JoinTimeout     time.Duration // from a connection's opening to its IMPI command; 0: 30 s
	GatherTimeout   time.Duration // until all clients have joined; 0: 30 min, as they start by hand
	RemindTime      time.Duration // after which the user is told who has not joined; 0: 1 min
	ExchangeTimeout time.Duration // from then until all have sent DONE; 0: 5 min
	RunTimeout      time.Duration // from then until all have sent FINI; 0: for ever
	WriteTimeout    time.Duration // for a client to take 64 KiB; 0: 60 s
	CloseTimeout    time.Duration // at the end, for a client to take the last bytes and close too; 0: 2 s
	Silence         time.Duration // after which a client whose machine does not even acknowledge is lost; 0: never

	Watch bool // keep what View returns
}

// Server is a server that listens.
type Server struct {
	opt      Options
	addr     netip.AddrPort
	listener net.Listener

	mu       sync.Mutex // guards all below, and serialises calls of the machine
	machine  *machine
	links    map[int]*link
	lastID   int
	phase    phase       // the one that timer is for
	timer    *time.Timer // nil: no limit
	reminder *time.Timer // nil: nobody is waited for
	settling *time.Timer // nil: the clients are not connecting to each other

	over    chan struct{} // closed when the job is over
	running sync.WaitGroup
}

// Listen opens the server's socket. It fails when no authentication method is enabled (auth.ErrNoMethod), the
// number of clients is not 1 to 32, or the port is taken.
func Listen(opt Options) (*Server, error) {
	r := rules{Clients: opt.Clients, Auth: opt.Auth, Preference: opt.Preference}
	if opt.Watch {
		r.Clock = time.Now
	}
	m, err := newMachine(r)
	if err != nil {
		return nil, err
	}
	if opt.Port < 0 || opt.Port > 65535 {
		return nil, fmt.Errorf("-port %d: ports are 0 to 65535", opt.Port)
	}
	if opt.Log == nil {
		opt.Log = func(string) {}
	}
	setDefault(&opt.JoinTimeout, 30*time.Second)
	setDefault(&opt.GatherTimeout, 30*time.Minute)
	setDefault(&opt.RemindTime, time.Minute)
	setDefault(&opt.ExchangeTimeout, 5*time.Minute)
	setDefault(&opt.WriteTimeout, time.Minute)
	setDefault(&opt.CloseTimeout, 2*time.Second)
	host := ""
	if opt.Bind.IsValid() {
		host = opt.Bind.String()
	}
	conf := net.ListenConfig{KeepAlive: -1, KeepAliveConfig: alive.Probes(opt.Silence)}
	l, err := conf.Listen(context.Background(), "tcp", net.JoinHostPort(host, fmt.Sprint(opt.Port)))
	if err != nil {
		return nil, fmt.Errorf("the IMPI server cannot listen: %w", err)
	}
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	ip := opt.Bind
	if !ip.IsValid() || ip.IsUnspecified() {
		ip = UsableAddr()
	}
	return &Server{opt: opt, addr: netip.AddrPortFrom(ip, port), listener: l, machine: m, links: map[int]*link{},
		over: make(chan struct{})}, nil
}

// UsableAddr is address.Usable, for launchers.
func UsableAddr() netip.Addr { return address.Usable() }

// Addr is where clients find this server.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Announce writes the one line `address:port` to out. An out that nobody reads any more does not matter.
func (s *Server) Announce(out io.Writer) {
	if _, err := fmt.Fprintln(out, s.Addr()); err != nil {
		s.opt.Log(fmt.Sprintf("warning: the address %v could not be written: %v", s.Addr(), err))
	}
}

// Close closes the socket of a server that is not to serve.
func (s *Server) Close() { s.listener.Close() }

// JobError is a job that has ended badly, as Options.Log has been told.
type JobError struct{ err error }

func (e *JobError) Error() string { return e.err.Error() }
func (e *JobError) Unwrap() error { return e.err }

// Serve serves the job until it is over. The error, a *JobError, says which client broke it and at which step
// (*ClientError), or which clients were waited for when time was up or ctx ended; nil means that every client
// has sent FINI. When Serve returns all its sockets are closed. It can be called once.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	s.startClock()
	s.mu.Unlock()
	s.running.Add(1)
	go s.accept()
	stop := context.AfterFunc(ctx, func() {
		s.do(func(m *machine) []action { return m.Stop(context.Cause(ctx)) })
	})
	<-s.over
	stop()
	s.running.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.machine.Err(); err != nil {
		return &JobError{err}
	}
	return nil
}

// View returns what is known of the job; the zero View without Options.Watch.
func (s *Server) View() View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.View()
}

// Ask asks the clients for their traffic, as far as they can say anything about it. It does not wait for the answers,
// which are in later views.
func (s *Server) Ask() { s.do((*machine).Ask) }

// accept takes connections until the socket is closed.
func (s *Server) accept() {
	defer s.running.Done()
	pause := time.Millisecond
	for {
		c, err := s.listener.Accept()
		if err == nil {
			pause = time.Millisecond
			s.open(c)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		// Most likely there are no descriptors left. Connections that exist go on; accept tries again.
		s.opt.Log(fmt.Sprintf("warning: a connection could not be accepted: %v", err))
		select {
		case <-s.over:
			return
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

func (s *Server) open(c net.Conn) {
	l := &link{tcp: c.(*net.TCPConn), conn: c, wake: make(chan struct{}, 1), readDone: make(chan struct{}),
		writeTime: s.opt.WriteTimeout, closeTime: s.opt.CloseTimeout}
	s.do(func(m *machine) []action {
		s.lastID++
		l.id = s.lastID
		s.links[l.id] = l
		s.running.Add(2)
		go s.read(l)
		go s.write(l)
		l.expiry = time.AfterFunc(s.opt.JoinTimeout, func() {
			s.do(func(m *machine) []action { return m.Expired(l.id) })
		})
		return m.Opened(l.id, c.RemoteAddr().String())
	})
}

// do lets the machine take one event, and carries out what it answers.
func (s *Server) do(event func(*machine) []action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range event(s.machine) {
		switch a.Do {
		case doSend:
			if s.machine.phase == running {
				alive.Insist(s.links[a.Conn].tcp, s.opt.Silence) // before, a client may take its time to read
			}
			s.links[a.Conn].send(a.Data)
		case doSecure:
			s.links[a.Conn].secure = a.Data
		case doReset:
			s.links[a.Conn].tcp.SetLinger(0)
			s.links[a.Conn].tcp.Close()
		case doClose:
			s.links[a.Conn].finish()
		case doHang:
			s.listener.Close()
		case doLog:
			s.opt.Log(a.Text)
		case doTerminate:
			close(s.over)
		}
	}
	if s.machine.phase != s.phase {
		s.startClock()
	}
}

// settleTime is more than the minute in which the hosts of all clients connect to each other, or give up.
const settleTime = 2 * time.Minute

// startClock limits the time of the phase that has begun.
func (s *Server) startClock() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.reminder != nil {
		s.reminder.Stop()
		s.reminder = nil
	}
	if s.settling != nil {
		s.settling.Stop()
		s.settling = nil
	}
	p := s.machine.phase
	s.phase = p
	if p == gathering {
		s.reminder = time.AfterFunc(s.opt.RemindTime, s.remind)
	}
	if p == running {
		s.settling = time.AfterFunc(settleTime, func() { s.do((*machine).Settled) })
	}
	limit := [...]time.Duration{s.opt.GatherTimeout, s.opt.ExchangeTimeout, s.opt.RunTimeout, 0}[p]
	if limit <= 0 {
		return
	}
	s.timer = time.AfterFunc(limit, func() {
		s.do(func(m *machine) []action {
			if m.phase != p {
				return nil
			}
			return m.Stop(fmt.Errorf("gave up after %v", limit))
		})
	})
}

// remind tells the user who has not joined.
func (s *Server) remind() {
	patience := ""
	if s.opt.GatherTimeout < math.MaxInt64 {
		patience = fmt.Sprintf("; the server gives up after %v (-deadline gather)", s.opt.GatherTimeout)
	}
	s.do(func(m *machine) []action { return m.Remind(patience) })
}

// link is a connection's socket and what waits to be written to it.
type link struct {
	id        int
	tcp       *net.TCPConn
	conn      net.Conn // tcp; replaced once, by the reader, before anything is sent: the TLS channel
	secure    []byte   // not nil: to be sent before TLS begins; the reader's, but set under the server's lock
	expiry    *time.Timer
	writeTime time.Duration
	closeTime time.Duration
	wake      chan struct{} // holds a token when the writer has something to look at
	readDone  chan struct{} // closed when the reader has ended

	mu    sync.Mutex // guards what follows
	queue [][]byte
	until time.Time // not zero: nothing more will be queued, and all must be written by then
}

func (l *link) send(b []byte) {
	l.mu.Lock()
	l.queue = append(l.queue, b)
	l.mu.Unlock()
	l.poke()
}

// finish lets the writer close the connection when it has written everything.
func (l *link) finish() {
	l.expiry.Stop()
	l.mu.Lock()
	if l.until.IsZero() {
		l.until = time.Now().Add(l.closeTime)
		l.conn.SetWriteDeadline(l.until)
	}
	l.mu.Unlock()
	l.poke()
}

func (l *link) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// socket is what is written to now.
func (l *link) socket() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// next returns what is to be written next, up to 64 KiB, and sets its deadline. It returns nothing and false if nothing
// waits now, and true if nothing will come any more.
func (l *link) next() (b []byte, finished bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil, !l.until.IsZero()
	}
	const piece = 64 << 10
	b = l.queue[0]
	if len(b) > piece {
		b, l.queue[0] = b[:piece], b[piece:]
	} else {
		l.queue = l.queue[1:]
	}
	if l.until.IsZero() {
		l.conn.SetWriteDeadline(time.Now().Add(l.writeTime))
	}
	return b, false
}

// read passes bytes to the machine until the connection ends. It goes on reading after the machine has lost
// interest: closing a socket with unread bytes in it would destroy what is still on its way to the client.
func (s *Server) read(l *link) {
	defer s.running.Done()
	defer close(l.readDone)
	buf := make([]byte, 64<<10)
	for {
		n, err := l.conn.Read(buf)
		if n > 0 {
			s.do(func(m *machine) []action { return m.Received(l.id, buf[:n]) })
		}
		if err == nil && l.secure != nil {
			err = s.secure(l)
		}
		if err != nil {
			s.lost(l, err)
			return
		}
	}
}

// secure makes a TLS channel of a connection, within the time that it has to join.
func (s *Server) secure(l *link) error {
	first := l.secure
	l.secure = nil
	conf, err := secure.ServerTLS(s.opt.Auth.Certs)
	if err != nil {
		return err
	}
	if _, err := l.conn.Write(first); err != nil {
		return err
	}
	channel := tls.Server(l.conn, conf)
	if err := channel.Handshake(); err != nil {
		return fmt.Errorf("no TLS: %w", err)
	}
	keys, err := secure.ChannelKeys(channel)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.conn = channel
	l.mu.Unlock()
	s.do(func(m *machine) []action { return m.Secured(l.id, keys, s.opt.Auth.Certs != nil) })
	return nil
}

// write writes what is queued, then says goodbye: it closes its own direction, and the whole when the client
// has closed too or its time is up.
func (s *Server) write(l *link) {
	defer s.running.Done()
	defer l.conn.Close()
	for {
		b, finished := l.next()
		switch {
		case finished:
			conn := l.socket()
			if c, ok := conn.(halfCloser); ok {
				c.CloseWrite()
			}
			conn.SetReadDeadline(time.Now().Add(l.closeTime))
			<-l.readDone
			return
		case b == nil:
			<-l.wake
		default:
			if _, err := l.socket().Write(b); err != nil {
				s.lost(l, err)
				return
			}
		}
	}
}

// halfCloser is a connection whose outward direction can end alone: TCP, and TLS.
type halfCloser interface{ CloseWrite() error }

// lost tells the machine that a connection has ended. The second time it does not matter.
func (s *Server) lost(l *link, err error) {
	if err == io.EOF {
		err = nil
	}
	s.do(func(m *machine) []action { return m.Closed(l.id, err) })
	l.finish()
	s.mu.Lock()
	delete(s.links, l.id)
	s.mu.Unlock()
}
