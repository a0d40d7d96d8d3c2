package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/libimpi/libimpi/startup"
)

// Jobs that ranks spawn. The ranks are those of bootrank_test.go.

// sorted are the lines of a text.
func sorted(text string) []string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(list)
	return list
}

// says compares what a job wrote, in any order, with the lines that it should have written.
func (r result) says(t *testing.T, lines ...string) {
	t.Helper()
	slices.Sort(lines)
	if got := sorted(r.stdout); !slices.Equal(got, lines) {
		t.Errorf("output %q, want %q", got, lines)
	}
}

func TestASpawnedJobHasAWorldOfItsOwn(t *testing.T) {
	r := run(t, words("-usize 9 -l -n 1", does("init", "who",
		spawn(command(2, nil, "init", "who", "fini"), command(1, nil, "init", "who", "stdin", "fini")), "fini"))...)
	r.expect(t, 0, "")
	r.says(t, `[0] rank 0 of 1 app 0 parent "" universe 9`, "[0] spawned 3 [0 0 0]",
		`[s1:0] rank 0 of 3 app 0 parent "impi://parent" universe 9`,
		`[s1:1] rank 1 of 3 app 0 parent "impi://parent" universe 9`,
		`[s1:2] rank 2 of 3 app 1 parent "impi://parent" universe 9`, "[s1:2] /dev/null")
}

func TestTheUniverseIsWhatTheUserOrTheMachineSays(t *testing.T) {
	cores := max(2, runtime.NumCPU())
	hosts := filepath.Join(t.TempDir(), "hosts")
	os.WriteFile(hosts, []byte("localhost slots=70\nalpha slots=2\nbeta\n"), 0o600)
	for _, tt := range []struct {
		how  string
		env  string
		want int
	}{{"", "", 0}, {"-usize system", "", cores}, {"-host localhost", "", 0}, {"-host localhost:7", "", 7},
		{"-usize 64", "", 64}, {"-usize 1", "", 2}, {"", "MPIEXEC_UNIVERSE_SIZE=33", 33},
		{"-usize infinite", "", 0}, {"-usize 5", "MPIEXEC_UNIVERSE_SIZE=33", 5}, {"-hostfile " + hosts, "", 73}} {
		j := startWith(t, []option{environ("A=b", tt.env)}, words(tt.how, "-n 2", does("init", "who", "fini"))...)
		r := j.wait()
		r.expect(t, 0, "")
		if want := fmt.Sprintf("universe %d\n", tt.want); strings.Count(r.stdout, want) != 2 {
			t.Errorf("%s %s: %q, want %q", tt.how, tt.env, r.stdout, want)
		}
	}
	run(t, words("-usize none -n 2 true")...).expect(t, 2, "-usize none")
}

