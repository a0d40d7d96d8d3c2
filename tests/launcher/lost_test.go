package launcher

import (
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/libimpi/libimpi/startup/auth"
	impiclient "github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/transport/wire"
)

// deaf is a client that the test plays: join takes it to the server, by a connection or, if that is nil, by one of its
// own, with a host that accepts nobody. own is what it says as one of this library; nil: it is of another. A session is
// nil if it could not join, and the test has failed.
func deaf(t *testing.T, own *wire.Own) (join func(address string, rank int32, by net.Conn) *impiclient.Session) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return func(address string, rank int32, by net.Conn) *impiclient.Session {
		host := impiclient.Host{Addr: l.Addr().(*net.TCPAddr).AddrPort(), Procs: []impiclient.Proc{{PID: 3}}}
		say := impiclient.Default(host)
		say.Own = own
		_, session, err := impiclient.Connect(t.Context(), address, rank, auth.WithKey(4242), say,
			impiclient.Options{Conn: by})
		if err != nil {
			t.Error(err)
		}
		return session
	}
}

// ours is what a client of this library says, with these flags beside the usual ones.
func ours(flags uint32) *wire.Own {
	own := wire.Mine()
	own.Flags |= flags
	return &own
}

// A client whose rank dies when all tables are there, and before it has connected to anybody: nobody has a socket that
// could tell. Its launcher tells the server, and the server the others. This test is the client; its host never
// connects.
func TestAClientLostBeforeItConnectsIsNamedAndEndsTheOthers(t *testing.T) {
	file := program(t, "misbehave")
	join := deaf(t, ours(0))
	for _, how := range []string{"-via direct -n 2", "-via agent -n 2", "-via direct " + machines(t)} {
		for _, why := range []string{"rank 7 on moon (pid 3) was killed by signal 9", "hung up", "reset by peer"} {
			s, address := server(t, with(key), "2")
			other := startWith(t, with(key), words("-client 0", address, how, file, "not 0")...)
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			session := join(address, 1, conn)
			if session == nil {
				return
			}
			switch why {
			case "reset by peer":
				conn.(*net.TCPConn).SetLinger(0)
				conn.Close()
			case "hung up":
				session.Fail("", nil)
			default:
				session.Fail(why, nil)
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

// Client 1 ends because it has lost client 2, whose link is down: the others are told of client 2.
func TestTheClientThatAnotherHasLostIsNamed(t *testing.T) {
	file := program(t, "misbehave")
	join := deaf(t, ours(0))
	for _, how := range []string{"-via direct -n 2", "-via agent -n 2", "-via direct " + machines(t)} {
		s, address := server(t, with(key), "3")
		other := startWith(t, with(key), words("-client 0", address, how, file, "not 0")...)
		var sessions [3]*impiclient.Session
		var joined sync.WaitGroup
		for i := int32(1); i < 3; i++ {
			joined.Go(func() { sessions[i] = join(address, i, nil) })
		}
		if joined.Wait(); t.Failed() {
			return
		}
		lost := int32(2)
		sessions[1].Fail("rank 5 gave up", &lost)
		r := other.wait()
		r.expect(t, 1, "client 2 is lost: client 1 says: rank 5 gave up")
		if strings.Count(r.stderr, "impirun: ") != 1 {
			t.Errorf("%s: %q", how, r.stderr)
		}
		sessions[2].Fail("", nil)
		if r := s.wait(); r.code != 1 {
			t.Errorf("the server ended with %d: %q", r.code, r.stderr)
		}
	}
}
