package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/events"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/target"
	"github.com/libimpi/libimpi/transport/wire"
)

// Server is a server under test, to which the tester plays all clients.
type Server struct {
	T    *conform.T
	Main *target.Process
	Addr string

	mu    sync.Mutex // guards what follows
	conns []*events.Conn
}

// StartServer starts the server for n clients and reads its address. env nil: authentication by key.
func StartServer(t *conform.T, n int, env []string, more ...string) *Server {
	if env == nil {
		env = target.KeyEnv()
	}
	s := launchServer(t, fmt.Sprint(n), env, more...)
	if s.Main.ByHand() {
		var err error
		if s.Addr, err = s.Main.Answer(t.Context()); err != nil {
			t.Disturbed(err)
			t.Fatalf("the server's address is not known: %v", err)
		}
		t.StartClock()
	} else {
		err := s.Main.Until(t.Context(), func(out, _ string) bool { return strings.Contains(out, "\n") })
		if err != nil {
			t.Fatalf("the server says no address: %v", err)
		}
		s.Addr, _, _ = strings.Cut(s.Main.Stdout(), "\n")
	}
	if _, _, err := net.SplitHostPort(s.Addr); err != nil {
		t.Fatalf("the server's first line is %q, must be address:port", s.Addr)
	}
	return s
}

// LaunchServer starts the server and waits for nothing.
func LaunchServer(t *conform.T, clients string, env []string, more ...string) *Server {
	if Target(t).ByHand() {
		t.Skip("the server is started by hand: its output and its exit code are not seen")
	}
	return launchServer(t, clients, env, more...)
}

func launchServer(t *conform.T, clients string, env []string, more ...string) *Server {
	p, err := Target(t).Server(clients, env, more...)
	if err != nil {
		t.Fatalf("the server cannot be started: %v", err)
	}
	started(t, p, "server", t.Cleanup, func() {})
	return &Server{T: t, Main: p}
}

// Exit waits for the server's end. ok: it must be exit code 0; else another, with a report. One that was started by
// hand is not seen to end.
func (s *Server) Exit(ok bool) {
	if s.Main.ByHand() {
		return
	}
	code, err := s.Main.Wait(s.T.Context())
	switch {
	case err != nil:
		s.T.Fatalf("the server has not ended in time")
	case ok && code != 0:
		s.T.Errorf("the server ended with exit code %d, must be 0", code)
	case !ok && code == 0:
		s.T.Errorf("the server ended with exit code 0, as if nothing had happened")
	case !ok && strings.TrimSpace(s.Main.Stderr()) == "":
		s.T.Errorf("the server ended with exit code %d and said nothing on stderr", code)
	}
	for _, crash := range []string{"panic:", "fatal error:", "SIGSEGV", "core dumped"} {
		s.T.Check(!strings.Contains(s.Main.Stderr(), crash), "the server crashed (%q)", crash)
	}
	if s.Addr != "" {
		s.T.Check(s.Main.Stdout() == s.Addr+"\n", "the server has written %q, must be one line", s.Main.Stdout())
	}
}

// Member is a connection to the server.
type Member struct {
	*events.Conn
	s    *Server
	Rank int
}

// Dial connects to the server.
func (s *Server) Dial() *Member {
	m, err := s.Connect()
	if err != nil {
		s.T.Fatalf("the server does not listen: %v", err)
	}
	return m
}

// Connect is Dial to a server that need not listen any more.
func (s *Server) Connect() (*Member, error) {
	tcp, err := (&net.Dialer{}).DialContext(s.T.Context(), "tcp", s.Addr)
	if err != nil {
		return nil, err
	}
	c := s.T.Events().ToServer(tcp.(*net.TCPConn))
	s.T.Cleanup(func() { c.Close() })
	c.SetDeadline(s.T.Deadline())
	s.mu.Lock()
	s.conns = append(s.conns, c)
	s.mu.Unlock()
	return &Member{c, s, -1}, nil
}

// leave closes all connections to the server.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
}

// watch records what a program does.
func watch(t *conform.T, p *target.Process, name string) {
	r := t.Events()
	party := r.Party(name, true)
	r.Started(party, p.Words())
	p.Watch(target.Watcher{
		Line:  func(stream, line string, length int) { r.Line(party, stream, line, length) },
		Ended: func(code int) { r.Ended(party, code) },
	})
}

// Say sends bytes. That the server may have hung up shows when it is read from.
func (m *Member) Say(b ...[]byte) { m.Write(bytes.Join(b, nil)) }

// Hello is everything up to IMPI, from a client with the right key.
func Hello(rank int) []byte {
	return bytes.Join([][]byte{codec.Auth(wire.AuthKeyMask), codec.U64(target.Key), codec.Impi(int32(rank))}, nil)
}

// DialForKey connects, and offers to prove by the key; the server waits for that.
func (s *Server) DialForKey() *Member {
	m := s.Dial()
	m.Say(codec.Auth(wire.AuthKeyMask))
	m.Reads(codec.I32(wire.AuthKey, 0))
	return m
}

