package client

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/libimpi/libimpi/transport/wire"
)

// Session is a client's connection to the server while the job runs. Nothing travels on it until FINI.
type Session struct {
	conn net.Conn
	addr string

	mu       sync.Mutex // guards what follows
	watching chan struct{}
	ended    bool // we have ended it, so that the server's going is no news
}

// lingerTime is how long FINI waits for the server to hang up too, so that nothing destroys it on its way.
const lingerTime = 200 * time.Millisecond

// ErrServerLost is what Watch reports: the server has gone before we were finished. The job can go on without
// it (IMPI 0.0, 2.4): it is worth a warning.
var ErrServerLost = errors.New("the IMPI server has closed the connection before FINI")

// Watch starts a goroutine that calls lost once if the server's connection ends before Fini or Close. It can be
// called once.
func (s *Session) Watch(lost func(error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watching != nil || s.ended {
		return
	}
	s.watching = make(chan struct{})
	go s.watch(lost, s.watching)
}

// watch throws away what comes, which can only be commands unknown to us, until the connection ends.
func (s *Session) watch(lost func(error), done chan struct{}) {
	_, err := io.Copy(io.Discard, s.conn)
	close(done)
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended {
		return
	}
	if err != nil {
		lost(fmt.Errorf("%s: %w (%w)", s.addr, ErrServerLost, err))
		return
	}
	lost(fmt.Errorf("%s: %w", s.addr, ErrServerLost))
}

// Fini tells the server that all processes of this client have finished, and closes the connection. An error
// means that the server did not hear it: worth a warning. The second call does nothing, as does one after Close.
func (s *Session) Fini() error {
	watching, first := s.end()
	if !first {
		return nil
	}
	defer s.conn.Close()
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

// Close closes the connection without FINI, which the server and everybody else take for an abnormal end.
func (s *Session) Close() error {
	if _, first := s.end(); !first {
		return nil
	}
	return s.conn.Close()
}

func (s *Session) end() (watching chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !s.ended
	s.ended = true
	return s.watching, first
}
