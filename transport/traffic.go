package transport

import "math"

// Traffic is what one host has exchanged with another, as far as one process knows: for somebody who watches a job.
// Packets are those that count for flow control (all but acknowledgements and FINI; IMPI 0.0, 3.6), bytes those of
// their payload. One that has arrived in part has not arrived.
type Traffic struct {
	Ours, Theirs           int32 // global host ranks
	PacketsOut, PacketsIn  uint64
	BytesOut, BytesIn      uint64
	AcksOut, AcksIn        uint64 // PROTOACKs
	Outstanding, HighWater uint32 // packets not acknowledged, of the pair of processes that has most; and the window
	Silence                uint32 // milliseconds since anything came, acknowledgements of TCP too; SilenceUnknown
	State                  uint32 // of the flags below
}

// SilenceUnknown stands for a silence that the host cannot know, and OutstandingUnknown for packets that it does not
// count.
const (
	SilenceUnknown     uint32 = math.MaxUint32
	OutstandingUnknown uint32 = math.MaxUint32
)

// Flags of Traffic.State.
const (
	TrafficBlocked uint32 = 1 << iota // the socket takes no more
	TrafficWaits                      // packets wait for an acknowledgement: the window is full
	TrafficEnded                      // the connection is over
)

// Observable is a Transport that can tell what it has exchanged with each host.
type Observable interface {
	// Traffic returns a row for each host with which there is, or was, a connection. It asks the kernel about each.
	Traffic() []Traffic
}
