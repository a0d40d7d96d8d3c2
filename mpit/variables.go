package mpit

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
)

// Quantity is what a performance variable measures.
type Quantity int

// The quantities. Of those with a class of peers, Variable.Which is the class.
const (
	State Quantity = iota
	MessagesSent
	BytesSent
	MessagesReceived
	BytesReceived
	Eager
	Rendezvous
	Matches
	MatchRate
	Packed
	Unpacked
	Arrivals
	UnexpectedLength
	UnexpectedPeak
	UnexpectedBytes
	PostedLength
	ActiveRequests
	Waits
	Waiting
	PacketsSent
	PacketsReceived
	WindowWaits
	Retransmissions
	Operations
	Taken // of an algorithm: Variable.Which counts Algorithms
	GoMemory
	SharedMemory
	RequestMemory
	CommMessagesSent
	CommBytesSent
	CommMessagesReceived
	CommBytesReceived
	CommUnexpectedLength
	CommPostedLength
	CommOperations
)

// Variable is a performance variable.
type Variable struct {
	Name, About string
	Category    string
	Class       int // MPI_T_PVAR_CLASS_...
	Type        int // the datatype
	Enum        *Enum
	OfComm      bool // bound to a communicator
	Detail      int  // verbosity

	Quantity Quantity
	Which    int

	Continuous bool // always active: it cannot be started
	Counted    bool // the engine counts it only while somebody has started it
}

// ReadOnly says that the variable can be neither written nor reset. All others can be read and reset at once.
func (v *Variable) ReadOnly() bool {
	switch v.Class {
	case abi.MPI_T_PVAR_CLASS_STATE, abi.MPI_T_PVAR_CLASS_LEVEL, abi.MPI_T_PVAR_CLASS_SIZE,
		abi.MPI_T_PVAR_CLASS_GENERIC:
		return true
	}
	return false
}

// Peers are the classes of processes at the other end of messages.
var Peers = []struct{ Name, About string }{
	{"self", "this process itself"},
	{"machine", "other processes of this machine"},
	{"client", "processes of the same client on other machines"},
	{"abroad", "processes of other IMPI clients"},
}

// States is whether anything of MPI is in use.
var States = &Enum{"libimpi_state", []Item{{0, "not initialized"}, {1, "in use"}, {2, "finalized"}}}

// Algorithm is one of package coll's.
type Algorithm struct{ Operation, Name string }

// Algorithms are all, in the order of their variables.
var Algorithms = algorithms()

func algorithms() (all []Algorithm) {
	for _, o := range choose.Operations {
		for _, a := range o.Algorithms {
			all = append(all, Algorithm{o.Name, a.Name})
		}
	}
	return all
}

// Variables are all performance variables. Their places are their indices.
var Variables = variables()

const (
	counter   = abi.MPI_T_PVAR_CLASS_COUNTER
	aggregate = abi.MPI_T_PVAR_CLASS_AGGREGATE
	level     = abi.MPI_T_PVAR_CLASS_LEVEL
)

func variables() []Variable {
	all := []Variable{{Name: "state", About: "whether anything of MPI is in use", Category: "process",
		Class: abi.MPI_T_PVAR_CLASS_STATE, Type: abi.MPI_INT, Enum: States, Detail: userBasic, Quantity: State,
		Continuous: true}}
	for which, p := range Peers {
		for _, v := range []Variable{
			{Name: "messages_sent_", About: "messages sent to ", Class: counter, Quantity: MessagesSent},
			{Name: "bytes_sent_", About: "bytes of the messages sent to ", Class: aggregate, Quantity: BytesSent},
			{Name: "messages_received_", About: "messages received from ", Class: counter, Quantity: MessagesReceived},
			{Name: "bytes_received_", About: "bytes received from ", Class: aggregate, Quantity: BytesReceived},
		} {
			v.Name, v.About = v.Name+p.Name, v.About+p.About
			v.Category, v.Detail, v.Which, v.Counted = "messages", userBasic, which, true
			all = append(all, v)
		}
	}
	all = append(all, named...)
	for which, a := range Algorithms {
		all = append(all, Variable{Name: "algorithm_" + a.Operation + "_" + a.Name, Category: "algorithms", Class: counter,
			About: "calls of " + a.Operation + " that were carried out by the algorithm " + a.Name, Detail: tunerMore,
			Quantity: Taken, Which: which, Counted: true})
	}
	for i := range all {
		if all[i].Type == 0 {
			all[i].Type = abi.MPI_UNSIGNED_LONG_LONG
		}
	}
	return all
}

