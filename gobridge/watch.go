package main

// #include "executor/fast.h"
// #include "executor/window.h"
import "C"

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/observe"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/summary"
	"github.com/libimpi/libimpi/libimpi/trace"
	"github.com/libimpi/libimpi/mpit"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport"
)

// Short messages and collective operations inside a machine are C's, which counts nothing. While a tool has started a
// variable that is counted, or waits for events, communicators are hidden from C: it then leaves every call to the
// engine, where messages are counted. When nobody looks any more they are shown again. So nothing is paid for counting
// that nobody has asked for. With IMPI_CHECK=1 they are hidden, too, and so are windows: C compares nothing.

// known are the communicators that have a place in C's table.
var known struct {
	sync.Mutex
	hidden bool // while the engine is watched, or calls are verified
	of     [C.IMPI_FAST_COMMS]*communicator
}

// appear gives a communicator its place in C's table, of which the rest is there.
func (c *communicator) appear(slot uintptr) {
	known.Lock()
	defer known.Unlock()
	known.of[slot] = c
	if !known.hidden {
		showHandle(&C.impi_fast.comms[slot].handle, c.handle)
	}
}

// vanish takes it back, and reports whether there was one.
func (c *communicator) vanish(slot uintptr) bool {
	known.Lock()
	defer known.Unlock()
	if known.of[slot] != c {
		return false
	}
	known.of[slot] = nil
	showHandle(&C.impi_fast.comms[slot].handle, 0)
	return true
}

// forgetAll takes all of them back.
func forgetAll() {
	known.Lock()
	defer known.Unlock()
	for i := range known.of {
		known.of[i] = nil
		showHandle(&C.impi_fast.comms[i].handle, 0)
	}
}

// fast is the communicator's place in C's table; nil if it has none.
func (c *communicator) fast() *C.struct_impi_fast_comm {
	slot := fastSlot(c.handle)
	if slot >= C.IMPI_FAST_COMMS {
		return nil
	}
	known.Lock()
	defer known.Unlock()
	if known.of[slot] != c {
		return nil
	}
	return &C.impi_fast.comms[slot]
}

// hide hides all communicators from C, or shows them again.
func hide(on bool) {
	known.Lock()
	defer known.Unlock()
	known.hidden = on
	for i, c := range known.of {
		switch {
		case c == nil:
		case on:
			showHandle(&C.impi_fast.comms[i].handle, 0)
		default:
			showHandle(&C.impi_fast.comms[i].handle, c.handle)
		}
	}
}

// avoidBoards keeps collective operations from boards while they have to go by messages, and C from boards while not
// all of them go by slots. C learns which ones do.
func avoidBoards(e *libimpi.Engine) {
	e.AvoidBoards(e.Verifies())
	avoid := e.Verifies() || !slotsInC()
	known.Lock()
	defer known.Unlock()
	for i, c := range known.of {
		if c == nil {
			continue
		}
		b := (*unsafe.Pointer)(unsafe.Pointer(&C.impi_fast.comms[i].board))
		if avoid {
			atomic.StorePointer(b, nil)
		} else if c.board.c != nil {
			c.board.c.Slices = c.slicesFrom()
			atomic.StorePointer(b, unsafe.Pointer(c.board.c))
		}
	}
}

// rewatch sees what is to be counted and told, and has it done. The tools' lock is held.
func rewatch() {
	counts, calls := false, false
	for _, s := range tools.sessions {
		for _, h := range s.handles {
			if h.variable.Counted && h.running() {
				counts = true
				calls = calls || h.variable.Quantity == mpit.Taken
			}
		}
	}
	observed := uint32(0)
	for kind := range mpit.Kinds {
		if dispatcher.Wants(kind) {
			observed |= 1 << kind
			counts = counts || kind != mpit.PeerLost
		}
	}
	choose.Count(calls || environment(startup.EnvVerbose) != "")
	e := toolEngine.Load()
	if e == nil {
		return
	}
	e.Observe(observed, reportEvent)
	if watched.Swap(counts) != counts {
		conceal(e)
		e.AdoptQuick()
		e.Watch(counts)
	}
}

// conceal hides from C what it must leave to the engine now.
func conceal(e *libimpi.Engine) {
	verifies := e.Verifies()
	if hide(watched.Load() || verifies); !verifies {
		return
	}
	for i := range C.impi_windows.of {
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_windows.of[i])), nil)
	}
}

// verify makes calls be compared, or not.
func verify(e *libimpi.Engine, on bool) {
	e.SetVerify(on)
	conceal(e)
	e.AdoptQuick()
}

// watched says whether the engine counts.
var watched atomic.Bool

// Recording calls (package observe), which begins when the process joins its job. The clocks of the machines are
// compared in MPI_Init and MPI_Finalize, and the page at the end is made in MPI_Finalize, by messages between the
// processes of this client: those of others may have another library, or record nothing. So a process that uses
// sessions alone has a trace with its own machine's clock, and is on no page.

// recording is what a process of the world model needs for that.
type recording struct {
	*observe.Recorder
	comm    *libimpi.Comm // of the client
	summary string        // "1", or a file; "": none
}

