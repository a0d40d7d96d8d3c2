// Package ports lets processes of different jobs find each other (MPI 5.0, 11.8 to 11.10): ports, at which two of them
// get a line, and meetings, in which all of both sides get links.
//
//	name.go     names of ports
//	proof.go    what two ends say until each knows that the other may be there; a pure state machine and its I/O
//	gate.go     a listener that is open to the world, and what strangers may cost
//	port.go     the side that listens: Listen, Accept
//	dial.go     the side that dials
//	line.go     frames, and what leaders tell each other
//	over.go     a line over a socket of the program's (MPI_Comm_join)
//	card.go     where a process is found during a meeting
//	meeting.go  a meeting: who gets a link to whom, and how
//	near.go     processes of this machine: shared memory, handed over a Unix socket
//	far.go      all others: a mesh of transport/tcp
//	guests.go   which becomes a transport that speaks of numbers
//
// All of it runs on the calling thread and on goroutines that end with the call, or with Close, but for those of
// transport/tcp. Nothing here takes the engine's lock, except to hand a guest to shared memory.
package ports

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/libimpi/libimpi/sockets/address"
	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/shm"
)

// Config is what a process has been given to meet others with. The zero value is good for ports.
type Config struct {
	Bind    netip.Addr    // address at which to listen, and at which others reach it; zero: address.Usable
	Ports   [2]int        // the first and the last TCP port to try; 0: any
	Sealed  bool          // talk TLS 1.3 with whoever wants it, too
	Silence time.Duration // after which a process on another machine of which nothing is heard is lost; 0: never
	Warn    func(string)  // told of strangers and such, from any goroutine; may be nil

	// For meetings.
	Rank    int32       // world rank of this process
	Memory  Memory      // that this process shares; nil: it shares none
	Lock    sync.Locker // the engine's: Memory.Admit and Part are called with it
	Machine Machine     // zero: ThisMachine
	Bell    Waker       // rung when Parted may have a new answer that no Poll has brought; nil: nobody sleeps
}

// Waker is the part of transport.Bell that a meeting wants. It is there as long as links are.
type Waker interface{ Wake() }

// Memory is what a meeting wants of the transport inside a machine; *shm.Transport says what each of these does.
type Memory interface {
	transport.Transport
	transport.Parter
	Offer() (*shm.Pair, error)
	Residence() (home, local int)
	Discard(fd int)
	Admit(number int32, pair, home, local int, offered bool) error
}

var _ Memory = (*shm.Transport)(nil)

// bind is the address at which to listen.
func (c *Config) bind() netip.Addr {
	if c.Bind.IsValid() && !c.Bind.IsUnspecified() {
		return c.Bind.Unmap().WithZone("")
	}
	return address.Usable()
}

// keepAlive ends a line of whose other end nothing is heard any more.
func (c *Config) keepAlive(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(alive.Probes(c.Silence))
		alive.Insist(tcp, c.Silence)
	}
}

func (c *Config) warn(format string, args ...any) {
	if c.Warn != nil {
		c.Warn(fmt.Sprintf(format, args...))
	}
}
