package launcher

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/transport/wire"
)

// survived checks that a job has gone on without ranks: its code, what each survivor has heard, and that the user has
// been told so much, in one message.
func (r result) survived(t *testing.T, how string, survivors int, heard, said string) {
	t.Helper()
	if r.code != 0 || strings.Count(r.stdout, heard+"\n") != survivors || strings.Count(r.stdout, "\n") != survivors {
		t.Errorf("%s: code %d, %q, want %d lines %q (%s)", how, r.code, r.stdout, survivors, heard, r.stderr)
	}
	if messages(r.stderr) != 1 || !strings.Contains(r.stderr, said) {
		t.Errorf("%s: stderr is %q, want one message with %q", how, r.stderr, said)
	}
}

const killed9 = "was killed by signal 9 (SIGKILL, killed)"

func TestAFaultTolerantJobGoesOnWithoutARank(t *testing.T) {
	for _, option := range []string{"-with-ft ulfm", "-enable-recovery", "-disable-auto-cleanup"} {
		run(t, words(option, "-n 3", does("init", "dies 1", "lost 1", "fini"))...).
			survived(t, option, 2, "1 lost: "+killed9, killed9+"; the job goes on without it\n")
	}
	run(t, words("-with-ft ulfm", machines(t), does("init", "dies 2", "lost 1", "fini"))...).
		survived(t, "on machines", 4, "2 lost: "+killed9, "impirun: rank 2 on ")
	s := newSite(t)
	s.run(nil, words("-with-ft ulfm", s.many(5), "-branch-count 2 -n 5", does("init", "dies 4", "lost 1", "fini"))...).
		survived(t, "in a tree", 4, "4 lost: "+killed9, "impirun: rank 4 on ")
	one := does("init", "dies 1", "lost 1", "fini")
	run(t, words("-q -with-ft ulfm -n 2", one)...).expect(t, 0, "")
	r := run(t, words("-output json -with-ft ulfm -n 2", one)...)
	var object map[string]map[string]any
	if err := json.Unmarshal([]byte(r.stderr), &object); err != nil || object["loss"]["ranks"] == nil || r.code != 0 {
		t.Errorf("code %d, %q: %v", r.code, r.stderr, err)
	}
}

func TestTheLossOfAMachineIsThatOfItsRanks(t *testing.T) {
	j := start(t, words("-with-ft ulfm", machines(t), does("init", "orphans 4", "lost 2", "fini"))...)
	j.killed = true
	r := j.wait()
	if r.code != 0 || strings.Count(r.stdout, "3 lost: machine beta: ") != 3 || strings.Count(r.stdout, "4 lost: ") != 3 {
		t.Errorf("code %d, %q (%s)", r.code, r.stdout, r.stderr)
	}
	if !strings.Contains(r.stderr, "machine beta: ") || !strings.Contains(r.stderr, "goes on without ranks 3-4\n") {
		t.Errorf("%q", r.stderr)
	}
}

func TestTheLossOfAClientIsThatOfItsRanks(t *testing.T) {
	join := deaf(t, ours(wire.FlagSurvives))
	for _, how := range []string{"-via direct -n 2", "-via direct " + machines(t)} {
		s, address := server(t, with(key), "2")
		other := startWith(t, with(key), words("-client 0", address, "-with-ft ulfm", how, does("init", "lost 1", "fini"))...)
		session := join(address, 1, nil)
		if session == nil {
			return
		}
		session.Fail("its room burns", nil)
		survivors := 2
		if strings.Contains(how, "hostfile") {
			survivors = 5
		}
		rank := map[int]string{2: "2", 5: "5"}[survivors]
		other.wait().survived(t, how, survivors, rank+" lost: client 1 is lost: its room burns",
			"impirun: client 1 is lost: its room burns; the job goes on without rank "+rank+"\n")
		if r := s.wait(); r.code != 1 {
			t.Errorf("the server ended with %d: %q", r.code, r.stderr)
		}
	}
}

// A client of another implementation is lost when its connection with the server ends.
func TestTheLossOfAForeignClientIsThatOfItsRanks(t *testing.T) {
	s, address := server(t, with(key), "2")
	line := words("-client 0", address, "-with-ft ulfm -via direct -n 2", does("init", "lost 1", "fini"))
	other := startWith(t, with(key), line...)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if deaf(t, nil)(address, 1, conn) == nil {
		return
	}
	conn.Close()
	why := "client 1 is lost: " + conn.LocalAddr().String() + " hung up"
	other.wait().survived(t, "a foreign client", 2, "2 lost: "+why, why)
	s.wait()
}

// Clients that do not all go on without ranks that are lost could not meet any more after the first loss.
func TestAllClientsAreFaultTolerantOrNone(t *testing.T) {
	_, address := server(t, with(key), "2")
	rank := words("-via direct -n 1", does("init", "fini"))
	first := startWith(t, with(key), words("-client 0", address, "-with-ft ulfm", rank)...)
	second := startWith(t, with(key), words("-client 1", address, rank)...)
	for _, j := range []*job{first, second} {
		if r := j.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 0 goes on without ranks that are lost") {
			t.Errorf("code %d, %q", r.code, r.stderr)
		}
	}
}

