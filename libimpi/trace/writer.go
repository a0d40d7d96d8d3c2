package trace

import (
	"fmt"
	"sync"
)

// Writer writes the parts of a file that change rarely: its header and its definitions. Events are written by C
// (gobridge/observe), and by Thread, for tests.
type Writer struct {
	mu   sync.Mutex
	b    []byte
	used uint64 // bytes of definitions
}

// Least is the least size of a file, in bytes.
const Least = HeaderBytes + 64<<10 + 4*BlockBytes

// Size is the size in bytes of a file that takes at most most bytes, and the room for definitions in it.
func Size(most int64) (size int64, definitions uint64) {
	most = max(most, Least)
	definitions = uint64(min(max(most/128, 64<<10), 8<<20)) / 4096 * 4096
	return HeaderBytes + int64(definitions) + int64(blocksIn(most, definitions))*BlockBytes, definitions
}

func blocksIn(size int64, definitions uint64) uint64 {
	return (uint64(size) - HeaderBytes - definitions) / BlockBytes
}

// FileName is the name of a process's file. job is "" for the first job of a folder.
func FileName(rank int32, job string) string {
	if job != "" {
		job = "-" + job
	}
	return fmt.Sprintf("rank-%06d%s%s", rank, job, Suffix)
}

// Suffix ends the names of all files.
const Suffix = ".impitrace"

// NewWriter begins a file in zeroed memory, whose length is one that Size returns. Of h it needs what the process
// knows: the sizes are the memory's.
func NewWriter(b []byte, h Header) *Writer {
	_, h.Room = Size(int64(len(b)))
	h.Blocks, h.Begun, h.Used, h.Lost = blocksIn(int64(len(b)), h.Room), 0, 0, 0
	h.put(b)
	return &Writer{b: b}
}

// Blocks is where the blocks begin, in bytes from the beginning of the file, and how many there are.
func (w *Writer) Blocks() (offset, n uint64) {
	_, definitions := Size(int64(len(w.b)))
	return HeaderBytes + definitions, native.Uint64(w.b[atBlocks:])
}

// Align sets what the clock was found to be at the start.
func (w *Writer) Align(a Align) { a.put(w.b[atAlignStart:]) }

// End says that the process has ended MPI, and the clock's state then. It returns how many bytes of the file are in
// use; the rest may be cut off.
func (w *Writer) End(last Reading, a Align) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	last.put(w.b[atEnd:])
	a.put(w.b[atAlignEnd:])
	native.PutUint64(w.b[atWhole:], 1)
	offset, n := w.Blocks()
	return int64(offset + min(n, native.Uint64(w.b[atBegun:]))*BlockBytes)
}

// record appends a definition. It returns false if there is no room.
func (w *Writer) record(kind uint32, payload []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	need := 8 + (uint64(len(payload))+7)/8*8
	_, room := Size(int64(len(w.b)))
	if need > room-w.used {
		return false
	}
	at := w.b[HeaderBytes+w.used:]
	native.PutUint32(at, kind)
	native.PutUint32(at[4:], uint32(len(payload)))
	copy(at[8:], payload)
	w.used += need
	native.PutUint64(w.b[atUsed:], w.used)
	return true
}

// Machine, Boot, Program, Remark, Calls and Mapping append what Definitions has by these names; each returns false if
// there is no room.
func (w *Writer) Machine(name string) bool { return w.record(defMachine, []byte(name)) }

// Boot: see Machine.
func (w *Writer) Boot(id string) bool { return w.record(defBoot, []byte(id)) }

// Program: see Machine.
func (w *Writer) Program(path string) bool { return w.record(defProgram, []byte(path)) }

// Remark: see Machine.
func (w *Writer) Remark(text string) bool { return w.record(defRemark, []byte(text)) }

// Calls: see Machine.
func (w *Writer) Calls(names []string) bool {
	var b []byte
	for _, n := range names {
		b = append(append(b, n...), 0)
	}
	return w.record(defCalls, b)
}

// Mapping: see Machine.
func (w *Writer) Mapping(m Mapping) bool {
	var b []byte
	for _, v := range []uint64{m.Start, m.End, m.Offset} {
		b = native.AppendUint64(b, v)
	}
	return w.record(defMapping, append(b, m.File...))
}

