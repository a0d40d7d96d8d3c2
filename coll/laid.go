package coll

import (
	"encoding/binary"
	"slices"
)

// Laid is what a rank has done in an exchange of blocks on a board (board_v.go). As long as its arguments stay what
// they were it can do the same again without looking at them, whatever the other ranks do. It is also what a rank does
// in an exchange that is settled (board_settled.go), and in a reduction whose counts are a list.
type Laid struct {
	Head    []uint64    // the list with which the part begins; nil: the rank shows none
	Used    int         // bytes of the part
	Piece   bool        // it stands in a place for pieces
	Out, In []LaidBlock // to the part, and from those of others, in this order
	Waits   bool        // only a call that blocks can be made so: blocks are read, or taken where own ones were
	Stays   bool        // others read some of this rank's: its operation is over when all have ended theirs
	Not     bool        // something else was done, too

	// A reduction on a board is its turn alone.
	Turns bool
	Turn  Turn
}

// LaidBlock is a block that goes to the part, or comes from one.
type LaidBlock struct {
	Buf
	At    int    // where it begins in the part: of Out, and of In if that is settled
	N     int    // and then: its bytes there
	From  int    // of In: the rank whose part it is in
	Entry int    // its number in the list there
	Tag   int    // of the message that may come instead
	Own   Buf    // where it is, if it is the rank's own
	Says  []byte // of Out: the bytes of Buf, if these say where a block of the program's lies
}

// All of these do nothing if nobody wants to know. Empty blocks take no copy.

func (l *Laid) put(b Buf, at int) {
	if l != nil && b.Size() > 0 {
		l.Out = append(l.Out, LaidBlock{Buf: b, At: at})
	}
}

// expose notes what the part says at a place about a block that another rank reads.
func (l *Laid) expose(says []byte, at int) {
	if l != nil {
		says = slices.Clone(says)
		l.Out = append(l.Out, LaidBlock{Buf: Bytes(says), At: at, Says: says})
		l.Waits, l.Stays = true, true
	}
}

func (l *Laid) take(b LaidBlock) {
	if l != nil {
		l.In = append(l.In, b)
	}
}

func (l *Laid) waits() {
	if l != nil {
		l.Waits = true
	}
}

func (l *Laid) drop() {
	if l != nil {
		l.Not = true
	}
}

func (l *Laid) show(part []byte, used int, piece bool) {
	if l == nil {
		return
	}
	if part == nil {
		l.Not = true // the list did not fit
		return
	}
	l.Used, l.Piece, l.Head = used, piece, make([]uint64, 1+binary.NativeEndian.Uint64(part))
	for i := range l.Head {
		l.Head[i] = binary.NativeEndian.Uint64(part[i*entryBytes:])
	}
}
