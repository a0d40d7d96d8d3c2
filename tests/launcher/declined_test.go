package launcher

import (
	"strings"
	"testing"
)

// A client whose programs never call MPI_Init ends well, and leaves nobody waiting for it.
func TestAClientThatEndsWithoutMPIInitEndsThoseThatWaitForItAndIsNamed(t *testing.T) {
	const why = "it has ended, and none of its processes has called MPI_Init"
	for name, how := range map[string]string{"direct": "-via direct -n 2", "agent": "-via agent -n 2",
		"machines": "-via direct " + machines(t)} {
		t.Run(name, func(t *testing.T) {
			s, address := server(t, with(key), "2")
			waits := startWith(t, with(key), words("-v -client 0", address, "-n 2", program(t, "misbehave"), "not 0")...)
			waits.stderr.await("is waiting for the others", 1)
			startWith(t, with(key), words("-client 1", address, how, "true")...).wait().expect(t, 0, "")
			if r := waits.wait(); r.code != 1 || !strings.Contains(r.stderr, "client 1 is lost: "+why) {
				t.Errorf("code %d, %q", r.code, r.stderr)
			}
			if r := s.wait(); r.code != 1 || !strings.Contains(r.stderr, "will not join the others: "+why) {
				t.Errorf("the server ended with %d: %q", r.code, r.stderr)
			}
		})
	}
}

func TestAServerWhoseClientsAllEndWithoutMPIInitEndsWell(t *testing.T) {
	s, address := server(t, with(key), "2")
	for _, i := range []string{"0", "1"} {
		startWith(t, with(key), words("-client", i, address, "-n 1 true")...).wait().expect(t, 0, "")
	}
	if r := s.wait(); r.code != 0 {
		t.Errorf("the server ended with %d: %q", r.code, r.stderr)
	}
}

// A rank that dies in MPI_Init, before its client has met the others: they wait for it at the server, which nobody has
// told when it will come. The client tells the server itself.
func TestARankThatDiesBeforeTheClientsHaveMetEndsAllAndIsNamed(t *testing.T) {
	file := program(t, "misbehave")
	ways := map[string]string{"direct": "-via direct -n 2", "agent": "-via agent -n 2", "machines": "-via direct " +
		machines(t)}
	for name, how := range ways {
		for do, why := range map[string]string{
			"killed-before-init 1": "rank 1 of client 1 on", "before-init 1 6": "rank 1 of client 1 on",
		} {
			t.Run(name+" "+do, func(t *testing.T) {
				s, address := server(t, with(key), "3")
				waits := startWith(t, with(key), words("-v -client 0", address, "-n 2", file, "not 0")...)
				waits.stderr.await("is waiting for the others", 1)
				dies := startWith(t, with(key), words("-client 1", address, how, file, do)...)
				if r := dies.wait(); r.code == 0 || !strings.Contains(r.stderr, why) {
					t.Errorf("code %d, %q", r.code, r.stderr)
				}
				if r := waits.wait(); r.code != 1 || !strings.Contains(r.stderr, "client 1 is lost: "+why) {
					t.Errorf("code %d, %q", r.code, r.stderr)
				}
				if r := s.wait(); r.code != 1 || !strings.Contains(r.stderr, why) {
					t.Errorf("the server ended with %d: %q", r.code, r.stderr)
				}
			})
		}
	}
}