func TestWhatCannotBeSpawnedIsTheAnswerOfTheRankThatAsked(t *testing.T) {
	dir := t.TempDir()
	junk, text := filepath.Join(dir, "junk"), filepath.Join(dir, "text")
	os.WriteFile(junk, []byte("\x7fjunk"), 0o755)
	os.WriteFile(text, []byte("text"), 0o644)
	program := func(n int, path string, info ...string) string {
		c := command(n, info)
		c.Program, c.Args = path, nil
		return spawn(c)
	}
	for _, tt := range []struct{ step, want string }{
		{program(2, "./nowhere"), "spawned 0 [53 53] program ./nowhere does not exist"},
		{program(1, "no-such-program"), "spawned 0 [53] program no-such-program not found, neither in PATH nor here"},
		{program(1, dir), "spawned 0 [53] program " + dir + " cannot be run: it is a directory"},
		{program(1, text), "spawned 0 [53] program " + text + " cannot be run: it is not executable (chmod +x)"},
		{program(1, junk), "spawned 0 [53] program " + junk +
			" cannot be run: neither a program for this machine nor a script with #!"},
		{program(1, "true", "wdir=/no/such/place"), "spawned 0 [53] working directory /no/such/place does not exist"},
		{program(1, "true", "arch=pdp11"), "spawned 0 [53] program true is wanted on architecture pdp11, and this machine"},
		{program(1, "true"), "spawned 0 [53] program true (rank 0 of spawned job 1) ended without calling MPI_Init"},
		{program(2, "true", "soft=0"), "spawned 0 [53 53]"},
		{spawn(command(2, nil, "unless 1 7", "sleep")),
			"(rank 1 of spawned job 1) exited with code 7 before MPI_Init had returned"},
		{spawn(command(2, nil, "init", "sleep"), command(1, nil, "kill")),
			"(rank 2 of spawned job 1) was killed by signal 9 (SIGKILL) before MPI_Init had returned"},
		{spawn(command(2, nil, "init", "sleep"), command(1, nil, "unless 0 3", "sleep"), command(1, nil, "exit 3")),
			"(rank 3 of spawned job 1) exited with code 3"},
		{program(1, "true", "soft=x"), `spawn: true: info key soft: "x" is none of a, a:b, a:b:c`},
		{program(1, "true", "bind_to=coer"), `spawn: true: info key bind_to: there is no "coer", did you mean core?`},
		{spawn(command(1, []string{"bind_to=core"}, "init"), command(1, nil, "init")),
			`spawn: info key bind_to: the commands of a job have one value, and here are "core" and ""`},
		{program(1, "true", "env=x"), `spawn: true: info key env: "x" is not NAME=VALUE`},
		{program(1, "true", "file=/no/keys"), "spawn: true: info key file: open /no/keys"},
		{program(1, "true", "hostfile=/no/hosts"), "spawn: host file: open /no/hosts"},
		{program(1, "true", "mpi_initial_errhandler=mine"), "spawn: true: info key mpi_initial_errhandler"},
		{program(0, "true"), "spawned 0 [] no process is left of those that were asked for"},
	} {
		r := run(t, words("-n 1", does("init", tt.step, "say on", "fini"))...)
		r.expect(t, 0, "")
		lines := strings.Split(r.stdout, "\n")
		if !strings.Contains(lines[0], tt.want) || len(lines) != 3 || lines[1] != "on" {
			t.Errorf("%q, want %q", r.stdout, tt.want)
		}
	}
}

func TestSoftTakesWhatIsThere(t *testing.T) {
	r := run(t, words("-n 1", does("init", spawn(command(4, []string{"soft=1,3"}, "unless 1 7", "init", "who", "fini")),
		"fini"))...)
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "spawned 3 [0 53 0 0] program") || strings.Count(r.stdout, "of 3 app") != 3 {
		t.Errorf("output %q", r.stdout)
	}
	// Two are left, and one is acceptable: the last is ended.
	r = run(t, words("-n 1", does("init", spawn(command(3, []string{"soft=1,3"}, "unless 1 7", "init", "who", "fini")),
		"fini"))...)
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "spawned 1 [0 53 53] program") || strings.Count(r.stdout, "rank 0 of 1 app") != 1 {
		t.Errorf("output %q", r.stdout)
	}
	// A command of which nobody is needed does not keep another from its own.
	missing := command(2, []string{"soft=0:2"})
	missing.Program = "./nowhere"
	r = run(t, words("-n 1", does("init", spawn(missing, command(2, nil, "init", "who", "fini")), "fini"))...)
	r.expect(t, 0, "")
	if !strings.Contains(r.stdout, "spawned 2 [53 53 0 0] program ./nowhere") || strings.Count(r.stdout, "app 1") != 2 {
		t.Errorf("output %q", r.stdout)
	}
}

