package choose

import (
	"math"
	"math/bits"
)

// Which algorithm by default. All bounds are in bytes and all ranks of a communicator compare the same
// quantity with them: packed sizes, which follow from the type signature, never counts or extents, which may
// differ from rank to rank.
//
// Source: the linear model t = a + n*b of a message, with the figures measured inside one machine (a small
// message 0.1 us, and about 1 us once ranks outnumber cores; 10 GB/s for a copy between processes), so that
// a/b is 1 to 10 KiB. An algorithm of R rounds that moves V bytes through each rank costs R*a + V*b, and the
// bounds are where two of them meet for 4 to 16 ranks. n is the size of the message, vector, or of all blocks
// together, q = ceil(log2 p), and piped(r) what a pipeline of r rounds besides its blocks costs with the best
// blocks: (sqrt(r) + sqrt(n))^2 with a = b = 1.
//
//	bcast      binomial  q, n q             circulant      piped(q-1)          at 2 blocks: 4 a/b / (q-1)
//	reduce     binomial  q, n q             circulant      the same
//	allreduce  doubling  q, n q             halving        2 q, 2 n            meet at  4 a/b
//	           doubling  1, n               pair           2, n                half as much to combine, no copy
//	           halving   2 q, 2 n           circulant      the same for any p
//	           doubling  q+2, n (q+2)       butterfly      2 q + 2, 3 n        in rank order: meet at  4 a/b
//	reduce_scatter       the same           circulant      q, n + q longest    meet at  2 a/b
//	                                        pair           1, n/2              for two ranks, always
//	                                        circulant-even q + p, 2 n          one block makes more than 1/q of n
//	                                        butterfly      q + 2, 3/2 n        in rank order
//	scan       doubling  q, n q             pipeline       piped(p-2)          meet at  p a/b and below
//	                                        tree           (sqrt(4 q) + sqrt(3 n))^2, between, for many ranks
//	gather     binomial  q, (n q)/2         linear         p-1 (overlap), n    meet at  1 a/b a rank
//	gatherv    linear    p-1, n             tree           2 q, n              meet at  p of 2 q; sizes unknown: later
//	allgather  Bruck     q, n               ring           p-1, n              without the copies and pieces of Bruck's
//	           ring      p-1, n             bruck-ring     q + n / 64 KiB, n   short blocks of many ranks
//	allgatherv ring      p-1, p longest     circulant      piped(q-1)          one block makes more than 1/q of n
//	alltoall   Bruck     q, (n q)/2         pairwise       p-1, n              meet below 1 a/b / p
//
// Where several ranks share machines, operations go by machine (machines.go): long ones pass each of them once, and
// not as often as it has ranks. Short ones without a root take fewer rounds the other way, which keeps within machines
// while distances are short, unless the ranks of a machine do not follow one another, machines are in clusters, or a
// machine has so many ranks that their messages wait for each other. A gather of long blocks takes as long as root
// takes to receive them, and an allgather of long blocks goes around a ring that passes each machine once. Short
// blocks of an alltoall travel between two machines in one message, which saves as many messages as they have pairs of
// ranks, and costs two more copies and two phases within machines.
//
// Ranks that outnumber their cores use their board (pieces.go), or in an alltoall have all messages under way at
// once: whoever waits for one gives its core away.
//
// These figures are parameters (parameters.go), which make tune measures; what they make of a bound is in boundsOf.
type bounds struct {
	startup       int64 // a/b
	bcastLong     int64 // message, from 3 ranks on
	reduceLong    int64 // vector, from 3 ranks on
	allreduceLong int64 // vector, from 3 ranks on
	pairLong      int64 // vector, of 2 ranks
	gatherLong    int64 // block of one rank; also scatter
	branchLong    int64 // blocks that travel together; also allgather
	gathervRanks  int   // also scatterv
	allgatherLong int64 // all blocks together
	bruckLong     int64 // alltoall: block of one pair
	bruckRanks    int   // alltoall: with fewer ranks the messages to all are sent at once
	overlapLong   int64 // alltoall: below it a window of messages is under way at once, above it one
	relayedLong   int64 // block of a neighbor, up to which several go between two machines in one message
	scatterLong   int64 // reduce_scatter: vector
	scanLong      int64 // vector that passes from rank to rank, if it is as long as the startups of all ranks
	scanTreeLong  int64
	scanRanks     int // from so many on a scan of a vector that is not as long as that goes along a tree
}

// tuned are the bounds in force.
var tuned = boundsOf(BuiltIn)

