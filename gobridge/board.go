package main

// #include <stdlib.h>
// #include "executor/window.h"
import "C"

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	collboard "github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/gobridge/kernel"
	"github.com/libimpi/libimpi/libimpi"
	onboard "github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/startup"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/shm"
)

// The Go side of boards (board.h): the tables by which C decides, the agreement on a board, and the waits of C.

// board is what a communicator has for its short collective operations.
type board struct {
	decided bool
	c       *onboard.CBoard // nil if there is none; C's memory
	users   *atomic.Int32   // of c: the communicator, and lanes
	memory  *shm.Board
}

// openBoards fills the tables.
func openBoards(e *libimpi.Engine) {
	b := &C.impi_boards
	b.looks = C.uint32_t(looksBeforeGo(e))
	for handle, code := range kernel.OpCodes {
		b.ops[handle-abi.MPI_OP_NULL] = C.uint8_t(code)
	}
	for i := range b.types {
		t := datatype.Named(abi.MPI_DATATYPE_NULL + i)
		if t == nil {
			continue
		}
		b.types[i].element = C.uint8_t(kernel.ElementOf(t))
		if onesided.Swappable(t) {
			C.impi_windows.swappable[i] = 1
		}
		for handle, code := range kernel.OpCodes {
			if op.Check(handle, t) == nil {
				b.types[i].ops |= 1 << code
			}
		}
	}
}

// slotsInC reports whether C may carry out whatever fits a slot: not if another algorithm has been chosen for some
// operation, nor if the launcher's -v shall show which were used, since C counts nothing.
func slotsInC() bool { return choose.AllBySlots() && environment(startup.EnvVerbose) == "" }

// slicesFrom is the vector, in bytes, from which C leaves an Allreduce to Go though it fits a slot. All that C combines
// commutes.
func (c *communicator) slicesFrom() int32 {
	k := choose.Case{Ranks: c.Size(), Crowded: c.Crowded(), Commutes: true}
	return int32(choose.Allreduce.LongestInSlots(k) + 1)
}

// openBoard finds the board of a communicator, once. All members call it before their first operation that can use one.
// Where C does not learn of it, Go asks for each call (choose.Operation.FitsSlots).
func (c *communicator) openBoard() error {
	b := &c.board
	if b.decided {
		return nil // C has no place to remember it
	}
	if c.MayHaveBoard() {
		if err := c.agreeOnBoard(); err != nil {
			return err
		}
	}
	b.decided = true
	if f := c.fast(); f != nil && slotsInC() {
		c.WithRanks(func() {
			if lost, revoked := c.Losses(); !lost && !revoked {
				f.board = (*C.struct_impi_board)(unsafe.Pointer(b.c))
			}
		})
	}
	return nil
}

func (c *communicator) agreeOnBoard() error {
	b := (*onboard.CBoard)(keepMemory(C.sizeof_struct_impi_board))
	shared, err := c.OpenBoard(b != nil)
	if err != nil || shared == nil {
		letGo(unsafe.Pointer(b))
		return err
	}
	c.board.c = b
	p := started()
	memory := shared.(*shm.Board)
	b.Comm, b.Rank, b.Size = uint64(c.handle), int32(c.Rank()), int32(c.Size())
	b.Members, b.Wide = memory.Members(), memory.Wide()
	b.Slices = c.slicesFrom()
	for i := range c.Size() {
		r := p.engine.LocalRank(c.Group().World(i))
		b.Peers[i].Local = int32(r)
		if i != c.Rank() {
			b.Peers[i].Ctl = p.segment.Control(r)
		}
	}
	c.board.users, c.board.memory = new(atomic.Int32), memory
	c.board.users.Add(1)
	c.UseBoard(onboard.Counters{Begun: &b.Begun, Known: &b.Known, Tasks: &b.Tasks, Left: &b.Left,
		WideUsers: b.WideUsers[:]}, c.board.lay)
	return nil
}

// lay makes a plan of a persistent operation, by which C starts it.
func (b *board) lay(lane transport.Lane, o *collboard.Operation) (laid onboard.LaneInC) {
	long := b.isLong(lane)
	t, simple := planOf(o, long)
	// C combines what is long and in place in the board's scratch memory, and threads may start several lanes at a time.
	if !simple || long && t.Combine != nil && t.Own == t.To {
		return laid
	}
	l, laid := b.newLane(lane)
	if l == nil {
		return laid
	}
	if l.Operation = t; t.Own == nil {
		l.Operation.Own = unsafe.Pointer(l)
	}
	l.Operation.Request = unsafe.Pointer(&l.Over)
	return laid
}

