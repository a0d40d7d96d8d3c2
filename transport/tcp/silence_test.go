package tcp

import (
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/sockets/alive"
	"github.com/libimpi/libimpi/sockets/secure"
	"golang.org/x/sys/unix"
)

func TestAHostThatIsSilentForTooLongIsLost(t *testing.T) {
	es := connect(t, layout{{1}, {1}, {2}}, nil, Options{Silence: time.Hour})
	e := es[0]
	e.mu.Lock()
	silent := e.host.links[2].fd
	e.host.guard.heard = func(fd int) (time.Duration, bool) {
		if fd == silent {
			return alive.Limit(time.Hour), true
		}
		return alive.Limit(time.Hour) - 1, true
	}
	e.host.guard.due.Store(true)
	e.mu.Unlock()
	e.until(t, "loss", func() bool { return len(e.lost) == 2 })
	for _, p := range []int32{2, 3} {
		if err := e.lost[p]; err == nil || !strings.Contains(err.Error(), "host 2 (client 2") ||
			!strings.Contains(err.Error(), "1h7m30s") {
			t.Errorf("process %d: %v", p, err)
		}
	}
}

func TestLooksBecomeDueAndWakeTheEngine(t *testing.T) {
	var g guard
	woken := make(chan bool, 1)
	g.start(Looks*time.Millisecond, func() {
		select {
		case woken <- g.due.Load():
		default:
		}
	})
	defer g.end()
	select {
	case due := <-woken:
		if !due {
			t.Error("woken for nothing")
		}
	case <-time.After(patience):
		t.Fatal("no look is due")
	}
}

func TestConnectionsAreKeptAlive(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{Silence: 80 * time.Second})
	for i, e := range es {
		fd := e.host.links[1-i].fd
		on, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE)
		every, err2 := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE)
		if err != nil || err2 != nil || on != 1 || every != 5 {
			t.Errorf("keepalive %d, every %d s (%v, %v)", on, every, err, err2)
		}
		if ago, ok := LastHeard(fd); !ok || ago > patience {
			t.Errorf("heard %v ago, %v", ago, ok)
		}
	}
	es = connect(t, layout{{1}, {1}}, keyed(1, true), Options{Silence: 80 * time.Second})
	if ago, ok := LastHeard(es[0].host.links[1].fd); !ok || ago > patience {
		t.Errorf("behind TLS: heard %v ago, %v", ago, ok)
	}
	secure.Channel(es[0].host.links[1].fd, func(fd int) {
		if every, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE); err != nil || every != 5 {
			t.Errorf("behind TLS: every %d s (%v)", every, err)
		}
	})
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	if _, ok := LastHeard(pair[0]); ok {
		t.Error("a socket inside the machine has been heard of")
	}
}

func TestTheSettingOfSilence(t *testing.T) {
	for _, tt := range []struct {
		text string
		want time.Duration
		ok   bool
	}{{"", defaultSilence, true}, {"0", 0, true}, {"7", 7 * time.Second, true}, {"-1", 0, false}, {"x", 0, false}, {
		"99999999", 0, false}} {
		if got, err := ParseSilence(tt.text); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%q: %v, %v", tt.text, got, err)
		}
	}
}
