package stat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/libimpi/report"
)

// Who can still act? First all ranks whose threads are blocked are taken to be stuck. A rank has hope if one of its
// threads can be ended by a rank that is not stuck, or by something that is not known here; then it is not stuck
// either, and others have hope. Those that remain wait for each other, or for ranks that are gone.
//
// This says too little rather than too much: what is not known counts as hope.

// hopes is the state of that search.
type hopes struct {
	*job
	stuck map[int]bool
	waits map[int][]wait // by rank, of its threads
	ops   map[*report.Thread]*operation

	// Who can act in groups, as of the beginning of a round: a rank that is found to have hope later in it helps in the
	// next.
	inGroup map[comm]bool
	inOp    map[*operation]*chances
}

// wait is what one thread waits for.
type wait struct {
	hope  bool // it may go on, as far as is known here
	all   bool // it needs all items, and not one of them
	items []item
}

// item is a rank, any member of a communicator, or a collective operation.
type item struct {
	hope bool
	rank int
	comm *report.Comm
	op   *operation
}

// chances are the members of an operation that can act.
type chances struct {
	missing, of int   // how many of those who are missing can act, and how many they are
	parties     []int // by party
}

// search finds the stuck ranks.
func (j *job) search(ops []*operation) *hopes {
	h := &hopes{job: j, stuck: map[int]bool{}, waits: map[int][]wait{}, ops: j.perThread(ops)}
	var list []*Rank
	for _, r := range j.ranks {
		if p := r.Process; p != nil && len(p.Threads) > 0 && len(p.Threads) >= p.ThreadCount && p.Open == "" && settled(p) {
			h.stuck[r.Rank] = true
			list = append(list, r)
			for i := range p.Threads {
				h.waits[r.Rank] = append(h.waits[r.Rank], h.waitOf(r, &p.Threads[i]))
			}
		}
	}
	for found := true; found; {
		found = false
		h.inGroup, h.inOp = map[comm]bool{}, map[*operation]*chances{}
		slices.Reverse(list) // chains go up as often as down
		list = slices.DeleteFunc(list, func(r *Rank) bool {
			hope := slices.ContainsFunc(h.waits[r.Rank], func(w wait) bool { return h.hasHope(r, &w) })
			if hope {
				delete(h.stuck, r.Rank)
				found = true
			}
			return hope
		})
	}
	return h
}

// longWait is a time after which a thread is taken to wait although it has been awake as its process was asked. Prove
// does not do that.
const longWait = int64(time.Second / 10)

// settled reports whether all threads of a process sleep.
func settled(p *report.Process) bool {
	return !slices.ContainsFunc(p.Threads, func(t report.Thread) bool { return !t.Settled && t.Since < longWait })
}

// perThread is the operation of each thread that waits in one.
func (j *job) perThread(ops []*operation) map[*report.Thread]*operation {
	of := map[*report.Thread]*operation{}
	for _, op := range ops {
		key := j.key(op.comm)
		for _, c := range op.calls {
			r := j.at[c.rank]
			for i := range r.Process.Threads {
				t := &r.Process.Threads[i]
				same := t.Number == op.number || t.Number == 0
				if !op.nonblocking && blocksTogether(t) && same && t.Object == op.window && t.Comm != 0 &&
					j.keyOf(r, t.Comm) == key {
					of[t] = op
				}
				if m := pending(t); op.nonblocking && m != nil {
					if k, _, ok := j.nonblocking(r, m); ok && k.number == op.number && k.comm == key {
						of[t] = op
					}
				}
			}
		}
	}
	return of
}

// waitOf is what a thread of a rank waits for.
func (h *hopes) waitOf(r *Rank, t *report.Thread) (w wait) {
	if op := h.ops[t]; op != nil {
		if t.World >= 0 && !h.guests(op.comm) { // one whose message or word has not come
			return wait{items: []item{{rank: t.World}}}
		}
		return wait{items: []item{{op: op}}}
	}
	if m, ok := single(t); ok {
		return wait{items: []item{h.itemOf(r, &m)}}
	}
	switch {
	case t.For == report.ForWindow && t.World >= 0 && mustCall[t.Call]:
		w.items = []item{{rank: t.World}}
	case t.For == report.ForWindow:
		for _, rank := range h.holders(r, t) {
			w.items = append(w.items, item{rank: rank})
		}
	case t.For == report.ForAny && t.WaitCount <= len(t.Waits), t.For == report.ForRequests:
		w.all = t.For == report.ForRequests
		for i := range t.Waits {
			w.items = append(w.items, h.itemOf(r, &t.Waits[i]))
		}
	}
	w.hope = len(w.items) == 0
	return w
}

