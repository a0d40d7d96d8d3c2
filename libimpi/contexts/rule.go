package contexts

import (
	"errors"
	"math"
)

// IMPI's rule (4.3). It chooses the same id for two communicators whose members say what they know at the same time, as
// threads may do, and no process can object afterwards. So a process takes part in one choice at a time. In another
// that it is asked for meanwhile it says a number at which IMPI makes all members fail, whoever they are. To wait
// instead could be for ever, where two processes come to the same two choices in different orders.

// Most is the largest context id two clients may agree on (IMPI 0.0, 4.3).
const Most = 18446744073709551600

// busy is what a process says that makes a choice already.
const busy = math.MaxUint64

// ErrBusy says that a process has taken part in another choice at the same time.
var ErrBusy = errors.New("a process was making another communicator at the same time")

// Choice is a choice by IMPI's rule, as one process sees it. End ends it in any case.
type Choice struct {
	ids  *IDs
	mine bool // the process takes part in this one
}

// Choose begins a choice.
func (ids *IDs) Choose() Choice {
	c := Choice{ids, !ids.choosing}
	ids.choosing = true
	return c
}

// Offer is what this process contributes.
func (c *Choice) Offer() uint64 {
	if !c.mine {
		return busy
	}
	return c.ids.Largest | 1
}

// Take notes the largest of all contributions and returns the id that follows.
func (c *Choice) Take(most uint64) (uint64, error) {
	switch {
	case most == busy:
		return 0, ErrBusy
	case most >= Most-1:
		return 0, ErrNoneLeft
	}
	c.ids.Largest = max(c.ids.Largest, most+2)
	return most + 1, nil
}

// End lets the process take part in the next choice.
func (c *Choice) End() {
	if c.mine {
		c.ids.choosing, c.mine = false, false
	}
}
