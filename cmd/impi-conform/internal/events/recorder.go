package events

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/transport/wire"
)

// Bounds of a trace.
const (
	first    = 8000 // events that are kept from the start, unless Keep says something else
	last     = 2000 // and from the end
	maxLine  = 256  // bytes of a line
	maxText  = 1024 // bytes of another text
	maxConns = 4096 // connections that are flushed at the end
)

// Party is a column of a recorder.
type Party int

// Nobody is the party of events that have none.
const Nobody Party = -1

type column struct {
	Column
	alone bool // it is its own even if another has the name
	used  bool // an event has it
}

// event is an Event whose parties may still get other names.
type event struct {
	Event
	from, to Party
}

// Recorder records a case.
type Recorder struct {
	began time.Time
	now   func() time.Time

	mu       sync.Mutex // guards what follows
	columns  []column
	first    int     // how many of the first ones are kept
	last     int     // and of the last ones
	changed  func()  // nil: nobody waits for events
	events   []event // the first ones
	tail     []event // the last ones, a ring
	n        int     // events so far
	frozen   bool
	seen     bool
	conns    []*Conn
	procs    map[codec.ID]Party
	window   map[[2]codec.ID]int
	ackMark  uint32
	hiWater  uint32
	assigned map[string]bool // names that a party without one has got
}

// New returns a recorder of a case that begins now.
func New() *Recorder { return NewAt(time.Now) }

// NewAt is New by another clock.
func NewAt(now func() time.Time) *Recorder {
	return &Recorder{began: now(), now: now, first: first, last: last, window: map[[2]codec.ID]int{},
		procs: map[codec.ID]Party{}, assigned: map[string]bool{}}
}

// Keep says how many events are kept, at least 5, the first four fifths and the last one. It is called before the first
// event.
func (r *Recorder) Keep(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(n, 5) / 5
	r.first = max(n, 5) - r.last
}

// Notify lets changed be called after each event, nil: no more. It is called under a lock, by whoever makes the event:
// it must not block, nor call the recorder.
func (r *Recorder) Notify(changed func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed = changed
}

// Party returns the party of a name.
func (r *Recorder) Party(name string, implementation bool) Party {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.party(name, implementation)
}

func (r *Recorder) party(name string, implementation bool) Party {
	i := slices.IndexFunc(r.columns, func(c column) bool { return !c.alone && c.Name == name })
	if i < 0 {
		i = len(r.columns)
		r.columns = append(r.columns, column{Column: Column{name, implementation}})
	}
	return Party(i)
}

// Unknown returns a party that has not said yet who it is.
func (r *Recorder) Unknown(what string, implementation bool) Party {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := len(r.columns)
	r.columns = append(r.columns, column{Column: Column{fmt.Sprintf("%s %d", what, i+1), implementation}, alone: true})
	return Party(i)
}

// named gives a party that was unknown a name. If unique, and another has got that name before, it adds which one it
// was.
func (r *Recorder) named(p Party, name string, unique bool) {
	c := &r.columns[p]
	if !c.alone {
		return
	}
	if unique && r.assigned[name] {
		c.Name = name + ", " + c.Name
		return
	}
	r.assigned[name] = true
	c.Name, c.alone = name, false
}

// Processes says which processes there are, by world rank, and to which client each belongs.
func (r *Recorder) Processes(ids []codec.ID, implementation func(rank int) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for rank, id := range ids {
		if _, twice := r.procs[id]; !twice {
			r.procs[id] = r.party(fmt.Sprintf("process %d", rank), implementation(rank))
		}
	}
}

// Negotiated says the values of flow control.
func (r *Recorder) Negotiated(ackMark, hiWater uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ackMark, r.hiWater = ackMark, hiWater
}

// note keeps an event and returns its number. The lock is held.
func (r *Recorder) note(from, to Party, e Event) int {
	if r.frozen && e.Kind != Ended {
		return 0
	}
	if from != Nobody && r.columns[from].Implementation && !r.frozen {
		r.seen = true
	}
	r.n++
	e.N, e.At = r.n, r.now().Sub(r.began)
	for _, p := range [2]Party{from, to} {
		if p != Nobody {
			r.columns[p].used = true
		}
	}
	switch x := (event{e, from, to}); {
	case len(r.events) < r.first:
		r.events = append(r.events, x)
	case len(r.tail) < r.last:
		r.tail = append(r.tail, x)
	default:
		r.tail[(r.n-r.first-1)%r.last] = x
	}
	if r.changed != nil {
		r.changed()
	}
	return r.n
}

// unit notes a command or packet. Packets are between the processes that they name, if these are known.
func (r *Recorder) unit(from, to Party, u codec.Unit) int {
	e := Event{Kind: u.Kind, Name: u.Name(), Bytes: u.Bytes, Total: u.Total}
	if u.Whole > u.Total {
		e.Whole = u.Whole
	}
	h, ok := u.Header()
	if ok && h.Type != wire.PkFini {
		src, knowsSrc := r.procs[h.Src]
		dst, knowsDst := r.procs[h.Dst]
		if knowsSrc {
			from = src
		}
		if knowsDst {
			to = dst
		}
		if knowsSrc && knowsDst && e.Whole == 0 {
			e.Window = r.count(h)
		}
	}
	return r.note(from, to, e)
}

