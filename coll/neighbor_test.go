package coll_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// planned gives edges a plan, if the ranks are on several machines.
func planned(c *colltest.Comm, e *coll.Edges, out func(r int) []int32) error {
	m := c.Machines()
	if m == nil {
		return nil
	}
	of := make([]int32, c.Size())
	for r := range of {
		of[r] = int32(m.Of(r))
	}
	plan, ok := e.PlanFor(c.Rank(), of, out)
	if e.Plan = plan; !ok {
		return fmt.Errorf("rank %d: its edges contradict those of the others", c.Rank())
	}
	return nil
}

// dense returns so many edges among p ranks: several of them between the same two, and some from a rank to itself. The
// blocks of a rank, or all, have the same length if each is not random.
func dense(rng *rand.Rand, p, n int, count int64, form string) (edges []edge) {
	of := make([]int64, p)
	for r := range of {
		of[r] = rng.Int64N(count + 1)
	}
	for range n {
		e := edge{rng.IntN(p), rng.IntN(p), rng.Int64N(count + 1)}
		switch form {
		case "allgather", "alltoall":
			e.count = count
		case "allgatherv":
			e.count = of[e.from]
		}
		edges = append(edges, e)
	}
	return edges
}

// tryForm tries a form of neighborhood collective on edges.
func tryForm(c *colltest.Comm, all []edge, s shape, form string) error {
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
	oneForAll := form == "allgather" || form == "allgatherv"
	pattern := func(edges []edge, i int) []byte {
		if oneForAll {
			return colltest.Pattern(edges[i].count, s.typ, edges[i].from, 0)
		}
		nth := 0
		for _, before := range edges[:i] {
			if before.from == edges[i].from && before.to == edges[i].to {
				nth++
			}
		}
		return colltest.Pattern(edges[i].count, s.typ, edges[i].from+100*nth, edges[i].to)
	}
	rc, rd, room := layout(from)
	if form == "allgather" || form == "alltoall" {
		for i := range rd {
			rd[i] = int64(i) * s.count
		}
		room = int64(len(rd)) * s.count
	}
	recv := colltest.NewMem(room, s.typ)
	var given, got coll.Blocks
	switch form {
	case "allgather", "alltoall":
		got = coll.Even(recv.Of(s.count))
	case "alltoallw":
		got = coll.Each(wide(recv, rc, rd, s))
	default:
		got = coll.Varying(recv.V(rc, rd))
	}
	if oneForAll {
		n := int64(0)
		if len(to) > 0 {
			n = to[0].count
		}
		send := colltest.NewMem(n, s.typ)
		if len(to) > 0 {
			send.Put(0, pattern(to, 0))
		}
		given = coll.Same(send.Of(n))
	} else {
		sc, sd, room := layout(to)
		if form == "alltoall" {
			for i := range sd {
				sd[i] = int64(i) * s.count
			}
		}
		send := colltest.NewMem(room, s.typ)
		for i := range to {
			send.Put(sd[i], pattern(to, i))
		}
		switch form {
		case "alltoall":
			given = coll.Even(send.Of(s.count))
		case "alltoallw":
			given = coll.Each(wide(send, sc, sd, s))
		default:
			given = coll.Varying(send.V(sc, sd))
		}
	}
	if err := c.Call(func() error { return coll.Neighbors(c, e, &given, &got) }); err != nil {
		return err
	}
	for i := range from {
		if err := recv.Expect(form, rd[i], pattern(from, i)); err != nil {
			return fmt.Errorf("edge %d of %d, %d elements: %w", i, len(from), from[i].count, err)
		}
	}
	return recv.ExpectGaps()
}

// wide is a buffer for alltoallw.
func wide(m *colltest.Mem, counts, displs []int64, s shape) (w coll.WBuf) {
	w.Base, w.Counts = m.Base, counts
	for _, at := range displs {
		w.Displs = append(w.Displs, at*s.typ.Extent())
		w.Types = append(w.Types, s.typ)
	}
	return w
}

// All forms of neighborhood collectives, on sparse and dense graphs of up to 24 ranks on machines of all sizes, at once
// and recorded, with blocks that go by machine, that do not, and of both kinds.
func TestNeighborsOnMachines(t *testing.T) {
	defer choose.Choose("")
	rng := rand.New(rand.NewPCG(3, 4))
	trials, most := 300, 24
	if race {
		trials, most = 60, 12
	}
	byMachine := 0
	for i := range trials {
		p := 2 + rng.IntN(most-1)
		number, m := partition(rng, p)
		form := []string{"allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"}[rng.IntN(5)]
		s := []shape{{0, colltest.Int}, {1, colltest.Int}, {33, colltest.Gapped}, {300, colltest.Mixed},
			{2 * choose.Relayed() / 8, colltest.Double}}[rng.IntN(5)]
		all := dense(rng, p, rng.IntN(2+20*p), s.count, form)
		w := colltest.New(p)
		w.Machines, w.Recorded, w.Eager = m, rng.IntN(2) == 0, int64(rng.IntN(2)*1000)
		if m != nil && len(all) > p*p {
			byMachine++
		}
		if err := choose.Choose([]string{"", "neighbors:machines"}[i%2]); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(func(c *colltest.Comm) error { return tryForm(c, all, s, form) }); err != nil {
			t.Fatalf("%d ranks on %v, %s, shape %v, recorded %v, %d edges: %v", p, number, form, s, w.Recorded, len(all), err)
		}
	}
	if byMachine == 0 {
		t.Error("no graph was dense")
	}
}

// Blocks of many edges between two machines are one message, and so are those of one rank that goes to many, once.
func TestShortBlocksOfNeighborsAreOneMessageBetweenTwoMachines(t *testing.T) {
	number := []int32{0, 0, 0, 1, 1, 2, 2, 2, 2, 1}
	p := len(number)
	var all []edge
	for from := range p {
		for to := range p {
			all = append(all, edge{from, to, 5})
		}
	}
	for form, blocks := range map[string]int64{"alltoall": 4 * 3, "allgather": 3} {
		w := colltest.New(p)
		w.Machines, w.Log = coll.NewMachines(number), true
		if err := w.Run(func(c *colltest.Comm) error {
			return tryForm(c, all, shape{5, colltest.Int}, form)
		}); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		between := map[[2]int32]int64{}
		for _, m := range w.Messages() {
			if pair := [2]int32{number[m.Src], number[m.Dst]}; pair[0] != pair[1] {
				if between[pair] > 0 {
					t.Errorf("%s: several messages between machines %d", form, pair)
				}
				between[pair] = m.Bytes
			}
		}
		if len(between) != 6 {
			t.Errorf("%s: messages between %d pairs", form, len(between))
		}
		if got, want := between[[2]int32{0, 2}], blocks*5*4; got != want {
			t.Errorf("%s: %d bytes from three ranks to four, not %d", form, got, want)
		}
	}
}

// An edge that only one of its ends knows is noticed.
func TestEdgesThatContradictEachOtherHaveNoPlan(t *testing.T) {
	of := []int32{0, 0, 1, 1}
	for _, in := range [][]int32{{}, {2, 2}, {3}, {2, 3}} {
		e, err := coll.NewEdges(0, in, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.PlanFor(0, of, func(r int) []int32 {
			if r == 2 {
				return []int32{0}
			}
			return nil
		}); ok {
			t.Errorf("an edge from rank 2 is planned for as edges from %d", in)
		}
	}
}
