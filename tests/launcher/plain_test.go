package launcher

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The launcher with programs that know nothing of MPI.

func sh(script string) []string { return []string{"sh", "-c", script} }

func words(parts ...any) []string {
	var list []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			list = append(list, strings.Fields(p)...)
		case []string:
			list = append(list, p...)
		}
	}
	return list
}

func TestAWrongCommandLineIsOneLineAndCode2(t *testing.T) {
	for line, said := range map[string]string{
		"-n 0 hostname":                   "-n 0",
		"-n x hostname":                   "-n x",
		"":                                "no program given",
		"-n 2":                            "no program given",
		"-n 2 hostname :":                 "no program after ':'",
		"-oversubscibe hostname":          "did you mean -oversubscribe?",
		"-server 0":                       "-server 0",
		"-server 2 hostname":              "-server runs no program",
		"-client 0 nowhere hostname":      "HOST:PORT",
		"-clients 3 -n 2 hostname":        "more clients than the 2 ranks",
		"--output json,tag -n 2 true":     "no prefix goes with it",
		"--stdin 5 -n 2 hostname":         "ranks are 0 to 1",
		"-clients 2 -client 0 h:1 -n 2 a": "give one of the two",
	} {
		run(t, strings.Fields(line)...).expect(t, 2, said)
	}
}

func TestAProgramThatCannotRunIsNamed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	run(t, "-n", "2", "./no-such-program").expect(t, 127, "./no-such-program does not exist")
	run(t, "-n", "2", "no-such-program").expect(t, 127, "no-such-program not found")
	run(t, "-n", "2", dir).expect(t, 126, "directory")
	run(t, "-n", "2", write("text", "text", 0o644)).expect(t, 126, "not executable")
	run(t, "-n", "2", write("junk", "\x7fjunk", 0o755)).expect(t, 126, "junk")
	run(t, "-n", "2", write("script", "#!/no/such/shell\n", 0o755)).expect(t, 127, "interpreter")
	run(t, "-wdir", dir+"/none", "-n", "2", "true").expect(t, 127, "none does not exist")
	// The second program of a job: what was started before it ends, and nothing runs.
	run(t, words("-n 2 sleep 1000 : -n 1", write("junk2", "\x7fjunk", 0o755))...).expect(t, 126, "junk2")
	run(t, "-clients", "2", "-n", "2", "./no-such-program").expect(t, 127, "does not exist")
}

func TestNamesOfThisMachineNeedNoRemoteShell(t *testing.T) {
	t.Setenv("IMPI_RSH", "/no/such/shell")
	run(t, words("-host elsewhere.invalid -n 2 true")...).expect(t, 1,
		"machine elsewhere.invalid: fork/exec /no/such/shell")
	run(t, words("-host localhost:2,127.0.0.1 -n 2 true")...).expect(t, 0, "")
	file := filepath.Join(t.TempDir(), "hosts")
	os.WriteFile(file, []byte("# ours\nlocalhost slots=4\n"), 0o644)
	run(t, words("-hostfile", file, "-n 2 true")...).expect(t, 0, "")
	run(t, words("-hostfile /no/hosts -n 2 true")...).expect(t, 1, "/no/hosts")
}

func TestPlainProgramsAreFine(t *testing.T) {
	host, _ := os.Hostname()
	for n := range 4 {
		r := run(t, "-n", fmt.Sprint(n+1), "hostname")
		r.expect(t, 0, "")
		if want := strings.Repeat(host+"\n", n+1); r.stdout != want {
			t.Errorf("-n %d: %q", n+1, r.stdout)
		}
	}
}

func TestTheExitCodeIsThatOfTheFirstAbnormalRank(t *testing.T) {
	for script, want := range map[string]struct {
		code int
		said string
	}{
		`exit 0`:                                        {0, ""},
		`[ $IMPI_RANK != 1 ] || exit 1`:                 {1, "exited with code 1"},
		`[ $IMPI_RANK != 2 ] || exit 77`:                {77, "rank 2 on"},
		`[ $IMPI_RANK != 0 ] || exit 255`:               {255, "rank 0 on"},
		`[ $IMPI_RANK != 1 ] || kill -SEGV $$`:          {139, "signal 11 (SIGSEGV"},
		`[ $IMPI_RANK != 1 ] || kill -KILL $$`:          {137, "signal 9 (SIGKILL"},
		`[ $IMPI_RANK != 1 ] || kill -ABRT $$`:          {134, "signal 6 (SIGABRT"},
		`[ $IMPI_RANK = 1 ] && exit 9; exec sleep 1000`: {9, "rank 1 on"},
		`[ $IMPI_RANK = 1 ] && kill -9 $$; sleep 1000`:  {137, "rank 1 on"},
	} {
		t.Run(script, func(t *testing.T) {
			run(t, words("-n 3", sh(script))...).expect(t, want.code, want.said)
		})
	}
}

