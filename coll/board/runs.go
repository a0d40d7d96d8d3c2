package board

import (
	"github.com/libimpi/libimpi/datatype"
)

// Runs is an operation that moves nothing but runs of bytes, or combines elements by a predefined operation from the
// first rank to the last: C can execute it (gobridge/executor/board.h).
type Runs struct {
	Own        datatype.Pointer // the own contribution, N bytes; nil: there is none, or it is empty
	N          int64
	Shows      bool
	First, End int   // whose contributions are taken
	At, Take   int64 // the piece of each
	To         datatype.Pointer
	Stride     int64          // between what is taken of one rank and of the next, in bytes
	Op         Op             // nil: they stay apart
	Of         *datatype.Type // of Count elements that are combined
	Count      int64
}

// Runs returns what a new operation is as Runs, if it is so simple. C moves the own block as it does those of others:
// who starts anew where blocks are replaced needs what it has had, and Go begins anew when C gives up.
func (o *Operation) Runs() (r Runs, simple bool) {
	switch o.kind {
	case moves:
		return o.move.runs()
	case combines:
		return o.combine.runs()
	}
	return r, false
}

func (m *move) runs() (r Runs, simple bool) {
	r, simple = m.contribution.runs(m.to)
	replaces := m.each && !m.whole && m.own.Base == m.to.Base
	if !simple || replaces || m.upTo > 0 || m.mine.Count > 0 && !m.mine.Type.Dense() {
		return r, false
	}
	r.First, r.End, r.At, r.Take, r.To = m.next, m.end, m.at, m.n, m.to.Base
	if m.mine.Count > 0 && !m.shows {
		r.Own, r.N = m.mine.Base, m.mine.Size()
	}
	if m.whole {
		r.Take = m.to.Size()
	}
	if m.each {
		r.Stride = m.to.Size()
	}
	return r, true
}

func (c *combine) runs() (r Runs, simple bool) {
	if r, simple = c.contribution.runs(c.to); !simple || c.next < c.end && c.step != 1 || c.seeded {
		return r, false
	}
	r.First, r.End = c.next, max(c.next, c.end)
	if c.op != nil {
		r.At, r.Take, r.To, r.Op, r.Of, r.Count = c.at, c.to.Size(), c.to.Base, c.op, c.to.Type, c.to.Count
	}
	return r, true
}

// runs is what a contribution is in operations whose result belongs to some memory.
func (c *contribution) runs(to Buf) (r Runs, simple bool) {
	r = Runs{N: c.own.Size(), Shows: c.shows}
	if c.own.Count > 0 && !c.own.Type.Dense() || to.Count > 0 && !to.Type.Dense() || c.shows && r.N != c.most {
		return r, false
	}
	if r.N > 0 {
		r.Own = c.own.Base
	}
	return r, true
}
