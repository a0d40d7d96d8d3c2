package coll

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Long blocks that are read where they lie: single copy, for ranks that outnumber their cores, where the kernel copies
// quickly between processes. An operation is one turn on the board. A rank shows where its memory begins, and how long
// it is; others read what they need of it, each by itself, and end the turn; a rank leaves when all who read its memory
// have ended theirs. A message, on the other hand, waits for the answer to its first packet, and then for its sender to
// have a core again. A block moves once for each rank that needs it:
//
//	allgather    p (p-1) n
//	alltoall     p (p-1) n
//	scatter      (p-1) n
//
// What is for all others is not read in this way where one rank alone has it: the kernel locks the pages of a process
// one by one, for which its readers contend, and a piece on the board is in the cache when the second rank of a core
// needs it. What one alone reads gains little, for then there is nothing to do for others meanwhile.

// singleCopyName is what the algorithms of this file are called.
const singleCopyName = "single-copy"

// Exposer is a Board on which ranks read each other's memory.
type Exposer interface {
	Board
	// Expose returns where others find some of the own memory, until they have ended the operation.
	Expose(mem []byte) uint64
	// Read copies from a rank's memory, from an address on, and returns how many bytes it has copied: all of them, if
	// the board blocks, or as many as may be read in one go.
	Read(rank int, from uint64, to []byte) (n int, err error)
	// Ended reports whether a rank has ended the operation, as this one has. It blocks until then, or answers false.
	Ended(rank int) (bool, error)
}

// exposedBytes is a part that says where memory is: its address, and its length.
const exposedBytes = 16

// putExposed says in a part where a run of bytes is.
func putExposed(part []byte, b Exposer, own Buf) {
	binary.NativeEndian.PutUint64(part, b.Expose(own.bytes()))
	binary.NativeEndian.PutUint64(part[8:], uint64(own.Count))
}

// exposed is what the part of a rank says: n bytes from an address on. Another process has written it.
func exposed(part []byte, rank int) (at uint64, n int64, err error) {
	if len(part) >= exposedBytes {
		at, n = binary.NativeEndian.Uint64(part), int64(binary.NativeEndian.Uint64(part[8:]))
		if n >= 0 && at+uint64(n) >= at {
			return at, n, nil
		}
	}
	return 0, 0, &Error{Class: abi.MPI_ERR_INTERN, Msg: fmt.Sprintf("rank %d does not say where its memory is", rank)}
}

// Reads reports whether ranks read each other's memory in a turn: it is for a Board that is an Exposer.
func (t *Turn) Reads() bool { return t.reads }

// runReading is Run of such a turn.
func (t *Turn) runReading(b Exposer) (over bool, err error) {
	if t.shows {
		mem, err := b.Put(exposedBytes)
		if mem == nil || err != nil {
			return err != nil, err
		}
		putExposed(mem, b, t.own)
		b.Publish(exposedBytes)
		t.shows = false
	}
	for ; t.next < t.end; t.next++ {
		r, to := t.next%b.Size(), t.to
		if t.where == inBlocks {
			to = t.blocks.at(r)
		}
		if done, err := t.readBlock(b, r, to); !done || err != nil {
			return err != nil, err
		}
		t.moved = 0
	}
	return true, nil
}

// readBlock reads what a rank has for this one, and reports whether that is done.
func (t *Turn) readBlock(b Exposer, r int, to Buf) (done bool, err error) {
	if to.Count == 0 {
		return true, nil
	}
	at, n, mine := uint64(0), t.own.Count, r == b.Rank()
	if !mine {
		part, err := b.Get(r)
		if part == nil || err != nil {
			return false, err
		}
		if at, n, err = exposed(part, r); err != nil {
			return true, err
		}
	}
	if n -= t.at; n > to.Count && t.whole {
		return true, &Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", r, n, to.Count)}
	} else if n < to.Count && !t.whole {
		return true, &Error{Class: abi.MPI_ERR_COUNT,
			Msg: fmt.Sprintf("rank %d has %d bytes for all, and this rank expects %d", r, t.at+n, t.at+to.Count)}
	}
	to.Count = min(n, to.Count)
	if mine {
		if own := t.own.Slice(t.at, to.Count); own.Base != to.Base {
			err = Copy(to, own)
		}
		return true, err
	}
	return readRest(b, r, at+uint64(t.at), to.bytes(), &t.moved)
}

