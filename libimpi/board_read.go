package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport"
)

// Long blocks that the members of a communicator read in each other's memory (coll/board_read.go). Whether all of them
// can, and quickly, they find out together when they open their board.

// readAtOnce is how many bytes a nonblocking operation reads in one go, under the engine's lock.
const readAtOnce = 256 << 10

// agreeOnReading finds out, once, whether the members of a board can read each other's memory. All of them call it in
// the same operation: in the one that opens the board, if it blocks, else in the first long one that does.
func (b *commBoard) agreeOnReading() error {
	if b.agreed {
		return nil
	}
	b.agreed = true
	if !b.c.crowded && b.Size() > 2 {
		return nil // nobody would use it
	}
	if err := new(coll.Turn).Barrier(&b.blocking).Do(&b.blocking); err != nil { // so that all are there
		return err
	}
	own, all := []byte{byte(b.readsAll())}, make([]byte, b.Size())
	err := new(coll.Turn).Allgather(&b.blocking, coll.Bytes(own), coll.Bytes(all[:1])).Do(&b.blocking)
	if err == nil {
		b.reads = coll.Reading(slices.Min(all))
	}
	if b.reads != coll.ReadsNot {
		b.serveReaders()
	}
	return err
}

// readsAll returns how this process reads the memory of all members, itself among them, if it can.
func (b *commBoard) readsAll() coll.Reading {
	e := b.c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.local.writer == nil {
		return coll.ReadsNot
	}
	for r := range b.local {
		if !e.local.reader.CanRead(b.c.group.World(r)) {
			return coll.ReadsNot
		}
	}
	return e.reading
}

// extent is a run of addresses.
type extent struct{ from, upTo uint64 }

// extents are some that the kernel can read. The blocks of an exchange are mostly two runs: those before the rank's own
// one, and those behind it.
type extents struct {
	known [8]extent
	next  int // to be forgotten
}

// has reports whether one of them holds all of another.
func (s *extents) has(x extent) bool {
	for _, k := range s.known {
		if k.from <= x.from && x.upTo <= k.upTo {
			return true
		}
	}
	return false
}

// add adds one, to another if it touches that.
func (s *extents) add(x extent) {
	for i, k := range s.known {
		if k.upTo > 0 && x.from <= k.upTo && k.from <= x.upTo {
			s.known[i] = extent{min(k.from, x.from), max(k.upTo, x.upTo)}
			return
		}
	}
	s.known[s.next] = x
	s.next = (s.next + 1) % len(s.known)
}

// Expose implements coll.Exposer. Memory that cannot be read in this way, as a device's, is copied. That is found out
// by reading its ends, once, or always if what could be read has become something else (board_ask.go).
func (p *boardPlace) Expose(mem []byte) uint64 {
	if p.reading = true; len(mem) == 0 {
		return 0
	}
	b, at := p.commBoard, extent{addressOf(mem), addressOf(mem) + uint64(len(mem))}
	known := b.readable.has(at)
	if known && !b.doubts.Load() {
		return at.from
	}
	p.here[0] = transport.Run{Addr: addressOf(p.ends[:]), Len: 2}
	p.there = [2]transport.Run{{Addr: at.from, Len: 1}, {Addr: at.upTo - 1, Len: 1}}
	if !p.move(p.Rank(), 1, 2) {
		mem = slices.Clone(mem)
		p.exposed = append(p.exposed, mem)
		return addressOf(mem)
	}
	if !known {
		b.add(at, p.waits)
	}
	return at.from
}

// add notes that others are told of some memory. An operation that blocks does not hold the engine's lock.
func (b *commBoard) add(at extent, lock bool) {
	if lock {
		b.c.engine.mu.Lock()
		defer b.c.engine.mu.Unlock()
	}
	b.readable.add(at)
}

// move reads from a member's memory what here and there say, so many runs of each. A member may say that its memory is
// to be read where this process cannot.
func (p *boardPlace) move(rank, here, there int) bool {
	w := p.c.engine.local.writer
	return w != nil && w.Move(p.c.group.World(rank), p.here[:here], p.there[:there], false)
}

// Read implements coll.Exposer.
func (p *boardPlace) Read(rank int, from uint64, to []byte) (n int, err error) {
	if n = len(to); !p.waits {
		n = min(n, readAtOnce)
	}
	p.reading = true
	if p.asked != nil {
		return p.ask(rank, from, to[:n])
	}
	p.here[0] = transport.Run{Addr: addressOf(to), Len: uint64(n)}
	p.there[0] = transport.Run{Addr: from, Len: uint64(n)}
	if p.move(rank, 1, 1) {
		if n < len(to) {
			p.c.engine.goesOn = true
		}
		return n, nil
	}
	return p.ask(rank, from, to[:n])
}

// Ended implements coll.Exposer.
func (p *boardPlace) Ended(rank int) (bool, error) {
	done := p.shared.Done(rank)
	if p.waits {
		err := p.await(done, p.number)
		return err == nil, err
	}
	return atomic.LoadUint64(done) >= p.number, nil
}
