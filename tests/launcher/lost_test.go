package launcher

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport/boot/auth"
	boot "github.com/libimpi/libimpi/transport/boot/client"
	"github.com/libimpi/libimpi/transport/wire"
)

// A client whose rank dies when all tables are there, and before it has connected to anybody: nobody has a socket that
// could tell. Its launcher tells the server, and the server the others. This test is the client; its host never connects.
func TestAClientLostBeforeItConnectsIsNamedAndEndsTheOthers(t *testing.T) {
	file := program(t, "misbehave")
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts nobody
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := l.Addr().(*net.TCPAddr).AddrPort()
	for _, how := range []string{"-via direct -n 2", "-via agent -n 2", "-via direct " + machines(t)} {
		for _, why := range []string{"rank 7 on moon (pid 3) was killed by signal 9", ""} {
			s, address := server(t, with(key), "2")
			other := startWith(t, with(key), words("-client 0", address, how, file, "not 0")...)
			own := wire.Mine()
			say := boot.Default(boot.Host{Addr: netip.AddrPortFrom(at.Addr(), at.Port()), Procs: []boot.Proc{{PID: 3}}})
			say.Own = &own
			_, session, err := boot.Connect(t.Context(), address, 1, auth.WithKey(4242), say, boot.Options{})
			if err != nil {
				t.Fatal(err)
			}
			session.Fail(why)
			if why == "" {
				why = "hung up"
			}
			r := other.wait()
			r.expect(t, 1, "client 1 is lost: ")
			if strings.Count(r.stderr, "impirun: ") != 1 || !strings.Contains(r.stderr, why) {
				t.Errorf("%s: %q", how, r.stderr)
			}
			if r := s.wait(); r.code != 1 || !strings.Contains(r.stderr, why) {
				t.Errorf("the server ended with %d: %q", r.code, r.stderr)
			}
		}
	}
}
