package libimpi

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/transport"
)

// What the process tells who asks why it does not go on (package report): its blocked threads (blocked.go), and what is
// under way. Everything is looked at when somebody asks, and nothing is changed by that: no message is taken in, and no
// receive of C's is adopted.

// State tells what the process waits for. Any goroutine may call it. The caller adds what the bridge alone knows: the
// process, its machine, and the arguments of calls.
func (e *Engine) State() *report.Process {
	e.traceAll()
	s := teller{e: e, p: &report.Process{Rank: int(e.me)}, now: time.Now()}
	s.tell()
	for _, w := range s.windows { // whose locks are taken before the engine's
		if epoch, targets := w.of.Epoch(); epoch != "" && !w.of.internal {
			s.p.WindowCount++
			s.p.Windows = add(s.p.Windows, report.Window{Name: w.name, Comm: w.comm, Epoch: epoch,
				Targets: targets[:min(len(targets), report.Most)]})
		}
	}
	return s.p
}

// teller makes a report.
type teller struct {
	e       *Engine
	p       *report.Process
	now     time.Time
	windows []window
}

// window is one that is open.
type window struct {
	of   *Window
	name string
	comm uint64
}

// add adds to a list, if there is room.
func add[T any](list []T, v T) []T {
	if len(list) >= report.Most {
		return list
	}
	return append(list, v)
}

func (s *teller) tell() {
	e, p := s.e, s.p
	e.mu.Lock()
	defer e.mu.Unlock()
	p.ThreadCount, p.Computing = len(e.waiting.blocked), len(e.waiting.blocked) == 0
	for _, b := range e.waiting.blocked {
		p.Threads = add(p.Threads, s.thread(b))
	}
	slices.SortStableFunc(p.Threads, func(a, b report.Thread) int { return int(min(max(b.Since-a.Since, -1), 1)) })
	if slices.ContainsFunc(p.Threads, func(t report.Thread) bool { return t.For == report.ForConnection }) {
		p.Open = "a process of another job may connect"
	}
	s.requests()
	s.quickReceives()
	s.unexpected()
	s.traffic()
	p.Moves = e.waiting.moves + uint64(e.bell.Bell())
	for _, w := range e.windows {
		s.windows = append(s.windows, window{w, w.Name, s.comm(w.comm)})
	}
}

// thread tells of a blocked thread.
func (s *teller) thread(b *blocked) report.Thread {
	t := report.Thread{For: b.cause.what, Comm: s.comm(b.cause.comm), Peer: report.None, World: report.None,
		Tag: report.None, Since: int64(s.now.Sub(b.since)), Settled: b.asleep && b.bell == s.e.bell.Bell(),
		Requests: b.given}
	if s.e.caller.Name != nil {
		t.Call = s.e.caller.Name(b.call)
	}
	for _, at := range b.returns {
		t.Returns = append(t.Returns, report.Address{Offset: uint64(at)})
	}
	switch c := b.cause.comm; {
	case t.For == report.ForMessage:
		t.Peer, t.World, t.Tag = int(b.cause.source), worldOf(c, b.cause.source), int(b.cause.tag)
	case t.For == report.ForMembers && b.cause.word != nil:
		if r, number, is := c.board.Awaited(b.cause.word); is {
			t.Peer, t.World, t.Number = r, worldOf(c, int32(r)), number
		}
	case t.For == report.ForFile:
		t.Object = b.cause.file.name
	case t.For == report.ForWindow:
		if i := slices.IndexFunc(s.e.windows, func(w *Window) bool { return w.comm == c }); i >= 0 {
			t.Object = s.e.windows[i].Name
			if r, ok := s.e.windows[i].Awaited(b.cause.word, b.cause.condition); ok {
				t.Peer, t.World = r, worldOf(c, int32(r))
			}
		}
	case b.cause.request != nil && b.cause.request.isCollective():
		m := s.message(b.cause.request)
		t.For, t.Comm, t.Peer, t.World = report.ForMembers, m.Comm, m.Peer, m.World
	default:
		s.waits(&t, b)
	}
	c := b.cause.comm
	if c == nil && b.cause.request != nil {
		c = b.cause.request.comm
	}
	if t.For == report.ForMembers && c != nil && c.doing.is(b, t.Call) {
		t.Bytes = c.doing.bytes
	}
	return t
}

// doing is a call of a collective operation: by its name, or as Caller.Call gives it.
type doing struct {
	name  string
	call  uintptr
	bytes int64 // of the longest buffer, or of a contribution; 0: not known, or not the same at all ranks
}

// Doing notes the blocking collective operation that a thread of the program begins.
func (c *Comm) Doing(name string, bytes int64) { c.does(doing{name: name, bytes: bytes}) }

// DoingCall is Doing for a call that only waits in Go.
func (c *Comm) DoingCall(call uintptr, bytes int64) { c.does(doing{call: call, bytes: bytes}) }

func (c *Comm) does(d doing) {
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.doing = d
}

