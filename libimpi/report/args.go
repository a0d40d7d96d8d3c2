package report

import (
	"slices"
	"strconv"
	"strings"
)

// Arguments of calls, by their names in the standard, as far as they show in what a thread waits for.

// AddArgs gives all threads the arguments of their calls.
func (p *Process) AddArgs() {
	for i := range p.Threads {
		t := &p.Threads[i]
		t.Args = p.args(t)
	}
}

// The calls that send and receive one message.
var (
	sends    = []string{"MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"}
	receives = []string{"MPI_Recv", "MPI_Mrecv"}
	probes   = []string{"MPI_Probe", "MPI_Mprobe"}
)

func (p *Process) args(t *Thread) (args []Arg) {
	call := strings.TrimSuffix(t.Call, "_c")
	add := func(name, text string) { args = append(args, Arg{name, text}) }
	one := len(t.Waits) == 1
	switch {
	case one && slices.Contains(sends, call), one && slices.Contains(receives, call):
		m := t.Waits[0]
		add("count", strconv.FormatInt(m.Count, 10))
		add("datatype", m.Type)
		if call == "MPI_Mrecv" {
			return args
		}
		if slices.Contains(sends, call) {
			add("dest", Rank(m.Peer))
		} else {
			add("source", Rank(m.Peer))
		}
		add("tag", Tag(m.Tag))
	case slices.Contains(probes, call):
		add("source", Rank(t.Peer))
		add("tag", Tag(t.Tag))
	case strings.HasPrefix(call, "MPI_Waita"), call == "MPI_Waitsome":
		if t.Requests > 0 {
			add("count", strconv.Itoa(t.Requests))
		}
		return args
	case strings.HasPrefix(call, "MPI_Win_"), strings.HasPrefix(call, "MPI_File_"):
		if t.Object != "" {
			add(map[bool]string{true: "win", false: "fh"}[strings.HasPrefix(call, "MPI_Win_")], strconv.Quote(t.Object))
		}
		return args
	case call == "MPI_Wait" || t.Comm == 0:
		return args
	}
	if c := p.Find(t.Comm); c != nil {
		add("comm", c.String())
	}
	return args
}

// String names the communicator for users.
func (c *Comm) String() string {
	switch {
	case c.Name != "":
		return c.Name
	case c.Remote > 0:
		return "intercommunicator of sizes " + strconv.Itoa(c.Size) + " and " + strconv.Itoa(c.Remote)
	}
	return "communicator of size " + strconv.Itoa(c.Size)
}

// The constants of MPI's ABI that a peer and a tag may be.
const (
	anySource = -1
	anyTag    = -2
	procNull  = -3
)

// Rank puts a peer into words.
func Rank(peer int) string {
	switch peer {
	case anySource:
		return "MPI_ANY_SOURCE"
	case procNull:
		return "MPI_PROC_NULL"
	case None:
		return "?"
	}
	return strconv.Itoa(peer)
}

// Tag puts a tag into words.
func Tag(tag int) string {
	switch tag {
	case anyTag:
		return "MPI_ANY_TAG"
	case None:
		return "?"
	}
	return strconv.Itoa(tag)
}
