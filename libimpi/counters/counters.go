// Package counters is what is counted for tools (MPI 5.0, 15.3): messages by where the process at the other end is,
// waits, and peaks of levels. The engine counts under its lock (libimpi/counters.go), which guards all of this.
package counters

import (
	"slices"
	"time"
)

// Class is where the process at the other end of a message is.
type Class int

// The classes.
const (
	Self    Class = iota
	Machine       // another process of this machine, of another job, too
	Client        // of this client, on another machine
	Abroad        // of another client, or of another job on another machine
	Classes
)

// Traffic is messages, and the bytes of their data.
type Traffic struct{ Messages, Bytes uint64 }

// Add counts a message.
func (t *Traffic) Add(bytes int64) {
	t.Messages++
	t.Bytes += uint64(bytes)
}

// Counters count what has happened while the engine was watched.
type Counters struct {
	Sent, Received    [Classes]Traffic // by Class; those of collective operations and of windows, too
	Eager, Rendezvous uint64           // messages that were sent whole, and those of which the rest waited
	Matches           uint64
	Packed, Unpacked  uint64 // bytes
	Unexpected        uint64 // messages that came before their receive
	Waits             uint64
	Waiting           time.Duration
	Collectives       uint64 // that have started
}

// AddSent counts a message that leaves, whole or with the rest to follow.
func (c *Counters) AddSent(to Class, bytes int64, whole bool) {
	c.Sent[to].Add(bytes)
	if whole {
		c.Eager++
	} else {
		c.Rendezvous++
	}
}

// AddReceived counts a message that has found its receive.
func (c *Counters) AddReceived(from Class, bytes int64) {
	c.Received[from].Add(bytes)
	c.Matches++
}

// AddWait counts a wait that is over.
func (c *Counters) AddWait(took time.Duration) {
	c.Waits++
	c.Waiting += took
}

// Comm counts what the program does on one communicator.
type Comm struct {
	Sent, Received Traffic
	Collectives    uint64
}

// Levels are what there is of something at a moment.
type Levels struct {
	Unexpected, Posted int
	UnexpectedBytes    int64
	Active             int // operations that are not complete
	Requests           int // for which there is memory
}

// Peak is the largest value of a level, while it is followed.
type Peak struct{ Most int }

// Peaks are those that are followed.
type Peaks []*Peak

// Follow makes a peak grow from now on, from the level of this moment.
func (p *Peaks) Follow(peak *Peak, level int) {
	*p = append(*p, peak)
	peak.Most = max(peak.Most, level)
}

// Unfollow freezes a peak.
func (p *Peaks) Unfollow(peak *Peak) {
	if i := slices.Index(*p, peak); i >= 0 {
		*p = slices.Delete(*p, i, i+1)
	}
}

// Grow says what the level is.
func (p Peaks) Grow(level int) {
	for _, peak := range p {
		peak.Most = max(peak.Most, level)
	}
}
