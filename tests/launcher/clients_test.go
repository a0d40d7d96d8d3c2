package launcher

import (
	"net"
	"strings"
	"syscall"
	"testing"
)

// Clients and a server that were started by hand (IMPI 0.0, 2.2), and everything that can be wrong with them.

const key = "IMPI_AUTH_KEY=4242"

// server starts impirun -server and returns it and its address.
func server(t *testing.T, options []option, more ...string) (*job, string) {
	t.Helper()
	j := startWith(t, options, words("-server", more, "-host 127.0.0.1")...)
	j.stdout.await("\n", 1)
	return j, strings.TrimSpace(j.stdout.String())
}

func with(settings ...string) []option { return []option{environ(settings...)} }

func client(t *testing.T, setting, rank, address, program string) *job {
	t.Helper()
	return startWith(t, with(setting), words("-client", rank, address, "-np 2", program, "not 0")...)
}

func TestClientsMeetAtAServer(t *testing.T) {
	file := program(t, "misbehave")
	s, address := server(t, with(key), "2")
	a, b := client(t, key, "0", address, file), client(t, key, "1", address, file)
	a.wait().expect(t, 0, "")
	b.wait().expect(t, 0, "")
	r := s.wait()
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("the server says %q", r.stdout)
	}
}

func TestAServerNeedsAMethod(t *testing.T) {
	run(t, "-server", "2").expect(t, 1, "IMPI_AUTH_KEY")
	startWith(t, with("IMPI_AUTH_KEY=secret"), "-server", "2").wait().expect(t, 1, "decimal")
	startWith(t, with(key), words("-server 2 -auth x")...).wait().expect(t, 1, "-auth")
}

func TestAServerWhosePortIsTakenSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	startWith(t, with(key), words("-server 2 -host 127.0.0.1 -port", port)...).wait().expect(t, 1,
		"address already in use")
}

func TestAClientWithoutAServerSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // nobody listens there now
	startWith(t, with(key), words("-deadline join=0.2 -client 0", address, program(t, "misbehave"), "not 0")...).wait().
		expect(t, 1, "no IMPI server answers at "+address)
	run(t, words("-deadline join=1 -n 1 true")...).expect(t, 2, "-server or -client")
	startWith(t, with(key), words("-deadline run=1 -client 0", address, "true")...).wait().expect(t, 2, "join")
}

func TestAClientWithTheWrongKeyIsToldSo(t *testing.T) {
	s, address := server(t, with(key), "2")
	client(t, "IMPI_AUTH_KEY=1", "0", address, program(t, "misbehave")).wait().expect(t, 1, "wrong IMPI_AUTH_KEY?")
	client(t, "IMPI_AUTH_NONE=", "0", address, program(t, "misbehave")).wait().expect(t, 1, "authentication method")
	client(t, "NOTHING=", "0", address, program(t, "misbehave")).wait().expect(t, 1, "no authentication method")
	s.signal(syscall.SIGTERM)
	if r := s.wait(); r.code != 143 {
		t.Errorf("the server ended with %d: %s", r.code, r.stderr)
	}
}

func TestAClientRankThatCannotBeIsRefused(t *testing.T) {
	file := program(t, "misbehave")
	s, address := server(t, with(key), "2")
	client(t, key, "2", address, file).wait().expect(t, 1, "client rank 2")
	first := client(t, key, "0", address, file)
	twin := client(t, key, "0", address, file)
	// One of the two is refused; which one is a matter of who came first.
	one := make(chan result, 2)
	go func() { one <- first.wait() }()
	go func() { one <- twin.wait() }()
	(<-one).expect(t, 1, "client rank 0 already taken")
	client(t, key, "1", address, file).wait().expect(t, 0, "")
	(<-one).expect(t, 0, "")
	if r := s.wait(); r.code != 0 {
		t.Errorf("the server ended with %d: %s", r.code, r.stderr)
	}
}

func TestAClientWhoseServerDiesBeforeTheStartEnds(t *testing.T) {
	s, address := server(t, with(key), "2")
	c := startWith(t, with(key), words("-v -client 0", address, "-np 2", program(t, "misbehave"), "not 0")...)
	c.stderr.await("is waiting for the others", 1)
	s.signal(syscall.SIGKILL)
	s.wait()
	if r := c.wait(); r.code != 1 || !strings.Contains(r.stderr, address) {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

func TestARankThatDiesBeforeMPIInitEndsItsClientAndItsPeers(t *testing.T) {
	file := program(t, "misbehave")
	s, address := server(t, with(key), "2")
	bad := startWith(t, with(key), words("-client 0", address, "-np 1", file, "not 0 : -np 1 sh -c",
		[]string{"exit 9"})...)
	bad.wait().expect(t, 9, "exited with code 9")
	s.signal(syscall.SIGTERM)
	s.wait()
}

func TestTheDeathOfAClientInTheJobReachesTheOtherClient(t *testing.T) {
	file := program(t, "misbehave")
	s, address := server(t, with(key), "2")
	start := func(rank string) *job {
		return startWith(t, with(key), words("-client", rank, address, "-np 2", file, "raise 3 9")...)
	}
	a, b := start("0"), start("1")
	b.wait().expect(t, 137, "signal 9 (SIGKILL")
	if r := a.wait(); r.code == 0 || strings.Count(r.stderr, "impirun: ") != 1 {
		t.Errorf("the other client ended with %d: %q", r.code, r.stderr)
	}
	if r := s.wait(); r.code == 0 {
		t.Errorf("the server ended with 0: %q", r.stderr)
	}
}
