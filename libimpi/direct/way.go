package direct

import "time"

const (
	// swapBytes is the longest message that is read in one go because as much goes the other way, and swapLater if no
	// thread of the program waits in MPI.
	swapBytes = 4 << 20
	swapLater = 256 << 10
	// crowdBytes is the longest one that is where ranks outnumber cores.
	crowdBytes = 256 << 10
)

// Way is how the rest of a long message goes, when its receive has matched it.
type Way uint8

const (
	// Ring: the sender streams it.
	Ring Way = iota
	// Read: the receiver reads all of it at once.
	Read
	// Later: the receiver reads all of it when it has nothing else to do, as too many messages are shared already.
	Later
	// Write: the sender writes all of it.
	Write
	// Share: both copy what they claim.
	Share
)

// Rules are what decides about the way of messages in a process. Set at the start.
type Rules struct {
	On      bool // long messages are copied from memory to memory where that can be
	Past    bool // the ring is stored to past the caches
	ReadAll bool // never stream what can be read
	Writes  bool // the kernel can write into a peer's memory
	Cost    Cost
}

// Cost is how long it takes to read transport.CostBytes, and to copy them.
type Cost struct{ Read, Copied time.Duration }

// Message is what a receiver knows of a long message that it has matched.
type Message struct {
	Length, Room int64 // bytes of the message, and that there is room for
	First        int64 // bytes that are here already
	Readable     bool  // one run of bytes at both ends, which this process can read at the sender's
	Written      bool  // better written by the sender (coll.Writable)
	Slot         bool  // one more message of the sender can be shared

	Crowded bool // ranks outnumber cores
	Waiting bool // a thread of the program waits in MPI
	Offers  bool // this process has about as many bytes for the sender to read
}

// Way decides how the rest of a message goes.
func (r *Rules) Way(m *Message) Way {
	switch whole := m.First == 0 && m.Length <= m.Room; {
	case !m.Readable:
		return Ring
	case r.ReadAll:
		return Read
	case whole && m.Crowded && m.Length <= crowdBytes: // the sender would have to be woken, for what does not take long
		return Read
	case whole && !m.Crowded && !m.Written && (m.Length <= Section || m.Length <= m.swap() && m.Offers):
		return Read // both are busy, and what one has read is in its own caches
	case whole && !m.Crowded && m.Written && m.Length <= swapBytes && r.Writes:
		return Write // its core has the lines of that memory
	case m.Slot:
		return Share
	case m.First == 0:
		return Later
	}
	return Ring
}

// swap is the longest message that is read in one go because as much goes the other way. What the program does not wait
// for, the progress thread may go on with, in parts.
func (m *Message) swap() int64 {
	if m.Waiting {
		return swapBytes
	}
	return swapLater
}
