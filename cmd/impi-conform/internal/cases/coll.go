package cases

import (
	"fmt"
	"math"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

// act is one collective: what the player does, and which messages must cross clients.
type act struct {
	step string
	plan func(c *peer.Comm) []peer.Msg
}

// row is n elements of a rank in the player's collectives, big-endian.
func row(rank, n int) []byte {
	v := make([]int32, max(n, 0))
	for i := range v {
		v[i] = int32(1000*rank + i)
	}
	return codec.I32(v...)
}

// sum is the reduction over some ranks.
func sum(n int) func(ranks []int) []byte {
	return func(ranks []int) []byte {
		v := make([]int32, n)
		for i := range v {
			for _, r := range ranks {
				v[i] += int32(1000*r + i)
			}
		}
		return codec.I32(v...)
	}
}

// upTo is sum over ranks 0 to rank.
func upTo(n int) func(rank int) []byte {
	return func(rank int) []byte {
		var ranks []int
		for r := range rank + 1 {
			ranks = append(ranks, r)
		}
		return sum(n)(ranks)
	}
}

// affine is what a rank has for the operation that does not commute, and composed the composition of 0 to rank.
func affine(n int) func(rank int) []byte {
	return func(rank int) (b []byte) {
		for i := range n {
			b = append(b, codec.U32(uint32(2*rank+3), uint32(1000*rank+i))...)
		}
		return b
	}
}

func composed(n int) func(rank int) []byte {
	return func(rank int) (b []byte) {
		for i := range n {
			x, y := uint32(1), uint32(0)
			for r := range rank + 1 {
				y = uint32(1000*r+i) + uint32(2*r+3)*y
				x *= uint32(2*r + 3)
			}
			b = append(b, codec.U32(x, y)...)
		}
		return b
	}
}

// count is how many elements a rank has in the v variants.
func count(rank, n int) int {
	if n < 0 {
		return 0
	}
	return n + rank
}

func rows(n int) func(rank int) []byte  { return func(r int) []byte { return row(r, n) } }
func vrows(n int) func(rank int) []byte { return func(r int) []byte { return row(r, count(r, n)) } }

// roots are the first, the last, one in the middle and its neighbor: masters and others, of all clients.
func roots(size int) []int {
	list := []int{0, size / 2, (size/2 + 1) % size, size - 1}
	slices.Sort(list)
	return slices.Compact(list)
}

// defaultX is the crossover that is agreed on if nobody has another in mind, in bytes.
const defaultX = int(wire.DefaultXSize)

// around are element counts below, at and above the crossover of x bytes.
func around(x int) []int {
	list := []int{1, max(x/4-1, 0), x / 4, x/4 + 1}
	slices.Sort(list)
	return slices.Compact(list)
}

// edges are counts of the v variants on a communicator of this size: none, few, and those of which the largest block
// has just x bytes and more.
func edges(size, x int) []int {
	list := []int{-1, 0, 3}
	if edge := x/4 - (size - 1); edge > 3 {
		list = append(list, edge, edge+1)
	}
	return list
}

// rooted makes acts for some roots, and all sizes.
func rooted(name string, roots, counts []int, plan func(c *peer.Comm, root, n int) []peer.Msg) (list []act) {
	for _, root := range roots {
		for _, n := range counts {
			list = append(list, act{fmt.Sprintf("%s %d %d", name, root, n), func(c *peer.Comm) []peer.Msg {
				return plan(c, root, n)
			}})
		}
	}
	return list
}

func rootless(name string, counts []int, plan func(c *peer.Comm, n int) []peer.Msg) (list []act) {
	for _, n := range counts {
		list = append(list, act{fmt.Sprintf("%s %d", name, n), func(c *peer.Comm) []peer.Msg { return plan(c, n) }})
	}
	return list
}

// operation is a collective, by its name and where it stands.
type operation struct {
	name, rule string
	acts       []act
}

// operations are all collectives on a communicator of this size, with the default crossover.
func operations(size int) []operation { return operationsAt(size, defaultX, roots(size)) }

// operationsAt is operations with a crossover of x bytes, and these roots.
func operationsAt(size, x int, roots []int) []operation {
	long := []int{0, 5, 20000}
	cell := func(n int) func(p, q int) []byte {
		return func(p, q int) []byte {
			v := make([]int32, n)
			for i := range v {
				v[i] = int32(10000*p + 100*q + i)
			}
			return codec.I32(v...)
		}
	}
	barrier := act{"barrier", peer.Barrier}
	return []operation{
		{"barrier", "4.10", []act{barrier, barrier, barrier}},
		{"bcast", "4.11", rooted("bcast", roots, long, func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Bcast(c, root, row(root, n))
		})},
		{"gather", "4.12", rooted("gather", roots, around(x), func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Gather(c, root, 4*n, rows(n))
		})},
		{"gatherv", "4.13", rooted("gatherv", roots, edges(size, x), func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Gatherv(c, root, vrows(n))
		})},
		{"scatter", "4.14", rooted("scatter", roots, around(x), func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Scatter(c, root, 4*n, rows(n))
		})},
		{"scatterv", "4.15", rooted("scatterv", roots, edges(size, x), func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Scatterv(c, root, vrows(n))
		})},
		{"reduce", "4.16", append(rooted("reduce", roots, long, func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.Reduce(c, root, sum(n))
		}), rooted("reducenc", roots, []int{1, 300}, func(c *peer.Comm, root, n int) []peer.Msg {
			return peer.ReduceOrdered(c, root, affine(n))
		})...)},
		{"reduce_scatter", "4.17", rootless("reduce_scatter", []int{-1, 0, 3, 257}, func(c *peer.Comm, n int) []peer.Msg {
			before, total := make([]int, size), 0
			for r := range size {
				before[r] = total
				total += count(r, n)
			}
			value := sum(total)
			all := value(c.All())
			return peer.ReduceScatter(c, value, func(r int) []byte { return all[4*before[r]:][:4*count(r, n)] })
		})},
		{"scan", "4.18", append(rootless("scan", []int{1, 300, 20000}, func(c *peer.Comm, n int) []peer.Msg {
			return peer.Scan(c, upTo(n))
		}), rootless("scannc", []int{1, 300}, func(c *peer.Comm, n int) []peer.Msg { return peer.Scan(c, composed(n)) })...)},
		{"allgather", "4.19", rootless("allgather", around(x), func(c *peer.Comm, n int) []peer.Msg {
			return peer.Allgather(c, 4*n, rows(n))
		})},
		{"allgatherv", "4.20", rootless("allgatherv", edges(size, x), func(c *peer.Comm, n int) []peer.Msg {
			return peer.Allgatherv(c, vrows(n))
		})},
		{"allreduce", "4.21", rootless("allreduce", long[1:], func(c *peer.Comm, n int) []peer.Msg {
			return peer.Allreduce(c, sum(n))
		})},
		{"alltoall", "4.22", rootless("alltoall", around(x), func(c *peer.Comm, n int) []peer.Msg {
			return peer.Alltoall(c, 4*n, cell(n))
		})},
		{"alltoallv", "4.23", rootless("alltoallv", []int{-1, 0, 3, 80}, func(c *peer.Comm, n int) []peer.Msg {
			return peer.Alltoallv(c, func(p, q int) []byte { return cell(count(q, n))(p, q) })
		})},
	}
}

