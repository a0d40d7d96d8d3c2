package tcp

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A host that is lost without a word: its machine has stopped, or the way to it is broken. TCP itself would notice
// after a quarter of an hour, and only if there is something to be sent. So every connection is kept alive with
// probes, and now and then somebody looks when its other end was heard of last. Any acknowledgement will do, that of a
// probe, or of a full window: a host whose processes do not read, because they compute or are being debugged, is not
// lost. (TCP_USER_TIMEOUT would take it for that.)
//
// A goroutine makes the looks due, and wakes the engine, which takes them in Poll under its lock.

// looks is how many looks, and how many probes, go into the time after which a silent host is lost.
const looks = 4

// guard makes looks due.
type guard struct {
	silence time.Duration // 0: no host is lost for being silent
	due     atomic.Bool
	stop    chan struct{}
	once    sync.Once
	heard   func(fd int) (ago time.Duration, ok bool) // when the other end was heard of last
}

// start begins to guard, if there is anything to guard against.
func (g *guard) start(silence time.Duration, wake func()) {
	g.silence, g.stop, g.heard = silence, make(chan struct{}), lastHeard
	if silence > 0 {
		go g.run(wake)
	}
}

func (g *guard) run(wake func()) {
	t := time.NewTicker(g.silence / looks)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			g.due.Store(true)
			wake()
		case <-g.stop:
			return
		}
	}
}

func (g *guard) end() { g.once.Do(func() { close(g.stop) }) }

// look ends the connections to hosts that have been silent for too long.
func (h *Host) look() {
	h.guard.due.Store(false)
	for _, l := range h.links {
		if l == nil || l.ended {
			continue
		}
		if ago, ok := h.guard.heard(l.fd); ok && ago >= h.guard.silence {
			h.end(l, fmt.Errorf("nothing has been heard of it for %v, not even acknowledgements: its machine or the network is down",
				ago.Round(time.Second)))
		}
	}
}

// lastHeard asks the kernel when the other end of a TCP connection last acknowledged anything. A socket of another kind
// has no such end.
func lastHeard(fd int) (time.Duration, bool) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return 0, false
	}
	return time.Duration(info.Last_ack_recv) * time.Millisecond, true
}

// keepAlive has probes sent over a connection that is idle, often enough for looks to hear of a living host.
func keepAlive(fd int, silence time.Duration) error {
	if silence <= 0 {
		return nil
	}
	every := max(1, int(silence/looks/time.Second))
	for _, o := range []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1}, {unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, every},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, every}, {unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 2 * looks},
	} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, o.value); err != nil {
			return err
		}
	}
	return nil
}
