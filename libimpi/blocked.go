package libimpi

import (
	"slices"
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/onesided"
)

// Blocked threads: those that wait and have slept, for whoever asks why a job does not go on (state.go). A thread
// enters itself when it is about to sleep for the first time in a wait, so that a short wait costs nothing, and leaves
// when the wait is over. What it waits for is noted by reference, and put into words only for who asks. A wait that
// never sleeps, since other messages come all the time, is entered after many of them.

// cause is what a thread waits for.
type cause struct {
	what        report.Kind
	source, tag int32              // ForMessage
	comm        *Comm              // nil: none
	request     *Request           // ForRequests; nil: those of a list, or none
	file        *File              // ForFile
	word        *uint64            // of shared memory; nil: none. Nobody reads it, but it tells whose word it is
	condition   onesided.Condition // ForWindow; nil: none
}

// forAny is the cause of a wait for any of some requests.
var forAny = cause{what: report.ForAny}

// forEnd and others are causes without anything more to say.
var (
	forEnd        = cause{what: report.ForEnd}
	forRoom       = cause{what: report.ForRoom}
	forConnection = cause{what: report.ForConnection}
)

// forRequest is the cause of a wait for a request: one of the program's, or a message of a collective operation.
func forRequest(r *Request) cause { return cause{what: report.ForRequests, request: r} }

// forMembers is the cause of a wait for the members of a communicator.
func forMembers(c *Comm) cause { return cause{what: report.ForMembers, comm: c} }

// Caller tells what a thread of the program is doing. The bridge has it; an engine without a program has none.
type Caller struct {
	// Call is the call of MPI that the calling thread is in, as a number that Name makes a name of. Engine lock held.
	Call func() uintptr
	Name func(call uintptr) string
	// Trace finds the addresses to which the functions return that have led the calling thread here, the innermost first.
	Trace func(returns []uintptr) int
	// Where is the place in the program that such addresses lead to, as it follows the name of a call: " at solver.c:118",
	// or "".
	Where func(returns []uintptr) string
}

// blocked is a thread that waits. The engine's lock guards it.
type blocked struct {
	cause cause
	ids   []uint64 // ForAny and ForRequests: some of the requests of the call
	given int      // and how many it has
	call  uintptr
	since time.Time

	asleep bool // since the bell was so
	bell   uint32

	wanted  bool // somebody has asked for its way into the wait
	traced  bool
	returns []uintptr // nil: not looked for, or not found
}

const (
	// mostReturns is how many addresses are kept of a thread: the library itself has some.
	mostReturns = 24
	// traceTime bounds the wait for threads that look for their ways, which takes some microseconds.
	traceTime = 20 * time.Millisecond
	// movesMany is how many fruitful polls a wait has had before it counts as one that is long.
	movesMany = 1024
)

// enter notes that a thread waits, unless it has. ids are the requests of its call.
func (w *waiter) enter(e *Engine, ids []uint64) {
	if w.blocked != nil {
		return
	}
	var b *blocked
	if n := len(e.waiting.unused); n > 0 {
		b, e.waiting.unused = e.waiting.unused[n-1], e.waiting.unused[:n-1]
	} else {
		b = new(blocked)
	}
	b.cause, b.since, b.given = w.why, w.since, len(ids)
	b.ids = append(b.ids[:0], ids[:min(len(ids), report.Most)]...)
	if b.since.IsZero() {
		b.since = time.Now()
	}
	if e.caller.Call != nil {
		b.call = e.caller.Call()
	}
	w.blocked = b
	e.waiting.blocked = append(e.waiting.blocked, b)
}

// leave notes that the wait is over.
func (w *waiter) leave(e *Engine) {
	b := w.blocked
	if b == nil {
		return
	}
	i := slices.Index(e.waiting.blocked, b)
	e.waiting.blocked = slices.Delete(e.waiting.blocked, i, i+1)
	b.cause, b.returns, b.wanted, b.traced = cause{}, nil, false, false
	e.waiting.unused = append(e.waiting.unused, b)
	e.waiting.moves++
}

// moved notes that something has come while the thread waited.
func (w *waiter) moved(e *Engine, ids []uint64) {
	w.reset()
	if w.blocked != nil {
		e.waiting.moves++
	} else if w.moves++; w.moves == movesMany {
		w.enter(e, ids)
	}
}

// notice notes that a poll on behalf of blocked threads has brought something.
func (e *Engine) notice(did bool) {
	if did {
		e.waiting.moves++
	}
}

// trace finds the thread's way into the wait, once, if somebody has asked for it. Engine lock held, given up
// meanwhile.
func (b *blocked) trace(e *Engine) {
	if !b.wanted || b.traced {
		return
	}
	e.mu.Unlock()
	returns := make([]uintptr, mostReturns)
	returns = returns[:e.caller.Trace(returns)]
	e.mu.Lock()
	b.returns, b.traced = returns, true
}

// traceAll makes all threads that sleep find their ways into their waits, and waits for that, but not for long: a
// thread may have to share its core. Called without the lock.
func (e *Engine) traceAll() {
	if e.caller.Trace == nil {
		return
	}
	for end := time.Now().Add(traceTime); e.wantTraces() && time.Now().Before(end); {
		time.Sleep(traceTime / 100)
	}
}

// wantTraces wakes threads whose ways are not known, and reports whether there are any.
func (e *Engine) wantTraces() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	missing, wake := false, false
	for _, b := range e.waiting.blocked {
		if b.traced {
			continue
		}
		missing, wake = true, wake || !b.wanted
		b.wanted = true
	}
	if wake {
		e.ring()
	}
	return missing
}
