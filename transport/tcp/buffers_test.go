package tcp

import (
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestBuffersAreSizedFromTheRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		rtt  time.Duration
		want int
	}{{0, 0}, {longTrip - 1, 0}, {8 * time.Millisecond, 10_000_000}, {time.Second, wanBuffer}, {time.Hour, wanBuffer}} {
		if got := bufferFor(tt.rtt); got != tt.want {
			t.Errorf("%v: %d bytes, want %d", tt.rtt, got, tt.want)
		}
	}
}

func TestABufferThatTheSystemDoesNotGrantIsLeftToIt(t *testing.T) {
	few, many := granted(1<<12), granted(wanBuffer)
	if few <= 0 || many < few {
		t.Errorf("granted %d and %d bytes", few, many)
	}
	if grows() <= 0 {
		t.Errorf("grows to %d bytes", grows())
	}
	es := connect(t, layout{{1}, {1}}, nil, Options{}) // near: nothing is changed
	fd := es[0].host.links[1].fd
	if n, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT); err == nil && n == wanUnsent {
		t.Error("a connection inside the machine was taken for a long one")
	}
}

func TestSeveralFarConnectionsHaveReceiveBuffersOfFixedSize(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	fd := es[0].host.links[1].fd
	size := func() int {
		n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	was := size()
	fixReceiveBuffer(fd, longTrip-1)
	if size() != was {
		t.Error("a near one has")
	}
	fixReceiveBuffer(fd, time.Second)
	if n := size(); n <= was && n < wanBuffer {
		t.Errorf("%d bytes, before %d", n, was)
	}
}

func TestNothingPacesAConnectionInsideTheMachine(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	name, err := unix.GetsockoptString(es[0].host.links[1].fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err != nil || strings.TrimRight(name, "\x00") != "reno" {
		t.Errorf("congestion control %q, %v", name, err)
	}
	for _, tt := range []struct {
		local, remote string
		want          bool
	}{{"127.0.0.1", "127.0.0.1", true}, {"127.0.0.2", "127.0.0.1", true}, {"::1", "::1", true},
		{"10.0.0.1", "10.0.0.1", true}, {"10.0.0.1", "10.0.0.2", false}, {"fe80::1", "fe80::2", false}} {
		if got := inside(&net.TCPAddr{IP: net.ParseIP(tt.local)}, &net.TCPAddr{IP: net.ParseIP(tt.remote)}); got != tt.want {
			t.Errorf("%s to %s: inside %v", tt.local, tt.remote, got)
		}
	}
}
