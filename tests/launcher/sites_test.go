package launcher

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// impirun inside a site: many machines, machines that are not there yet, allocations of resource managers. A site is a
// folder of commands that stand for ssh and srun, and run what they are asked to on this machine.

// site is one. Its commands write a line "PARENT PID NAME" to the file started for each command that they start.
type site struct {
	t   *testing.T
	dir string
}

// shellOf is the script of a remote shell, from which $1 is the machine and "$*", behind it, the command. A machine
// whose name begins with "dead" cannot be reached, "silent" does not answer, "young" is not known at first, and "none"
// never; "bare" has no impirun.
const shellOf = `
m=$1; shift
echo "$PPID $$ $m" >>"$SITE/started"
case $m in
dead*) echo "no route to $m" >&2; exit 255 ;;
silent*) exec sleep 1000 ;;
none*) echo "ssh: connect to host $m port 22: Connection refused" >&2; exit 255 ;;
young*) n=$(grep -c " $m\$" "$SITE/started")
	if [ $n -lt 3 ]; then echo "ssh: Could not resolve hostname $m: Name or service not known" >&2; exit 255; fi ;;
bare*) exec sh -c "$(echo "$*" | sed "s#$SITE_IMPIRUN#/no/such/impirun#")" ;;
esac
exec sh -c "$*"
`

// newSite makes a site with a remote shell "ssh", which also knows options, and what the resource managers have.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t, t.TempDir()}
	options := "while :; do case $1 in -o|-p|-l) echo \"$1 $2\" >>\"$SITE/options\"; shift 2 ;; *) break ;; esac; done\n"
	s.command("ssh", options+shellOf)
	s.command("blaunch", shellOf)
	s.command("qrsh", "[ \"$1\" = -inherit ] || exit 1\nshift\n"+shellOf)
	s.command("srun", `case $1 in --help) echo "  --overlap  let steps share"; exit ;; esac
while :; do
	case $1 in
	--nodelist=*) m=${1#*=} ;;
	--*) echo "$1" >>"$SITE/options" ;;
	*) break ;;
	esac
	shift
done
[ -z "$SLURM_NTASKS_PER_NODE" ] || { echo "a step of one task got $SLURM_NTASKS_PER_NODE" >&2; exit 1; }
echo "$PPID $$ $m" >>"$SITE/started"
exec "$@"
`)
	return s
}