// shape is a job of several clients.
type shape struct {
	clients int
	rank    int // of the client under test
	others  [][]int
	size    int
}

// shapeOf makes clients with 1, 2 and 1+1 processes in turn around one under test that has 2.
func shapeOf(clients, rank int) shape {
	s := shape{clients: clients, rank: rank, size: 2}
	for c := range clients - 1 {
		hosts := [][]int{{1}, {2}, {1, 1}}[c%3]
		s.others = append(s.others, hosts)
		for _, n := range hosts {
			s.size += n
		}
	}
	return s
}

func (s shape) setup() setup { return setup{Rank: s.rank, Procs: 2, Others: s.others} }

// collectives: chapter 4, each with 2 to 9 clients, the client under test being the first, one in the middle or the
// last.
func collectives() (list []conform.Case) {
	for k, op := range operations(2) {
		for i, clients := range []int{2, 3, 4, 5, 6, 9} {
			s := shapeOf(clients, []int{0, clients / 2, clients - 1}[(k+i)%3])
			list = append(list, conform.Case{Name: fmt.Sprintf("collective/%s-%d", op.name, clients), Rule: op.rule,
				Needs: conform.Client,
				About: fmt.Sprintf("%s among %d clients, several roots and sizes around the crossover; client %d is tested",
					op.name, clients, s.rank),
				Run: func(t t) {
					playAll(t, s.setup(), operations(s.size)[k].acts)
				}})
		}
	}
	list = append(list, crossovers()...)
	for _, s := range []shape{{clients: 17, rank: 7, size: 18}, {clients: 32, rank: 31, size: 33}} {
		s.others = slices.Repeat([][]int{{1}}, s.clients-1)
		list = append(list, conform.Case{Name: fmt.Sprintf("collective/many-%d", s.clients), Rule: "4.2",
			Needs: conform.Client,
			About: fmt.Sprintf("all collectives among %d clients; client %d is tested", s.clients, s.rank),
			Run:   func(t t) { playAll(t, s.setup(), small(operations(s.size))) }})
	}
	return append(list, []conform.Case{
		{Name: "collective/interleaved", Rule: "4.2", Needs: conform.Client,
			About: "all collectives on a communicator in which the ranks of the clients are interleaved",
			Run: func(t t) {
				s := shapeOf(3, 1) // 1, 2 under test, 2: five processes
				interleaved(t, s, small(operations(s.size)))
			}},
		{Name: "collective/interleaved-tree", Rule: "4.2", Needs: conform.Client,
			About: "among 6 clients, interleaved: rooted collectives with every root, masters and others",
			Run: func(t t) {
				s := shapeOf(6, 3)
				all := make([]int, s.size)
				for r := range all {
					all[r] = r
				}
				var acts []act
				for _, op := range operationsAt(s.size, defaultX, all) {
					for i, a := range op.acts {
						sizes := len(op.acts) / s.size
						if sizes > 0 && i%sizes == i/sizes%sizes { // one size for each root
							acts = append(acts, a)
						}
					}
				}
				interleaved(t, s, acts)
			}},
		{Name: "collective/small-packets", Rule: "4.2, 3.7.2", Needs: conform.Client,
			About: "all collectives with packets of 16 bytes, so that most messages are long",
			Run: func(t t) {
				s := shapeOf(3, 1)
				set := s.setup()
				set.DataLen = 16
				playAll(t, set, small(operations(s.size)))
			}},
		{Name: "collective/in-place", Rule: "4.12-4.23, erratum D-57", Needs: conform.Client,
			About: "MPI_IN_PLACE changes nothing between clients",
			Run: func(t t) {
				s := shapeOf(3, 1)
				playAll(t, s.setup(), append([]act{{"in_place", nothing}}, small(operationsAt(s.size, defaultX, []int{1, 2}))...))
			}},
		{Name: "collective/types", Rule: "4.12, 1.2.2", Needs: conform.Client,
			About: "sizes count as they are in external32: MPI_LONG has 4 bytes; and the signature counts, not the type",
			Run: func(t t) {
				s := shapeOf(3, 1)
				plan := func(c *peer.Comm, root, n int) []peer.Msg { return peer.Gather(c, root, 4*n, rows(n)) }
				playAll(t, s.setup(), append(rooted("gatherlong", roots(s.size), around(defaultX), plan),
					rooted("gatherpairs", roots(s.size), []int{2, 254, 256, 258}, plan)...))
			}},
		{Name: "collective/minloc", Rule: "4.16, erratum D-37", Needs: conform.Client,
			About: "pairs of a value and its place are reduced, and travel without gaps",
			Run: func(t t) {
				s := shapeOf(5, 2)
				playAll(t, s.setup(), rooted("minloc", roots(s.size), []int{1, 300}, func(c *peer.Comm, root, n int) []peer.Msg {
					return peer.Reduce(c, root, func(ranks []int) []byte { return smallest(ranks, s.size, n) })
				}))
			}},
		{Name: "collective/back-to-back", Rule: "4.2", Needs: conform.Client,
			About: "collectives follow each other with user messages among them that have the same tags",
			Run:   backToBack},
	}...)
}

