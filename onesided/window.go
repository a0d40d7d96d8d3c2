package onesided

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Windows (MPI 5.0, chapter 12). A window has a communicator of its own, in which its members agree and the requests of
// one-sided communication travel.
//
//	call -> Epochs: is it allowed in this state? -> Part: where in the target's memory?
//	     -> the memory is mapped here: the data moves between the two layouts, and is there when the call returns
//	     -> it is the program's own of another process here: the kernel moves it, if it may (direct.go)
//	     -> otherwise a request to the target's engine (ask.go), which progress carries out there
//
// How the members synchronize is another question. Inside a machine it is by words of memory that all of them map
// (Words), whatever memory the window is for; between machines by requests, too, and a fence by counting these.
//
// Separate and unified memory are the same here (MPI_WIN_UNIFIED): there is no copy of a window.
type Window struct {
	Name string // the program's

	engine Engine
	me     int // the rank of this process
	flavor int

	mu      sync.Mutex // guards epochs and direct.tables: several threads may use the window
	epochs  *Epochs
	view    *View
	targets []Target // what C sees, too

	parts    []Part             // by rank
	memory   []datatype.Pointer // by rank: where its part begins in this process; nil if it is not mapped
	mine     datatype.Pointer   // the own part
	sharers  *Sharers           // those of this machine; nil: nothing is mapped
	near     *near              // those of this machine, if a fence has to wait for them
	shared   Mapped             // what the members of this machine map: words if they are all, and then parts
	words    *Words             // in it; nil if the members are in several machines
	sync     synchronization    // by words, if there are any
	losses   *losses
	tolerant bool          // Config.Tolerant
	asks     bool          // not all parts are mapped: there are requests
	counts   bool          // a fence counts them (fence.go)
	inFence  atomic.Bool   // the access epoch is that of such a fence
	asked    atomic.Uint32 // calls that answer a request

	direct   direct         // memory that the kernel reads and writes
	requests windowRequests // guarded by the engine's lock, but for what is attached
}

// Config says what window a process wants.
type Config struct {
	Flavor     int              // MPI_WIN_FLAVOR_...
	Base       datatype.Pointer // MPI_WIN_FLAVOR_CREATE: the program's memory
	Size, Unit int64            // bytes
	Contiguous bool             // MPI_WIN_FLAVOR_SHARED: the parts follow each other without gaps
	Foreign    bool             // members are of several jobs: a fence asks them, and counts nothing
	Tolerant   bool             // the job goes on without members that are lost; the same at all members
	// Align is a power of two, of which the address of the own part is to be a multiple; 0: as the library likes. Parts
	// that follow each other without gaps begin where the first of them has it.
	Align int64
	// View is where the state of the window stands, in zeroed memory; nil: in the engine's own.
	View    *View
	Targets []Target
	// Alloc finds memory of MPI_WIN_FLAVOR_ALLOCATE where it cannot be shared.
	Alloc func(bytes int64) (datatype.Pointer, error)
}

// New makes a window; all members call it. Errors are the same at all of them, but for those of lost peers and of
// memory. The program's memory stays its own.
func New(e Engine, config Config) (*Window, error) {
	own := e.Comm()
	w := &Window{engine: e, me: own.Rank(), flavor: config.Flavor, tolerant: config.Tolerant,
		view: config.View, targets: config.Targets}
	if w.view == nil {
		w.view, w.targets = NewView(own.Size())
	}
	w.epochs, w.losses = NewEpochs(w.view, w.targets), newLosses(own.Size())
	if err := w.open(&config); err != nil {
		w.Forget()
		return nil, err
	}
	return w, nil
}

