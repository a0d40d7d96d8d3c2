package libimpi

import (
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/board"
	"github.com/libimpi/libimpi/libimpi/report"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// Windows (MPI 5.0, chapter 12) are package onesided's. Here stand what the engine does for them, and how one is made.

// Window is a window, and the communicator that it has for itself: its group and ranks are the window's.
type Window struct {
	*onesided.Window
	Bridge any // what the bridge keeps with it
	comm   *Comm

	internal bool // it is a file's
}

// Done is the request of everything that is complete.
const Done = sentRequest

// NewWindow makes a window of the members of c, all of which call it. Errors are the same at all of them, but for those
// of lost peers and of memory. If a member is lost some may have a window, which is revoked then.
func (c *Comm) NewWindow(config onesided.Config) (*Window, error) {
	if err := c.onlyOurs(); err != nil {
		return nil, err
	}
	own, err := c.Dup()
	if err != nil {
		return nil, err
	}
	own.belongsTo("a window of " + c.describe())
	config.Foreign, config.Tolerant = c.engine.foreignJobs(c.group), c.tolerant()
	w, err := onesided.New(newWindowEngine(own), config)
	if err != nil {
		own.resign()
		own.Discard()
		return nil, err
	}
	made := &Window{Window: w, comm: own}
	c.engine.mu.Lock()
	defer c.engine.mu.Unlock()
	c.engine.windows = append(c.engine.windows, made)
	made.hearsOfLosses()
	return made, nil
}

// hearsOfLosses tells the window of members that are lost, now and from now on (Comm.tellWindow).
func (w *Window) hearsOfLosses() {
	c := w.comm
	c.window = w.Window
	for _, world := range c.losses.failed {
		c.tellWindow(world, c.engine.peer(world).lost)
	}
	if c.losses.revoked != nil {
		w.Window.Revoke(c.losses.revoked.Text)
	}
}

// tellWindow tells the window that has the communicator for itself, if one has, of the loss of a member.
func (c *Comm) tellWindow(world int32, why *Error) {
	if c.window != nil {
		c.window.Lost(int(c.sourceOf(world)), why.Class, why.Text)
	}
}

// Revoke ends everything on the window, now and from now on, at all members (MPIX_Win_revoke). Revoked and Failed are
// those of its communicator.
func (w *Window) Revoke()        { w.comm.Revoke() }
func (w *Window) Revoked() bool  { return w.comm.Revoked() }
func (w *Window) Failed() *Group { return w.comm.Failed() }

// Rename gives the window a name.
func (w *Window) Rename(name string) {
	w.comm.engine.mu.Lock() // State reads it
	defer w.comm.engine.mu.Unlock()
	w.Name = name
}

// Comm is the communicator.
func (w *Window) Comm() *Comm { return w.comm }

// Free gives the window up, when all members have called it and all communication is done, or, with an error, when
// members are lost (Broken).
func (w *Window) Free() error {
	err := w.Window.Free()
	if err == nil || w.Broken() {
		w.end()
	}
	return err
}

// forget gives it up without a word to the others.
func (w *Window) forget() {
	w.Forget()
	w.end()
}

// end gives the communicator up.
func (w *Window) end() {
	e := w.comm.engine
	e.mu.Lock()
	e.windows = slices.DeleteFunc(e.windows, func(other *Window) bool { return other == w })
	e.mu.Unlock()
	w.comm.Discard()
}

// onlyOurs refuses members of another implementation: IMPI knows no one-sided communication.
func (c *Comm) onlyOurs() error {
	if r, p := c.foreign(); p != nil {
		return errorf(abi.MPI_ERR_UNSUPPORTED_OPERATION, "rank %d of %s belongs to IMPI client %d, which is not libimpi: "+
			"IMPI has no one-sided communication between implementations", r, c.describe(), p.Client)
	}
	return nil
}

// windowEngine is what a window needs of the engine (onesided.Engine). Its requests are messages in the point-to-point
// context of its communicator, which the program does not have.
type windowEngine struct {
	e     *Engine
	comm  *Comm
	local []int32 // local ranks of the members; -1: elsewhere

	// Guarded by the engine's lock.
	window  *onesided.Window   // that takes requests, from Serve on
	data    *context           // of onesided.Data
	corked  transport.Gatherer // between Cork and Uncork; nil: there is nothing to gather
	origins []arrivals         // by rank

	serves atomic.Bool // it takes those that arrive
}

// newWindowEngine is the engine for a window that has a communicator of its own.
func newWindowEngine(c *Comm) onesided.Engine {
	w := &windowEngine{e: c.engine, comm: c, local: make([]int32, c.Size())}
	for r := range w.local {
		w.local[r] = int32(w.e.LocalRank(c.group.World(r)))
	}
	return onesided.Engine{Done: sentRequest, Members: w, Machine: w, Progress: w, Carrier: w, Requests: w, Peers: w}
}

// String implements onesided.Members, as the following do.
func (w *windowEngine) String() string             { return w.comm.describe() }
func (w *windowEngine) Comm() coll.Comm            { return &w.comm.ops }
func (w *windowEngine) Barrier() error             { return w.comm.Barrier() }
func (w *windowEngine) Sharers() *onesided.Sharers { return w.comm.sharers() }

// Agree waits for all members that survive.
func (w *windowEngine) Agree() error {
	_, err := w.comm.Agree(0)
	return err
}

// Allgather gathers numbers.
func (w *windowEngine) Allgather(own, all []uint64) error {
	recv := countBuf(all)
	recv.Count = int64(len(own))
	return w.comm.Allgather(countBuf(own), recv)
}

// mostSummed is how many numbers travel as a whole, rather than in blocks.
const mostSummed = 512

// ReduceScatter adds up numbers. Between clients the few numbers of a short vector cost less than the rounds of a
// reduce-scatter, in which all ranks have messages for other clients: MPI_Allreduce takes 28 us for 4 ranks of two
// clients on 2 cores, and MPI_Reduce_scatter_block 34.
func (w *windowEngine) ReduceScatter(own []uint64) (uint64, error) {
	if len(own) <= mostSummed && w.comm.spans() {
		var room [mostSummed]uint64
		sums := room[:len(own)]
		err := w.comm.Allreduce(countBuf(own), countBuf(sums), op.Predefined(abi.MPI_SUM))
		return sums[w.comm.rank], err
	}
	var sum [1]uint64
	err := w.comm.ReduceScatterBlock(countBuf(own), countBuf(sum[:]), op.Predefined(abi.MPI_SUM))
	return sum[0], err
}

// Await implements onesided.Machine, as Wake and Relax do.
func (w *windowEngine) Await(word *uint64, least uint64, inVain func() error) error {
	e := w.e
	if !e.waiting.patient.Load() && !e.shared.hasWork() && !w.serves.Load() {
		for range board.Looks {
			futex.Pause(1)
			if atomic.LoadUint64(word) >= least {
				return nil
			}
		}
	}
	return w.comm.awaitWord(word, least, cause{what: report.ForWindow, comm: w.comm, word: word}, inVain)
}

// Wake wakes a member.
func (w *windowEngine) Wake(rank int) {
	if rank != int(w.comm.rank) {
		w.e.home.Memory.Ring(int(w.local[rank]))
	} else {
		w.e.ring()
	}
}

// Relax lets others go on.
func (w *windowEngine) Relax() error {
	w.e.Turn()
	kernel.Yield()
	return w.Failure()
}

// Lock implements onesided.Progress, as the following do.
func (w *windowEngine) Lock()   { w.e.mu.Lock() }
func (w *windowEngine) Unlock() { w.e.mu.Unlock() }
func (w *windowEngine) Turn()   { w.e.Turn() }
func (w *windowEngine) Ring()   { w.e.ring() }

// WaitFor waits for a condition.
func (w *windowEngine) WaitFor(c onesided.Condition) {
	w.e.waitFor(c.Holds, anyPeer, cause{what: report.ForWindow, comm: w.comm, condition: c})
}

// Poll makes progress.
func (w *windowEngine) Poll() {
	w.e.settle()
	w.e.poll(anyPeer)
	w.e.callProgram()
}

// Failure is that of the job.
func (w *windowEngine) Failure() error { return w.e.failure() }

// whenOver is the compound of a message whose end a window hears of; nil: it does not.
type whenOver func(whole bool, err error)

func (whenOver) start(*Engine) {}
func (whenOver) released()     {}

func (end whenOver) partDone(_ *Engine, message *Request) {
	if end == nil {
		return
	}
	if err := message.failure(); err != nil {
		end(false, err)
		return
	}
	end(message.status.Bytes == message.mem.size, nil)
}

// space is the context of a space.
func (w *windowEngine) space(on onesided.Space) *context {
	if on == onesided.Data {
		return w.data
	}
	return w.comm.p2p
}

// SendShort implements onesided.Carrier, as the following do.
func (w *windowEngine) SendShort(on onesided.Space, b coll.Buf, to int, tag int32) bool {
	return w.e.sendShort(w.space(on), b.Base, b.Count, b.Type, w.comm.group.World(to), tag)
}

// Send sends any message.
func (w *windowEngine) Send(on onesided.Space, b coll.Buf, to int, tag int32, end func(whole bool, err error)) {
	r := w.e.newSend(w.space(on), b.Base, b.Count, b.Type, w.comm.group.World(to), tag, modeStandard)
	w.e.start(r.join(whenOver(end), 0))
}

// Receive receives data.
func (w *windowEngine) Receive(b coll.Buf, from int, tag int32, end func(whole bool, err error)) {
	w.e.postRecv(w.e.newRecv(w.data, b.Base, b.Count, b.Type, from, tag).join(whenOver(end), 0))
}

// Post begins a call, and Posted ends it.
func (w *windowEngine) Post(to int)   { w.e.post(w.comm.group.World(to)) }
func (w *windowEngine) Posted(to int) { w.e.posted(w.comm.group.World(to)) }

// Cork begins what leaves together.
func (w *windowEngine) Cork(to int) {
	if w.corked = w.e.peer(w.comm.group.World(to)).gather; w.corked != nil {
		w.corked.Cork()
	}
}

// Uncork ends it.
func (w *windowEngine) Uncork() {
	if w.corked != nil {
		w.corked.Uncork()
	}
}

// NewRequest implements onesided.Requests, as Complete and Away do.
func (w *windowEngine) NewRequest() uint64 { return w.e.newCompound(w.comm.p2p, nothing{}).id }

// Complete ends a request.
func (w *windowEngine) Complete(request uint64, err error) {
	r := w.e.requests.find(request)
	r.status.Err = AsError(err)
	w.e.complete(r)
}

// Away lets the program go on.
func (w *windowEngine) Away() { w.e.thread.Away() }

// Rep implements onesided.Peers, as the following do: nobody but the two of them packs what one sends to the other.
func (w *windowEngine) Rep(rank int) datatype.Rep {
	if w.comm.native {
		return datatype.Native
	}
	return w.e.peer(w.comm.group.World(rank)).rep
}

// Breach says that a member breaks the rules.
func (w *windowEngine) Breach(rank int, what string) { w.e.breach(w.comm.group.World(rank), what) }

// Reaches tells whether a member's memory can be read and written.
func (w *windowEngine) Reaches(rank int) bool {
	e, world := w.e, w.comm.group.World(rank)
	return e.ways.local.writer != nil && e.LocalRank(world) >= 0 && e.ways.local.reader.CanRead(world)
}

// Move reads or writes it.
func (w *windowEngine) Move(rank int, here, there []transport.Run, put bool) bool {
	return w.e.ways.local.writer.Move(w.comm.group.World(rank), here, there, put)
}

// Serve gives requests to a window from now on.
func (w *windowEngine) Serve(window *onesided.Window) {
	e := w.e
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.serves.Store(window != nil); window == nil {
		w.comm.p2p.serve = nil
		return
	}
	w.window, w.data, w.origins = window, w.comm.partitioned().data, make([]arrivals, w.comm.Size())
	w.comm.p2p.serve = w
	for r := range w.origins {
		w.arrived(int32(r)) // before this process was ready
	}
}

// Requests of one-sided communication on their way in. A message in the context of a window is taken when it arrives,
// by whoever polls, and what it asks for is done at once (onesided/serve.go). Those of one origin are taken in order:
// one that is long, and comes piece by piece, holds up those behind it, which wait as unexpected messages do. All
// functions run under the engine's lock.

// arrivals are the requests of a member.
type arrivals struct {
	busy  bool // a long one is on its way
	taken bool // they are being taken: arrived is at work
}

// arrived takes the requests of an origin that are there. One that comes piece by piece may be complete at once, and
// then calls arrived from within: the loop goes on, and does not nest.
func (w *windowEngine) arrived(source int32) {
	ctx, o := w.comm.p2p, &w.origins[source]
	if o.taken {
		return
	}
	o.taken = true
	defer func() { o.taken = false }()
	for !o.busy {
		m := ctx.space.Find(source, anyTag)
		if m == nil {
			return
		}
		ctx.take(m)
		if w.e.watch.on {
			w.e.countReceived(ctx, m.Peer, m.Length)
		}
		if m.Kind == uint8(transport.Data) {
			w.window.Serve(source, m.Payload)
			w.e.giveBack(m)
			continue
		}
		w.receiveRequest(source, m)
	}
}

// receiveRequest takes one that comes piece by piece.
func (w *windowEngine) receiveRequest(source int32, m *message) {
	e := w.e
	if m.Length > onesided.MaxRequest {
		e.breach(m.Peer, "request of one-sided communication that is too long")
		e.giveBack(m)
		return
	}
	w.origins[source].busy = true
	b := coll.Bytes(make([]byte, m.Length))
	r := e.newRecv(w.comm.p2p, b.Base, b.Count, b.Type, int(source), m.Tag).join(&longRequest{w: w, source: source}, 0)
	e.receiveKept(r, m)
}

// longRequest is a request that comes piece by piece.
type longRequest struct {
	nothing
	w      *windowEngine
	source int32
}

// partDone implements compound.
func (l *longRequest) partDone(_ *Engine, message *Request) {
	l.w.origins[l.source].busy = false
	if message.failure() == nil {
		l.w.window.Serve(l.source, bytesAt(message.mem.base, message.mem.count))
	}
	l.w.arrived(l.source)
}
