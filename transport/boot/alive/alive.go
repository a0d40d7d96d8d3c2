// Package alive finds out that the other end of an idle TCP connection is gone without a word: its machine has stopped, or
// the way to it is broken. Server and client hear nothing of each other while they wait and while the job runs.
package alive

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// looks is how many probes go into the time after which a silent machine is lost.
const looks = 4

// Probes are what keeps a connection alive, and ends it when they are not acknowledged for so long; 0: none.
func Probes(silence time.Duration) net.KeepAliveConfig {
	every := max(silence/looks, time.Second)
	return net.KeepAliveConfig{Enable: silence > 0, Idle: every, Interval: every, Count: max(1, int(silence/every)-1)}
}

// Insist limits how long the other machine may take to acknowledge what is sent, as there are no probes meanwhile; 0: no
// limit. A machine that acknowledges, but does not read for so long what more there is, is lost, too.
func Insist(c *net.TCPConn, silence time.Duration) {
	if silence <= 0 {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
		})
	}
}
