package launcher

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// A client of several machines. The machines are names: a remote shell that starts the command here stands for the
// network, and each name listens at an address of its own. Memory is shared inside a machine only.

// machines writes a remote shell and a host file, and returns the options that use them.
func machines(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	shell, hosts := filepath.Join(dir, "shell"), filepath.Join(dir, "hosts")
	// "dead" refuses connections, "odd" answers nonsense, "none" has no impirun.
	text := `#!/bin/sh
case $1 in
dead) echo "no route to $1" >&2; exit 255 ;;
odd) echo welcome to this machine; exec cat >/dev/null ;;
esac
shift
exec sh -c "$*"
`
	if err := os.WriteFile(shell, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	list := "localhost slots=2 addr=127.0.0.1 # where the launcher is\nalpha:1 addr=127.0.0.2\n\n" +
		"beta slots=2 max_slots=4 addr=127.0.0.3\n"
	if err := os.WriteFile(hosts, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	return "-rsh " + shell + " -hostfile " + hosts + " -n 5"
}

func TestRanksOfAMachineThatDoNotCallMPIInitAreNotWaitedFor(t *testing.T) {
	file := program(t, "negotiate")
	for script, want := range map[string]string{
		`[ $IMPI_RANK = 2 ] || exec ` + file: "rank 2 on alpha ended without calling MPI_Init, which rank ",
		`[ $IMPI_RANK = 2 ] && exec ` + file: " ended without calling MPI_Init, which rank 2 has called",
	} {
		run(t, words(machines(t), sh(script+`; true`))...).expect(t, 1, want)
	}
}

func TestRanksOfSeveralMachinesAreOneJob(t *testing.T) {
	r := run(t, words(machines(t), program(t, "negotiate"))...)
	r.expect(t, 0, "")
	if r.stdout != "tagub 2147483647\n" {
		t.Errorf("%q", r.stdout)
	}
}

func TestRanksStandInTheOrderOfTheHostFile(t *testing.T) {
	r := run(t, words(machines(t), "-l sh -c",
		[]string{"echo $IMPI_LOCAL_RANK of $IMPI_LOCAL_SIZE, $IMPI_RANK of $IMPI_SIZE; pwd"})...)
	r.expect(t, 0, "")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for rank, local := range []string{"0 of 2", "1 of 2", "0 of 1", "0 of 2", "1 of 2"} {
		if want := fmt.Sprintf("[%d] %s, %d of 5\n", rank, local, rank); !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in %q", want, r.stdout)
		}
		if want := fmt.Sprintf("[%d] %s\n", rank, here); !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in %q", want, r.stdout)
		}
	}
}

func TestSeveralProgramsOnSeveralMachines(t *testing.T) {
	how := strings.TrimSuffix(machines(t), "-n 5")
	r := run(t, words(how, "-n 3 -x A=1 sh -c", []string{"echo first $A $IMPI_RANK"}, ": -n 2 sh -c",
		[]string{"echo second $A $IMPI_RANK"})...)
	r.expect(t, 0, "")
	for _, want := range []string{"first 1 0\n", "first 1 1\n", "first 1 2\n", "second 3\n", "second 4\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q is missing in %q", want, r.stdout)
		}
	}
}

func TestMuchOutputOfOtherMachinesArrivesWhole(t *testing.T) {
	r := run(t, words(machines(t), "sh -c", []string{"seq 100000"})...)
	r.expect(t, 0, "")
	if n := strings.Count(r.stdout, "\n"); n != 5*100000 {
		t.Errorf("%d lines", n)
	}
}

// Lines of all lengths, from ranks that write at once, to stdout and to stderr.
func TestLinesWithPrefixesStayWholeAcrossMachines(t *testing.T) {
	const lines = 20000
	script := fmt.Sprintf(`awk -v r=$IMPI_RANK 'BEGIN { for (i = 0; i < %d; i++) {
		s = sprintf("%%*s", i %% 97, ""); gsub(" ", "x", s)
		print r, i, s "." > "/dev/stderr"; print r, i, s "." } }'`, lines)
	r := run(t, words(machines(t), "-l", sh(script))...)
	if r.code != 0 {
		t.Errorf("code %d", r.code)
	}
	for stream, text := range map[string]string{"stdout": r.stdout, "stderr": r.stderr} {
		next := [5]int{}
		for line := range strings.Lines(text) {
			var tag, rank, i int
			var xs string
			_, err := fmt.Sscanf(line, "[%d] %d %d %s\n", &tag, &rank, &i, &xs)
			if err != nil || tag != rank || rank > 4 || i != next[rank] ||
				xs != strings.Repeat("x", i%97)+"." {
				t.Fatalf("%s: %q: %v", stream, line, err)
			}
			next[rank]++
		}
		if next != [5]int{lines, lines, lines, lines, lines} {
			t.Errorf("%s: %v lines", stream, next)
		}
	}
}