// count keeps the window of a pair.
func (r *Recorder) count(h codec.Header) *int {
	pair := [2]codec.ID{h.Src, h.Dst}
	switch {
	case h.Counted():
		r.window[pair]++
	case h.Type == wire.PkProtoAck:
		pair = [2]codec.ID{h.Dst, h.Src}
		r.window[pair] -= int(r.ackMark)
	}
	n := r.window[pair]
	return &n
}

// Outstanding says how many packets from one process to another count and are not acknowledged, from an earlier case.
func (r *Recorder) Outstanding(from, to codec.ID, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window[[2]codec.ID{from, to}] = n
}

// Started notes that a program was started, by its words.
func (r *Recorder) Started(p Party, words []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(Nobody, p, Event{Kind: Started, Text: Clean(strings.Join(words, " "), maxText)})
}

// Line notes what a program has written, the first bytes of a line of length bytes. A player's line begins with the
// rank of the process.
func (r *Recorder) Line(p Party, stream, line string, length int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rank int
	if n, _ := fmt.Sscanf(line, "[%d] ", &rank); n == 1 {
		name := fmt.Sprintf("process %d", rank)
		if slices.ContainsFunc(r.columns, func(c column) bool { return c.Name == name && c.Implementation }) {
			p = r.party(name, true)
		}
	}
	text := Clean(line, maxLine)
	if length > len(line) {
		text += fmt.Sprintf(" ... (%d bytes in all)", length)
	}
	r.note(p, Nobody, Event{Kind: Line, Name: stream, Text: text, Total: length})
}

// Ended notes that a program has ended.
func (r *Recorder) Ended(p Party, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := fmt.Sprintf("exit code %d", code)
	if r.frozen {
		text = "ended by the tester"
	}
	r.note(p, Nobody, Event{Kind: Ended, Text: text})
}

// Problem notes what was wrong.
func (r *Recorder) Problem(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(Nobody, Nobody, Event{Kind: Problem, Text: Clean(text, maxText)})
}

// Seen reports whether anything was seen of the implementation.
func (r *Recorder) Seen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

// Freeze ends the recording: what comes is the tester's tidying up, of which only the ends of programs are noted.
func (r *Recorder) Freeze() {
	r.mu.Lock()
	conns := r.conns
	r.conns = nil
	r.mu.Unlock()
	for _, c := range conns {
		unlock := c.lock()
		if !c.lasts {
			c.flush()
		}
		unlock()
	}
	r.mu.Lock()
	r.frozen = true
	r.mu.Unlock()
}

// keep notes a connection that is to be flushed at the end. The lock is held.
func (r *Recorder) keep(c *Conn) {
	if len(r.conns) < maxConns {
		r.conns = append(r.conns, c)
	}
}

// Trace returns what was recorded.
func (r *Recorder) Trace() *Trace {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.piece(0, len(r.events)+len(r.tail))
}

// Piece returns what was recorded so far, of its events only some: at most count of those that are kept, but the first
// from. It also returns how many are kept. It takes as long as the piece is long, not as the trace.
func (r *Recorder) Piece(from, count int) (t *Trace, kept int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept = len(r.events) + len(r.tail)
	from = min(max(from, 0), kept)
	return r.piece(from, min(max(count, 0), kept-from)), kept
}

// piece is Piece within bounds. The lock is held.
func (r *Recorder) piece(from, count int) *Trace {
	t := &Trace{AckMark: r.ackMark, HiWater: r.hiWater, Left: r.n - len(r.events) - len(r.tail)}
	at := 0
	if r.n > r.first+r.last {
		at = (r.n - r.first) % r.last
	}
	for i := from; i < from+count; i++ {
		var e event
		if i < len(r.events) {
			e = r.events[i]
		} else {
			e = r.tail[(i-len(r.events)+at)%len(r.tail)]
		}
		e.From, e.To = r.name(e.from), r.name(e.to)
		t.Events = append(t.Events, e.Event)
	}
	t.Columns = r.used()
	return t
}

// used are the parties that some event has, each name once.
func (r *Recorder) used() (list []Column) {
	for _, c := range r.columns {
		if c.used && !slices.ContainsFunc(list, func(d Column) bool { return d.Name == c.Name }) {
			list = append(list, c.Column)
		}
	}
	slices.SortStableFunc(list, func(a, b Column) int {
		ak, a1, a2 := a.rank()
		bk, b1, b2 := b.rank()
		return slices.Compare([]int{ak, a1, a2}, []int{bk, b1, b2})
	})
	return list
}

func (r *Recorder) name(p Party) string {
	if p == Nobody {
		return ""
	}
	return r.columns[p].Name
}
