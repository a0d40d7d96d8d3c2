// Package recording records the calls of a process of the world model (package observe), from where it joins its job to
// MPI_Finalize. The clocks of the machines are compared in MPI_Init and MPI_Finalize, and the page at the end is made
// in MPI_Finalize, by messages between the processes of this client: those of others may have another library, or
// record nothing. So a process that uses sessions alone has a trace with its own machine's clock, and is on no page.
package recording

import (
	"fmt"
	"hash/fnv"
	"os"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/observe"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/summary"
	"github.com/libimpi/libimpi/transport"
)

// Recording is that of a process.
type Recording struct {
	recorder *observe.Recorder // nil: it has ended
	engine   *libimpi.Engine
	comm     *libimpi.Comm // of the client; nil: the process uses sessions alone
	page     string        // "1", or a file; "": none
}

// Begin begins to record if a folder (IMPI_TRACE) or a page (IMPI_SUMMARY) is set; nil: neither is. spawned: the job
// shares its folder with the one that has spawned it. standsFor says what a handle of the program stands for.
func Begin(e *libimpi.Engine, folder, page string, spawned bool, standsFor func(uintptr) observe.Object) (*Recording,
	error) {
	if page == "0" {
		page = ""
	}
	if folder == "" && page == "" {
		return nil, nil
	}
	job := e.Job()
	c := observe.ParseTrace(folder)
	c.Rank, c.Ranks, c.Client = job.Me, int32(len(job.Procs)), job.Procs[job.Me].Client
	c.Job, c.Distances, c.Object = numberOf(job), distances(job), standsFor
	c.Machine, _ = os.Hostname()
	c.Program, _ = os.Readlink("/proc/self/exe")
	if spawned {
		c.Suffix = fmt.Sprintf("%08x", uint32(c.Job))
	}
	for n := range abi.Calls() {
		c.Calls = append(c.Calls, abi.CallNumbered(n).Name)
	}
	recorder, err := observe.Start(c)
	if err != nil {
		return nil, fmt.Errorf("IMPI_TRACE: %v", err)
	}
	if page != "" {
		choose.Count(true)
		e.TimeSleeps()
	}
	recorder.On()
	return &Recording{recorder: recorder, engine: e, page: page}, nil
}

// AlignClocks compares the clocks of the client's machines. All its processes call it. Nothing is done without a
// recording.
func (r *Recording) AlignClocks() error {
	if r == nil {
		return nil
	}
	job := r.engine.Job()
	var mine []int32
	for rank := range job.Procs {
		if job.Procs[rank].Client == job.Procs[job.Me].Client {
			mine = append(mine, int32(rank))
		}
	}
	c, err := r.engine.CreateFromGroup(libimpi.NewGroup(mine), "libimpi: recording")
	if err != nil {
		return err
	}
	r.comm = c
	return r.recorder.Align(peers{c})
}

// End ends the trace, and makes the page; what hinders it is told by warn. All processes of the client call it that
// survive, in MPI_Finalize, or one that has used sessions alone. Nothing is done without a recording, or again.
func (r *Recording) End(warn func(string)) error {
	if r == nil || r.recorder == nil {
		return nil
	}
	recorder := r.recorder
	r.recorder = nil
	if r.comm == nil {
		recorder.EndAlone("the process has used sessions alone")
		return nil
	}
	if !r.engine.Job().FaultTolerant {
		return r.end(r.comm, recorder, warn)
	}
	c, err := r.comm.Shrink()
	if err == nil {
		err = r.end(c, recorder, warn)
	}
	if err != nil { // one more is lost, and MPI_Finalize goes on
		warn(fmt.Sprintf("the trace or the summary lacks what others know: %v", err))
	}
	return nil
}

// end is End for the processes of a communicator, which it frees.
func (r *Recording) end(c *libimpi.Comm, recorder *observe.Recorder, warn func(string)) error {
	if c.Group().World(0) != r.comm.Group().World(0) {
		recorder.EndAlone("the process is lost by whose machine they were compared before")
	} else if err := recorder.End(peers{c}); err != nil {
		return err
	}
	if r.page == "" {
		return c.Free()
	}
	s := recorder.Summary(r.engine.Asleep())
	s.Clients = int(r.engine.Job().Clients)
	s.Algorithms = algorithms()
	if err := observe.Gather(peers{c}, s); err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := observe.WritePage(s, r.page, os.Stderr); err != nil {
			warn(fmt.Sprintf("IMPI_SUMMARY: %v", err))
		}
	}
	return c.Free()
}

// algorithms are those that collective operations have used.
func algorithms() (used []summary.Algorithm) {
	for _, o := range choose.Operations {
		for _, a := range o.Algorithms {
			if n := a.Used(); n > 0 {
				used = append(used, summary.Algorithm{Operation: o.Name, Name: a.Name, Times: uint64(n)})
			}
		}
	}
	return used
}

// peers sends bytes of Go's between the processes of the client.
type peers struct{ *libimpi.Comm }

var byteType = datatype.Named(abi.MPI_BYTE)

func bufOf(b []byte) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(b)), Count: int64(len(b)), Type: byteType}
}

func (c peers) Send(to int, b []byte) error {
	return c.Comm.Send(unsafe.Pointer(unsafe.SliceData(b)), int64(len(b)), byteType, to, 0, libimpi.Standard)
}

func (c peers) Recv(from int, b []byte) error {
	return c.Comm.Recv(unsafe.Pointer(unsafe.SliceData(b)), int64(len(b)), byteType, from, 0, nil)
}

func (c peers) Bcast(b []byte) error { return c.Comm.Bcast(bufOf(b), 0) }

func (c peers) Allgather(own, all []byte) error {
	return c.Comm.Allgather(bufOf(own), coll.Buf{Base: bufOf(all).Base, Count: int64(len(own)), Type: byteType})
}

// distances are how far processes are, as summary.Class has it.
func distances(job *transport.Job) []uint8 {
	me := &job.Procs[job.Me]
	all := make([]uint8, len(job.Procs))
	for r := range job.Procs {
		switch its := &job.Procs[r]; {
		case int32(r) == job.Me:
			all[r] = uint8(summary.Self)
		case its.Client != me.Client:
			all[r] = uint8(summary.Abroad)
		case its.HostID != me.HostID:
			all[r] = uint8(summary.Client)
		default:
			all[r] = uint8(summary.Machine)
		}
	}
	return all
}

// numberOf is the same in all processes of a job, and most probably in no other.
func numberOf(job *transport.Job) uint64 {
	h := fnv.New64a()
	for i := range job.Procs {
		fmt.Fprintf(h, "%x %d;", job.Procs[i].HostID, job.Procs[i].PID)
	}
	return h.Sum64()
}
