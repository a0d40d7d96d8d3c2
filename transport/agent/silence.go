package agent

import (
	"cmp"
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
		if l.kind != aHost || l.fd < 0 || l.silent != nil {
			continue
		}
		l.silent = a.heard(l.fd, a.config.Silence)
		if l.many != nil {
			l.many.Each(func(_, fd int) { l.silent = cmp.Or(l.silent, a.heard(fd, a.config.Silence)) })
		}
		if l.silent != nil && !a.over {
			a.kick()
		}
	}
}

// giveUp ends the links that guard has found silent.
func (a *Agent) giveUp() {
	for _, l := range a.links {
		if l.silent != nil && !l.in.ended {
			a.ended(l, l.in.end(l.silent))
		}
	}
}
