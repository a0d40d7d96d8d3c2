package onesided

import (
	"sync/atomic"
	"unsafe"
)

// View is what the bridge's C sees of a window, and Target of one of its members. They may stand in memory of C.
type View struct {
	Handle  uint64         // of the window; 0 while C has nothing to do with it
	Targets unsafe.Pointer // Count of them
	Access  uint32         // NoAccess ...
	Locks   uint32         // how many targets are locked by MPI_Win_lock
	Posted  uint32         // 1: MPI_Win_post has begun an epoch
	Count   uint32
	Me      uint32
	Direct  uint32 // 1: all memory of the window is mapped: a call of communication is done when it returns
	MayLock uint32 // 1: C may lock, and fence: no other thread does at the same time
	Pad     uint32
	Fences  uint64 // how many fences this member has called
}

// Target is what a window knows of one of its members.
type Target struct {
	Base       unsafe.Pointer // of its memory; nil if it is not mapped
	Words      unsafe.Pointer // of the member (words_unsafe.go)
	Control    unsafe.Pointer // of the process, where it says whether it sleeps; the bridge's
	Size, Unit int64
	Ticket     uint64 // the number with which this process has locked it
	Hold       uint32
	Mine       uint32 // what says in its accumulate lock that this process holds it

	Started   uint64  // how often MPI_Win_start has named it
	Exposed   uint64  // how often MPI_Win_post has
	Completes *uint64 // in shared memory: how often this process is done with it
	Completed *uint64 // and how often it is done with this process
	Locking   *uint32 // 1: this process has its lock, or is about to queue for it
}

// Show lets C see the window, by its handle, unless members are lost. MayLock and Targets are set.
func (w *Window) Show(handle uint64) {
	w.engine.Lock()
	defer w.engine.Unlock()
	if !w.Broken() {
		w.view.Handle = handle
	}
}

// hide makes C leave the window to Go, which knows of losses. Engine lock held.
func (w *Window) hide() { atomic.StoreUint64(&w.view.Handle, 0) }

// NewView is the state of a window of n processes, in memory of Go.
func NewView(n int) (*View, []Target) {
	targets := make([]Target, n)
	return &View{Count: uint32(n), Targets: unsafe.Pointer(&targets[0])}, targets
}
