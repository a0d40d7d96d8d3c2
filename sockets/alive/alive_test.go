package alive

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A way that breaks right after a probe was acknowledged, and is good again right after another was lost.
func TestAWayThatIsGoodAgainInTimeIsProbedBeforeItIsGivenUp(t *testing.T) {
	for _, s := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 30 * time.Second, 100 * time.Second,
		time.Hour, 1 << 20 * time.Second} {
		p := Probes(s)
		if p.Idle%time.Second != 0 || p.Interval%time.Second != 0 {
			t.Errorf("%v: probes after %v and then every %v: the kernel counts in seconds", s, p.Idle, p.Interval)
		}
		if given := p.Idle + time.Duration(p.Count)*p.Interval; given < s+p.Idle+p.Interval {
			t.Errorf("%v: probes end the connection after %v", s, given)
		}
		if Limit(s) < s+2*interval(s) || Limit(s) > s+max(s/8, 2*time.Second) {
			t.Errorf("%v: lost after %v with a probe every %v", s, Limit(s), interval(s))
		}
		if p.Count < 1 || p.Count > most {
			t.Errorf("%v: %d probes, and the kernel knows 1 to %d", s, p.Count, most)
		}
	}
	if Probes(0).Enable {
		t.Error("probes though silence is allowed for ever")
	}
}

// connection is both ends of one.
func connection(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.DialTCP("tcp", nil, l.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close() })
	if far, err = l.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.Close() })
	return near, far
}

func TestTheKernelIsToldSo(t *testing.T) {
	c, _ := connection(t)
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	is := func(fd uintptr, name, want int) {
		t.Helper()
		if got, err := unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, name); err != nil || got != want {
			t.Errorf("option %d is %d (%v), want %d", name, got, err, want)
		}
	}
	const never = 1<<31 - 1
	for silence, want := range map[time.Duration]int{0: never, 32 * time.Second: 36000, 1 << 22 * time.Second: never} {
		Insist(c, silence)
		raw.Control(func(fd uintptr) { is(fd, unix.TCP_USER_TIMEOUT, want) })
	}
	raw.Control(func(fd uintptr) {
		if err := Keep(int(fd), 32*time.Second); err != nil {
			t.Error(err)
		}
		is(fd, unix.TCP_KEEPIDLE, 2)
		is(fd, unix.TCP_KEEPINTVL, 2)
		is(fd, unix.TCP_USER_TIMEOUT, 1<<31-1) // who keeps decides
		if err := Keep(int(fd), 1<<20*time.Second); err != nil {
			t.Errorf("the longest silence: %v", err)
		}
		if _, ok := Heard(int(fd)); !ok {
			t.Error("a TCP connection has not been heard of")
		}
	})
}

func TestWhatIsHeardOfTheOtherEnd(t *testing.T) {
	for _, tt := range []struct {
		what string
		info unix.TCPInfo
		want time.Duration
	}{
		{"idle", unix.TCPInfo{Last_ack_recv: 2000, Last_data_recv: 9000}, 2 * time.Second},
		{"it alone speaks", unix.TCPInfo{Last_ack_recv: 60000, Last_data_recv: 10}, 10 * time.Millisecond},
		{"tried again every second", unix.TCPInfo{Last_ack_recv: 8000, Last_data_recv: 9000, Unacked: 1, Rto: 1000000},
			7 * time.Second},
		{"tried again after as long", unix.TCPInfo{Last_ack_recv: 8000, Last_data_recv: 9000, Unacked: 1, Rto: 9000000},
			4 * time.Second},
	} {
		if got := heard(&tt.info); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
}

// Of an end that is heard, but does not hear, it counts how long nothing has been acknowledged.
func TestDataThatIsNeverAcknowledgedIsSilence(t *testing.T) {
	info := unix.TCPInfo{Unacked: 1, Last_ack_recv: 800, Rto: 1_000_000, Retransmits: 22}
	if got := heard(&info); got < 15*time.Second || got > 22*time.Second {
		t.Errorf("22 retransmissions, the last after a second: %v", got)
	}
	info.Retransmits = 1
	if got := heard(&info); got > time.Second {
		t.Errorf("one retransmission: %v", got)
	}
}

// The other end hears it although much was under way.
func TestAConnectionThatIsResetEndsAtOnce(t *testing.T) {
	near, far := connection(t)
	f, err := near.File()
	if near.Close(); err != nil {
		t.Fatal(err)
	}
	for err == nil { // until it takes no more
		_, err = unix.SendmsgN(int(f.Fd()), make([]byte, 1<<16), nil, nil, unix.MSG_DONTWAIT)
	}
	if err := Reset(int(f.Fd())); err != nil {
		t.Error(err)
	}
	unix.Shutdown(int(f.Fd()), unix.SHUT_WR)
	f.Close()
	far.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, far); !errors.Is(err, unix.ECONNRESET) {
		t.Error(err)
	}
}