// is reports whether a blocked thread is in that call.
func (d *doing) is(b *blocked, name string) bool {
	if d.call != 0 {
		return d.call == b.call
	}
	return d.name != "" && d.name == strings.TrimSuffix(name, "_c")
}

// waits tells of the requests that a thread waits for.
func (s *teller) waits(t *report.Thread, b *blocked) {
	if b.cause.request != nil && len(b.ids) == 0 {
		t.Waits, t.WaitCount, t.Requests = []report.Message{s.message(b.cause.request)}, 1, 1
	}
	for _, id := range b.ids {
		if r := s.e.requests.known(id); r != nil && r.underWay() {
			t.WaitCount++
			t.Waits = add(t.Waits, s.message(r))
		}
	}
	for i, m := range t.Waits {
		if i == 0 {
			t.Comm, t.Peer, t.World, t.Tag = m.Comm, m.Peer, m.World, m.Tag
			continue
		}
		if t.Peer, t.World, t.Tag = report.None, report.None, report.None; m.Comm != t.Comm {
			t.Comm = 0
		}
	}
}

// known is the request of an id that the program holds and that the engine has looked at.
func (t *requestTable) known(id uint64) *Request {
	if id&quickBit != 0 && t.quick != nil {
		n := uint32(id) &^ quickBit
		if n >= quickSlots || t.quick.Slots[n].Generation != uint32(id>>32) {
			return nil
		}
		id = t.quick.Slots[n].Request
	}
	return t.find(id)
}

// underWay reports whether the request is active, and not done.
func (r *Request) underWay() bool {
	return r.kind != noRequest && !r.state.done && (r.state.active || !r.state.persistent)
}

// isCollective reports whether the request is a message of a collective operation.
func (r *Request) isCollective() bool {
	return (r.kind == sendRequest || r.kind == recvRequest) && r.comm != nil && r.ctx == r.comm.coll
}

// isPart reports whether the request is a message of a partitioned one.
func (r *Request) isPart() bool {
	_, is := r.of.(*channel)
	return is && r.kind != compoundRequest
}

// tell tells of a partitioned request.
func (ch *channel) tell(m *report.Message) {
	m.Kind, m.Peer, m.World, m.Tag = "precv", int(ch.peer), worldOf(ch.comm, ch.peer), int(ch.tag)
	m.Bytes, m.Count, m.Type = ch.count*int64(ch.parts)*ch.typ.Size(), ch.count, typeName(ch.typ)
	if ch.sending {
		m.Kind = "psend"
		if ch.unready > 0 {
			m.State = "unready"
		}
		m.Missing = int(ch.unready)
	}
}

// requests tells of those that are under way: the program's, and their parts. Messages of collective operations and of
// windows are no business of the program's.
func (s *teller) requests() {
	p := s.p
	for _, r := range s.e.requests.slots {
		if r == nil || !r.underWay() || r.isCollective() || r.ctx != nil && r.ctx.windows() || r.isPart() {
			continue
		}
		switch r.kind {
		case sendRequest:
			p.SendCount++
			p.Sends = add(p.Sends, s.message(r))
		case recvRequest:
			p.ReceiveCount++
			p.Receives = add(p.Receives, s.message(r))
		case generalRequest:
			p.Open = "a generalized request, which the program completes"
		case compoundRequest:
			s.compound(r)
		}
	}
	if s.e.files.Busy() {
		p.Open = "an access to a file"
	}
}

// compound tells of a request that is no message.
func (s *teller) compound(r *Request) {
	switch of := r.of.(type) {
	case *Task:
		s.p.CollectiveCount++
		s.p.Collectives = add(s.p.Collectives, report.Collective{Comm: s.comm(of.comm), Routine: of.name(),
			Number: uint64(of.numbered.Value()), Board: of.board != nil, Missing: of.missing})
	case *fileAccesses:
		name := of.file.name
		i := slices.IndexFunc(s.p.Files, func(f report.File) bool { return f.Name == name })
		if i >= 0 {
			s.p.Files[i].Pending++
			return
		}
		s.p.FileCount++
		s.p.Files = add(s.p.Files, report.File{Name: name, Pending: 1})
	}
}

// name is the call that has begun the operation.
func (t *Task) name() string {
	if t.routine == 0 {
		return ""
	}
	return t.form.Name(coll.Routine(t.routine - 1))
}

// message tells of a request.
func (s *teller) message(r *Request) report.Message {
	m := report.Message{Kind: "request", Comm: s.comm(r.comm), Peer: report.None, World: report.None, Tag: report.None}
	switch r.kind {
	case recvRequest:
		m.Kind, m.Peer, m.Tag, m.State = "recv", int(r.env.source), int(r.env.tag), "posted"
		m.World = worldOf(r.comm, r.env.source)
		if !r.isPosted() {
			m.State = "flows"
		}
	case sendRequest:
		m.Kind, m.World, m.Tag, m.State = r.mode.name(), int(r.env.peer), int(r.env.tag), r.progress()
		m.Peer = int(r.comm.sourceOf(r.env.peer))
	case generalRequest:
		m.Kind = "general"
	case compoundRequest:
		m.Kind = "compound"
		switch of := r.of.(type) {
		case *Task:
			m.Kind, m.Routine = "collective", of.name()
		case *fileAccesses:
			m.Kind = "file"
		case *channel:
			of.tell(&m)
		}
	}
	if r.mem.typ != nil {
		m.Bytes, m.Count, m.Type = r.mem.size, r.declared.elements, typeName(r.mem.typ)
	}
	m.Internal = r.isCollective()
	return m
}