// The server tells of a rank of a client that goes on.
func TestOtherClientsHearOfALostRank(t *testing.T) {
	steps := does("init", "dies 1", "lost 1", "fini") // IMPI_RANK counts within the client
	s, address := server(t, with(key), "2")
	first := startWith(t, with(key), words("-client 0", address, "-via direct -with-ft ulfm -n 1", steps)...)
	second := startWith(t, with(key), words("-client 1", address, "-via direct -with-ft ulfm -n 2", steps)...)
	first.wait().survived(t, "the other client", 1, "2 lost: ranks of client 1 are lost: "+killed9,
		"impirun: ranks of client 1 are lost: "+killed9+"; the job goes on without rank 2\n")
	second.wait().survived(t, "its client", 1, "2 lost: "+killed9, killed9+"; the job goes on without it\n")
	s.wait().expect(t, 0, "")
}

// What programs see of losses, and of a rank that is stopped, which is none.
func TestProgramsGoOnWithoutARank(t *testing.T) {
	file := program(t, "survive")
	for how, do := range map[string]string{machines(t): "kill", "-n 4": "exit", "-clients 2 -n 4": "kill",
		"-clients 3 -via agent -n 4": "kill"} {
		said := map[string]string{"kill": killed9, "exit": "exited with code 7"}[do]
		r := run(t, words("-with-ft ulfm", how, file, "1 1", do)...)
		ready := strings.Count(r.stdout, "ready\n")
		r.stdout = strings.ReplaceAll(r.stdout, "ready\n", "")
		r.survived(t, how+" "+do, ready-1, "survived", said+"; the job goes on without it\n")
	}
	run(t, words("-with-ft ulfm -trace", t.TempDir(), "-summary="+filepath.Join(t.TempDir(), "s.json"), "-n 3", file,
		"0 0 kill")...).expect(t, 0, killed9+"; the job goes on without it\n")
	r := run(t, words("-with-ft ulfm -clients 2 -n 3", file, "1 1 stop")...)
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "survived\n") != 3 || strings.Count(r.stdout, "\n") != 3 {
		t.Errorf("%q", r.stdout)
	}
}

// MPI_Abort ends all; so does the end of a rank for which others wait in MPI_Init. The code is that of a survivor, or
// of the first loss if there is none.
func TestWhatEndsAFaultTolerantJob(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []string
		code  int
		said  string
	}{
		"MPI_Abort":             {does("init", "dies 1", "lost 1", "abort 7"), 7, "rank 0 on "},
		"in MPI_Init":           {does("unless 1 3", "init", "lost 1"), 3, "rank 1 on "},
		"nobody survives":       {does("init", "kill"), 137, killed9},
		"a survivor ends badly": {does("init", "dies 1", "lost 1", "fini", "exit 6"), 6, "rank 0 on "},
	} {
		r := run(t, words("-with-ft ulfm -n 2", tt.steps)...)
		if r.code != tt.code || !strings.Contains(r.stderr, tt.said) {
			t.Errorf("%s: code %d, %q, want %d and %q", name, r.code, r.stderr, tt.code, tt.said)
		}
	}
	r := run(t, words("-with-ft ulfm", machines(t), does("init", "kill"))...)
	if r.code != 137 || !strings.Contains(r.stderr, killed9) {
		t.Errorf("on machines: code %d, %q", r.code, r.stderr)
	}
	if r := run(t, words("-with-ft ulfm -with-ft none -n 2", does("init", "dies 1", "sleep"))...); r.code != 137 {
		t.Errorf("not fault tolerant: code %d, %q", r.code, r.stderr)
	}
}

// The plate of the example is in the memory of the client that is left (examples_c/heat2d_ft.c). A rank of the other
// dies before a step, and its shell takes the launcher along.
func TestHeatSurvivesTheLossOfAClient(t *testing.T) {
	heat := example(t, "heat2d_ft") + " 64 200"
	want := run(t, words("-n 1", heat)...)
	for _, via := range []string{"direct", "agent"} {
		s, address := server(t, with(key), "2")
		line := words(address, "-via", via, "-with-ft ulfm -n 2")
		first := startWith(t, with(key), words("-client 0", line, heat)...)
		second := startWith(t, with(key), words("-client 1", line, "sh -c", []string{heat + " 3 110; kill -KILL $PPID"})...)
		if r := first.wait(); r.code != 0 || r.stdout != "2 ranks go on from step 100\n"+want.stdout {
			t.Errorf("%s: code %d, %q, want also %q (%s)", via, r.code, r.stdout, want.stdout, r.stderr)
		}
		if r := second.wait(); r.code != 137 {
			t.Errorf("%s: the client that is lost ends with %d (%s)", via, r.code, r.stderr)
		}
		s.wait()
	}
}

// example returns an example as the build has compiled it.
func example(t *testing.T, name string) string {
	t.Helper()
	return filepath.Join(filepath.Dir(program(t, "misbehave")), "../../examples_c", name)
}

// Ranks that are lost are replaced by others, of which the same is true.
func TestSpawnedRanksReplaceThoseThatAreLost(t *testing.T) {
	file := program(t, "spawner")
	for _, how := range []string{"-n 2", "-clients 2 -n 2"} {
		r := run(t, words("-with-ft ulfm", how, file)...)
		if r.code != 0 || r.stdout != "1 1 1 1\n" || messages(r.stderr) != 2 ||
			!strings.Contains(r.stderr, "rank 0 of spawned job 1 (spawner) on ") {
			t.Errorf("%s: code %d, %q, %q", how, r.code, r.stdout, r.stderr)
		}
	}
}
