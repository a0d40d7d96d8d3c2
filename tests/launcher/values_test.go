package launcher

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
)

// Label values that clients negotiate (IMPI 0.0, 2.3.5 and 3.9): two clients say different things.

// two runs one program as two clients with options of their own, and returns how they and the server ended.
func two(t *testing.T, file, first, second string) (a, b, s result) {
	t.Helper()
	srv, address := server(t, with(key), "2")
	start := func(rank, options string) *job {
		return startWith(t, with(key), words("-v -client", rank, address, options, "-np 2", file)...)
	}
	x, y := start("0", first), start("1", second)
	return x.wait(), y.wait(), srv.wait()
}

func TestClientsNegotiateTheirValues(t *testing.T) {
	file := program(t, "negotiate")
	for _, tt := range []struct{ first, second, agreed string }{
		{"", "", "datalen 65536, ackmark 32, hiwater 192, tagub 2147483647, xsize 1024, maxlinear 4"},
		{"-datalen 7 -tagub 40000", "-datalen 9 -tagub 50000 -ackmark 3 -hiwater 8",
			"datalen 7, ackmark 3, hiwater 8, tagub 40000, xsize 1024, maxlinear 4"},
		{"-datalen 1 -hiwater 1", "-ackmark 5", "datalen 1, ackmark 1, hiwater 1, tagub 2147483647, xsize 1024, maxlinear 4"},
		{"-xsize 64 -maxlinear 0", "-maxlinear=0 -xsize=64",
			"datalen 65536, ackmark 32, hiwater 192, tagub 2147483647, xsize 64, maxlinear 0"},
		{"-xsize -1 -maxlinear 4", "-xsize 1024",
			"datalen 65536, ackmark 32, hiwater 192, tagub 2147483647, xsize 1024, maxlinear 4"},
	} {
		a, b, s := two(t, file, tt.first, tt.second)
		for _, r := range []result{a, b} {
			if r.code != 0 || !strings.Contains(r.stderr, tt.agreed+"\n") {
				t.Errorf("%q and %q: code %d, %q; want %q", tt.first, tt.second, r.code, r.stderr, tt.agreed)
			}
		}
		bound := strings.Fields(strings.ReplaceAll(tt.agreed, ",", ""))[7]
		if s.code != 0 || a.stdout != "tagub "+bound+"\n" {
			t.Errorf("%q and %q: the server ends with %d, rank 0 says %q", tt.first, tt.second, s.code, a.stdout)
		}
	}
}

func TestClientsThatCannotAgreeSayAboutWhat(t *testing.T) {
	file := program(t, "negotiate")
	for options, label := range map[string]string{"-xsize 7": "C_COLL_XSIZE", "-maxlinear 7": "C_COLL_MAXLINEAR"} {
		a, b, _ := two(t, file, "", options)
		for _, r := range []result{a, b} {
			if r.code != 1 || !strings.Contains(r.stderr, label+": all clients must choose the same value") &&
				!strings.Contains(r.stderr, "closed by the server") {
				t.Errorf("%s: code %d, %q", options, r.code, r.stderr)
			}
		}
		if !strings.Contains(a.stderr+b.stderr, label) {
			t.Errorf("%s: nobody names %s: %q, %q", options, label, a.stderr, b.stderr)
		}
	}
}

func TestValuesOfTheEnvironmentReachTheOtherClient(t *testing.T) {
	file := program(t, "negotiate")
	for setting, want := range map[string]string{
		"IMPI_TAGUB=33000": "tagub 33000\n", "IMPI_DATALEN=3": "tagub 2147483647\n", "IMPI_HIWATER=2": "tagub 2147483647\n",
	} {
		r := startWith(t, []option{environ(setting)}, words("-clients 2 -n 4", file)...).wait()
		r.expect(t, 0, "")
		if r.stdout != want {
			t.Errorf("%s: %q", setting, r.stdout)
		}
	}
}

func TestAClientThatCannotBeReachedConnectsItself(t *testing.T) {
	file := program(t, "negotiate")
	for _, tt := range []struct{ first, second string }{
		{"-outbound", ""}, {"", "-outbound"}, {"-outbound -via agent", ""}, {"-outbound -via agent", "-via agent"},
		{"-outbound", "-via agent"},
	} {
		a, b, s := two(t, file, tt.first, tt.second)
		if a.code != 0 || b.code != 0 || s.code != 0 || a.stdout != "tagub 2147483647\n" {
			t.Errorf("%q and %q: %+v, %+v, %+v", tt.first, tt.second, a, b, s)
		}
	}
	a, b, _ := two(t, file, "-outbound", "-outbound")
	if a.code != 1 || b.code != 1 || !strings.Contains(a.stderr+b.stderr, "can both only connect to others") {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestAgentsAndRanksListenWhereTheyAreTold(t *testing.T) {
	file := program(t, "negotiate")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	a, b, _ := two(t, file, fmt.Sprintf("-port %d-%d", port, port+20), "-via direct")
	if a.code != 0 || b.code != 0 || !strings.Contains(a.stderr, "is listening at 127.0.0.1:") ||
		strings.Contains(a.stderr, fmt.Sprintf(":%d\n", port)) {
		t.Errorf("%+v, %+v", a, b)
	}
	a, b, _ = two(t, file, fmt.Sprintf("-via direct -port %d-%d", port, port+20), "-via direct")
	if a.code != 0 || b.code != 0 {
		t.Errorf("%+v, %+v", a, b)
	}
	srv, address := server(t, with(key), "2")
	for _, via := range []string{"agent", "direct"} {
		one := startWith(t, with(key), words("-client 0", address, "-via", via, "-port", fmt.Sprint(port), file)...).wait()
		if one.code == 0 || !strings.Contains(one.stderr, "address already in use") {
			t.Errorf("%s: %+v", via, one)
		}
	}
	srv.signal(syscall.SIGTERM)
	srv.wait()
}

func TestClientsAgreeOnTheLesserNumberOfConnections(t *testing.T) {
	file := program(t, "negotiate")
	for _, tt := range []struct {
		first, second string
		agreed        int
	}{
		{"-streams 3", "-streams 2", 2}, {"-streams 3", "", 1}, {"-streams 4 -via agent", "-streams 3", 3},
		{"-streams 2", "-outbound -streams 2", 2},
		{"-outbound -streams 16 -via agent", "-streams 16 -via agent", 16},
	} {
		a, b, s := two(t, file, tt.first, tt.second)
		if a.code != 0 || b.code != 0 || s.code != 0 || a.stdout != "tagub 2147483647\n" {
			t.Errorf("%q and %q: %+v, %+v, %+v", tt.first, tt.second, a, b, s)
		}
		for i, r := range []result{a, b} {
			said := fmt.Sprintf("client %d: %d connections with each host of client %d\n", i, tt.agreed, 1-i)
			if strings.Contains(r.stderr, said) != (tt.agreed > 1) {
				t.Errorf("%q and %q: client %d says %q", tt.first, tt.second, i, r.stderr)
			}
		}
	}
}