// typeName is what messages for users call a type.
func typeName(t *datatype.Type) string {
	if name := t.Label(); name != "" {
		return name
	}
	return fmt.Sprintf("derived datatype of %d bytes", t.Size())
}

func (m sendMode) name() string {
	switch m {
	case modeSynchronous:
		return "ssend"
	case modeBuffered:
		return "bsend"
	case modeReady:
		return "rsend"
	}
	return "send"
}

// progress is how far a send has come.
func (r *Request) progress() string {
	switch {
	case r.wire.Unmatched() || r.env.peer == r.comm.engine.me:
		return "asked"
	case r.wire.Moved > 0 || r.wire.Expects():
		return "flows"
	}
	return "held"
}

// worldOf is the process of a rank in messages of a communicator.
func worldOf(c *Comm, rank int32) int {
	if c == nil || rank < 0 || int(rank) >= c.group.Size() {
		return report.None
	}
	return int(c.group.World(int(rank)))
}

// quickReceives tells of the receives that C has posted.
func (s *teller) quickReceives() {
	q := s.e.requests.quick
	if q == nil || q.Posted == 0 {
		return
	}
	for i := range q.From {
		for n := q.From[i].Head; n != 0 && n <= quickSlots; n = q.Slots[n-1].Next {
			slot := &q.Slots[n-1]
			m := report.Message{Kind: "recv", Peer: int(slot.Source), World: report.None, Tag: int(slot.Tag),
				Bytes: int64(slot.Bytes), Count: int64(slot.Count), State: "posted"}
			if c := s.e.contexts.find(slot.CID); c != nil {
				m.Comm, m.World = s.comm(c.comm), worldOf(c.comm, slot.Source)
			}
			s.p.ReceiveCount++
			s.p.Receives = add(s.p.Receives, m)
		}
	}
}

// unexpected tells of messages that no receive has asked for.
func (s *teller) unexpected() {
	tell := func(comm uint64, m *message) {
		kind := "send"
		if m.Kind == uint8(transport.DataSync) {
			kind = "ssend" // or a long one
		}
		s.p.UnexpectedCount++
		s.p.Unexpected = add(s.p.Unexpected, report.Message{Kind: kind, Comm: comm, Peer: int(m.Source),
			World: int(m.Peer), Tag: int(m.Tag), Bytes: m.Length})
	}
	s.e.contexts.all(func(c *context) {
		if c == c.comm.p2p && !c.windows() && c.space.Kept() > 0 {
			comm := s.comm(c.comm)
			c.space.Each(func(*Request) {}, func(m *message) { tell(comm, m) })
		}
	})
	s.e.contexts.early.Each(func(m *message) { tell(report.NameOf(m.CID), m) })
}

// traffic tells how much has passed between machines, and what of that is not counted.
func (s *teller) traffic() {
	if network, can := s.e.ways.network.Transport.(transport.Observable); can {
		for _, row := range network.Traffic() {
			s.p.Sent, s.p.Received = s.p.Sent+row.PacketsOut, s.p.Received+row.PacketsIn
			if row.State&(transport.TrafficWaits|transport.TrafficBlocked) != 0 {
				s.p.Sent++ // of those that wait
			}
		}
	}
	if s.e.protocol.Flows() || s.e.protocol.Pulls() {
		s.p.Sent++
	}
	switch {
	case s.e.pressure.AnyShut():
		s.p.Open = "messages that wait until this process keeps fewer unexpected ones"
	case s.e.ways.vendor.connected():
		s.p.Open = "another MPI library, whose messages are not counted"
	case len(s.e.guests.here) > 0:
		s.p.Open = "processes of other jobs"
	}
}

// name is how a report names a communicator.
func name(c *Comm) uint64 {
	if c == nil {
		return 0
	}
	return report.NameOf(c.p2p.cid)
}

// comm tells of a communicator, once, and returns how the report names it.
func (s *teller) comm(c *Comm) uint64 {
	if c == nil || s.p.Find(name(c)) != nil {
		return name(c)
	}
	told := report.Comm{ID: c.p2p.cid, Name: c.Name, Rank: int(c.rank), Size: c.Size(),
		Members: report.Runs(c.group.Size(), func(r int) int { return int(c.group.World(r)) })}
	if c.inter.local != nil {
		told.Remote = c.Ranks()
	}
	s.p.Comms = add(s.p.Comms, told)
	return name(c)
}
