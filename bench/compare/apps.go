package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Programs that compute and communicate, as people's do: a library that is quick by itself may take from the program
// what it gains, by threads that wake and ranks that spin. A row is one program on some ranks, in one machine's memory
// or on two clients; the peers then use TCP. The time that counts is that of the whole run, from the launcher's start
// to its end, or, of appbench, that of an iteration. Beside it stands what a rank used.
//
// Nobody is bound to a core. Open MPI does that by default, for at most two ranks; this library and MPICH leave it to
// the user. On cores that are all ours it makes no difference that can be measured; on others a bound rank waits where
// a free one moves.
//
// What counts of a time is the best of the rounds: whole runs take seconds, in which a virtual machine computes at one
// speed or at half of it, whatever the library. A row that misses its target is run once more as often.

const (
	appsGroup  = "apps"
	appsMean   = "mean"   // the geometric mean of the time ratios
	appsTime   = "time/"  // what the rows' metrics begin with
	cpuUnit    = "s/rank" // processor seconds of a rank
	switchUnit = "1/s"    // context switches of a rank, a second
)

// app is a program and its arguments.
type app struct {
	name   string
	args   []string
	figure string // the figure of its output that counts, without the number of ranks; "": the time of the run
	build  func(*library) (program string, err error)
	input  func(folder string, ranks int) error // puts what it reads where it runs; may be nil
	check  func(folder string) error            // looks at what it wrote there; may be nil
}

// oneFile builds a program of one source file.
func oneFile(source string) func(*library) (string, error) {
	return func(l *library) (string, error) { return l.program(source) }
}

// appList are the programs. Their arguments make a run take about a second on one rank or two: starting a job takes up
// to a tenth of that, or more with some launchers, and is part of it.
func appList(bench, examples, data string) []app {
	var list []app
	for _, part := range []string{"solver", "stencil", "quantum"} {
		list = append(list, app{name: "app-" + part, args: []string{part}, figure: "app/" + part + "/",
			build: oneFile(filepath.Join(bench, "appbench.c"))})
	}
	for _, example := range [][]string{
		{"solver", filepath.Join(data, matrixFile), "1e-6"},
		{"heat2d", "1000", "800"},
		{"life", "800", "600", "500"},
		{"matmul", "1400"},
		{"pi", "600000000"},
		{"samplesort", "4000000"},
		{"wordcount", filepath.Join(data, textFile)},
		{"cg27", "48", "250", "0"},
	} {
		list = append(list, app{name: example[0], args: example[1:],
			build: oneFile(filepath.Join(examples, example[0]+".c"))})
	}
	return list
}

// apps are the rows, each a group of its own, so that the libraries take turns at each; and the files that they read.
func (s settings) apps(scratch string) ([]group, error) {
	data := filepath.Join(scratch, "data")
	list := appList(s.bench, s.examples, data)
	if s.hpcc != "" {
		list = append(list, hpcc(s.hpcc, s.blas))
	}
	var rows []group
	for _, a := range list {
		for _, at := range []struct {
			ranks int
			tcp   bool
		}{{1, false}, {2, false}, {4, false}, {2, true}, {4, true}} {
			r := appRow{app: a, ranks: at.ranks, tcp: at.tcp, limit: s.limit, scratch: scratch}
			if matches(s.only, r.name()) {
				rows = append(rows, group{appsGroup + "/" + r.name(), r.run})
			}
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("-only %s: no such row", s.only)
	}
	return rows, makeInputs(data, s.examples)
}

// appRow is a program on some ranks.
type appRow struct {
	app
	ranks   int
	tcp     bool
	limit   time.Duration
	scratch string
}

// name is solver/4, or solver/4-tcp.
func (r appRow) name() string {
	name := r.app.name + "/" + strconv.Itoa(r.ranks)
	if r.tcp {
		name += "-tcp"
	}
	return name
}

// time is the sample that counts.
func (r appRow) time(value float64) sample {
	unit := "s"
	if r.figure != "" {
		unit = "us"
	}
	return sample{appsTime + r.name(), value, unit}
}

// run runs the program once, in a new folder.
func (r appRow) run(l *library) ([]sample, error) {
	program, err := r.build(l)
	if err != nil {
		return nil, err
	}
	folder, err := r.place()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	out, took, used, err := l.runWithUsage(job{
		ranks: r.ranks, path: program, args: r.args, folder: folder,
		over: r.ranks > runtime.NumCPU(), free: true, tcp: r.tcp, limit: r.limit,
	}, filepath.Join(folder, "usage"))
	if err != nil {
		return r.exceeded(err), err
	}
	if r.check != nil {
		if err := r.check(folder); err != nil {
			return nil, err
		}
	}
	if r.figure != "" {
		if took, err = figure(out, r.figure+strconv.Itoa(r.ranks)); err != nil {
			return nil, err
		}
	}
	cpu, switches := perRank(used)
	return []sample{r.time(took), {"cpu/" + r.name(), cpu, cpuUnit}, {"switches/" + r.name(), switches, switchUnit}}, nil
}

// place is a new folder with what the program reads there.
func (r appRow) place() (string, error) {
	folder, err := os.MkdirTemp(r.scratch, r.app.name)
	if err == nil && r.input != nil {
		err = r.input(folder, r.ranks)
	}
	return folder, err
}

// exceeded is the row of a run that took too long: a time that nobody knows.
func (r appRow) exceeded(err error) []sample {
	var limit *tooLong
	if !errors.As(err, &limit) {
		return nil
	}
	return []sample{r.time(math.NaN())}
}

// figure is the value of one metric in a program's output.
func figure(out, metric string) (float64, error) {
	samples, err := parseSamples(out)
	if err != nil {
		return 0, err
	}
	value, found := valueOf(samples, metric)
	if !found {
		err = fmt.Errorf("no figure %s in %q", metric, out)
	}
	return value, err
}

// split takes apart what counts and what is there for information.
func split(lines []*line) (counts, info []*line) {
	for _, l := range lines {
		if l.unit == cpuUnit || l.unit == switchUnit {
			info = append(info, l)
		} else {
			counts = append(counts, l)
		}
	}
	return counts, info
}

// meanLine is the geometric mean of the ratios of the rows that have one; nil if none has.
func meanLine(lines []*line, libraries int) *line {
	var ratios []float64
	for _, l := range lines {
		if r := l.ratio(); strings.HasPrefix(l.metric, appsTime) && r > 0 {
			ratios = append(ratios, r)
		}
	}
	if len(ratios) == 0 {
		return nil
	}
	mean := newLine(appsMean, "x", libraries, 1)
	mean.rounds[0][0] = geometricMean(ratios)
	return mean
}
