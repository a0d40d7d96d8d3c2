package coll

import "github.com/libimpi/libimpi/transport"

// View shows some ranks of a communicator as a communicator of their own.
type View struct {
	Local
	on     Comm
	ranks  []int32 // nil: all
	me     int
	shift  int // added to tags
	within *Machines

	// OfClient says that the ranks are all that the communicator has of the caller's client.
	OfClient bool
	// Distant says that each of the ranks is in an IMPI client of its own, if there are no machines.
	Distant bool

	// The rank `is` has the place `at`, instead of its own.
	moved  bool
	at, is int
}

// NewView shows the given ranks, of which the caller is number me; nil are all. shift is added to all tags, and
// machines are those of the ranks shown; nil: not known.
func NewView(on Comm, ranks []int32, me, shift int, machines *Machines) View {
	return View{Local: on, on: on, ranks: ranks, me: me, shift: shift, within: machines}
}

// Standing shows rank `is` at place `at`, whose own it takes.
func (w *View) Standing(at, is int) *View {
	w.moved, w.at, w.is = true, at, is
	return w
}

// Rank implements Comm.
func (w *View) Rank() int { return w.me }

// Size implements Comm.
func (w *View) Size() int {
	if w.ranks == nil {
		return w.on.Size()
	}
	return len(w.ranks)
}

// Ranks are those shown, nil if they are all.
func (w *View) Ranks() []int32 { return w.ranks }

// Machines are those of the ranks, nil if they are not known.
func (w *View) Machines() *Machines { return w.within }

func (w *View) rank(i int) int {
	switch {
	case w.moved && i == w.at:
		return w.is
	case w.ranks == nil:
		return i
	}
	return int(w.ranks[i])
}

// Send implements Comm.
func (w *View) Send(b Buf, to, tag int) error { return w.on.Send(b, w.rank(to), tag+w.shift) }

// Recv implements Comm.
func (w *View) Recv(b Buf, from, tag int) error { return w.on.Recv(b, w.rank(from), tag+w.shift) }

// Isend implements Comm.
func (w *View) Isend(b Buf, to, tag int) (Req, error) { return w.on.Isend(b, w.rank(to), tag+w.shift) }

// Irecv implements Comm.
func (w *View) Irecv(b Buf, from, tag int) (Req, error) {
	return w.on.Irecv(b, w.rank(from), tag+w.shift)
}

// IrecvWritten implements Writable.
func (w *View) IrecvWritten(b Buf, from, tag int) (Req, error) {
	return irecvWritten(w.on, b, w.rank(from), tag+w.shift)
}

// Vendor implements Vendored.
func (w *View) Vendor(Comm) bool {
	v, ok := w.on.(Vendored)
	return ok && w.OfClient && v.Vendor(w)
}

// Leave implements Vendored.
func (w *View) Leave(o transport.Operation) error {
	o.Root = w.rank(o.Root)
	return w.on.(Vendored).Leave(o)
}

// Wait implements Comm.
func (w *View) Wait(reqs ...Req) error { return w.on.Wait(reqs...) }
