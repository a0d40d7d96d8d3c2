package join

import (
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/cmd/internal/options"
)

// longDistance is the round trip, to the server, from which an agent carries a client's traffic: it costs less than the
// distance, and connections cost more there.
const longDistance = 2 * time.Millisecond

// choose decides for an agent if the user leaves it to us: by the round trip to the server, as the system has measured
// it when connecting. That connection is the one on which the client joins: a server may take every connection for a
// client. One that does not answer is no reason for an agent.
func (j *Plan) choose(via options.Via) {
	if via != options.ViaAuto {
		j.Agent = via == options.ViaAgent
		return
	}
	at, err := net.ResolveTCPAddr("tcp", j.Address)
	if err != nil || at.IP.IsLoopback() { // a server on this machine is near, however busy the machine
		return
	}
	c, err := net.DialTimeout("tcp", at.String(), time.Second)
	if err != nil {
		return
	}
	j.conn, j.dialled = c, time.Now()
	j.Agent = roundTrip(c.(*net.TCPConn)) >= longDistance
}

// stale is the age at which a connection on which nothing has been said may be too old for the server.
const stale = 10 * time.Second

// connection is that of choose, once, if it is there and not too old. nil: there is none.
func (j *Plan) connection() net.Conn {
	c := j.conn
	j.conn = nil
	if c != nil && time.Since(j.dialled) > stale {
		c.Close()
		return nil
	}
	return c
}

// roundTrip is what the system knows of a new connection's; 0: nothing.
func roundTrip(c *net.TCPConn) (d time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	raw.Control(func(fd uintptr) {
		if info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			d = time.Duration(info.Rtt) * time.Microsecond
		}
	})
	return d
}
