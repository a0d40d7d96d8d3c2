// Package direct is how long messages go inside a machine, from memory to memory or through the ring: which way
// (way.go), who copies which part if both sides do (claims.go), and whether data is fresh (fresh.go). It copies
// nothing, and the engine's lock guards it all but the words of claims.
package direct

import "sync/atomic"

// A message that is one run of bytes on both sides has two ways to go. Where the kernel copies between processes about
// as quickly as they copy themselves (transport.Reader), both sides copy at once, from memory to memory: the sender
// writes into the receiver's buffer, from the front, and the receiver reads out of the sender's, from the back.
// Elsewhere the sender streams through the ring: two copies, but on two cores at once. When nothing comes for a while,
// because the sender computes, the receiver reads, from the back.
//
// What follows the first packet is cut into sections, and a section is moved by whom has claimed it, in a word that
// both see:
//
//	bits  0-23  front: sections claimed by the sender
//	bits 24-47  back: sections claimed by the receiver
//	bits 48-63  use: the message, as the SyncAck has named it; under another use there is nothing to claim
//
// When all sections are claimed and some by the receiver, it says Taken, which the sender awaits, and how many of its
// own it could not read, which the sender has to move after all; otherwise the sender knows from its last claim that
// everything has left. Each side believes its own count and takes from the word only whether something is left.

const (
	// Section is a piece of a stream in a ring that is large enough, so that what the sender has claimed is there.
	Section = 32 << 10
	// Most is how many sections one side copies at once at most, under the engine's lock.
	Most = 8

	claimBits  = 24
	claimMask  = 1<<claimBits - 1
	claimFront = 1
	claimBack  = 1 << claimBits
	useShift   = 2 * claimBits
	// claimTries bounds the fight for the word: a peer that writes nonsense there cannot hold us.
	claimTries = 1000
)

// Claims are the sections of one message, as one of its processes sees them. The zero value has none.
type Claims struct {
	word  *uint64
	use   uint64
	count int64 // of sections
	first int64 // byte of the message where they begin

	Slot  int    // receive: of those that the two processes have for claims
	Back  int64  // receive: how many this process has claimed, and read
	Both  bool   // receive: the sender may write into the buffer, and this process need not wait before it reads
	Into  uint64 // send: the address of the receiver's buffer, to write to; 0: the ring it is
	Again int64  // send: sections that the receiver could not read, behind those that this process has claimed
}

// Open reports whether the message is shared.
func (c *Claims) Open() bool { return c.word != nil }

// Cut divides bytes first to length into sections; false if they are too many.
func (c *Claims) Cut(first, length int64) bool {
	c.first, c.count = first, (length-first+Section-1)/Section
	return c.count <= claimMask
}

// Give opens claims at the receiver, who names their use and slot to the sender.
func (c *Claims) Give(word *uint64, use uint16, slot int) {
	c.word, c.use, c.Slot, c.Back = word, uint64(use), slot, 0
	atomic.StoreUint64(word, c.use<<useShift)
}

// Join opens them at the sender.
func (c *Claims) Join(word *uint64, use uint16) { c.word, c.use = word, uint64(use) }

// First is the byte where the sections begin.
func (c *Claims) First() int64 { return c.first }

// Left is how many sections nobody has claimed.
func (c *Claims) Left() int64 { return c.remaining(atomic.LoadUint64(c.word)) }

func (c *Claims) remaining(w uint64) int64 {
	if w>>useShift != c.use {
		return 0
	}
	return max(0, c.count-int64(w&claimMask)-int64(w>>claimBits&claimMask))
}

// TakeFront claims the next n sections for the sender, and TakeBack the last n for the receiver.
func (c *Claims) TakeFront(n int64) bool { return c.take(claimFront, n) }
func (c *Claims) TakeBack(n int64) bool  { return c.take(claimBack, n) }

func (c *Claims) take(end uint64, n int64) bool {
	for range claimTries {
		w := atomic.LoadUint64(c.word)
		if c.remaining(w) < n {
			return false
		}
		if atomic.CompareAndSwapUint64(c.word, w, w+uint64(n)*end) {
			return true
		}
	}
	return false
}

// GiveBack undoes the sender's last claim, of n sections.
func (c *Claims) GiveBack(n int64) bool {
	for range claimTries {
		w := atomic.LoadUint64(c.word)
		if w>>useShift != c.use || int64(w&claimMask) < n {
			return false
		}
		if atomic.CompareAndSwapUint64(c.word, w, w-uint64(n)*claimFront) {
			return true
		}
	}
	return false
}

// Share is how many sections one side claims at once: half of those that are left, within bounds.
func (c *Claims) Share() int64 { return max(1, min(Most, (c.Left()+1)/2)) }

// Begin is how many the sender claims first, who can write them: the receiver has half of them, and what is shorter is
// over when both have copied once.
func (c *Claims) Begin() int64 { return max(1, min(Most, c.Left())) }

// Last is the byte where the last k sections begin of those that the receiver has not claimed, and at most how many it
// can claim.
func (c *Claims) Last(k int64) (from, most int64) {
	most = min(k, c.count-c.Back)
	return c.first + (c.count-c.Back-most)*Section, most
}
