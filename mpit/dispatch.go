package mpit

import (
	"slices"
	"sync"
)

// An event happens deep inside the library, under locks, and the program's function may be called only where none is
// held. So what happens is noted, with the time, and the calls come a little later, in order:
//
//	Note      something has happened: noted for each registration that wants it -> waiting
//	Begin     a thread that is about to leave the library takes over the calls; one at a time
//	Next      the next call -> the thread makes it -> Done
//	End       another thread may take over
//
// What finds no room is counted, and the registration's handler of dropped events hears of it before any later event
// is told.

// Room is how many events wait for their calls at most.
const Room = 1024

// SafetyLevels are how many levels of callback safety there are, from the one that asks for least.
const SafetyLevels = 4

// Function is a function of the program and the pointer that it gets. No function has number 0.
type Function struct{ Call, Data uintptr }

// Registration is a registration handle. The dispatcher's lock guards it.
type Registration struct {
	Event  *Event
	Handle uintptr // as the program holds it
	Of     any     // the object that it is bound to; nil: none

	functions [SafetyLevels]Function
	dropped   uintptr // the handler of dropped events
	lost      int64   // events since it was last called
	lostAt    uint64  // the last of them
	calls     int     // under way
	freed     bool
	last      Function // to be called when no event comes any more
}

// Occurrence is one event for one registration.
type Occurrence struct {
	To     *Registration
	Time   int64
	Values Values

	nth uint64 // of all that have happened
}

// Call is a call of a function of the program.
type Call struct {
	Function
	To    *Registration
	Event *Occurrence // nil: of the handler of dropped events
	Lost  int64       // which is told this
}

// Dispatcher keeps registrations, and what has happened for them.
type Dispatcher struct {
	Clock func() int64 // nanoseconds
	// Alert is told whether calls wait for somebody who makes them. It is called with the dispatcher's lock held.
	Alert func(waiting bool)

	mu            sync.Mutex
	registrations []*Registration
	waiting       [Room]Occurrence // a ring: count from first on
	first, count  int
	nth           uint64
	calling       bool // somebody is between Begin and End
}

// Add adds a registration, which has no functions yet.
func (d *Dispatcher) Add(r *Registration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.registrations = append(d.registrations, r)
}

// Wants reports whether anybody has a function for events of a kind.
func (d *Dispatcher) Wants(kind Kind) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.registrations, func(r *Registration) bool {
		return r.Event.Kind == kind && r.function().Call != 0
	})
}

// Set makes f the function for a level of safety. Function 0 takes the one that is there away.
func (d *Dispatcher) Set(r *Registration, level int, f Function) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r.functions[level] = f
}

// Function is the one for a level of safety.
func (d *Dispatcher) Function(r *Registration, level int) Function {
	d.mu.Lock()
	defer d.mu.Unlock()
	return r.functions[level]
}

// SetDropped makes f the handler of dropped events. It hears of those that are dropped from now on.
func (d *Dispatcher) SetDropped(r *Registration, f uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.dropped == 0 || f == 0 {
		r.lost = 0
	}
	r.dropped = f
}

// Free ends a registration: no event is told any more. last is called when that is certain. If it is at once, Free
// answers the call, and else Done will.
func (d *Dispatcher) Free(r *Registration, last Function) (call Function) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.registrations = slices.DeleteFunc(d.registrations, func(other *Registration) bool { return other == r })
	r.freed, r.functions, r.last = true, [SafetyLevels]Function{}, last
	if r.calls > 0 {
		return Function{}
	}
	return last
}

// function is the one with the lowest level of safety: calls are made where every level will do.
func (r *Registration) function() Function {
	for _, f := range r.functions {
		if f.Call != 0 {
			return f
		}
	}
	return Function{}
}

// Note notes that something has happened, to an object that registrations may be bound to.
func (d *Dispatcher) Note(kind Kind, of any, v Values) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nth++
	for _, r := range d.registrations {
		if r.Event.Kind != kind || r.Event.OfComm && r.Of != of || r.function().Call == 0 {
			continue
		}
		if d.count < Room {
			d.waiting[(d.first+d.count)%Room] = Occurrence{r, d.Clock(), v, d.nth}
			d.count++
		} else if r.dropped != 0 {
			r.lost++
			r.lostAt = d.nth
		}
		d.Alert(true)
	}
}

// Begin makes the caller the one who makes the calls, and returns the end of what Next answers: a function that makes
// events itself would otherwise go on for ever. It fails if somebody else is at it, or the caller itself further down
// on its stack.
func (d *Dispatcher) Begin() (end uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calling {
		return 0, false
	}
	d.calling = true
	return d.nth, true
}

// Next returns the next call, none if there is none.
func (d *Dispatcher) Next(end uint64) (c Call, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.count > 0 && d.waiting[d.first].To.function().Call == 0 { // freed since, or without a function now
		d.pop()
	}
	for _, r := range d.registrations {
		f := r.function()
		if r.lost > 0 && f.Call != 0 && (d.count == 0 || d.waiting[d.first].nth > r.lostAt) {
			c = Call{Function{r.dropped, f.Data}, r, nil, r.lost}
			r.lost = 0
			r.calls++
			return c, true
		}
	}
	if d.count == 0 || d.waiting[d.first].nth > end {
		return Call{}, false
	}
	o := d.pop()
	o.To.calls++
	return Call{o.To.function(), o.To, &o, 0}, true
}

// pop takes the first event that waits. The lock is held.
func (d *Dispatcher) pop() Occurrence {
	o := d.waiting[d.first]
	d.waiting[d.first] = Occurrence{}
	d.first = (d.first + 1) % Room
	d.count--
	return o
}

// Done says that a call is over, and returns the one to make if it was the last of a registration that is freed.
func (d *Dispatcher) Done(c Call) (last Function) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.To.calls--; c.To.calls == 0 && c.To.freed {
		last, c.To.last = c.To.last, Function{}
	}
	return last
}

// End lets others make calls.
func (d *Dispatcher) End() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calling = false
	d.Alert(d.count > 0)
}
