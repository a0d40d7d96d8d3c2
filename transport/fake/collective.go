package fake

import (
	"slices"

	"github.com/libimpi/libimpi/transport"
)

// Collective operations of Network, of all processes of a job (transport.Collective). One that can be over for a
// process is over at one of its next polls.

// Lines is how many lines of operations there are.
const Lines = 3

var _ transport.Collective = (*Network)(nil)

// together is an operation of a line, as far as it has come.
type together struct {
	begun  int
	rooted bool   // the root of a broadcast has begun
	data   []byte // its message, or the vectors of those that have begun, combined
}

// share is a process's part in one.
type share struct {
	all *together
	o   *transport.Operation
}

// Lines implements transport.Collective.
func (n *Network) Lines() int { return Lines }

// Begin implements transport.Collective.
func (n *Network) Begin(line int, o *transport.Operation) {
	p, w := n.p, n.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	under := &w.together[p.job][line]
	if p.begun[line] == len(*under) {
		*under = append(*under, &together{})
	}
	all := (*under)[p.begun[line]]
	p.begun[line]++
	all.begun++
	isRoot, own := int(p.rank) == o.Root, o.Send
	if own == nil {
		own = o.Recv
	}
	switch {
	case o.Kind == transport.Barrier:
	case o.Kind == transport.Bcast:
		if isRoot {
			all.data, all.rooted = slices.Clone(own), true
		}
	case all.data == nil:
		all.data = slices.Clone(own)
	default:
		w.o.Combine(o, own, all.data)
	}
	p.shares = append(p.shares, share{all, o})
	for _, q := range w.procs {
		q.bell++
	}
}

// canEnd reports whether the operation can be over for a process of so many. Lock held.
func (s *share) canEnd(p *proc, processes int) bool {
	switch isRoot := int(p.rank) == s.o.Root; {
	case s.o.Kind == transport.Bcast:
		return s.all.rooted
	case s.o.Kind == transport.Reduce && !isRoot:
		return true
	}
	return s.all.begun == processes
}

// Poll implements transport.Transport.
func (n *Network) Poll() bool {
	did := n.link.Poll()
	p, w := n.p, n.p.w
	w.mu.Lock()
	var over []share
	p.shares = slices.DeleteFunc(p.shares, func(s share) bool {
		switch {
		case !s.canEnd(p, len(w.jobs[p.job].Procs)):
			return false
		case w.rng.IntN(2) == 0:
			p.bell++ // there is more to do
			return false
		}
		over = append(over, s)
		return true
	})
	w.mu.Unlock()
	for _, s := range over {
		copy(s.o.Recv, s.all.data)
		s.o.Over(nil)
	}
	return did || len(over) > 0
}
