package tcp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/sockets/strangers"
	"github.com/libimpi/libimpi/transport/wire"
	"golang.org/x/sys/unix"
)

// Who is let into the mesh.
//
// Flow: accept -> meet notes a stranger -> greet hears which host it is -> meetAs has it prove that (greeting.go), as
// it has one whom we have dialed -> admit. Whoever is turned away on the way is reported. Who hangs up may be a rank
// that is ended with its job, as this one is about to be, and the launcher says why: it is reported if this rank lives
// on.

const (
	greetTime     = 5 * time.Second // for a stranger to say who it is
	partingTime   = time.Second     // from a hang-up to its report
	maxStrangers  = 128             // that have not proved who they are; one more, and one goes (strangers.Evict)
	acceptBackoff = 10 * time.Millisecond
)

// accept lets in whoever knocks, until the listener is closed.
func (m *mesh) accept(ctx context.Context, l *net.TCPListener, all *sync.WaitGroup) {
	for {
		c, err := l.AcceptTCP()
		switch {
		case err == nil:
			if s := m.meet(c); s != nil {
				all.Go(func() { m.greet(ctx, s) })
			}
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, perhaps: strangers will leave
			select {
			case <-time.After(acceptBackoff):
			case <-ctx.Done():
				return
			}
		}
	}
}

// stranger is one who has connected and not proved who it is.
type stranger struct {
	*net.TCPConn
	said int // 1: the rank of a host that is expected
}

// meet notes a stranger, at the expense of another if there are too many. nil: nobody is let in any more.
func (m *mesh) meet(c *net.TCPConn) *stranger {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		c.Close()
		return nil
	}
	if len(m.strangers) == maxStrangers {
		list := make([]strangers.Stranger, len(m.strangers))
		for i, s := range m.strangers {
			list[i] = strangers.Stranger{Host: s.RemoteAddr().(*net.TCPAddr).IP.String(), Said: s.said}
		}
		i := strangers.Evict(list)
		m.strangers[i].Close()
		m.strangers = slices.Delete(m.strangers, i, i+1)
	}
	s := &stranger{TCPConn: c}
	m.strangers = append(m.strangers, s)
	return s
}

// greet lets a stranger in, or turns it away.
func (m *mesh) greet(ctx context.Context, s *stranger) {
	err := m.hear(ctx, s)
	ended := m.ended(ctx)
	s.Close()
	m.known(s)
	if hungUp(err) && !ended {
		select {
		case <-time.After(partingTime):
		case <-ctx.Done():
		}
		ended = m.ended(ctx)
	}
	if err != nil && !ended {
		m.report(s.RemoteAddr(), err)
	}
}

// ended reports whether this rank lets nobody in any more: all are there, or it is about to end.
func (m *mesh) ended(ctx context.Context) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over || ctx.Err() != nil
}

// hungUp reports whether an error is that the other side has ended the connection.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, unix.ECONNRESET) ||
		errors.Is(err, unix.EPIPE)
}

// hear hears who a stranger is, and lets it in if that is so.
func (m *mesh) hear(ctx context.Context, s *stranger) error {
	c := s.TCPConn
	var b [wire.HandshakeSize]byte
	c.SetReadDeadline(time.Now().Add(m.opts.greetTime))
	if n, err := io.ReadFull(c, b[:]); err != nil {
		return fmt.Errorf("%d bytes instead of a host rank: %w", n, err)
	}
	host, ok := wire.Handshake(b[:])
	if ok && int(host) < len(m.job.Hosts) && host != m.me && m.way(host) == noWay {
		return fmt.Errorf("host %d is of our own client", host)
	}
	if !ok || int(host) >= len(m.job.Hosts) || m.way(host) != theyDial {
		return fmt.Errorf("no host %d is to connect to host %d", uint32(host), m.me)
	}
	m.mu.Lock()
	s.said = 1
	m.mu.Unlock()
	k := 0
	if m.streams(host) > 1 {
		var err error
		if k, err = m.hearStream(c, host); err != nil {
			return err
		}
	}
	return m.meetAs(ctx, host, k, c, false)
}

// report tells the user why a stranger was not let in, as long as there are not too many.
func (m *mesh) report(from net.Addr, why error) {
	m.mu.Lock()
	line := m.lines.Fold(fmt.Sprintf("connection from %v turned away: %v", from, why))
	m.mu.Unlock()
	if line != "" {
		m.warn("%s", line)
	}
}

// known takes one out of the strangers: it has been let in, or turned away.
func (m *mesh) known(s *stranger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(m.strangers, s); i >= 0 {
		m.strangers = slices.Delete(m.strangers, i, i+1)
	}
}

// meetAs makes c connection k to a host, if it can prove to be it. c remains the caller's to close.
func (m *mesh) meetAs(ctx context.Context, host int32, k int, c *net.TCPConn, dialed bool) error {
	if err := m.tune(c, m.streams(host)); err != nil {
		return err
	}
	proven, err := m.prove(ctx, c, host, k, dialed)
	if err != nil {
		return err
	}
	fd := -1
	if channel, ok := proven.(*tls.Conn); ok {
		fd, err = secure.Tunnel(channel)
	} else {
		fd, err = descriptor(c)
	}
	if err != nil {
		return err
	}
	return m.admit(host, k, fd)
}

// admit takes the descriptor of connection k to a host.
func (m *mesh) admit(host int32, k, fd int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over || m.sockets[host][k] >= 0 {
		unix.Close(fd)
		return fmt.Errorf("host %d is connected already, or too late", host)
	}
	if err := m.monitor.add(host, fd); err != nil {
		unix.Close(fd)
		return err
	}
	m.sockets[host][k] = fd
	m.missing--
	if m.missing == 0 {
		close(m.complete)
	}
	return nil
}

// tune sets the options of one connection of several.
func (m *mesh) tune(c *net.TCPConn, several int) error {
	if err := c.SetNoDelay(true); err != nil {
		return err
	}
	if n := m.opts.SendBuffer; n > 0 {
		if err := c.SetWriteBuffer(n); err != nil {
			return err
		}
	}
	if n := m.opts.ReceiveBuffer; n > 0 {
		if err := c.SetReadBuffer(n); err != nil {
			return err
		}
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Control(func(fd uintptr) {
		if m.opts.SendBuffer == 0 {
			widen(int(fd))
		}
		if several > 1 {
			share(int(fd))
		}
		if inside(c.LocalAddr(), c.RemoteAddr()) {
			unpace(int(fd))
		}
	})
	return cmp.Or(err, m.keepAlive(c))
}

// keepAlive has probes sent over a connection.
func (m *mesh) keepAlive(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var kept error
	err = raw.Control(func(fd uintptr) { kept = alive.Keep(int(fd), m.opts.Silence) })
	return cmp.Or(err, kept)
}

// descriptor takes the socket out of the Go runtime's hands: from now on it is polled by whoever calls Poll.
func descriptor(c *net.TCPConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	dup, errno := -1, error(nil)
	err = raw.Control(func(fd uintptr) { dup, errno = unix.FcntlInt(fd, syscall.F_DUPFD_CLOEXEC, 0) })
	return dup, cmp.Or(err, errno)
}
