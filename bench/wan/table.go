package main

import (
	"fmt"
	"io"
	"strconv"
)

// runner measures a part of wan.c.
type runner func(part string, clients, streams int, via string) (figures, error)

// optimum is how many round trips cannot be beaten, for the collectives of wan.c (overlap: of iallreduce, beyond the
// time that all ranks stay out of MPI; 1 MiB takes 0.2 round trips at the usual rate); allowance is how many more of
// them a barrier and a broadcast may take, and share how much of the link, in percent, the longest messages shall use.
var optimum = []struct {
	name  string
	trips float64
	bound bool
}{{"barrier", 0.5, true}, {"bcast/8", 0.5, true}, {"reduce/8", 0.5, false}, {"allreduce/8", 0.5, false},
	{"allgather/8", 0.5, false}, {"gatherv/8", 0.5, false}, {"scan/8", 0.5, false}, {"reduce_scatter/8", 0.5, false},
	{"bcast/1048576", 0.7, false}, {"reduce/1048576", 0.7, false}, {"allreduce/1048576", 0.7, false},
	{"ibarrier", 0.5, false}, {"ibcast/8", 0.5, false}, {"iallreduce/8", 0.5, false},
	{"overlap/8", 0, false}, {"overlap/65536", 0, false}}

const (
	allowance = 1.0
	share     = 90.0
)

func mark(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// column is one of those of pingpong.
type column struct {
	name    string
	measure func() (figures, error)
}

// pingpong prints a line for each size, and a column for each way: milliseconds there and back.
func (p *plan) pingpong(w io.Writer, columns []column) error {
	var all []figures
	fmt.Fprintf(w, "%-20s", "there and back, ms")
	for _, c := range columns {
		f, err := c.measure()
		if err != nil {
			return err
		}
		all = append(all, f)
		fmt.Fprintf(w, " %14s", c.name)
	}
	fmt.Fprintln(w)
	for _, n := range sizes {
		fmt.Fprintf(w, "%-20s", strconv.Itoa(n)+" bytes")
		for _, f := range all {
			v, ok := f["pingpong/"+strconv.Itoa(n)]
			if !ok {
				return fmt.Errorf("no figure for %d bytes", n)
			}
			fmt.Fprintf(w, " %14.2f", v*1e3)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// coll prints a line for each collective, and a column for each number of clients and each way: round trips.
func (p *plan) coll(w io.Writer, run runner) error {
	fmt.Fprintf(w, "%-20s", "round trips")
	var columns []figures
	for _, via := range p.via {
		for _, n := range p.clients {
			f, err := run("coll", n, 1, via)
			if err != nil {
				return err
			}
			columns = append(columns, f)
			fmt.Fprintf(w, " %14s", fmt.Sprintf("%d, %s", n, via))
		}
	}
	fmt.Fprintf(w, " %8s %8s\n", "optimum", "at most")
	for _, o := range optimum {
		fmt.Fprintf(w, "%-20s", o.name)
		met := true
		for _, c := range columns {
			v, ok := c[o.name]
			if !ok {
				return fmt.Errorf("no figure for %s", o.name)
			}
			trips := v / p.rtt.Seconds()
			met = met && trips <= o.trips+allowance
			fmt.Fprintf(w, " %14.2f", trips)
		}
		fmt.Fprintf(w, " %8.1f", o.trips)
		if o.bound {
			fmt.Fprintf(w, " %8.1f %s", o.trips+allowance, mark(met))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// bw prints a line for each number of connections and each way: the share of the link that messages of each length use.
func (p *plan) bw(w io.Writer, run runner) error {
	lengths := []string{"1048576", "67108864"}
	fmt.Fprintf(w, "%-20s", "% of the link")
	for _, n := range lengths {
		fmt.Fprintf(w, " %14s", n+" bytes")
	}
	fmt.Fprintln(w)
	for _, via := range p.via {
		for _, streams := range p.streams {
			f, err := run("bw", 2, streams, via)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%-20s",
				fmt.Sprintf("%s, %d %s", via, streams, map[bool]string{true: "stream", false: "streams"}[streams == 1]))
			last := 0.0
			for _, n := range lengths {
				v, ok := f["bw/"+n]
				if !ok {
					return fmt.Errorf("no figure for %s bytes", n)
				}
				last = 100 * v * 8 / (float64(p.rate) * 1e6)
				fmt.Fprintf(w, " %14.1f", last)
			}
			fmt.Fprintf(w, "  >= %.0f %s\n", share, mark(last >= share))
		}
	}
	return nil
}
