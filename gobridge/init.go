// Package main is libmpi.so: the place where C and Go meet.
//
// The generated shim (package shim) defines PMPI_X and weak MPI_X. Each calls the export impi_X of this package,
// with handles and all pointers as uintptr: MPI's sentinels (MPI_IN_PLACE is 1) must never be Go pointers. An
// export serves MPI_X and MPI_X_c alike; it checks its arguments, calls the engine and answers an error code.
//
// Errors: the export registers the error (fail) and answers its code. The shim then asks what the error
// handler wants (impi_error_action) and does it in C, with no Go frame on the stack, so that a handler may
// longjmp. Other callbacks of the program are called from Go with no lock of the engine held.
package main

// #include "shim/shim.h"
// #cgo LDFLAGS: -Wl,--wrap=pthread_create
// #include "shim/z_exports.h"
import "C"

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/calling"
	"github.com/libimpi/libimpi/gobridge/kernel"
	"github.com/libimpi/libimpi/gobridge/recording"
	_ "github.com/libimpi/libimpi/gobridge/shim"
	"github.com/libimpi/libimpi/gobridge/vendor"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/hint"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/startup/client"
	"github.com/libimpi/libimpi/startup/manager"
	"github.com/libimpi/libimpi/startup/ports"
	"github.com/libimpi/libimpi/transport/agent"
	"github.com/libimpi/libimpi/transport/shm"
	"github.com/libimpi/libimpi/transport/tcp"
	"golang.org/x/sys/unix"
)

// Start and end of MPI in a process (MPI 5.0, 11.2 and 11.3). There are two ways to use MPI, the world model and
// sessions (session.go), and a process may go both, one after the other or at once. It joins its job when it first
// needs to (enter), and from then on the engine stays:
//
//	MPI_Init, MPI_Session_init          -> enter: join, or come back
//	the last of them that ends          -> rest: nothing of MPI is in use, but another session may begin
//	MPI_Finalize                        -> end, if there was no session: IMPI's connections and the launcher's link close
//	the end of a process of sessions    -> end, at the latest
//
// After the end the memory of the machine is still there, so sessions go on in a job of one machine; the connections
// with others do not come back. So a process that has begun a session before MPI_Finalize keeps them until it exits
// (stays), where others can do without it. Without connections, or where another IMPI implementation expects the end
// with MPI_Finalize, the last session that ends after MPI_Finalize, or MPI_Finalize with no session open, is the end.

// process is a process's part in its job.
type process struct {
	engine      *libimpi.Engine
	world, self atomic.Pointer[communicator] // between MPI_Init and MPI_Finalize
	link        *startup.Link                // nil in a process of its own, and after the end
	manager     manager.Manager              // of somebody else, who has started us; nil: there is none, or after the end
	among       *manager.Client              // as which this job has joined the server of the clients; nil: as none
	session     *client.Session              // of rank 0 with the server of the clients that this job has joined; or nil
	agent       *agent.Agent                 // of this machine's processes, in this one; nil: it is not, or there is none
	vendor      *vendor.Library              // another MPI library, by which ranks of this client talk; nil: none
	segment     *shm.Segment
	thread      int32        // level of thread support
	levels      atomic.Int32 // 1 more than the highest that anybody was given; 0: nobody was
	main        int          // the thread that called MPI_Init
	values      *predefinedValues

	meeting     ports.Config         // how processes of other jobs are met
	connectTime patience             // how long, if the program does not say
	recording   *recording.Recording // of calls; nil: none
	universe    int32                // MPI_UNIVERSE_SIZE; 0: what the launcher does not know
	spawnedBy   string               // the port of those who have spawned this job; "": nobody has
	parent      uintptr              // the handle of the communicator with them; it may have gone

	gone *tcp.HostGone // why the process could not join; nil: another reason, or none

	sessions int     // that are open
	exit     uintptr // the process as C holds it for its exit; 0: it does not
	ended    bool    // the connections are closed
}

var (
	current     atomic.Pointer[process] // while something of MPI is in use
	initialized atomic.Bool             // the world model
	finalized   atomic.Bool

	starting sync.Mutex // start and end take turns
	joined   *process   // nil until the job has been joined

	joining atomic.Pointer[process] // who cannot join, or is lost while it rests, tells its launcher why
)

// started returns the process's state; nil while nothing of MPI is in use.
func started() *process { return current.Load() }

// engine is the engine, nil while nothing of MPI is in use.
func engine() *libimpi.Engine {
	if p := current.Load(); p != nil {
		return p.engine
	}
	return nil
}

func tagUB() int32 { return current.Load().engine.TagUB() }

