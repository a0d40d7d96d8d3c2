package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// Session is a client's connection to the server while the job runs. Nothing travels on it until FINI, unless somebody
// watches the job: then the server asks for the client's traffic (traffic.go).
type Session struct {
	conn net.Conn
	addr string
	rank int32
	own  bool // commands of our own may be sent

	mu       sync.Mutex // guards what follows
	watching chan struct{}
	ended    bool // we have ended it, so that the server's going is no news
	traffic  func() []wire.Traffic
	asked    bool                     // the server has asked, and the answer has not left yet
	source   func(what []byte) []byte // of answers to other clients (asking.go)

	writing sync.Mutex // held for one whole command
	inquiry inquiry
}

// lingerTime is how long Fini waits for the server to close the connection too. Closing it first, with unread data in
// the socket, would reset it and could destroy FINI on its way.
const lingerTime = 200 * time.Millisecond

// ErrServerLost is what Watch reports: the server has gone before we were finished. The job can go on without
// it (IMPI 0.0, 2.4): it is worth a warning.
var ErrServerLost = errors.New("the IMPI server has closed the connection before FINI")

// LostError says that another client has ended before its FINI.
type LostError struct {
	Client int32
	Text   string // what it, or the server, says of it
}

func (e *LostError) Error() string { return fmt.Sprintf("client %d is lost: %s", e.Client, e.Text) }

// Watch starts a goroutine that calls lost for every other client of which the server says that it has ended before its
// FINI (a *LostError), or goes on without some ranks (a *RanksError), and once if the server's connection ends before
// Fini or Close. It can be called once.
func (s *Session) Watch(lost func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching != nil || s.ended {
		return
	}
	s.watching = make(chan struct{})
	go s.watch(lost, s.watching)
}

// watch hears what comes, and throws away commands unknown to us, until the connection ends.
func (s *Session) watch(lost func(error), done chan struct{}) {
	err := s.hear(lost)
	close(done)
	if s.over() {
		return
	}
	if err != nil {
		lost(fmt.Errorf("%s: %w (%w)", s.addr, ErrServerLost, err))
		return
	}
	lost(fmt.Errorf("%s: %w", s.addr, ErrServerLost))
}

// hear returns nil for a connection that was closed in order.
func (s *Session) hear(lost func(error)) error {
	for {
		var head [wire.CmdSize]byte
		if _, err := io.ReadFull(s.conn, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		cmd, _ := wire.ParseCmd(head[:])
		if cmd.Len < 0 {
			return fmt.Errorf("it sent %v with %d bytes", cmd.Cmd, cmd.Len)
		}
		var b bytes.Buffer
		into := io.Discard
		if cmd.Cmd == wire.CmdLost && cmd.Len <= wire.LostHead+wire.LostMax ||
			cmd.Cmd == wire.CmdGone && s.own && cmd.Len <= wire.GoneMax ||
			cmd.Cmd == wire.CmdWatch && cmd.Len == wire.WatchSize ||
			cmd.Cmd == wire.CmdAsk && s.own && cmd.Len <= wire.AskHead+wire.AskMax ||
			cmd.Cmd == wire.CmdTold && s.own && cmd.Len <= wire.AskHead+wire.ToldMax {
			into = &b
		}
		if _, err := io.CopyN(into, s.conn, int64(cmd.Len)); err != nil {
			return err
		}
		s.heard(cmd.Cmd, b.Bytes(), lost)
	}
}

// heard takes the payload of a command.
func (s *Session) heard(c wire.Command, b []byte, lost func(error)) {
	switch c {
	case wire.CmdWatch:
		if number, ok := wire.ParseWatch(b); ok {
			s.report(number)
		}
	case wire.CmdAsk:
		if from, number, what, ok := wire.ParseAsking(b); ok {
			s.reply(from, number, what)
		}
	case wire.CmdTold:
		if from, number, answer, ok := wire.ParseAsking(b); ok {
			s.inquiry.took(s.rank, from, number, answer)
		}
	case wire.CmdGone:
		if rank, ranks, text, ok := wire.ParseGone(b); ok && !s.over() {
			lost(&RanksError{rank, ranks, text})
		}
	default:
		if rank, text, ok := wire.ParseLost(b); ok && !s.over() {
			lost(&LostError{rank, text})
		}
	}
}

// over reports whether we have ended the session.
func (s *Session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Fini tells the server that all processes of this client have finished, and closes the connection. An error
// means that the server did not hear it: worth a warning. The second call does nothing, as does one after Close.
func (s *Session) Fini() error {
	watching, first := s.end()
	if !first {
		return nil
	}
	defer s.conn.Close()
	s.writing.Lock() // an answer that is on its way must not be cut
	defer s.writing.Unlock()
	s.conn.SetDeadline(time.Now().Add(lingerTime))
	if _, err := s.conn.Write(wire.Cmd{Cmd: wire.CmdFini}.Append(nil)); err != nil {
		return fmt.Errorf("%s: FINI: %w", s.addr, err)
	}
	if c, ok := s.conn.(interface{ CloseWrite() error }); ok {
		c.CloseWrite()
	}
	if watching != nil {
		<-watching
	} else {
		io.Copy(io.Discard, s.conn)
	}
	return nil
}

// Fail closes the connection without FINI, which the server and everybody else take for an abnormal end. First it tells
// the other clients why, if that is not empty, and which client had been lost before, if that was the reason (blamed).
func (s *Session) Fail(why string, blamed *int32) error {
	if _, first := s.end(); !first {
		return nil
	}
	if why != "" && s.own {
		s.writing.Lock()
		defer s.writing.Unlock()
		s.conn.SetDeadline(time.Now().Add(lingerTime))
		if blamed == nil {
			blamed = &s.rank
		}
		s.conn.Write(wire.AppendLost(nil, *blamed, why))
	}
	return s.conn.Close()
}

func (s *Session) end() (watching chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.ended
	s.ended = true
	s.inquiry.stop()
	return s.watching, first
}
