// Command guidelines looks for self-consistent performance guidelines that this library violates: calls that a user
// could replace with other calls that do the same, or more, in less time.
//
// Flow: build guidelines.c -> for each number of ranks, run it -> judge each of its lines as it comes (judge.go), print
// those of violations, and a summary.
//
// Usage, with what is measured if nothing is said:
//
//	go run ./bench/guidelines [-np 2,4] [-sizes 8,64,1024,16384,262144,1048576] [-rounds 31] [-factor 1.3] [-epsilon 1]
//	    [-bind] [-all] [-strict] [-stage build/stage] [pattern ...]
//
// On a machine that is busy with something else, the kernel may put two ranks on one core, where each waits for the
// other to be descheduled; -bind keeps them apart (by taskset, where there is a core for each).
//
// A pattern chooses guidelines by their names, as 'bcast*' or '*-in-place*'. The stage may be the prefix of another MPI
// implementation.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plan is what is to be measured.
type plan struct {
	stage, source string
	ranks         []int
	sizes         string // of guidelines.c, which checks them
	rounds        int
	patterns      []string
	bind          bool
	all           bool // print what is no violation, too
	bounds
}

// errViolated is what -strict makes of a violation.
var errViolated = errors.New("guidelines are violated")

func main() {
	var p plan
	ordinary := "2,4"
	if runtime.NumCPU() >= 8 {
		ordinary = "2,4,8"
	}
	np := flag.String("np", ordinary, "`numbers` of ranks")
	flag.StringVar(&p.sizes, "sizes", "8,64,1024,16384,262144,1048576", "`bytes`, multiples of 8, rising")
	flag.IntVar(&p.rounds, "rounds", 31, "`rounds` in which the sides of a guideline take turns")
	flag.Float64Var(&p.factor, "factor", 1.3, "a violation takes more than so many `times` what the right side takes")
	flag.Float64Var(&p.epsilon, "epsilon", 1, "what a nonblocking call may take longer than a blocking one, `us`")
	flag.BoolVar(&p.bind, "bind", false, "bind each rank to a core of its own, if there are enough")
	flag.BoolVar(&p.all, "all", false, "print the guidelines that hold, too")
	strict := flag.Bool("strict", false, "exit with 1 if there is a violation")
	flag.StringVar(&p.stage, "stage", "build/stage", "`directory` in which the library is installed")
	flag.StringVar(&p.source, "source", "bench/guidelines.c", "`file` that measures")
	flag.Parse()
	p.patterns = flag.Args()
	var err error
	if p.ranks, err = numbers(*np); err == nil {
		err = p.measure(os.Stdout, *strict)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guidelines:", err)
		os.Exit(1)
	}
}

// numbers reads a list of numbers of ranks.
func numbers(list string) (all []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-np: %q is not a number of ranks", s)
		}
		all = append(all, n)
	}
	return all, nil
}

func (p *plan) measure(w io.Writer, strict bool) error {
	stage, err := filepath.Abs(p.stage)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mpi-guidelines-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	program := filepath.Join(scratch, "guidelines")
	cc := filepath.Join(stage, "bin/mpicc")
	if out, err := exec.CommandContext(ctx, cc, "-O2", "-o", program, p.source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", cc, p.source, err, out)
	}
	violated := 0
	for _, n := range p.ranks {
		tally, err := p.run(ctx, w, n, filepath.Join(stage, "bin/mpirun"), program)
		if err != nil {
			return fmt.Errorf("%d ranks: %w", n, err)
		}
		violated += tally.violated
	}
	if strict && violated > 0 {
		return errViolated
	}
	return nil
}

// run measures on some ranks, and prints what it finds as it comes.
func (p *plan) run(ctx context.Context, w io.Writer, ranks int, mpirun, program string) (*tally, error) {
	job := append([]string{program, "-s", p.sizes, "-r", strconv.Itoa(p.rounds)}, p.patterns...)
	args := append([]string{"-n", strconv.Itoa(ranks)}, job...)
	if p.bind {
		var allowed unix.CPUSet
		if err := unix.SchedGetaffinity(0, &allowed); err != nil {
			return nil, err
		}
		if ranks <= allowed.Count() {
			args = bound(&allowed, ranks, job)
		}
	}
	cmd := exec.CommandContext(ctx, mpirun, args...)
	// A launcher that is killed may leave its ranks behind; one that is asked takes them along.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%d ranks on %d cores\n%s", ranks, runtime.NumCPU(), heading)
	t := &tally{}
	var wrong error
	for lines := bufio.NewScanner(out); lines.Scan(); {
		m, err := parse(lines.Text())
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		if j := p.judge(m); t.add(j) || p.all {
			fmt.Fprint(w, j)
		}
	}
	if err := errors.Join(cmd.Wait(), wrong); err != nil {
		return nil, err
	}
	if t.measured == 0 {
		return nil, fmt.Errorf("no guideline has such a name: %s", strings.Join(p.patterns, " "))
	}
	fmt.Fprintf(w, "%s\n", t)
	return t, nil
}

// bound are the words for a launcher that start a job with each rank on another of the cores.
func bound(cores *unix.CPUSet, ranks int, job []string) (args []string) {
	for core := 0; ranks > 0; core++ {
		if !cores.IsSet(core) {
			continue
		}
		if ranks--; len(args) > 0 {
			args = append(args, ":")
		}
		args = append(append(args, "-n", "1", "taskset", "-c", strconv.Itoa(core)), job...)
	}
	return args
}
