package coll

import (
	"math/bits"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/board"
)

// Scratch is the working memory of one call of a collective: temporary buffers and lists of requests. It
// comes from a pool and goes back to it when the call ends well. After an error messages may still be on
// their way into it, so that it is left to the garbage collector.
//
//	s := c.Scratch()
//	defer s.Done(&err)
//
// That of a recorded operation belongs to its Schedule, and lives as long.
type Scratch struct {
	kept    bool // by a Schedule
	sketch  *Sketch
	reqs    []Req
	used    int
	chunks  []*chunk
	level   levels
	onBoard board.Operation // of a long operation
	handOns []handOn        // of a broadcast through several levels
	fanIns  []fanIn         // of a reduction through several levels
	fanIn   fanIn           // of a reduction
	coming  []Req           // pieces from far away, in their order
	small   [smallScratch]byte
}

// chunk is a larger piece of memory, of a power of two bytes.
type chunk struct {
	b     []byte
	class int
}

const (
	smallScratch = 4096
	minClass     = 13 // 8 KiB
	maxClass     = 26 // 64 MiB; what is larger is not kept
	maxAlloc     = 1 << 46
	window       = 64 // requests under way at once
)

var (
	scratches = sync.Pool{New: func() any {
		return &Scratch{reqs: make([]Req, 0, 2*window), chunks: make([]*chunk, 0, 8)}
	}}
	chunks [maxClass + 1]sync.Pool
)

// NewScratch takes an empty Scratch from the pool.
func NewScratch() *Scratch { return scratches.Get().(*Scratch) }

// Done gives back all memory, if *err is nil.
func (s *Scratch) Done(err *error) {
	if *err == nil && !s.kept {
		s.release()
	}
}

// Kept tells whether the memory is needed after the call that has taken it: the operation is carried out later.
func (s *Scratch) Kept() bool { return s.kept }

func (s *Scratch) release() {
	for i, c := range s.chunks {
		chunks[c.class].Put(c)
		s.chunks[i] = nil
	}
	if s.level.m != nil {
		s.level = levels{}
	}
	if s.fanIn.c != nil {
		s.fanIn = fanIn{}
	}
	clear(s.handOns)
	clear(s.fanIns)
	s.handOns, s.fanIns = s.handOns[:0], s.fanIns[:0]
	s.chunks, s.reqs, s.coming = s.chunks[:0], s.reqs[:0], s.coming[:0]
	s.used, s.kept, s.sketch = 0, false, nil
	scratches.Put(s)
}

// Alloc returns n bytes of undefined content, aligned to 16, that are valid until Done.
func (s *Scratch) Alloc(n int64) ([]byte, error) {
	if n < 0 || n > maxAlloc {
		return nil, &Error{Class: abi.MPI_ERR_NO_MEM,
			Msg: "a collective operation needs a temporary buffer of more than 2^46 bytes"}
	}
	if at := (s.used + 15) &^ 15; int64(at)+n <= smallScratch {
		s.used = at + int(n)
		return s.small[at:s.used:s.used], nil
	}
	if s.sketch != nil {
		return s.sketch.Take(n)
	}
	class := max(minClass, bits.Len64(uint64(n-1)))
	if class > maxClass {
		return make([]byte, n), nil
	}
	c, _ := chunks[class].Get().(*chunk)
	if c == nil {
		c = &chunk{make([]byte, 1<<class), class}
	}
	s.chunks = append(s.chunks, c)
	return c.b[:n:n], nil
}

// Add notes a request, or passes on the error of the call that started it.
func (s *Scratch) Add(r Req, err error) error {
	if err == nil {
		s.reqs = append(s.reqs, r)
	}
	return err
}

// Full says that it is time to Wait: no more than a window of messages should be under way.
func (s *Scratch) Full() bool { return len(s.reqs) >= window }

// Wait ends all requests noted.
func (s *Scratch) Wait(c Comm) error {
	if len(s.reqs) == 0 {
		return nil
	}
	err := c.Wait(s.reqs...)
	s.reqs = s.reqs[:0]
	return err
}

// Exchange sends out to one rank while it receives in from another.
func (s *Scratch) Exchange(c Comm, out Buf, to int, in Buf, from, tag int) error {
	// The send first: what then comes in shows that both sides have something to read.
	if err := s.Add(c.Isend(out, to, tag)); err != nil {
		return err
	}
	if err := s.Add(c.Irecv(in, from, tag)); err != nil {
		return err
	}
	return s.Wait(c)
}

// ExchangeWritten is Exchange where each rank writes what is for the other, if it can, since it has read that memory
// last.
func (s *Scratch) ExchangeWritten(c Comm, out Buf, to int, in Buf, from, tag int) error {
	if err := s.Add(c.Isend(out, to, tag)); err != nil {
		return err
	}
	if err := s.Add(irecvWritten(c, in, from, tag)); err != nil {
		return err
	}
	return s.Wait(c)
}

// irecvWritten is Irecv of a message that its sender writes, where that is possible.
func irecvWritten(c Comm, b Buf, from, tag int) (Req, error) {
	if w, ok := c.(Writable); ok {
		return w.IrecvWritten(b, from, tag)
	}
	return c.Irecv(b, from, tag)
}

// exchangeAndCombine combines in with what comes from a rank, by way of tmp, and sends out to another one meanwhile. A
// rank below 0 is none.
func (s *Scratch) exchangeAndCombine(c Comm, op Op, tmp, in Buf, from int, out Buf, to, tag int) error {
	if from >= 0 {
		if err := s.Add(c.Irecv(tmp.Slice(0, in.Count), from, tag)); err != nil {
			return err
		}
	}
	if to >= 0 {
		if err := c.Send(out, to, tag); err != nil {
			return err
		}
	}
	if err := s.Wait(c); err != nil || from < 0 {
		return err
	}
	return c.Combine(op, tmp, in)
}

// A Sketch is where the buffers of a Schedule lie that is looked at and never carried out: a range of addresses, which
// need not be memory until an algorithm writes there what it has computed for itself. So a simulation can record what
// 10^5 ranks do with a gigabyte each.
type Sketch struct {
	all  []byte
	used int64
}

// NewSketch makes a Sketch of the given range.
func NewSketch(all []byte) *Sketch { return &Sketch{all: all} }

// Take returns the next n bytes, aligned to 16, and Reset gives all of them back.
func (k *Sketch) Take(n int64) ([]byte, error) {
	at := (k.used + 15) &^ 15
	if n > int64(len(k.all))-at {
		return nil, &Error{Class: abi.MPI_ERR_NO_MEM, Msg: "the buffers of a schedule do not fit into its sketch"}
	}
	k.used = at + n
	return k.all[at:k.used:k.used], nil
}

// Reset makes the whole range free again.
func (k *Sketch) Reset() { k.used = 0 }

// Sketch has the working memory of what is recorded next come from k, small pieces apart.
func (s *Schedule) Sketch(k *Sketch) { s.sketch = k }