// boundsOf computes the bounds. They are powers of two, so that two measurements of one machine mostly give the same
// ones, and at most 16 times away from those of the built-in parameters: figures that are far from any machine's still
// leave an operation that works well enough.
func boundsOf(p Parameters) bounds {
	b := boundsAsComputed(p)
	usual := boundsAsComputed(BuiltIn)
	at, near := b.each(), usual.each()
	for i := range at {
		*at[i] = max(*near[i]/16, min(*at[i], *near[i]*16))
	}
	b.gathervRanks = max(usual.gathervRanks/8, min(b.gathervRanks, usual.gathervRanks*16))
	b.bruckRanks = max(usual.bruckRanks/2, min(b.bruckRanks, usual.bruckRanks*16))
	return b
}

// each are all bounds that are bytes.
func (b *bounds) each() []*int64 {
	return []*int64{&b.startup, &b.bcastLong, &b.reduceLong, &b.allreduceLong, &b.pairLong, &b.gatherLong, &b.branchLong,
		&b.allgatherLong, &b.bruckLong, &b.overlapLong, &b.relayedLong,
		&b.scatterLong, &b.scanLong, &b.scanTreeLong}
}

func boundsAsComputed(p Parameters) bounds {
	a := p.Latency + 2*p.Overhead
	long, short := a/p.Long, a/p.Short // bytes that take as long as a startup
	return bounds{
		startup:       power(long),
		bcastLong:     power(4 * long),
		reduceLong:    power(4 * a / max(p.Long, p.Combine)), // a pipeline combines one block while the next one comes
		allreduceLong: power(2 * a / p.Combine),              // 4 ranks: doubling combines twice, halving once
		pairLong:      power(a / (p.Combine/2 + p.Copy)),
		gatherLong:    power(short / 2),
		branchLong:    power(8 * long),
		gathervRanks:  fewest(func(n int) bool { return float64(n-1)*p.Gap > float64(2*rounds(n))*a }),
		allgatherLong: power(8 * long),
		bruckLong:     power(short / 32),
		bruckRanks:    fewest(func(n int) bool { return float64(n-1)*p.Gap > float64(rounds(n))*a }),
		overlapLong:   power(4 * long),
		relayedLong:   power(long / 16),
		scatterLong:   power(2 * long),
		scanLong:      power(8 * long),
		scanTreeLong:  power(64 * long),
		scanRanks:     128,
	}
}

// power is the nearest power of two.
func power(bytes float64) int64 {
	return 1 << max(0, min(62, int(math.Round(math.Log2(bytes)))))
}

// fewest is the least power of two ranks for which something holds.
func fewest(holds func(ranks int) bool) int {
	for n := 2; n < 1<<16; n *= 2 {
		if holds(n) {
			return n
		}
	}
	return 1 << 16
}

// rounds is ceil(log2 p).
func rounds(p int) int { return bits.Len(uint(p - 1)) }

// Startup is how many bytes take as long as the startup of a message.
func Startup() int64 { return tuned.startup }

// Overlap is how long the blocks of an alltoall are from which on a rank has one under way at a time.
func Overlap() int64 { return tuned.overlapLong }

// Relayed is how long the blocks of neighbors are at most that go between two machines in one message.
func Relayed() int64 { return tuned.relayedLong }

// Branch is how many bytes of blocks travel together at most, along the tree of a gather or scatter, or around the
// ring of an allgather.
func Branch() int64 { return tuned.branchLong }

// Blocks is the number of blocks in which n bytes go through a pipeline best: of k blocks, extra + k rounds pass. It
// is where the startups of the blocks, k*a, meet the time that the first block needs, extra*n/k*b.
func Blocks(n int64, extra int) int {
	if extra < 1 {
		extra = 1
	}
	k := int64(math.Sqrt(float64(n/tuned.startup) * float64(extra)))
	return int(max(1, min(k, n/leastBlock)))
}

// Overlapped is how many bytes pass through the levels of machines in one pipeline, from which on.
func Overlapped() int64 { return tuned.bcastLong }

// Direct reports whether so many distant ranks send n bytes directly.
func Direct(ranks int, n int64) bool {
	return ranks <= veryFew || ranks <= fewClients && n < longBetween
}

// LongBetween is a vector, in bytes, of which each rank of a client sends a slice to others.
func LongBetween() int64 { return longBetween }

// Pieces is in how many pieces n bytes go to distant ranks: of 64 KiB each, which no rank has to ask for (IMPI 0.0,
// 3.7: messages of one packet), or longer ones, all of which can be under way at once.
func Pieces(n int64) int { return int(max(1, min(mostPieces, (n+pieceBetween-1)/pieceBetween))) }

const mostPieces, pieceBetween = 64, 64 << 10

const leastBlock = 512 // bytes; blocks of a pipeline are not shorter
