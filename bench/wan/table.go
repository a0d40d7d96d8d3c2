package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// optimum is how many round trips cannot be beaten, for what wan.c measures.
var optimum = map[string]float64{"pingpong/8": 1, "barrier": 0.5, "bcast/8": 0.5, "reduce/8": 0.5, "allreduce/8": 0.5, "pingpong/65536": 1, "pingpong/1048576": 1}

// table prints what wan.c has measured: seconds for all but bw, which has bytes a second.
func table(w io.Writer, p path, out string) error {
	fmt.Fprintf(w, "%v round trip, %d Mbit/s, packets of %d bytes, %g %% lost, %s, %d streams\n%-20s %12s %13s %9s\n",
		p.rtt, p.rate, p.mtu, p.loss, p.via, max(p.streams, 1), "", "ms", "round trips", "optimum")
	lines := 0
	for _, line := range strings.Split(out, "\n") {
		fields := strings.Fields(line)
		if len(fields) != 2 {
			continue
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		lines++
		if name, ok := strings.CutPrefix(fields[0], "bw/"); ok {
			fmt.Fprintf(w, "%-20s %12.1f MB/s, %.1f %% of the link\n", name+" bytes", v/1e6, 100*v*8/(float64(p.rate)*1e6))
			continue
		}
		trips := "-"
		if best, ok := optimum[fields[0]]; ok {
			trips = fmt.Sprintf("%.1f", best)
		}
		fmt.Fprintf(w, "%-20s %12.2f %13.2f %9s\n", fields[0], v*1e3, v/p.rtt.Seconds(), trips)
	}
	if lines == 0 {
		return fmt.Errorf("no figures in %q", out)
	}
	return nil
}
