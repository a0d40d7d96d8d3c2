package libimpi

import (
	"sync/atomic"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/match"
)

// Slices of our own as message buffers, the program's memory as slices, and ours as debuggers see it.

var (
	intType   = datatype.Named(abi.MPI_INT)
	countType = datatype.Named(abi.MPI_UINT64_T) // IMPI_UINT8
)

// numberBuf is a slice as MPI_INT64_Ts.
func numberBuf(s []int64) coll.Buf { return coll.Numbers(s) }

// byteBuf is a slice as MPI_BYTEs.
func byteBuf(s []byte) coll.Buf { return coll.Bytes(s) }

// intBuf is a slice as MPI_INTs.
func intBuf(s []int32) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: intType}
}

// countBuf is a slice as MPI_UINT64_Ts.
func countBuf(s []uint64) coll.Buf {
	return coll.Buf{Base: unsafe.Pointer(unsafe.SliceData(s)), Count: int64(len(s)), Type: countType}
}

// startOf is the address of a slice.
func startOf(b []byte) datatype.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

// bytesAt is n bytes of memory.
func bytesAt(p datatype.Pointer, n int64) []byte { return unsafe.Slice((*byte)(p), n) }

// debugged is what a debugger's script needs to show the queues of a process that is stopped, or of which there is a
// core file (gdb/libimpi.py): the library has no debugging information. The script finds it by its symbol.
var debugged = struct {
	version uint64
	engine  atomic.Pointer[Engine] // the last that was made
	fields  []field
}{version: 1, fields: []field{
	{"engine.me", unsafe.Offsetof(Engine{}.me)},
	{"engine.blocked", unsafe.Offsetof(Engine{}.waiting) + unsafe.Offsetof(waitState{}.blocked)},
	{"engine.slots", unsafe.Offsetof(Engine{}.requests) + unsafe.Offsetof(requestTable{}.slots)},
	{"engine.quick", unsafe.Offsetof(Engine{}.requests) + unsafe.Offsetof(requestTable{}.quick)},
	{"engine.contexts", unsafe.Offsetof(Engine{}.contexts) + unsafe.Offsetof(contextTable{}.low)},
	{"blocked.call", unsafe.Offsetof(blocked{}.call)},
	{"blocked.what", unsafe.Offsetof(blocked{}.cause) + unsafe.Offsetof(cause{}.what)},
	{"blocked.comm", unsafe.Offsetof(blocked{}.cause) + unsafe.Offsetof(cause{}.comm)},
	{"blocked.request", unsafe.Offsetof(blocked{}.cause) + unsafe.Offsetof(cause{}.request)},
	{"request.kind", unsafe.Offsetof(Request{}.kind)},
	{"request.done", unsafe.Offsetof(Request{}.state) + unsafe.Offsetof(requestState{}.done)},
	{"request.persistent", unsafe.Offsetof(Request{}.state) + unsafe.Offsetof(requestState{}.persistent)},
	{"request.active", unsafe.Offsetof(Request{}.state) + unsafe.Offsetof(requestState{}.active)},
	{"request.comm", unsafe.Offsetof(Request{}.comm)},
	{"request.context", unsafe.Offsetof(Request{}.ctx)},
	{"request.source", unsafe.Offsetof(Request{}.env) + unsafe.Offsetof(envelope{}.source)},
	{"request.tag", unsafe.Offsetof(Request{}.env) + unsafe.Offsetof(envelope{}.tag)},
	{"request.peer", unsafe.Offsetof(Request{}.env) + unsafe.Offsetof(envelope{}.peer)},
	{"request.bytes", unsafe.Offsetof(Request{}.mem) + unsafe.Offsetof(memory{}.size)},
	{"comm.name", unsafe.Offsetof(Comm{}.Name)},
	{"comm.rank", unsafe.Offsetof(Comm{}.rank)},
	{"comm.messages", unsafe.Offsetof(Comm{}.p2p)},
	{"context.id", unsafe.Offsetof(context{}.cid)},
	{"context.comm", unsafe.Offsetof(context{}.comm)},
	{"context.arrived", unsafe.Offsetof(context{}.space) + match.Arrived},
	{"place.of", match.Of},
	{"place.next", match.Next},
	{"message.source", unsafe.Offsetof(message{}.Source)},
	{"message.tag", unsafe.Offsetof(message{}.Tag)},
	{"message.peer", unsafe.Offsetof(message{}.Peer)},
	{"message.bytes", unsafe.Offsetof(message{}.Length)},
	{"quick.slots", unsafe.Offsetof(Quick{}.Slots)},
	{"slots", quickSlots},
	{"slot", unsafe.Sizeof(QuickSlot{})},
	{"slot.state", unsafe.Offsetof(QuickSlot{}.State)},
	{"slot.source", unsafe.Offsetof(QuickSlot{}.Source)},
	{"slot.tag", unsafe.Offsetof(QuickSlot{}.Tag)},
	{"slot.context", unsafe.Offsetof(QuickSlot{}.CID)},
	{"slot.bytes", unsafe.Offsetof(QuickSlot{}.Bytes)},
}}

// field is where something stands in memory: an offset in bytes.
type field struct {
	name string
	at   uintptr
}
