// Command compare measures this library beside the MPI implementations of this machine, with one benchmark
// program for all of them.
//
// Flow: find the implementations -> build the benchmarks and hello with each -> for every group, k rounds in
// which each implementation runs once, in turn -> per round, the ratio of ours to the better peer -> the
// median of the ratios, beside its target. Rounds are paired because the machine's mood changes from minute to
// minute; a ratio taken within one round does not see that.
//
//	go run ./bench/compare [-rounds 3] [-stage build/stage] [-targets bench/targets.txt] [group ...]
//
// Groups: shm steps (no cliff between lengths) coll vec pack (vec without sending, each way by itself too, and what types
// cost) types (small ones, call by call) comm tcp overlap and tcp-overlap (of a long message with computation, on this core
// and elsewhere) agent (beside three plain hops) oversub idle start memory. An implementation that is not there is named
// and left out.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == peakFlag {
		os.Exit(peak(os.Args[2:]))
	}
	rounds := flag.Int("rounds", 3, "`rounds` of every group")
	stage := flag.String("stage", "build/stage", "`directory` in which this library is installed")
	bench := flag.String("bench", "bench", "`directory` of mpibench.c, commbench.c and typebench.c")
	hello := flag.String("hello", "examples_c/hello.c", "`file` used for start and memory")
	table := flag.String("targets", "bench/targets.txt", "`file` of targets")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: compare [flags] [group ...]\ngroups:", strings.Join(groupNames(), " "))
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := compare(*rounds, *stage, *bench, *hello, *table, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(rounds int, stage, bench, hello, table string, names []string) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: at least 1", rounds)
	}
	chosen, err := chooseGroups(names)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	targets, err := parseTargets(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	scratch, err := os.MkdirTemp("", "mpi-compare-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	removeOnSignal(scratch)

	var present []*library
	for _, l := range libraries(stage) {
		if why := l.build(scratch, bench, hello); why != nil {
			fmt.Printf("%s is missing: %v\n", l.name, why)
			continue
		}
		present = append(present, l)
	}
	if len(present) == 0 {
		return fmt.Errorf("no MPI implementation found")
	}
	missed := 0
	for _, g := range chosen {
		lines := measure(g, present, rounds)
		missed += printTable(os.Stdout, g.name, present, lines, targets)
		if g.name == "steps" {
			for i, l := range present {
				printCliffs(os.Stdout, l.name, cliffs(lines, i))
			}
		}
	}
	if missed > 0 {
		fmt.Printf("%d targets missed\n", missed)
	}
	return nil
}

// removeOnSignal removes a folder if somebody ends this program before its time.
func removeOnSignal(folder string) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		os.RemoveAll(folder)
		os.Exit(1)
	}()
}
