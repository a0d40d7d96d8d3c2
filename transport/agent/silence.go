package agent

import (
	"cmp"
	"errors"
	"time"

	"github.com/libimpi/libimpi/transport/tcp"
)

// guard checks from time to time when each host was heard of last (transport/tcp/silence.go). The loop ends the links
// of hosts that have been silent for too long.
func (a *Agent) guard() {
	t := time.NewTicker(a.config.Silence / tcp.Looks)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			a.listen()
		case <-a.finished:
			return
		}
	}
}

func (a *Agent) listen() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.links {
		if l.kind != aHost || l.fd < 0 || l.doomed != nil {
			continue
		}
		l.doomed = a.heard(l.fd, a.config.Silence)
		if l.many != nil {
			l.many.Each(func(_, fd int) { l.doomed = cmp.Or(l.doomed, a.heard(fd, a.config.Silence)) })
		}
		if l.doomed != nil && !a.over {
			a.kick()
		}
	}
}

// giveUp ends the links of hosts that are silent or forgotten.
func (a *Agent) giveUp() {
	for _, l := range a.links {
		if l.doomed == nil || l.in.ended {
			continue
		}
		if !l.fini {
			tcp.Reset(l.fd, l.many)
		}
		a.ended(l, l.in.end(l.doomed))
	}
}

var errForgotten = errors.New("its processes are lost")

// Forget ends the connection to a host whose processes are all lost, at the word of others who may know it before the
// host is silent for us. Without FINI, it sees that we have not parted in order: if it was cut off and lives it does
// not take us for processes that have come to their end. Any goroutine may call it. The agent is Tolerant; Config.Lost
// is not called.
func (a *Agent) Forget(host int32) {
	a.asking.Add(1)
	defer a.asking.Add(-1)
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.byHost[host]; l != nil && l.doomed == nil && !a.over {
		l.doomed = errForgotten
		a.kick()
	}
}
