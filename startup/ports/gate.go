package ports

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/strangers"
)

const (
	greetTime     = 5 * time.Second // for a stranger to prove who it is
	maxStrangers  = 128             // that have not; one more, and one goes (strangers.Evict)
	acceptBackoff = 10 * time.Millisecond
)

// gate is a listener that is open to the world: it greets whoever comes, each on a goroutine, within a few seconds.
type gate struct {
	listener net.Listener
	whose    func(net.Conn) string // what strangers are counted by: a crowd from one place keeps out only itself
	greet    func(*stranger) error // finds out who it is; the connection ends with it, unless keep has answered true
	warn     func(format string, args ...any)
	most     int           // strangers
	patience time.Duration // with each

	mu    sync.Mutex // guards all below
	list  []*stranger
	lines strangers.Lines
	over  bool
	stop  chan struct{} // closed when it is over
	all   sync.WaitGroup
}

// stranger is a connection that has not proved who is there.
type stranger struct {
	net.Conn
	gate *gate
	from string
	said int  // 1: a hello
	kept bool // it is somebody else's now
}

// open begins to let strangers in.
func (g *gate) open() {
	g.stop = make(chan struct{})
	g.all.Go(g.accept)
}

func (g *gate) accept() {
	for {
		c, err := g.listener.Accept()
		if err == nil {
			if s := g.meet(c); s != nil {
				g.all.Go(func() { g.hear(s) })
			}
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select { // out of descriptors, perhaps: strangers will leave
		case <-time.After(acceptBackoff):
		case <-g.stop:
			return
		}
	}
}

// meet notes a stranger, at the expense of another if there are too many. nil: nobody is let in any more.
func (g *gate) meet(c net.Conn) *stranger {
	s := &stranger{Conn: c, gate: g, from: g.whose(c)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		c.Close()
		return nil
	}
	if len(g.list) >= g.most {
		list := make([]strangers.Stranger, len(g.list))
		for i, s := range g.list {
			list[i] = strangers.Stranger{Host: s.from, Said: s.said}
		}
		i := strangers.Evict(list)
		g.list[i].Close()
		g.list = slices.Delete(g.list, i, i+1)
	}
	g.list = append(g.list, s)
	return s
}

// hear finds out who a stranger is.
func (g *gate) hear(s *stranger) {
	s.SetDeadline(time.Now().Add(g.patience))
	err := g.greet(s)
	if !s.kept {
		s.known()
		s.Close()
	}
	g.mu.Lock()
	line := ""
	if err != nil && !g.over && !isEnd(err) { // who just goes may have died: others are told of that
		line = g.lines.Fold(fmt.Sprintf("connection from %s turned away: %v", s.from, err))
	}
	g.mu.Unlock()
	if line != "" {
		g.warn("%s", line)
	}
}

// spoke notes that a stranger has said a hello.
func (s *stranger) spoke() {
	s.gate.mu.Lock()
	defer s.gate.mu.Unlock()
	s.said = 1
}

// known takes one out of the strangers. It reports whether it was still there: nobody has closed it.
func (s *stranger) known() bool {
	g := s.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.list, s)
	if i >= 0 {
		g.list = slices.Delete(g.list, i, i+1)
	}
	return i >= 0
}

// keep makes the connection of one who has proved who it is the caller's, with its deadline. It returns false if it is
// too late for that: others have pushed it out, or nobody is let in any more.
func (s *stranger) keep() bool {
	s.kept = s.known()
	return s.kept
}

// close ends all, and waits until nobody is being greeted.
func (g *gate) close() {
	g.mu.Lock()
	if !g.over {
		g.over = true
		close(g.stop)
		g.listener.Close()
		for _, s := range g.list {
			s.Close()
		}
		g.list = nil
	}
	g.mu.Unlock()
	g.all.Wait()
}

// byAddress counts TCP connections by the address that they come from.
func byAddress(c net.Conn) string {
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return a.IP.String()
	}
	return c.RemoteAddr().String()
}