func TestInfoKeysOfASpawn(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(self(), filepath.Join(dir, "worker")); err != nil {
		t.Fatal(err)
	}
	keys := filepath.Join(dir, "keys")
	os.WriteFile(keys, []byte("# keys\n\nwdir = /\nenv = WHAT=file\n"), 0o600)
	show := []string{"env WHAT", "env IMPI_INITIAL_ERRHANDLER", "env FROM", "pwd", "init", "fini"}
	worker := func(program string, info ...string) string {
		c := command(1, info, show...)
		c.Program = program
		return spawn(c)
	}
	for _, tt := range []struct {
		step  string
		lines []string
	}{
		{worker("worker", "path="+dir, "wdir="+dir), []string{"WHAT=", "IMPI_INITIAL_ERRHANDLER=", "FROM=here", dir}},
		{worker("./worker", "wdir="+dir, "env=WHAT=a\nFROM=there\n", "mpi_initial_errhandler=mpi_errors_return",
			"what-nobody-knows=x"), []string{"WHAT=a", "IMPI_INITIAL_ERRHANDLER=mpi_errors_return", "FROM=there", dir}},
		{worker(filepath.Join(dir, "worker"), "file="+keys, "bind_to=core", "map_by=ppr:2:node", "host=localhost"),
			[]string{"WHAT=file", "IMPI_INITIAL_ERRHANDLER=", "FROM=here", "/"}},
	} {
		r := run(t, words("-x FROM=here -n 1", does("init", tt.step, "fini"))...)
		r.expect(t, 0, "")
		r.says(t, append(tt.lines, "spawned 1 [0]")...)
	}
}

func TestAProgramWithoutMPIIsSpawnedIfThatIsSaid(t *testing.T) {
	c := command(2, []string{"ompi_non_mpi=true"})
	c.Program, c.Args = "sh", []string{"-c", "echo plain"}
	r := run(t, words("-n 1", does("init", spawn(c), "fini"))...)
	r.expect(t, 0, "")
	r.says(t, "plain", "plain", "spawned 0 [0 0]")
	c.Args = []string{"-c", "exit 4"}
	run(t, words("-n 1", does("init", spawn(c), "fini"))...).expect(t, 4, "of spawned job 1 (sh)")
}

func TestTheEndOfASpawnedRankIsThatOfAll(t *testing.T) {
	child := func(steps ...string) string {
		return spawn(command(2, nil, append([]string{"init", "only 1"}, steps...)...))
	}
	for _, tt := range []struct {
		step string
		code int
		said string
	}{
		{child("exit 7"), 7, "rank 1 of spawned job 1 (launcher.test) on"},
		{child("exit 0"), 1, "exited without calling MPI_Finalize"},
		{child("kill"), 137, "rank 1 of spawned job 1"},
		{child("abort 5"), 5, "rank 1 of spawned job 1 (launcher.test)"},
	} {
		run(t, words("-n 1", does("init", tt.step, "sleep"))...).expect(t, tt.code, tt.said)
	}
	// After MPI_Finalize it counts, and ends nobody else.
	r := run(t, words("-n 1", does("init", spawn(command(2, nil, "init", "fini", "unless 1 8", "say well")), "fini"))...)
	r.expect(t, 8, "rank 1 of spawned job 1")
	r.says(t, "spawned 2 [0 0]", "well")
	// The other way round.
	run(t, words("-n 1", does("init", spawn(command(2, nil, "init", "sleep")), "exit 6"))...).expect(t, 6, "rank 0 on")
	// While the others have not called MPI_Init yet.
	run(t, words("-n 2", does("init", "unless 1 9", spawn(command(2, nil, "sleep"))))...).expect(t, 9, "rank 1 on")
}

func TestNothingIsLeftOfAJobWithSpawnedOnes(t *testing.T) {
	for name, end := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "ended": syscall.SIGTERM,
		"interrupted": syscall.SIGINT} {
		for _, child := range [][]string{{"init", "say ready", "sleep"}, {"say ready", "sleep"}} {
			j := start(t, words("-n 1", does("init", spawn(command(2, nil, child...)), "sleep"))...)
			j.stdout.await("ready", 2)
			j.signal(end)
			if r := j.wait(); r.code != 128+int(end) {
				t.Errorf("%s: code %d, %q", name, r.code, r.stderr)
			}
		}
	}
	// A child that a spawned rank has left behind.
	c := command(1, nil)
	c.Program, c.Args = "sh", []string{"-c", `setsid sleep 1000 & exec "$@"`, "sh", self(), rankWord, "init", "fini"}
	run(t, words("-n 1", does("init", spawn(c), "fini"))...).expect(t, 0, "")
}

