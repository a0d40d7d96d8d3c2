package launcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Clusters as clients: ranks that another launcher starts join an IMPI server by themselves (IMPI_JOIN, -through).

// cluster is a launcher of this machine's, and the words before the number of ranks.
type cluster struct {
	name  string
	words []string
}

// clusters are MPICH's and Open MPI's launchers; without them these tests are skipped.
func clusters(t *testing.T) (mpich, openmpi cluster) {
	t.Helper()
	find := func(name string) string {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("there is no %s: apt-get install mpich openmpi-bin", name)
		}
		return file
	}
	return cluster{"MPICH", []string{find("mpiexec.mpich")}},
		cluster{"Open MPI", []string{find("mpirun.openmpi"), "--oversubscribe"}}
}

// startClient starts n ranks of a cluster, as client rank of the server at an address.
func (c cluster) startClient(t *testing.T, settings []string, rank int, address string, n int, do ...any) *job {
	t.Helper()
	list := append(c.words[1:len(c.words):len(c.words)], words("-n", fmt.Sprint(n), words(do...))...)
	set := append([]string{key, fmt.Sprintf("IMPI_JOIN=%d@%s", rank, address)}, settings...)
	return startProgram(t, append(with(set...), pmixSettings), c.words[0], list...)
}

// solverOf is the solver of examples_c with a matrix, and answerOf what it has found.
func solverOf(t *testing.T) []string {
	return []string{filepath.Join(filepath.Dir(stage(t)), "examples_c", "solver"), "../../examples_c/data/network600.mtx"}
}

var answerOf = regexp.MustCompile(`(?m)^answer:.*$`)

// A client of MPICH's launcher, one of Open MPI's and one of ours solve one system.
func TestThreeLaunchersMakeOneJob(t *testing.T) {
	mpich, openmpi := clusters(t)
	do := solverOf(t)
	want := run(t, words("-clients 3 -n 4", do)...)
	want.expect(t, 0, "")
	s, address := server(t, with(key), "3")
	jobs := []*job{startWith(t, with(key), words("-client 2", address, "-n 1", do)...),
		openmpi.startClient(t, nil, 1, address, 1, do), mpich.startClient(t, nil, 0, address, 2, do)}
	answer := ""
	for _, j := range jobs {
		r := j.wait()
		r.expect(t, 0, "")
		answer += answerOf.FindString(r.stdout)
	}
	if s.wait().expect(t, 0, ""); answer == "" || answer != answerOf.FindString(want.stdout) {
		t.Errorf("%q, want %q", answer, want.stdout)
	}
}

// Each of two clusters communicates inside by the library of its launcher, the third client by ours.
func TestClientsOfThreeLibrariesMakeOneJob(t *testing.T) {
	mpich, openmpi := clusters(t)
	library := func(pattern string) string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Skipf("there is no %s", pattern)
		}
		return "IMPI_LOCAL=vendor-only:" + files[0]
	}
	first, second := library("/usr/lib/*/libmpich.so.12"), library("/usr/lib/*/libmpi.so.40")
	for _, do := range [][]string{words(traffic(t), few), {reduce(t)}, {program(t, "../rma/put_get")},
		{program(t, "../comm/intercomm")}} {
		s, address := server(t, with(key), "3")
		jobs := []*job{mpich.startClient(t, []string{first}, 0, address, 2, do),
			openmpi.startClient(t, []string{second}, 1, address, 1, do),
			startWith(t, with(key), words("-client 2", address, "-n 1", do)...), s}
		for _, j := range jobs {
			j.wait().expect(t, 0, "")
		}
	}
}

// Only one process of each machine connects to other clients, and relays for the rest.
func TestAClusterHasAgentsIfItIsTold(t *testing.T) {
	mpich, openmpi := clusters(t)
	const via = "IMPI_VIA=agent"
	for _, do := range [][]string{{reduce(t)}, {program(t, "../rma/put_get")}, {program(t, "../session/world")}} {
		s, address := server(t, with(key), "2")
		jobs := []*job{openmpi.startClient(t, []string{via, "IMPI_REPORT=1"}, 0, address, 2, do),
			mpich.startClient(t, []string{via}, 1, address, 2, do)}
		if r := jobs[0].wait(); r.code != 0 || !strings.Contains(r.stderr, "tcp by an agent with 1") {
			t.Errorf("%s: code %d, %q", do, r.code, r.stderr)
		}
		jobs[1].wait().expect(t, 0, "")
		s.wait().expect(t, 0, "")
	}
	for _, how := range []string{"raise 1 9", "raise 2 9", "abort 3 42"} {
		s, address := server(t, with(key), "2")
		do := words(program(t, "misbehave"), how)
		for _, j := range []*job{openmpi.startClient(t, []string{via}, 0, address, 2, do),
			mpich.startClient(t, []string{via}, 1, address, 2, do), s} {
			if r := j.wait(); r.code == 0 {
				t.Errorf("%s: code 0, %q", how, r.stderr)
			}
		}
	}
}

