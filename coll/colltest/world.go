// Package colltest runs collective algorithms in memory: one goroutine for each rank, and a world that
// matches their messages.
//
// A message is handed over when both sides are there: the later one copies it, from the sender's buffer to the
// receiver's. A send is therefore synchronous, the strictest that a standard send may be, unless it is not longer
// than World.Eager. When every rank that is still running waits, nothing can ever happen again: all of them
// get ErrDeadlock at once, without a timeout. After a run nothing may be left over.
//
// A recorded world (World.Recorded) has each operation recorded first, and then carries the schedule out.
//
// All state is guarded by one lock, World.mu. In the steady state, without log and conversion, messages
// allocate nothing, so that tests can assert that algorithms do not.
package colltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/datatype"
)

// ErrDeadlock is what all ranks get when all of them wait.
var ErrDeadlock = errors.New("deadlock: every rank waits")

// AnyTag as a receive's tag matches all.
const AnyTag = abi.MPI_ANY_TAG

// Message is an entry of the log, made when the message is sent.
type Message struct {
	Src, Dst, Tag int
	Bytes         int64 // as it travels: in external32 between clients
}

// World is a communicator and its ranks. The exported fields are set before the first Run.
type World struct {
	// Client is the client of each rank: messages between different ones travel in external32. Nil: all one.
	Client []int32
	// Machines are those that ranks are on; nil: not known.
	Machines *coll.Machines
	// Board is how many bytes a part has on the board that the ranks have besides; 0: they have none. Crowded and
	// TwoCores are what it says of them.
	Board             int64
	Crowded, TwoCores bool
	// Eager is the largest message, in bytes, that a send does not wait for.
	Eager int64
	// Recorded says that Call records, and Twice that it carries out twice what it has recorded.
	Recorded, Twice bool
	// Log says that messages are to be recorded, KeepData that their bytes are, too.
	Log, KeepData bool

	mu      sync.Mutex
	comms   []*Comm
	boards  []*Board
	running int
	waiting int
	dead    bool
	log     []Message
	data    [][]byte
	free    []*transfer
}

// Comm is a rank of a World. It implements coll.Comm, and span.Comm.
type Comm struct {
	coll.Local
	w       *World
	record  *coll.Recorder // not nil: inside Call of a recorded world
	rank    int
	wake    *sync.Cond
	asleep  bool
	need    int         // transfers that Wait is waiting for
	sends   []*transfer // on their way to this rank, in the order in which they were started
	recvs   []*transfer // posted by this rank
	started []*transfer // by request - 1
}

// transfer is one side of a message.
type transfer struct {
	owner     *Comm
	peer, tag int
	buf       coll.Buf
	eager     []byte
	length    int64 // bytes received
	matched   bool
	awaited   bool
	err       error
}

// New makes a world of n ranks.
func New(n int) *World {
	w := &World{}
	for r := range n {
		w.comms = append(w.comms, &Comm{Local: coll.AtOnce{}, w: w, rank: r, wake: sync.NewCond(&w.mu)})
	}
	return w
}

