// Command wan measures this library between clusters that are far apart: network namespaces of this machine, and a
// link between them that delays and limits what it carries (link.go).
//
// Flow: make the namespaces and the link -> for each table, for each of its columns: start a server and a client in
// every namespace (job.go), where wan.c measures -> print the tables (table.go):
//
//	pingpong   there and back, by size, direct and through agents, beside plain sockets (plain.go): as figure 13 of the
//	           paper on LAM's IMPI
//	coll       collectives of 8 bytes and 1 MiB between 2, 3 and 4 clients, in round trips, beside what cannot be beaten
//	bw         long messages in one direction, over one connection and over several: the share of the link
//
// Usage, with what is measured if nothing is said:
//
//	go run ./bench/wan [-rtt 40ms] [-rate 1000] [-mtu 9000] [-loss 0] [-cc C] [-n 2] [-via direct,agent] [-clients 2,3,4]
//	    [-streams 1,4] [-stage build/stage] [pingpong] [coll] [bw]
//
// It needs root, ip and /dev/net/tun; where they are missing it says so and ends well.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// plan is what is to be measured.
type plan struct {
	path
	ranks   int // of each client
	via     []string
	clients []int
	streams []int
	parts   []string
}

var parts = []string{"pingpong", "coll", "bw"}

func main() {
	runtime.LockOSThread() // the thread whose end the jobs do not survive (link.command)
	if len(os.Args) > 1 && os.Args[1] == plainFlag {
		if err := plain(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "wan: plain sockets:", err)
			os.Exit(1)
		}
		return
	}
	var p plan
	flag.DurationVar(&p.rtt, "rtt", 40*time.Millisecond, "round trip of the link")
	flag.IntVar(&p.rate, "rate", 1000, "rate of the link, `Mbit/s` each way of each end")
	flag.IntVar(&p.mtu, "mtu", 9000, "largest packet, `bytes`")
	flag.Float64Var(&p.loss, "loss", 0, "packets that the link loses, `percent`")
	flag.StringVar(&p.cc, "cc", "", "TCP's congestion `control` (default the system's)")
	flag.IntVar(&p.ranks, "n", 2, "`ranks` of each client")
	via := flag.String("via", "direct,agent", "how ranks reach other clients: `list` of direct and agent")
	clients := flag.String("clients", "2,3,4", "`numbers` of clients for coll")
	streams := flag.String("streams", "1,4", "`numbers` of TCP connections between two hosts for bw (impirun -streams)")
	stage := flag.String("stage", "build/stage", "`directory` in which the library is installed")
	source := flag.String("source", "bench/wan.c", "`file` that measures")
	flag.Parse()
	p.via, p.parts = strings.Split(*via, ","), flag.Args()
	err := p.complete(*clients, *streams)
	if err == nil {
		err = p.measure(os.Stdout, *stage, *source)
	}
	if errors.Is(err, errCannot) {
		fmt.Println("skipped:", err)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "wan:", err)
		os.Exit(1)
	}
}

// complete reads the lists, and checks them.
func (p *plan) complete(clients, streams string) (err error) {
	if p.clients, err = numbers(clients, 2, 32); err != nil {
		return fmt.Errorf("-clients: %w", err)
	}
	if p.streams, err = numbers(streams, 1, 16); err != nil {
		return fmt.Errorf("-streams: %w", err)
	}
	if len(p.parts) == 0 {
		p.parts = parts
	}
	for _, s := range p.parts {
		if !slices.Contains(parts, s) {
			return fmt.Errorf("no table %q; there are %s", s, strings.Join(parts, ", "))
		}
	}
	for _, s := range p.via {
		if s != "direct" && s != "agent" {
			return fmt.Errorf("-via %q: direct or agent", s)
		}
	}
	return nil
}

// numbers reads a list of numbers, each from least to most.
func numbers(list string, least, most int) (all []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("%q is not a number from %d to %d", s, least, most)
		}
		all = append(all, n)
	}
	return all, nil
}

func (p *plan) measure(w io.Writer, stage, source string) error {
	stage, err := filepath.Abs(stage)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "mpi-wan-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "wan")
	if out, err := exec.Command(filepath.Join(stage, "bin/mpicc"), "-O2", "-o", program,
		source).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	l, err := newLink(p.path, slices.Max(append(p.clients, 2)))
	if err != nil {
		return err
	}
	defer l.close()
	defer l.closeOnSignal(scratch)()
	fmt.Fprintf(w, "%v round trip, %d Mbit/s, packets of %d bytes, %g %% lost; %d ranks a client\n", p.rtt, p.rate, p.mtu,
		p.loss, p.ranks)
	run := func(part string, clients, streams int, via string) (figures, error) {
		return l.run(job{impirun: filepath.Join(stage, "bin/impirun"), program: program, part: part,
			clients: clients, ranks: p.ranks, streams: streams, via: via})
	}
	columns := []column{{"plain sockets", l.plain}}
	for _, via := range p.via {
		columns = append(columns, column{via, func() (figures, error) { return run("pingpong", 2, 1, via) }})
	}
	tables := map[string]func() error{
		"pingpong": func() error { return p.pingpong(w, columns) },
		"coll":     func() error { return p.coll(w, run) },
		"bw":       func() error { return p.bw(w, run) },
	}
	for _, part := range p.parts {
		fmt.Fprintln(w)
		if err := tables[part](); err != nil {
			return fmt.Errorf("%s: %w", part, err)
		}
	}
	return nil
}
