package job

import "strings"

// Class is what a function does, as far as waiting is concerned.
type Class uint8

const (
	Other     Class = iota // does not communicate
	Message                // sends, receives, or probes
	Wait                   // waits for requests
	Test                   // looks at requests, or for messages, and returns at once
	All                    // collective: no member leaves before all have entered
	FromRoot               // collective: nobody leaves before the root has entered
	ToRoot                 // collective: the root does not leave before all have entered
	Prefix                 // collective: nobody leaves before all lower ranks have entered
	Neighbors              // collective among neighbors of a topology
	Window                 // one-sided communication
	File                   // files
)

// Collective reports whether all members of a communicator call the function.
func (c Class) Collective() bool { return c >= All && c <= Neighbors }

// Blocks reports whether a call of this class may wait for requests that others began.
func (c Class) Blocks() bool { return c != Test && c != Other }

// collective has the classes of collective functions without MPI_, I, _init and _c.
var collective = map[string]Class{
	"BARRIER": All, "ALLGATHER": All, "ALLGATHERV": All, "ALLREDUCE": All, "ALLTOALL": All, "ALLTOALLV": All,
	"ALLTOALLW": All, "REDUCE_SCATTER": All, "REDUCE_SCATTER_BLOCK": All,
	"BCAST": FromRoot, "SCATTER": FromRoot, "SCATTERV": FromRoot,
	"REDUCE": ToRoot, "GATHER": ToRoot, "GATHERV": ToRoot, "SCAN": Prefix, "EXSCAN": Prefix,
	"COMM_DUP": All, "COMM_SPLIT": All, "COMM_CREATE": All, "COMM_DUP_WITH_INFO": All, "COMM_SPLIT_TYPE": All,
	"CART_CREATE": All, "GRAPH_CREATE": All, "DIST_GRAPH_CREATE": All, "CART_SUB": All,
	"COMM_DISCONNECT": All, "WIN_FENCE": All, "WIN_CREATE": All, "WIN_ALLOCATE": All, "WIN_ALLOCATE_SHARED": All,
	"WIN_CREATE_DYNAMIC": All, "WIN_FREE": All, "FINALIZE": All,
	"FILE_OPEN": All, "FILE_CLOSE": All, "FILE_SET_VIEW": All, "FILE_SET_SIZE": All, "FILE_SYNC": All,
}

// others has the classes of functions that are not collective.
var others = map[string]Class{
	"SEND": Message, "SSEND": Message, "BSEND": Message, "RSEND": Message, "RECV": Message, "SENDRECV": Message,
	"SENDRECV_REPLACE": Message, "PROBE": Message, "MPROBE": Message, "MRECV": Message, "PSEND": Message,
	"PRECV": Message, "START": Message, "STARTALL": Message,
	"WAIT": Wait, "WAITALL": Wait, "WAITANY": Wait, "WAITSOME": Wait,
	"TEST": Test, "TESTALL": Test, "TESTANY": Test, "TESTSOME": Test, "IPROBE": Test, "IMPROBE": Test, "PARRIVED": Test,
	"PUT": Window, "GET": Window, "ACCUMULATE": Window, "GET_ACCUMULATE": Window, "FETCH_AND_OP": Window,
	"COMPARE_AND_SWAP": Window, "RPUT": Window, "RGET": Window, "RACCUMULATE": Window, "RGET_ACCUMULATE": Window,
}

// ClassOf is the class of a function: MPI_Iallreduce_c is All, MPI_Win_lock Window.
func ClassOf(name string) Class {
	s := strings.ToUpper(name)
	s = strings.TrimPrefix(strings.TrimPrefix(s, "P"), "MPI_")
	for _, end := range []string{"_C", "_INIT"} {
		s = strings.TrimSuffix(s, end)
	}
	for _, word := range []string{s, strings.TrimPrefix(s, "I")} {
		if c, ok := collective[word]; ok {
			return c
		}
		if c, ok := others[word]; ok {
			return c
		}
		if strings.HasPrefix(word, "NEIGHBOR_") {
			return Neighbors
		}
	}
	switch {
	case strings.HasPrefix(s, "WIN_") && !strings.Contains(s, "ATTR") && !strings.Contains(s, "KEYVAL"):
		return Window
	case strings.HasPrefix(s, "FILE_") && strings.HasSuffix(s, "_ALL"):
		return All
	case strings.HasPrefix(s, "FILE_"):
		return File
	case strings.HasPrefix(s, "COMM_IDUP"):
		return All
	}
	return Other
}

// Immediate reports whether a function begins something and returns at once: MPI_Isend, MPI_Ibarrier.
func Immediate(name string) bool {
	s := strings.TrimPrefix(strings.TrimPrefix(name, "P"), "MPI_")
	return len(s) > 1 && s[0] == 'I' && s[1] >= 'a' && s[1] <= 'z' && !strings.HasPrefix(s, "Init") &&
		!strings.HasPrefix(s, "Is_") && !strings.HasPrefix(s, "Info") && !strings.HasPrefix(s, "Intercomm")
}