// A process that nobody starts with others is a client, too.
func TestAProcessAloneJoinsAServer(t *testing.T) {
	mpich, _ := clusters(t)
	s, address := server(t, with(key), "2")
	a := startProgram(t, with(key, "IMPI_JOIN=0@"+address), program(t, "../coll/scan"))
	b := mpich.startClient(t, nil, 1, address, 2, program(t, "../coll/scan"))
	a.wait().expect(t, 0, "")
	b.wait().expect(t, 0, "")
	s.wait().expect(t, 0, "")
}

// The end of the input ends all.
func TestAProcessAloneSteersASolverInACluster(t *testing.T) {
	mpich, _ := clusters(t)
	s, address := server(t, with(key), "2")
	solver := mpich.startClient(t, nil, 1, address, 2, steering(t, "solve"))
	do := steering(t, "steer")
	laptop := startProgram(t, append(with(key, "IMPI_JOIN=0@"+address), stdin(strings.NewReader("set 3\nwait\n"))),
		do[0], do[1:]...)
	laptop.wait().expect(t, 0, "")
	r := solver.wait()
	if r.expect(t, 0, ""); r.stdout != wantAnswer {
		t.Errorf("%q, want %q", r.stdout, wantAnswer)
	}
	s.wait().expect(t, 0, "")
}