// Comm appends a communicator, with a short name.
func (w *Writer) Comm(c *Comm) bool {
	b := native.AppendUint32(nil, c.ID)
	b = native.AppendUint32(b, 0)
	b = native.AppendUint64(b, c.Context)
	b = native.AppendUint32(b, uint32(c.Rank))
	for _, runs := range []Runs{c.Local, c.Remote} {
		b = native.AppendUint32(b, uint32(len(runs)))
		for _, r := range runs {
			for _, v := range []int32{r.First, r.Count, r.Step} {
				b = native.AppendUint32(b, uint32(v))
			}
		}
	}
	return w.record(defComm, append(b, c.Name...))
}

// Window appends a window.
func (w *Writer) Window(n *Named) bool { return w.named(defWindow, n) }

// File appends a file of the program.
func (w *Writer) File(n *Named) bool { return w.named(defFile, n) }

func (w *Writer) named(kind uint32, n *Named) bool {
	b := native.AppendUint32(native.AppendUint32(nil, n.ID), n.Comm)
	return w.record(kind, append(b, n.Name...))
}

// Op appends the name of an operation.
func (w *Writer) Op(number uint32, name string) bool { return w.numbered(defOp, number, name) }

// ThreadName appends the name of a thread.
func (w *Writer) ThreadName(number uint32, name string) bool {
	return w.numbered(defThread, number, name)
}

func (w *Writer) numbered(kind, number uint32, name string) bool {
	return w.record(kind, append(native.AppendUint32(nil, number), name...))
}

// Thread writes events as the recorder does, for tests: one thread at a time.
type Thread struct {
	w      *Writer
	number uint32
	block  []byte
}

// Thread is the thread of a number.
func (w *Writer) Thread(number uint32) *Thread { return &Thread{w: w, number: number} }

// Event appends an event, with times in ticks. It returns false if it is lost.
func (t *Thread) Event(call uint16, site, begin, end uint64, items ...Item) bool {
	var b []byte
	for _, i := range items {
		b = i.append(b)
	}
	n := EventHeader + len(b)
	used := 0
	if t.block != nil {
		used = int(native.Uint64(t.block[16:]))
	}
	if t.block == nil || used+n > BlockBytes {
		if t.block = t.w.begin(t.number, begin); t.block == nil {
			native.PutUint64(t.w.b[atLost:], native.Uint64(t.w.b[atLost:])+1)
			return false
		}
		used = BlockHeader
	}
	at := t.block[used:]
	native.PutUint64(at, uint64(call)|site<<16)
	native.PutUint64(at[8:], begin)
	native.PutUint64(at[16:], uint64(n/8)|(end-begin)<<16)
	copy(at[24:], b)
	native.PutUint64(t.block[16:], uint64(used+n))
	return true
}

// begin takes a block; nil if there is none.
func (w *Writer) begin(thread uint32, ticks uint64) []byte {
	offset, n := w.Blocks()
	begun := native.Uint64(w.b[atBegun:])
	if begun >= n && Keep(native.Uint32(w.b[atKeep:])) == KeepOldest {
		return nil
	}
	native.PutUint64(w.b[atBegun:], begun+1)
	b := w.b[offset+begun%n*BlockBytes:][:BlockBytes]
	native.PutUint32(b, BlockMagic)
	native.PutUint32(b[4:], thread)
	native.PutUint64(b[8:], begun+1)
	native.PutUint64(b[16:], BlockHeader)
	native.PutUint64(b[24:], ticks)
	for i := 32; i < BlockHeader; i += 8 {
		native.PutUint64(b[i:], 0)
	}
	return b
}

func (i *Item) append(b []byte) []byte {
	u := native.AppendUint64
	b = u(b, uint64(i.Kind)|uint64(i.Flags)<<8|uint64(i.ID)<<32)
	pair := uint64(uint32(i.Peer)) | uint64(uint32(i.Tag))<<32
	switch i.Kind {
	case Send, Recv, Got:
		b = u(u(u(b, pair), uint64(i.Bytes)), i.Request)
	case Collective:
		b = u(u(u(u(b, pair), uint64(i.Bytes)), uint64(i.In)), i.Request)
	case OneSided:
		b = u(u(u(b, uint64(uint32(i.Peer))), uint64(i.Bytes)), i.Request)
	case FileAccess:
		b = u(u(u(b, uint64(i.In)), uint64(i.Bytes)), i.Request)
	case Start:
		b = u(b, i.Request)
	case Rename:
		b = u(u(b, i.From), i.Request)
	case Probe:
		b = u(b, pair)
	}
	return b
}
