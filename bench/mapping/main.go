// Command mapping shows what reordering does (room topology): for grids and random geometric graphs, the weight of the
// edges between clients and between machines, with the ranks as they come and as they are placed.
//
//	go run ./bench/mapping [-ranks 10000] [-clients 5] [-machines 20]
package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
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
	clients := flag.Int("clients", 5, "IMPI clients")
	machines := flag.Int("machines", 20, "machines of each client")
	flag.Parse()
	if *ranks < 1 || *clients < 1 || *machines < 1 {
		fmt.Fprintln(os.Stderr, "mapping: ranks, clients and machines must be positive")
		os.Exit(2)
	}
	side2, side3 := int(math.Sqrt(float64(*ranks))), int(math.Cbrt(float64(*ranks)))
	list := []work{
		grid("2-D stencil", side2, side2), grid("2-D stencil, a torus", -side2, -side2),
		grid("3-D stencil", side3, side3, side3), grid("3-D stencil, a torus", -side3, -side3, -side3),
		geometric(*ranks, 6, 1), geometric(*ranks, 20, 2),
	}
	fmt.Printf("%d clients of %d machines; weight of the edges between them before -> after placing\n", *clients, *machines)
	for _, w := range list {
		for _, dealt := range []bool{false, true} {
			paths := hierarchy(w.graph.Size(), *clients, *machines, dealt)
			start := time.Now()
			at := w.place(paths)
			took := time.Since(start)
			before, after := topology.Cuts(w.graph, paths, identity(w.graph.Size())), topology.Cuts(w.graph, paths, at)
			how := "in blocks"
			if dealt {
				how = "in turn"
			}
			fmt.Printf("%-34s %-9s clients %7d -> %6d (%.2f)   machines %7d -> %6d (%.2f)   %6.2f s\n", w.name, how, before[0], after[0],
				ratio(after[0], before[0]), before[1], after[1], ratio(after[1], before[1]), took.Seconds())
		}
	}
}

func ratio(a, b int64) float64 { return float64(a) / float64(max(b, 1)) }

// grid is a stencil; negative sides are closed to rings.
func grid(name string, sides ...int) work {
	var g topology.Grid
	for _, s := range sides {
		g.Dims, g.Periods = append(g.Dims, int32(max(s, -s))), append(g.Periods, s < 0)
	}
	return work{fmt.Sprintf("%s %v", name, g.Dims), g.Graph(), func(paths [][]int32) []int32 { return topology.MapGrid(g, paths) }}
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
	return work{fmt.Sprintf("random geometric, degree %.0f", degree), g, func(paths [][]int32) []int32 { return topology.Map(g, paths) }}
}

// hierarchy puts n ranks on machines of clients: in blocks, or dealt out in turn.
func hierarchy(n, clients, machines int, dealt bool) [][]int32 {
	paths := make([][]int32, n)
	all := clients * machines
	for r := range paths {
		m := r * all / n
		if dealt {
			m = r % all
		}
		paths[r] = []int32{int32(m / machines), int32(m)}
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
