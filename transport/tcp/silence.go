package tcp

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/sockets/secure"
	"github.com/libimpi/libimpi/transport/bundle"
)

// A host that is lost without a word: its machine has stopped, or the way to it is broken. Every connection is kept
// alive (sockets/alive), and now and then somebody looks when its other end was heard of last. Any packet will do,
// the acknowledgement of a probe, or of a full window: a host whose processes do not read, because they compute or are
// being debugged, is not lost. (The kernel would take it for that after TCP_USER_TIMEOUT, which is therefore as long as
// can be.) An agent does the same (transport/agent).
//
// A goroutine makes the looks due, and wakes the engine, which takes them in Poll under its lock.

// defaultSilence is longer than the pauses of a network that will go on.
const defaultSilence = 30 * time.Second

// ParseSilence reads the setting IMPI_SILENCE: the seconds after which a host of which nothing is heard is lost, 0 for
// never; the default if it is empty.
func ParseSilence(text string) (time.Duration, error) {
	if text == "" {
		return defaultSilence, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<20 {
		return 0, fmt.Errorf("IMPI_SILENCE=%q is not a number of seconds from 0 to %d", text, 1<<20)
	}
	return time.Duration(n) * time.Second, nil
}

// Looks is how many looks go into the time after which a silent host is lost.
const Looks = 4

// Heard is nil if the other end of a TCP connection has acknowledged anything within what that time allows, or fd is a
// socket of another kind. If not, the error says so.
func Heard(fd int, silence time.Duration) error {
	if ago, ok := LastHeard(fd); ok && ago >= alive.Limit(silence) {
		return silent(ago)
	}
	return nil
}

func silent(ago time.Duration) error {
	return fmt.Errorf("nothing has been heard of it for %v, not even acknowledgements: its machine or the network is down",
		ago.Round(time.Second))
}

// guard makes looks due.
type guard struct {
	silence time.Duration // 0: no host is lost for being silent
	due     atomic.Bool   // Poll is to look: the time has come, or an answer to a FINI waits
	stop    chan struct{}
	once    sync.Once
	heard   func(fd int) (ago time.Duration, ok bool) // when the other end was heard of last
}

// start begins to guard, if there is anything to guard against.
func (g *guard) start(silence time.Duration, wake func()) {
	g.silence, g.stop, g.heard = silence, make(chan struct{}), LastHeard
	if silence > 0 {
		go g.run(wake)
	}
}

func (g *guard) run(wake func()) {
	t := time.NewTicker(g.silence / Looks)
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

// look goes on with what answers a FINI, and ends the connections to hosts that have been silent for too long.
func (h *Host) look() {
	h.guard.due.Store(false)
	h.answerFinis()
	if h.guard.silence == 0 {
		return
	}
	for _, l := range h.links {
		if l == nil || l.ended || l.halved { // nobody waits for the end of one that has finished
			continue
		}
		ago, ok := h.guard.heard(l.fd)
		if l.many != nil {
			l.many.Each(func(k, fd int) { // the connection that has been silent longest
				if a, known := h.guard.heard(fd); known && a > ago {
					ago, ok = a, true
				}
			})
		}
		if ok && ago >= alive.Limit(h.guard.silence) {
			h.giveUp(l, silent(ago))
		}
	}
}

// giveUp ends the connection to a host that may live.
func (h *Host) giveUp(l *link, why error) {
	Reset(l.fd, l.many)
	h.end(l, why)
}

// Reset is alive.Reset of a TCP connection, or of one behind TLS, or of several if there is a bundle. A socket of
// another kind has nothing to reset.
func Reset(fd int, many *bundle.Bundle) {
	reset := func(_, fd int) {
		alive.Reset(fd)
		secure.Channel(fd, func(tcp int) { alive.Reset(tcp) })
	}
	if many != nil {
		many.Each(reset)
		return
	}
	reset(0, fd)
}

// LastHeard asks the kernel when the other end of a TCP connection was heard of last; of one behind TLS, too. A
// socket of another kind has no such end.
func LastHeard(fd int) (ago time.Duration, ok bool) {
	if ago, ok = alive.Heard(fd); !ok {
		secure.Channel(fd, func(tcp int) { ago, ok = alive.Heard(tcp) })
	}
	return ago, ok
}