// record begins to record if the user wants that.
func (p *process) record() error {
	folder, page := environment("IMPI_TRACE"), environment("IMPI_SUMMARY")
	if page == "0" {
		page = ""
	}
	if folder == "" && page == "" {
		return nil
	}
	job := p.engine.Job()
	c := observe.ParseTrace(folder)
	c.Rank, c.Ranks, c.Client = job.Me, int32(len(job.Procs)), job.Procs[job.Me].Client
	c.Job, c.Distances, c.Object = jobNumber(job), distances(job), standsFor
	c.Machine, _ = os.Hostname()
	c.Program, _ = os.Readlink("/proc/self/exe")
	if p.spawnedBy != "" {
		c.Suffix = fmt.Sprintf("%08x", uint32(c.Job))
	}
	for n := range abi.Calls() {
		c.Calls = append(c.Calls, abi.CallNumbered(n).Name)
	}
	p.recording.summary = page
	var err error
	if p.recording.Recorder, err = observe.Start(c); err != nil {
		return fmt.Errorf("IMPI_TRACE: %v", err)
	}
	if page != "" {
		choose.Count(true)
		p.engine.TimeSleeps()
	}
	p.recording.On()
	return nil
}

// distances are how far processes are, as counters.Class has it.
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

// alignClocks compares the clocks of the client's machines. All its processes call it.
func (p *process) alignClocks() error {
	if p.recording.Recorder == nil {
		return nil
	}
	job := p.engine.Job()
	var mine []int32
	for r := range job.Procs {
		if job.Procs[r].Client == job.Procs[job.Me].Client {
			mine = append(mine, int32(r))
		}
	}
	c, err := p.engine.CreateFromGroup(libimpi.NewGroup(mine), "libimpi: recording")
	if err != nil {
		return err
	}
	p.recording.comm = c
	return p.recording.Align(clientPeers{c})
}

// endRecording ends the trace, and makes the page. All processes of the client call it, in MPI_Finalize, or one that
// has used sessions alone.
func (p *process) endRecording() error {
	r := &p.recording
	if r.Recorder == nil {
		return nil
	}
	rec := r.Recorder
	r.Recorder = nil
	if r.comm == nil {
		rec.EndAlone()
		return nil
	}
	peers := clientPeers{r.comm}
	if err := rec.End(peers); err != nil {
		return err
	}
	if r.summary == "" {
		return r.comm.Free()
	}
	job := p.engine.Job()
	s := rec.Summary(p.engine.Asleep())
	s.Clients = int(job.Clients)
	for _, o := range choose.Operations {
		for _, a := range o.Algorithms {
			if n := a.Used(); n > 0 {
				s.Algorithms = append(s.Algorithms, summary.Algorithm{Operation: o.Name, Name: a.Name, Times: uint64(n)})
			}
		}
	}
	if err := observe.Gather(peers, s); err != nil {
		return err
	}
	if r.comm.Rank() == 0 {
		if err := observe.WritePage(s, r.summary, os.Stderr); err != nil {
			warn(fmt.Sprintf("IMPI_SUMMARY: %v", err))
		}
	}
	return r.comm.Free()
}

// clientPeers sends bytes of Go's between the processes of the client.
type clientPeers struct{ *libimpi.Comm }

var byteType = datatype.Named(abi.MPI_BYTE)

func bufOf(b []byte) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(b)), Count: int64(len(b)), Type: byteType}
}

func (c clientPeers) Send(to int, b []byte) error {
	return c.Comm.Send(unsafe.Pointer(unsafe.SliceData(b)), int64(len(b)), byteType, to, 0, libimpi.Standard)
}

func (c clientPeers) Recv(from int, b []byte) error {
	return c.Comm.Recv(unsafe.Pointer(unsafe.SliceData(b)), int64(len(b)), byteType, from, 0, nil)
}

func (c clientPeers) Bcast(b []byte) error { return c.Comm.Bcast(bufOf(b), 0) }

func (c clientPeers) Allgather(own, all []byte) error {
	return c.Comm.Allgather(bufOf(own), coll.Buf{Base: bufOf(all).Base, Count: int64(len(own)), Type: byteType})
}

// standsFor says what a handle of the program stands for.
func standsFor(h uintptr) (o observe.Object) {
	if c := commOf(h); c != nil {
		o.Comm = &trace.Comm{Context: c.CID(), Rank: int32(c.Rank()), Local: trace.RunsOf(c.Group().Worlds()), Name: c.Name}
		o.Rank, o.Ranks = c.Rank(), inJob(c.RemoteGroup())
		if c.RemoteGroup() != c.Group() {
			o.Comm.Remote = trace.RunsOf(c.RemoteGroup().Worlds())
		}
		if c.Topology() != nil {
			o.In, o.Out, _ = c.Degrees()
		}
		return o
	}
	if w := windows.Find(h); w != nil {
		o.Window = &trace.Named{Name: w.Name}
		o.Ranks = inJob(w.Comm().Group())
		return o
	}
	if f := files.Find(h); f != nil {
		o.File = &trace.Named{}
		return o
	}
	if t := typeOf(h); t != nil {
		o.Size = t.Size()
		return o
	}
	o.Op = operationName(h)
	return o
}

// inJob are the ranks of a group in the world, -1 for processes of other jobs.
func inJob(g *libimpi.Group) []int32 {
	ranks := slices.Clone(g.Worlds())
	size := int32(len(engine().Job().Procs))
	for i, r := range ranks {
		if r >= size {
			ranks[i] = -1
		}
	}
	return ranks
}

// operationName is the name of a reduction; "" of what is none.
func operationName(h uintptr) string {
	if ops.Find(h) != nil {
		return "an operation of the program's"
	}
	return op.Name(int(h))
}

// jobNumber is the same in all processes of a job, and most probably in no other.
func jobNumber(job *transport.Job) uint64 {
	h := fnv.New64a()
	for i := range job.Procs {
		fmt.Fprintf(h, "%x %d;", job.Procs[i].HostID, job.Procs[i].PID)
	}
	return h.Sum64()
}
