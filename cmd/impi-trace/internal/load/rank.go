package load

import (
	"iter"
	"os"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-trace/internal/job"
	"github.com/libimpi/libimpi/libimpi/trace"
)

// rank is what is made of one file.
type rank struct {
	job.Rank
	f     *trace.File
	s     *shared
	calls []function // by the file's number
	comms map[uint32]*comm
	sites map[uint64]int32

	whole bool // an item told of a collective operation in this event

	pending   map[uint64]pending    // by request: what has begun, and is not complete
	templates map[uint64]trace.Item // persistent requests
}

// function is a function: its number in the job.
type function struct {
	number uint16
	known  bool
	class  job.Class
}

// comm is a communicator: its number in the job, and whom ranks in it stand for.
type comm struct {
	number int32
	peers  trace.Runs
	list   []int32 // of more than one run
	inter  bool
}

// pending is what a request stands for.
type pending struct {
	kind trace.Kind // Send, Recv, Collective
	at   int32      // of Sends, Receives or Parts
	comm *comm
}

// read makes a rank of a file.
func read(f *trace.File, s *shared) rank {
	r := rank{f: f, s: s, comms: map[uint32]*comm{}, sites: map[uint64]int32{}, pending: map[uint64]pending{},
		templates: map[uint64]trace.Item{}}
	r.Machine = f.Machine
	if stat, err := os.Stat(f.Path); err == nil {
		r.Calls = make([]job.Call, 0, max(0, min(stat.Size()-trace.HeaderBytes-int64(f.Room), 1<<32)/56))
	}
	events := f.Events()
	if len(f.Threads) > 1 {
		events = byReturn(f)
	}
	for e := range events {
		r.event(e)
	}
	r.finish()
	return r
}

// byReturn goes through the events of all threads in the order in which they returned: requests that one thread
// begins and another completes are known by then.
func byReturn(f *trace.File) iter.Seq[*trace.Event] {
	return func(yield func(*trace.Event) bool) {
		type thread struct {
			next func() (*trace.Event, bool)
			now  *trace.Event
		}
		var threads []thread
		for _, t := range f.Threads {
			next, stop := iter.Pull(f.EventsOf(t))
			defer stop()
			if e, ok := next(); ok {
				threads = append(threads, thread{next, e})
			}
		}
		for len(threads) > 0 {
			first := 0
			for i := range threads {
				if threads[i].now.End < threads[first].now.End {
					first = i
				}
			}
			t := &threads[first]
			if !yield(t.now) {
				return
			}
			e, ok := t.next()
			if t.now = e; !ok {
				threads = slices.Delete(threads, first, first+1)
			}
		}
	}
}

func (r *rank) event(e *trace.Event) {
	if e.Begin < 0 || e.End < e.Begin || e.End > latest || len(r.Calls) == 1<<31-1 {
		return
	}
	at, f := int32(len(r.Calls)), r.function(e.Call)
	r.Calls = append(r.Calls, job.Call{Start: e.Begin, End: e.End, Site: r.site(e.Site), Comm: -1, Peer: -1, Tag: -1,
		Function: f.number, Thread: uint16(e.Thread)})
	r.whole = false
	for i := range e.Items {
		r.item(at, &e.Items[i])
	}
	// Collective calls of windows and files have no item that says so.
	if c := &r.Calls[at]; f.class == job.All && !r.whole && c.Comm >= 0 {
		r.Parts = append(r.Parts, job.Part{Call: at, Done: at, Comm: c.Comm, Root: -1})
	}
}

func (r *rank) function(call uint16) *function {
	if int(call) >= len(r.calls) {
		r.calls = append(r.calls, make([]function, int(call)+1-len(r.calls))...)
	}
	f := &r.calls[call]
	if !f.known {
		name := r.f.Call(call)
		*f = function{r.s.name(name), true, job.ClassOf(name)}
	}
	return f
}

func (r *rank) site(address uint64) int32 {
	if address == 0 {
		return -1
	}
	at, ok := r.sites[address]
	if !ok {
		p := place{offset: address}
		if file, offset, ok := r.f.Place(address); ok {
			p = place{file, offset}
		}
		at = r.s.site(p)
		r.sites[address] = at
	}
	return at
}

// none stands for communicators that the file does not define.
var none = &comm{number: -1}

func (r *rank) comm(id uint32) *comm {
	c, ok := r.comms[id]
	if !ok {
		c = none
		if d := r.f.Comms[id]; d != nil {
			c = &comm{number: r.s.comm(d), peers: d.Peers(), inter: len(d.Remote) > 0}
			if len(c.peers) > 1 {
				c.list = c.peers.List()
			}
		}
		r.comms[id] = c
	}
	return c
}

// world is the rank in MPI_COMM_WORLD of a rank in a communicator; -1: there is none, or it is of another job.
func (r *rank) world(c *comm, peer int32) int32 {
	w := int32(-1)
	switch {
	case peer < 0:
	case c.list != nil && int(peer) < len(c.list):
		w = c.list[peer]
	case c.list == nil:
		w = c.peers.At(int(peer))
	}
	if w >= r.s.size {
		return -1
	}
	return w
}

