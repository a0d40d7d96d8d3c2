package launcher

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/startup/auth"
	impiclient "github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport/wire"
)

// Every phase of a server ends when the user's patience does, with one line that says who was waited for.
func TestEveryPhaseOfAServerHasItsDeadline(t *testing.T) {
	say := func(conn net.Conn, commands ...[]byte) {
		for _, b := range commands {
			if _, err := conn.Write(b); err != nil {
				t.Error(err)
			}
		}
	}
	authenticate := append(wire.AppendAuth(nil, wire.AuthKeyMask), wire.AppendAuthKey(nil, 4242)...)
	done := wire.Cmd{Cmd: wire.CmdDone}.Append(nil)
	for _, tt := range []struct {
		limit string
		says  [][]byte
		want  string
	}{
		{"gather=0.3", nil, "gave up after 300ms while waiting for clients: client 0 missing"},
		{"exchange=300ms", [][]byte{authenticate, wire.AppendImpi(nil, 0)},
			"gave up after 300ms while exchanging start-up values: client 0 (before its first label) missing"},
		{"run=0.3", [][]byte{authenticate, wire.AppendImpi(nil, 0), done},
			"gave up after 300ms while running: client 0 missing"},
	} {
		s, address := server(t, with(key), "1", "-deadline", tt.limit)
		if len(tt.says) > 0 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			say(conn, tt.says...)
		}
		s.wait().expect(t, 1, tt.want)
	}
	s, address := server(t, with(key), "1", "-deadline", "join=0.3")
	conn, err := net.Dial("tcp", address) // and nothing more
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if b, err := io.ReadAll(conn); len(b) > 0 || err != nil {
		t.Errorf("% x, %v", b, err)
	}
	s.stderr.await("did not join in time, and never sent AUTH", 1)
	s.signal(syscall.SIGTERM)
	if r := s.wait(); r.code != 143 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	for _, bad := range []string{"join", "join=x", "start=3", "join=-1"} {
		if r := run(t, words("-server 1 -deadline", bad)...); r.code != 2 || !strings.Contains(r.stderr, "-deadline "+bad) {
			t.Errorf("%s: code %d, %q", bad, r.code, r.stderr)
		}
	}
}

// A client that dies before its FINI is reported once, when it happens; the server serves the others on.
func TestAServerReportsAClientThatDiesOnceAndServesTheOthersOn(t *testing.T) {
	s, address := server(t, with(key), "2")
	var sessions [2]*impiclient.Session
	ready := make(chan error, 2)
	for i := range sessions {
		go func() {
			host := impiclient.Host{Addr: netip.MustParseAddrPort("127.0.0.1:9"), Procs: []impiclient.Proc{{PID: uint32(3 + i)}}}
			var err error
			_, sessions[i], err = impiclient.Connect(t.Context(), address, int32(i), auth.WithKey(4242),
				impiclient.Default(host), impiclient.Options{})
			ready <- err
		}()
	}
	for range sessions {
		if err := <-ready; err != nil {
			t.Fatal(err)
		}
	}
	sessions[1].Fail("", nil)
	s.stderr.await("client 1 (", 1)
	if err := sessions[0].Fini(); err != nil {
		t.Error(err)
	}
	s.wait().expect(t, 1, "hung up before FINI")
}