// smallest is MPI_MINLOC over some ranks: of element i rank r has 1000((r + 1) mod size) + i as a double, and r.
func smallest(ranks []int, size, n int) (b []byte) {
	at := slices.MinFunc(ranks, func(p, q int) int { return (p+1)%size - (q+1)%size })
	for i := range n {
		b = append(b, codec.U64(math.Float64bits(float64(1000*((at+1)%size)+i)))...)
		b = append(b, codec.I32(int32(at))...)
	}
	return b
}

// nothing is the plan of a step without messages.
func nothing(*peer.Comm) []peer.Msg { return nil }

// crossovers: the negotiated values decide, whatever they are.
func crossovers() (list []conform.Case) {
	for _, v := range []struct{ clients, x, linear int }{{3, 0, 4}, {3, 64, 1}, {4, 1000000, 0}, {5, 17, 2},
		{9, 4096, 100}, {6, 256, 5}} {
		s := shapeOf(v.clients, v.clients/2)
		list = append(list, conform.Case{Name: fmt.Sprintf("collective/xsize-%d-maxlinear-%d", v.x, v.linear),
			Rule:  "2.3.5 C_COLL_XSIZE, C_COLL_MAXLINEAR",
			Needs: conform.Values,
			About: fmt.Sprintf("all collectives among %d clients that agree on a crossover of %d bytes and a linear limit of %d",
				v.clients, v.x, v.linear),
			Run: func(t t) {
				x, linear := int32(v.x), int32(v.linear)
				set := s.setup()
				set.XSize, set.MaxLinear, set.Told = &x, &linear, true
				var acts []act
				for _, op := range operationsAt(s.size, min(v.x, 4096), []int{s.size / 2}) {
					acts = append(acts, op.acts...)
				}
				playAll(t, set, acts)
			}})
	}
	return list
}

