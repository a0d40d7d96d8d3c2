package main

import (
	"fmt"
	"io"
	"math"
	"path"
	"sort"
	"strconv"
)

// A cliff is a length from which on messages cost out of proportion: a threshold between protocols that is not where it
// should be. Sending n+1 bytes costs no less than sending n, and 2n bytes cost at most 2.2 times as much as n and
// 0.2 us, the price of one more packet.

const (
	doublingFactor = 2.2
	doublingExtra  = 0.2 // us
	// A longer message that is quicker counts from here on: below it is noise.
	noiseFactor = 1.1
	noiseExtra  = 0.05 // us
)

// cliffs names the cliffs in a library's column of times, in us, of metrics that end in a length: the medians.
func cliffs(lines []*line, column int) []string {
	times := map[int]float64{}
	var lengths []int
	for _, l := range lines {
		n, err := strconv.Atoi(path.Base(l.metric))
		if v := l.value(column); err == nil && l.unit == "us" && !math.IsNaN(v) {
			times[n] = v
			lengths = append(lengths, n)
		}
	}
	sort.Ints(lengths)
	var found []string
	for _, n := range lengths {
		if next, ok := times[n+1]; ok && times[n] > noiseFactor*next+noiseExtra {
			found = append(found, fmt.Sprintf("%d bytes take %.3f us, %d bytes %.3f us", n, times[n], n+1, next))
		}
		if twice, ok := times[2*n]; ok && twice > doublingFactor*times[n]+doublingExtra {
			found = append(found, fmt.Sprintf("%d bytes take %.3f us, %d bytes %.3f us, %.1f times as much", n, times[n], 2*n,
				twice, twice/times[n]))
		}
	}
	return found
}

func printCliffs(w io.Writer, library string, found []string) {
	if len(found) == 0 {
		fmt.Fprintf(w, "%s: no cliff\n", library)
	}
	for _, s := range found {
		fmt.Fprintf(w, "%s: cliff: %s\n", library, s)
	}
}