func TestTheLauncherStaysUntilTheLastSpawnedRankHasEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "go")
	j := start(t, words("-n 1", does("init", spawn(command(1, nil, "init", "await "+file, "say last", "fini")), "fini",
		"say first"))...)
	j.stdout.await("first", 1)
	if strings.Contains(j.stdout.String(), "last") {
		t.Error("it has not waited")
	}
	os.WriteFile(file, nil, 0o600)
	r := j.wait()
	r.expect(t, 0, "")
	r.says(t, "spawned 1 [0]", "first", "last")
}

func TestSpawnedRanksSpawn(t *testing.T) {
	third := spawn(command(2, nil, "init", "say third", "fini"))
	second := spawn(command(2, nil, "init", third, "fini"))
	r := run(t, words("-n 1", does("init", second, "fini"))...)
	r.expect(t, 0, "")
	r.says(t, "spawned 2 [0 0]", "spawned 2 [0 0]", "spawned 2 [0 0]", "third", "third", "third", "third")
	die := spawn(command(1, nil, "init", "exit 7"))
	run(t, words("-n 1", does("init", spawn(command(1, nil, "init", die, "sleep")), "sleep"))...).
		expect(t, 7, "rank 0 of spawned job 2")
}

func TestSixtyFourAtOnce(t *testing.T) {
	r := run(t, words("-n 1", does("init", spawn(command(64, nil, "init", "who", "fini")), "fini"))...)
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "of 64 app") != 64 {
		t.Errorf("output %q", r.stdout)
	}
	r = run(t, words("-n 8", does("init", spawn(command(8, nil, "init", "who", "fini")), "fini"))...)
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "of 8 app") != 64 {
		t.Errorf("output %q", r.stdout)
	}
}

func TestSpawnsLeakNothing(t *testing.T) {
	failing := command(2, nil)
	failing.Program, failing.Args = "true", nil
	one := command(1, nil, "init", "fini")
	away := command(2, []string{"host=alpha"}, "init", "fini")
	how := "-rsh " + words(machines(t))[1] + " -n 1"
	for _, tt := range []struct {
		times   int
		command startup.Command
	}{{400, one}, {100, failing}, {30, away}} {
		step := spawn(tt.command)
		r := run(t, words(how, does("init", "times 20 "+step, "launcher", fmt.Sprintf("times %d %s", tt.times, step),
			"launcher", "fini"))...)
		if r.code != 0 {
			t.Fatalf("code %d: %s", r.code, r.stderr)
		}
		var before, after, memory, more int
		if n, err := fmt.Sscanf(r.stdout, "launcher %d %d\nlauncher %d %d\n", &before, &memory, &after, &more); n != 4 {
			t.Fatalf("%q: %v", r.stdout, err)
		}
		t.Logf("%d: descriptors %d, then %d; memory %d KiB, then %d; %q", tt.times, before, after, memory, more, r.stderr)
		if after > before+openMore || more > memory+6<<10 {
			t.Error("it leaks")
		}
	}
}

func TestSignalsReachSpawnedRanks(t *testing.T) {
	c := command(2, []string{"ompi_non_mpi=true"})
	c.Program, c.Args = program(t, "signalled"), []string{strconv.Itoa(int(syscall.SIGUSR1))}
	file := filepath.Join(t.TempDir(), "go")
	j := start(t, words("-n 1 sh -c", []string{`trap "" USR1; exec "$@"`, "sh"}, does("init", spawn(c), "await "+file,
		"fini"))...)
	j.stdout.await("ready", 2)
	j.signal(syscall.SIGUSR1)
	got := "got " + c.Args[0]
	j.stdout.await(got, 2)
	os.WriteFile(file, nil, 0o600)
	r := j.wait()
	r.expect(t, 0, "")
	r.says(t, "spawned 0 [0 0]", "ready", "ready", got, got)
}

