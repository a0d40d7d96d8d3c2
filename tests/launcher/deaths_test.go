package launcher

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What happens to clients that were started by hand when a part of their job dies, or stops for a while.

// pair is a server and two clients of two ranks each, whose world rank 0 goes on when it hears something.
type pair struct{ server, a, b *job }

// pairs runs a test with both kinds of hosts. hear lets the job end.
func pairs(t *testing.T, do string, test func(t *testing.T, p pair, hear func())) {
	for _, via := range []string{"direct", "agent"} {
		t.Run(via, func(t *testing.T) {
			file := program(t, "misbehave")
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			defer w.Close()
			s, address := server(t, with(key), "2")
			a := startWith(t, append(with(key), stdin(r)), words("-client 0", address, "-via", via, "-np 2", file, do)...)
			b := startWith(t, with(key), words("-client 1", address, "-via", via, "-np 2", file, do)...)
			a.stdout.await("ready", 2)
			b.stdout.await("ready", 2)
			test(t, pair{s, a, b}, func() { w.Close() })
		})
	}
}

// The server has no part in a job that runs (IMPI 0.0, 2.4).
func TestAJobGoesOnWithoutItsServer(t *testing.T) {
	pairs(t, "hear 0", func(t *testing.T, p pair, hear func()) {
		p.server.signal(syscall.SIGKILL)
		p.server.wait()
		hear()
		p.a.wait().expect(t, 0, "")
		p.b.wait().expect(t, 0, "")
	})
}

// A launcher takes its ranks, or its agent, along; the others hear of it.
func TestAKilledClientEndsTheOther(t *testing.T) {
	pairs(t, "hear 0", func(t *testing.T, p pair, _ func()) {
		p.b.signal(syscall.SIGKILL)
		if r := p.b.wait(); r.code != 137 {
			t.Errorf("code %d", r.code)
		}
		if r := p.a.wait(); r.code == 0 || strings.Count(r.stderr, "impirun: ") != 1 ||
			!strings.Contains(r.stderr, "client 1") {
			t.Errorf("code %d, %q", r.code, r.stderr)
		}
		if r := p.server.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 1") {
			t.Errorf("the server ended with %d: %q", r.code, r.stderr)
		}
	})
}

func TestAClientThatStopsForAWhileHoldsTheJobUp(t *testing.T) {
	pairs(t, "hear 0", func(t *testing.T, p pair, hear func()) {
		all := marked(p.b.mark)
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGSTOP)
		}
		for _, pid := range all {
			for !stopped(t, pid) {
				time.Sleep(time.Millisecond)
			}
		}
		hear()
		for _, pid := range all {
			syscall.Kill(pid, syscall.SIGCONT)
		}
		for _, j := range []*job{p.a, p.b, p.server} {
			j.wait().expect(t, 0, "")
		}
	})
}

// stopped reports whether a process is stopped.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(stat), ") T ")
}
