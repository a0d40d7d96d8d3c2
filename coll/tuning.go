package coll

// Which algorithm for which size. All bounds are in bytes and all ranks of a communicator compare the same
// quantity with them: packed sizes, which follow from the type signature, never counts or extents, which may
// differ from rank to rank.
//
// Source: the linear model t = a + n*b of a message, with the figures measured inside one machine (a small
// message 0.1 us, and about 1 us once ranks outnumber cores; 10 GB/s for a copy between processes), so that
// a/b is 1 to 10 KiB. An algorithm of R rounds that moves V bytes through each rank costs R*a + V*b, and the
// bounds are where two of them meet for 4 to 16 ranks:
//
//	bcast      binomial log p, n log p          scatter + ring  log p + p-1, 2n      meet at  6 a/b
//	reduce     binomial log p, n log p          Rabenseifner    2 log p, 2n          meet at  4 a/b
//	allreduce  doubling log p, n log p          the same                             meet at  4 a/b
//	gather     binomial log p, (n log p)/2      linear p-1 (receives overlap), n     meet at  1 a/b a rank
//	alltoall   Bruck    log p, (n log p)/2      pairwise p-1, n                      meet below 1 a/b / p
const (
	bcastLong     = 48 << 10 // message, from 3 ranks on
	reduceLong    = 32 << 10 // vector, from 4 ranks on
	allreduceLong = 32 << 10 // vector, from 3 ranks on
	gatherLong    = 4 << 10  // block of one rank; also scatter
	allgatherLong = 64 << 10 // all blocks together
	bruckLong     = 256      // alltoall: block of one pair
	bruckRanks    = 8        // alltoall: with fewer ranks the messages to all are sent at once
	overlapLong   = 32 << 10 // alltoall: below it a window of messages is under way at once, above it one
	scatterLong   = 16 << 10 // reduce_scatter: vector
)

// Tags of messages inside one call. Messages between two ranks are received in the order in which they are
// sent, and so they only serve to notice ranks that call different operations.
const (
	tagBarrier = 1 + iota
	tagBcast
	tagGather
	tagScatter
	tagAllgather
	tagAlltoall
	tagReduce
	tagAllreduce
	tagReduceScatter
	tagScan

	tagVerify   = 256 // added to those above
	tagNeighbor = 300 // and two more for each further dimension of a grid; IMPI 0.0 uses none of them
)
