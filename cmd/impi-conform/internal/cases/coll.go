package cases

import (
	"fmt"
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

// roots are the first, the last, one in the middle and its neighbour: masters and others, of all clients.
func roots(size int) []int {
	list := []int{0, size / 2, (size/2 + 1) % size, size - 1}
	slices.Sort(list)
	return slices.Compact(list)
}

// around are element counts below, at and above the crossover of 1024 bytes.
var around = []int{1, 255, 256, 257}

// rooted makes acts for all roots and sizes.
func rooted(name string, size int, counts []int, plan func(c *peer.Comm, root, n int) []peer.Msg) (list []act) {
	for _, root := range roots(size) {
		for _, n := range counts {
			list = append(list, act{fmt.Sprintf("%s %d %d", name, root, n), func(c *peer.Comm) []peer.Msg { return plan(c, root, n) }})
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

// operations are all collectives on a communicator of this size, by name.
func operations(size int) []struct {
	name, rule string
	acts       []act
} {
	edge := 256 - (size - 1) // the largest count makes exactly 1024 bytes
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
	return []struct {
		name, rule string
		acts       []act
	}{
		{"barrier", "4.10", []act{barrier, barrier, barrier}},
		{"bcast", "4.11", rooted("bcast", size, long, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Bcast(c, root, row(root, n)) })},
		{"gather", "4.12", rooted("gather", size, around, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Gather(c, root, 4*n, rows(n)) })},
		{"gatherv", "4.13", rooted("gatherv", size, []int{-1, 0, 3, edge, edge + 1}, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Gatherv(c, root, vrows(n)) })},
		{"scatter", "4.14", rooted("scatter", size, around, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Scatter(c, root, 4*n, rows(n)) })},
		{"scatterv", "4.15", rooted("scatterv", size, []int{-1, 0, 3, edge, edge + 1}, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Scatterv(c, root, vrows(n)) })},
		{"reduce", "4.16", append(rooted("reduce", size, long, func(c *peer.Comm, root, n int) []peer.Msg { return peer.Reduce(c, root, sum(n)) }),
			rooted("reducenc", size, []int{1, 300}, func(c *peer.Comm, root, n int) []peer.Msg { return peer.ReduceOrdered(c, root, affine(n)) })...)},
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
		{"scan", "4.18", append(rootless("scan", []int{1, 300, 20000}, func(c *peer.Comm, n int) []peer.Msg { return peer.Scan(c, upTo(n)) }),
			rootless("scannc", []int{1, 300}, func(c *peer.Comm, n int) []peer.Msg { return peer.Scan(c, composed(n)) })...)},
		{"allgather", "4.19", rootless("allgather", around, func(c *peer.Comm, n int) []peer.Msg { return peer.Allgather(c, 4*n, rows(n)) })},
		{"allgatherv", "4.20", rootless("allgatherv", []int{-1, 0, 3, edge, edge + 1}, func(c *peer.Comm, n int) []peer.Msg { return peer.Allgatherv(c, vrows(n)) })},
		{"allreduce", "4.21", rootless("allreduce", long[1:], func(c *peer.Comm, n int) []peer.Msg { return peer.Allreduce(c, sum(n)) })},
		{"alltoall", "4.22", rootless("alltoall", around, func(c *peer.Comm, n int) []peer.Msg { return peer.Alltoall(c, 4*n, cell(n)) })},
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
			list = append(list, conform.Case{Name: fmt.Sprintf("collective/%s-%d", op.name, clients), Rule: op.rule, Needs: conform.Client,
				About: fmt.Sprintf("%s among %d clients, several roots and sizes around the crossover; client %d is tested", op.name, clients, s.rank),
				Run: func(t t) {
					playAll(t, s.setup(), operations(s.size)[k].acts)
				}})
		}
	}
	list = append(list, conform.Case{Name: "collective/interleaved", Rule: "4.2", Needs: conform.Client,
		About: "all collectives on a communicator in which the ranks of the clients are interleaved", Run: interleaved})
	return append(list, conform.Case{Name: "collective/small-packets", Rule: "4.2, 3.7.2", Needs: conform.Client,
		About: "all collectives with packets of 16 bytes, so that most messages are long",
		Run: func(t t) {
			s := shapeOf(3, 1)
			set := s.setup()
			set.DataLen = 16
			playAll(t, set, small(s.size))
		}})
}

// small is one act of each collective, and a reduction whose order matters.
func small(size int) (list []act) {
	for _, op := range operations(size) {
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

func interleaved(t t) {
	s := shapeOf(3, 1) // 1, 2 under test, 2: five processes
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
	acts := small(s.size)
	for _, a := range acts {
		steps = append(steps, a.step)
	}
	j := peer.Start(t, s.setup(), append(steps, "free 1")...)
	j.Play(world, wire.WorldCID, peer.Split(j.Comm(world), firstMax, func(r int) []byte { return codec.I32(0, int32(key(r)), int32(r)) }))
	for _, a := range acts {
		j.Play(order, 2, a.plan(j.Comm(order)))
	}
	j.Play(order, 2, peer.Barrier(j.Comm(order)))
	j.Finish()
}