// mustCall are the calls of windows that wait until another rank has made one.
var mustCall = map[string]bool{"MPI_Win_start": true, "MPI_Win_complete": true, "MPI_Win_wait": true,
	"MPI_Win_fence": true}

// itemOf is what a request waits for.
func (h *hopes) itemOf(r *Rank, m *report.Message) item {
	c := r.commOf(m.Comm)
	switch {
	case m.Kind == "psend" && m.State == "unready":
		return item{rank: r.Rank}
	case m.Kind == "precv" && m.World >= 0 && c != nil && !h.guests(c):
		return item{rank: m.World}
	case !isMessage(m) || m.State == "flows" || m.Peer == procNull || h.underWay(r, m):
		return item{hope: true}
	case m.Peer != anySource:
		return item{rank: m.World}
	case c == nil || h.guests(c):
		return item{hope: true}
	}
	return item{comm: c}
}

// canAct reports whether a rank can do something that another waits for.
func (h *hopes) canAct(rank int) bool {
	r := h.at[rank]
	return r == nil || !h.stuck[rank] && !r.State.gone()
}

// hasHope reports whether a thread may go on.
func (h *hopes) hasHope(r *Rank, w *wait) bool {
	if w.hope {
		return true
	}
	hope := func(i item) bool { return h.itemHasHope(r, &i) }
	if w.all {
		return !slices.ContainsFunc(w.items, func(i item) bool { return !hope(i) })
	}
	return slices.ContainsFunc(w.items, hope)
}

func (h *hopes) itemHasHope(r *Rank, i *item) bool {
	switch {
	case i.hope:
		return true
	case i.op != nil:
		return h.operationHasHope(r, i.op)
	case i.comm == nil:
		return h.canAct(i.rank)
	case i.comm.Remote > 0:
		return slices.ContainsFunc(h.all(i.comm), h.canAct)
	}
	key := h.key(i.comm)
	able, ok := h.inGroup[key]
	if !ok {
		able = slices.ContainsFunc(h.all(i.comm), h.canAct)
		h.inGroup[key] = able
	}
	return able
}

// underWay reports whether the counterpart of a message is there: then it is not the other rank's thread that it waits
// for.
func (h *hopes) underWay(r *Rank, m *report.Message) bool {
	key := h.keyOf(r, m.Comm)
	if sends(m) {
		o := h.at[m.World]
		return o != nil && h.wants(o, &mail{from: r.Rank, to: m.World, key: key, tag: m.Tag})
	}
	return slices.ContainsFunc(h.mail().to[r.Rank], func(o mail) bool {
		return o.key == key && (m.Tag == anyTag || m.Tag == o.tag) && (m.Peer == anySource || m.World == o.from)
	})
}

// operationHasHope reports whether a rank may leave an operation. Those who call something else in it are as good as
// missing.
func (h *hopes) operationHasHope(r *Rank, op *operation) bool {
	if h.guests(op.comm) {
		return true
	}
	c := h.inOp[op]
	if c == nil {
		c = &chances{of: len(op.missing)}
		for _, rank := range op.missing {
			if h.canAct(rank) {
				c.missing++
			}
		}
		for _, p := range op.parties {
			n := 0
			for _, rank := range p.ranks {
				if h.canAct(rank) {
					n++
				}
			}
			c.parties = append(c.parties, n)
		}
		h.inOp[op] = c
	}
	own := op.of[r.Rank]
	able, others := c.missing, c.of
	for k, n := range c.parties {
		if k != own {
			able, others = able+n, others+len(op.parties[k].ranks)
		}
	}
	switch {
	case others == 0:
		return true // all are there: it is under way
	case synchronizes(op.calls[0].name):
		return able == others
	}
	return able > 0
}