func TestASpawnThatNeedsMoreThanThereIsFailsAlone(t *testing.T) {
	launcher := filepath.Join(stage(t), "bin", "impirun")
	few, many := command(2, nil, "init", "fini"), command(100, nil, "init", "fini")
	line := append([]string{"-c", `ulimit -n 40 && exec "$@"`, "sh", launcher, "-n", "1"}, does("init", spawn(many),
		spawn(few), "fini")...)
	r := startProgram(t, nil, "sh", line...).wait()
	r.expect(t, 0, "")
	if !strings.HasPrefix(r.stdout, "spawned 0 [53 53") || !strings.Contains(r.stdout, "too many open files") ||
		!strings.HasSuffix(r.stdout, "spawned 2 [0 0]\n") {
		t.Errorf("output %q", r.stdout)
	}
}

func TestAClientSpawnsInsideItself(t *testing.T) {
	pair := spawn(command(2, nil, "init", "who", "fini"))
	for _, via := range []string{"direct", "agent"} {
		r := run(t, words("-clients 2 -n 4 -via", via, does("init", pair, "fini"))...)
		if via == "direct" { // behind an agent these ranks, which send nothing, are lost ones in the end
			r.expect(t, 0, "")
		}
		if strings.Count(r.stdout, "spawned 2 [0 0]") != 4 || strings.Count(r.stdout, "of 2 app 0 parent") != 8 {
			t.Errorf("%s: output %q, %q", via, r.stdout, r.stderr)
		}
	}
	run(t, words("-clients 2 -n 2", does("init", spawn(command(2, nil, "init", "only 1", "exit 7")), "sleep"))...).
		expect(t, 7, "rank 1 of spawned job")
}

func TestRanksOfSeveralMachinesSpawn(t *testing.T) {
	how := machines(t)
	child := []string{"init", "who", "fini"}
	for name, tt := range map[string]struct {
		command string
		want    []string
	}{
		"where the rank is": {spawn(command(2, nil, child...)), []string{"of 2 app 0", "of 2 app 0"}},
		"on others":         {spawn(command(3, []string{"host=alpha,beta:2"}, child...)), []string{"of 3 app 0"}},
		"on others in turn": {spawn(command(4, []string{"host=alpha:2,beta:2", "map_by=node"}, child...)),
			[]string{"of 4 app 0"}},
		"on one and another": {spawn(command(1, []string{"host=alpha"}, child...), command(1, nil, child...)),
			[]string{"of 2 app"}},
	} {
		r := run(t, words(how, does("init", tt.command, "fini"))...)
		r.expect(t, 0, "")
		if strings.Count(r.stdout, "spawned") != 5 || strings.Count(r.stdout, tt.want[0]) < 10 {
			t.Errorf("%s: %q", name, r.stdout)
		}
	}
	for _, tt := range []struct{ info, program, want string }{
		{"host=alpha", "nowhere", "program nowhere not found"},
		{"host=alpha", "./nowhere", "program ./nowhere does not exist"},
		{"host=dead", self(), "machine dead"},
		{"host=alpha", "true", "ended without calling MPI_Init"},
		{"soft=7", self(), "[53]"},
	} {
		c := command(1, []string{tt.info}, child...)
		c.Program = tt.program
		r := run(t, words(how, does("init", spawn(c), "fini"))...)
		if r.code != 0 || strings.Count(r.stdout, "spawned 0 [53]") != 5 || !strings.Contains(r.stdout, tt.want) {
			t.Errorf("%s %s: code %d, %q, %q", tt.info, tt.program, r.code, r.stdout, r.stderr)
		}
	}
	c := command(1, []string{"host=alpha", "path=" + filepath.Dir(self())}, child...)
	c.Program = filepath.Base(self())
	r := run(t, words(how, does("init", spawn(c), "fini"))...)
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "spawned 1 [0]") != 5 {
		t.Errorf("output %q", r.stdout)
	}
	for _, host := range []string{"", "host=alpha"} {
		die := spawn(command(2, []string{host}, "init", "only 1", "exit 7"))
		r := run(t, words(how, does("init", die, "sleep"))...)
		r.expect(t, 7, "rank 1 of spawned job")
		live := spawn(command(2, []string{host}, "init", "sleep"))
		r = run(t, words(how, does("init", live, "unless 3 6", "sleep"))...)
		r.expect(t, 6, "rank 3 on")
	}
}

