package client

import (
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// Via is who owns the connections to other clients (IMPI 0.0, 2.3.1: the hosts).
type Via int

const (
	ViaAuto   Via = iota // an agent if the server is far away
	ViaDirect            // each rank its own
	ViaAgent             // one process those of all ranks, or of all on its machine
	ViaOne               // one process those of all ranks on all machines
)

func (v Via) String() string { return [...]string{"auto", "direct", "agent", "one"}[v] }

// ParseVia reads one.
func ParseVia(text string) (Via, error) {
	for _, via := range []Via{ViaAuto, ViaDirect, ViaAgent, ViaOne} {
		if text == via.String() {
			return via, nil
		}
	}
	return ViaAuto, fmt.Errorf("%q is none of direct, agent, one, auto", text)
}

// longDistance is the round trip, to the server, from which an agent carries a client's traffic: it costs less than the
// distance, and connections cost more there.
const longDistance = 2 * time.Millisecond

// Agent reports whether an agent carries a client's traffic: if the user leaves it to us, by the round trip to the
// server, as the system has measured it when connecting. That connection, if there is one, is to be that on which the
// client joins (Options.Conn), since a server may take every connection for a client. One that does not answer is no
// reason for an agent.
func (v Via) Agent(server string) (agent bool, conn net.Conn) {
	if v != ViaAuto {
		return v != ViaDirect, nil
	}
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