// holders are the ranks that have locked what a thread waits to lock, as far as they tell.
func (h *hopes) holders(r *Rank, t *report.Thread) (list []int) {
	c := r.commOf(t.Comm)
	if !strings.HasPrefix(t.Call, "MPI_Win_lock") || c == nil {
		return nil
	}
	key, target := h.key(c), targetOf(t)
	for _, o := range h.ranks {
		if o == r || o.Process == nil {
			continue
		}
		for i := range o.Process.Windows {
			w := &o.Process.Windows[i]
			if h.keyOf(o, w.Comm) == key && strings.HasPrefix(w.Epoch, "another call") {
				return nil // it may hold the lock
			}
			if h.keyOf(o, w.Comm) == key && strings.Contains(w.Epoch, "lock") &&
				(slices.Contains(w.Targets, target) || strings.Contains(w.Epoch, "at all ranks")) {
				list = append(list, o.Rank)
			}
		}
	}
	return list
}

// targets calls each with the ranks that a wait needs, in its order, until that returns false.
func (h *hopes) targets(r *Rank, w *wait, each func(rank int) bool) {
	for i := range w.items {
		list := []int{w.items[i].rank}
		switch op := w.items[i].op; {
		case w.items[i].hope:
			continue
		case w.items[i].comm != nil:
			list = h.all(w.items[i].comm)
		case op != nil:
			list = op.missing
			for k := range op.parties {
				if k != op.of[r.Rank] {
					list = append(slices.Clip(list), op.parties[k].ranks[0])
				}
				if k > mostLinks {
					break
				}
			}
		}
		for _, rank := range list {
			if !each(rank) {
				return
			}
		}
	}
}

// mostLinks bounds the ranks of a circle that are named.
const mostLinks = 3

// circle says who waits for whom among the stuck ranks; "": nobody is stuck.
func (j *job) circle(ops []*operation) string { return j.search(ops).text() }

func (h *hopes) text() string {
	path, closed := h.shortest()
	if len(path) == 0 {
		return ""
	}
	if closed {
		path = append(path, path[0])
	}
	var words []string
	last := len(path) - 1
	for i, rank := range path {
		if i >= mostLinks && i <= last-mostLinks {
			if i == mostLinks {
				words = append(words, fmt.Sprintf("a chain of %d ranks", last+1-2*mostLinks))
			}
			continue
		}
		r, name := h.at[rank], h.name(rank)
		switch {
		case r.State.gone():
			name += ", which " + silence(r)
		case i > 0 && rank == path[i-1]:
			name = "itself"
		case i < last:
			name += r.place()
		}
		words = append(words, name)
	}
	return words[0] + " waits for " + strings.Join(words[1:], ", which waits for ")
}

// place is the call in which a rank is, in brackets.
func (r *Rank) place() string {
	t := &r.Process.Threads[0]
	text := cmp.Or(clean(t.Call), "an MPI call")
	if t.Site != "" {
		text += ", " + clean(t.Site)
	}
	return " (" + text + ")"
}

// next is the rank that a stuck one waits for: of several, one that is stuck and another.
func (h *hopes) next(rank int) (to int, ok bool) {
	r, gone, self := h.at[rank], -1, false
	for i := range h.waits[rank] {
		found := -1
		h.targets(r, &h.waits[rank][i], func(w int) bool {
			switch {
			case w == rank:
				self = true
			case h.stuck[w]:
				found = w
			case gone < 0 && h.at[w] != nil && h.at[w].State.gone():
				gone = w
			}
			return found < 0
		})
		if found >= 0 {
			return found, true
		}
	}
	if self {
		return rank, true
	}
	return gone, gone >= 0
}

// shortest is the shortest circle that is found by going from each stuck rank to the next. If none is closed, it is a
// way to a rank that is gone.
func (h *hopes) shortest() (path []int, closed bool) {
	seen := map[int]int{} // in which walk
	for walk, r := range h.ranks {
		if !h.stuck[r.Rank] {
			continue
		}
		var steps []int
		at, ok := r.Rank, true
		for ok && h.stuck[at] && seen[at] == 0 {
			seen[at] = walk + 1
			steps = append(steps, at)
			at, ok = h.next(at)
		}
		switch {
		case !ok:
		case h.stuck[at] && seen[at] == walk+1:
			steps = steps[slices.Index(steps, at):]
			if !closed || len(steps) < len(path) {
				path, closed = steps, true
			}
		case !h.stuck[at] && !closed && path == nil:
			path = append(steps, at)
		}
	}
	return path, closed
}