func notStarted() *libimpi.Error {
	if finalized.Load() {
		return libimpi.Errorf(abi.MPI_ERR_OTHER, "called after MPI_Finalize")
	}
	return libimpi.Errorf(abi.MPI_ERR_OTHER, "called before MPI_Init")
}

// whoAmI begins a line on stderr.
func whoAmI() string {
	host, _ := os.Hostname()
	if p := started(); p != nil {
		return fmt.Sprintf("libimpi: rank %d of %d (%s, pid %d)",
			p.engine.World().Rank(), p.engine.World().Size(), host, os.Getpid())
	}
	return fmt.Sprintf("libimpi: %s, pid %d", host, os.Getpid())
}

//export impi_Init
func impi_Init(argc, argv uintptr) int32 { return initialize("MPI_Init", abi.MPI_THREAD_SINGLE) }

//export impi_Init_thread
func impi_Init_thread(argc, argv uintptr, required int32, provided uintptr) int32 {
	k := check{fn: "MPI_Init_thread"}
	if k.result(provided, "provided"); k.err != nil {
		return k.fail()
	}
	level := levelFor(required)
	if code := initialize("MPI_Init_thread", level); code != 0 {
		return code
	}
	put(provided, level)
	return 0
}

// levelFor is the level of thread support that a program gets that requires one.
func levelFor(required int32) int32 {
	level := int32(abi.MPI_THREAD_MULTIPLE)
	for _, l := range [...]int32{abi.MPI_THREAD_SERIALIZED, abi.MPI_THREAD_FUNNELED, abi.MPI_THREAD_SINGLE} {
		if required <= l {
			level = l
		}
	}
	return level
}

func initialize(fn string, level int32) int32 {
	starting.Lock()
	defer starting.Unlock()
	switch {
	case finalized.Load():
		return fail(fn, nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "called after MPI_Finalize; MPI can be initialized once"))
	case initialized.Load():
		return fail(fn, nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "called a second time"))
	}
	p, err := enter()
	if err != nil {
		return fail(fn, nil, err)
	}
	p.thread, p.main = level, unix.Gettid()
	p.allow(level)
	world := newCommunicator(p.engine.World(), abi.MPI_COMM_WORLD)
	p.world.Store(world)
	self := newCommunicator(p.engine.Self(), abi.MPI_COMM_SELF)
	p.self.Store(self)
	world.openFast()
	self.openFast()
	if p.spawnedBy != "" {
		if err := p.meetParent(p.spawnedBy); err != nil {
			p.orphaned(err)
			return fail(fn, nil, err)
		}
	}
	if err := p.recording.AlignClocks(); err != nil {
		return fail(fn, world, err)
	}
	initialized.Store(true)
	return 0
}

// allow notes a level of thread support that the program was given. The caller holds starting.
func (p *process) allow(level int32) { p.levels.Store(max(p.levels.Load(), level+1)) }

// severalCall reports whether several threads may call MPI at the same time, as far as is known.
func (p *process) severalCall() bool {
	level := p.levels.Load() - 1
	return level < 0 || level == abi.MPI_THREAD_MULTIPLE
}

// record begins to record calls if the user wants that.
func (p *process) record() (err error) {
	p.recording, err = recording.Begin(p.engine, environment("IMPI_TRACE"), environment("IMPI_SUMMARY"), p.spawnedBy != "",
		standsFor)
	return err
}

// enter joins the job, or comes back to it. The caller holds starting.
func enter() (*process, error) {
	if joined == nil {
		// Threads of the program that wait inside Go hold on to a P each; there must be some for the others.
		if runtime.GOMAXPROCS(0) < minProcs {
			runtime.GOMAXPROCS(minProcs)
		}
		C.impi_note_init()
		C.impi_hold_standard()
		p := &process{values: newPredefinedValues()}
		joining.Store(p)
		if err := p.start(); err != nil {
			if p.vendor != nil {
				p.vendor.GiveUp()
			}
			class := abi.MPI_ERR_OTHER
			if errors.As(err, &p.gone) {
				class = abi.MPI_ERR_PROC_ABORTED // there is, or will be, a better reason
			}
			return nil, libimpi.Errorf(class, "cannot join the job: %v", err)
		}
		if err := p.record(); err != nil {
			return nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "cannot record calls: %v", err)
		}
		p.describe()
		joined = p
		joining.Store(p)
		tellTools(p)
	}
	p := joined
	if p.ended && p.engine.Connected() {
		return nil, libimpi.Errorf(abi.MPI_ERR_OTHER, "the connections with other machines have ended with "+
			"MPI_Finalize, before which there was no session")
	}
	if started() == nil {
		p.segment.Return()
		p.values.lastCode = custom.last()
		datatype.SetKernels(&kernel.Kernels)
		op.SetLongKernel(kernel.Combine)
		op.SetApartKernel(kernel.CombineApart)
		current.Store(p)
		openFast(p)
		openBoards(p.engine)
		setInUse(1)
		nameFaults()
		calling.WatchCrashes(sayCrash)
	}
	return p, nil
}