// impirun starts the other launcher itself, with what it has been told in its own words.
func TestImpirunStartsAClientThroughAnotherLauncher(t *testing.T) {
	mpich, openmpi := clusters(t)
	s, address := server(t, with(key), "2")
	do := program(t, "../coll/scan")
	a := startWith(t, append(with(key), pmixSettings), words("-client 0", address, "-port 0-65535 -through", openmpi.words,
		"-n 2", do)...)
	b := startWith(t, with(key, "IMPI_JOIN=7@nowhere:1"), words("-client 1", address, "-datalen 4096 -through",
		mpich.words, "-n 1", do, ": -n 2", do)...)
	a.wait().expect(t, 0, "")
	b.wait().expect(t, 0, "")
	s.wait().expect(t, 0, "")
	r := run(t, words("-client 0", address, "-through no-such-launcher -n 2 ./a.out")...)
	if r.code == 0 || !strings.Contains(r.stderr, "no-such-launcher") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// Whoever dies or aborts, in whichever cluster, both launchers end soon, and the other one's ranks name a rank of it,
// or say what MPI_Abort has said.
func TestADeathInOneClusterEndsTheOther(t *testing.T) {
	mpich, openmpi := clusters(t)
	file := program(t, "misbehave")
	for _, c := range []struct {
		do     string
		client int // whose rank it is
		code   int // -1: not 0; mpiexec may tell that of a rank that it has ended itself
	}{
		{"abort-later 0 42", 0, 42}, {"abort-later 1 42", 0, 42}, {"abort-later 3 42", 1, 42}, {"raise-later 1 9", 0, -1},
		{"raise-later 3 9", 1, -1}, {"exit-later 2 5", 1, -1}, {"raise 2 9", 1, -1},
	} {
		s, address := server(t, with(key), "2")
		jobs := []*job{openmpi.startClient(t, nil, 0, address, 2, file, c.do),
			mpich.startClient(t, nil, 1, address, 2, file, c.do)}
		for i, j := range jobs {
			r := j.wait()
			if r.code == 0 || i == c.client && c.code > 0 && r.code != c.code {
				t.Errorf("%s: client %d ends with %d", c.do, i, r.code)
			}
			says := "is lost"
			if strings.HasPrefix(c.do, "abort") {
				says = fmt.Sprintf("client %d is lost: MPI_Abort(%d) on MPI_COMM_WORLD", c.client, c.code)
			}
			early := strings.HasPrefix(c.do, "raise ") && // the others may be connecting yet
				strings.Contains(r.stderr, "has gone before all hosts were connected")
			if i != c.client && !early && !strings.Contains(r.stderr, says) {
				t.Errorf("%s: client %d says %q, without %q", c.do, i, r.stderr, says)
			}
		}
		if r := s.wait(); r.code == 0 {
			t.Errorf("%s: the server is content: %q", c.do, r.stderr)
		}
	}
}

func TestAClusterThatCannotJoinSaysWhy(t *testing.T) {
	mpich, openmpi := clusters(t)
	file := program(t, "../coll/scan")
	s, address := server(t, with(key), "2")
	busy, taken := server(t, with(key), "2") // the server of a job that has begun
	first := startWith(t, with(key), words("-client 0", taken, "-n 1", program(t, "misbehave"), "wait-for-signal 0")...)
	other := startProgram(t, with(key, "IMPI_JOIN=1@"+taken), program(t, "misbehave"), words("wait-for-signal 0")...)
	other.stdout.await("ready", 1)
	for _, c := range []struct {
		settings []string
		says     string
	}{
		{[]string{key, "IMPI_JOIN=nonsense"}, `IMPI_JOIN: "nonsense" is not R@HOST:PORT`},
		{[]string{key, "IMPI_JOIN=32@" + address}, "R is the rank of the client, 0 to 31"},
		{[]string{key, "IMPI_JOIN=1@nowhere.invalid:7000"}, "nowhere.invalid"},
		{[]string{key, "IMPI_JOIN=5@" + address}, "joining as client 5"},
		{[]string{key, "IMPI_JOIN=1@" + taken}, "joining as client 1: the connection was closed by the server"},
		{[]string{"IMPI_AUTH_SECRET=another", "IMPI_JOIN=1@" + address}, "IMPI server " + address},
		// The first of these ends the job: the client tells the server that it does not come.
		{[]string{key, "IMPI_JOIN=1@" + address, "IMPI_VIA=nobody"}, `IMPI_VIA: "nobody" is none of`},
		{[]string{key, "IMPI_JOIN=1@" + address, "IMPI_PORT=9-7"}, "IMPI_PORT: the range 9-7 ends before it begins"},
		{[]string{key, "IMPI_JOIN=1@" + address, "IMPI_ACKMARK=9", "IMPI_HIWATER=7"}, "ackmark 9: above hiwater 7"},
		{[]string{"IMPI_JOIN=1@" + address}, "no authentication method"},
	} {
		for _, by := range []cluster{mpich, openmpi} {
			line := append(by.words[1:len(by.words):len(by.words)], words("-n 2", file)...)
			r := startProgram(t, append(with(c.settings...), pmixSettings), by.words[0], line...).wait()
			if r.code == 0 || !strings.Contains(r.stderr, c.says) {
				t.Errorf("%s, %q: code %d, %q, without %q", by.name, c.settings, r.code, r.stderr, c.says)
			}
		}
	}
	first.signal(syscall.SIGTERM)
	for _, j := range []*job{first, other, busy} {
		j.wait()
	}
	r := run(t, words("-n 1 env", key, "IMPI_JOIN=1@"+address, file)...)
	if r.code == 0 || !strings.Contains(r.stderr, "impirun has the option -client") {
		t.Errorf("below impirun: code %d, %q", r.code, r.stderr)
	}
	if r := s.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 1 ") || !strings.Contains(r.stderr, "IMPI_VIA") {
		t.Errorf("the server: code %d, %q", r.code, r.stderr)
	}
}

// A client whose library is for other programs, or does not start, is missed at once.
func TestAClusterWhoseLibraryDoesNotStartSaysWhy(t *testing.T) {
	mpich, openmpi := clusters(t)
	short := filepath.Join(t.TempDir(), "libmpi.so.12") // the header of a library for 32 bits
	head := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 57)...)
	head[16], head[18] = 3, 3
	if err := os.WriteFile(short, head, 0o644); err != nil {
		t.Fatal(err)
	}
	library := "IMPI_LOCAL=vendor-only:"
	for _, c := range []struct {
		by              cluster
		pattern, broken string
		says            string
	}{
		{mpich, short, "", "it is for programs of 32 bits, and this one has 64"},
		{mpich, "/usr/lib/*/libmpich.so.12", "UCX_TLS=none-such", "a process has ended in MPI_Init of MPICH"},
		{openmpi, "/usr/lib/*/libmpi.so.40", "OMPI_MCA_pml=none-such", "a process has ended in MPI_Init of Open MPI"},
	} {
		files, err := filepath.Glob(c.pattern)
		if err != nil || len(files) == 0 {
			t.Skipf("there is no %s", c.pattern)
		}
		s, address := server(t, with(key), "2")
		other := startWith(t, with(key), words("-v -client 0", address, "-n 1", program(t, "../coll/scan"))...)
		other.stderr.await("is waiting for the others", 1)
		bad := c.by.startClient(t, []string{library + files[0], c.broken}, 1, address, 2, program(t, "../coll/scan"))
		if r := bad.wait(); r.code == 0 {
			t.Errorf("%s: code 0, %q", c.pattern, r.stderr)
		}
		for _, j := range []*job{other, s} {
			if r := j.wait(); r.code == 0 || !strings.Contains(r.stderr, "client 1 ") || !strings.Contains(r.stderr, c.says) {
				t.Errorf("%s: code %d, %q, without %q", c.pattern, r.code, r.stderr, c.says)
			}
		}
	}
}

