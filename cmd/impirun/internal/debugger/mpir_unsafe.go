package debugger

import _ "unsafe" // for go:linkname

// MPIR, the interface by which parallel debuggers find the processes of a job (The MPIR Process Acquisition Interface
// 1.1): the debugger starts the launcher, sets MPIR_being_debugged in it, and stops at MPIR_Breakpoint, where
// MPIR_proctable says who runs where. These are symbols of C. go:linkname gives variables of ours their names; the
// linker keeps the launcher's symbols for their sake (cmake/Stage.cmake). Go's memory stays where it is.

//go:linkname beingDebugged MPIR_being_debugged
var beingDebugged int32

//go:linkname debugState MPIR_debug_state
var debugState int32

//go:linkname proctable MPIR_proctable
var proctable *procdesc

//go:linkname proctableSize MPIR_proctable_size
var proctableSize int32

// partialAttach says, by being there, that a debugger need not attach to all ranks: those that it leaves alone go on by
// themselves.
//
//go:linkname partialAttach MPIR_partial_attach_ok
var partialAttach int32

// procdesc is MPIR_PROCDESC.
type procdesc struct {
	host, executable *byte // C strings
	pid              int32
}

// spawned is MPIR_DEBUG_SPAWNED.
const spawned = 1

// breakpoint is where the debugger stops.
//
//go:linkname breakpoint MPIR_Breakpoint
//go:noinline
func breakpoint() {}

// Rank is a process of the job, as a parallel debugger has to know it.
type Rank struct {
	Host, Program string
	PID           int
}

// BeingDebugged reports whether a parallel debugger has started this launcher.
func BeingDebugged() bool { return beingDebugged != 0 || partialAttach != 0 }

// Publish shows the processes to that debugger, in rank order, and returns when it lets the launcher go on. They have
// been started, and wait in MPI_Init for what the launcher says next.
func Publish(ranks []Rank) {
	table := make([]procdesc, len(ranks))
	for i, r := range ranks {
		table[i] = procdesc{cString(r.Host), cString(r.Program), int32(r.PID)}
	}
	if len(table) > 0 {
		proctable = &table[0]
	}
	proctableSize, debugState = int32(len(table)), spawned
	breakpoint()
}

func cString(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}
