package onesided

import (
	"fmt"
	"strings"

	"github.com/libimpi/libimpi/abi"
)

// Epochs is the state of a window at one process (MPI 5.0, 12.5). Each call of synchronization asks it first, and then
// does what it says; a refusal names the state and the call that would be right. An access epoch and an exposure epoch
// by MPI_Win_post go on at the same time, two access epochs do not.
//
// A fence may begin an epoch; whether it does turns out when the first communication follows. Until then any other
// epoch may begin instead.
type Epochs struct {
	view    *View
	targets []Target // by rank: how each may be accessed
	exposed []int    // ranks of the group of MPI_Win_post
	started []int    // ranks of the group of MPI_Win_start
}

// Hold is how a process may access a target.
type Hold = uint32

const (
	NotHeld   Hold = iota
	Open           // by a fence, or MPI_Win_start
	Shared         // locked
	Exclusive      // locked
	Unchecked      // locked with MPI_MODE_NOCHECK: nobody has been asked
)

// What access epoch there is (View.Access).
const (
	NoAccess uint32 = iota
	Fenced          // a fence has been called, and nothing else yet
	InFence
	InStart
	InLocks
	InLockAll
)

// NewEpochs is the state of a window that has just been made.
func NewEpochs(v *View, targets []Target) *Epochs { return &Epochs{view: v, targets: targets} }

// state says in which state the window is, for a user.
func (s *Epochs) state() string {
	text := ""
	switch s.view.Access {
	case NoAccess:
		text = "is in no access epoch"
	case Fenced:
		text = "is between two calls of MPI_Win_fence"
	case InFence:
		text = "is in the epoch of MPI_Win_fence, which has communication under way"
	case InStart:
		text = fmt.Sprintf("is in the access epoch of MPI_Win_start for %s", ranks(s.started))
	case InLocks:
		var held []int
		for r := range s.targets {
			if s.targets[r].Hold != NotHeld {
				held = append(held, r)
			}
		}
		text = fmt.Sprintf("has locked %s by MPI_Win_lock", ranks(held))
	case InLockAll:
		text = "is locked at all ranks by MPI_Win_lock_all"
	}
	if s.view.Posted != 0 {
		text += fmt.Sprintf(", and exposed by MPI_Win_post to %s", ranks(s.exposed))
	}
	return "the window " + text
}

func ranks(list []int) string {
	switch {
	case len(list) == 0:
		return "no rank"
	case len(list) == 1:
		return fmt.Sprintf("rank %d", list[0])
	case len(list) > 8:
		return fmt.Sprintf("%d ranks", len(list))
	}
	return fmt.Sprintf("ranks %v", list)
}

func (s *Epochs) refuse(hint string) *Error {
	return errorf(abi.MPI_ERR_RMA_SYNC, "%s: %s", s.state(), hint)
}

// Access is asked before communication with a target.
func (s *Epochs) Access(target int) *Error {
	switch s.view.Access {
	case Fenced:
		s.view.Access = InFence
		return nil
	case InFence, InLockAll:
		return nil
	case NoAccess:
		return s.refuse("call MPI_Win_fence, MPI_Win_start, MPI_Win_lock or MPI_Win_lock_all first")
	}
	if s.targets[target].Hold != NotHeld {
		return nil
	}
	if s.view.Access == InStart {
		return s.refuse(fmt.Sprintf("the group of MPI_Win_start must contain target rank %d", target))
	}
	return s.refuse(fmt.Sprintf("call MPI_Win_lock for target rank %d first", target))
}

// Request is Access for communication that answers a request.
func (s *Epochs) Request(target int) *Error {
	if s.view.Access != InLocks && s.view.Access != InLockAll {
		return s.refuse("calls with a request are for epochs of MPI_Win_lock and MPI_Win_lock_all only")
	}
	return s.Access(target)
}

// Fence is asked by MPI_Win_fence.
func (s *Epochs) Fence() *Error {
	switch {
	case s.view.Posted != 0:
		return s.refuse("call MPI_Win_wait before MPI_Win_fence")
	case s.view.Access == InStart:
		return s.refuse("call MPI_Win_complete before MPI_Win_fence")
	case s.view.Access == InLocks:
		return s.refuse("call MPI_Win_unlock before MPI_Win_fence")
	case s.view.Access == InLockAll:
		return s.refuse("call MPI_Win_unlock_all before MPI_Win_fence")
	}
	return nil
}

// Fenced notes that a fence is done; last says that no epoch follows (MPI_MODE_NOSUCCEED).
func (s *Epochs) Fenced(last bool) {
	if s.view.Access = Fenced; last {
		s.view.Access = NoAccess
	}
}

// begins is asked by what begins an access epoch.
func (s *Epochs) begins(call string) *Error {
	switch s.view.Access {
	case NoAccess, Fenced:
		return nil
	case InFence:
		return s.refuse("call MPI_Win_fence, with MPI_MODE_NOSUCCEED, before " + call)
	case InStart:
		return s.refuse("call MPI_Win_complete before " + call)
	case InLocks:
		return s.refuse("call MPI_Win_unlock before " + call)
	}
	return s.refuse("call MPI_Win_unlock_all before " + call)
}

// Start begins an access epoch to some ranks.
func (s *Epochs) Start(group []int) *Error {
	if err := s.begins("MPI_Win_start"); err != nil {
		return err
	}
	s.view.Access, s.started = InStart, group
	for _, r := range group {
		s.targets[r].Hold = Open
	}
	return nil
}

