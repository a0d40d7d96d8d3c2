package agent

import (
	"os"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/transport/tcp"
)

// guard looks now and then when each host was heard of last, and gives up those that have been silent for too long
// (transport/tcp/silence.go). The reader of such a link finds the reason when its read is cut short.
func (a *Agent) guard() {
	t := time.NewTicker(a.config.Silence / tcp.Looks)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			for _, l := range a.links {
				if l.kind == aHost && l.silent.Load() == nil {
					a.listen(l)
				}
			}
		case <-a.finished:
			return
		}
	}
}

func (a *Agent) listen(l *link) {
	sc, ok := l.conn.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { err = a.heard(int(fd), a.config.Silence) })
	if err != nil {
		l.silent.Store(&err)
		l.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// reason is why reading from l has ended.
func (l *link) reason(err error) error {
	if silent := l.silent.Load(); silent != nil && os.IsTimeout(err) {
		return *silent
	}
	return err
}
