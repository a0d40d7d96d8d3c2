package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// impirun -server N -file FILE (IMPI 0.0, 2.2.3).

// appFile writes an application file.
func appFile(t *testing.T, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "appfile")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAnApplicationFileStartsAllClients(t *testing.T) {
	file := program(t, "negotiate")
	shell := strings.Fields(machines(t))[1]
	list := appFile(t, "# three clients, in any order", "", "alpha -client 2 $hostport -np 2 "+file, "-np 2 -via agent "+
		file+" 'an argument'", "localhost -client 0 $hostport -tagub 40000 "+file)
	// The second line is the second client: rank 1.
	secret := "IMPI_AUTH_SECRET=one for all lines"
	for _, settings := range [][]string{{"NOTHING="}, {key}, {secret}, {secret, "IMPI_AUTH_TLS=1"}} {
		r := startWith(t, with(settings...), words("-server 3 -host 127.0.0.1 -rsh", shell, "-file", list)...).wait()
		r.expect(t, 0, "")
		if r.stdout != "tagub 40000\n" {
			t.Errorf("%q", r.stdout)
		}
	}
}

func TestAnApplicationFileWhoseClientFailsEnds(t *testing.T) {
	list := appFile(t, "-np 2 "+program(t, "misbehave")+" 'not' 0", "-np 1 sh -c 'exit 9'")
	r := run(t, words("-server 2 -host 127.0.0.1 -file", list)...)
	if r.code != 9 || !strings.Contains(r.stderr, "line 2: the client ended with code 9") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	run(t, words("-server 3 -file", list)...).expect(t, 1, "has 2 clients")
	run(t, words("-server 3 -file", list+".not")...).expect(t, 1, "no such file")
	run(t, words("-file", list, "true")...).expect(t, 2, "-server only")
}

// Nobody waits for a client that has ended.
func TestClientsOfAnApplicationFileThatDoNotJoinAreNotWaitedFor(t *testing.T) {
	r := run(t, words("-server 2 -host 127.0.0.1 -file", appFile(t, "-np 2 echo one", "-np 1 echo two"))...)
	r.expect(t, 0, "")
	if lines := strings.Fields(r.stdout); len(lines) != 3 {
		t.Errorf("%q", lines)
	}
	list := appFile(t, "-np 1 "+program(t, "negotiate"), "-np 1 true")
	r = run(t, words("-server 2 -host 127.0.0.1 -file", list)...)
	if r.code != 1 || !strings.Contains(r.stderr, "client 1 is lost: it has ended, and none of its processes has called "+
		"MPI_Init") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}
