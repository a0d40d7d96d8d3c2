package web

import (
	"net"
	"sync"
)

// limited accepts so many connections at a time. One more is closed at once: who holds many keeps nobody waiting.
type limited struct {
	net.Listener
	slots chan struct{}
	log   *refusals
}

func limit(l net.Listener, n int, log *refusals) net.Listener {
	return &limited{l, make(chan struct{}, n), log}
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case l.slots <- struct{}{}:
			return &counted{Conn: c, release: func() { <-l.slots }}, nil
		default:
			l.log.note("a connection from %s: there are %d", c.RemoteAddr(), cap(l.slots))
			c.Close()
		}
	}
}

type counted struct {
	net.Conn
	once    sync.Once
	release func()
}

func (c *counted) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.release)
	return err
}
