// Command compare measures this library beside the MPI implementations of this machine, with one benchmark
// program for all of them.
//
// Flow: find the implementations -> build the benchmarks and hello with each -> for every group, k rounds in
// which each implementation runs once, in turn -> per round, the ratio of ours to the better peer -> the
// median of the ratios (of whole programs: the ratio of the best times), beside its target. Rounds are paired because
// the machine's mood changes from minute to minute; a ratio taken within one round does not see that. With -confidence,
// and six rounds or more, the interval of the median stands beside it.
//
//	go run ./bench/compare [-rounds 3] [-stage build/stage] [-peers build/peers] [flag ...] [group ...]
//	go run ./bench/compare -cluster [-rate 1000] [-delay 20us] [-mtu 1500] [-control reno] [flag ...] [group ...]
//
// Groups: shm steps (no cliff between lengths) coll vec pack (vec without sending, each way by itself too, and what
// types cost) types (small ones, call by call) comm rma (one-sided communication) io (files) tcp overlap and
// tcp-overlap (of a long message with computation, on this core and elsewhere) agent (beside three plain hops) oversub
// idle start memory survive (agreements, and going on after losses) apps (programs that compute and communicate, and
// what a rank uses; -only chooses among its rows, -limit ends a run, -hpcc adds the HPC Challenge benchmark).
//
// Groups of -cluster, between machines (cluster.go): net (two machines of one rank) net-4 (of four ranks, all at once,
// and what it costs to wait while others have messages) coll-2x1 coll-4x1 coll-2x4 (machines by ranks on each).
//
// An implementation that is not there is named and left out. tools/peers puts the newest ones where -peers says.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/bench/machines"
)

// settings are the command line.
type settings struct {
	rounds          int
	stage, peers    string
	bench, examples string
	hello, target   string
	limit           time.Duration // of apps
	only            string
	hpcc, blas      string
	groups          []string
	confidence      float64
	cluster         bool
	link            machines.Link // of the cluster's machines
	raw             string
}

func main() {
	if len(os.Args) > 3 && os.Args[1] == usageFlag {
		os.Exit(usage(os.Args[2], os.Args[3:]))
	}
	var s settings
	flag.IntVar(&s.rounds, "rounds", 3, "`rounds` of every group")
	flag.StringVar(&s.stage, "stage", "build/stage", "`directory` in which this library is installed")
	flag.StringVar(&s.peers, "peers", "build/peers", "`directory` in which the newest MPICH and Open MPI are installed")
	flag.StringVar(&s.bench, "bench", "bench", "`directory` of the programs that measure")
	flag.StringVar(&s.examples, "examples", "examples_c", "`directory` of the programs of the group apps")
	flag.StringVar(&s.hello, "hello", "examples_c/hello.c", "`file` used for start and memory")
	flag.StringVar(&s.target, "targets", "bench/targets.txt", "`file` of targets")
	flag.StringVar(&s.only, "only", "*", "of the rows of the group apps those of this `pattern`, as solver/* or */4-tcp")
	flag.DurationVar(&s.limit, "limit", 6*time.Second, "`time` that a run of the group apps may take")
	flag.StringVar(&s.hpcc, "hpcc", "", "`directory` of the source of HPCC, which then is a program of the group apps")
	flag.StringVar(&s.blas, "blas", "-lblas", "the linker's `words` for the BLAS that HPCC needs")
	flag.Float64Var(&s.confidence, "confidence", 0,
		"beside each ratio write the interval of its median with this `probability`, as 0.95; 0: none")
	flag.StringVar(&s.raw, "raw", "", "`file` to which the values of all rounds are appended, as in bench/results")
	flag.BoolVar(&s.cluster, "cluster", false, "measure between machines that this one makes out of itself; needs root")
	flag.IntVar(&s.link.Rate, "rate", 1000, "of -cluster: `Mbit/s` of each machine's interface, in each direction")
	flag.DurationVar(&s.link.Delay, "delay", 20*time.Microsecond, "of -cluster: `delay` of packets, if the kernel can")
	flag.IntVar(&s.link.MTU, "mtu", 1500, "of -cluster: largest packet, `bytes`")
	flag.StringVar(&s.link.Control, "control", "reno", "of -cluster: TCP's congestion `control`; every kernel allows reno")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: compare [flags] [group ...]     (or make bench [group ...])\ngroups:",
			strings.Join(namesOf(groups()), " "), "\ngroups of -cluster:", strings.Join(namesOf(cluster(nil).groups()), " "))
		flag.PrintDefaults()
	}
	flag.Parse()
	s.groups = flag.Args()
	if err := compare(s); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(s settings) error {
	if s.rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1", s.rounds)
	}
	if s.confidence < 0 || s.confidence >= 1 {
		return fmt.Errorf("-confidence %g: from 0 to below 1", s.confidence)
	}
	scratch, err := os.MkdirTemp("", "mpi-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	all := groups()
	var on cluster
	if s.cluster {
		if on, err = newCluster(s.link, scratch); err != nil {
			return err
		}
		defer on.close()
		all = on.groups()
		fmt.Println(on)
	}
	cleanUpOnSignal(on, scratch)
	chosen, err := chooseGroups(all, s.groups)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(s.target)
	if err != nil {
		return err
	}
	targets, err := parseTargets(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", s.target, err)
	}
	present := s.present(scratch)
	if len(present) == 0 {
		return fmt.Errorf("no MPI implementation found")
	}
	missed := 0
	for _, g := range chosen {
		t := &table{w: os.Stdout, group: g.name, present: present, targets: targets, confidence: s.confidence}
		parts := []group{g}
		if g.name == appsGroup {
			if parts, err = s.apps(scratch); err != nil {
				return err
			}
		}
		lines := t.measure(parts, s.rounds)
		missed += t.missed
		if s.raw != "" {
			if err := writeRaw(s.raw, g.name, on, present, lines); err != nil {
				return err
			}
		}
		if g.name == "steps" {
			for i, l := range present {
				printCliffs(os.Stdout, l.title(), cliffs(lines, i))
			}
		}
	}
	if missed > 0 {
		fmt.Printf("%d targets missed\n", missed)
	}
	return nil
}

// present builds with every library, and returns those with which that works.
func (s settings) present(scratch string) []*library {
	var present []*library
	for i, l := range libraries(s.stage, s.peers) {
		if why := l.build(filepath.Join(scratch, strconv.Itoa(i)), s.bench, s.hello); why != nil {
			fmt.Printf("%s is missing: %v\n", l.name, why)
			continue
		}
		present = append(present, l)
	}
	return present
}

// cleanUpOnSignal removes a folder, and machines if there are any, if somebody ends this program before its time.
func cleanUpOnSignal(on cluster, folder string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		on.close()
		os.RemoveAll(folder)
		os.Exit(1)
	}()
}
