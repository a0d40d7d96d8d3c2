package board

import (
	"encoding/binary"

	"github.com/libimpi/libimpi/transport"
)

// A contribution to an exchange begins with a list of all blocks that its rank has for others:
//
//	number of entries | entry: destination, where the block begins, its bytes or ByMessage | ... | blocks
//
// All integers are of 64 bits and in the order of this machine. An empty contribution says that all blocks are
// messages.
const (
	entryBytes = 8
	offsetBits = 16
	lengthMask = 1<<offsetBits - 1

	// These stand for a length.
	ByMessage     = lengthMask
	ByLongMessage = lengthMask - 1

	leastRoom  = 120 // a contribution that is not longer is cheaper
	blockAlign = 64  // of blocks from alignFrom on, in memory
	alignFrom  = 128 // so that what is shorter finds room in a short contribution
)

// entry is one of a list.
type entry uint64

func newEntry(to int, at int, n int) entry {
	return entry(uint32(to))<<(2*offsetBits) | entry(at)<<offsetBits | entry(n)
}

func (e entry) to() uint64 { return uint64(e) >> (2 * offsetBits) }
func (e entry) at() int    { return int(e >> offsetBits & lengthMask) }
func (e entry) bytes() int { return int(e & lengthMask) }

// entries is how many entries a contribution has, as far as it can be believed.
func entries(part []byte) int {
	if len(part) < entryBytes {
		return 0
	}
	return int(min(binary.NativeEndian.Uint64(part), uint64(len(part)/entryBytes-1)))
}

func entryOf(part []byte, i int) entry {
	return entry(binary.NativeEndian.Uint64(part[(i+1)*entryBytes:]))
}

// nthFor is the number of the entry that is number nth, from 0 on, of those that are for a rank; that of none if there
// are not so many.
func nthFor(part []byte, rank, nth int) int {
	n := entries(part)
	for i := range n {
		if entryOf(part, i).to() != uint64(rank) {
			continue
		}
		if nth == 0 {
			return i
		}
		nth--
	}
	return n
}

// list is a contribution as it is written.
type list struct {
	mem     []byte // nil: there is no room for the list
	written int    // entries
	used    int    // bytes
}

// room is how many bytes a list asks for that has some blocks, but for those that are longer than long, where a
// contribution has most bytes at most.
func room(blocks []block, long, most int64) int64 {
	used := (1 + len(blocks)) * entryBytes
	for i := range blocks {
		if n := blocks[i].Size(); n <= long {
			used = behind(beginning(used, n), n)
		}
	}
	switch {
	case used <= leastRoom:
		return int64(used)
	case used <= transport.BoardLongest+blockAlign || most == 0:
		return transport.BoardLongest + blockAlign
	}
	return most
}

// Share is how long blocks may be of which so many find room in a contribution of most bytes, with a list of as many
// entries.
func Share(most int64, entries, blocks int) int64 {
	return min(ByLongMessage-1, (most-int64((1+entries)*entryBytes))/int64(blocks)-blockAlign)
}

// beginning is where a block of n bytes begins in a contribution of which so many bytes are used; behind is what is
// used then.
func beginning(used int, n int64) int {
	if n >= alignFrom {
		return (used + blockAlign - 1) &^ (blockAlign - 1)
	}
	return used
}

func behind(at int, n int64) int { return (at + int(n) + entryBytes - 1) &^ (entryBytes - 1) }

// begin begins a list of so many entries.
func (l *list) begin(mem []byte, entries int) {
	if *l = (list{used: (1 + entries) * entryBytes}); l.used > len(mem) {
		l.used = 0
		return
	}
	l.mem = mem
	binary.NativeEndian.PutUint64(mem, uint64(entries))
}

// place returns the memory for a block of n bytes, and where it begins; nil if there is no room.
func (l *list) place(n int64) (mem []byte, at int) {
	if at = beginning(l.used, n); l.mem == nil || n > int64(len(l.mem)-at) {
		return nil, at
	}
	l.used = min(behind(at, n), len(l.mem))
	return l.mem[at : at+int(n)], at
}

// add writes the entry that comes next.
func (l *list) add(e entry) {
	if l.mem != nil {
		l.written++
		binary.NativeEndian.PutUint64(l.mem[l.written*entryBytes:], uint64(e))
	}
}