// describe sets the values of predefined attributes.
func (p *process) describe() {
	v := p.values
	v.tagUB, v.io, v.host = p.engine.TagUB(), abi.MPI_ANY_SOURCE, abi.MPI_PROC_NULL
	if n, err := strconv.ParseInt(environment(startup.EnvAppNum), 10, 32); err == nil {
		v.appnum = int32(n)
	} else if p.manager != nil {
		v.appnum = max(0, p.manager.Identity().AppNum)
	}
	if v.universe = p.universe; v.universe > 0 {
		v.universe = max(v.universe, int32(p.engine.World().Size()))
	}
	if onOneMachine(p.engine.Job()) {
		v.wtimeIsGlobal = 1
	}
	if p.engine.Job().FaultTolerant {
		v.survives = 1
	}
	publishNamed()
}

// stays reports whether the process keeps its connections until it exits.
func (p *process) stays() bool { return p.exit != 0 && p.engine.Connected() && p.engine.MayLeave() }

// end closes what connects the process with others; meet says whether all processes do it at this moment.
func (p *process) end(meet bool) error {
	if p.ended {
		return nil
	}
	leave := p.engine.Leave
	if meet {
		leave = p.engine.Finish
	}
	if err := leave(); err != nil {
		return err
	}
	p.ended = true
	closePorts()
	if p.vendor != nil && p.vendor.Size() > 0 { // otherwise it has not been started
		if err := p.vendor.Finalize(); err != nil {
			return libimpi.Errorf(abi.MPI_ERR_OTHER, "%v", err)
		}
	}
	if p.link != nil {
		if err := p.link.Finalized(finishTime); err != nil {
			return libimpi.Errorf(abi.MPI_ERR_OTHER, "%v", err)
		}
		p.link.Close()
		p.link = nil
	}
	if p.agent != nil {
		patience := agentTime
		if !meet { // others go on, and it relays for them
			patience = math.MaxInt64
		}
		p.agent.Finish(patience)
		p.agent = nil
	}
	if p.session != nil {
		p.session.Fini() // a server that has gone ends nothing
		p.session = nil
	}
	if err := p.finishManaged(); err != nil {
		return libimpi.Errorf(abi.MPI_ERR_OTHER, "%v", err)
	}
	return nil
}

// rest is the state in which nothing of MPI is in use.
func (p *process) rest() {
	closeFast()
	setInUse(0)
	current.Store(nil)
	p.segment.Leave()
}

// minProcs is the least number of Go's processors.
const minProcs = 8

//export impi_Finalize
func impi_Finalize() int32 {
	const fn = "MPI_Finalize"
	p := started()
	if p == nil || p.world.Load() == nil {
		return fail(fn, nil, notStarted())
	}
	world, self := p.world.Load(), p.self.Load()
	// Attributes of MPI_COMM_SELF go first: libraries hang their own end on them (MPI 5.0, 11.2.4).
	if code := self.attrs.deleteAll(abi.MPI_COMM_SELF); code != 0 {
		return (&check{fn: fn, c: self}).refused(code, "delete")
	}
	defer endFreed()
	starting.Lock()
	defer starting.Unlock()
	if k := (&check{fn: fn, c: world}); !k.agree(nil) {
		return k.fail()
	}
	p.tellLeft()
	endFiles()
	err := p.recording.End(warn)
	if err != nil {
		return fail(fn, world, err)
	}
	if p.sessions == 0 && !p.stays() {
		err = p.end(true)
	} else {
		err = p.engine.World().Barrier()
	}
	if err != nil {
		return fail(fn, world, err)
	}
	p.tellAlgorithms()
	world.closeFast()
	self.closeFast()
	world.closeBoard()
	world.LeaveFiles()
	self.LeaveFiles()
	p.world.Store(nil)
	p.self.Store(nil)
	finalized.Store(true)
	if p.sessions == 0 {
		p.rest()
	}
	return 0
}

// tellAlgorithms says on rank 0 of a verbose job what algorithms are chosen by, and how often each algorithm of package
// coll was taken. Operations on boards (board.go) are not among them.
func (p *process) tellAlgorithms() {
	if environment(startup.EnvVerbose) == "" || p.engine.World().Rank() != 0 {
		return
	}
	parameters, from, _ := choose.ReadTold(environment(startup.EnvParameters))
	if from == "" || p.engine.Job().Clients > 1 {
		parameters, from = choose.BuiltIn, "built in"
	}
	fmt.Fprintf(os.Stderr, "libimpi: parameters of collectives (%s): %v\n", from, parameters)
	for _, o := range choose.Operations {
		var used []string
		for _, a := range o.Algorithms {
			if n := a.Used(); n > 0 {
				used = append(used, fmt.Sprintf("%s %d", a.Name, n))
			}
		}
		if len(used) > 0 {
			fmt.Fprintf(os.Stderr, "libimpi: %s: %s\n", o.Name, strings.Join(used, ", "))
		}
	}
}

