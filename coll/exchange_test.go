package coll_test

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/colltest"
)

// Counts on both sides of what a board takes: of a part at hand, of a long block, and of all blocks together.
var vShapes = []shape{{1, colltest.Int}, {0, colltest.Int}, {3, colltest.Gapped}, {20, colltest.Mixed},
	{300, colltest.Double}, {900, colltest.Double}, {2048, colltest.Double}, {3000, colltest.Double},
	{5000, colltest.Gapped}}

func TestBoardsMoveUnevenBlocks(t *testing.T) {
	t.Parallel()
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		return tryUneven(c, b, p, coll.Seating{})
	})
}

// Some long slots have room for all blocks, and in others, for which the memory is missing, some go by messages.
func TestBoardsMoveUnevenBlocksInLongSlots(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int{1 << 14, 20000, 1 << 15} {
		onBoardsOf(t, bytes+64, true, func(c *colltest.Comm, b *colltest.Board, p int) error {
			return tryUneven(c, b, p, coll.Seating{Part: 1 << 15, Crowded: p%2 == 0})
		})
	}
}

// seated is a rank that has this for long operations.
type seated struct {
	board.Seats
	on coll.Seating
}

func (s seated) Board() coll.Seating { return s.on }

// tryUneven tries exchanges of blocks of all lengths between ranks that have this for long ones.
func tryUneven(c *colltest.Comm, b *colltest.Board, p int, seating coll.Seating) error {
	var x coll.Exchange
	on := seated{b, seating}
	for _, s := range vShapes {
		for _, root := range roots(p) {
			if err := colltest.First(
				colltest.TryGatherv(c, root, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
					return x.Gatherv(on, out, &in, root).Do(c, b)
				}),
				colltest.TryScatterv(c, root, s.count, s.typ, func(out coll.VBuf, in coll.Buf) error {
					return x.Scatterv(on, &out, in, root).Do(c, b)
				})); err != nil {
				return fmt.Errorf("count=%d root=%d: %w", s.count, root, err)
			}
		}
		sc, sd, sroom := colltest.Matrix(p, c.Rank(), s.count, true, false)
		rc, rd, rroom := colltest.Matrix(p, c.Rank(), s.count, false, false)
		send, recv := colltest.NewMem(sroom, s.typ), colltest.NewMem(rroom, s.typ)
		for i := range p {
			send.Put(sd[i], colltest.Pattern(sc[i], s.typ, c.Rank(), i))
		}
		out, in := coll.Varying(send.V(sc, sd)), coll.Varying(recv.V(rc, rd))
		if err := colltest.First(
			colltest.TryAllgatherv(c, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
				if longest(in) > 1<<14 {
					return coll.Allgatherv(c, out, in)
				}
				return x.Allgatherv(on, out, &in).Do(c, b)
			}),
			tryGraph(c, p, s, func(e *coll.Edges, send, recv *coll.Blocks) error {
				return x.Neighbors(on, e, send, recv).Do(c, b)
			}),
			x.Alltoallv(on, &out, &in).Do(c, b)); err != nil {
			return fmt.Errorf("count=%d: %w", s.count, err)
		}
		for i := range p {
			if err := recv.Expect("alltoallv", rd[i], colltest.Pattern(rc[i], s.typ, i, c.Rank())); err != nil {
				return fmt.Errorf("count=%d: %w", s.count, err)
			}
		}
	}
	return nil
}

// A rank that has more room than its block needs gets the block all the same, and one that has less notices.
func TestBlocksOnABoardMayBeShorterThanTheirRoom(t *testing.T) {
	t.Parallel()
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		gather := func(has, room int64) error {
			counts, displs := make([]int64, p), make([]int64, p)
			for i := range p {
				counts[i], displs[i] = room, int64(i)*room
			}
			send, recv := colltest.NewMem(has, colltest.Int), colltest.NewMem(int64(p)*room, colltest.Int)
			send.Put(0, colltest.Pattern(has, colltest.Int, c.Rank(), 0))
			in := recv.V(counts, displs)
			err := new(coll.Exchange).Gatherv(seated{b, coll.Seating{}}, send.Buf, &in, 0).Do(c, b)
			if has > room {
				if (err != nil) != (c.Rank() == 0) {
					return fmt.Errorf("%d elements into %d: %v", has, room, err)
				}
				return nil
			}
			for i := 0; err == nil && c.Rank() == 0 && i < p; i++ {
				err = recv.Expect("gatherv", displs[i], colltest.Pattern(has, colltest.Int, i, 0))
			}
			return err
		}
		return colltest.First(gather(2500, 4000), gather(5, 7), gather(500, 700), gather(5, 3000), gather(5, 4),
			gather(500, 400), gather(5, 5))
	})
}

