package file

import (
	"container/heap"
	"encoding/binary"

	"github.com/libimpi/libimpi/datatype"
)

// peers is what a member knows of the views of all, which they send to each other once, when a collective access first
// needs them: as types, not as what these expand to.
type peers struct {
	of       *View   // this member's, when the others' were learned
	views    []*View // by rank, with layout and cursor only; nil: not known
	known    bool    // all views are
	disjoint bool    // no two of them see the same byte: this is known
}

// A view that is larger in serialized form is not sent where nobody depends on it, one that has none (datatype.Append)
// never, and the runs of so many are not compared. Then nothing is known of what all of them cover, and windows are
// read before they are written; between machines there are no windows.
const (
	mostSerial = 64 << 10
	mostRuns   = 1 << 17
)

// learn makes the views of all members known; collective.
func (f *File) learn(v *View) error {
	if f.peers.of == v {
		return nil
	}
	own := binary.LittleEndian.AppendUint64(nil, uint64(v.Disp))
	own, err := v.layout.Append(own)
	if err != nil || len(own) > mostSerial && f.machines() == 1 {
		own = nil
	}
	all, err := f.m.Gather(own)
	if err != nil {
		return err
	}
	p := peers{of: v, views: make([]*View, len(all))}
	p.known = true
	for r, b := range all {
		if len(b) < 8 {
			p.known = false
			continue
		}
		layout, err := datatype.Decode(b[8:])
		if err != nil {
			return err
		}
		layout.Commit()
		p.views[r] = &View{Disp: int64(binary.LittleEndian.Uint64(b)), layout: layout}
		if layout.Size() > 0 {
			p.views[r].cursor.Init(nil, layout.Endless(datatype.Native), layout, datatype.Native)
		}
	}
	p.disjoint = p.known && disjoint(p.views)
	f.peers = p
	return nil
}

// disjoint reports whether no two views see the same byte, as far as that can be found out by looking at a part of the
// file that repeats.
func disjoint(views []*View) bool {
	var period, from int64
	for _, v := range views {
		if v.layout.Size() == 0 {
			continue
		}
		if extent := v.layout.Extent(); period == 0 {
			period = extent
		} else if extent != period {
			return false
		}
		from = max(from, v.Disp+v.layout.TrueLB())
	}
	if period == 0 {
		return true
	}
	var heads walks
	for _, v := range views {
		if v.layout.Size() > 0 {
			w := &walk{v: v, pos: v.until(0, from)}
			w.end = w.pos + v.layout.Size()
			w.list.Used = w.list.N
			if w.step() {
				heads = append(heads, w)
			}
		}
	}
	heap.Init(&heads)
	end := int64(0)
	for range mostRuns {
		if len(heads) == 0 {
			return true
		}
		w := heads[0]
		if w.at < end {
			return false
		}
		end = w.at + w.n
		if w.step() {
			heap.Fix(&heads, 0)
		} else {
			heap.Pop(&heads)
		}
	}
	return false
}

// walk goes along the runs of a view.
type walk struct {
	v        *View
	pos, end int64 // of the stream: what has not been listed yet
	list     datatype.Runs
	at, n    int64 // the run where it is
}

// step goes on to the next run, and reports whether there is one.
func (w *walk) step() bool {
	if w.list.Used == w.list.N {
		if w.pos >= w.end {
			return false
		}
		w.pos = w.v.cursor.List(&w.list, w.pos, w.end)
	}
	w.at, w.n = w.v.Disp+w.list.Off[w.list.Used], w.list.Len[w.list.Used]
	w.list.Used++
	return true
}

// walks is a heap of them by where they are.
type walks []*walk

func (w walks) Len() int           { return len(w) }
func (w walks) Less(i, j int) bool { return w[i].at < w[j].at }
func (w walks) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *walks) Push(x any)        { *w = append(*w, x.(*walk)) }
func (w *walks) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
