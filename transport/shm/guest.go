package shm

import (
	"errors"

	"github.com/libimpi/libimpi/transport"
)

// Guests are processes of other jobs on the same machine, which have segments of their own. Two processes that are to
// be each other's guests share the memory of a pair (layout.go), and have each other's segment, of which they use the
// control block only. One of the two, who dials, makes the pair:
//
//	dials                                        listens
//	p := Offer(); p.Descriptors()  -- pair, home, local -->
//	                               <-- home, local --  Residence()
//	Admit(number, pair, home, local, true)       Admit(number, pair, home, local, false)
//
// From then on each is a peer of the other's Transport by the number that was given for it, as ranks of the own segment
// are by their world ranks, until Part.

// Pair is the memory of a pair that this process has made for another, with which it is not shared yet.
type Pair struct {
	fd          int
	home, local int
}

var errNoPair = errors.New("shm: descriptor is not the memory of a pair of processes")

var _ transport.Parter = (*Transport)(nil)

// Offer makes the memory of a pair: the dialing side does that, once for each process that it dials. Any thread may
// call it, without the engine's lock. Errors are those of the kernel: descriptors or memory are exhausted.
func (t *Transport) Offer() (*Pair, error) {
	return nil, errNoPair
}

// Descriptors are what the other process needs: the descriptors of the pair's memory and of this process's segment, and
// this process's rank there. They stay this process's: the other gets duplicates (SCM_RIGHTS).
func (p *Pair) Descriptors() (pair, home, local int) { return p.fd, p.home, p.local }

// Close gives up a pair whose descriptor Admit has not been given.
func (p *Pair) Close() {}

// Residence is what a process that has been dialed answers: the descriptor of its own segment, which stays its own, and
// its rank there. Any thread may call it.
func (t *Transport) Residence() (home, local int) { return t.seg.fd, t.seg.rank }

// Discard closes a descriptor that another process has sent and that Admit has not been given. It has to be used instead
// of close: to close any descriptor of our own segment would tell the ranks of this machine that we are dead, so such
// a one, which nobody has a reason to send, stays open. Any thread may call it.
func (t *Transport) Discard(fd int) {}

// Admit makes a guest of the process that is rank local of the segment behind home. pair is the pair's memory: the
// descriptor of the own Pair if this process has offered it, else what the other has sent. number names the guest from
// now on; it is not negative, no world rank of this segment, and no other guest's. It is called under the engine's lock
// and does not block. Both descriptors belong to the Transport, whatever it answers. Nothing in the memory is believed
// before it is checked.
//
// Errors: a descriptor is not what it should be, home is our own segment, the guest has ended already, the number is in
// use, there are more than MaxLocal processes, or those of the kernel.
func (t *Transport) Admit(number int32, pair, home, local int, offered bool) error {
	return errNoPair
}

// Part implements transport.Parter: what has been sent stays in the pair's memory, which is the other's too. Memory and
// descriptors are given back at once; so they are for a guest that is lost. A number that is no guest's means nothing.
func (t *Transport) Part(number int32) {}

// Parted implements transport.Parter. A number that is no guest's, or not any more, has parted.
func (t *Transport) Parted(number int32) bool { return true }
