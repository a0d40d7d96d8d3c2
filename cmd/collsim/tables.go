package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/simulate"
)

const (
	ns = simulate.Nanosecond
	us = simulate.Microsecond
	ms = simulate.Millisecond
)

// A machine is a model with what the page says of it. A byte takes a tenth of a nanosecond on one core at 10 GB/s.
type machine struct {
	name, text string
	model      simulate.Model
	spans      []int // what ranks know of where they are, as simulate.Clients takes it
}

var machines = []machine{
	{"linear", "a message of n bytes takes 1 µs + n · 0.1 ns; one port",
		simulate.Linear{Alpha: us, Beta: ns / 10, Ports: 1, Gamma: ns / 10, Delta: ns / 20}, nil},
	{"LogGP", "L 1.2 µs, o 0.3 µs, g 0.2 µs, G 0.08 ns; one port",
		simulate.LogGP{Latency: 6 * us / 5, Overhead: 3 * us / 10, Gap: us / 5, ByteGap: 8 * ns / 100, Ports: 1,
			Gamma: ns / 10, Delta: ns / 20}, nil},
	{"clusters", "machines of 50 ranks (0.3 µs, 0.1 ns a byte), whose one port to the others (1.2 µs, 0.04 ns a byte) " +
		"they share; clusters of 100 machines, whose one port to the WAN (10 ms, 0.8 ns a byte) they share",
		clusters, nil},
	{"clusters, by machine", "the same, where ranks know where they are, as they do in a client of several machines",
		clusters, []int{50, 5000}},
}

var clusters = simulate.Hierarchy{Overhead: us / 10, Gamma: ns / 10, Delta: ns / 20, Levels: []simulate.Level{
	{Span: 1, Latency: 3 * us / 10, Gap: us / 10, ByteGap: ns / 10, Ports: 1, Eager: 4 << 10},
	{Span: 50, Latency: 6 * us / 5, Gap: us / 20, ByteGap: 4 * ns / 100, Ports: 1, Eager: 16 << 10},
	{Span: 5000, Latency: 10 * ms, Gap: us / 10, ByteGap: 8 * ns / 10, Ports: 1, Eager: 64 << 10},
}}

// mostSteps bounds a cell of a table; what takes more is left out.
const mostSteps = 7 << 20

// boundsTable lists all algorithms with their bounds, and when they are chosen.
func boundsTable() (string, error) {
	var b strings.Builder
	b.WriteString("| operation | algorithm | rounds | bytes that a rank sends, or receives | source |\n" +
		"|---|---|---|---|---|\n")
	for i, r := range simulate.Bounds {
		operations, known := []string{r.Operation}, false
		for j, o := range simulate.Bounds {
			if o.Algorithm == r.Algorithm && o.InRounds == r.InRounds && o.InVolume == r.InVolume && o.Source == r.Source {
				if known = known || j < i; j > i {
					operations = append(operations, o.Operation)
				}
			}
		}
		if known {
			continue // with an operation before
		}
		source := r.Source
		if r.InOrder {
			source = strings.TrimSuffix("in rank order; "+source, "; ")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", strings.Join(operations, ", "), r.Algorithm, r.InRounds,
			r.InVolume, source)
	}
	b.WriteString("\n")
	var names, lines []string // operations with the same table, and the rest of the line
	for _, o := range choose.Operations {
		of := ""
		if o.Bytes != "" {
			of = " (bytes are those of " + o.Bytes + ")"
		}
		line := of + ": " + strings.Join(o.Table(), "; ") + "\n"
		if i := slices.Index(lines, line); i >= 0 {
			names[i] += ", " + o.Name
			continue
		}
		names, lines = append(names, o.Name), append(lines, line)
	}
	for i, line := range lines {
		b.WriteString("- " + names[i] + line)
	}
	return b.String(), nil
}

// row is a row of the table of times.
type row struct {
	operation string
	bytes     int64
}

var (
	rows = []row{{"barrier", 0},
		{"bcast", 8}, {"bcast", 64 << 10}, {"bcast", 1 << 20},
		{"allreduce", 8}, {"allreduce", 64 << 10}, {"allreduce", 1 << 20},
		{"allgather", 8}, {"alltoall", 64 << 10}}
	columns = []int{10, 100, 1000, 10_000, 100_000}
)

