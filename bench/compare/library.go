package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// library is one MPI implementation: how to build with it and how to start a job. The options are those that a user
// would type; only tcp asks for something special, since all ranks are on one machine.
type library struct {
	name       string
	cc         []string // candidates for the compiler wrapper, first one found wins
	launch     []string // candidates for the launcher
	version    []string // what the launcher's --version must mention, any of them; none: no check
	env        []string // for every run
	oversub    []string // options for more ranks than cores
	tcp        []string // options that keep messages off shared memory
	tcpEnv     []string
	mpibench   string // built programs
	commbench  string
	typebench  string
	hello      string
	bench      string // where the sources are
	launchPath string
}

func libraries(stage string) []*library {
	if abs, err := filepath.Abs(stage); err == nil {
		stage = abs
	}
	return []*library{
		{
			name:   "ours",
			cc:     []string{filepath.Join(stage, "bin/mpicc")},
			launch: []string{filepath.Join(stage, "bin/impirun")},
			tcp:    []string{"-clients", "2"},
		},
		{
			name:    "mpich",
			cc:      []string{"mpicc.mpich", "mpicc"},
			launch:  []string{"mpiexec.mpich", "mpiexec.hydra", "mpiexec"},
			version: []string{"HYDRA", "MPICH"},
			// ch4:ucx (Debian) reads the first, ch4:ofi the second; the third turns shared memory off in both.
			tcpEnv: []string{"UCX_TLS=tcp,self", "FI_PROVIDER=tcp", "MPIR_CVAR_NOLOCAL=1"},
		},
		{
			name:    "openmpi",
			cc:      []string{"mpicc.openmpi", "mpicc"},
			launch:  []string{"mpirun.openmpi", "orterun", "mpirun"},
			version: []string{"Open MPI", "OpenRTE", "prte"},
			env:     []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
			oversub: []string{"--oversubscribe"},
			tcp:     []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"},
		},
	}
}

// build compiles the programs; the error says what is missing.
func (l *library) build(scratch, bench, hello string) error {
	cc, err := firstFound(l.cc, nil)
	if err != nil {
		return err
	}
	if l.launchPath, err = firstFound(l.launch, l.version); err != nil {
		return err
	}
	l.mpibench = filepath.Join(scratch, l.name+"-mpibench")
	l.commbench = filepath.Join(scratch, l.name+"-commbench")
	l.typebench = filepath.Join(scratch, l.name+"-typebench")
	l.hello = filepath.Join(scratch, l.name+"-hello")
	l.bench = bench
	for program, source := range map[string]string{l.mpibench: filepath.Join(bench, "mpibench.c"),
		l.commbench: filepath.Join(bench, "commbench.c"), l.typebench: filepath.Join(bench, "typebench.c"), l.hello: hello} {
		if out, err := exec.Command(cc, "-O2", "-o", program, source).CombinedOutput(); err != nil {
			return fmt.Errorf("%s %s: %w\n%s", cc, source, err, out)
		}
	}
	return nil
}

// firstFound is the first candidate that can be run and, if marks are given, whose --version mentions one of them.
func firstFound(candidates, marks []string) (string, error) {
	for _, c := range candidates {
		path, err := exec.LookPath(c)
		if err != nil {
			continue
		}
		if len(marks) == 0 {
			return path, nil
		}
		out, _ := exec.Command(path, "--version").CombinedOutput()
		for _, m := range marks {
			if bytes.Contains(out, []byte(m)) {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("found none of %s", strings.Join(candidates, ", "))
}

// job is one run: ranks, program and its arguments.
type job struct {
	ranks int
	path  string
	args  []string
	over  bool // more ranks than cores
	tcp   bool
	more  []string // options of the launcher
}

// run starts a job and waits for it, at most ten minutes. It answers its output, the seconds it took, and an
// error that has the end of its stderr.
func (l *library) run(j job) (string, float64, error) {
	args := []string{}
	env := append(os.Environ(), l.env...)
	if j.tcp {
		args = append(args, l.tcp...)
		env = append(env, l.tcpEnv...)
	}
	if j.over {
		args = append(args, l.oversub...)
	}
	args = append(args, j.more...)
	args = append(args, "-n", fmt.Sprint(j.ranks), j.path)
	args = append(args, j.args...)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.launchPath, args...)
	cmd.Env = env
	// A launcher that is killed leaves its ranks behind; one that is asked takes them along.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin).Seconds()
	if err != nil {
		tail := strings.TrimSpace(stderr.String())
		if len(tail) > 500 {
			tail = tail[len(tail)-500:]
		}
		err = fmt.Errorf("%s: %s %s: %w: %s", l.name, l.launchPath, strings.Join(args, " "), err, tail)
	}
	return stdout.String(), took, err
}