// SIGQUIT is for the ranks; of the launcher's own goroutines nobody wants to know.
func TestSIGQUITEndsEveryKindOfLauncher(t *testing.T) {
	j := start(t, words(machines(t), program(t, "misbehave"), "wait-for-signal 0")...)
	j.stdout.await("ready", 5)
	j.signal(syscall.SIGQUIT)
	j.wait().expect(t, 131, "SIGQUIT")
	s, _ := server(t, with(key), "2")
	s.signal(syscall.SIGQUIT)
	if r := s.wait(); r.code != 131 || strings.Contains(r.stderr, "goroutine") {
		t.Errorf("the server ended with %d: %q", r.code, r.stderr)
	}
}

// A remote shell that, as srun does, has a word about every command that fails. Of one that has told the launcher how
// its ranks ended, it is not the user's business, and it is if the command could not do that.
func TestRemoteShellsHaveNoWordAboutNodesThatEndInOrder(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "shell")
	text := `#!/bin/sh
to=$1
shift
sh -c "$*" || echo "shell: error: $to: exited with code $?" >&2
`
	if err := os.WriteFile(shell, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	job := func(script string) result {
		return run(t, words("-rsh", shell, "-host localhost,alpha,beta -branch-count 1 -n 3", sh(script))...)
	}
	job("[ $IMPI_RANK = 0 ] || exit 17").expect(t, 17, " exited with code 17")
	job("[ $IMPI_RANK = 1 ] && kill -9 $$; exec sleep 1000").expect(t, 137, "rank 1 ")
	r := job("[ $IMPI_RANK = 2 ] && kill -9 $PPID; exec sleep 1000")
	if r.code != 1 || !strings.Contains(r.stderr, "shell: error: beta: exited with code 137\n") ||
		!strings.Contains(r.stderr, "impirun: machine beta: ") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

func TestADeathOnOneMachineEndsAllAndIsTheCause(t *testing.T) {
	file, how := program(t, "misbehave"), machines(t)
	for do, want := range map[string]struct {
		code int
		said string
	}{
		"abort 3 7":       {7, "called MPI_Abort(7)"},
		"no-finalize 2 5": {5, "exited with code 5"},
		"raise 4 9":       {137, "signal 9 (SIGKILL"},
		"before-init 2 6": {6, "exited with code 6"},
	} {
		r := run(t, words(how, file, do)...)
		who := fmt.Sprintf("rank %s on", strings.Fields(do)[1])
		if r.code != want.code || !strings.Contains(r.stderr, who) || !strings.Contains(r.stderr, want.said) ||
			strings.Count(r.stderr, "impirun: ") != 1 {
			t.Errorf("%s: code %d, stderr %q", do, r.code, r.stderr)
		}
	}
}
func TestSignalsReachAllMachines(t *testing.T) {
	file, how := program(t, "misbehave"), machines(t)
	for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGKILL: 137} {
		j := start(t, words(how, file, "wait-for-signal 0")...)
		j.stdout.await("ready", 5)
		j.signal(s)
		if r := j.wait(); r.code != want {
			t.Errorf("%v: code %d, %q", s, r.code, r.stderr)
		}
	}
}