// timesTables has a table for each machine.
func timesTables() (string, error) {
	lines := make([][]string, len(machines)) // by machine
	for _, r := range rows {
		cells := make([]string, len(machines))
		for _, p := range columns {
			times, err := timesOn(simulate.Case{Operation: r.operation, Ranks: p, Bytes: r.bytes}, machines)
			if err != nil {
				return "", err
			}
			for i := range cells {
				cell := "–"
				if times[i] >= 0 {
					cell = duration(times[i])
				}
				cells[i] += " | " + cell
			}
		}
		for i := range lines {
			lines[i] = append(lines[i], strings.TrimSpace(fmt.Sprintf("| %s %s", r.operation, size(r.bytes)))+cells[i]+" |\n")
		}
	}
	var b strings.Builder
	for i, m := range machines {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s: %s.\n\n| ranks |", m.name, m.text)
		for _, p := range columns {
			fmt.Fprintf(&b, " %d |", p)
		}
		b.WriteString("\n|---" + strings.Repeat("|---", len(columns)) + "|\n" + strings.Join(lines[i], ""))
	}
	return b.String(), nil
}

// timesOn returns the times of a call on each machine, on which ranks know what they know there; -1: it takes too many
// steps.
func timesOn(k simulate.Case, on []machine) ([]simulate.Time, error) {
	times := make([]simulate.Time, len(on))
	for i := 0; i < len(on); {
		end := i + 1 // of those on which ranks know the same
		for end < len(on) && slices.Equal(on[end].spans, on[i].spans) {
			end++
		}
		k.Machines = simulate.Clients(k.Ranks, on[i].spans...)
		some, err := timesOf(k, on[i:end])
		if err != nil {
			return nil, err
		}
		for j := i; j < end; j++ {
			if times[j] = -1; some != nil {
				times[j] = some[j-i]
			}
		}
		i = end
	}
	return times, nil
}

// timesOf returns the times of a call, nil if it takes too many steps, or if its algorithm cannot be used.
func timesOf(k simulate.Case, on []machine) ([]simulate.Time, error) {
	s, err := k.Record(mostSteps)
	if errors.Is(err, simulate.ErrTooLong) || s == nil && err == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return run(s, on)
}

// run carries schedules out on several machines at the same time.
func run(s *simulate.Schedules, on []machine) ([]simulate.Time, error) {
	times, errs := make([]simulate.Time, len(on)), make([]error, len(on))
	var all sync.WaitGroup
	for i, m := range on {
		all.Go(func() { times[i], errs[i] = s.Run(m.model) })
	}
	all.Wait()
	return times, errors.Join(errs...)
}

// duration writes a time with three digits.
func duration(t simulate.Time) string {
	for _, u := range []struct {
		unit simulate.Time
		name string
	}{{simulate.Second, "s"}, {ms, "ms"}, {us, "µs"}} {
		// Half a unit of the last digit belongs to the larger unit: 999.6 µs are 1.00 ms.
		if t < u.unit-u.unit/2000 && u.name != "µs" {
			continue
		}
		for _, d := range []struct{ below, digits simulate.Time }{{10, 2}, {100, 1}, {10_000, 0}} {
			scale := pow10(d.digits)
			v := (t*scale + u.unit/2) / u.unit
			if v < d.below*scale {
				if d.digits == 0 {
					return fmt.Sprintf("%d %s", v, u.name)
				}
				return fmt.Sprintf("%d.%0*d %s", v/scale, int(d.digits), v%scale, u.name)
			}
		}
	}
	return fmt.Sprintf("%d s", t/simulate.Second)
}

func pow10(n simulate.Time) simulate.Time {
	p := simulate.Time(1)
	for range n {
		p *= 10
	}
	return p
}

