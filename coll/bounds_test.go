package coll_test

import (
	"math/bits"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// What the comments of algorithms promise for blocks of different sizes: bytes through a rank, and messages of a rank.
// coll/simulate holds all algorithms to their bounds for equal ones.

// traffic is the most that any rank sends or receives.
type traffic struct {
	bytes    int64
	messages int
}

func trafficOf(t *testing.T, p int, choice string, f func(c *colltest.Comm) error) (most traffic) {
	if err := choose.Choose(choice); err != nil {
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

func TestTrafficOfUnevenBlocksIsBounded(t *testing.T) {
	defer choose.Choose("")
	const n = 20160 // elements
	maps := func(c *colltest.Comm, count int64) *colltest.Mem {
		m := colltest.NewMem(count, colltest.Map)
		m.Put(0, make([]byte, 8*count))
		return m
	}
	for _, p := range []int{4, 5, 8, 12, 16, 21, 32} {
		q, counts := bits.Len(uint(p-1)), make([]int64, p)
		counts[p/2] = n // all blocks but one are empty
		blocks := choose.Blocks(8*n, q-1)
		got := trafficOf(t, p, "allgatherv:circulant", func(c *colltest.Comm) error {
			return coll.Allgatherv(c, maps(c, counts[c.Rank()]).Buf, maps(c, n).V(counts, make([]int64, p)))
		})
		fill := int64(q+1) * 8 * n / int64(blocks) // until all ranks of the pipeline have something to do
		if most := 8*n + fill + int64(16*p); got.bytes > most || got.messages > blocks-1+q {
			t.Errorf("allgatherv, p=%d: %+v, at most %d bytes and %d messages expected", p, got, most, blocks-1+q)
		}
		got = trafficOf(t, p, "reduce_scatter:circulant-even", func(c *colltest.Comm) error {
			return coll.ReduceScatter(c, maps(c, n).Buf, maps(c, n).Buf, counts, colltest.Affine{Commutes: true})
		})
		messages := q + bits.Len(8*n>>13) + p
		if most := 2*8*n + int64(16*p); got.bytes > most || got.messages > messages {
			t.Errorf("reduce_scatter, p=%d: %+v, at most %d bytes and %d messages expected", p, got, most, messages)
		}
	}
}
