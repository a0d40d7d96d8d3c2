// Package startup is how a process finds its job: the link between a rank and the launcher that started it.
//
// The launcher starts each rank with one end of a Unix stream socket pair, whose number is in IMPI_BOOT_FD. On
// it, in this order:
//
//	rank                              launcher
//	join {rank, key}              ->  if the process has not inherited the link (door.go)
//	hello {version, pid}          ->
//	                              <-  welcome {local rank and size, job id, settings, IMPI?, tables}
//	                                  and the descriptor of the shared memory, or refuse {text}
//	if the job has other clients, and each rank is an IMPI host of its own:
//	host {address, pid, host id}  ->  the launcher speaks with the IMPI server for all its ranks
//	                              <-  job {tables, world ranks of this machine}
//	if it has other clients, and the launcher is the host of all its ranks (agent):
//	                              <-  job {tables} and the descriptors of up to two sockets
//	abort {code, text}            ->  at any time after hello
//	spawn, names {id, ...}        ->  at any time after welcome (spawn.go)
//	                              <-  answer {id, ...}
//	                              <-  traffic {}, after job (traffic.go)
//	traffic {rows}                ->
//	                              <-  lost {ranks, text}, after job, if the job is fault tolerant (lost.go)
//	suspect {ranks, text}         ->  likewise
//	at the end of MPI_Finalize:
//	finalized                     ->
//	                              <-  ack
//
// After that another process may begin with hello on the same link, if the launcher's job allows that: the next
// program of a shell script. It waits for its welcome until all ranks have come so far.
//
//	link.go      the rank's end: Attach
//	door.go      links of processes that have not inherited one
//	spawn.go     what a rank asks for while it runs: processes and names
//	traffic.go   what a rank has exchanged with other hosts
//	lost.go      ranks without which the job goes on
//	summon.go    a launcher for a process that has none
//	launcher.go  the launcher's end
//	frame.go     messages as bytes: a length of 4 bytes, big-endian, and that much JSON
//	tables.go    transport.Job as bytes
//	foreign.go   started by somebody else's launcher?
//
// Both sides check everything: sizes before they read, order and values before they believe. The IMPI server and
// a client's side of it are the packages server and client below this one.
package startup

import (
	"errors"
	"net/netip"

	"github.com/libimpi/libimpi/libimpi/report"
)

// Version is the version of the protocol between launcher and rank. Both must have the same.
const Version = 4

// Environment variables that a launcher sets for a rank. All but the first two are for scripts to read.
const (
	EnvFD        = "IMPI_BOOT_FD"    // descriptor of the rank's end of the link
	EnvDoor      = "IMPI_BOOT_DOOR"  // for those that have not inherited it: NAME:RANK:KEY of a socket
	EnvAppNum    = "IMPI_APPNUM"     // number of the program on the launcher's command line: MPI_APPNUM
	EnvRank      = "IMPI_RANK"       // rank in this launcher's part of MPI_COMM_WORLD
	EnvSize      = "IMPI_SIZE"       // size of that part
	EnvLocalRank = "IMPI_LOCAL_RANK" // rank among the processes on this machine
	EnvLocalSize = "IMPI_LOCAL_SIZE" // their number

	// EnvLocal says by what the ranks of a client talk to each other: "vendor:PATH" is another MPI library.
	EnvLocal = "IMPI_LOCAL"

	// EnvJoin, R@HOST:PORT, lets ranks that another launcher starts join the IMPI server there as client R, and EnvPort
	// says at which ports they listen for the other clients.
	EnvJoin = "IMPI_JOIN"
	EnvPort = "IMPI_PORT"

	// EnvErrhandler is the initial error handler, one of Errhandlers; not set: mpi_errors_are_fatal (MPI 5.0, 11.5).
	EnvErrhandler = "IMPI_INITIAL_ERRHANDLER"

	// EnvMemoryKinds is the list of memory allocation kinds that -memory-alloc-kinds asks for (MPI 5.0, 11.4.3).
	EnvMemoryKinds = "IMPI_MEMORY_ALLOC_KINDS"

	// EnvVerbose, set by impirun -v, lets rank 0 tell by what ranks talk, and at the end which algorithms collective
	// operations took.
	EnvVerbose = "IMPI_VERBOSE"

	// EnvParameters has the parameters by which ranks choose collective algorithms (choose.Parameters.Told), if a file
	// says any, and the job has one client.
	EnvParameters = "IMPI_PARAMETERS"

	// EnvSingleton, set to "ok" by the user, lets a process be alone that somebody started together with others.
	EnvSingleton = "IMPI_SINGLETON"
)

// Errhandlers are the names of initial error handlers (MPI 5.0, 11.8.4).
var Errhandlers = []string{ErrorsAreFatal, ErrorsAbort, ErrorsReturn}

// The initial error handlers.
const (
	ErrorsAreFatal = "mpi_errors_are_fatal"
	ErrorsAbort    = "mpi_errors_abort"
	ErrorsReturn   = "mpi_errors_return"
)

// Limits on what either side accepts.
const (
	maxToLauncher = 16 << 20 // bytes of a message from a rank
	maxToRank     = 64 << 20 // bytes of a message from the launcher: tables of about 1.4 million processes
	maxLocalSize  = 1 << 16
	maxText       = 8 << 10 // bytes; what is longer is cut off
	maxJobID      = 256
)

// ErrSingleton: nobody started this process as a part of anything. It is rank 0 of 1.
var ErrSingleton = errors.New("not started by a launcher: a job of one process")

// Hello is the first word of a rank.
type Hello struct {
	Version int `json:"version"`
	PID     int `json:"pid"` // as the rank sees it

	Reports bool `json:"reports,omitempty"` // it answers questions about its traffic
	Tells   bool `json:"tells,omitempty"`   // it answers questions about what it does
	Hears   bool `json:"hears,omitempty"`   // it hears of losses
}

// Host asks for the tables of an IMPI job, and says what the launcher needs to contribute for this rank.
type Host struct {
	Addr   netip.AddrPort `json:"addr"` // where the rank listens
	PID    uint32         `json:"pid"`
	HostID [16]byte       `json:"-"` // P_IPV6; zero: the address of Addr
}

// Finalized says that MPI_Finalize is about to return.
type Finalized struct{}

// Abort says that the rank has called MPI_Abort, or found a fatal error.
type Abort struct {
	Code int    `json:"code"`
	Text string `json:"text"`
	// Answer says that the rank gives up because it has lost another: there is, or will be, a better reason.
	Answer bool `json:"answer,omitempty"`
	// Client is whose rank it has lost, if that is another client.
	Client *int32 `json:"client,omitempty"`
	// Error is why in parts; nil: Text is all. If it has a signal, the rank has crashed, and is about to end by that: it
	// has not aborted.
	Error *report.Error `json:"error,omitempty"`
}

func cut(s string) string {
	if len(s) > maxText {
		return s[:maxText]
	}
	return s
}
