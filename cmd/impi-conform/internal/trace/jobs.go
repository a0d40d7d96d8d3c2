package trace

// Jobs are the small jobs whose traffic libimpi promises not to change by accident. In each the bytes of every stream
// follow from the program alone, whatever the timing.
var Jobs = []Job{
	{Name: "start-end", About: "two clients start and finish", Clients: 2, Env: plain},
	{Name: "three", About: "three clients start, meet in a barrier and finish", Clients: 3, Env: plain,
		Steps: []string{"barrier"}},
	{Name: "messages", About: "short, empty, synchronous and long messages; packets of 100 bytes", Clients: 2,
		Env: append([]string{"IMPI_DATALEN=100"}, plain...),
		Steps: []string{"@0 send 1 1 10", "@1 recv 0 1 10", "@1 send 0 2 0", "@0 recv 1 2 0", "@0 ssend 1 3 20",
			"@1 recv 0 3 20", "@1 send 0 4 250", "@0 recv 1 4 250", "@0 sendtype double_int 1 5", "@1 recvtype double_int 0 5"}},
	{Name: "cancel", About: "a synchronous message is cancelled before it is received", Clients: 2, Env: plain,
		Steps: []string{"@0 issend 1 7 10", "@0 send 1 8 0", "@0 cancel", "@0 wait", "@0 send 1 9 0", "@1 recv 0 9 0",
			"@1 recv 0 8 0"}},
	{Name: "flow", About: "every packet is acknowledged before the next is sent", Clients: 2,
		Env:   append([]string{"IMPI_ACKMARK=1", "IMPI_HIWATER=1"}, plain...),
		Steps: []string{"@0 send 1 1 1", "@1 recv 0 1 1", "@1 send 0 2 1", "@0 recv 1 2 1"}},
	{Name: "collectives", About: "collectives, short", Clients: 3, Env: quiet,
		Steps: []string{"bcast 1 3", "gather 1 2", "gatherv 2 1", "scatter 0 2", "scatterv 1 1", "reduce 2 3", "reducenc 0 2",
			"scan 2", "reduce_scatter 1", "allgather 2", "allgatherv 1", "allreduce 2", "alltoall 2", "alltoallv 1"}},
	{Name: "communicators", About: "constructors and their context ids", Clients: 2, Env: quiet,
		Steps: []string{"dup 1", "@0 split 0 1 2", "@1 split 0 0 2", "comm 2", "@0 send 0 1 5", "@1 recv 1 1 5", "comm 0",
			"@0 split 0 0 3", "@1 split 1 0 3", "comm 3", "@0 inter 0 1 5 4", "@1 inter 0 0 5 4", "comm 4", "merge 0 5",
			"free 1",
			"free 4", "free 2"}},
}

// plain is IMPI 0.0 without our own additions, which tell the machine.
var plain = []string{"IMPI_PLAIN=1"}

// quiet is plain without a PROTOACK: where one stands among other packets is a matter of timing.
var quiet = append([]string{"IMPI_ACKMARK=1000", "IMPI_HIWATER=1000"}, plain...)