// planOf is an operation as C executes it, whose contributions are longer than a line, or not; false: C cannot.
func planOf(o *collboard.Operation, long bool) (t onboard.COperation, simple bool) {
	r, simple := o.Runs()
	var combine *C.impi_combine
	if r.Op != nil && simple {
		combine, simple = kernelOf(r.Op, r.Of)
		// C combines long vectors where the result belongs.
		simple = simple && !(long && uintptr(r.To)%uintptr(r.Of.Size()) != 0)
	}
	if !simple {
		return t, false
	}
	t = onboard.COperation{Own: r.Own, N: int32(o.Most()), First: int32(r.First), End: int32(r.End), At: int32(r.At),
		Take: int32(r.Take), Combine: unsafe.Pointer(combine), Count: r.Count, To: r.To, Stride: r.Stride}
	if r.Shows {
		t.Publish = 1
	}
	return t, true
}

// isLong reports whether the parts of a lane are longer than a line.
func (b *board) isLong(lane transport.Lane) bool {
	_, bytes, _ := lane.Slots()
	_, short, _ := b.memory.Slots(transport.NarrowSlot)
	return bytes > short
}

// newLane makes a lane of which C is to know; nil if there is no memory.
func (b *board) newLane(lane transport.Lane) (*onboard.CLane, onboard.LaneInC) {
	l := (*onboard.CLane)(keepMemory(C.sizeof_struct_impi_lane))
	if l == nil {
		return nil, onboard.LaneInC{}
	}
	of := lane.(*shm.Lane)
	slots, _, shift := of.Slots()
	l.Board, l.Slots, l.Bytes, l.Many = unsafe.Pointer(b.c), of.First(), uint64(of.Bytes), uint64(slots)
	l.Shift = uint64(shift)
	c, users := b.c, b.users
	users.Add(1)
	return l, onboard.LaneInC{At: uint64(uintptr(unsafe.Pointer(l))), Starts: &l.Starts, Known: &l.Known, Free: func() {
		letGo(unsafe.Pointer(l))
		leaveBoard(c, users)
	}}
}

// kernelOf is C's loop for an operation on elements of a type, if there is one.
func kernelOf(o coll.Op, t *datatype.Type) (combine *C.impi_combine, found bool) {
	predefined, is := o.(interface{ Handle() int })
	if !is {
		return nil, false
	}
	combine = C.impi_combines[kernel.OpCodes[predefined.Handle()]][kernel.ElementOf(t)]
	return combine, combine != nil
}

// leaveBoard frees what C knows of a board when its last user leaves.
func leaveBoard(c *onboard.CBoard, users *atomic.Int32) {
	if users.Add(-1) == 0 {
		C.free(c.Scratch)
		letGo(unsafe.Pointer(c))
	}
}

// closeBoard gives up what C knows of the board; the engine leaves it when it frees the communicator.
func (c *communicator) closeBoard() {
	c.NoBoard()
	if c.board.c != nil {
		leaveBoard(c.board.c, c.board.users)
	}
	c.board = board{decided: true}
}

// impi_board_wait returns when a word of a board is at least so large, or IMPI_IN_GO if a part does not come there: Go
// makes the call then, which finds out why. bytes are those of one contribution.
//
//export impi_board_wait
func impi_board_wait(word uintptr, least int64, comm uintptr, function *C.char, bytes int32) int32 {
	c := commOf(comm)
	c.DoingCall(uintptr(unsafe.Pointer(function)), int64(bytes))
	switch there, err := c.AwaitOnBoard(ref[uint64](word), uint64(least)); {
	case err != nil:
		return fail(C.GoString(function), c, err)
	case !there:
		return C.IMPI_IN_GO
	}
	return 0
}

// impi_board_turn brings the engine's requests on.
//
//export impi_board_turn
func impi_board_turn() { engine().Turn() }

// impi_board_truncated is the error of a member's part that is longer than the caller's.
//
//export impi_board_truncated
func impi_board_truncated(comm uintptr, function *C.char, rank, got, want int32) int32 {
	c := commOf(comm)
	err := libimpi.Errorf(abi.MPI_ERR_TRUNCATE, "rank %d has %d bytes, and this rank %d, on %s", rank, got, want, c)
	return fail(C.GoString(function), c, err)
}