// Join connects and authenticates as client rank; it does not wait for the others.
func (s *Server) Join(rank int) *Member {
	m := s.DialForKey()
	m.Rank = rank
	m.Say(codec.U64(target.Key), codec.Impi(int32(rank)))
	return m
}

// JoinAll joins n clients, of which each reads how many there are.
func (s *Server) JoinAll(n int) []*Member {
	list := make([]*Member, n)
	for i := range list {
		list[i] = s.Join(i)
	}
	for _, m := range list {
		m.Reads(codec.Impi(int32(n)))
	}
	return list
}

// Reads reads exactly these bytes.
func (m *Member) Reads(want []byte) {
	got := make([]byte, len(want))
	n, err := io.ReadFull(m, got)
	if !bytes.Equal(got[:n], want) {
		for i := range n {
			if got[i] != want[i] {
				m.s.T.Fatalf("client %d reads % x..., must be % x...: byte %d differs", m.Rank, got[:min(n, 64)],
					want[:min(len(want), 64)], i)
			}
		}
		m.s.T.Fatalf("client %d reads % x (%d bytes, then %v), must be % x (%d bytes)", m.Rank, got[:min(n, 64)], n, err,
			want[:min(len(want), 64)], len(want))
	}
}

// Closed wants the server to hang up without a byte.
func (m *Member) Closed(why string) {
	b := make([]byte, 64)
	n, err := m.Read(b)
	var timeout net.Error
	switch {
	case n > 0:
		m.s.T.Fatalf("%s: the server answers % x, must hang up", why, b[:n])
	case errors.As(err, &timeout) && timeout.Timeout():
		m.s.T.Fatalf("%s: the server does not hang up", why)
	}
	m.Close()
}

// Silent notes an error if the server has said something.
func (m *Member) Silent(why string) {
	m.SetReadDeadline(time.Now().Add(time.Millisecond))
	b := make([]byte, 64)
	if n, err := m.Read(b); n > 0 || err == io.EOF {
		m.s.T.Fatalf("%s: client %d reads % x (%v), must be nothing", why, m.Rank, b[:n], err)
	}
	m.SetReadDeadline(m.s.T.Deadline())
}

// Reset ends the connection with a TCP reset.
func (m *Member) Reset() {
	m.SetLinger(0)
	m.Close()
}

// Finish lets all clients say DONE and FINI, and the server end well.
func (s *Server) Finish(list []*Member) {
	s.Done(list)
	s.endAll(list)
}

// Done lets all clients say DONE, and waits for the answers.
func (s *Server) Done(list []*Member) {
	for _, m := range list {
		m.Say(codec.Command(wire.CmdDone))
	}
	for _, m := range list {
		m.Reads(codec.Command(wire.CmdDone))
	}
}

// Fini is Finish of clients that have said DONE.
func (s *Server) Fini(list []*Member) {
	for _, m := range list {
		m.Reads(codec.Command(wire.CmdDone))
	}
	s.endAll(list)
}

// endAll is the rest of Finish after DONE has been answered.
func (s *Server) endAll(list []*Member) {
	for _, m := range list {
		m.Say(codec.Command(wire.CmdFini))
	}
	for _, m := range list {
		m.Closed("after FINI")
	}
	s.Exit(true)
}

// JoinWith is JoinAll of one client, by whatever method is enabled.
func (s *Server) JoinWith(env []string) []*Member {
	m := s.Dial()
	m.Rank = 0
	mask := uint32(0)
	for _, e := range env {
		if strings.HasPrefix(e, "IMPI_AUTH_KEY=") {
			mask |= wire.AuthKeyMask
		} else {
			mask |= wire.AuthNoneMask
		}
	}
	m.Say(codec.Auth(mask))
	choice := make([]byte, 8)
	if _, err := io.ReadFull(m, choice); err != nil {
		s.T.Fatalf("the server answers no choice to mask %#x: %v", mask, err)
	}
	if int32(codec.GetU32(choice)) == wire.AuthKey {
		m.Say(codec.U64(target.Key))
	}
	m.Say(codec.Impi(0))
	m.Reads(codec.Impi(1))
	return []*Member{m}
}

// Either is for two connections of which the server must close one: it answers the other.
func Either(a, b *Member) *Member {
	left := make(chan *Member, 2)
	watch := func(x, other *Member) {
		n, err := peek(x.TCPConn)
		if n == 0 && err != nil {
			left <- other
		}
	}
	go watch(a, b)
	go watch(b, a)
	select {
	case keep := <-left:
		return keep
	case <-a.s.T.Context().Done():
		a.s.T.Fatalf("the server keeps both")
	}
	return nil
}

// peek waits for a byte, which stays to be read.
func peek(c *net.TCPConn) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	b := make([]byte, 1)
	ended := raw.Read(func(fd uintptr) bool {
		n, _, err = syscall.Recvfrom(int(fd), b, syscall.MSG_PEEK)
		return err != syscall.EAGAIN
	})
	n = max(n, 0) // -1 with an error
	switch {
	case ended != nil: // by a deadline, or by us
		err = ended
	case err == nil && n == 0:
		err = io.EOF
	}
	return n, err
}
