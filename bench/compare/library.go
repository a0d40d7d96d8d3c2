package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// library is one MPI implementation: how to build with it and how to start a job. The options are those that a user
// would type; only tcp asks for something special, since all ranks are on one machine.
type library struct {
	name       string   // what it is; of several of one name, the versions differ
	cc         []string // candidates for the compiler wrapper, first one found wins
	launch     []string // candidates for the launcher
	marks      []string // what the launcher's --version must mention, any of them; none: no check
	env        []string // for every run
	oversub    []string // options for more ranks than cores
	free       []string // options that bind no rank to a core
	tcp        []string // options that keep messages off shared memory
	tcpEnv     []string
	mpibench   string // built programs
	commbench  string
	typebench  string
	hello      string
	bench      string // where the sources are
	folder     string // where the programs are
	ccPath     string
	launchPath string
	version    string // of the launcher
}

// ours is the name of this library, the first of the table.
const ours = "ours"

// title is a library's heading in a table.
func (l *library) title() string { return strings.TrimSpace(l.name + " " + l.version) }

// libraries are ours, the system's, and the newest ones, which tools/peers puts into a folder.
func libraries(stage, peers string) []*library {
	stage, peers = absolute(stage), absolute(peers)
	in := func(peer, program string) []string { return []string{filepath.Join(peers, peer, "bin", program)} }
	return []*library{
		{
			name:   ours,
			cc:     []string{filepath.Join(stage, "bin/mpicc")},
			launch: []string{filepath.Join(stage, "bin/impirun")},
			tcp:    []string{"-clients", "2"},
		},
		mpich([]string{"mpicc.mpich", "mpicc"}, []string{"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}),
		openMPI([]string{"mpicc.openmpi", "mpicc"}, []string{"mpirun.openmpi", "orterun", "mpirun"}, "--oversubscribe"),
		mpich(in("mpich", "mpicc"), in("mpich", "mpiexec")),
		openMPI(in("openmpi", "mpicc"), in("openmpi", "mpirun"), "--map-by", ":OVERSUBSCRIBE"),
	}
}

func mpich(cc, launch []string) *library {
	return &library{
		name:   "mpich",
		cc:     cc,
		launch: launch,
		marks:  []string{"HYDRA", "MPICH"},
		// ch4:ucx reads the first, ch4:ofi the second; the third turns shared memory off in both.
		tcpEnv: []string{"UCX_TLS=tcp,self", "FI_PROVIDER=tcp", "MPIR_CVAR_NOLOCAL=1"},
	}
}

// openMPI: how to ask for more ranks than cores differs between versions 4 and 5.
func openMPI(cc, launch []string, oversub ...string) *library {
	return &library{
		name:   "openmpi",
		cc:     cc,
		launch: launch,
		marks:  []string{"Open MPI", "OpenRTE", "prte"},
		env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		oversub: oversub,
		free:    []string{"--bind-to", "none"},
		tcp:     []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"},
	}
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// build finds the tools and compiles the programs into a folder of its own; the error says what is missing.
func (l *library) build(folder, bench, hello string) error {
	var err error
	if l.ccPath, _, err = firstFound(l.cc, nil); err != nil {
		return err
	}
	about := ""
	if l.launchPath, about, err = firstFound(l.launch, l.marks); err != nil {
		return err
	}
	l.version = versionIn(about)
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	l.folder = folder
	l.mpibench = filepath.Join(folder, "mpibench")
	l.commbench = filepath.Join(folder, "commbench")
	l.typebench = filepath.Join(folder, "typebench")
	l.hello = filepath.Join(folder, "hello")
	l.bench = bench
	for program, source := range map[string]string{l.mpibench: filepath.Join(bench, "mpibench.c"),
		l.commbench: filepath.Join(bench, "commbench.c"), l.typebench: filepath.Join(bench, "typebench.c"), l.hello: hello} {
		if err := compile(l.ccPath, program, source); err != nil {
			return err
		}
	}
	return nil
}

// program builds a program at its first use.
func (l *library) program(source string) (string, error) {
	path := filepath.Join(l.folder, strings.TrimSuffix(filepath.Base(source), ".c"))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, compile(l.ccPath, path, source)
}

func compile(cc, program, source string) error {
	if out, err := exec.Command(cc, "-O2", "-o", program, source, "-lm").CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", cc, source, err, out)
	}
	return nil
}

// firstFound is the first candidate that can be run and, if marks are given, whose --version mentions one of them; and
// what its --version says.
func firstFound(candidates, marks []string) (path, about string, err error) {
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		out, _ := exec.Command(path, "--version").CombinedOutput()
		if len(marks) == 0 {
			return path, string(out), nil
		}
		for _, m := range marks {
			if bytes.Contains(out, []byte(m)) {
				return path, string(out), nil
			}
		}
	}
	return "", "", fmt.Errorf("found none of %s", strings.Join(candidates, ", "))
}

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?[a-z0-9]*`)

// versionIn is the first version number in what a launcher says about itself, or nothing.
func versionIn(about string) string { return versionNumber.FindString(about) }

// job is one run: ranks, program and its arguments.
type job struct {
	ranks  int
	path   string
	args   []string
	over   bool // more ranks than cores
	free   bool // bound to no core
	tcp    bool
	more   []string      // options of the launcher
	env    []string      // and settings
	before []string      // words before the launcher's
	limit  time.Duration // the longest it may take; 0: ten minutes
	folder string        // where it runs; "": here
}

// tooLong says that a job was ended because it took longer than its limit.
type tooLong struct {
	what  string
	limit time.Duration
}

func (e *tooLong) Error() string { return fmt.Sprintf("%s: longer than %v", e.what, e.limit) }

// options are the words between the launcher and the program, and the environment.
func (l *library) options(j job) (args, env []string) {
	env = append(os.Environ(), l.env...)
	if j.tcp {
		args = append(args, l.tcp...)
		env = append(env, l.tcpEnv...)
	}
	if j.over {
		args = append(args, l.oversub...)
	}
	if j.free {
		args = append(args, l.free...)
	}
	return append(args, j.more...), append(env, j.env...)
}

// run starts a job and waits for it, as long as it may take. It returns its output, the seconds it took, and an
// error that has the end of its stderr.
func (l *library) run(j job) (string, float64, error) {
	if j.limit == 0 {
		j.limit = 10 * time.Minute
	}
	args, env := l.options(j)
	args = append(args, "-n", fmt.Sprint(j.ranks), j.path)
	args = append(args, j.args...)
	ctx, cancel := context.WithTimeout(context.Background(), j.limit)
	defer cancel()
	words := append(append(slices.Clone(j.before), l.launchPath), args...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Dir = env, j.folder
	// A launcher that is killed leaves its ranks behind; one that is asked takes them along.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin).Seconds()
	what := fmt.Sprintf("%s: %s %s", l.title(), l.launchPath, strings.Join(args, " "))
	if ctx.Err() != nil {
		return stdout.String(), took, &tooLong{what, j.limit}
	}
	if err != nil {
		tail := strings.TrimSpace(stderr.String())
		if len(tail) > 500 {
			tail = tail[len(tail)-500:]
		}
		err = fmt.Errorf("%s: %w: %s", what, err, tail)
	}
	return stdout.String(), took, err
}
