package otf2

import (
	"bufio"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/analysis"
	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
)

// writer writes lines for write.py, which says what they are.
type writer struct {
	*bufio.Writer
	r       *analysis.Result
	j       *job.Job
	members []map[int32]int32 // of each communicator: rank in MPI_COMM_WORLD -> rank there
	whole   int32             // the communicator of all, for those whose members are not known
	line    []byte
}

func (w *writer) put(kind byte, numbers ...int64) {
	w.line = append(w.line[:0], kind)
	for _, n := range numbers {
		w.line = strconv.AppendInt(append(w.line, ' '), n, 10)
	}
	w.Write(append(w.line, '\n'))
}

func (w *writer) all() error {
	if err := w.define(); err != nil {
		return err
	}
	for rank := range w.j.Ranks {
		if !w.j.Ranks[rank].Missing {
			w.rank(int32(rank))
		}
	}
	return nil
}

// roles of regions, by what a function does.
var roles = map[job.Class]string{job.Message: "POINT2POINT", job.Wait: "POINT2POINT", job.Test: "POINT2POINT",
	job.All: "COLL_ALL2ALL", job.FromRoot: "COLL_ONE2ALL", job.ToRoot: "COLL_ALL2ONE", job.Prefix: "COLL_OTHER",
	job.Neighbors: "COLL_OTHER", job.Window: "RMA", job.File: "FILE_IO"}

func (w *writer) define() error {
	var about struct {
		Machines   []string `json:"machines"`
		Comms      [][2]any `json:"comms"`
		Regions    [][2]any `json:"regions"`
		Operations []string `json:"operations"`
	}
	everybody := make([]int32, len(w.j.Ranks))
	for i := range w.j.Ranks {
		about.Machines = append(about.Machines, w.j.Ranks[i].Machine)
		everybody[i] = int32(i)
	}
	for i := range w.j.Comms {
		members := w.j.Comms[i].Members
		if members == nil {
			members = everybody
		}
		about.Comms = append(about.Comms, [2]any{w.j.Comms[i].Name, members})
		w.members = append(w.members, index(members))
	}
	w.whole = int32(len(w.j.Comms))
	about.Comms = append(about.Comms, [2]any{"all", everybody})
	w.members = append(w.members, index(everybody))
	for i, name := range w.j.Names {
		role := roles[w.j.Classes[i]]
		if role == "" {
			role = "FUNCTION"
		}
		about.Regions = append(about.Regions, [2]any{name, role})
		about.Operations = append(about.Operations, operation(name))
	}
	b, err := json.Marshal(about)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// operation is OTF2's name of a collective operation: MPI_Allreduce_c is ALLREDUCE.
func operation(name string) string {
	return strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "P"), "MPI_"), "_c"))
}

func index(members []int32) map[int32]int32 {
	to := make(map[int32]int32, len(members))
	for i, rank := range members {
		to[rank] = int32(i)
	}
	return to
}

// in is a communicator that has both ranks, and the number of one of them there.
func (w *writer) in(comm, own, peer int32) (number, rank int64) {
	if comm >= 0 {
		if _, inside := w.members[comm][own]; inside {
			if at, inside := w.members[comm][peer]; inside {
				return int64(comm), int64(at)
			}
		}
	}
	return int64(w.whole), int64(peer)
}

// event is something that happens at the beginning or at the end of a call.
type event struct {
	call int32
	end  bool
	put  func(at int64)
}

// rank writes the events of a rank, thread by thread: those of a location have to be in the order of time.
func (w *writer) rank(rank int32) {
	r := &w.j.Ranks[rank]
	events := w.events(rank, r)
	threads := map[uint16]bool{}
	for i := range r.Calls {
		threads[r.Calls[i].Thread] = true
	}
	for thread := range threads {
		w.put('T', int64(rank), int64(thread))
		var stack []job.Call
		var at []int32
		leave := func(until int64) {
			for n := len(stack); n > 0 && stack[n-1].End <= until; n = len(stack) {
				w.happens(events, at[n-1], true, stack[n-1].End)
				w.put('L', stack[n-1].End, int64(stack[n-1].Function))
				stack, at = stack[:n-1], at[:n-1]
			}
		}
		for i := range r.Calls {
			c := r.Calls[i]
			if c.Thread != thread {
				continue
			}
			leave(c.Start)
			if n := len(stack); n > 0 {
				c.End = min(c.End, stack[n-1].End)
			}
			w.put('E', c.Start, int64(c.Function))
			w.happens(events, int32(i), false, c.Start)
			stack, at = append(stack, c), append(at, int32(i))
		}
		leave(1<<63 - 1)
	}
}

func (w *writer) happens(events []event, call int32, end bool, at int64) {
	i, _ := slices.BinarySearchFunc(events, call, func(e event, call int32) int { return cmp.Compare(e.call, call) })
	for ; i < len(events) && events[i].call == call; i++ {
		if events[i].end == end {
			events[i].put(at)
		}
	}
}

// events are those of a rank, by call.
func (w *writer) events(rank int32, r *job.Rank) (list []event) {
	add := func(call int32, end bool, put func(at int64)) { list = append(list, event{call, end, put}) }
	for i := range r.Sends {
		h := &r.Sends[i]
		comm, peer := w.in(h.Comm, rank, h.Peer)
		kind := byte('S')
		if h.Done != h.Call && h.Done >= 0 {
			kind = 'I'
			add(h.Done, true, func(at int64) { w.put('C', at, int64(2*i)) })
		}
		add(h.Call, false, func(at int64) { w.put(kind, at, peer, comm, int64(h.Tag), h.Bytes, int64(2*i)) })
	}
	for i := range r.Receives {
		h := &r.Receives[i]
		if h.Done < 0 {
			continue
		}
		comm, peer := w.in(h.Comm, rank, h.Peer)
		kind := byte('R')
		if h.Done != h.Call {
			kind = 'V'
			add(h.Call, false, func(at int64) { w.put('Q', at, int64(2*i+1)) })
		}
		add(h.Done, true, func(at int64) { w.put(kind, at, peer, comm, int64(h.Tag), h.Bytes, int64(2*i+1)) })
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		if p.Done != p.Call {
			continue // begun and ended in other calls, between which others may lie
		}
		c := &r.Calls[p.Call]
		comm, root := w.in(p.Comm, rank, max(p.Root, 0))
		if p.Root < 0 {
			root = -1
		}
		add(p.Call, false, func(at int64) { w.put('B', at) })
		add(p.Call, true, func(at int64) { w.put('K', at, int64(c.Function), comm, root, c.Bytes) })
	}
	slices.SortStableFunc(list, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	return list
}
