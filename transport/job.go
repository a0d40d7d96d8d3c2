package transport

import "net/netip"

// Job is what every process knows of the whole MPI_COMM_WORLD: the tables that IMPI clients exchange at
// start-up (IMPI 0.0, 2.3.5), decoded. A job without a server has one client and the same tables.
type Job struct {
	Me      int32 // world rank of this process
	Clients int32
	Hosts   []Host // by global host rank
	Procs   []Proc // by world rank

	MaxDataLen uint32 // IMPI_Pk_maxdatalen, bytes: minimum over all clients
	TagUB      int32  // minimum over all clients
	AckMark    uint32 // minimum over all hosts
	HiWater    uint32 // minimum over all hosts
	XSize      int32  // collectives: crossover in bytes, -1 resolved to the default
	MaxLinear  int32  // collectives: largest number of masters for linear algorithms, -1 resolved

	FaultTolerant bool // the loss of a process ends what needs it, and the job goes on (not in IMPI 0.0)
}

// Proc is one MPI process, named as its client published it (IMPI 0.0, 3.2).
type Proc struct {
	HostID [16]byte // P_IPV6, byte for byte
	PID    int64    // P_PID
	Host   int32    // global host rank
	Client int32
}

// KeySize is the length of a key between hosts, in bytes.
const KeySize = 32

// Host is the owner of some processes' sockets to other clients.
type Host struct {
	Addr   netip.AddrPort // where it listens: H_IPV6, H_PORT
	Client int32
	First  int32 // its processes are world ranks First .. First+NProcs-1
	NProcs int32

	// What processes of this library agree on beyond IMPI 0.0, between this one's client and the host's.
	Stream   uint32 // the longest continuation of a long message, bytes; 0: MaxDataLen
	StreamIn uint32 // the longest that may come from there, bytes, if that is more than Stream: in an agent's view
	Streams  uint32 // connections between the two hosts, which carry one stream; 0: 1
	Native   bool   // data looks the same in memory and is not converted
	SameImpl bool   // the host's client is of this library; the same in the tables of all clients that are
	Exchange bool   // collectives need no masters (coll/span), first members give context ids; likewise the same
	Short    bool   // packets between two hosts of one process each have the short header (package wire)

	Machine uint64 // the same for all hosts on one machine, if their clients are of this library; 0: not known
	Others  uint32 // processes that the host needs on its machine besides those of the program: an agent
	Crowded bool   // its client's processes outnumber the cores there, as its launcher has said

	// How we meet it, if its client is one of this library too (not in IMPI 0.0).
	Key    []byte // KeySize bytes; both ends prove that they know it. nil: who sends its rank is believed
	Sealed bool   // and what travels is encrypted

	Outbound bool // nobody can connect to it: it connects to the higher hosts too, as all have agreed (not in IMPI 0.0)
}
