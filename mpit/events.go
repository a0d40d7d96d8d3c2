package mpit

import (
	"slices"
	"strconv"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
)

// Kind is what happens.
type Kind int

// The kinds, as the engine tells of them.
const (
	UnexpectedMessage Kind = iota
	RequestCompleted
	PeerLost
	CollectiveStarted
	CollectiveEnded
	Kinds
)

// mostElements is the most that there is to say of an event.
const mostElements = 5

// Values is what there is to say, in the order of Event.Elements.
type Values [mostElements]int64

// Event is a type of events.
type Event struct {
	Name, About string
	Category    string
	OfComm      bool // bound to a communicator
	Detail      int
	Kind        Kind
	Elements    []Element
	Enum        *Enum // names the elements
}

// Element is an element of an event's data. At is its place in a copy of all.
type Element struct {
	Name string
	Type int // the datatype
	At   int64
}

// Events are all types. Their places are their indices.
var Events = events()

func events() []Event {
	message := []Element{{Name: "source", Type: abi.MPI_INT}, {Name: "tag", Type: abi.MPI_INT},
		{Name: "context", Type: abi.MPI_UINT64_T}, {Name: "bytes", Type: abi.MPI_COUNT}}
	request := []Element{{Name: "kind", Type: abi.MPI_INT}, {Name: "peer", Type: abi.MPI_INT},
		{Name: "tag", Type: abi.MPI_INT}, {Name: "context", Type: abi.MPI_UINT64_T}, {Name: "bytes", Type: abi.MPI_COUNT}}
	operation := []Element{{Name: "operation", Type: abi.MPI_INT}, {Name: "context", Type: abi.MPI_UINT64_T}}
	const aboutMessage = ": the sender's rank in MPI_COMM_WORLD, the tag, the communicator's context id, the length in " +
		"bytes"
	aboutOperation := ": which (" + operations() + "), and the communicator's context id"
	all := []Event{
		{Name: "unexpected_message", Category: "queues", Kind: UnexpectedMessage, Elements: message,
			About: "a message has come before its receive" + aboutMessage},
		{Name: "comm_unexpected_message", Category: "queues", Kind: UnexpectedMessage, Elements: message, OfComm: true,
			About: "the same for messages of the program on one communicator, without those of collective operations"},
		{Name: "request_completed", Category: "messages", Kind: RequestCompleted, Elements: request,
			About: "an operation of the program is over: its kind (0 send, 1 receive, 2 other), the peer's rank in " +
				"MPI_COMM_WORLD (-1: none), the tag, the communicator's context id, the length in bytes"},
		{Name: "comm_request_completed", Category: "messages", Kind: RequestCompleted, Elements: request, OfComm: true,
			About: "the same for operations on one communicator"},
		{Name: "peer_lost", Category: "process", Kind: PeerLost, Elements: []Element{{Name: "peer", Type: abi.MPI_INT}},
			About: "a process is gone, and with it the job: its rank in MPI_COMM_WORLD"},
		{Name: "collective_started", Category: "algorithms", Kind: CollectiveStarted, Elements: operation,
			About: "a collective operation has started" + aboutOperation},
		{Name: "comm_collective_started", Category: "algorithms", Kind: CollectiveStarted, Elements: operation, OfComm: true,
			About: "the same on one communicator"},
		{Name: "collective_ended", Category: "algorithms", Kind: CollectiveEnded, Elements: operation,
			About: "a collective operation is over in this process; its data are those of its start"},
		{Name: "comm_collective_ended", Category: "algorithms", Kind: CollectiveEnded, Elements: operation, OfComm: true,
			About: "the same on one communicator"},
	}
	for i := range all {
		e := &all[i]
		e.Detail = userDetail
		e.Elements, e.Enum = laidOut(e.Elements), &Enum{Name: e.Name + "_elements"}
		for n, element := range e.Elements {
			e.Enum.Items = append(e.Enum.Items, Item{int32(n), element.Name})
		}
	}
	return all
}

// operations are the numbers of collective operations, for the description of events.
func operations() (list string) {
	for r := coll.OpBarrier; r <= coll.OpNeighbors; r++ {
		if r > 0 {
			list += ", "
		}
		list += strconv.Itoa(int(r)) + " " + r.String()
	}
	return list
}

// SizeOf is the length of a value of a datatype of this interface, in bytes; 0 for other types.
func SizeOf(datatype int) int64 {
	switch datatype {
	case abi.MPI_CHAR:
		return 1
	case abi.MPI_INT, abi.MPI_INT32_T, abi.MPI_UNSIGNED, abi.MPI_UINT32_T:
		return 4
	case abi.MPI_INT64_T, abi.MPI_UNSIGNED_LONG, abi.MPI_UNSIGNED_LONG_LONG, abi.MPI_UINT64_T, abi.MPI_COUNT,
		abi.MPI_DOUBLE:
		return 8
	}
	return 0
}

// laidOut gives each element the next place where a value of its type may stand.
func laidOut(elements []Element) []Element {
	elements, at := slices.Clone(elements), int64(0)
	for i := range elements {
		size := SizeOf(elements[i].Type)
		at = (at + size - 1) / size * size
		elements[i].At = at
		at += size
	}
	return elements
}

// FindEvent returns the index of a type, -1 if there is none of that name.
func FindEvent(name string) int {
	return slices.IndexFunc(Events, func(e Event) bool { return e.Name == name })
}
