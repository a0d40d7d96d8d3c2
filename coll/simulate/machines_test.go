package simulate

import (
	"math"
	"testing"
)

// On machines whose ranks share a port, operations that go by machine take less time than if ranks did not know where
// they are: on the whole a good part of it, and in no case much more. Short ones and long ones, among machines and
// clusters of different sizes.
func TestGoingByMachineWins(t *testing.T) {
	for _, each := range []int{16, 12} {
		ratio, cases := goByMachine(t, each)
		if mean := math.Exp(ratio / float64(cases)); mean > 0.8 {
			t.Errorf("machines of %d ranks: in the mean it takes %.2f of the time", each, mean)
		} else {
			t.Logf("machines of %d ranks: in the mean it takes %.2f of the time", each, mean)
		}
	}
}

// goByMachine returns the sum of the logarithms of the ratios.
func goByMachine(t *testing.T, each int) (ratios float64, cases int) {
	t.Helper()
	model := Hierarchy{Overhead: 100 * Nanosecond, Gamma: Nanosecond / 10, Delta: Nanosecond / 20, Levels: []Level{
		{Span: 1, Latency: 300 * Nanosecond, Gap: 100 * Nanosecond, ByteGap: Nanosecond / 10, Ports: 1, Eager: 4 << 10},
		{Span: each, Latency: 1200 * Nanosecond, Gap: 50 * Nanosecond, ByteGap: Nanosecond / 25, Ports: 1, Eager: 16 << 10},
		{Span: 10 * each, Latency: 10 * Millisecond, Gap: 100 * Nanosecond, ByteGap: Nanosecond, Ports: 1, Eager: 64 << 10},
	}}
	time := func(k Case) Time {
		t.Helper()
		s, err := k.Record(MostSteps)
		if err != nil || s == nil {
			t.Fatalf("%v: %v", k, err)
		}
		took, err := s.Run(model)
		if err != nil {
			t.Fatal(err)
		}
		return took
	}
	for operation, sizes := range map[string][]int64{
		"barrier": {0}, "bcast": {8, 4 << 10, 100_000, 1 << 20}, "reduce": {8, 4 << 10, 100_000, 1 << 20},
		"allreduce": {8, 4 << 10, 100_000, 1 << 20}, "gather": {8, 1 << 10}, "scatter": {8, 1 << 10},
		"allgather": {8, 128, 4 << 10}, "allgatherv": {8, 1 << 10}, "alltoall": {8, 100}, "reduce_scatter": {8, 1 << 10},
		"scan": {8, 64 << 10}, "exscan": {8, 64 << 10},
	} {
		for _, n := range sizes {
			for _, p := range []int{2 * each, 10 * each, 30 * each} {
				flat := Case{Operation: operation, Ranks: p, Bytes: n}
				byMachine := flat
				byMachine.Machines = Clients(p, each, 10*each)
				ratio := float64(time(byMachine)) / float64(time(flat))
				if ratios, cases = ratios+math.Log(ratio), cases+1; ratio > 1.3 {
					t.Errorf("%v, machines of %d: %.2f of the time", flat, each, ratio)
				}
				t.Logf("%v, machines of %d: %.2f of the time", flat, each, ratio)
			}
		}
	}
	return ratios, cases
}
