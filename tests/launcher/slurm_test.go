package launcher

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Slurm of the test's own: its controller and several nodes, all on this machine, at ports of the loopback
// interface, with keys, state and logs in a folder that goes with the test. The system's Slurm, if there is one, is not
// touched. All nodes have this machine's memory, so that processes of several nodes share it, as they should, but where
// the nodes are machines of a network (network_test.go).

// slurm is a running one.
type slurm struct {
	net     *network // the machines of the nodes, and that of the controller and of all commands; nil: this one
	dir     string
	mark    string // in the environment of all its processes
	tools   map[string]string
	servers []*exec.Cmd
	end     chan struct{} // closed: the thread that has started the servers may end
}

const slurmNodes = 3

// newSlurm starts one, and ends it with the test. It skips the test where Slurm is not installed. The network has a
// machine for each node and one more; nil: none.
func newSlurm(t *testing.T, net *network) *slurm {
	t.Helper()
	stage(t)
	if os.Getuid() != 0 {
		t.Skip("a Slurm of our own needs root")
	}
	s := &slurm{net: net, dir: t.TempDir(), tools: map[string]string{}, end: make(chan struct{})}
	s.mark = "IMPI_TEST_SLURM=" + s.dir
	for _, tool := range []string{"munged", "slurmctld", "slurmd", "srun", "sinfo", "sbatch", "salloc", "scancel"} {
		file, err := exec.LookPath(tool)
		if err != nil {
			file, err = exec.LookPath("/usr/sbin/" + tool)
		}
		if err != nil {
			t.Skipf("there is no %s: Slurm is not installed (Debian: slurmctld slurmd slurm-client munge)", tool)
		}
		s.tools[tool] = file
	}
	s.configure(t)
	t.Cleanup(func() { s.close(t) })
	s.serve(t)
	s.await(t)
	return s
}

// inside runs f, and starts what f starts, where a node is, or the controller.
func (s *slurm) inside(t *testing.T, i int, f func()) {
	t.Helper()
	if s.net == nil {
		f()
		return
	}
	s.net.machines[i].inside(t, f)
}

// address is where a node listens, or the controller.
func (s *slurm) address(i int) string {
	if s.net == nil {
		return "127.0.0.1"
	}
	return s.net.machines[i].addr.String()
}

func (s *slurm) file(name string) string { return filepath.Join(s.dir, name) }

// freePorts are n ports in a row that nobody listens at.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		port, free := first.Addr().(*net.TCPAddr).Port, true
		for i := 1; i < n && free; i++ {
			next, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+i))
			if free = err == nil; free {
				defer next.Close()
			}
		}
		if free {
			return port
		}
	}
	t.Fatalf("there are no %d free ports in a row", n)
	return 0
}