func TestARankThatIgnoresSIGTERMIsKilledAfterTheGrace(t *testing.T) {
	run(t, words("--kill-grace 0.1 -n 2",
		sh(`[ $IMPI_RANK = 1 ] && exit 6; trap "" TERM; while :; do sleep 1000; done`))...).
		expect(t, 6, "rank 1 on")
}

func TestASecondCauseIsNotReported(t *testing.T) {
	r := run(t, words("-n 4", sh(`trap "exit 50" TERM; [ $IMPI_RANK = 3 ] && exit 8; sleep 1000 & wait`))...)
	r.expect(t, 8, "rank 3 on")
}

func TestQuietMeansNoLine(t *testing.T) {
	run(t, words("-q -n 2", sh("exit 5"))...).expect(t, 5, "")
}

func TestRecoveryLeavesTheOthersAlone(t *testing.T) {
	r := run(t, words("--enable-recovery -n 2", sh(`[ $IMPI_RANK = 1 ] && exit 4; echo done`))...)
	r.expect(t, 4, "rank 1 on")
	if r.stdout != "done\n" {
		t.Errorf("rank 0 said %q", r.stdout)
	}
	// On several machines, of which one has no other rank; its launcher has ended, and has been waited for, before the
	// others go on.
	gone := filepath.Join(t.TempDir(), "gone")
	r = run(t, words("--enable-recovery", machines(t), sh(`[ $IMPI_RANK = 2 ] && echo $PPID >`+gone+`.new && mv `+gone+
		`.new `+gone+` && exit 4; until [ -e `+gone+` ]; do sleep 0.01; done
		while kill -0 $(cat `+gone+`) 2>&-; do sleep 0.01; done; sleep 0.1; echo done`))...)
	r.expect(t, 4, "rank 2 on")
	if r.stdout != strings.Repeat("done\n", 4) {
		t.Errorf("the others said %q", r.stdout)
	}
}

func TestTimeoutIsCode124(t *testing.T) {
	run(t, words("--timeout 0.2 -n 2 sleep 1000")...).expect(t, 124, "timeout of 200ms")
}

func TestWhatRanksLeaveBehindIsEnded(t *testing.T) {
	for name, script := range map[string]string{
		"a child in the background": `sleep 1000 & exit 0`,
		"a session of its own":      `setsid sleep 1000 & exit 0`,
		"a family":                  `(sleep 1000 & setsid sh -c "sleep 1000 & sleep 1000" & sleep 1000) & exit 0`,
		"deaf to SIGTERM":           `(trap "" TERM; setsid sleep 1000 & sleep 1000) & exit 0`,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, words("--kill-grace 0.1 -n 2", sh(script+` >/dev/null 2>&1`))...).expect(t, 0, "")
		})
	}
}

// The launcher's end is that of what the ranks have started, too. All of it has our standard output, whose end we
// await.
func TestAKilledLauncherTakesTheRanksChildrenAlong(t *testing.T) {
	script := `setsid sleep 1000 & (sleep 1000 & setsid sh -c "sleep 1000 & wait" & wait) & echo ready; wait`
	for _, how := range []string{"-n 2", "-clients 2 -n 2", machines(t)} {
		j := start(t, words(how, sh(script))...)
		j.stdout.await("ready", 2)
		j.signal(syscall.SIGKILL)
		if r := j.wait(); r.code != 137 {
			t.Errorf("code %d, %q", r.code, r.stderr)
		}
	}
}

func TestSignalsReachTheRanks(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2} {
		t.Run(s.String(), func(t *testing.T) {
			j := start(t, words("-n 2", program(t, "signalled"), strconv.Itoa(int(s)))...)
			j.stdout.await("ready", 2)
			j.signal(s)
			r := j.wait()
			r.expect(t, 0, "")
			if strings.Count(r.stdout, "got") != 2 {
				t.Errorf("output %q", r.stdout)
			}
		})
	}
}

func TestAnUnhandledSignalEndsTheJobWith128PlusItsNumber(t *testing.T) {
	j := start(t, words("-n 2", sh(`echo ready; exec sleep 1000`))...)
	j.stdout.await("ready", 2)
	j.signal(syscall.SIGINT)
	j.wait().expect(t, 130, "signal 2 (SIGINT")
}

