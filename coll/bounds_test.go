package coll_test

import (
	"math/bits"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
)

// What the comments of the algorithms promise: bytes through a rank, and messages of a rank.

// traffic is the most that any rank sends or receives.
type traffic struct {
	bytes    int64
	messages int
}

func trafficOf(t *testing.T, p int, choice string, f func(c *colltest.Comm) error) (most traffic) {
	if err := coll.Choose(choice); err != nil {
		t.Fatal(err)
	}
	w := colltest.New(p)
	w.Log = true
	if err := w.Run(f); err != nil {
		t.Fatalf("%s, p=%d: %v", choice, p, err)
	}
	sent, received := make([]traffic, p), make([]traffic, p)
	for _, m := range w.Messages() {
		sent[m.Src].bytes += m.Bytes
		sent[m.Src].messages++
		received[m.Dst].bytes += m.Bytes
		received[m.Dst].messages++
	}
	for r := range p {
		most.bytes = max(most.bytes, sent[r].bytes, received[r].bytes)
		most.messages = max(most.messages, sent[r].messages, received[r].messages)
	}
	return most
}

func TestTrafficIsBoundedAsTheAlgorithmsSay(t *testing.T) {
	defer coll.Choose("")
	const n = 20160 // elements: pieces of few ranks are equal
	maps := func(c *colltest.Comm, count int64) *colltest.Mem {
		m := colltest.NewMem(count, colltest.Map)
		m.Put(0, make([]byte, 8*count))
		return m
	}
	affine := colltest.Affine{Commutes: true}
	bcast := func(c *colltest.Comm) error { return coll.Bcast(c, maps(c, n).Buf, 0) }
	reduce := func(c *colltest.Comm) error { return coll.Reduce(c, maps(c, n).Buf, maps(c, n).Buf, affine, 0) }
	allreduce := func(c *colltest.Comm) error { return coll.Allreduce(c, maps(c, n).Buf, maps(c, n).Buf, affine) }
	scan := func(c *colltest.Comm) error { return coll.Scan(c, maps(c, n).Buf, maps(c, n).Buf, affine) }
	allgatherv := func(c *colltest.Comm) error {
		counts, displs := make([]int64, c.Size()), make([]int64, c.Size())
		counts[c.Size()-1] = n // all blocks but one are empty
		return coll.Allgatherv(c, maps(c, counts[c.Rank()]).Buf, maps(c, n).V(counts, displs))
	}
	uneven := func(c *colltest.Comm) error {
		counts := make([]int64, c.Size())
		counts[c.Size()/2] = n
		return coll.ReduceScatter(c, maps(c, n).Buf, maps(c, n).Buf, counts, affine)
	}
	even := func(c *colltest.Comm) error {
		block := n / int64(c.Size())
		return coll.ReduceScatterBlock(c, maps(c, block*int64(c.Size())).Buf, maps(c, block).Buf, affine)
	}
	optimal := func(p, q int) int { return q - 1 }
	optimalRounds := func(p, q, n int) int { return n - 1 + q }
	trees := func(p, q int) int { return 2 * q }
	for _, tt := range []struct {
		choice   string
		f        func(c *colltest.Comm) error
		vectors  float64               // through a rank, beside what a pipeline needs to fill and to run empty
		pipeline func(p, q int) int    // rounds beside those of its blocks; nil: there is none
		messages func(p, q, n int) int // of a rank, with n blocks
	}{
		{"bcast:circulant", bcast, 1, optimal, optimalRounds},
		{"reduce:circulant", reduce, 1, optimal, optimalRounds},
		{"allgatherv:circulant", allgatherv, 1, optimal, optimalRounds},
		{"bcast:two-tree", bcast, 1, trees, func(p, q, n int) int { return n + 1 + 2*q }},
		{"reduce:two-tree", reduce, 1, trees, func(p, q, n int) int { return n + 1 + 2*q }},
		{"scan:pipeline", scan, 1, func(p, q int) int { return p - 2 }, func(p, q, n int) int { return n }},
		{"scan:tree", scan, 3, func(p, q int) int { return 4 * q / 3 }, func(p, q, n int) int { return 3 * n }},
		{"reduce:butterfly", reduce, 3, nil, func(p, q, n int) int { return 2*q + 2 }},
		{"allreduce:circulant", allreduce, 2, nil, func(p, q, n int) int { return 4 * q }},
		{"allreduce:butterfly", allreduce, 3, nil, func(p, q, n int) int { return 2*q + 2 }},
		{"allreduce:ring", allreduce, 2, nil, func(p, q, n int) int { return 2 * (p - 1) }},
		{"reduce_scatter:circulant", even, 1, nil, func(p, q, n int) int { return 2 * q }},
		{"reduce_scatter:butterfly", even, 1.75, nil, func(p, q, n int) int { return q + 2 }},
		{"reduce_scatter:circulant-even", uneven, 2, nil, func(p, q, n int) int { return 2*q + p }},
	} {
		for _, p := range []int{4, 5, 8, 12, 16, 21, 32} {
			q, blocks, slack := bits.Len(uint(p-1)), 1, int64(16*p)
			if tt.pipeline != nil {
				blocks = coll.BlocksOf(8*n, tt.pipeline(p, q))
				slack += int64(q+1) * 8 * n / int64(blocks)
			}
			got := trafficOf(t, p, tt.choice, tt.f)
			if most := int64(tt.vectors*8*n) + slack; got.bytes > most {
				t.Errorf("%s, p=%d: %d bytes through a rank, at most %d expected", tt.choice, p, got.bytes, most)
			}
			if most := tt.messages(p, q, blocks); got.messages > most {
				t.Errorf("%s, p=%d: %d messages of a rank, at most %d expected", tt.choice, p, got.messages, most)
			}
		}
	}
}