// backToBack mixes collectives with messages in the point-to-point context that have the tags of collectives.
func backToBack(t t) {
	const rounds = 100
	s := shapeOf(3, 1)
	var steps []string
	other := s.size - 1 // a process of ours
	for range rounds {
		steps = append(steps, "barrier", fmt.Sprintf("@1 send %d %d 8", other, wire.TagBarrier), "allreduce 1",
			fmt.Sprintf("@1 send %d %d 4", other, wire.TagReduce), "bcast 0 1", fmt.Sprintf("@1 recv %d %d 4", other,
				wire.TagBcast))
	}
	j := peer.Start(t, s.setup(), steps...)
	world := j.World()
	c := j.Comm(world)
	for range rounds {
		j.Play(world, wire.WorldCID, peer.Barrier(c))
		j.Play(world, wire.WorldCID, peer.Allreduce(c, sum(1)))
		j.Send(j.Data(other, 1, int(wire.TagBcast), 4))
		j.Play(world, wire.WorldCID, peer.Bcast(c, 0, row(0, 1)))
	}
	for range rounds {
		j.Message(1, other, int(wire.TagBarrier), 8)
		j.Message(1, other, int(wire.TagReduce), 4)
	}
	j.Finish()
}

// small is one act of each collective, and a reduction whose order matters.
func small(ops []operation) (list []act) {
	for _, op := range ops {
		list = append(list, op.acts[len(op.acts)/2])
		if op.name == "bcast" || op.name == "reduce" || op.name == "scan" || op.name == "allreduce" {
			list[len(list)-1] = op.acts[0]
		}
	}
	return list
}

// playAll runs acts on MPI_COMM_WORLD.
func playAll(t t, s setup, acts []act) {
	var steps []string
	for _, a := range acts {
		steps = append(steps, a.step)
	}
	j := peer.Start(t, s, steps...)
	world := j.World()
	for _, a := range acts {
		j.Play(world, wire.WorldCID, a.plan(j.Comm(world)))
	}
	j.Finish()
}

// interleaved runs acts on a communicator in which the ranks of each client lie apart. The size is no multiple of 3.
func interleaved(t t, s shape, acts []act) {
	world := make([]int, s.size)
	steps := []string{}
	key := func(w int) int { return 3 * w % s.size }
	order := make([]int, s.size)
	for w := range world {
		world[w] = w
		order[key(w)] = w
		steps = append(steps, fmt.Sprintf("@%d split 0 %d 1", w, key(w)))
	}
	steps = append(steps, "comm 1")
	for _, a := range acts {
		steps = append(steps, a.step)
	}
	j := peer.Start(t, s.setup(), append(steps, "free 1")...)
	j.Play(world, wire.WorldCID, peer.Split(j.Comm(world), firstMax, func(r int) []byte {
		return codec.I32(0, int32(key(r)), int32(r))
	}))
	for _, a := range acts {
		j.Play(order, 2, a.plan(j.Comm(order)))
	}
	j.Play(order, 2, peer.Barrier(j.Comm(order)))
	j.Finish()
}
