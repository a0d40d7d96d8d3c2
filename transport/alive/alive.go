// Package alive finds out that the other end of a TCP connection is gone without a word: its machine has stopped, or
// the way to it is broken. TCP itself would notice after a quarter of an hour, and only if there is something to be
// sent.
//
// A connection on which nothing travels carries probes. One on which something waits to be acknowledged sends that
// again in their place, each time after twice as long, but not after longer than between two probes where the kernel
// (Linux 6.15) can be told so. So a way that is broken for no longer than the silence that is allowed is used again,
// and the other end heard of, before it is given up.
package alive

import (
	"cmp"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	probes  = 16            // that go into the silence that is allowed
	slowest = 9 * time.Hour // between two probes, by the kernel
	most    = 127           // probes, by the kernel
)

// Every is the time between two probes, in whole seconds, as the kernel wants it.
func Every(silence time.Duration) time.Duration {
	return min(max(silence/probes, time.Second), slowest).Truncate(time.Second)
}

// Limit is the time since the last acknowledgement after which the other end is lost: it may have come that long before
// the way broke, and the first probe on the way back may leave that long after the way is good again.
func Limit(silence time.Duration) time.Duration { return silence + 2*Every(silence) }

// Probes are what keeps a connection alive, and ends it when they are not acknowledged for so long; 0: none.
func Probes(silence time.Duration) net.KeepAliveConfig {
	every := Every(silence)
	return net.KeepAliveConfig{Enable: silence > 0, Idle: every, Interval: every, Count: int((Limit(silence) - 1) / every)}
}

// Keep is Probes for a descriptor, but the connection does not end: who asks Heard decides. 0: none.
func Keep(fd int, silence time.Duration) error {
	if silence <= 0 {
		return nil
	}
	every := int(Every(silence) / time.Second)
	boundRetries(fd, silence)
	return cmp.Or(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, every),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, every),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, most))
}

// Heard answers how long ago the other end of a TCP connection was heard of, less what the kernel may wait before it
// tries again to hear of it. False: fd is a socket of another kind.
func Heard(fd int) (ago time.Duration, ok bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, false
	}
	return heard(info), true
}

// heard counts what arrives as well as what is acknowledged: while the other end alone has something to say, there are
// no probes, and nothing to acknowledge.
func heard(info *unix.TCPInfo) time.Duration {
	ago := time.Duration(min(info.Last_ack_recv, info.Last_data_recv)) * time.Millisecond
	if info.Unacked > 0 {
		ago -= min(time.Duration(info.Rto)*time.Microsecond, ago/2)
	}
	return ago
}

// Insist limits how long the other machine may take to acknowledge what is sent, as there are no probes meanwhile; 0:
// no limit. A machine that acknowledges, but does not read for so long what more there is, is lost, too.
func Insist(c *net.TCPConn, silence time.Duration) {
	if silence <= 0 {
		return
	}
	if raw, err := c.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) {
			boundRetries(int(fd), silence)
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(Limit(silence).Milliseconds()))
		})
	}
}

// boundRetries has what is not acknowledged sent again as often as probes are. Older kernels do not know the option.
func boundRetries(fd int, silence time.Duration) {
	const rtoMax, longest = 44, 2 * time.Minute // TCP_RTO_MAX_MS of linux/tcp.h, and the kernel's own bound
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, rtoMax, int(min(Every(silence), longest).Milliseconds()))
}
