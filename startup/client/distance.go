package client

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// longDistance is the round trip, to the server, from which an agent carries a client's traffic: it costs less than the
// distance, and connections cost more there.
const longDistance = 2 * time.Millisecond

// FarAway reports whether the server is so far away that an agent should carry a client's traffic: by the round trip
// to it, as the system has measured it when connecting. That connection, if there is one, is to be that on which the
// client joins (Options.Conn), since a server may take every connection for a client. One that does not answer is no
// reason for an agent.
func FarAway(server string) (far bool, conn net.Conn) {
	at, err := net.ResolveTCPAddr("tcp", server)
	if err != nil || at.IP.IsLoopback() { // a server on this machine is near, however busy the machine
		return false, nil
	}
	if conn, err = net.DialTimeout("tcp", at.String(), time.Second); err != nil {
		return false, nil
	}
	return roundTrip(conn.(*net.TCPConn)) >= longDistance, conn
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
