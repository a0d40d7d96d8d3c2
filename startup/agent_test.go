package startup

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var (
	noAgent     = [2]int{-1, -1}
	behindAgent = Welcome{LocalSize: 1, Shared: -1, IMPI: true, Agent: true}
)

// ends makes two pairs of sockets: the launcher's, and the rank's.
func ends(t *testing.T) (launcher, rank [2]int) {
	t.Helper()
	for i := range 2 {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		launcher[i], rank[i] = fds[0], fds[1]
		t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	}
	return launcher, rank
}

func TestSocketsToTheAgentComeWithTheTables(t *testing.T) {
	for _, have := range [][2]bool{{true, true}, {true, false}, {false, true}} {
		l, r, w := welcomed(t, behindAgent)
		if !w.Agent || w.Bind != (netip.Addr{}) {
			t.Errorf("%+v", w)
		}
		mine, theirs := ends(t)
		for i, h := range have {
			if !h {
				theirs[i] = -1
			}
		}
		if err := l.Job(twoClients(), theirs); err != nil {
			t.Fatal(err)
		}
		_, got, err := r.Job(0)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range have {
			if !h {
				if got[i] != -1 {
					t.Errorf("%v: socket %d is %d", have, i, got[i])
				}
				continue
			}
			var b [1]byte
			unix.Write(got[i], []byte{byte(10 + i)})
			if n, err := unix.Read(mine[i], b[:]); n != 1 || b[0] != byte(10+i) {
				t.Errorf("%v: socket %d does not lead to its agent: %d, %v", have, i, n, err)
			}
			unix.Close(got[i])
		}
	}
}

func TestSocketsThatWereNotPromisedAreRefused(t *testing.T) {
	before := countFDs(t)
	direct := Welcome{LocalSize: 1, Shared: -1, IMPI: true, Bind: netip.MustParseAddr("::1")}
	for name, tt := range map[string]struct {
		w    Welcome
		send func(*LauncherEnd, [2]int) error
	}{
		"an agent promised, no sockets": {behindAgent, func(l *LauncherEnd, _ [2]int) error {
			return l.Job(twoClients(), noAgent)
		}},
		"no agent promised, sockets": {direct, func(l *LauncherEnd, fds [2]int) error { return l.Job(twoClients(), fds) }},
		"two announced, one comes": {behindAgent, func(l *LauncherEnd, fds [2]int) error {
			two := jobBody{Tables: EncodeJob(twoClients()), Agent: [2]bool{true, true}}
			return l.port.send(msgJob, two, time.Now().Add(sendTime), fds[0])
		}},
		"broken tables": {behindAgent, func(l *LauncherEnd, fds [2]int) error {
			return l.port.send(msgJob, jobBody{Agent: [2]bool{true, true}}, time.Now().Add(sendTime), fds[:]...)
		}},
	} {
		l, r, _ := welcomed(t, tt.w)
		_, theirs := ends(t)
		if err := tt.send(l, theirs); err != nil {
			t.Fatal(err)
		}
		if _, got, err := r.Job(0); err == nil || got != noAgent {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		l.Close()
		r.Close()
	}
	if after := countFDs(t); after > before+4*4 { // the test's own
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	p, c := rawLauncher(t)
	p.send(msgWelcome, welcomeBody{Version: Version, LocalSize: 1, Agent: true, Tables: EncodeJob(job(0, 1))}, time.Time{})
	if a := <-c; a.err == nil || !strings.Contains(a.err.Error(), "agent") {
		t.Errorf("an agent in a job of one client: %v", a.err)
	}
}