// named are those that are one of their kind.
var named = []Variable{
	{Name: "messages_eager", Category: "messages", Class: counter, Quantity: Eager, Counted: true, Detail: tuner,
		About: "messages sent whole with their first packet"},
	{Name: "messages_rendezvous", Category: "messages", Class: counter, Quantity: Rendezvous, Counted: true, Detail: tuner,
		About: "messages of which the rest waited for the receive"},
	{Name: "matches", Category: "queues", Class: counter, Quantity: Matches, Counted: true, Detail: tuner,
		About: "receives that have found their message"},
	{Name: "match_rate", Category: "queues", Class: abi.MPI_T_PVAR_CLASS_GENERIC, Type: abi.MPI_DOUBLE,
		Quantity: MatchRate, Counted: true, Detail: tuner,
		About: "receives that have found their message, per second of the time in which the variable was started"},
	{Name: "bytes_packed", Category: "messages", Class: aggregate, Quantity: Packed, Counted: true, Detail: tuner,
		About: "bytes of messages gathered from memory that is not one run"},
	{Name: "bytes_unpacked", Category: "messages", Class: aggregate, Quantity: Unpacked, Counted: true, Detail: tuner,
		About: "bytes of messages scattered to memory that is not one run"},
	{Name: "unexpected_arrivals", Category: "queues", Class: counter, Quantity: Arrivals, Counted: true,
		Detail: userDetail, About: "messages that came before their receive"},
	{Name: "unexpected_length", Category: "queues", Class: level, Quantity: UnexpectedLength, Continuous: true,
		Detail: userDetail, About: "messages that wait for their receive, those of collective operations included"},
	{Name: "unexpected_length", Category: "queues", Class: abi.MPI_T_PVAR_CLASS_HIGHWATERMARK, Quantity: UnexpectedPeak,
		Counted: true, Detail: userDetail, About: "the most messages that have waited for their receive at a time"},
	{Name: "unexpected_bytes", Category: "queues", Class: level, Quantity: UnexpectedBytes, Continuous: true,
		Detail: userDetail, About: "memory that messages take which wait for their receive, in bytes"},
	{Name: "posted_length", Category: "queues", Class: level, Quantity: PostedLength, Continuous: true, Detail: userDetail,
		About: "receives that wait for their message, those of collective operations included"},
	{Name: "requests_active", Category: "queues", Class: level, Quantity: ActiveRequests, Continuous: true,
		Detail: userDetail, About: "operations that have started and are not complete"},
	{Name: "waits", Category: "process", Class: counter, Quantity: Waits, Counted: true, Detail: userBasic,
		About: "times that a thread has waited inside MPI"},
	{Name: "time_waiting", Category: "process", Class: abi.MPI_T_PVAR_CLASS_TIMER, Type: abi.MPI_DOUBLE, Quantity: Waiting,
		Counted: true, Detail: userBasic,
		About: "time that threads have waited inside MPI, in seconds; a wait counts when it is over"},
	{Name: "packets_sent", Category: "network", Class: counter, Quantity: PacketsSent, Continuous: true, Detail: tuner,
		About: "IMPI packets sent to other machines and clients, without acknowledgements"},
	{Name: "packets_received", Category: "network", Class: counter, Quantity: PacketsReceived, Continuous: true,
		Detail: tuner, About: "IMPI packets received from other machines and clients, without acknowledgements"},
	{Name: "acknowledgement_waits", Category: "network", Class: counter, Quantity: WindowWaits, Continuous: true,
		Detail: tuner, About: "times that packets began to wait for the acknowledgement of others (IMPI_HIWATER)"},
	{Name: "retransmissions", Category: "network", Class: counter, Quantity: Retransmissions, Continuous: true,
		Detail: tuner, About: "segments that TCP has sent again on this process's own connections"},
	{Name: "collectives", Category: "algorithms", Class: counter, Quantity: Operations, Counted: true, Detail: userBasic,
		About: "collective operations that have started"},
	{Name: "memory_go", Category: "memory", Class: level, Quantity: GoMemory, Continuous: true, Detail: userDetail,
		About: "memory that the library's Go runtime has from the system, in bytes"},
	{Name: "memory_shared", Category: "memory", Class: abi.MPI_T_PVAR_CLASS_SIZE, Quantity: SharedMemory, Continuous: true,
		Detail: userDetail, About: "the segment that the processes of this machine share, in bytes of address space"},
	{Name: "requests_kept", Category: "memory", Class: level, Quantity: RequestMemory, Continuous: true, Detail: developer,
		About: "requests for which there is memory, in use or not"},
	{Name: "comm_messages_sent", Category: "messages", Class: counter, Quantity: CommMessagesSent, OfComm: true,
		Counted: true, Detail: userBasic, About: "messages that the program has sent on the communicator"},
	{Name: "comm_bytes_sent", Category: "messages", Class: aggregate, Quantity: CommBytesSent, OfComm: true,
		Counted: true, Detail: userBasic, About: "bytes that the program has sent on the communicator"},
	{Name: "comm_messages_received", Category: "messages", Class: counter, Quantity: CommMessagesReceived, OfComm: true,
		Counted: true, Detail: userBasic, About: "messages that the program has received on the communicator"},
	{Name: "comm_bytes_received", Category: "messages", Class: aggregate, Quantity: CommBytesReceived, OfComm: true,
		Counted: true, Detail: userBasic, About: "bytes that the program has received on the communicator"},
	{Name: "comm_unexpected_length", Category: "queues", Class: level, Quantity: CommUnexpectedLength, OfComm: true,
		Continuous: true, Detail: userDetail, About: "messages of the program that wait on the communicator"},
	{Name: "comm_posted_length", Category: "queues", Class: level, Quantity: CommPostedLength, OfComm: true,
		Continuous: true, Detail: userDetail, About: "receives of the program that wait on the communicator"},
	{Name: "comm_collectives", Category: "algorithms", Class: counter, Quantity: CommOperations, OfComm: true,
		Counted: true, Detail: userBasic, About: "collective operations that have started on the communicator"},
}

// FindVariable returns the index of a variable, -1 if there is none of that name and class.
func FindVariable(name string, class int) int {
	return slices.IndexFunc(Variables, func(v Variable) bool { return v.Name == name && v.Class == class })
}
