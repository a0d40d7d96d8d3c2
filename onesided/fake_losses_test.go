package onesided

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
)

// deaths are those of processes of a job that is fault tolerant.
type deaths struct {
	of     []atomic.Bool // by process
	victim int           // who dies at its step at; at 0: nobody
	at     int64
	steps  atomic.Int64 // of the victim, so far
}

// dead is what the goroutine of a process that dies panics with.
type dead struct{}

// step is where a process may die: a call of its engine. Others notice when they make progress.
func (e *FakeEngine) step() {
	d := &e.f.deaths
	if e.member != nil && e.Me == d.victim && d.steps.Add(1) == d.at { // to make a window needs all members
		d.of[e.Me].Store(true)
		panic(dead{})
	}
}

// untilItDies runs a body until the process dies.
func (e *FakeEngine) untilItDies(body func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(dead); !ok {
				panic(r)
			}
		}
	}()
	body()
}

// mourn tells the window of processes that have died, and ends their messages. Lock held.
func (e *FakeEngine) mourn() {
	for r := range e.f.engines {
		if e.member == nil || !e.f.deaths.of[r].Load() || e.known[r] {
			continue
		}
		e.known[r] = true
		e.member.Lost(r, abi.MPIX_ERR_PROC_FAILED, fmt.Sprintf("process %d is lost", r))
		e.endWith(r)
	}
}

// loss is why nothing can be had of a process that has died; nil: it lives, as far as this one knows.
func (e *FakeEngine) loss(r int) error {
	if !e.known[r] {
		return nil
	}
	return errorf(abi.MPIX_ERR_PROC_FAILED, "process %d is lost", r)
}

// anyLoss is loss for any process.
func (e *FakeEngine) anyLoss() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r := range e.known {
		if err := e.loss(r); err != nil {
			return err
		}
	}
	return nil
}

// endWith ends messages from and to a process that has died.
func (e *FakeEngine) endWith(r int) {
	var ended []packet
	e.posted = slices.DeleteFunc(e.posted, func(p receive) bool {
		if p.from == r {
			ended = append(ended, p.packet)
		}
		return p.from == r
	})
	to := e.f.engines[r]
	to.inbox.Lock()
	for _, list := range [][]packet{to.inbox.packets, to.inbox.early} {
		for i, p := range list {
			if p.from == e.Me && p.end != nil && !p.ended {
				ended = append(ended, p)
				list[i].end = nil
			}
		}
	}
	to.inbox.Unlock()
	for _, p := range ended {
		p.end(false, e.loss(r))
	}
}
