package ports

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

// A port (MPI 5.0, 11.10.1). Whoever dials proves at once that it knows the port's name (proof.go), whether anybody
// accepts or not, and then waits:
//
//	dials: hello, proof, perhaps TLS -> waiting, oldest first -> Accept -> frameAccept -> frameHere -> both have a line
//	                                                             Close  -> frameClosed
//
// One that goes while it waits is noticed by the goroutine that reads from it, and forgotten.

const (
	portPurpose = "port"
	maxWaiting  = 512 // that have proved who they are and wait for Accept
)

// ErrClosed is what Accept answers when the port is closed.
var ErrClosed = errors.New("the port has been closed")

// Port is where processes of other jobs connect.
type Port struct {
	name Name
	conf Config
	gate gate

	mu      sync.Mutex // guards what follows
	waiting []*waiter  // oldest first
	closed  bool
	changed chan struct{} // has an element if somebody waits and Accept may not have seen it
	over    chan struct{} // closed by Close
}

// waiter is one who has proved to know the port's name.
type waiter struct {
	line   *line
	chosen bool       // by Accept. Guarded by Port.mu
	done   chan error // gets nil when it has answered
}

// Listen opens a port under a name that nobody can guess. The error is that of the system, with the address.
func Listen(c Config) (*Port, error) {
	l, err := listen(&c)
	if err != nil {
		return nil, err
	}
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	p := &Port{conf: c, name: Name{netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()), newKey()},
		changed: make(chan struct{}, 1), over: make(chan struct{})}
	p.gate = gate{listener: l, whose: byAddress, greet: p.greet, warn: p.conf.warn, most: maxStrangers,
		patience: greetTime}
	p.gate.open()
	return p, nil
}

// listen opens a TCP listener at the address and one of the ports of c.
func listen(c *Config) (net.Listener, error) {
	bind := c.bind()
	for port := c.Ports[0]; ; port++ {
		l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(bind, uint16(port))))
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, unix.EADDRINUSE) || port >= c.Ports[1]:
			return nil, fmt.Errorf("listening at %v: %w", bind, err)
		}
	}
}

// Name is what others connect to: at most some 80 characters.
func (p *Port) Name() string { return p.name.String() }

// greet lets one in that has dialed, and waits with it.
func (p *Port) greet(s *stranger) error {
	p.conf.keepAlive(s.Conn)
	x := handshake{key: p.name.Key[:], purpose: portPurpose, ours: newHello(p.conf.flags(), 0)}
	if err := x.hear(s); err != nil {
		return err
	}
	s.spoke()
	if err := x.listen(s); err != nil {
		return err
	}
	if !s.keep() {
		return errTooLate
	}
	c, err := x.confirm(s.Conn)
	if err != nil {
		s.Close()
		return err
	}
	c.SetDeadline(time.Time{})
	p.wait(&waiter{line: &line{stream: connection{c}, first: true, secret: x.derive(forLine)}, done: make(chan error, 1)})
	return nil
}

// errTooLate is of no interest to whoever hears it.
var errTooLate = errors.New("it was one of too many, or nobody is let in any more")

// confirm proves this end, which has listened, and returns what to go on with.
func (x *handshake) confirm(c net.Conn) (net.Conn, error) {
	if err := x.answer(c); err != nil {
		return nil, err
	}
	if !x.sealed() {
		return c, nil
	}
	return x.seal(c, false)
}

func (c *Config) flags() uint32 {
	if c.Sealed {
		return wantsTLS
	}
	return 0
}

// seal makes a TLS channel of a connection whose ends have proved who they are, and proves that nobody stands between
// them: the certificate is made up, and proves nothing.
func (x *handshake) seal(c net.Conn, dialed bool) (net.Conn, error) {
	var channel *tls.Conn
	if dialed {
		channel = tls.Client(c, secure.ClientTLS(nil))
	} else {
		conf, err := secure.ServerTLS(nil)
		if err != nil {
			return nil, err
		}
		channel = tls.Server(c, conf)
	}
	if err := channel.Handshake(); err != nil {
		return nil, fmt.Errorf("no TLS: %w", err)
	}
	var err error
	if x.channel, err = secure.ChannelKeys(channel); err != nil {
		return nil, err
	}
	if dialed {
		err = x.proveFirst(channel)
	} else if err = x.check(channel); err == nil {
		err = x.answer(channel)
	}
	return channel, err
}

// wait stays with one until it has been accepted, or has gone.
func (p *Port) wait(w *waiter) {
	if kind := p.enqueue(w); kind != 0 {
		w.dismiss(kind)
		return
	}
	kind, _, err := readFrame(w.line.stream, 0)
	p.mu.Lock()
	if i := slices.Index(p.waiting, w); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	if err == nil && (kind != frameHere || !w.chosen) {
		err = fmt.Errorf("protocol error: a frame of kind %d from one who waits", kind)
	}
	p.mu.Unlock()
	if err != nil {
		w.line.Close()
	}
	w.done <- err
}

// enqueue lets one wait. If it cannot be, it answers which frame says why.
func (p *Port) enqueue(w *waiter) (why byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return frameClosed
	case len(p.waiting) >= maxWaiting:
		return frameFull
	}
	p.waiting = append(p.waiting, w)
	p.note()
	return 0
}

// note tells one who accepts that somebody waits. The caller holds mu.
func (p *Port) note() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// dismiss tells one why nobody will accept it.
func (w *waiter) dismiss(why byte) {
	c := w.line.stream.(connection)
	c.SetWriteDeadline(time.Now().Add(greetTime))
	writeFrame(c, why, nil)
	c.Close()
}

// Accept returns a line to the next that has dialed the port and proved that it knows its name. It blocks until there
// is one, ctx is done, or the port is closed (ErrClosed). Several threads may call it at once.
func (p *Port) Accept(ctx context.Context) (transport.Line, error) {
	for {
		if ctx.Err() != nil {
			p.mu.Lock()
			p.note() // if it was this thread that has been told of one, another may take it
			p.mu.Unlock()
			return nil, fmt.Errorf("nobody has connected to the port: %w", context.Cause(ctx))
		}
		if w := p.next(); w != nil {
			if err := p.take(ctx, w); err == nil {
				return w.line, nil
			}
			continue // it has gone in the meantime
		}
		select {
		case <-p.over:
			return nil, ErrClosed
		case <-ctx.Done():
		case <-p.changed:
		}
	}
}

// next chooses the oldest of those who wait; nil: there is none.
func (p *Port) next() *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		return nil
	}
	w := p.waiting[0]
	w.chosen = true
	p.waiting = slices.Delete(p.waiting, 0, 1)
	if len(p.waiting) > 0 {
		p.note()
	}
	return w
}

// take tells one that it has been accepted, and waits for its answer.
func (p *Port) take(ctx context.Context, w *waiter) error {
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	done := interruptBy(ctx, w.line.stream)
	err := writeFrame(w.line.stream, frameAccept, nil)
	if err == nil {
		select {
		case err = <-w.done:
		case <-p.over:
			err = ErrClosed
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	done()
	if err != nil {
		w.line.Close()
	}
	return err
}

// Close closes the port. Whoever waits there is told so. It does not wait for threads that are in Accept, but ends
// them.
func (p *Port) Close() error {
	p.mu.Lock()
	waiting := p.waiting
	p.waiting = nil
	if !p.closed {
		p.closed = true
		close(p.over)
	}
	p.mu.Unlock()
	for _, w := range waiting {
		w.dismiss(frameClosed)
	}
	p.gate.close()
	return nil
}