// Started are the ranks of the epoch that MPI_Win_complete is to end.
func (s *Epochs) Started() ([]int, *Error) {
	if s.view.Access != InStart {
		return nil, s.refuse("MPI_Win_complete ends what MPI_Win_start begins")
	}
	return s.started, nil
}

// Completed ends it.
func (s *Epochs) Completed() {
	for _, r := range s.started {
		s.targets[r].Hold = NotHeld
	}
	s.view.Access, s.started = NoAccess, nil
}

// Post begins an exposure epoch to some ranks.
func (s *Epochs) Post(group []int) *Error {
	switch {
	case s.view.Posted != 0:
		return s.refuse("call MPI_Win_wait before the next MPI_Win_post")
	case s.view.Access == InFence:
		return s.refuse("call MPI_Win_fence, with MPI_MODE_NOSUCCEED, before MPI_Win_post")
	}
	s.view.Posted, s.exposed = 1, group
	return nil
}

// Posted are the ranks of the epoch that call, MPI_Win_wait or MPI_Win_test, is to end.
func (s *Epochs) Posted(call string) ([]int, *Error) {
	if s.view.Posted == 0 {
		return nil, s.refuse(call + " ends what MPI_Win_post begins")
	}
	return s.exposed, nil
}

// Waited ends it.
func (s *Epochs) Waited() { s.view.Posted, s.exposed = 0, nil }

// Lock begins an access epoch to one rank.
func (s *Epochs) Lock(target int, h Hold) *Error {
	if s.view.Access != InLocks {
		if err := s.begins("MPI_Win_lock"); err != nil {
			return err
		}
	}
	if s.targets[target].Hold != NotHeld {
		return s.refuse(fmt.Sprintf("call MPI_Win_unlock before rank %d is locked again", target))
	}
	s.view.Access, s.targets[target].Hold = InLocks, h
	s.view.Locks++
	return nil
}

// Locked is how a rank is locked that MPI_Win_unlock is to unlock.
func (s *Epochs) Locked(target int) (Hold, *Error) {
	switch {
	case s.view.Access == InLockAll:
		return NotHeld, s.refuse("call MPI_Win_unlock_all")
	case s.view.Access != InLocks || s.targets[target].Hold == NotHeld:
		return NotHeld, s.refuse(fmt.Sprintf("rank %d has not been locked by MPI_Win_lock", target))
	}
	return s.targets[target].Hold, nil
}

// Unlocked ends the epoch of one rank.
func (s *Epochs) Unlocked(target int) {
	s.targets[target].Hold = NotHeld
	if s.view.Locks--; s.view.Locks == 0 {
		s.view.Access = NoAccess
	}
}

// LockAll begins an access epoch to all ranks.
func (s *Epochs) LockAll(h Hold) *Error {
	if err := s.begins("MPI_Win_lock_all"); err != nil {
		return err
	}
	s.view.Access = InLockAll
	for r := range s.targets {
		s.targets[r].Hold = h
	}
	return nil
}

// LockedAll is how the ranks are locked that MPI_Win_unlock_all is to unlock.
func (s *Epochs) LockedAll() (Hold, *Error) {
	if s.view.Access != InLockAll {
		return NotHeld, s.refuse("MPI_Win_unlock_all ends what MPI_Win_lock_all begins")
	}
	return s.targets[0].Hold, nil
}

// UnlockedAll ends it.
func (s *Epochs) UnlockedAll() {
	for r := range s.targets {
		s.targets[r].Hold = NotHeld
	}
	s.view.Access = NoAccess
}

// Flush is asked by a flush of one rank, FlushAll by one of all.
func (s *Epochs) Flush(target int, call string) *Error {
	if err := s.FlushAll(call); err != nil {
		return err
	}
	if s.targets[target].Hold == NotHeld {
		return s.refuse(fmt.Sprintf("call MPI_Win_lock for rank %d before %s", target, call))
	}
	return nil
}

// FlushAll is asked by MPI_Win_flush_all and MPI_Win_flush_local_all.
func (s *Epochs) FlushAll(call string) *Error {
	if s.view.Access != InLocks && s.view.Access != InLockAll {
		return s.refuse("call MPI_Win_lock or MPI_Win_lock_all before " + call)
	}
	return nil
}

// Free is asked by MPI_Win_free.
func (s *Epochs) Free() *Error {
	switch {
	case s.view.Posted != 0:
		return s.refuse("call MPI_Win_wait before MPI_Win_free")
	case s.view.Access == InFence:
		return s.refuse("call MPI_Win_fence before MPI_Win_free")
	}
	return s.begins("MPI_Win_free")
}

// Epoch says in which epoch the window is, in words, and names the targets that it may access; "" if it is in none, or
// only between two fences. Another thread may be in a call of it: then that alone is said. Called without locks.
func (w *Window) Epoch() (text string, targets []int) {
	if !w.mu.TryLock() {
		return "another call on the window is being made", nil
	}
	defer w.mu.Unlock()
	s := w.epochs
	if a := s.view.Access; (a == NoAccess || a == Fenced) && s.view.Posted == 0 {
		return "", nil
	}
	for r := range s.targets {
		if s.targets[r].Hold != NotHeld {
			targets = append(targets, r)
		}
	}
	return strings.TrimPrefix(s.state(), "the window "), targets
}
