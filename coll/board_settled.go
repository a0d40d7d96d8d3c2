package coll

import (
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// Settled is an exchange on a board whose ranks have told each other beforehand, as a persistent operation is made,
// where blocks stand in their parts. Parts have no lists then, and no block is a message; each rank shows a part, maybe
// an empty one. It is carried out any number of times, each of which begins with Begin.
//
//	Settle, of an Exchange -> Used is the length of the own part: are all parts short enough? -> Agree -> Begin, Run ...
type Settled struct {
	Laid
	places []int64 // of the blocks of the Exchange: where each begins in the own part, and its bytes
	shown  bool
	taken  int   // of In
	err    error // of a block: the others are taken all the same
}

// tooMuch is more than any part has, in bytes.
const tooMuch = 1 << 30

// Settle gives the blocks of an Exchange their places in the own part.
func (x *Exchange) Settle() *Settled {
	s := &Settled{places: make([]int64, 2*len(x.out))}
	for i := range x.out {
		o := &x.out[i]
		at, n := s.Used, min(o.Size(), tooMuch)
		if n >= blockAlign {
			at = (at + blockAlign - 1) &^ (blockAlign - 1)
		}
		s.put(o.Buf, at)
		s.places[2*i], s.places[2*i+1] = int64(at), n
		s.Used = min(at+(int(n)+entryBytes-1)&^(entryBytes-1), tooMuch)
	}
	return s
}

// Agree asks the others for the places of their blocks, along the same edges, on a board that blocks. No part has more
// than most bytes.
func (s *Settled) Agree(x *Exchange, c Comm, b Board, most int64) error {
	var asked Exchange
	asked.Begin(nil)
	asked.l.entries, asked.l.others, asked.ordered = x.l.entries, x.l.others, x.ordered
	for i, o := range x.out {
		o.Buf = Numbers(s.places[2*i : 2*i+2])
		asked.out = append(asked.out, o)
	}
	theirs := make([]int64, 2*len(x.in))
	for i, in := range x.in {
		in.Buf = Numbers(theirs[2*i : 2*i+2])
		asked.in = append(asked.in, in)
	}
	if err := asked.Do(c, b); err != nil {
		return err
	}
	for _, own := range x.own {
		if own.from.Size() > 0 {
			s.In = append(s.In, LaidBlock{Buf: own.to, From: b.Rank(), Own: own.from})
		}
	}
	for i, in := range x.in {
		at, n := theirs[2*i], theirs[2*i+1]
		if at < 0 || n < 0 || at > most || n > most-at {
			return &Error{Class: abi.MPI_ERR_INTERN,
				Msg: fmt.Sprintf("rank %d says that a block ends beyond its part", in.peer)}
		}
		s.Not = s.Not || n != in.Size()
		s.In = append(s.In, LaidBlock{Buf: in.Buf, From: int(in.peer), At: int(at), N: int(n)})
	}
	return nil
}

// Begin begins the exchange once more. What came of the last time is over.
func (s *Settled) Begin() { s.shown, s.taken, s.err = false, 0, nil }

// Run goes on with an exchange that has begun, as far as the board lets it, and says whether it is over.
func (s *Settled) Run(b Board) (over bool, err error) {
	if !s.shown {
		part, err := b.Put(int64(s.Used))
		if part == nil || err != nil {
			if err != nil {
				b.Fail(err)
			}
			return err != nil, err
		}
		for i := range s.Out {
			o := &s.Out[i]
			if err := packShown(part[o.At:o.At+int(o.Size())], o.Buf); err != nil {
				return true, err
			}
		}
		b.Publish(int64(s.Used))
		s.shown = true
	}
	for ; s.taken < len(s.In); s.taken++ {
		there, err := s.In[s.taken].take(b)
		if !there {
			return err != nil, err
		}
		if s.err == nil {
			s.err = err
		}
	}
	return true, s.err
}

// take takes a block whose place is settled, if it is there.
func (l *LaidBlock) take(b Board) (there bool, err error) {
	if l.Own.Count > 0 {
		return true, Copy(l.Buf, l.Own)
	}
	part, err := b.Get(l.From)
	switch {
	case part == nil || err != nil:
		return false, err
	case int64(l.N) > l.Size():
		return true, &Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("rank %d has %d bytes, and this rank %d", l.From, l.N, l.Size())}
	case l.At+l.N > len(part):
		return true, &Error{Class: abi.MPI_ERR_INTERN,
			Msg: fmt.Sprintf("rank %d shows a part of %d bytes", l.From, len(part))}
	}
	return true, Unpack(l.Buf, part[l.At:l.At+l.N], 0)
}
