// Command mapping shows what reordering does (room topology): for grids and random geometric graphs, the weight of the
// edges between clients, machines, packages, caches and cores, with the ranks as they come and as they are placed.
//
//	go run ./bench/mapping [-ranks 10000] [-clients 5] [-machines 20] [-packages 2] [-caches 5] [-cores 5]
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/libimpi/libimpi/topology"
)

// work is one topology and the way to place it.
type work struct {
	name  string
	graph *topology.Graph
	place func(paths [][]int32) []int32
}

func main() {
	ranks := flag.Int("ranks", 10000, "ranks of the simulated job")
	for i := range levels {
		levels[i].units = flag.Int(levels[i].flag, levels[i].ordinary, levels[i].usage)
	}
	flag.Parse()
	if *ranks < 1 || slices.ContainsFunc(levels, func(l level) bool { return *l.units < 1 }) {
		fmt.Fprintln(os.Stderr, "mapping: all numbers must be positive")
		os.Exit(2)
	}
	side2, side3 := int(math.Sqrt(float64(*ranks))), int(math.Cbrt(float64(*ranks)))
	list := []work{
		grid("2-D stencil", side2, side2), grid("2-D stencil, a torus", -side2, -side2),
		grid("3-D stencil", side3, side3, side3), grid("3-D stencil, a torus", -side3, -side3, -side3),
		geometric(*ranks, 6, 1), geometric(*ranks, 20, 2),
	}
	fmt.Println("weight of the edges between units before -> after placing")
	for _, w := range list {
		for _, dealt := range []bool{false, true} {
			paths := hierarchy(w.graph.Size(), dealt)
			start := time.Now()
			at := w.place(paths)
			took := time.Since(start)
			before, after := topology.Cuts(w.graph, paths, identity(w.graph.Size())), topology.Cuts(w.graph, paths, at)
			how := "in blocks"
			if dealt {
				how = "in turn"
			}
			fmt.Printf("%-34s %-9s", w.name, how)
			for i, l := range levels {
				fmt.Printf("  %s %6d -> %6d (%.2f)", l.flag, before[i], after[i], ratio(after[i], before[i]))
			}
			fmt.Printf("  %6.2f s\n", took.Seconds())
		}
	}
}

// level is one of the simulated job's hierarchy.
type level struct {
	flag     string
	ordinary int
	usage    string
	units    *int // in each unit of the level above
}

var levels = []level{
	{"clients", 5, "IMPI clients", nil},
	{"machines", 20, "machines of each client", nil},
	{"packages", 2, "packages of each machine", nil},
	{"caches", 5, "shared caches of each package", nil},
	{"cores", 5, "cores of each shared cache; ranks are bound to them", nil},
}

func ratio(a, b int64) float64 { return float64(a) / float64(max(b, 1)) }

// grid is a stencil; negative sides are closed to rings.
func grid(name string, sides ...int) work {
	var g topology.Grid
	for _, s := range sides {
		g.Dims, g.Periods = append(g.Dims, int32(max(s, -s))), append(g.Periods, s < 0)
	}
	return work{fmt.Sprintf("%s %v", name, g.Dims), g.Graph(), func(paths [][]int32) []int32 {
		return topology.MapGrid(g, paths)
	}}
}

// geometric is a random geometric graph: points in a square, an edge between those that are near, about so many at
// each.
func geometric(n int, degree float64, seed uint64) work {
	r := rand.New(rand.NewPCG(seed, 0))
	near := math.Sqrt(degree / (math.Pi * float64(n)))
	cells := max(int(1/near), 1)
	x, y, in := make([]float64, n), make([]float64, n), make(map[[2]int][]int32)
	var edges []topology.Edge
	for v := range n {
		x[v], y[v] = r.Float64(), r.Float64()
		cx, cy := int(x[v]*float64(cells)), int(y[v]*float64(cells))
		for dx := -1; dx <= 1; dx++ {
			for dy := -1; dy <= 1; dy++ {
				for _, u := range in[[2]int{cx + dx, cy + dy}] {
					if math.Hypot(x[u]-x[v], y[u]-y[v]) < near {
						edges = append(edges, topology.Edge{A: u, B: int32(v), Weight: 1})
					}
				}
			}
		}
		in[[2]int{cx, cy}] = append(in[[2]int{cx, cy}], int32(v))
	}
	g := topology.NewGraph(n, edges)
	return work{fmt.Sprintf("random geometric, degree %.0f", degree), g, func(paths [][]int32) []int32 {
		return topology.Map(g, paths)
	}}
}

// hierarchy puts n ranks on the cores of the job: in blocks, or dealt out in turn to the units of each level.
func hierarchy(n int, dealt bool) [][]int32 {
	all := 1
	for _, l := range levels {
		all *= *l.units
	}
	paths := make([][]int32, n)
	for r := range paths {
		rest, below := r, all
		if !dealt {
			rest = r * all / n
		}
		paths[r] = make([]int32, len(levels))
		for i, l := range levels {
			if below /= *l.units; dealt {
				paths[r][i], rest = int32(rest%*l.units), rest / *l.units
			} else {
				paths[r][i], rest = int32(rest/below), rest%below
			}
		}
	}
	return paths
}

func identity(n int) []int32 {
	at := make([]int32, n)
	for i := range at {
		at[i] = int32(i)
	}
	return at
}