func (r *rank) item(call int32, i *trace.Item) {
	c := &r.Calls[call]
	switch i.Kind {
	case trace.Send, trace.Recv, trace.Collective:
		if i.Flags&trace.FlagPersistent != 0 {
			r.templates[i.Request] = *i
			r.describe(c, i)
			return
		}
		r.begin(call, i, i.Request)
	case trace.Start:
		if t, ok := r.templates[i.Request]; ok {
			r.begin(call, &t, i.Request)
		}
	case trace.Got:
		r.got(call, i)
	case trace.Rename:
		if p, ok := r.pending[i.From]; ok {
			delete(r.pending, i.From)
			r.pending[i.Request] = p
		}
	case trace.OneSided:
		m := r.made(r.f.Windows[i.ID])
		c.Comm, c.Peer = m.number, r.world(m, i.Peer)
		c.Bytes += max(0, i.Bytes)
	case trace.FileAccess:
		c.Comm = r.made(r.f.Files[i.ID]).number
		c.Bytes += max(0, i.Bytes)
	case trace.Object:
		switch i.Flags {
		case trace.ObjectWindow:
			c.Comm = r.made(r.f.Windows[i.ID]).number
		case trace.ObjectFile:
			c.Comm = r.made(r.f.Files[i.ID]).number
		}
	case trace.Probe:
		r.describe(c, i)
	}
}

// made is the communicator of a window or file.
func (r *rank) made(n *trace.Named) *comm {
	if n == nil {
		return none
	}
	return r.comm(n.Comm)
}

// describe tells a call's communicator, peer and tag.
func (r *rank) describe(c *job.Call, i *trace.Item) {
	m := r.comm(i.ID)
	c.Comm = m.number
	if i.Kind == trace.Collective {
		if !m.inter {
			c.Peer = r.world(m, i.Peer)
		}
		return
	}
	c.Peer, c.Tag = r.world(m, i.Peer), i.Tag
}

// begin notes what begins in a call.
func (r *rank) begin(call int32, i *trace.Item, request uint64) {
	c, m := &r.Calls[call], r.comm(i.ID)
	r.describe(c, i)
	done := int32(-1)
	if request == 0 {
		done = call
	}
	p := pending{kind: i.Kind, comm: m}
	switch i.Kind {
	case trace.Collective:
		c.Bytes += max(0, i.Bytes)
		r.whole = true
		p.at = int32(len(r.Parts))
		r.Parts = append(r.Parts, job.Part{Call: call, Done: done, Comm: m.number, Root: c.Peer})
	case trace.Send:
		c.Bytes += max(0, i.Bytes)
		if i.Peer < 0 { // MPI_PROC_NULL
			delete(r.pending, request)
			return
		}
		p.at = int32(len(r.Sends))
		r.Sends = append(r.Sends, job.Half{Bytes: max(0, i.Bytes), Call: call, Done: done, Peer: c.Peer, Comm: m.number,
			Tag: i.Tag, Way: way(i)})
	case trace.Recv:
		p.at = int32(len(r.Receives))
		r.Receives = append(r.Receives, job.Half{Call: call, Done: -1, Peer: r.world(m, i.Peer), Comm: m.number, Tag: i.Tag,
			Way: way(i)})
	}
	if request != 0 || i.Kind == trace.Recv {
		r.pending[request] = p
	}
}

// way is how a message travels, as far as the call tells.
func way(i *trace.Item) job.Way {
	switch {
	case i.Flags&trace.FlagPartitioned != 0:
		return job.Partitioned
	case i.Kind == trace.Recv:
		return job.Unknown
	case i.Flags&trace.FlagSynchronous != 0:
		return job.Rendezvous
	case i.Flags&trace.FlagBuffered != 0, i.Flags&trace.FlagNonblocking != 0 && i.Request == 0:
		return job.Eager
	}
	return job.Unknown
}

// got notes that something is complete.
func (r *rank) got(call int32, i *trace.Item) {
	p, ok := r.pending[i.Request]
	if !ok {
		return
	}
	delete(r.pending, i.Request) // of a persistent request that has not been started again nothing more comes
	switch p.kind {
	case trace.Send:
		if i.Flags&trace.FlagCancelled != 0 {
			r.Sends[p.at].Peer = -1
		}
		if r.Sends[p.at].Done < 0 {
			r.Sends[p.at].Done = call
		}
	case trace.Collective:
		r.Parts[p.at].Done = call
	case trace.Recv:
		h := &r.Receives[p.at]
		if i.Flags&trace.FlagCancelled != 0 {
			h.Peer = -1
			return
		}
		h.Done, h.Bytes, h.Tag = call, max(0, i.Bytes), i.Tag
		c := &r.Calls[h.Call]
		if i.Peer >= 0 {
			h.Peer = r.world(p.comm, i.Peer)
		}
		if c.Peer < 0 || c.Tag < 0 {
			c.Peer, c.Tag = h.Peer, h.Tag
		}
		c.Bytes += h.Bytes
	}
}