// edge is an edge of a graph, and what goes along it.
type edge struct {
	from, to int
	count    int64
}

// graph returns edges among p ranks, several of them between the same two, and some from a rank to itself.
func graph(p int, count int64) (edges []edge) {
	random := rand.New(rand.NewSource(int64(p)*1000 + count))
	for range 4 * p {
		edges = append(edges, edge{random.Intn(p), random.Intn(p), random.Int63n(count + 1)})
	}
	return edges
}

// neighbors is what a rank sends and receives along edges, in their order.
func neighbors(rank int, all []edge) (in, out []int32, from, to []edge) {
	for _, e := range all {
		if e.to == rank {
			in, from = append(in, int32(e.from)), append(from, e)
		}
		if e.from == rank {
			out, to = append(out, int32(e.to)), append(to, e)
		}
	}
	return in, out, from, to
}

// layout is a buffer with a block for each edge, in reverse order.
func layout(edges []edge) (counts, displs []int64, room int64) {
	counts, displs = make([]int64, len(edges)), make([]int64, len(edges))
	for i := len(edges) - 1; i >= 0; i-- {
		counts[i], displs[i] = edges[i].count, room
		room += edges[i].count + 1
	}
	return counts, displs, room
}

// tryGraph tries an exchange along the edges of a graph.
func tryGraph(c *colltest.Comm, p int, s shape, exchange func(e *coll.Edges, send, recv *coll.Blocks) error) error {
	all := graph(p, s.count)
	in, out, from, to := neighbors(c.Rank(), all)
	e, err := coll.NewEdges(c.Rank(), in, out, false)
	if err != nil {
		return err
	}
	if err := planned(c, e, func(r int) (out []int32) {
		_, out, _, _ = neighbors(r, all)
		return out
	}); err != nil {
		return err
	}
	pattern := func(edges []edge, i int) []byte { // it tells edges between the same ranks apart
		nth := 0
		for _, before := range edges[:i] {
			if before.from == edges[i].from && before.to == edges[i].to {
				nth++
			}
		}
		return colltest.Pattern(edges[i].count, s.typ, edges[i].from+100*nth, edges[i].to)
	}
	sc, sd, sroom := layout(to)
	rc, rd, rroom := layout(from)
	send, recv := colltest.NewMem(sroom, s.typ), colltest.NewMem(rroom, s.typ)
	for i := range to {
		send.Put(sd[i], pattern(to, i))
	}
	given, got := coll.Varying(send.V(sc, sd)), coll.Varying(recv.V(rc, rd))
	if err := c.Call(func() error { return exchange(e, &given, &got) }); err != nil {
		return err
	}
	for i := range from {
		if err := recv.Expect("neighbors", rd[i], pattern(from, i)); err != nil {
			return fmt.Errorf("p=%d count=%d edge %d: %w", p, s.count, i, err)
		}
	}
	return recv.ExpectGaps()
}

func TestNeighborsOfAGraphExchangeBlocks(t *testing.T) {
	everywhere(t, func(c *colltest.Comm, p int, s shape) error {
		return tryGraph(c, p, s, func(e *coll.Edges, send, recv *coll.Blocks) error {
			return coll.Neighbors(c, e, send, recv)
		})
	})
}