// size writes a number of bytes.
func size(n int64) string {
	switch {
	case n == 0:
		return ""
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// A guideline says that an operation ought not to take longer than others that do the same together. Source: Traff,
// Gropp, Thakur: Self-consistent MPI performance guidelines, 2010; Traff 2010, 11.
type guideline struct {
	operation string
	same      string
	together  func(c *simulate.Rank, n int64) error
	blocks    bool // n is the length of a block, of which there are as many as ranks
}

var sum = simulate.Reduction{}

var guidelines = []guideline{
	{"bcast", "scatter, allgather", func(c *simulate.Rank, n int64) error {
		block := (n + int64(c.Size()) - 1) / int64(c.Size())
		all := c.Blocks(block)
		return cmp.Or(coll.Scatter(c, all, c.Buf(block), 0), coll.Allgather(c, c.Buf(block), all))
	}, false},
	{"reduce", "allreduce", func(c *simulate.Rank, n int64) error {
		return coll.Allreduce(c, c.Buf(n), c.Buf(n), sum)
	}, false},
	{"allreduce", "reduce, bcast", func(c *simulate.Rank, n int64) error {
		b := c.Buf(n)
		return cmp.Or(coll.Reduce(c, c.Buf(n), b, sum, 0), coll.Bcast(c, b, 0))
	}, false},
	{"allreduce", "reduce_scatter, allgather", func(c *simulate.Rank, n int64) error {
		block := (n + int64(c.Size()) - 1) / int64(c.Size())
		b := c.Buf(block)
		return cmp.Or(coll.ReduceScatterBlock(c, c.Blocks(block), b, sum), coll.Allgather(c, b, c.Blocks(block)))
	}, false},
	{"exscan", "scan", func(c *simulate.Rank, n int64) error { return coll.Scan(c, c.Buf(n), c.Buf(n), sum) }, false},
	{"gather", "allgather", func(c *simulate.Rank, n int64) error {
		return coll.Allgather(c, c.Buf(n), c.Blocks(n))
	}, true},
	{"scatter", "bcast", func(c *simulate.Rank, n int64) error {
		return coll.Bcast(c, c.Buf(n*int64(c.Size())), 0)
	}, true},
	{"allgather", "gather, bcast", func(c *simulate.Rank, n int64) error {
		return cmp.Or(coll.Gather(c, c.Buf(n), c.Blocks(n), 0), coll.Bcast(c, c.Buf(n*int64(c.Size())), 0))
	}, true},
	{"allgather", "alltoall", func(c *simulate.Rank, n int64) error {
		return coll.Alltoall(c, c.Blocks(n), c.Blocks(n))
	}, true},
	{"reduce_scatter", "reduce, scatter", func(c *simulate.Rank, n int64) error {
		all := n * int64(c.Size())
		return cmp.Or(coll.Reduce(c, c.Buf(all), c.Buf(all), sum, 0), coll.Scatter(c, c.Blocks(n), c.Buf(n), 0))
	}, true},
	{"reduce_scatter", "allreduce", func(c *simulate.Rank, n int64) error {
		all := n * int64(c.Size())
		return coll.Allreduce(c, c.Buf(all), c.Buf(all), sum)
	}, true},
}

// guidelinesTable says for each guideline how much longer than allowed the operation takes at worst, on the machine of
// the linear model.
func guidelinesTable() (string, error) {
	var b strings.Builder
	b.WriteString("| operation | does the same as | takes at most, of its time | at |\n|---|---|---|---|\n")
	for _, g := range guidelines {
		worst, at := 0.0, ""
		for _, p := range []int{8, 10, 64, 100} {
			for n := int64(8); n <= 1<<20; n *= 8 {
				k := simulate.Case{Operation: g.operation, Ranks: p, Bytes: n}
				if g.blocks && n > 64<<10 {
					continue
				}
				one, err := timesOf(k, machines[:1])
				if err != nil {
					return "", err
				}
				s, err := simulate.Record(p, mostSteps, func(c *simulate.Rank) error { return g.together(c, n) })
				if err != nil {
					return "", fmt.Errorf("%s, %d ranks, %d bytes: %w", g.same, p, n, err)
				}
				other, err := run(s, machines[:1])
				if err != nil {
					return "", err
				}
				if ratio := float64(one[0]) / float64(other[0]); ratio > worst {
					worst, at = ratio, fmt.Sprintf("%d ranks, %s", p, size(n))
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %.2f | %s |\n", g.operation, g.same, worst, at)
	}
	return b.String(), nil
}