func TestAJobOfOneMachineSpawnsOnOthers(t *testing.T) {
	shell := words(machines(t))[1]
	file := filepath.Join(t.TempDir(), "go")
	how := "-rsh " + shell + " -n 1"
	three := spawn(command(3, []string{"host=alpha,beta:2"}, "init", "who", "await "+file, "fini"))
	j := start(t, words(how, "-l", does("init", three, "fini", "say first"))...)
	j.stdout.await("first", 1)
	os.WriteFile(file, nil, 0o600)
	r := j.wait()
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "of 3 app 0") != 3 || !strings.Contains(r.stdout, "[s1:2] rank 2 of 3") {
		t.Errorf("output %q", r.stdout)
	}
	run(t, words(how, does("init", spawn(command(2, []string{"host=alpha"}, "init", "only 1", "exit 7")), "sleep"))...).
		expect(t, 7, "rank 1 of spawned job 1")
	run(t, words(how, does("init", spawn(command(2, []string{"host=alpha"}, "init", "fini", "unless 1 7")), "fini"))...).
		expect(t, 7, "rank 1 of spawned job 1")
	run(t, words(how, does("init", spawn(command(2, []string{"host=alpha"}, "init", "sleep")), "exit 6"))...).
		expect(t, 6, "rank 0 on")
	for _, s := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		two := spawn(command(2, []string{"host=alpha"}, "init", "say ready", "sleep"))
		j := start(t, words(how, does("init", two, "sleep"))...)
		j.stdout.await("ready", 2)
		j.signal(s)
		if r := j.wait(); r.code != 128+int(s) {
			t.Errorf("%v: code %d, %q", s, r.code, r.stderr)
		}
	}
}

func TestAProcessOnItsOwnGetsALauncher(t *testing.T) {
	summon := "summon " + filepath.Join(stage(t), "bin", "impirun")
	alone := func(steps ...string) *job {
		line := does(append([]string{summon}, steps...)...)
		return startProgram(t, nil, line[0], line[1:]...)
	}
	r := alone("who", spawn(command(2, nil, "init", "who", "fini")), "fini").wait()
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "of 2 app 0") != 2 || !strings.Contains(r.stdout, "rank 0 of 1") {
		t.Errorf("output %q", r.stdout)
	}
	alone("fini").wait().expect(t, 0, "")
	alone("exit 3").wait().expect(t, 3, "")
	// It lasts as long as what was spawned.
	file := filepath.Join(t.TempDir(), "go")
	j := alone(spawn(command(1, nil, "init", "await "+file, "say last", "fini")), "fini", "say first")
	j.stdout.await("first", 1)
	os.WriteFile(file, nil, 0o600)
	if r := j.wait(); !strings.HasSuffix(r.stdout, "last\n") {
		t.Errorf("output %q", r.stdout)
	}
	// Death comes to all, whoever is the first.
	r = alone(spawn(command(2, nil, "init", "only 1", "exit 7")), "sleep").wait()
	if r.code != 128+int(syscall.SIGTERM) || !strings.Contains(r.stderr, "rank 1 of spawned job 1") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	r = alone(spawn(command(2, nil, "init", "sleep")), "kill").wait()
	if r.code != 137 || !strings.Contains(r.stderr, "exited without calling MPI_Finalize") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	r = alone(spawn(command(2, nil, "init", "sleep")), "abort 5").wait()
	if r.code != 5 || !strings.Contains(r.stderr, "rank 0 on") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	alone("abort 5").wait().expect(t, 5, "")
	// Also while they have not called MPI_Init.
	j = alone(spawn(command(2, nil, "say ready", "sleep")), "sleep")
	j.stdout.await("ready", 2)
	j.signal(syscall.SIGKILL)
	if r := j.wait(); r.code != 137 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}