// nodes runs a command of a cluster with two machines, of two ranks each, whose launcher is MPICH's, and whose ranks
// have MPICH's library for what goes between machines.
func (n *network) nodes(t *testing.T, settings []string, do ...any) *job {
	t.Helper()
	library, _ := otherMPI(t)
	return n.nodesFrom(t, 0, append(settings, "IMPI_LOCAL=vendor:"+library), do...)
}

// nodesFrom does so on the machines first and first+1, with the settings and no others.
func (n *network) nodesFrom(t *testing.T, first int, settings []string, do ...any) *job {
	t.Helper()
	_, launcher := otherMPI(t)
	shell := n.hydraShell(t)
	var j *job
	n.machines[first].inside(t, func() {
		j = startProgram(t, with(settings...), launcher, words("-localhost", n.machines[first].addr.String(),
			"-launcher ssh -launcher-exec", shell, n.hosts(first), "-ppn 2 -n 4", words(do...))...)
	})
	return j
}

func TestRanksOfAMachineShareMemoryBesideAnotherMPI(t *testing.T) {
	n := newNetwork(t, ipv4, 2)
	r := n.nodes(t, []string{"IMPI_REPORT=1"}, program(t, "shares")).wait()
	for _, says := range []string{"ranks 0-1 on ", ": shared memory, and read each other's memory; MPICH",
		"ranks 2-3 on "} {
		if !strings.Contains(r.stderr, says) {
			t.Errorf("%q, without %q", r.stderr, says)
		}
	}
	for _, says := range []string{"0/4 app 0 shares 0 1", "1/4 app 0 shares 0 1", "2/4 app 0 shares 2 3",
		"3/4 app 0 shares 2 3"} { // the launcher mixes lines of two machines
		if !strings.Contains(r.stdout, says) {
			t.Errorf("%q, without %q", r.stdout, says)
		}
	}
	for _, name := range []string{"pt2pt/order", "coll/subgroups", "rma/put_get"} {
		n.nodes(t, nil, program(t, "../"+name)).wait().expect(t, 0, "")
	}
}

// Such a cluster is a client like any other.
func TestAClusterWithItsLibraryIsAClient(t *testing.T) {
	n := newNetwork(t, ipv4, 3)
	do := solverOf(t)
	want := run(t, words("-clients 2 -n 5", do)...)
	var s, b *job
	n.machines[2].inside(t, func() { s = startWith(t, with(key), "-server", "2") })
	s.stdout.await("\n", 1)
	address := strings.TrimSpace(s.stdout.String())
	a := n.nodes(t, []string{key, "IMPI_JOIN=0@" + address}, do)
	n.machines[2].inside(t, func() { b = startWith(t, with(key), words("-client 1", address, "-n 1", do)...) })
	r := a.wait()
	r.expect(t, 0, "")
	b.wait().expect(t, 0, "")
	s.wait().expect(t, 0, "")
	if answer := answerOf.FindString(r.stdout); answer == "" {
		t.Errorf("%q, want about %q", r.stdout, want.stdout)
	}
}

// The death of a rank names it at the other client, whatever library the cluster has.
func TestADeathInAClusterWithItsLibraryEndsTheOther(t *testing.T) {
	n := newNetwork(t, ipv4, 3)
	file := program(t, "misbehave")
	var s, b *job
	n.machines[2].inside(t, func() { s = startWith(t, with(key), "-server", "2") })
	s.stdout.await("\n", 1)
	address := strings.TrimSpace(s.stdout.String())
	a := n.nodes(t, []string{key, "IMPI_JOIN=0@" + address}, file, "raise 3 9")
	n.machines[2].inside(t, func() {
		b = startWith(t, with(key), words("-client 1", address, "-n 2", file, "raise 3 9")...)
	})
	if r := a.wait(); r.code == 0 {
		t.Errorf("client 0: code %d, %q", r.code, r.stderr)
	}
	if r := b.wait(); r.code == 0 || !strings.Contains(r.stderr, "is lost") {
		t.Errorf("client 1: code %d, %q", r.code, r.stderr)
	}
	s.wait()
}
