package main

// #include "executor/fast.h"
// #include "executor/window.h"
// #include "shim/shim.h"
import "C"

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/handle"
	"github.com/libimpi/libimpi/gobridge/observe"
	"github.com/libimpi/libimpi/libimpi"
	"github.com/libimpi/libimpi/libimpi/checks"
	"github.com/libimpi/libimpi/libimpi/trace"
	"github.com/libimpi/libimpi/mpit"
	"github.com/libimpi/libimpi/startup"
	"golang.org/x/sys/unix"
)

// Short messages and collective operations inside a machine are C's, which counts nothing. While a tool has started a
// variable that is counted, or waits for events, communicators are hidden from C: it then leaves every call to the
// engine, where messages are counted. When nobody looks any more they are shown again. So nothing is paid for counting
// that nobody has asked for. With IMPI_CHECK they are hidden, too, and so are windows: C checks nothing.

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
	if !known.hidden && !c.isShut {
		showHandle(&C.impi_fast.comms[slot].handle, c.handle)
	}
}

// shut hides a communicator from C for good.
func (c *communicator) shut() {
	known.Lock()
	defer known.Unlock()
	c.isShut = true
	if slot := fastSlot(c.handle); slot < C.IMPI_FAST_COMMS && known.of[slot] == c {
		showHandle(&C.impi_fast.comms[slot].handle, 0)
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
		case c == nil, c.isShut:
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

// callers are the threads that are in calls of MPI (IMPI_CHECK=threads).
var callers struct {
	sync.Mutex
	inside int // calls of one thread: a callback makes calls, too
	thread int // which it is
	call   int32
	said   map[string]bool
}

// impi_thread_enters looks whether the calling thread may call MPI now, by the level of thread support that the program
// has. Sessions have levels of their own, which are not looked at.
//
//export impi_thread_enters
func impi_thread_enters(call int32) {
	p := started()
	if p == nil || !initialized.Load() || finalized.Load() || hadSessions.Load() ||
		p.thread == abi.MPI_THREAD_MULTIPLE || elsewhere.Load() > 0 || fromAnyThread(abi.CallNumbered(int(call)).Name) {
		return
	}
	me, wrong := unix.Gettid(), ""
	callers.Lock()
	switch {
	case p.thread != abi.MPI_THREAD_SERIALIZED && me != p.main:
		level := "MPI_THREAD_SINGLE"
		if p.thread == abi.MPI_THREAD_FUNNELED {
			level = "MPI_THREAD_FUNNELED"
		}
		wrong = "by another thread than the one that called MPI_Init, and the level of thread support is " + level
	case callers.inside > 0 && callers.thread != me:
		wrong = fmt.Sprintf("while another thread is in %s, and the level of thread support is MPI_THREAD_SERIALIZED",
			abi.CallNumbered(int(callers.call)).Name)
	default:
		callers.inside++
		callers.thread, callers.call = me, call
	}
	callers.Unlock()
	if wrong != "" {
		sayOnce(abi.CallNumbered(int(call)).Name, returnsHere(), wrong)
	}
}

// sayOnce says what is wrong with a call at some place of the program. To find the place takes long.
func sayOnce(call string, returns []uintptr, wrong string) {
	callers.Lock()
	defer callers.Unlock()
	if callers.said == nil {
		callers.said = map[string]bool{}
	}
	way := fmt.Sprint(call, returns)
	if callers.said[way] {
		return
	}
	callers.said[way] = true
	if place := call + whereIs(returns); !callers.said[place] {
		callers.said[place] = true
		fmt.Fprintf(os.Stderr, "%s: IMPI_CHECK: %s is called %s\n", whoAmI(), place, wrong)
	}
}

// elsewhere is how many functions of the program threads of the library call at the moment: the calls of MPI that these
// make are the library's affair.
var elsewhere atomic.Int32

// impi_thread_leaves is the end of impi_thread_enters.
//
//export impi_thread_leaves
func impi_thread_leaves() {
	callers.Lock()
	defer callers.Unlock()
	if callers.inside > 0 && callers.thread == unix.Gettid() {
		callers.inside--
	}
}

// leavesForGood notes that a thread may never return from its call: its error handler may jump out of it.
func leavesForGood() {
	callers.Lock()
	defer callers.Unlock()
	callers.inside = 0
}

// fromAnyThread reports whether each thread may call a function at any time (MPI 5.0, 11.4), or the function looks at
// nothing but its arguments.
func fromAnyThread(name string) bool {
	for _, one := range []string{"Initialized", "Finalized", "Query_thread", "Is_thread_main", "Get_version",
		"Get_library_version", "Info_", "Session_", "Error_", "Add_error_", "Remove_error_", "Abort", "Status_", "Get_count",
		"Get_elements", "Get_address", "T_"} {
		if strings.HasPrefix(name, "MPI_"+one) {
			return true
		}
	}
	return false
}

// hadSessions: the program has begun a session.
var hadSessions atomic.Bool

// conceal hides from C what it must leave to the engine now.
func conceal(e *libimpi.Engine) {
	checked := e.Checks() != 0
	if hide(watched.Load() || checked); !checked {
		return
	}
	for i := range C.impi_windows.of {
		atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&C.impi_windows.of[i])), nil)
	}
}

