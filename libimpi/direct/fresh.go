package direct

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

const (
	// Fresh is the longest message that goes through the ring for this. Longer ones, too, take less time that way if
	// they are fresh (256 KiB: 48 us and 54), but more if they come from memory that no core has in its caches. A ring
	// into which a processor stores past its caches (package bulk) serves messages of up to FreshPast.
	Fresh     = 128 << 10
	FreshPast = 512 << 10
	// slowReads is how many more reads have to be slow than not; at most mostSlow are counted.
	slowReads, mostSlow = 8, 12
	// Of lookEvery messages looksInARow are read: enough to outweigh the slow reads that have been counted.
	lookEvery, looksInARow = 256, 8
)

// How a read went, as Taken says it.
const (
	quickRead = 1
	slowRead  = 2
)

// Freshness is what is known of the messages that this process and a peer exchange.
type Freshness struct {
	found  uint64 // how the last read that was noted went; 0: the peer has been told
	told   int32  // slow reads that the peer has told of, less the others
	passed uint32 // messages to the peer that the ring might have served better
}

// longest is the longest message that may go through the ring because it is fresh.
func (r *Rules) longest() int64 {
	if r.Past {
		return FreshPast
	}
	return Fresh
}

// Times reports whether it is noted how long it takes to read n bytes of a message: not if the message does not go
// through the ring for that, or they are so few that the system call counts for more. Algorithms of collective
// operations say themselves where data is fresh (coll.Writable); a ring that is stored to past the caches serves
// them even so.
func (r *Rules) Times(n int, length int64, collective bool) bool {
	return length <= r.longest() && n >= Section && r.On && !r.ReadAll && (r.Past || !collective)
}

// Note notes that it took some time to read n bytes. That is slow if the time is nearer to that of data in another
// core's caches: longer than that of data in this one's by one and a half copies and more.
func (f *Freshness) Note(r *Rules, n int, took time.Duration) {
	f.found = quickRead
	if 2*int64(took)*transport.CostBytes > int64(2*r.Cost.Read+3*r.Cost.Copied)*int64(n) {
		f.found = slowRead
	}
}

// Found is what the peer is told of the last read that was noted, once; 0: nothing.
func (f *Freshness) Found() (found uint64) {
	found, f.found = f.found, 0
	return found
}

// Tell notes what the peer has found.
func (f *Freshness) Tell(found uint64) {
	switch found {
	case slowRead:
		f.told = min(f.told+1, mostSlow)
	case quickRead:
		f.told = max(f.told-1, 0)
	}
}

// Ring reports whether the ring serves a message to the peer better than reading. Where ranks outnumber cores, it never
// does: it needs both sides at once.
func (f *Freshness) Ring(r *Rules, length int64, collective, crowded bool) bool {
	if f.told < slowReads || length > r.longest() || crowded || r.ReadAll || !r.Past && collective {
		return false
	}
	f.passed++
	return f.passed%lookEvery < lookEvery-looksInARow
}
