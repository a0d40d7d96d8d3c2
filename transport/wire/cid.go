package wire

// Context ids (3.3, 4.3): a communicator has an even one for point-to-point messages and the odd one
// above it for collectives.
const (
	MaxCID       uint64 = 18446744073709551600 // IMPI_MAX_CID: agreement at or above MaxCID-1 is an error
	WorldCID     uint64 = 0                    // MPI_COMM_WORLD, point-to-point
	WorldCollCID uint64 = 1                    // MPI_COMM_WORLD, collectives
)

// Tags of the messages that collectives send, on the collective context id (4.2).
const (
	TagBarrier   int32 = 110
	TagBcast     int32 = 120
	TagGather    int32 = 130
	TagGatherv   int32 = 140
	TagScatter   int32 = 150
	TagScatterv  int32 = 160
	TagAlltoall  int32 = 170
	TagAlltoallv int32 = 180
	TagReduce    int32 = 190
	TagScan      int32 = 200
	TagDup       int32 = 210
	TagMerge     int32 = 220
	TagCommFree  int32 = 230
)

// What the negotiated values C_COLL_XSIZE and C_COLL_MAXLINEAR are when clients leave them to the default
// (4.25: IMPI_COLL_CROSSOVER, and IMPI_MAX_LINEAR_ BARRIER, BCAST, GATHER, REDUCE, which are all the same).
const (
	DefaultXSize     int32 = 1024 // bytes
	DefaultMaxLinear int32 = 4    // masters, that is clients
)