func (w *Window) open(config *Config) error {
	n := len(w.targets)
	const each = 4
	all := make([]uint64, each*n)
	own := []uint64{uint64(config.Size), uint64(config.Unit), addressAt(config.Base), uint64(config.Align)}
	if err := w.engine.Allgather(own, all); err != nil {
		return err
	}
	w.parts, w.memory = make([]Part, n), make([]datatype.Pointer, n)
	begins := make([]begin, n)
	for r := range w.parts {
		w.parts[r] = Part{Size: int64(all[each*r]), Unit: int64(all[each*r+1])}
		align, ok := all[each*r+3], true
		if begins[r], ok = config.begin(align); !ok {
			return errorf(abi.MPI_ERR_NO_MEM, "no memory at a multiple of %d, as rank %d has asked for", align, r)
		}
		if p := w.parts[r]; p.Size < 0 || p.Unit <= 0 { // which each member has looked at for itself
			return errorf(abi.MPI_ERR_OTHER, "rank %d has a part of %d bytes in units of %d", r, p.Size, p.Unit)
		}
	}
	if err := w.share(config, begins); err != nil {
		return err
	}
	if w.words != nil {
		w.sync = byWords{w}
	} else {
		w.sync = byRequests{w}
	}
	if err := w.agree(w.ownPart(config)); err != nil {
		return err
	}
	w.asks = w.words == nil || w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC || w.flavor == abi.MPI_WIN_FLAVOR_CREATE && n > 1
	w.counts = w.words == nil && w.flavor != abi.MPI_WIN_FLAVOR_DYNAMIC && !config.Foreign
	bases := make([]uint64, n)
	for r := range bases {
		bases[r] = all[each*r+2]
	}
	if err := w.openDirect(bases); err != nil {
		return err
	}
	w.show()
	w.openRequests()
	return w.engine.Barrier()
}

// show tells C of the window.
func (w *Window) show() {
	for r := range w.targets {
		t := &w.targets[r]
		t.Base, t.Size, t.Unit = w.memory[r], w.parts[r].Size, w.parts[r].Unit
	}
	w.view.Me = uint32(w.me)
	if !w.asks {
		w.view.Direct = 1
	}
}

// pageBytes is a multiple of which the parts of a window begin, so that each lies in memory that its owner touches
// first, and no two processes write to one cache line.
const pageBytes = 4096

// behindPage is how many bytes after the beginning of a page the parts of MPI_Win_allocate begin. What a program has on
// both sides at the same distance, as the columns of two matrices, would else meet in few sets of the caches: a face of
// a cube is got in 7 us instead of 12. Half a page also keeps the loads and the stores of a copy in either direction
// apart, which a processor compares by their place in a page.
const behindPage = pageBytes/2 + 64

// begin is where a part may begin: so many bytes after a multiple of align.
type begin struct{ align, behind int64 }

// begin is where the part of a member begins that has asked for an alignment. False: no memory has it.
func (config *Config) begin(align uint64) (begin, bool) {
	switch {
	case align&(align-1) != 0 || align > maxWindow:
		return begin{}, false
	case align <= lineBytes && config.Flavor == abi.MPI_WIN_FLAVOR_ALLOCATE:
		return begin{pageBytes, behindPage}, true
	}
	return begin{max(pageBytes, int64(align)), 0}, true
}

// up is the first byte from pos on where a part may begin.
func (b begin) up(pos int64) int64 { return (pos-b.behind+b.align-1)&-b.align + b.behind }

// share makes the memory that the members of a machine map: the words of a window that is in one machine, and the parts
// that are not the program's, each where it may begin. In a window of several machines it holds the parts of each
// machine.
func (w *Window) share(config *Config, begins []begin) error {
	sharers, n := w.engine.Sharers(), len(w.parts)
	ranks := sharers.Ranks
	if len(ranks) > 1 {
		w.near = &near{on: sharers.On}
	}
	whole, isShared := len(ranks) == n, w.flavor == abi.MPI_WIN_FLAVOR_SHARED
	hasParts := isShared || w.flavor == abi.MPI_WIN_FLAVOR_ALLOCATE
	if isShared && !whole {
		return errorf(abi.MPI_ERR_RMA_SHARED, "the processes of %s do not share memory: use a communicator of "+
			"MPI_Comm_split_type with MPI_COMM_TYPE_SHARED", w.engine)
	}
	if !whole && (w.flavor == abi.MPI_WIN_FLAVOR_DYNAMIC || len(ranks) < 2) {
		return nil
	}
	offsets, bytes := make([]int64, n), int64(WordsBytes(len(ranks))+pageBytes-1)&^(pageBytes-1)
	align := int64(pageBytes)
	for i := 0; i < len(ranks) && hasParts; i++ {
		r := ranks[i]
		align = max(align, begins[r].align)
	}
	if isShared && config.Contiguous {
		bytes = begin{align: align}.up(bytes)
	}
	for i := 0; i < len(ranks) && hasParts; i++ {
		r := ranks[i]
		if !isShared || !config.Contiguous {
			bytes = begins[r].up(bytes)
		}
		offsets[r] = bytes
		if w.parts[r].Size > maxWindow-bytes {
			return errorf(abi.MPI_ERR_NO_MEM, "the parts of the window have more than %d bytes together", int64(maxWindow))
		}
		if bytes += w.parts[r].Size; !isShared || !config.Contiguous {
			bytes = (bytes + pageBytes - 1) &^ (pageBytes - 1)
		}
	}
	shared, err := sharers.Map(int(bytes), int(align), whole)
	if err != nil {
		if isShared {
			return errorf(abi.MPI_ERR_RMA_SHARED, "no shared memory of %d bytes: %v", bytes, err)
		}
		return w.engine.Failure()
	}
	w.sharers, w.shared = sharers, shared
	mem := shared.Bytes
	for i := 0; i < len(ranks) && hasParts; i++ {
		w.memory[ranks[i]] = offset(startOf(mem), offsets[ranks[i]])
	}
	if whole {
		w.words = NewWords(mem, w.me, w.view, w.targets, w.engine.Machine, w.losses)
	} else {
		w.near.words = newNearWords(mem, w.me, ranks, w.engine.Machine, w.losses)
	}
	return nil
}

