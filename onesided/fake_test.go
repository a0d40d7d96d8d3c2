package onesided

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// Fake is what the windows of a job need of its engines, in memory: each process is a goroutine. Messages go from one
// inbox to another, and are taken when a process makes progress; what is not short is copied by its receiver, and its
// sender hears later that it has ended.
type Fake struct {
	Machines []int // by process
	// NoRead: the kernel does not let processes read each other's memory. Move replaces what does, if it is not nil.
	NoRead bool
	Move   func(here, there []transport.Run, put bool) bool
	// Waits is called again and again by a process that waits for a condition, under its lock; it may be nil.
	Waits func(*FakeEngine)
	// External: processes of different machines keep data in different ways.
	External bool

	memory  *segments
	engines []*FakeEngine
	late    late
	sums    struct {
		sync.Mutex
		rounds map[int][][]uint64 // what each member has given
	}
	spares []Spares
	deaths deaths
}

// NewFake makes a job of a process for each entry of machines. Memory is found that was made from the nth time on.
func NewFake(machines []int, foundFrom int) *Fake {
	f := &Fake{Machines: machines, memory: newSegments(), spares: make([]Spares, len(machines))}
	f.memory.foundFrom, f.deaths.of = foundFrom, make([]atomic.Bool, len(machines))
	return f
}

// patience bounds what a test waits for.
const patience = time.Minute