// readRest goes on to fill mem, of which *moved bytes are there, from a rank's memory, and reports whether that is
// over.
func readRest(b Exposer, rank int, from uint64, mem []byte, moved *int) (done bool, err error) {
	if *moved >= len(mem) { // the rank may have said before that it has more
		return true, nil
	}
	n, err := b.Read(rank, from+uint64(*moved), mem[*moved:])
	*moved += n
	return err != nil || *moved == len(mem), err
}

// Left reports whether all who may read the memory that a turn has exposed have ended theirs, as this rank has. It
// blocks until then, or answers false.
func (t *Turn) Left(b Exposer) (left bool, err error) {
	for ; t.left < t.stays; t.left++ {
		if t.left == b.Rank() {
			continue
		}
		if left, err = b.Ended(t.left); !left || err != nil {
			return err != nil, err
		}
	}
	return true, nil
}

// exposes has a turn show where the own memory is, which all others may read.
func (t *Turn) exposes(b Seats, own Buf) {
	t.own, t.shows, t.stays = own, true, b.Size()
}

// reading takes a turn in which each rank reads its blocks of all, whole ones, or the piece from byte `at` on.
func (s *Scratch) reading(c Comm, own Buf, blocks VBuf, at int64, whole bool) error {
	p, r := c.Size(), c.Rank()
	own, err := s.flat(c, own, true)
	if err != nil {
		return err
	}
	all, err := s.flatBlocks(blocks, p)
	if err != nil {
		return err
	}
	if err := s.turns(c, 1, func(t *Turn, _ int) {
		t.reads, t.most = true, exposedBytes
		t.exposes(c, own)
		t.blocks, t.where, t.at, t.whole = all, inBlocks, at, whole
		t.next, t.end = r, r+p // so not all read the same memory
	}); err != nil {
		return err
	}
	return unflatBlocks(c, blocks, all)
}

// allgatherReading: all read the blocks of all others.
func (s *Scratch) allgatherReading(c Comm, send, recv Buf) error {
	blocks, err := s.evenly(c, recv)
	if err != nil {
		return err
	}
	return s.allgathervReading(c, send, blocks)
}

// allgathervReading is allgatherReading for blocks of different sizes.
func (s *Scratch) allgathervReading(c Comm, send Buf, recv VBuf) error {
	if send.IsInPlace() {
		send = recv.at(c.Rank())
	}
	return s.reading(c, send, recv, 0, true)
}

// alltoallReading: each reads its block of all others.
func (s *Scratch) alltoallReading(c Comm, send, recv Buf) error {
	blocks, err := s.evenly(c, recv)
	if err != nil {
		return err
	}
	send.Count *= int64(c.Size())
	return s.reading(c, send, blocks, int64(c.Rank())*recv.Size(), false)
}

// scatterReading: all others read their blocks of root.
func (s *Scratch) scatterReading(c Comm, send, recv Buf, root int, block int64) (err error) {
	var all, mine Buf
	isRoot, inPlace := c.Rank() == root, recv.IsInPlace()
	if isRoot {
		send.Count *= int64(c.Size())
		if all, err = s.flat(c, send, true); err != nil {
			return err
		}
	}
	if !inPlace {
		if mine, err = s.flat(c, recv, false); err != nil {
			return err
		}
	}
	err = s.turns(c, 1, func(t *Turn, _ int) {
		if t.reads, t.most = true, exposedBytes; isRoot {
			t.exposes(c, all)
		}
		t.next, t.end, t.to, t.where, t.at = root, root+1, mine, inTo, int64(c.Rank())*block
	})
	if err != nil || inPlace {
		return err
	}
	return unflat(c, recv, mine, false)
}