const maxWindow = 1 << 46

// lineBytes is what any part of MPI_Win_allocate is a multiple of: a line of the caches.
const lineBytes = 64

// ownPart finds the memory of this process.
func (w *Window) ownPart(config *Config) (err error) {
	me := w.me
	switch w.flavor {
	case abi.MPI_WIN_FLAVOR_CREATE:
		w.mine = config.Base
		w.memory[me] = config.Base
	case abi.MPI_WIN_FLAVOR_ALLOCATE:
		if w.memory[me] == nil {
			if w.memory[me], err = config.Alloc(config.Size); err != nil {
				return err
			}
		}
		w.mine = w.memory[me]
	case abi.MPI_WIN_FLAVOR_SHARED:
		w.mine = w.memory[me]
	}
	return nil
}

// agree returns an error at all members if one of them has one. In one machine nobody has: the memory is there.
func (w *Window) agree(err error) error {
	if w.flavor != abi.MPI_WIN_FLAVOR_ALLOCATE || w.words != nil {
		return err
	}
	all, failed := AllWell(w.engine.Comm(), err)
	if failed != nil {
		return failed
	}
	if err == nil && !all {
		return errorf(abi.MPI_ERR_NO_MEM, "another process has no memory for its part")
	}
	return err
}

// Base is the memory of this process, Part what rank r contributes.
func (w *Window) Base() datatype.Pointer    { return w.mine }
func (w *Window) Part(r int) Part           { return w.parts[r] }
func (w *Window) Flavor() int               { return w.flavor }
func (w *Window) Mapped() bool              { return w.shared.Bytes != nil }
func (w *Window) At(r int) datatype.Pointer { return w.memory[r] }

// Together reports whether all members are on one machine, and synchronize in memory that all of them map.
func (w *Window) Together() bool { return w.words != nil }

// String names the window for messages.
func (w *Window) String() string {
	if w.Name != "" {
		return w.Name
	}
	return fmt.Sprintf("the window of %d processes", len(w.targets))
}

// MayFree returns what is wrong with freeing the window now.
func (w *Window) MayFree() error { return w.guarded((*Epochs).Free) }

// Free gives the window up, when all members have called it and all communication is done. A window that is Broken is
// given up although there is an error, when all members that are not lost have called it if it is Config.Tolerant.
func (w *Window) Free() error {
	if err := w.MayFree(); err != nil {
		return err
	}
	err := w.flushAll()
	switch {
	case w.tolerant:
		err = cmp.Or(err, w.engine.Agree(), w.losses.any())
	case err == nil:
		err = w.barrier()
	}
	switch {
	case err == nil && w.words != nil:
		w.shared = w.sharers.Spares.keep(w.shared)
	case err != nil && !w.Broken():
		return err
	}
	w.settle()
	w.Forget()
	return err
}

// Forget gives back what the window has, without a word to the other members.
func (w *Window) Forget() {
	w.closeRequests()
	if w.sharers != nil {
		w.shared.Forget(w.sharers.Memory)
	}
	w.shared = Mapped{}
}

// barrier returns when all members have called it.
func (w *Window) barrier() error {
	if w.words != nil {
		return w.words.Fence()
	}
	return w.engine.Barrier()
}

// WakeAll wakes all other members, after something was stored that they may wait for.
func (w *Window) WakeAll() { w.words.WakeAll() }