// agentTime is how long the end of an agent waits for the last words of the others. All are in MPI_Finalize by then,
// and need no more than their turns on a core.
const agentTime = 10 * time.Second

// finishTime bounds the wait for the launcher's acknowledgement.
const finishTime = 30 * time.Second

//export impi_Initialized
func impi_Initialized(flag uintptr) int32 {
	k := check{fn: "MPI_Initialized"}
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	putFlag(flag, initialized.Load())
	return 0
}

//export impi_Finalized
func impi_Finalized(flag uintptr) int32 {
	k := check{fn: "MPI_Finalized"}
	if k.result(flag, "flag"); k.err != nil {
		return k.fail()
	}
	putFlag(flag, finalized.Load())
	return 0
}

//export impi_Abort
func impi_Abort(comm uintptr, errorcode int32) int32 {
	name := "no communicator"
	if c := commOf(comm); c != nil {
		name = c.String()
	}
	told := aborted(comm, errorcode)
	endJob(startup.Abort{Code: int(errorcode), Text: fmt.Sprintf("MPI_Abort(%d) on %s", errorcode, name), Error: told})
	return 0
}

// lost ends the job because a peer is gone.
func lost(err *libimpi.Error) { endJob(startup.Abort{Code: 1, Text: err.Error(), Answer: true}) }

// ending is set by the first thread that ends the job.
var ending atomic.Bool

// endJob ends every process of the job; it does not return. Our launcher says why, in one line for all ranks, and ends
// this process, too. Without it the process speaks for itself; another manager may have to end the others.
func endJob(why startup.Abort) {
	if !ending.CompareAndSwap(false, true) {
		select {}
	}
	p := started()
	if p == nil {
		p = joining.Load()
	}
	if why.Answer = why.Answer || p.lostPeer() != nil; why.Answer && why.Client == nil {
		why.Client = p.lostClient()
	}
	status := why.Code & 0xff
	if status == 0 {
		status = 1
	}
	why = p.awaitCause(why)
	told := p != nil && p.link != nil && p.link.Abort(why) == nil
	if !told {
		say(why)
	}
	if p != nil && p.among != nil && !why.Answer {
		p.among.Report(why.Text)
	}
	if p != nil && p.session != nil {
		p.session.Fail(why.Text, why.Client)
	}
	if p.abortManaged(status, why.Text) || told {
		time.Sleep(abortTime)
	}
	if p != nil && p.engine != nil {
		p.engine.Abort()
	}
	unix.Exit(status)
}

// say writes on stderr what no launcher says for us.
func say(why startup.Abort) {
	text := fmt.Sprintf("%s: %s\n", whoAmI(), why.Text)
	if why.Error != nil {
		for _, line := range why.Error.Lines("") {
			text += "    " + line + "\n"
		}
	}
	os.Stderr.WriteString(text)
}

// sayCrash tells the launcher of a crash of this process, which ends it, or whoever reads stderr.
func sayCrash(e *report.Error) {
	p := started()
	if p == nil {
		return
	}
	e.Hint = hint.OfSignal(e.Signal, e.Text, e.Line != 0)
	s := syscall.Signal(e.Signal)
	why := startup.Abort{Code: 128 + e.Signal, Error: e,
		Text: fmt.Sprintf("signal %d (%s, %v)%s", e.Signal, unix.SignalName(s), s, e.Where())}
	if link := p.link; link == nil || link.Abort(why) != nil {
		say(why)
	}
}

// abortTime is how long an aborting process waits to be ended by the launcher.
const abortTime = 3 * time.Second

//export impi_Query_thread
func impi_Query_thread(provided uintptr) int32 {
	k := check{fn: "MPI_Query_thread"}
	if !k.notStarted() {
		k.result(provided, "provided")
	}
	if k.err != nil {
		return k.fail()
	}
	put(provided, started().thread)
	return 0
}

//export impi_Is_thread_main
func impi_Is_thread_main(flag uintptr) int32 {
	k := check{fn: "MPI_Is_thread_main"}
	if !k.notStarted() {
		k.result(flag, "flag")
	}
	if k.err != nil {
		return k.fail()
	}
	putFlag(flag, unix.Gettid() == started().main)
	return 0
}

func main() {}