// inspect says what is checked of the program from now on.
func inspect(e *libimpi.Engine, s checks.Set) {
	e.SetChecks(s)
	inspecting.Store(s.Has(checks.Buffers | checks.Leaks | checks.Threads))
	if s.Has(checks.Leaks) {
		handle.Observe(noteCreation)
	}
	if s.Has(checks.Threads) {
		atomic.OrInt32((*int32)(unsafe.Pointer(&C.impi_mode)), C.IMPI_OBSERVED|C.IMPI_THREADS)
	} else {
		atomic.AndInt32((*int32)(unsafe.Pointer(&C.impi_mode)), ^C.IMPI_THREADS)
	}
	conceal(e)
	e.AdoptQuick()
}

// inspecting: operations of the program are noted, with what they do with its memory: package checks.
//
//	arguments    -> reads, writes
//	an operation -> begins -> over
//	a request    -> starts -> give, or over if it is not made; a persistent one -> keep
var inspecting atomic.Bool

// used is what the call does with memory.
func (k *check) used() *checks.Use {
	if k.use == nil {
		k.use = checks.New(k.fn, returnsHere())
	}
	return k.use
}

// reads notes that a call sends what count elements are.
func (k *check) reads(name string, p uintptr, count int64, t *datatype.Type) {
	if k.err == nil {
		k.used().Reads(name, at(p), count, t)
	}
}

// writes notes that a call receives count elements.
func (k *check) writes(name string, p uintptr, count int64, t *datatype.Type) {
	if k.err == nil {
		k.used().Writes(name, at(p), count, t)
	}
}

// begins reports whether a call may begin that is over when it returns.
func (k *check) begins() bool { return k.mayBegin(false) }

// starts reports whether a call may start an operation that goes on.
func (k *check) starts() bool { return k.mayBegin(true) }

func (k *check) mayBegin(goesOn bool) bool {
	if k.err == nil && k.use != nil {
		k.err = engine().Begin(k.use, goesOn)
	}
	return k.err == nil
}

// over is the end of a call that has begun; it returns the call's code.
func (k *check) over(code int32) int32 {
	if k.use != nil {
		engine().Stop(k.use)
	}
	return code
}

// give stores the request of an operation that has started.
func (k *check) give(request uintptr, id uint64) {
	k.track(id)
	put(request, id)
}

func (k *check) track(id uint64) {
	if !inspecting.Load() {
		return
	}
	if k.use == nil { // of an operation without memory that is looked at
		engine().Begin(k.used(), false)
	}
	engine().Track(id, k.use)
}

// keep stores a persistent request.
func (k *check) keep(request uintptr, id uint64) {
	if inspecting.Load() {
		engine().Track(id, k.used().Keeps())
	}
	put(request, id)
}

// watched says whether the engine counts.
var watched atomic.Bool

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
