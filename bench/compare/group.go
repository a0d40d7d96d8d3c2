package main

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// sample is one figure of one run.
type sample struct {
	metric string
	value  float64
	unit   string
}

// group is a set of figures measured together by one run of each library.
type group struct {
	name string
	run  func(*library) ([]sample, error)
}

func groups() []group {
	return []group{
		{"shm", mpibench(false, "lat", "bw", "rate")},
		{"steps", mpibench(false, "steps")},
		{"coll", mpibench(false, "coll")},
		{"vec", mpibench(false, "vec")},
		{"pack", mpibench(false, "pack", "type")},
		{"send", mpibench(false, "send")},
		{"bound", bounds},
		{"types", func(l *library) ([]sample, error) { return l.samples(job{ranks: 2, path: l.typebench}) }},
		{"comm", comm},
		{"rma", rma},
		{"io", files},
		{"tcp", mpibench(true, "lat", "bw", "rate")},
		{"overlap", mpibench(false, "nb")},
		{"tcp-overlap", mpibench(true, "nb")},
		{"agent", agents},
		{"oversub", oversubscribed},
		{"idle", idle},
		{"start", start},
		{"memory", memory},
		{"survive", survive},
		{appsGroup, nil}, // its rows are groups of their own
	}
}

func namesOf(groups []group) []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

// chooseGroups returns the named ones of some groups in their order, all if none is named.
func chooseGroups(all []group, names []string) ([]group, error) {
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	var chosen []group
	for _, g := range all {
		if len(names) == 0 || wanted[g.name] {
			chosen = append(chosen, g)
		}
		delete(wanted, g.name)
	}
	for n := range wanted {
		return nil, fmt.Errorf("no group %q; there are %s", n, strings.Join(namesOf(all), ", "))
	}
	return chosen, nil
}

// mpibench runs parts of the benchmark on two ranks.
func mpibench(tcp bool, parts ...string) func(*library) ([]sample, error) {
	return func(l *library) ([]sample, error) {
		return l.samples(job{ranks: 2, path: l.mpibench, args: parts, tcp: tcp})
	}
}

// comm makes communicators on 2, 4 and 8 ranks; where ranks outnumber cores, few: a library that spins takes
// its time.
func comm(l *library) ([]sample, error) {
	var all []sample
	for _, ranks := range []int{2, 4, 8} {
		iterations, over := 300, ranks > runtime.NumCPU()
		if over {
			iterations = 32 / ranks
		}
		samples, err := l.samples(job{ranks: ranks, path: l.commbench, args: []string{strconv.Itoa(iterations)}, over: over})
		if err != nil {
			return nil, err
		}
		all = append(all, samples...)
	}
	return all, nil
}

// rma times one-sided communication of two ranks, and epochs of which all four take part, few where they share cores.
func rma(l *library) ([]sample, error) {
	program, err := l.program(filepath.Join(l.bench, "rmabench.c"))
	if err != nil {
		return nil, err
	}
	all, err := l.samples(job{ranks: 2, path: program})
	if err != nil {
		return nil, err
	}
	four := job{ranks: 4, path: program, args: []string{"active"}}
	if four.over = four.ranks > runtime.NumCPU(); four.over {
		four.args = []string{"-i", "8", "active"}
	}
	more, err := l.samples(four)
	return append(all, more...), err
}

// files times file access of two ranks, in a folder that goes with the programs.
func files(l *library) ([]sample, error) {
	program, err := l.program(filepath.Join(l.bench, "iobench.c"))
	if err != nil {
		return nil, err
	}
	return l.samples(job{ranks: 2, path: program, args: []string{l.folder}})
}

// oversubscribed times a barrier, and messages between two ranks while the others wait, with four ranks a core, and
// nothing else: a library that spins would take minutes for all collectives.
func oversubscribed(l *library) ([]sample, error) {
	return l.samples(job{ranks: 4 * runtime.NumCPU(), path: l.mpibench, args: []string{"barrier", "pair"}, over: true})
}

// idle is what ranks use that wait: four, whatever the number of cores.
func idle(l *library) ([]sample, error) {
	return l.samples(job{ranks: 4, path: l.mpibench, args: []string{"idle"}, over: true})
}

// start is the time from the launcher's start to its end for ranks that do nothing else, the median of some: two, and
// 64, which share the cores.
func start(l *library) ([]sample, error) {
	var samples []sample
	for _, c := range []struct{ ranks, times int }{{2, 5}, {64, 3}} {
		var times []float64
		for range c.times {
			_, took, err := l.run(job{ranks: c.ranks, path: l.hello, over: c.ranks > runtime.NumCPU()})
			if err != nil {
				return nil, err
			}
			times = append(times, took)
		}
		samples = append(samples, sample{fmt.Sprintf("start/%d", c.ranks), median(times), "s"})
	}
	return samples, nil
}

// memory is the peak resident set of a rank of hello, the larger one of two.
func memory(l *library) ([]sample, error) {
	_, _, used, err := l.runWithUsage(job{ranks: 2, path: l.hello}, filepath.Join(l.folder, "memory"))
	if err != nil {
		return nil, err
	}
	return []sample{{"rss", max(used[0].peak, used[1].peak) / 1024, "MiB"}}, nil
}

// valueOf is the value of one metric, 0 if there is none.
func valueOf(list []sample, metric string) (value float64, found bool) {
	i := slices.IndexFunc(list, func(s sample) bool { return s.metric == metric })
	if i < 0 {
		return 0, false
	}
	return list[i].value, true
}

// samples are the figures that a job prints.
func (l *library) samples(j job) ([]sample, error) {
	out, _, err := l.run(j)
	if err != nil {
		return nil, err
	}
	return parseSamples(out)
}

// parseSamples reads mpibench's lines: name, value, unit.
func parseSamples(out string) ([]sample, error) {
	var samples []sample
	for line := range strings.SplitSeq(out, "\n") {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		value, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			continue
		}
		samples = append(samples, sample{fields[0], value, fields[2]})
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("no figures in %q", out)
	}
	return samples, nil
}