func TestStoppedRanksTakeASignalThatEndsThem(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		j := start(t,
			words("-n 2",
				sh(`trap 'exit 5' TERM INT HUP; echo "ready $$"; kill -STOP $$; while :; do sleep 1000 & wait; done`))...)
		j.stdout.await("\n", 2)
		for line := range strings.Lines(j.stdout.String()) {
			var pid int
			fmt.Sscanf(line, "ready %d", &pid)
			for !stopped(t, pid) {
				time.Sleep(time.Millisecond)
			}
		}
		j.signal(s)
		if r := j.wait(); r.code != 5 {
			t.Errorf("%v: code %d, %q", s, r.code, r.stderr)
		}
	}
}

// With prefixes it is the launcher that writes.
func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	for _, how := range []string{"-l -n 2", "-l " + machines(t), machines(t)} {
		j := startWith(t, []option{func(c *exec.Cmd) { c.Stdout = full }}, words(how, "echo hello")...)
		j.wait().expect(t, 1, "output of ranks is lost")
		j = startWith(t, []option{func(c *exec.Cmd) {
			c.Stdout = full
		}}, words(how, sh(`echo hello; [ $IMPI_RANK != 1 ] || exit 7`))...)
		j.wait().expect(t, 7, "rank 1 on")
	}
}

func TestASecondInterruptKillsAtOnce(t *testing.T) {
	j := start(t, words("--kill-grace 1000 -n 2", program(t, "signalled"), "2 15")...) // the second one kills it
	j.stdout.await("ready", 2)
	j.signal(syscall.SIGINT)
	j.stdout.await("got", 2)
	j.signal(syscall.SIGINT)
	j.wait().expect(t, 130, "SIGINT")
}

func TestStopAndContinueReachTheRanks(t *testing.T) {
	stop, on := strconv.Itoa(int(syscall.SIGTSTP)), strconv.Itoa(int(syscall.SIGCONT))
	j := start(t, words("-n 2", program(t, "signalled"), stop, on)...)
	j.stdout.await("ready", 2)
	j.signal(syscall.SIGTSTP)
	j.stdout.await("got "+stop, 2)
	for !stopped(t, j.cmd.Process.Pid) { // it stops after the ranks; earlier, it would lose what lets it go on
		time.Sleep(time.Millisecond)
	}
	j.signal(syscall.SIGCONT)
	j.stdout.await("got "+on, 2)
	j.wait().expect(t, 0, "")
}

func TestAKilledLauncherTakesItsRanksAlong(t *testing.T) {
	j := start(t, words("-n 3", sh(`echo ready; exec sleep 1000`))...)
	j.stdout.await("ready", 3)
	j.signal(syscall.SIGKILL)
	// Wait ends when the pipe of the ranks' stdout is closed, which is when the last rank is gone.
	j.wait().expect(t, 137, "")
}

func TestStandardInputGoesWhereItIsSentByteForByte(t *testing.T) {
	data := make([]byte, 100<<20)
	for i := range data {
		data[i] = byte(i * 2654435761 >> 13)
	}
	few := data[:8<<20]
	sum, sumOfFew, empty := sha256.Sum256(data), sha256.Sum256(few), sha256.Sum256(nil)
	hex := func(sum [32]byte) string { return fmt.Sprintf(" %x", sum) }
	for who, want := range map[string][]string{
		"":             {"0" + hex(sum), "1" + hex(empty), "2" + hex(empty)},
		"--stdin 2":    {"0" + hex(empty), "1" + hex(empty), "2" + hex(sumOfFew)},
		"--stdin all":  {"0" + hex(sumOfFew), "1" + hex(sumOfFew), "2" + hex(sumOfFew)},
		"--stdin none": {"0" + hex(empty), "1" + hex(empty), "2" + hex(empty)},
	} {
		in := few
		if who == "" {
			in = data
		}
		j := startWith(t, []option{stdin(bytes.NewReader(in))},
			words(who, "-n 3", sh(`s=$(cat | sha256sum); echo "$IMPI_RANK ${s%% *}"`))...)
		r := j.wait()
		r.expect(t, 0, "")
		got := strings.Split(strings.TrimSpace(r.stdout), "\n")
		sort.Strings(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", who, got, want)
		}
	}
}