func (s *site) command(name, text string) {
	s.t.Helper()
	s.write(name, "#!/bin/sh\n"+text)
	if err := os.Chmod(filepath.Join(s.dir, name), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// write writes a file of the site, and returns its name.
func (s *site) write(name, text string) string {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return file
}

func (s *site) start(settings []string, line ...string) *job {
	s.t.Helper()
	tmp := filepath.Join(s.dir, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		s.t.Fatal(err)
	}
	settings = append(settings, "PATH="+s.dir+":"+os.Getenv("PATH"), "SITE="+s.dir, "TMPDIR="+tmp,
		"SITE_IMPIRUN="+filepath.Join(stage(s.t), "bin", "impirun"))
	return startWith(s.t, []option{environ(settings...)}, line...)
}

// run runs impirun in the site. Nothing may be left in its folder of temporary files.
func (s *site) run(settings []string, line ...string) result {
	s.t.Helper()
	r := s.start(settings, line...).wait()
	if left, _ := filepath.Glob(filepath.Join(s.dir, "tmp", "*")); len(left) > 0 {
		s.t.Errorf("%q left %q", line, left)
	}
	return r
}

// started are the lines of that file.
func (s *site) started() (list [][]string) {
	text, _ := os.ReadFile(filepath.Join(s.dir, "started"))
	for line := range strings.Lines(string(text)) {
		list = append(list, strings.Fields(line))
	}
	return list
}

// many writes a host file of n machines, with an address of its own for each, and returns the option for it.
func (s *site) many(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("m%d addr=127.0.1.%d\n", i, 1+i)
	}
	return "-hostfile " + s.write("hosts", text)
}

// With 3 branches 40 machines take 4 rounds: nobody has started more than 3 of them.
func TestManyMachinesAreStartedByATree(t *testing.T) {
	s := newSite(t)
	r := s.run(nil, words(s.many(40), "-branch-count 3 -l -n 40", sh("echo $IMPI_RANK of $IMPI_SIZE"))...)
	r.expect(t, 0, "")
	for rank := range 40 {
		if line := fmt.Sprintf("[%d] %d of 40\n", rank, rank); !strings.Contains(r.stdout, line) {
			t.Errorf("%q is missing in %q", line, r.stdout)
		}
	}
	children := map[string]int{}
	for _, l := range s.started() {
		children[l[0]]++
	}
	for pid, n := range children {
		if n > 3 {
			t.Errorf("process %s has started %d machines", pid, n)
		}
	}
	if len(children) < 13 {
		t.Errorf("40 machines were started by %d processes", len(children))
	}
}

func TestRanksOfATreeAreOneJob(t *testing.T) {
	s := newSite(t)
	r := s.run(nil, words(s.many(9), "-branch-count 2 -n 9", program(t, "negotiate"))...)
	r.expect(t, 0, "")
	if r.stdout != "tagub 2147483647\n" {
		t.Errorf("%q", r.stdout)
	}
}

func TestStandardInputReachesRanksInATree(t *testing.T) {
	s := newSite(t)
	hosts := s.many(7)
	file := s.write("input", strings.Repeat("every byte of it\n", 1<<13))
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j := startWith(t, []option{stdin(f), environ("SITE="+s.dir, "IMPI_RSH="+filepath.Join(s.dir, "ssh"))},
		words(hosts, "-branch-count 2 -n 7 --stdin 6", sh("wc -c"))...)
	r := j.wait()
	r.expect(t, 0, "")
	if n := strings.Count(r.stdout, strconv.Itoa(17<<13)); n != 1 || strings.Count(r.stdout, "0\n") != 6 {
		t.Errorf("%q", r.stdout)
	}
}

func TestADeathInATreeEndsAllAndIsTheCause(t *testing.T) {
	s := newSite(t)
	for do, code := range map[string]int{"abort 6 7": 7, "raise 3 9": 137, "no-finalize 0 5": 5} {
		r := s.run(nil, words(s.many(7), "-branch-count 2 -n 7", program(t, "misbehave"), do)...)
		if r.code != code || strings.Count(r.stderr, "impirun: ") != 1 {
			t.Errorf("%s: code %d, %q", do, r.code, r.stderr)
		}
	}
}

// Whoever of the tree is killed, the first launcher among them, nothing is left, and the machine is named.
func TestTheDeathOfAMachineInATreeEndsAll(t *testing.T) {
	for _, victim := range []string{"m0", "m2", "m6"} {
		s := newSite(t)
		j := s.start(nil, words(s.many(7), "-branch-count 2 -n 7", program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 7)
		for _, l := range s.started() {
			if pid, _ := strconv.Atoi(l[1]); l[2] == victim {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		j.killed = true
		r := j.wait()
		// The guard of the victim kills the job's processes on its machine, which here is that of the others, too. One
		// of their ranks may be seen to be killed before the connection is seen to end.
		if r.code == 137 && strings.Contains(r.stderr, "was killed by signal 9 (SIGKILL, killed)") {
			continue
		}
		if r.code != 1 || !strings.Contains(r.stderr, "machine "+victim+": the connection has ended") {
			t.Errorf("%s: code %d, %q", victim, r.code, r.stderr)
		}
	}
	s := newSite(t)
	j := s.start(nil, words(s.many(7), "-branch-count 2 -n 7", program(t, "misbehave"), "wait-for-signal 0")...)
	j.stdout.await("ready", 7)
	j.signal(syscall.SIGKILL)
	if r := j.wait(); r.code != 137 {
		t.Errorf("code %d", r.code)
	}
}

// Those that others were to start are tried all the same.
func TestAllMachinesThatCannotBeReachedAreNamed(t *testing.T) {
	s := newSite(t)
	text := ""
	for _, name := range []string{"m0", "dead1", "m2", "dead3", "dead4", "m5", "m6", "dead7", "m8"} {
		text += name + "\n"
	}
	hosts := "-hostfile " + s.write("hosts", text)
	r := s.run(nil, words(hosts, "-branch-count 2 -n 9 sleep 1000")...)
	want := "impirun: machines dead1, dead3, dead4, dead7: the connection has ended (ssh: exit status 255)\n"
	if r.code != 1 || !strings.HasSuffix(r.stderr, want) || strings.Count(r.stderr, "impirun: ") != 1 {
		t.Errorf("code %d, %q, want %q", r.code, r.stderr, want)
	}
}

// A name that is not known yet, as of a container that is still being made, is asked for again, and nothing is said.
func TestAMachineWhoseNameIsNotKnownYetIsTriedAgain(t *testing.T) {
	s := newSite(t)
	s.run(nil, words("-host young1,m1,young2 -branch-count 2 -n 3 true")...).expect(t, 0, "")
	tries := map[string]int{}
	for _, l := range s.started() {
		tries[l[2]]++
	}
	if tries["young1"] != 3 || tries["young2"] != 3 || tries["m1"] != 1 {
		t.Error(tries)
	}
}

func TestMachinesThatDoNotComeInTimeEndTheJob(t *testing.T) {
	s := newSite(t)
	r := s.run(nil, words("-host none1,m1,none2 -deadline start=2 -n 3 sleep 1000")...)
	for _, want := range []string{
		"impirun: waiting for none1, none2, which cannot be reached yet: ssh: connect to host none", "-deadline start",
		"machine none1: no answer within 2s (-deadline start): ssh: connect to host none1 port 22: Connection refused",
		"machine none2: no answer within 2s",
	} {
		if r.code != 1 || !strings.Contains(strings.ReplaceAll(r.stderr, "none2, none1", "none1, none2"), want) {
			t.Errorf("code %d, %q; want %q", r.code, r.stderr, want)
		}
	}
	if n := strings.Count(r.stderr, "\n"); n != 2 {
		t.Errorf("%d lines: %q", n, r.stderr)
	}
	r = s.run(nil, words("-host silent1,m1,silent2 -deadline start=0.5 -n 3 sleep 1000")...)
	if r.code != 1 || !strings.Contains(r.stderr, "machine") || !strings.Contains(r.stderr, "silent1") ||
		!strings.Contains(r.stderr, "silent2") || !strings.Contains(r.stderr, "no answer within 500ms") {
		t.Errorf("code %d, %q", r.code, r.stderr)
	}
}

// A machine without impirun is sent ours, in a file that has no name when it runs.
func TestAMachineWithoutImpirunIsSentIt(t *testing.T) {
	s := newSite(t)
	r := s.run(nil, words("-host bare1,m1,bare2,bare3 -branch-count 2 -l -n 4", sh("echo $IMPI_RANK"))...)
	r.expect(t, 0, "")
	if strings.Count(r.stdout, "\n") != 4 {
		t.Errorf("%q", r.stdout)
	}
	s.run(nil, words("-host bare1,m1,bare2 -n 3", program(t, "negotiate"))...).expect(t, 0, "")
}

func TestAMachineOfAHostListMayHaveAUserAndAPort(t *testing.T) {
	s := newSite(t)
	file := s.write("hosts", "ssh://m3:2224 slots=2\n")
	r := s.run(nil, words("-host ssh://me@m1:2222,m2,ssh://localhost:2223 -hostfile", file, "-n 5 true")...)
	r.expect(t, 0, "")
	said, _ := os.ReadFile(filepath.Join(s.dir, "options"))
	for _, want := range []string{"-p 2222", "-l me", "-p 2223", "-p 2224", "-o BatchMode=yes"} {
		if !strings.Contains(string(said), want+"\n") {
			t.Errorf("%q is missing in %q", want, said)
		}
	}
	for bad, want := range map[string]string{"ssh://m:x": "ssh://USER@NAME:PORT", "ssh://m:99999": "ports are 1 to 65535",
		"ssh://u:p@m": "password", "ssh://": "ssh://USER@NAME:PORT", "ssh://-x@m": "no name of a user"} {
		s.run(nil, words("-host", bad, "true")...).expect(t, 1, want)
	}
}

// What each manager says is two machines with two slots and one with one.
func (s *site) allocations() map[string][]string {
	nodes := s.write("nodes", "n1\nn1\nn2\nn3\nn3\n")
	return map[string][]string{
		"srun": {"SLURM_JOB_ID=17", "SLURM_JOB_NODELIST=n[1-3]", "SLURM_TASKS_PER_NODE=2,1,2", "SLURM_NTASKS_PER_NODE=2",
			"SSH_CONNECTION=192.0.2.1 1 192.0.2.2 22"},
		"ssh":     {"PBS_JOBID=17", "PBS_NODEFILE=" + nodes},
		"blaunch": {"LSB_JOBID=17", "LSB_MCPU_HOSTS=n1 2 n2 1 n3 2"},
		"qrsh":    {"JOB_ID=17", "PE_HOSTFILE=" + s.write("pe", "n1 2 q@n1 U\nn2 1 q@n2 U\nn3 2 q@n3 U\n")},
	}
}

func TestAJobRunsOnItsAllocation(t *testing.T) {
	s := newSite(t)
	for command, settings := range s.allocations() {
		os.Remove(filepath.Join(s.dir, "started"))
		r := s.run(settings, words("-l", sh("echo $IMPI_LOCAL_RANK of $IMPI_LOCAL_SIZE"))...)
		r.expect(t, 0, "")
		for rank, local := range []string{"0 of 2", "1 of 2", "0 of 1", "0 of 2", "1 of 2"} {
			if line := fmt.Sprintf("[%d] %s\n", rank, local); !strings.Contains(r.stdout, line) {
				t.Errorf("%s: %q is missing in %q", command, line, r.stdout)
			}
		}
		var names []string
		for _, l := range s.started() {
			names = append(names, l[2])
		}
		if slices.Sort(names); !slices.Equal(names, []string{"n1", "n2", "n3"}) {
			t.Errorf("%s: %q", command, names)
		}
		r = s.run(settings, "-explain", "true")
		if want := "  n2, slots 1\n"; !strings.Contains(r.stdout, want) || !strings.Contains(r.stdout, "job 17 (") ||
			!strings.Contains(r.stdout, "ranks 0-4:") {
			t.Errorf("%s: %q", command, r.stdout)
		}
		s.run(settings, words("-n 3 -ppn 1", program(t, "negotiate"))...).expect(t, 0, "")
	}
}

func TestOptionsChooseWithinAnAllocation(t *testing.T) {
	s := newSite(t)
	slurm := s.allocations()["srun"]
	r := s.run(slurm, words("-host n3,n2 -l", sh("echo $IMPI_LOCAL_RANK of $IMPI_LOCAL_SIZE"))...)
	r.expect(t, 0, "")
	for rank, local := range []string{"0 of 2", "1 of 2", "0 of 1"} {
		if line := fmt.Sprintf("[%d] %s\n", rank, local); !strings.Contains(r.stdout, line) {
			t.Errorf("%q is missing in %q", line, r.stdout)
		}
	}
	if r := s.run(slurm, words("-ppn 1 -explain true")...); !strings.Contains(r.stdout, "ranks 0-2:") {
		t.Errorf("%q", r.stdout)
	}
	s.run(slurm, words("-host n3,n7 -n 2 true")...).expect(t, 2, "machine n7 is not in the allocation of Slurm job 17")
	s.run(slurm, words("-rmk none", sh("echo $IMPI_SIZE"))...).expect(t, 0, "")
	s.run(slurm, words("-rmk pbs true")...).expect(t, 2, "belongs to no job")
	s.run(slurm, words("-clients 2 -n 2", program(t, "negotiate"))...).expect(t, 0, "")
	s.run([]string{"SLURM_JOB_ID=17", "SLURM_JOB_NODELIST=n[1-"}, "true").expect(t, 2,
		"SLURM_JOB_NODELIST, column 5: expected a number, and found the end")
	file := s.write("hosts", "m1 slots=2\nm2  slots=many\n")
	s.run(nil, words("-hostfile", file, "true")...).expect(t, 1, "hosts, line 2, column 5: slots=many")
}

// An allocation of this machine alone needs no shell.
func TestAnAllocationOfThisMachineAloneIsAnOrdinaryJob(t *testing.T) {
	s := newSite(t)
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	slurm := []string{"SLURM_JOB_ID=17", "SLURM_JOB_NODELIST=" + name, "SLURM_TASKS_PER_NODE=3"}
	r := s.run(slurm, sh("echo $IMPI_LOCAL_SIZE")...)
	r.expect(t, 0, "")
	if r.stdout != "3\n3\n3\n" || len(s.started()) > 0 {
		t.Errorf("%q, %q", r.stdout, s.started())
	}
	if r := s.run(slurm, words("-n 2", sh("echo $IMPI_LOCAL_SIZE"))...); r.stdout != "2\n2\n" {
		t.Errorf("%q", r.stdout)
	}
}

func TestTheLauncherOfNodesCanBeChosen(t *testing.T) {
	s := newSite(t)
	slurm := s.allocations()["srun"]
	r := s.run(slurm, words("-launcher ssh -n 5 true")...)
	r.expect(t, 0, "")
	if said, _ := os.ReadFile(filepath.Join(s.dir, "options")); !strings.Contains(string(said), "BatchMode") {
		t.Errorf("%q", said)
	}
	s.run(slurm, words("-n 5 true")...).expect(t, 0, "")
	said, _ := os.ReadFile(filepath.Join(s.dir, "options"))
	for _, want := range []string{"--overlap", "--mpi=none", "--ntasks=1", "--nodes=1"} {
		if strings.Count(string(said), want+"\n") != 3 {
			t.Errorf("%s: %q", want, said)
		}
	}
	os.Remove(filepath.Join(s.dir, "started"))
	r = s.run(nil, words("-launcher fork -host a,b,c -n 3", program(t, "negotiate"))...)
	r.expect(t, 0, "")
	if len(s.started()) > 0 {
		t.Errorf("%q", s.started())
	}
	s.run([]string{"HYDRA_LAUNCHER=fork"}, words("-host a,b -n 2 true")...).expect(t, 0, "")
	s.run(nil, words("-launcher pbs -host a true")...).expect(t, 2, "pbsdsh")
}

// The command line and the environment are those of mpi-operator for mpiImplementation: MPICH.
func TestTheOperatorOfKubernetesFindsItsMachines(t *testing.T) {
	s := newSite(t)
	hosts := s.write("hostfile", "pi-worker-0.pi.default.svc:1\nyoung-worker-1.pi.default.svc:1\n")
	operator := []string{"HYDRA_HOST_FILE=" + hosts, "HYDRA_LAUNCH_EXTRA_ARGS=-o ConnectionAttempts=10",
		"KUBERNETES_SERVICE_HOST=10.0.0.1"}
	r := s.run(operator, words("-n 2 -l", sh("echo $IMPI_RANK"))...)
	r.expect(t, 0, "")
	if r.stdout != "[0] 0\n[1] 1\n" && r.stdout != "[1] 1\n[0] 0\n" {
		t.Errorf("%q", r.stdout)
	}
	said, _ := os.ReadFile(filepath.Join(s.dir, "options"))
	if !strings.Contains(string(said), "-o ConnectionAttempts=10\n") {
		t.Errorf("%q", said)
	}
	if r := s.run(operator, sh("echo $IMPI_SIZE")...); r.stdout != "2\n2\n" {
		t.Errorf("%q", r.stdout)
	}
	s.run(operator, words("-genv A 1 -bootstrap ssh -n 2", program(t, "negotiate"))...).expect(t, 0, "")
}

// A resource manager sends SIGTERM when the time is over, and SIGKILL a while later.
func TestTheEndOfAnAllocationEndsTheJob(t *testing.T) {
	s := newSite(t)
	j := s.start(s.allocations()["srun"], words(program(t, "misbehave"), "wait-for-signal 0")...)
	j.stdout.await("ready", 5)
	j.signal(syscall.SIGTERM)
	j.wait().expect(t, 143, "Slurm job 17")
	j = s.start(s.allocations()["srun"], words(program(t, "misbehave"), "wait-for-signal 0")...)
	j.stdout.await("ready", 5)
	j.signal(syscall.SIGTERM)
	j.signal(syscall.SIGKILL)
	j.wait()
}

// Somebody at a terminal sees how far a start is, and nothing of that afterwards; others see nothing.
func TestATerminalShowsHowManyMachinesAreReached(t *testing.T) {
	s := newSite(t)
	line := words(s.many(4), "-v -branch-count 2 -n 4", program(t, "misbehave"), "well 0")
	master, slave := pty(t)
	defer master.Close()
	j := startWith(t, []option{environ("SITE="+s.dir, "IMPI_RSH="+filepath.Join(s.dir, "ssh")), func(c *exec.Cmd) {
		c.Stderr, c.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	}}, line...)
	slave.Close()
	seen := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the last process has closed the other side
		seen <- string(text)
	}()
	j.wait().expect(t, 0, "")
	text := <-seen
	for _, want := range []string{"impirun: 1 of 4 machines reached",
		"4 of 4 machines reached, 4 of 4 ranks started, 3 joined"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	if last := text[strings.LastIndex(text, "machines reached"):]; !strings.Contains(last, "\r\x1b[K") {
		t.Errorf("the line stays: %q", text)
	}
	if r := s.run(nil, line...); strings.Contains(r.stderr, "reached") {
		t.Errorf("%q", r.stderr)
	}
}

// pty opens a terminal: the side of who looks at it, and that of programs.
func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	return master, slave
}