func (s *slurm) configure(t *testing.T) {
	t.Helper()
	for _, dir := range []string{s.dir, filepath.Dir(s.dir)} { // as munge asks of what its socket stands in
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	port := freePorts(t, 1+slurmNodes)
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=libimpi
SlurmctldHost=localhost(%[3]s)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge
CredType=cred/munge
SlurmctldPort=%[2]d
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmdPidFile=%[1]s/slurmd.%%n.pid
SlurmctldLogFile=%[1]s/slurmctld.log
SlurmdLogFile=%[1]s/slurmd.%%n.log
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool.%%n
TmpFS=%[1]s/tmp.%%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
SchedulerType=sched/builtin
SlurmdParameters=config_overrides
MailProg=/bin/true
MpiDefault=none
ReturnToService=2
KillWait=1
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4
PartitionName=left Nodes=n1 OverSubscribe=FORCE:4
PartitionName=right Nodes=n2,n3 OverSubscribe=FORCE:4
`, s.dir, port, s.address(slurmNodes))
	for i := range slurmNodes {
		fmt.Fprintf(&b, "NodeName=n%d NodeHostname=localhost NodeAddr=%s Port=%d CPUs=4\n", i+1, s.address(i), port+1+i)
	}
	var key [256]byte
	rand.Read(key[:])
	for name, text := range map[string]string{"slurm.conf": b.String(), "munge.key": string(key[:])} {
		if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{"state"}
	for i := 1; i <= slurmNodes; i++ {
		dirs = append(dirs, fmt.Sprint("spool.n", i), fmt.Sprint("tmp.n", i))
	}
	for _, dir := range dirs {
		if err := os.Mkdir(s.file(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// serve starts the servers, which the kernel ends with the thread that has started them.
func (s *slurm) serve(t *testing.T) {
	t.Helper()
	type server struct {
		at    int
		words []string
	}
	servers := []server{
		{slurmNodes, []string{"munged", "-F", "--force", "--key-file=" + s.file("munge.key"), "--socket=" + s.file("munge"),
			"--pid-file=" + s.file("munge.pid"), "--seed-file=" + s.file("munge.seed"), "--log-file=" + s.file("munge.log")}},
		{slurmNodes, []string{"slurmctld", "-D", "-i"}},
	}
	for i := range slurmNodes {
		servers = append(servers, server{i, []string{"slurmd", "-D", "-N", fmt.Sprint("n", i+1)}})
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		var err error
		for _, one := range servers {
			if s.inside(t, one.at, func() { err = s.serveOne(one.words) }); err != nil {
				break
			}
		}
		started <- err
		<-s.end
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
}

func (s *slurm) serveOne(words []string) error {
	cmd := exec.Command(s.tools[words[0]], words[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.file("slurm.conf"), s.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.servers = append(s.servers, cmd)
	if words[0] == "munged" {
		return s.socket()
	}
	return nil
}

// socket waits for munge's, which the others need at once.
func (s *slurm) socket() error {
	for begun := time.Now(); time.Since(begun) < patience/2; time.Sleep(5 * time.Millisecond) {
		if c, err := net.Dial("unix", s.file("munge")); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("munged does not listen: %s", s.log("munge.log"))
}

// await waits until all nodes can be used.
func (s *slurm) await(t *testing.T) {
	t.Helper()
	var out []byte
	for begun := time.Now(); time.Since(begun) < patience/2; time.Sleep(50 * time.Millisecond) {
		cmd := exec.Command(s.tools["sinfo"], "-h", "-N", "-p", "all", "-o", "%N %T")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+s.file("slurm.conf"))
		s.inside(t, slurmNodes, func() { out, _ = cmd.CombinedOutput() })
		if strings.Count(string(out), " idle\n") == slurmNodes {
			return
		}
	}
	t.Fatalf("the nodes of Slurm do not come up: %s\n%s%s", out, s.log("slurmctld.log"), s.log("slurmd.n1.log"))
}

// log is the end of a server's log.
func (s *slurm) log(name string) string {
	text, _ := os.ReadFile(s.file(name))
	return string(text[max(0, len(text)-2000):])
}

// close ends the servers, the nodes first, and all that they have left.
func (s *slurm) close(t *testing.T) {
	for i := len(s.servers) - 1; i >= 0; i-- {
		s.servers[i].Process.Signal(syscall.SIGTERM)
		late := time.AfterFunc(10*time.Second, func() { s.servers[i].Process.Kill() })
		s.servers[i].Wait()
		late.Stop()
	}
	close(s.end)
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		left := marked(s.mark)
		if len(left) == 0 {
			break
		}
		if time.Since(begun) > 5*time.Second {
			t.Errorf("Slurm's processes %v are left", left)
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
			break
		}
	}
	if t.Failed() {
		t.Logf("slurmctld: %s\nslurmd: %s", s.log("slurmctld.log"), s.log("slurmd.n1.log"))
	}
}

// start runs one of Slurm's commands. All that it starts has the mark of the job, and that of this Slurm.
func (s *slurm) start(t *testing.T, options []option, tool string, words ...string) (j *job) {
	t.Helper()
	options = append(slices.Clone(options), environ("SLURM_CONF="+s.file("slurm.conf"), s.mark))
	s.inside(t, slurmNodes, func() { j = startProgram(t, options, s.tools[tool], words...) })
	return j
}

// settled waits until the nodes have ended what a job has left, which srun does not, and then for srun.
func (s *slurm) settled(t *testing.T, j *job) result {
	t.Helper()
	j.cmd.Wait() // its code stands in the state
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		left := marked(j.mark)
		if len(left) == 0 {
			break
		}
		if time.Since(begun) > patience/2 {
			t.Fatalf("%q has left processes %v", j.cmd.Args, left)
		}
	}
	j.cancel()
	return result{code: j.cmd.ProcessState.ExitCode(), stdout: j.stdout.String(), stderr: j.stderr.String()}
}

// has reports whether processes can find each other in that way.
func (s *slurm) has(t *testing.T, manager string) bool {
	t.Helper()
	r := s.start(t, nil, "srun", "--mpi=list").wait()
	return slices.Contains(strings.Fields(r.stdout+r.stderr), manager) // older ones say it on stderr
}

// managers runs a test for each way in which processes can find each other.
func (s *slurm) managers(t *testing.T, test func(t *testing.T, how string)) {
	t.Helper()
	for _, manager := range []string{"pmi2", "pmix"} {
		if s.has(t, manager) {
			t.Run(manager, func(t *testing.T) { test(t, "-Q --mpi="+manager) })
		} else {
			fmt.Printf("skipped: this Slurm has no %s\n", manager)
		}
	}
}

// Nodes without memory in common: between them there is TCP alone.
func TestJobsOfSlurmOnMachinesOfTheirOwn(t *testing.T) {
	s := newSlurm(t, newNetwork(t, ipv4, slurmNodes+1))
	s.managers(t, func(t *testing.T, how string) {
		r := s.settled(t, s.start(t, nil, "srun", words(how, "-N 3 -n 5 -m block", program(t, "places"))...))
		r.expect(t, 0, "")
		r.says(t, "rank 0 of 5, program 0, 2 share memory", "rank 1 of 5, program 0, 2 share memory",
			"rank 2 of 5, program 0, 2 share memory", "rank 3 of 5, program 0, 2 share memory",
			"rank 4 of 5, program 0, 1 share memory")
		for _, what := range [][]string{words(traffic(t), few), {reduce(t)}} {
			s.settled(t, s.start(t, nil, "srun", words(how, "-N 2 -n 4 -m cyclic", what)...)).expect(t, 0, "")
		}
		r = s.settled(t, s.start(t, nil, "srun", words(how, "-N 3 -n 3", program(t, "misbehave"), "raise 1 9")...))
		if r.code == 0 {
			t.Errorf("code 0, %s", r.stderr)
		}
	})
}

func TestJobsOfSlurm(t *testing.T) {
	s := newSlurm(t, nil)
	s.managers(t, s.jobs)
	t.Run("none", func(t *testing.T) {
		r := s.settled(t, s.start(t, nil, "srun", words("--mpi=none -n 2", program(t, "places"))...))
		if r.code == 0 || !strings.Contains(r.stderr, "this process was started by Slurm's srun") {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
}

// jobs runs programs by srun with the given option.
func (s *slurm) jobs(t *testing.T, how string) {
	for _, where := range []string{"-N 1 -n 1", "-N 1 -n 4", "-N 2 -n 4", "-N 3 -n 5 -m cyclic"} {
		var nodes, n int
		fmt.Sscanf(where, "-N %d -n %d", &nodes, &n)
		r := s.settled(t, s.start(t, nil, "srun", words(how, where, program(t, "places"))...))
		r.expect(t, 0, "")
		var want []string
		for rank := range n {
			want = append(want, fmt.Sprintf("rank %d of %d, program 0, %d share memory", rank, n, n))
		}
		r.says(t, want...)
	}
	for _, name := range []string{"pt2pt/traffic", "coll/reduce"} {
		for _, where := range []string{"-N 1 -n 4", "-N 2 -n 4"} {
			r := s.settled(t, s.start(t, nil, "srun", words(how, where, program(t, "../"+name))...))
			r.expect(t, 0, "")
		}
	}
	if t.Failed() {
		return // what follows waits for what ranks say
	}
	t.Run("batch", func(t *testing.T) { s.batch(t, how) })
	t.Run("allocation", func(t *testing.T) {
		r := s.settled(t, s.start(t, nil, "salloc", words("-Q -N 2 -n 4", s.tools["srun"], how, program(t, "places"))...))
		r.expect(t, 0, "")
		if n := strings.Count(r.stdout, "of 4, program 0, 4 share memory\n"); n != 4 {
			t.Errorf("%q", r.stdout)
		}
	})
	t.Run("abort", func(t *testing.T) {
		r := s.settled(t, s.start(t, nil, "srun", words(how, "-N 2 -n 3", program(t, "misbehave"), "abort 1 17")...))
		want := 17
		if !strings.Contains(how, "pmix") {
			want = r.code // Slurm's PMI-2 says 137 for what it has killed, and only its PMIx hands the code on
		}
		if r.code == 0 || r.code != want || !strings.Contains(r.stderr, "MPI_Abort(17) on MPI_COMM_WORLD") {
			t.Errorf("code %d, want %d; %s", r.code, want, r.stderr)
		}
	})
	t.Run("killed", func(t *testing.T) {
		r := s.settled(t, s.start(t, nil, "srun", words(how, "-N 2 -n 3", program(t, "misbehave"), "raise 1 9")...))
		if r.code != 128+9 {
			t.Errorf("code %d, %s", r.code, r.stderr)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		j := s.start(t, nil, "srun", words(how, "-N 2 -n 4 -J canceled", program(t, "misbehave"), "wait-for-signal 0")...)
		j.stdout.await("ready", 4)
		s.start(t, nil, "scancel", "-n", "canceled").wait().expect(t, 0, "")
		if r := s.settled(t, j); r.code == 0 {
			t.Errorf("code 0, %s", r.stderr)
		}
	})
}

// batch runs a script that starts two jobs, one after the other. sbatch itself does not wait for it, unless it asks for
// its end now and then.
func (s *slurm) batch(t *testing.T, how string) {
	dir := t.TempDir()
	script, out, done := filepath.Join(dir, "script"), filepath.Join(dir, "out"), filepath.Join(dir, "done")
	text := fmt.Sprintf("#!/bin/sh\nfor i in 1 2; do %s %s %s || echo code $?; done\nmkdir %s\n", s.tools["srun"], how,
		program(t, "places"), done)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	j := s.start(t, nil, "sbatch", words("-Q -N 2 -n 4 -o", out, script)...)
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(done); err == nil {
			break
		}
		if time.Since(begun) > patience/2 {
			t.Fatalf("the script does not end: %s", j.stderr)
		}
	}
	s.settled(t, j).expect(t, 0, "")
	said, err := os.ReadFile(out)
	if err != nil || strings.Count(string(said), "of 4, program 0, 4 share memory\n") != 8 ||
		strings.Count(string(said), "\n") != 8 {
		t.Errorf("%v: %s", err, said)
	}
}