// Run calls body for each process, whose windows may come one after the other, and returns when all have ended.
func (f *Fake) Run(t testing.TB, body func(e *FakeEngine)) {
	t.Helper()
	f.engines = make([]*FakeEngine, len(f.Machines))
	for r := range f.engines {
		f.engines[r] = &FakeEngine{f: f, Me: r, limit: time.Now().Add(patience), running: map[uint64]*asked{}, last: 1,
			known: make([]bool, len(f.Machines))}
	}
	err := colltest.New(len(f.Machines)).Run(func(c *colltest.Comm) error {
		e := f.engines[c.Rank()]
		e.comm = c
		body(e)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// FakeEngine implements all parts of Engine for one process.
type FakeEngine struct {
	f     *Fake
	comm  *colltest.Comm
	Me    int
	limit time.Time

	inbox struct {
		sync.Mutex
		packets []packet
		early   []packet // data that nobody has waited for
	}
	barriers atomic.Int64 // how many it has called
	summed   int          // and how often ReduceScatter

	mu       sync.Mutex // the engine's lock: guards all that follows
	window   *Window    // that takes requests
	member   *Window    // the same, or one that takes none
	known    []bool     // who is lost
	unserved []packet   // requests that came before there was a window
	posted   []receive
	running  map[uint64]*asked
	last     uint64 // request given out
	sent     int
	Breaches []string // what members have done that they must not
}

// packet is a message on its way, or the end of one.
type packet struct {
	on    Space
	from  int
	tag   int32
	buf   Buf
	rep   datatype.Rep
	end   func(whole bool, err error)
	ended bool // end is to be called
}

// receive is one that waits.
type receive struct {
	packet
}

// asked is a request of the program.
type asked struct {
	done bool
	err  error
}

const fakeDone = 1

// Engine is this process's, for a window.
func (e *FakeEngine) Engine() Engine {
	return Engine{Done: fakeDone, Members: e, Machine: e, Progress: e, Carrier: e, Requests: e, Peers: e}
}

// New makes a window.
func (e *FakeEngine) New(config Config) (*Window, error) {
	w, err := New(e.Engine(), config)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.member = w
	return w, err
}

func (e *FakeEngine) String() string  { return "the processes of a test" }
func (e *FakeEngine) Comm() coll.Comm { return e.comm }

func (e *FakeEngine) Sharers() *Sharers {
	s := &Sharers{On: e.comm, Memory: memory{e.f.memory, e.f.Machines[e.Me]}, Spares: &e.f.spares[e.Me]}
	me := 0
	for r, machine := range e.f.Machines {
		if r == e.Me {
			me = len(s.Ranks)
		}
		if machine == e.f.Machines[e.Me] {
			s.Ranks, s.World = append(s.Ranks, r), append(s.World, int32(r))
		}
	}
	if len(s.Ranks) < len(e.f.Machines) {
		view := coll.NewView(e.comm, s.World, me, 1000, nil)
		s.On = &view
	}
	return s
}

func (e *FakeEngine) Await(word *uint64, least uint64, inVain func() error) error {
	e.step()
	for atomic.LoadUint64(word) < least {
		if err := cmp.Or(inVain(), e.Relax()); err != nil {
			return err
		}
	}
	return nil
}

func (e *FakeEngine) Wake(int) { e.step() }

func (e *FakeEngine) Relax() error {
	e.Turn()
	runtime.Gosched()
	return e.Failure()
}

func (e *FakeEngine) Lock() {
	e.step()
	e.mu.Lock()
}

func (e *FakeEngine) Unlock() { e.mu.Unlock() }
func (e *FakeEngine) Ring()   {}

func (e *FakeEngine) WaitFor(c Condition) {
	e.step()
	for !c.Holds() && e.Failure() == nil {
		if e.f.Waits != nil {
			e.f.Waits(e)
		}
		e.Poll()
		e.mu.Unlock()
		runtime.Gosched()
		e.mu.Lock()
	}
}

func (e *FakeEngine) Turn() {
	e.mu.Lock()
	e.Poll()
	e.mu.Unlock()
}

func (e *FakeEngine) Failure() error {
	if time.Now().After(e.limit) {
		return errors.New("what is waited for does not come")
	}
	return nil
}

// Poll takes what has come.
func (e *FakeEngine) Poll() {
	e.mourn()
	for {
		p, ok := e.next()
		switch {
		case !ok:
			return
		case p.ended:
			p.end(false, nil)
		case p.on == Asks && e.window == nil:
			e.unserved = append(e.unserved, p)
		case p.on == Asks:
			e.serve(p)
		default:
			e.arrive(p)
		}
	}
}

// next takes the oldest packet.
func (e *FakeEngine) next() (p packet, ok bool) {
	e.inbox.Lock()
	defer e.inbox.Unlock()
	if len(e.inbox.packets) == 0 {
		return p, false
	}
	p = e.inbox.packets[0]
	e.inbox.packets = e.inbox.packets[1:]
	return p, true
}

// taken are the bytes of a message. Its sender may use its memory then.
func (e *FakeEngine) taken(p packet) []byte {
	b := make([]byte, p.buf.Type.PackedSize(p.buf.Count, p.rep))
	if err := coll.Pack(b, p.buf, p.rep); err != nil {
		panic(err)
	}
	if p.end != nil {
		p.ended = true
		e.f.engines[p.from].deliver(p)
	}
	return b
}

func (e *FakeEngine) deliver(p packet) {
	if !p.ended && e.f.late.keeps(e, p) {
		return
	}
	e.inbox.Lock()
	defer e.inbox.Unlock()
	e.inbox.packets = append(e.inbox.packets, p)
}

func (e *FakeEngine) serve(p packet) { e.window.Serve(int32(p.from), e.taken(p)) }

func (e *FakeEngine) arrive(p packet) {
	i := slices.IndexFunc(e.posted, func(r receive) bool { return r.from == p.from && r.tag == p.tag })
	if i < 0 {
		e.inbox.Lock()
		defer e.inbox.Unlock()
		e.inbox.early = append(e.inbox.early, p)
		return
	}
	r := e.posted[i]
	e.posted = slices.Delete(e.posted, i, i+1)
	e.receive(r, p)
}

func (e *FakeEngine) receive(r receive, p packet) {
	b := e.taken(p)
	room := r.buf.Type.PackedSize(r.buf.Count, r.rep)
	err := coll.Unpack(r.buf, b[:min(room, int64(len(b)))], r.rep)
	if int64(len(b)) > room {
		err = errorf(0, "%d bytes are too many for %d", len(b), room)
	}
	r.end(err == nil && int64(len(b)) == room, err)
}

// shortest is the length in bytes up to which messages are short.
const shortest = 256

// SendShort finds no room each fourth time.
func (e *FakeEngine) SendShort(on Space, b Buf, to int, tag int32) bool {
	e.step()
	rep := e.Rep(to)
	n := b.Type.PackedSize(b.Count, rep)
	if e.sent++; e.sent%4 == 0 || n > shortest {
		return false
	}
	packed := make([]byte, n)
	if err := coll.Pack(packed, b, rep); err != nil {
		return false
	}
	e.f.engines[to].deliver(packet{on: on, from: e.Me, tag: tag, buf: coll.Bytes(packed), rep: datatype.Native})
	return true
}

func (e *FakeEngine) Send(on Space, b Buf, to int, tag int32, end func(whole bool, err error)) {
	e.step()
	if err := e.loss(to); err != nil {
		if end != nil {
			end(false, err)
		}
		return
	}
	e.f.engines[to].deliver(packet{on: on, from: e.Me, tag: tag, buf: b, rep: e.Rep(to), end: end})
}

func (e *FakeEngine) Receive(b Buf, from int, tag int32, end func(whole bool, err error)) {
	r := receive{packet{from: from, tag: tag, buf: b, rep: e.Rep(from), end: end}}
	p, ok := e.came(from, tag)
	err := e.loss(from)
	switch {
	case ok:
		e.receive(r, p)
	case err != nil:
		end(false, err)
	default:
		e.posted = append(e.posted, r)
	}
}

// came takes data that has come already.
func (e *FakeEngine) came(from int, tag int32) (p packet, ok bool) {
	e.inbox.Lock()
	defer e.inbox.Unlock()
	i := slices.IndexFunc(e.inbox.early, func(p packet) bool { return p.from == from && p.tag == tag })
	if i < 0 {
		return p, false
	}
	p = e.inbox.early[i]
	e.inbox.early = slices.Delete(e.inbox.early, i, i+1)
	return p, true
}

func (e *FakeEngine) Post(int)   {}
func (e *FakeEngine) Posted(int) {}
func (e *FakeEngine) Cork(int)   {}
func (e *FakeEngine) Uncork()    {}

func (e *FakeEngine) NewRequest() uint64 {
	e.last++
	e.running[e.last] = &asked{}
	return e.last
}

func (e *FakeEngine) Complete(request uint64, err error) { *e.running[request] = asked{true, err} }
func (e *FakeEngine) Away()                              {}

// WaitAll is MPI_Waitall.
func (e *FakeEngine) WaitAll(requests []uint64) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Poll()
	for _, id := range requests {
		if id == fakeDone {
			continue
		}
		a := e.running[id]
		if e.WaitFor(a); !a.done {
			return e.Failure()
		}
		if delete(e.running, id); a.err != nil {
			return a.err
		}
	}
	return nil
}

func (a *asked) Holds() bool { return a.done }

func (e *FakeEngine) Serve(w *Window) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.window = w
	for _, p := range e.unserved {
		e.serve(p)
	}
	e.unserved = nil
}

func (e *FakeEngine) Rep(rank int) datatype.Rep {
	if e.f.External && e.f.Machines[rank] != e.f.Machines[e.Me] {
		return datatype.External32
	}
	return datatype.Native
}

func (e *FakeEngine) Breach(_ int, what string) { e.Breaches = append(e.Breaches, what) }

func (e *FakeEngine) Reaches(rank int) bool {
	return !e.f.NoRead && e.f.Machines[rank] == e.f.Machines[e.Me]
}

func (e *FakeEngine) Move(_ int, here, there []transport.Run, put bool) bool {
	if e.f.Move != nil {
		return e.f.Move(here, there, put)
	}
	move(here, there, put)
	return true
}

// move copies from runs to runs.
func move(here, there []transport.Run, put bool) {
	ours, theirs := bytesOfRuns(here), bytesOfRuns(there)
	if put {
		ours, theirs = theirs, ours
	}
	for len(ours) > 0 {
		n := copy(ours[0], theirs[0])
		if ours[0] = ours[0][n:]; len(ours[0]) == 0 {
			ours = ours[1:]
		}
		if theirs[0] = theirs[0][n:]; len(theirs[0]) == 0 {
			theirs = theirs[1:]
		}
	}
}

func bytesOfRuns(runs []transport.Run) (list [][]byte) {
	for _, r := range runs {
		list = append(list, bytesAt(pointerAt(r.Addr), int64(r.Len)))
	}
	return list
}

// Idle checks that an engine holds nothing back.
func (e *FakeEngine) Idle(t testing.TB) {
	e.Turn()
	if len(e.posted)+len(e.inbox.early)+len(e.unserved)+len(e.running) > 0 {
		t.Errorf("process %d: %d receives, %d messages, %d requests of others and %d of the program are left", e.Me,
			len(e.posted), len(e.inbox.early), len(e.unserved), len(e.running))
	}
	for _, what := range e.Breaches {
		t.Errorf("process %d has found a breach: %s", e.Me, what)
	}
}
