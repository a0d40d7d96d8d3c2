package onesided

import (
	"slices"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
)

// A fence of a window whose members do not share memory counts requests (Traff 2009, chapter 8): no target says to its
// origins that it has done what they asked for.
//
//	origin  how many requests it has sent to each target, since the window was made
//	  -> reduce-scatter: every process learns how many it has been sent, and that all have called the fence
//	  -> target  waits until it has done as many; as an origin it waits until its own memory is no more in use
//	  -> those of a machine wait for each other: what they access there next is done at once, without a request
//
// A process may leave the fence while another one still waits for requests of the epoch before. So that these come
// first, each request says after how many fences it was sent, and a target that has not come as far keeps it.
//
// A fence with MPI_MODE_NOPRECEDE, which all members give, ends no epoch. Then there is nothing to count, and nobody of
// another machine to wait for: requests to a process that has not called it are kept there. Only the members of a
// machine wait for each other.
//
// A dynamic window asks each target for a flush instead, since that says what has failed there; in other windows the
// origin knows what may fail.

// fences is what a window counts. The engine's lock guards it.
type fences struct {
	called uint64                      // fences that this process has come to
	served uint64                      // requests of others that are done
	all    uint64                      // of them when the fence ends
	sent   []uint64                    // to each target, for the reduce-scatter
	done   func(whole bool, err error) // servedOne
}

// unmet is how many fences with MPI_MODE_NOPRECEDE follow each other at most without one that meets all members: the
// numbers that requests carry must differ by less than half of what they count to.
const unmet = 1 << 14

// number is what a request says of the fences before it.
func (f *fences) number() uint16 { return uint16(f.called) }

// fenceByCounts is a fence. first: no epoch is before it.
func (w *Window) fenceByCounts(first bool) error {
	if first {
		if err := w.guarded((*Epochs).First); err != nil {
			return err
		}
	}
	var err error
	if !first || w.requests.fences.called%unmet == unmet-1 {
		err = w.count()
	} else {
		w.engine.Lock()
		w.comeTo()
		w.engine.Unlock()
	}
	if err == nil && w.near != nil {
		err = w.near.barrier()
	}
	return err
}

// near are the members of a machine that are not all of a window's.
type near struct {
	on    coll.Comm
	words *Words // nil: they map no memory
}

func (n *near) barrier() error {
	if n.words != nil {
		return n.words.Fence()
	}
	return coll.Barrier(n.on)
}

// nearMachine is Machine for them, by their ranks among themselves.
type nearMachine struct {
	Machine
	ranks []int // in the window
}

// Wake wakes one of them.
func (m nearMachine) Wake(rank int) { m.Machine.Wake(m.ranks[rank]) }

// newNearWords are words in zeroed memory that they map.
func newNearWords(mem []byte, me int, ranks []int, m Machine, l *losses) *Words {
	view, targets := NewView(len(ranks))
	return NewWords(mem, slices.Index(ranks, me), view, targets, nearMachine{m, ranks}, l)
}

// count returns when all members have called the fence, and when all is done that this process has been asked for, and
// has asked for. Another thread may not send requests meanwhile: no epoch would allow them.
func (w *Window) count() (err error) {
	q := &w.requests
	w.engine.Lock()
	if q.fences.sent == nil {
		q.fences.sent = make([]uint64, len(q.targets))
	}
	for r := range q.targets {
		q.fences.sent[r] = q.targets[r].sent
	}
	w.engine.Unlock()
	all, err := w.engine.ReduceScatter(q.fences.sent)
	if err != nil {
		return err
	}
	w.engine.Lock()
	defer w.engine.Unlock()
	q.fences.all = all
	if f := (*isFenced)(q); !f.Holds() {
		w.engine.WaitFor(f)
	}
	if w.failure() == nil {
		w.comeTo()
	}
	for r := range q.targets {
		q.targets[r].changed = false
		if bad := w.outcome(r); err == nil {
			err = bad
		}
	}
	return err
}

// isFenced is what a fence waits for: so many requests are done.
type isFenced windowRequests

func (f *isFenced) Holds() bool { return f.open == 0 && (f.lossy || f.fences.served >= f.fences.all) }

// servedOne notes that a request of another process is done. Engine lock held.
func (w *Window) servedOne(bool, error) {
	w.requests.fences.served++
	w.engine.Ring()
}

// comeTo begins what follows a fence: with the requests that are early no more. Engine lock held.
func (w *Window) comeTo() {
	q := &w.requests
	q.fences.called++
	for r := range q.targets {
		q.targets[r].ahead = ahead{}
	}
	for r := range q.origins {
		w.serveEarly(int32(r))
	}
}

// serveEarly serves what an origin has asked for early. Engine lock held.
func (w *Window) serveEarly(source int32) {
	o := &w.requests.origins[source]
	early := o.early
	o.early = nil
	for _, b := range early {
		w.Serve(source, b)
	}
}

// isEarly reports whether a request was sent after a fence that this process has not come to. What answers this process
// never waits, and nothing does once a member is lost.
func (w *Window) isEarly(r *Request) bool {
	return w.counts && !w.requests.lossy && !r.Kind.isAnswer() && int16(r.Fences-w.requests.fences.number()) > 0
}

// ahead are bytes of requests that a target may have to keep. The origin asks for a flush when there are some, which is
// answered when the target has come to the fence, and waits for the answer when there are many.
type ahead struct {
	bytes int64
	asked uint64 // the number of the flush; 0: none
}

const aheadBytes = 256 << 10

// goesAhead notes a request to a target. Engine lock held.
func (w *Window) goesAhead(to int, bytes int64) {
	t := &w.requests.targets[to]
	if t.ahead.bytes += bytes; w.counts && t.ahead.bytes > aheadBytes/2 && t.ahead.asked == 0 {
		t.flushes++
		t.ahead.asked = t.flushes
		w.asksFor(to, &Request{Kind: AskFlush}, nil)
	}
}

func (t *target) isTooFarAhead() bool { return t.ahead.bytes > aheadBytes && t.flushed < t.ahead.asked }

// First is asked by a fence with MPI_MODE_NOPRECEDE.
func (s *Epochs) First() *Error {
	if s.view.Access == InFence {
		return errorf(abi.MPI_ERR_ASSERT, "MPI_MODE_NOPRECEDE: %s", s.state())
	}
	return nil
}