// Run calls f for every rank, each on a goroutine of its own, and returns their errors, or what they left over.
func (w *World) Run(f func(c *Comm) error) error {
	errs := make([]error, len(w.comms))
	w.running = len(w.comms)
	if w.Board > 0 && w.boards == nil {
		w.boards = NewBoards(len(w.comms), 3, int(w.Board), !w.Recorded)
	}
	var all sync.WaitGroup
	for r, c := range w.comms {
		all.Go(func() {
			if err := f(c); err != nil {
				errs[r] = fmt.Errorf("rank %d: %w", r, err)
			}
			w.mu.Lock()
			w.running--
			w.checkDeadlock()
			w.mu.Unlock()
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return w.leftOver()
}

// Call runs an operation of c, at once or recorded.
func (c *Comm) Call(operation func() error) error {
	if !c.w.Recorded {
		return operation()
	}
	s := coll.NewSchedule()
	c.record = s.On(0, c.rank, c.Size(), 0)
	c.record.Place(c.w.Machines)
	c.record.Offer(c.Board())
	c.Local = c.record
	err := operation()
	c.record, c.Local = nil, coll.AtOnce{}
	if err == nil {
		err = c.carryOut(s)
	}
	if err == nil && c.w.Twice {
		err = c.carryOut(s)
	}
	if err == nil {
		s.Free()
	}
	return err
}

// carryOut takes the steps of a schedule, and returns when all is done.
func (c *Comm) carryOut(s *coll.Schedule) error {
	s.Begin()
	var reqs []coll.Req // by message; 0: done
	for {
		st, err := s.Next()
		if st == nil {
			return err
		}
		for len(reqs) <= s.Messages() {
			reqs = append(reqs, 0)
		}
		switch st.Kind {
		case coll.StepSend:
			reqs[st.Req], err = c.Isend(st.A, int(st.Peer), int(st.Tag))
		case coll.StepRecv:
			if st.Length == nil && !st.Exact {
				reqs[st.Req], err = c.Irecv(st.A, int(st.Peer), int(st.Tag))
				break
			}
			var n int64 // its wait comes next
			if n, err = c.receive(st.A, int(st.Peer), int(st.Tag)); err == nil {
				err = st.Arrived(n)
			}
		case coll.StepWait:
			var todo []coll.Req
			for _, r := range s.Waits(st) {
				if reqs[r] != 0 {
					todo = append(todo, reqs[r])
				}
			}
			err = c.Wait(todo...)
		case coll.StepBoard:
			t := s.OnBoard()[st.Req]
			err = c.w.boards[c.rank].Do(&t)
		default:
			err = st.Do()
		}
		if err != nil {
			return err
		}
		s.Took()
	}
}

// Messages returns the log and empties it.
func (w *World) Messages() []Message {
	log := w.log
	w.log = nil
	return log
}

// Data returns the bytes of the messages in the log and forgets them; in the same order, if called first.
func (w *World) Data() [][]byte {
	data := w.data
	w.data = nil
	return data
}

func (w *World) leftOver() error {
	for _, c := range w.comms {
		for _, t := range c.sends {
			return fmt.Errorf("message from %d to %d with tag %d was never received", t.owner.rank, c.rank, t.tag)
		}
		for _, t := range c.recvs {
			return fmt.Errorf("receive of %d from %d with tag %d never got a message", c.rank, t.peer, t.tag)
		}
		for i, t := range c.started {
			if t != nil {
				return fmt.Errorf("rank %d never waited for request %d", c.rank, i+1)
			}
		}
	}
	return nil
}

func (w *World) checkDeadlock() {
	if w.running == 0 || w.waiting < w.running || w.dead {
		return
	}
	w.dead = true
	for _, c := range w.comms {
		c.wake.Broadcast()
	}
}

// rep is the representation of messages between two ranks.
func (w *World) rep(a, b int) datatype.Rep {
	if w.Client == nil || w.Client[a] == w.Client[b] {
		return datatype.Native
	}
	return datatype.External32
}

func (w *World) take() *transfer {
	if n := len(w.free); n > 0 {
		t := w.free[n-1]
		w.free = w.free[:n-1]
		return t
	}
	return &transfer{}
}

func (w *World) give(t *transfer) {
	*t = transfer{}
	w.free = append(w.free, t)
}

func (c *Comm) Rank() int { return c.rank }
func (c *Comm) Size() int { return len(c.w.comms) }

// Machines are those of the world.
func (c *Comm) Machines() *coll.Machines { return c.w.Machines }

// Board implements coll.Boarded.
func (c *Comm) Board() coll.Seating {
	return coll.Seating{Part: c.w.Board, Crowded: c.w.Crowded, TwoCores: c.w.TwoCores}
}

// Operate implements coll.Boarded.
func (c *Comm) Operate(o *board.Operation) error {
	if c.record != nil {
		return c.record.Operate(o)
	}
	return c.w.boards[c.rank].Do(o)
}

// Send returns when the message has been received, or copied.
func (c *Comm) Send(b coll.Buf, to, tag int) error {
	if c.record != nil {
		return c.record.Send(b, to, tag)
	}
	r, err := c.Isend(b, to, tag)
	if err != nil {
		return err
	}
	return c.Wait(r)
}

// Recv returns when the message is there.
func (c *Comm) Recv(b coll.Buf, from, tag int) error {
	r, err := c.Irecv(b, from, tag)
	if err != nil {
		return err
	}
	return c.Wait(r)
}

// RecvLen is Recv that tells the length of the message in bytes.
func (c *Comm) RecvLen(b coll.Buf, from, tag int, n *int64) error {
	if c.record != nil {
		return c.record.RecvLen(b, from, tag, n)
	}
	got, err := c.receive(b, from, tag)
	*n = got
	return err
}

// RecvExactly is Recv of a message that has to fill the buffer.
func (c *Comm) RecvExactly(b coll.Buf, from, tag int) error {
	if c.record != nil {
		return c.record.RecvExactly(b, from, tag)
	}
	n, err := c.receive(b, from, tag)
	if err != nil {
		return err
	}
	return coll.Exactly(b, n, from, tag)
}

func (c *Comm) receive(b coll.Buf, from, tag int) (n int64, err error) {
	r, err := c.Irecv(b, from, tag)
	if err != nil {
		return 0, err
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.wait(r)
}

// Isend starts a message.
func (c *Comm) Isend(b coll.Buf, to, tag int) (coll.Req, error) {
	if c.record != nil {
		return c.record.Isend(b, to, tag)
	}
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := c.check(to, b); err != nil {
		return 0, err
	}
	t := w.take()
	t.owner, t.peer, t.tag, t.buf = c, to, tag, b
	w.record(t)
	dst := w.comms[to]
	for i, r := range dst.recvs {
		if r.peer == c.rank && (r.tag == tag || r.tag == AnyTag) {
			dst.recvs = append(dst.recvs[:i], dst.recvs[i+1:]...)
			w.move(t, r)
			return c.start(t), nil
		}
	}
	if n := t.bytes(w.rep(c.rank, to)); n <= w.Eager {
		t.eager = make([]byte, n)
		if err := coll.Pack(t.eager, b, w.rep(c.rank, to)); err != nil {
			return 0, err
		}
		copied := w.take()
		*copied = *t
		w.comms[to].sends = append(dst.sends, copied)
		t.matched = true
		return c.start(t), nil
	}
	dst.sends = append(dst.sends, t)
	return c.start(t), nil
}

// Irecv starts to receive.
func (c *Comm) Irecv(b coll.Buf, from, tag int) (coll.Req, error) {
	if c.record != nil {
		return c.record.Irecv(b, from, tag)
	}
	w := c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := c.check(from, b); err != nil {
		return 0, err
	}
	t := w.take()
	t.owner, t.peer, t.tag, t.buf = c, from, tag, b
	for i, s := range c.sends {
		if s.owner.rank == from && (tag == s.tag || tag == AnyTag) {
			c.sends = append(c.sends[:i], c.sends[i+1:]...)
			w.move(s, t)
			return c.start(t), nil
		}
	}
	c.recvs = append(c.recvs, t)
	return c.start(t), nil
}

// IrecvWritten implements coll.Writable.
func (c *Comm) IrecvWritten(b coll.Buf, from, tag int) (coll.Req, error) {
	if c.record != nil {
		return c.record.IrecvWritten(b, from, tag)
	}
	return c.Irecv(b, from, tag)
}

// Withdraw implements board.Messages.
func (c *Comm) Withdraw(r coll.Req) bool {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	t := c.request(r)
	i := slices.Index(c.recvs, t)
	if i < 0 {
		return false
	}
	c.recvs = slices.Delete(c.recvs, i, i+1)
	c.started[r-1] = nil
	c.w.give(t)
	return true
}

// Wait ends the given messages.
func (c *Comm) Wait(reqs ...coll.Req) error {
	if c.record != nil {
		return c.record.Wait(reqs...)
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	_, err := c.wait(reqs...)
	return err
}

func (c *Comm) wait(reqs ...coll.Req) (length int64, err error) {
	c.need = 0
	for _, r := range reqs {
		t := c.request(r)
		if t == nil {
			return 0, fmt.Errorf("rank %d waits for request %d, which is not under way", c.rank, r)
		}
		if !t.matched {
			t.awaited = true
			c.need++
		}
	}
	if c.need > 0 {
		c.asleep = true
		c.w.waiting++
		c.w.checkDeadlock()
		for c.asleep {
			if c.w.dead {
				return 0, c.stuck(reqs)
			}
			c.wake.Wait()
		}
	}
	for _, r := range reqs {
		t := c.started[r-1]
		if t.err != nil && err == nil {
			err = t.err
		}
		length = t.length
		c.started[r-1] = nil
		c.w.give(t)
	}
	return length, err
}

func (c *Comm) stuck(reqs []coll.Req) error {
	what := ""
	for _, r := range reqs {
		if t := c.started[r-1]; !t.matched {
			what += fmt.Sprintf(" %d(tag %d)", t.peer, t.tag)
		}
	}
	return fmt.Errorf("%w; this one for%s", ErrDeadlock, what)
}

func (c *Comm) request(r coll.Req) *transfer {
	if r == 0 || int(r) > len(c.started) {
		return nil
	}
	return c.started[r-1]
}

func (c *Comm) start(t *transfer) coll.Req {
	for i, s := range c.started {
		if s == nil {
			c.started[i] = t
			return coll.Req(i + 1)
		}
	}
	c.started = append(c.started, t)
	return coll.Req(len(c.started))
}

func (c *Comm) check(peer int, b coll.Buf) error {
	switch {
	case peer < 0 || peer >= len(c.w.comms):
		return fmt.Errorf("rank %d names rank %d of %d", c.rank, peer, len(c.w.comms))
	case peer == c.rank:
		return fmt.Errorf("rank %d sends to itself", c.rank)
	case b.Count < 0 || b.Count > 0 && b.Type == nil:
		return fmt.Errorf("rank %d passes a buffer of %d elements of type %v", c.rank, b.Count, b.Type)
	case c.w.dead:
		return ErrDeadlock
	}
	return nil
}

func (t *transfer) bytes(rep datatype.Rep) int64 {
	if t.buf.Count == 0 {
		return 0
	}
	return t.buf.Type.PackedSize(t.buf.Count, rep)
}

func (w *World) record(t *transfer) {
	if !w.Log {
		return
	}
	rep := w.rep(t.owner.rank, t.peer)
	w.log = append(w.log, Message{t.owner.rank, t.peer, t.tag, t.bytes(rep)})
	if w.KeepData {
		data := make([]byte, t.bytes(rep))
		t.err = coll.Pack(data, t.buf, rep)
		w.data = append(w.data, data)
	}
}

// move hands a message over and completes both sides.
func (w *World) move(s, r *transfer) {
	rep := w.rep(s.owner.rank, r.owner.rank)
	n := s.bytes(rep)
	r.length = n
	switch {
	case n > r.bytes(rep):
		r.err = &coll.Error{Class: abi.MPI_ERR_TRUNCATE,
			Msg: fmt.Sprintf("message of %d bytes from rank %d to rank %d with tag %d for a buffer of %d bytes", n, s.owner.rank,
				r.owner.rank, s.tag, r.bytes(rep))}
	case s.eager != nil:
		r.err = coll.Unpack(r.buf, s.eager, rep)
	case rep == datatype.Native:
		r.err = coll.Copy(r.buf, s.buf)
	default:
		data := make([]byte, n)
		if r.err = coll.Pack(data, s.buf, rep); r.err == nil {
			r.err = coll.Unpack(r.buf, data, rep)
		}
	}
	r.complete()
	if s.eager != nil {
		w.give(s)
	} else {
		s.complete()
	}
}

func (t *transfer) complete() {
	t.matched = true
	c := t.owner
	if !t.awaited {
		return
	}
	if c.need--; c.need == 0 {
		c.asleep = false
		c.w.waiting--
		c.wake.Signal()
	}
}
