// Package board holds what a rank does in operations on a board: memory that all ranks of a communicator see. In each
// operation a rank may put a contribution on the board, and read those of others; all ranks begin the same operations
// in the same order, also those in which they do neither. Contributions are short: an operation is one copy to the
// board and one from there, in one round.
//
// A blocking call carries an operation out at once, and progress as far as the contributions of others are there. The
// names of operations, counts and results are those of the operations that send messages.
//
//	move.go      blocks are put where they belong
//	combine.go   vectors become one
//	chain.go     vectors become one from rank to rank
//	exchange.go  blocks whose lengths not all ranks know (list.go)
//	runs.go      what C can execute
//
// Source: none. What is done on boards was chosen by measurement.
package board

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/buffer"
)

// What operations move (package buffer).
type (
	Buf   = buffer.Buf
	VBuf  = buffer.VBuf
	Op    = buffer.Op
	Error = buffer.Error
)

// Seats are the ranks of a board, or of a communicator.
type Seats interface {
	Rank() int
	Size() int
}

// Board is a board as an operation sees it.
type Board interface {
	Seats
	// Begin begins the operation that comes next, with contributions of at most n bytes, or AnyLength. End ends it. If
	// the own contribution has not been shown then, those who need it get an error.
	Begin(n int64)
	End()
	// Put returns the memory for the own contribution, of at most n bytes, once all have read what was there before.
	// Until then it blocks, or returns nil. Publish shows n bytes of it to the others.
	Put(n int64) ([]byte, error)
	Publish(n int64)
	// Get returns a rank's contribution, once it is there, also a second time. Until then it blocks, or returns nil. It
	// stays until End. Errors: a rank is lost, or its contribution does not come.
	Get(rank int) ([]byte, error)
}

// AnyLength is said to Begin where each rank says with Put how long its own contribution is.
const AnyLength = -1

// operation is one type of operation that has begun. Run goes on with it as far as the board lets it, and reports
// whether it is over.
type operation interface {
	Most() int64
	Shows() bool
	Run(b Board) (over bool, err error)
}

// Operation is what a rank does in an operation on a board: memory for one of any type, that one of the methods named
// after operations fills in place. So nothing is allocated, and it can be copied before it begins.
type Operation struct {
	// InOrder: vectors are combined from the first rank to the last, so that results have the bits of a loop over the
	// ranks.
	InOrder bool

	kind    kind
	move    move
	combine combine
	chain   chain
}

type kind uint8

const (
	moves kind = iota
	combines
	chains
)

func (o *Operation) is() operation {
	switch o.kind {
	case moves:
		return &o.move
	case combines:
		return &o.combine
	}
	return &o.chain
}

// Most is how many bytes the longest contribution to the operation has.
func (o *Operation) Most() int64 { return o.is().Most() }

// Shows reports whether this rank has a contribution that is yet to be shown.
func (o *Operation) Shows() bool { return o.is().Shows() }

// Run goes on with an operation that has begun, and reports whether it is over.
func (o *Operation) Run(b Board) (over bool, err error) { return o.is().Run(b) }

// Do carries an operation out, on a board that blocks.
func (o *Operation) Do(b Board) error {
	is := o.is()
	b.Begin(is.Most())
	_, err := is.Run(b)
	b.End()
	return err
}

// contribution is what a rank shows in an operation.
type contribution struct {
	most   int64 // bytes of the longest one; the same at all ranks
	own    Buf
	share  Buf // stands behind own
	shows  bool
	forAll bool // all others read it

	hole, behind int64 // own is shown without its elements from hole on, before behind: nobody reads them there
}

// Most implements operation.
func (c *contribution) Most() int64 { return c.most }

// Shows implements operation.
func (c *contribution) Shows() bool { return c.shows }

// set makes the rank show a contribution.
func (c *contribution) set(own Buf) { c.own, c.shows = own, true }

// setBut makes the rank show one without its elements from hole on, before behind; nothing, if there are no others.
// Then nobody may await it.
func (c *contribution) setBut(own Buf, hole, behind int64) {
	c.set(own)
	c.hole, c.behind = hole, behind
	c.shows = behind-hole < own.Count
}

// show shows the own contribution, if there is one, and reports whether that is done.
func (c *contribution) show(b Board) (done bool, err error) {
	if !c.shows {
		return true, nil
	}
	n := c.own.Size() + c.share.Size()
	mem, err := c.put(b, n)
	if mem == nil || err != nil {
		return false, err
	}
	if err := c.pack(mem); err != nil {
		return false, err
	}
	b.Publish(n)
	c.shows = false
	return true, nil
}

// put returns memory for a contribution of n bytes, if there is some now.
func (c *contribution) put(b Board, n int64) (mem []byte, err error) {
	if mem, err = b.Put(n); mem == nil || err != nil {
		return nil, err
	}
	if int64(len(mem)) < n {
		return nil, &Error{Class: abi.MPI_ERR_COUNT,
			Msg: fmt.Sprintf("this rank has %d bytes for the others, who expect %d at most", n, c.most)}
	}
	return mem[:n], nil
}

func (c *contribution) pack(mem []byte) error {
	switch {
	case c.forAll:
		return buffer.PackForAll(mem, c.own)
	case c.behind == 0 && c.share.Count == 0:
		return buffer.PackShown(mem, c.own)
	}
	if err := buffer.PackShown(mem, c.own.Slice(0, c.hole)); err != nil {
		return err
	}
	if rest := c.own.Count - c.behind; rest > 0 {
		if err := buffer.PackShown(mem[c.behind*c.own.Type.Size():], c.own.Slice(c.behind, rest)); err != nil {
			return err
		}
	}
	return buffer.PackShown(mem[c.own.Size():], c.share)
}

// expect looks whether a contribution of a rank has so many bytes at least, and not too many.
func (c *contribution) expect(rank int, part []byte, least int64) error {
	switch n := int64(len(part)); {
	case n < least:
		return &Error{Class: abi.MPI_ERR_COUNT, Msg: fmt.Sprintf(
			"rank %d has %d bytes for all, and this rank expects %d", rank, n, least)}
	case n > c.most:
		return &Error{Class: abi.MPI_ERR_TRUNCATE, Msg: fmt.Sprintf(
			"rank %d has %d bytes for all, and this rank expects %d at most", rank, n, c.most)}
	}
	return nil
}

// elements is memory as a buffer of as many elements as another one has.
func elements(mem []byte, as Buf) Buf {
	return Buf{Base: buffer.Bytes(mem).Base, Count: as.Count, Type: as.Type.Plain()}
}
