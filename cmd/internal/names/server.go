package names

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/strangers"
)

// Config is what a server needs.
type Config struct {
	Secret string        // which clients have to prove that they know; "": none
	Idle   time.Duration // Serve ends when there has been neither a name nor a connection for so long; 0: never
}

// Limits of a server. Names that are too many are refused; so are connections, and of those that have not proved who
// they are, the ones from the busiest address go first.
const (
	maxNames       = 16 << 10
	maxOfOne       = 4 << 10
	maxConnections = 1 << 10
	maxStrangers   = 64
	proofTime      = 10 * time.Second
	replyTime      = 10 * time.Second
)

// server guards all of its fields with mu.
type server struct {
	config Config

	mu        sync.Mutex
	names     map[string]entry
	clients   map[net.Conn]*guest
	strangers []net.Conn // oldest first; they have not proved who they are
	quiet     *time.Timer
}

type entry struct {
	port  string
	owner net.Conn
}

type guest struct {
	names int // published
}

// Serve returns clients that connect to l, until ctx is done, the listener fails, or nobody has needed it for
// Config.Idle. It closes l. It returns nil unless the listener has failed.
func Serve(ctx context.Context, l net.Listener, config Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{config: config, names: map[string]entry{}, clients: map[net.Conn]*guest{}}
	if config.Idle > 0 {
		s.quiet = time.AfterFunc(config.Idle, cancel)
		defer s.quiet.Stop()
	}
	defer context.AfterFunc(ctx, func() { l.Close() })()
	defer l.Close()
	var served sync.WaitGroup
	defer served.Wait()
	defer s.hangUp()
	for {
		c, err := l.Accept()
		if ctx.Err() != nil {
			if err == nil {
				c.Close()
			}
			return nil
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			continue
		}
		if err != nil {
			if !temporary(err) {
				return err
			}
			select { // no descriptor is left: clients may go
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		if s.admit(c) {
			served.Go(func() { s.serve(c) })
		}
	}
}

// admit takes a connection in, and closes another if there are too many strangers.
func (s *server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= maxConnections {
		c.Close()
		return false
	}
	s.clients[c] = &guest{}
	s.strangers = append(s.strangers, c)
	if s.quiet != nil {
		s.quiet.Stop()
	}
	if len(s.strangers) > maxStrangers {
		list := make([]strangers.Stranger, len(s.strangers))
		for i, c := range s.strangers {
			list[i].Host, _, _ = net.SplitHostPort(c.RemoteAddr().String())
		}
		s.strangers[strangers.Evict(list)].Close() // whoever serves it forgets it
	}
	return true
}

func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		c.Close()
	}
}

// know notes that a connection has proved who it is.
func (s *server) know(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveStrangers(c)
}

func (s *server) leaveStrangers(c net.Conn) {
	s.strangers = slices.DeleteFunc(s.strangers, func(x net.Conn) bool { return x == c })
}

// forget ends a connection, and with it the names that it has published.
func (s *server) forget(c net.Conn) {
	c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, e := range s.names {
		if e.owner == c {
			delete(s.names, name)
		}
	}
	delete(s.clients, c)
	s.leaveStrangers(c)
	if s.quiet != nil && len(s.clients) == 0 {
		s.quiet.Reset(s.config.Idle)
	}
}

// serve hears one client to its end.
func (s *server) serve(c net.Conn) {
	defer s.forget(c)
	if !s.greet(c) {
		return
	}
	s.know(c)
	for {
		var r request
		if receive(c, &r, time.Time{}) != nil {
			return
		}
		answer, ok := s.answer(c, r)
		if !ok || send(c, answer, time.Now().Add(replyTime)) != nil {
			return
		}
	}
}

// greet reports whether a client may be served.
func (s *server) greet(c net.Conn) bool {
	deadline := time.Now().Add(proofTime)
	g := greeting{Version: version}
	if s.config.Secret == "" {
		return send(c, g, deadline) == nil
	}
	g.Nonce = make([]byte, nonceSize)
	rand.Read(g.Nonce)
	var p proof
	if send(c, g, deadline) != nil || receive(c, &p, deadline) != nil || len(p.Nonce) != nonceSize ||
		!hmac.Equal(p.MAC, proofOf(s.config.Secret, "client", g.Nonce, p.Nonce)) {
		return false
	}
	return send(c, proof{MAC: proofOf(s.config.Secret, "server", g.Nonce, p.Nonce)}, deadline) == nil
}

// answer carries a request out. It returns false if that was none.
func (s *server) answer(c net.Conn, r request) (reply, bool) {
	if len(r.Service) > MaxText || len(r.Port) > MaxText {
		return reply{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.clients[c]
	e, there := s.names[r.Service]
	switch r.What {
	case publish:
		switch {
		case there:
			return reply{Why: "exists"}, true
		case len(s.names) >= maxNames || g.names >= maxOfOne:
			return reply{Why: "full"}, true
		}
		s.names[r.Service] = entry{r.Port, c}
		g.names++
	case unpublish:
		if !there || e.owner != c {
			return reply{Why: "no-name"}, true
		}
		delete(s.names, r.Service)
		g.names--
	case lookup:
		if !there {
			return reply{Why: "no-name"}, true
		}
		return reply{Port: e.port}, true
	default:
		return reply{}, false
	}
	return reply{}, true
}
