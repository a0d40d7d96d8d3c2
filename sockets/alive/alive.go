// Package alive finds out that the other end of a TCP connection has gone without closing it: its machine has stopped,
// or the network is down. TCP itself would notice after a quarter of an hour, and only if there is something to send.
//
// "Silence" is the time for which nothing may be heard of the other end, not even an acknowledgement (IMPI_SILENCE). An
// idle connection carries keepalive probes. While data waits to be acknowledged TCP retransmits it instead, each time
// after twice as long. Since Linux 6.15 the kernel can be told not to wait longer than between two probes. So if the
// network is down for less than the silence, the connection is used again before it is given up.
//
// How often the kernel retransmits (tcp_retries2) must not bound that time: 15 times are a quarter of an hour where
// each waits twice as long, and 16 s where none waits longer than a second. TCP_USER_TIMEOUT takes its place, on every
// connection: the silence, where the kernel decides, else so long that the kernel never does.
package alive

import (
	"cmp"
	"math"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	probes  = 16            // in the time of the silence
	slowest = 9 * time.Hour // between two probes, by the kernel
	most    = 127           // probes, by the kernel

	never = math.MaxInt32 * time.Millisecond // the longest TCP_USER_TIMEOUT: 24 days
)

// interval is the time between two probes, in whole seconds, as the kernel wants it.
func interval(silence time.Duration) time.Duration {
	return min(max(silence/probes, time.Second), slowest).Truncate(time.Second)
}

// Limit is the time since the last acknowledgement after which the other end is lost. It is the silence and the time of
// two probes: the last acknowledgement may have come up to one probe before the network failed, and the next probe may
// leave up to one probe after the network works again.
func Limit(silence time.Duration) time.Duration { return silence + 2*interval(silence) }

// Probes is the keepalive setting of a connection that the kernel ends when it hears nothing for Limit(silence). A
// silence of 0 turns probes off.
func Probes(silence time.Duration) net.KeepAliveConfig {
	every := interval(silence)
	return net.KeepAliveConfig{Enable: silence > 0, Idle: every, Interval: every, Count: int((Limit(silence) - 1) / every)}
}

// Keep turns on the same probes for a descriptor, but the kernel does not end the connection: the caller asks Heard and
// decides. A silence of 0 turns none on. Errors are those of setsockopt.
func Keep(fd int, silence time.Duration) error {
	if err := endAfter(fd, never); err != nil || silence <= 0 {
		return err
	}
	every := int(interval(silence) / time.Second)
	boundRetries(fd, silence)
	return cmp.Or(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, every),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, every),
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, most))
}

// Heard returns how long ago anything arrived from the other end of a TCP connection, less the time that the kernel may
// wait before it retransmits; or for how long nothing of what waits for it has been acknowledged, if that is longer. It
// returns false if fd is no TCP socket.
func Heard(fd int) (ago time.Duration, ok bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, false
	}
	return heard(info), true
}

// heard counts data that arrives as well as acknowledgements: while only the other end sends, there are no probes, and
// nothing of ours to acknowledge.
func heard(info *unix.TCPInfo) time.Duration {
	ago := time.Duration(min(info.Last_ack_recv, info.Last_data_recv)) * time.Millisecond
	if info.Unacked > 0 {
		rto := time.Duration(info.Rto) * time.Microsecond
		ago = max(ago-min(rto, ago/2), stalled(int(info.Retransmits), rto))
	}
	return ago
}

// firstRetry is the shortest time after which the kernel retransmits.
const firstRetry = 200 * time.Millisecond

// stalled is how long data has not been acknowledged, at least, which was retransmitted so often, the last time after
// rto. If the network lets packets through in one direction alone, much is heard of the other end, and nothing arrives.
func stalled(times int, rto time.Duration) (at time.Duration) {
	for wait := firstRetry; times > 1; times-- {
		at += min(wait, rto)
		wait = min(2*wait, rto)
	}
	return at
}

// Insist limits how long the other machine may take to acknowledge what is sent, since there are no probes meanwhile. A
// silence of 0 sets no limit. A machine that acknowledges but reads nothing for that long is lost, too.
func Insist(c *net.TCPConn, silence time.Duration) {
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		if silence <= 0 {
			endAfter(int(fd), never)
			return
		}
		boundRetries(int(fd), silence)
		endAfter(int(fd), min(Limit(silence), never))
	})
}

// endAfter makes the kernel end a connection when the other end has acknowledged nothing for so long, or read nothing.
func endAfter(fd int, silence time.Duration) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
}

// Reset makes the close of a connection that is given up end it at once at the other end, too. A close in order waits
// behind what is not acknowledged: if the network lets packets through in our direction alone, the kernel sends that
// again and again, never the end, and so the other end hears us although we have gone. Errors are those of setsockopt.
func Reset(fd int) error {
	return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
}

// boundRetries asks the kernel to retransmit as often as it would probe. Kernels before 6.15 do not know the option.
func boundRetries(fd int, silence time.Duration) {
	const rtoMax, longest = 44, 2 * time.Minute // TCP_RTO_MAX_MS of linux/tcp.h, and the kernel's own bound
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, rtoMax, int(min(interval(silence), longest).Milliseconds()))
}