// In a periodic ring of one or two ranks both neighbors are the same one, and what goes to the left comes from the
// right.
func TestNeighborsInARing(t *testing.T) {
	t.Parallel()
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		for _, s := range vShapes {
			left, right := (c.Rank()-1+p)%p, (c.Rank()+1)%p
			around := []int32{int32(left), int32(right)}
			e, err := coll.NewEdges(c.Rank(), around, around, true)
			if err != nil {
				return err
			}
			for _, exchange := range []func(send, recv *coll.Blocks) error{
				func(send, recv *coll.Blocks) error { return coll.Neighbors(c, e, send, recv) },
				func(send, recv *coll.Blocks) error {
					return new(coll.Exchange).Neighbors(seated{b, coll.Seating{}}, e, send, recv).Do(c, b)
				},
			} {
				send, recv := colltest.NewMem(2*s.count, s.typ), colltest.NewMem(2*s.count, s.typ)
				send.Put(0, colltest.Pattern(s.count, s.typ, c.Rank(), 1))
				send.Put(s.count, colltest.Pattern(s.count, s.typ, c.Rank(), 2))
				out, in := coll.Even(send.Of(s.count)), coll.Even(recv.Of(s.count))
				if err := colltest.First(exchange(&out, &in),
					recv.Expect("from the left", 0, colltest.Pattern(s.count, s.typ, left, 2)),
					recv.Expect("from the right", s.count, colltest.Pattern(s.count, s.typ, right, 1))); err != nil {
					return fmt.Errorf("p=%d: %w", p, err)
				}
			}
		}
		return nil
	})
}

// Several edges lead from a rank to the next, whose blocks are short, long, and short ones for which the part has no
// room: messages are received in another order than they are sent.
func TestBlocksOfSeveralEdgesFindTheirPlaces(t *testing.T) {
	sizes := []int64{6000, 7000, 5000, 9000, 20000, 100, 8192, 15000, 40000, 3000}
	t.Parallel()
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		me := c.Rank()
		var from, to []int32
		displs, total := []int64{}, int64(0)
		for _, n := range sizes {
			from, to = append(from, int32((me-1+p)%p)), append(to, int32((me+1)%p))
			displs, total = append(displs, total), total+n
		}
		e, err := coll.NewEdges(me, from, to, false)
		if err != nil {
			return err
		}
		for round := range 2 {
			out, in := make([]byte, total), make([]byte, total)
			for i := range out {
				out[i] = byte(i*7 + me)
			}
			blocksOf := func(b coll.Buf) coll.Blocks {
				return coll.Varying(coll.VBuf{Base: b.Base, Counts: sizes, Displs: displs, Type: b.Type})
			}
			send, recv := blocksOf(coll.Bytes(out)), blocksOf(coll.Bytes(in))
			if err := new(coll.Exchange).Neighbors(seated{b, coll.Seating{}}, e, &send, &recv).Do(c, b); err != nil {
				return err
			}
			for i := range in {
				if want := byte(i*7 + int(from[0])); in[i] != want {
					return fmt.Errorf("round %d: byte %d is %d and not %d", round, i, in[i], want)
				}
			}
		}
		return nil
	})
}

// A rank whose own block does not fit its place takes those of the others all the same: receives of them are posted.
func TestABlockOfOnesOwnMayBeTooLong(t *testing.T) {
	const has, less = 12000, 9000
	t.Parallel()
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		me, other := c.Rank(), has
		if p%2 == 0 {
			other = 100 // on the board
		}
		counts, room, displs, total := make([]int64, p), make([]int64, p), make([]int64, p), int64(0)
		for r := range p {
			counts[r], displs[r] = int64(other), total
			if r == me {
				counts[r] = has
			}
			room[r] = max(counts[r], 9000)
			total += room[r]
		}
		room[me] = less
		out, in := make([]byte, total), make([]byte, total)
		send := coll.Varying(coll.VBuf{Base: coll.Bytes(out).Base, Counts: counts, Displs: displs,
			Type: coll.Bytes(out).Type})
		recv := coll.Varying(coll.VBuf{Base: coll.Bytes(in).Base, Counts: room, Displs: displs,
			Type: coll.Bytes(in).Type})
		if err := new(coll.Exchange).Alltoallv(seated{b, coll.Seating{}}, &send, &recv).Do(c, b); err == nil {
			return fmt.Errorf("a block of %d bytes went to a place of %d", has, less)
		}
		return nil
	})
}

// longest is how many bytes the longest of some blocks has.
func longest(b coll.VBuf) int64 { return slices.Max(b.Counts) * b.Type.Size() }