func TestAMachineThatCannotBeReachedIsNamed(t *testing.T) {
	how := strings.TrimSuffix(machines(t), "-n 5")
	for name, want := range map[string]string{"dead": "exit status 255", "odd": "not an impirun message"} {
		r := run(t, words(how, "-host", name+":2", "-n 7 sh -c", []string{"exec sleep 1000"})...)
		if r.code != 1 || !strings.Contains(r.stderr, "machine "+name+": ") || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: code %d, %q", name, r.code, r.stderr)
		}
	}
	r := run(t, words("-rsh /no/such/shell -host alpha,beta -n 2 true")...)
	if r.code != 1 || !strings.Contains(r.stderr, "machines alpha, beta: ") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
	if r := run(t, words(machines(t), "/no/such/program")...); r.code != 127 {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// The machines here are one, whose addresses are those of its own interfaces.
func TestRanksOfOtherMachinesListenOnTheInterfaceAndThePortsThatTheUserNames(t *testing.T) {
	how := strings.Fields(machines(t))
	rsh := strings.Join(how[:2], " ")
	for _, iface := range []string{"lo", "127.0.0.0/8"} {
		run(t, words(rsh, "-host alpha:2,beta:2 -n 4 -port-range 20200-20299 -iface", iface, program(t, "negotiate"))...).
			expect(t, 0, "")
	}
	run(t, words(rsh, "-host alpha:2,beta:2 -n 4 -iface nope0", program(t, "negotiate"))...).
		expect(t, 1, `this machine has no address on "nope0": there are lo 127.0.0.1`)
}

func TestAClientOfSeveralMachinesMeetsOthers(t *testing.T) {
	file := program(t, "negotiate")
	for _, via := range []string{"direct", "agent"} {
		s, address := server(t, with(key), "3")
		a := startWith(t, with(key), words("-client 0", address, "-via", via, machines(t), file)...)
		b := startWith(t, with(key), words("-client 1", address, "-via agent -n 2", file)...)
		c := startWith(t, with(key), words("-client 2", address, "-via", via, machines(t), file)...)
		for _, j := range []*job{a, b, c, s} {
			j.wait().expect(t, 0, "")
		}
	}
}

// The machines of a client that nobody can connect to connect to the others' hosts, and to each other as ever.
func TestAnOutboundClientOfSeveralMachinesMeetsOthers(t *testing.T) {
	file := program(t, "negotiate")
	for _, via := range []string{"direct", "agent"} {
		s, address := server(t, with(key), "2")
		a := startWith(t, with(key), words("-client 0", address, "-outbound -via", via, machines(t), file)...)
		b := startWith(t, with(key), words("-client 1", address, "-n 2", file)...)
		for _, j := range []*job{a, b, s} {
			j.wait().expect(t, 0, "")
		}
	}
}

// Ranks 0 and 1 are where the launcher is, rank 2 on alpha, ranks 3 and 4 on beta.
func TestStandardInputReachesWhoeverIsToReadItOnAnyMachine(t *testing.T) {
	data := bytes.Repeat([]byte("every byte of it\n"), 1<<16)
	sum, empty := sha256.Sum256(data), sha256.Sum256(nil)
	how := machines(t)
	alone := "-rsh " + strings.Fields(how)[1] + " -host alpha,beta -n 2" // rank 0 is not where the launcher is
	for _, tt := range []struct {
		how, who string
		ranks    int
		readers  []int
	}{
		{how, "", 5, []int{0}}, {how, "--stdin 2", 5, []int{2}}, {how, "--stdin 4", 5, []int{4}}, {how, "--stdin none", 5,
			nil}, {how, "--stdin all", 5, []int{0, 1, 2, 3, 4}}, {alone, "", 2, []int{0}},
	} {
		j := startWith(t, []option{stdin(bytes.NewReader(data))},
			words(tt.how, tt.who, sh(`s=$(sha256sum); echo "$IMPI_RANK ${s%% *}"`))...)
		r := j.wait()
		r.expect(t, 0, "")
		for rank := range tt.ranks {
			want := empty
			if slices.Contains(tt.readers, rank) {
				want = sum
			}
			if line := fmt.Sprintf("%d %x\n", rank, want); !strings.Contains(r.stdout, line) {
				t.Errorf("%s: %q is missing in %q", tt.who, line, r.stdout)
			}
		}
	}
}

// A rank that does not read, or stops, holds neither itself up nor others that read.
func TestRanksOnOtherMachinesNeedNotReadStandardInput(t *testing.T) {
	data := bytes.Repeat([]byte("x"), 1<<20)
	how := machines(t)
	for _, who := range []string{"2", "0", "all"} {
		r := startWith(t, []option{stdin(bytes.NewReader(data))}, words(how, "--stdin", who, "true")...).wait()
		r.expect(t, 0, "")
	}
	r := startWith(t, []option{stdin(bytes.NewReader(data))},
		words(how, "--stdin all", sh(`if [ $IMPI_RANK = 2 ]; then exec 0</dev/null; echo 2; else wc -c; fi`))...).wait()
	r.expect(t, 0, "")
	if n := strings.Count(r.stdout, "1048576\n"); n != 4 {
		t.Errorf("%q", r.stdout)
	}
}

// What is typed later arrives when it is typed: nobody waits for the end, or for a full piece.
func TestStandardInputIsAConversationOnAnotherMachine(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	j := startWith(t, []option{stdin(r)},
		words(machines(t), "--stdin 3", sh(`while read word; do echo heard $word; done`))...)
	r.Close()
	for i := range 3 {
		fmt.Fprintf(w, "word%d\n", i)
		j.stdout.await(fmt.Sprintf("heard word%d\n", i), 1)
	}
	w.Close()
	j.wait().expect(t, 0, "")
}
