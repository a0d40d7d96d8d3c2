package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/transport"
	"golang.org/x/sys/unix"
)

const (
	proofTime = 30 * time.Second // for a port to prove that it is one
	retries   = 4                // by one that a port has turned away: it may have been one of too many strangers
	retryMin  = 20 * time.Millisecond
	retryMax  = time.Second
)

// ErrNoPort is part of an error of Dial if nobody listens under a name, any more or at all.
var ErrNoPort = errors.New("there is no such port: it has been closed, or its process has ended")

// Dial connects to the port of a name. It blocks until somebody accepts there, the port is closed (ErrNoPort), or ctx
// is done. If name is none, the error is a *NameError.
func Dial(ctx context.Context, name string, c Config) (transport.Line, error) {
	n, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	wait := retryMin
	for try := 0; ; try++ {
		l, err := dial(ctx, n, &c)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("connecting to %v: nobody has accepted: %w", n.Addr, context.Cause(ctx))
		case !errors.Is(err, errTurnedAway) || try == retries:
			return nil, fmt.Errorf("connecting to %v: %w", n.Addr, err)
		}
		if !pause(ctx, wait) {
			return nil, fmt.Errorf("connecting to %v: %w: %w", n.Addr, err, context.Cause(ctx))
		}
		wait = min(2*wait, retryMax)
	}
}

// pause waits so long; false: ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func dial(ctx context.Context, n Name, conf *Config) (*line, error) {
	if err := address.Reachable(n.Addr.Addr()); err != nil {
		return nil, err
	}
	var d net.Dialer
	tcp, err := d.DialContext(ctx, "tcp", n.Addr.String())
	if errors.Is(err, unix.ECONNREFUSED) {
		return nil, fmt.Errorf("%w (%w)", ErrNoPort, unix.ECONNREFUSED)
	} else if err != nil {
		return nil, err
	}
	conf.keepAlive(tcp)
	l, err := enter(ctx, tcp, n, conf)
	if err != nil {
		tcp.Close()
		return nil, err
	}
	return l, nil
}

// enter proves who is there, and waits until that is accepted.
func enter(ctx context.Context, tcp net.Conn, n Name, conf *Config) (*line, error) {
	x := handshake{key: n.Key[:], purpose: portPurpose, ours: newHello(conf.flags(), 0)}
	c, err := prove(ctx, tcp, &x)
	if err != nil {
		return nil, err
	}
	l := &line{stream: connection{c}, secret: x.derive(forLine)}
	defer interruptBy(ctx, l.stream)()
	kind, _, err := readFrame(l.stream, 0)
	switch {
	case isEnd(err):
		return nil, fmt.Errorf("%w (%w)", ErrNoPort, err)
	case err != nil:
		return nil, err
	case kind == frameClosed:
		return nil, fmt.Errorf("%w (closed while we waited)", ErrNoPort)
	case kind == frameFull:
		return nil, fmt.Errorf("%d processes wait there already", maxWaiting)
	case kind != frameAccept:
		return nil, fmt.Errorf("protocol error: a frame of kind %d from a port", kind)
	}
	return l, writeFrame(l.stream, frameHere, nil)
}

// prove proves who is there on a connection that this end has dialed, and returns what to go on with.
func prove(ctx context.Context, c net.Conn, x *handshake) (net.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, proofTime)
	defer cancel()
	defer interruptBy(limited, connection{c})()
	err := x.dial(c)
	if err == nil && x.sealed() {
		c, err = x.seal(c, true)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it does not answer as a port would: %w", err)
	}
	return c, err
}