// A shell with job control runs a job in the background of its terminal. What is typed is the shell's, and the job
// waits, wherever its ranks are that would read it, until it is brought to the foreground.
func TestAJobInTheBackgroundOfATerminalLeavesItToTheShell(t *testing.T) {
	impirun := filepath.Join(stage(t), "bin", "impirun")
	for _, tt := range []struct {
		how            string
		ranks, readers int
	}{{"-n 2", 2, 1}, {"-stdin 1 -n 2", 2, 1}, {"-stdin all -n 2", 2, 2}, {machines(t), 5, 1},
		{"-stdin all " + machines(t), 5, 5}} {
		master, slave := pty(t)
		script := fmt.Sprintf(`set -m; "%s" %s sh -c 'cat; echo over' & read line; echo "shell $line"; fg >/dev/null
			echo code $?`, impirun, tt.how)
		if _, err := master.WriteString("one\ntwo\n\x04"); err != nil { // before anybody can read it
			t.Fatal(err)
		}
		j := startProgram(t, []option{stdin(slave), func(c *exec.Cmd) {
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
		}}, "sh", "-c", script)
		slave.Close()
		r := j.wait()
		master.Close()
		r.expect(t, 0, "")
		before, after, _ := strings.Cut(r.stdout, "shell one\n")
		if strings.Contains(before, "two") || !strings.HasSuffix(after, "code 0\n") ||
			strings.Count(r.stdout, "two\n") != tt.readers || strings.Count(r.stdout, "over\n") != tt.ranks {
			t.Errorf("%s: %q", tt.how, r.stdout)
		}
	}
}

func TestOutputIsTaggedLineByLine(t *testing.T) {
	r := run(t, words("-l -n 2", sh(`printf "a\nb"; echo " c"; echo e >&2`))...)
	got := strings.Split(strings.TrimSpace(r.stdout), "\n")
	sort.Strings(got)
	if want := []string{"[0] a", "[0] b c", "[1] a", "[1] b c"}; !slices.Equal(got, want) {
		t.Errorf("stdout %q, want %q", got, want)
	}
	if !strings.Contains(r.stderr, "[0] e\n") || !strings.Contains(r.stderr, "[1] e\n") {
		t.Errorf("stderr %q", r.stderr)
	}
	if r = run(t, words("--tag-output -n 1 echo x")...); r.stdout != "[0,0]<stdout>:x\n" {
		t.Errorf("--tag-output: %q", r.stdout)
	}
}

func TestProgramsOfOneJobAreNumberedInOrder(t *testing.T) {
	first, second := `echo $IMPI_RANK/$IMPI_SIZE $PMI_RANK $MPI_LOCALRANKID/$MPI_LOCALNRANKS $A$G`,
		`echo $IMPI_RANK/$IMPI_SIZE $PWD $A$G`
	file := filepath.Join(t.TempDir(), "programs")
	lines := "-n 2 -x A=one sh -c '" + first + "'\n# the other\n-n 1 -wdir / -x A=two sh -c '" + second + "'\n"
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{words("-genv G g -n 2 -x A=one", sh(first), ": -n 1 -wdir / -x A=two", sh(second)),
		words("-genv G g -configfile", file), words("-genv G g --app", file)} {
		r := run(t, line...)
		r.expect(t, 0, "")
		r.says(t, "0/3 0 0/3 oneg", "1/3 1 1/3 oneg", "2/3 / twog")
	}
	run(t, "-configfile", file+"x").expect(t, 2, "no such file")
}

func TestHelpAndVersionAnswerOnStdout(t *testing.T) {
	if r := run(t, "--help"); r.code != 0 || r.stderr != "" || !strings.Contains(r.stdout, "MPI_Abort") {
		t.Errorf("--help: %+v", r)
	}
	if r := run(t, "--version"); r.code != 0 || r.stderr != "" || !strings.Contains(r.stdout, "libimpi ") {
		t.Errorf("--version: %+v", r)
	}
}

func TestAJobThatNeedsMoreDescriptorsThanThereAreIsRefusedBeforeItStarts(t *testing.T) {
	launcher := filepath.Join(stage(t), "bin", "impirun")
	for _, line := range []string{"ulimit -n 40 && exec $0 -n 100", "ulimit -n 20 && exec $0 -clients 2 -via agent -n 2",
		"ulimit -n 60 && exec $0 -clients 3 -via agent -n 12"} {
		r := startProgram(t, nil, "sh", "-c", line+" echo started", launcher).wait()
		r.expect(t, 1, "raise ulimit -n")
		if r.stdout != "" {
			t.Errorf("%s: it was started: %q", line, r.stdout)
		}
	}
}
