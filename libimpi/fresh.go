package libimpi

import (
	"time"

	"github.com/libimpi/libimpi/transport"
)

// Fresh data. What a program has written just before it sends it stands in the caches of its core. A receiver that
// reads it takes the lines away from there, and when the program writes them again, they have to come back: to write,
// exchange and use 64 KiB takes 22 us. Through the ring it takes 12, since only lines of the ring change sides. With
// data that has not changed since the receiver last read it, it is the other way round. So messages of medium length
// go through the ring if the receiver has found the data of earlier ones fresh, which shows in how long reading takes:
//
//	receiver  times what it reads of a message, and says with Taken whether that was slow
//	sender    counts; after some slow reads, the first packets of messages have a piece of them, and the rest follows
//	          through the ring
//
// To read what has not been read lately takes as long as to read fresh data. So now and then the sender has some
// messages in a row read: those after the first show whether the data has changed meanwhile.
//
// A ring into which a processor stores past its caches (package bulk) serves longer messages, too. To write a vector,
// broadcast it and use it takes 2 ranks, in us, if it is read: 256 KiB 43 on cores that share a cache and 92 on others,
// 1 MiB 126 and 285; through the ring 35 and 123 on both. Those of more than pastBytes go there only if reading is very
// slow, since data that is in no core's caches looks fresh (2 MiB that do not change, on cores that share a cache: 79
// read, 115 through the ring).

const (
	// freshBytes is the longest message that goes through the ring for this. Longer ones, too, take less time that way
	// if they are fresh (256 KiB: 48 us and 54), but more if they come from memory that no core has in its caches.
	freshBytes = 128 << 10
	// pastBytes is the same if stores go past the caches, and farBytes if reading is very slow then, too: if it takes
	// farReads as long as in the own caches.
	pastBytes = 512 << 10
	farBytes  = 4 << 20
	farReads  = 3
	// slowReads is how many more reads have to be slow than not; at most mostSlow are counted.
	slowReads, mostSlow = 8, 12
	// Of lookEvery messages looksInARow are read: enough to outweigh the slow reads that have been counted.
	lookEvery, looksInARow = 256, 8
)

// How a read went, as Taken says it.
const (
	quickRead = 1
	slowRead  = 2
	farRead   = 3
)

// readCost is how long it takes to read transport.CostBytes, and to copy them.
type readCost struct{ read, copied time.Duration }

// freshness is what is known of the messages that this process and a peer exchange.
type freshness struct {
	found  uint64 // how the last read that was noted went; 0: the peer has been told
	told   int32  // slow reads that the peer has told of, less the others
	far    int32  // the same of very slow reads
	passed uint32 // messages to the peer that the ring might have served better
}

// freshest is the longest message that may go through the ring because it is fresh.
func (e *Engine) freshest() int64 {
	if e.direct.past {
		return farBytes
	}
	return freshBytes
}

// read copies a part of a message out of its sender's memory. It notes how long that takes, unless the message does not
// go through the ring for that, or the part is so short that the system call counts for more.
func (e *Engine) read(r *Request, addr uint64, dst []byte) bool {
	p := e.peer(r.env.peer)
	if r.wire.length > e.freshest() || len(dst) < sectionBytes || !e.direct.on || e.direct.readAll || e.aside(r) {
		return p.direct.Read(p.rank, addr, dst)
	}
	start := e.direct.now()
	ok := p.direct.Read(p.rank, addr, dst)
	p.sharing.fresh.found = e.found(len(dst), e.direct.now().Sub(start))
	return ok
}

// aside reports whether the message is one of a collective operation to which this does not apply: their algorithms say
// themselves where data is fresh (coll.Writable). A ring that is stored to past the caches serves them even so.
func (e *Engine) aside(r *Request) bool { return !e.direct.past && r.ctx == r.ctx.comm.coll }

// found returns how it went to read n bytes in some time. That is slow if the time is nearer to that of data in another
// core's caches: longer than that of data in this one's by one and a half copies and more.
func (e *Engine) found(n int, took time.Duration) uint64 {
	switch t, bytes := int64(took)*transport.CostBytes, int64(n); {
	case t > farReads*int64(e.direct.cost.read)*bytes:
		return farRead
	case 2*t > int64(2*e.direct.cost.read+3*e.direct.cost.copied)*bytes:
		return slowRead
	}
	return quickRead
}

// sayTaken tells a peer that what was to be read of its message has been read, but for so many sections.
func (e *Engine) sayTaken(peer int32, srqid uint64, again int64) {
	h, f := e.packet(transport.Taken, peer), &e.peer(peer).sharing.fresh
	h.SrqID, h.Tag, h.MsgLen = srqid, int32(again), f.found
	f.found = 0
	e.sendControl(h)
}

// tell notes what the peer has found.
func (f *freshness) tell(found uint64) {
	count := func(slow bool, n *int32) {
		if slow {
			*n = min(*n+1, mostSlow)
		} else {
			*n = max(*n-1, 0)
		}
	}
	if found >= quickRead && found <= farRead {
		count(found >= slowRead, &f.told)
		count(found >= farRead, &f.far)
	}
}

// firstPiece is how many bytes of a message that its receiver can read go with its first packet: none, so that it is
// read, or some if the ring serves better. Where ranks outnumber cores, it never does: it needs both sides at once.
func (e *Engine) firstPiece(p *peer, r *Request) int {
	f := &p.sharing.fresh
	looks := f.told
	if e.direct.past && r.wire.total > pastBytes {
		looks = f.far
	}
	if looks < slowReads || r.wire.total > e.freshest() || e.waiting.patient.Load() || e.direct.readAll || e.aside(r) {
		return 0
	}
	if f.passed++; f.passed%lookEvery >= lookEvery-looksInARow {
		return 0
	}
	return int(min(r.wire.total, sectionBytes, int64(p.limits.Packet)))
}
