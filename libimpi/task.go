package libimpi

import (
	"cmp"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi/schedule"
)

// Task is a collective operation whose steps were recorded, and that progress carries out (MPI 5.0, 6.12 and 6.13): the
// compound of its request.
//
//	Later -> operations of Operations record -> Start, or Keep and then MPI_Start -> steps, until one has to wait
//	     -> its messages are done: ready -> whoever polls next takes further steps -> the request is complete
//
// The engine's lock is held while steps are taken, but for functions of the program: those are called by a thread of
// the program that waits or tests, without the lock.
//
// Operations of a communicator that are under way at the same time are told apart by their number in it, which is part
// of the tags. All members count alike, since they call its operations in the same order.
type Task struct {
	request  *Request
	told     func(*Error) // StartAside
	comm     *Comm
	form     coll.Form
	schedule *coll.Schedule
	shift    int // added to tags
	routine  int // which operation of the program it is, counted from 1 (coll.Routine); 0: it is none
	numbered schedule.Number
	sides    [2]side // by coll.Step.Of: comm, and the communicator of its local group

	board  boardOperation // on a board; nil: it takes steps
	memory *taskBoard     // for that; nil: none was needed yet

	first error // of what came, or on a board: it goes on all the same, as the others expect

	parts   []partState // of messages, by number
	special []coll.Step // receives whose length matters
	missing int         // messages that the step waits for
	longest int64       // of the messages so far, in bytes
	running bool        // steps are being taken
	queued  bool        // stands in Engine.ready or Engine.calls
	over    bool        // has ended, maybe with messages under way
	err     error       // of a message that did not come, or of a step; ends it
}

// side is a communicator of a task, and what records for it.
type side struct {
	comm *Comm
	on   coll.Recorder
}

type partState uint8

const (
	partUnderWay partState = iota
	partAwaited
	partDone
)

// taskCounter counts the tasks of a communicator.
type taskCounter struct {
	once  schedule.Numbers
	kept  schedule.Numbers // of persistent ones
	turns []*Task          // under way or waiting to begin, in this order; only if takesTurns
}

// Tags of tasks are those of package coll and of others inside a collective, below 1 << taskTagBits, plus the number of
// the task, which is never 0 (collective.go). They stay below subsetTags. Persistent tasks, which live long, have
// numbers of their own, above those of the others.
const (
	taskTagBits = 11
	mostTasks   = (subsetTags>>taskTagBits - 1) / 2
)

// takesTurns reports whether one member belongs to a client that is not libimpi: it only knows the tags of IMPI 0.0, so
// that operations cannot be told apart, and have to come one after the other.
func (c *Comm) takesTurns() bool { return c.seats.layout != nil && !c.seats.layout.Own }

// Later begins to record an operation, of a form that is not blocking. It fails if there are too many, at all members.
// For a persistent one it may wait for the other members.
func (c *Comm) Later(form coll.Form) (*Task, error) {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.newTask()
	t.comm, t.form, t.schedule = c, form, coll.NewSchedule()
	if err := c.enumerate(t); err != nil {
		t.recycle(e)
		return nil, err
	}
	return t, nil
}

func (e *Engine) newTask() *Task {
	n := len(e.collectives.idle)
	if n == 0 {
		return new(Task)
	}
	t := e.collectives.idle[n-1]
	e.collectives.idle = e.collectives.idle[:n-1]
	return t
}

// Operations are what can be recorded.
func (t *Task) Operations() Collectives { return t.of(t.comm) }

func (t *Task) of(c *Comm) Collectives {
	number := uint8(0)
	if c != t.comm {
		number = 1
	}
	side := &t.sides[number]
	side.comm = c
	side.on.Init(t.schedule, number, int(c.rank), c.group.Size(), t.shift)
	side.on.Place(c.seats.machines)
	switch {
	case c != t.comm:
		side.on.Offer(coll.Seating{Crowded: c.seats.crowded, TwoCores: c.seats.twoCores})
	case t.form == coll.Persistent:
		side.on.Offer(c.laneSeating())
	default:
		side.on.Offer(c.seating())
	}
	return Collectives{c: c, on: &side.on, task: t}
}

// Start starts what has been recorded and returns its request. If all is done at once, that is the one of everything
// that is complete.
func (t *Task) Start() uint64 {
	e := t.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t.start(e)
	long := int64(0)
	if t.board == nil && !t.over {
		e.pollLocal() // what it waits for may be here
	} else if t.board != nil {
		long = t.board.longest()
		t.longest = max(t.longest, long)
	}
	failed := cmp.Or(t.err, t.first)
	if t.over && failed == nil && e.requests.checked == nil {
		t.recycle(e)
		return sentRequest
	}
	r := t.newRequest(e)
	if t.over {
		r.status.Err = AsError(failed)
		e.complete(r)
	}
	if r.mem.size = t.longest; long > 0 {
		e.bringOn(r)
	}
	e.leaveRunning(r)
	return r.id
}

// StartAside starts what has been recorded for the engine's own sake: no request of the program's stands for it, but
// told is called at its end, under the engine's lock.
func (t *Task) StartAside(told func(*Error)) {
	e := t.comm.engine
	id := t.Start()
	e.mu.Lock()
	defer e.mu.Unlock()
	if id == sentRequest {
		told(nil)
		return
	}
	r := e.requests.find(id)
	if t.told, r.state.detached = told, true; r.state.done {
		e.discard(r)
	}
}

// Keep returns a persistent request for what has been recorded.
func (t *Task) Keep() uint64 {
	t.err = t.takeLane()
	e := t.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	r := t.newRequest(e)
	r.state.persistent, r.state.active = true, false
	e.shared.UnderWay--
	if t.board != nil {
		e.Offer(r.id, Persistent{Kind: persistentCollective, Buf: t.memory.lane.InC()})
	}
	return r.id
}

func (t *Task) newRequest(e *Engine) *Request {
	r := e.newCompound(t.comm.p2p, t)
	r.env.rank, r.env.source = noPeer, noPeer
	if t.request = r; t.comm.inter.local != nil {
		t.comm.inter.local.uses++
	}
	return r
}

// isTask reports whether a request stands for a collective operation, which can neither be cancelled nor, while it is
// under way, be freed (MPI 5.0, 6.12 and 6.13).
func (r *Request) isTask() bool {
	if r.kind != compoundRequest {
		return false
	}
	if access, is := r.of.(*fileAccesses); is {
		return access.collective
	}
	switch r.of.(type) {
	case *Task, *duplication, *settlement:
		return true
	}
	return false
}

// Drop gives up what has been recorded.
func (t *Task) Drop() {
	e := t.comm.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t.recycle(e)
}

func (t *Task) recycle(e *Engine) {
	t.endNumber()
	if t.memory != nil {
		t.memory.lane.Close()
	}
	t.schedule.Free()
	*t = Task{parts: t.parts[:0], special: t.special[:0], memory: t.memory}
	e.collectives.idle = append(e.collectives.idle, t)
}

// Is says which operation of the program the task is, for who watches.
func (t *Task) Is(r coll.Routine) { t.routine = int(r) + 1 }

func (t *Task) start(e *Engine) {
	if t.routine > 0 {
		t.comm.started(t.routine - 1)
	}
	t.first, t.over = nil, false
	if t.form == coll.Persistent && t.board != nil {
		t.err = nil // an error of an earlier time is none of this one
	}
	if t.err != nil {
		t.end(e, t.err) // of an earlier time, from which messages may be under way
		return
	}
	if t.form != coll.Persistent {
		t.asRecorded()
	}
	if t.board != nil {
		t.beginOnBoard(e)
		return
	}
	t.schedule.Begin()
	t.parts, t.special = t.parts[:0], t.special[:0]
	t.missing, t.longest = 0, 0
	if c := t.comm; c.takesTurns() {
		if c.tasks.turns = append(c.tasks.turns, t); len(c.tasks.turns) > 1 {
			return
		}
	}
	t.advance(e)
	if t.request != nil {
		t.request.mem.size = t.longest
	}
}

// released is called when the request goes back to the pool.
func (t *Task) released() {
	e := t.comm.engine
	if told, failed := t.told, t.request.status.Err; told != nil {
		defer told(failed)
	}
	if t.comm.inter.local != nil {
		t.comm.inter.local.letGo()
	}
	if t.err == nil || t.form == coll.Persistent && t.board != nil {
		t.recycle(e)
		return
	}
	t.endNumber() // messages may be under way into its memory, but nobody gets anything for it any more
}

func (t *Task) endNumber() {
	switch {
	case t.numbered.Value() == 0:
	case t.form == coll.Persistent:
		t.comm.tasks.kept.Remove(&t.numbered)
	default:
		t.comm.tasks.once.Remove(&t.numbered)
	}
}

// advance takes steps until one has to wait.
func (t *Task) advance(e *Engine) {
	if t.running || t.over || t.queued {
		return
	}
	t.running = true
	for t.step(e) {
	}
	t.running = false
}

// step takes the next step; false if it has to wait, or was the last one.
func (t *Task) step(e *Engine) bool {
	if t.err != nil {
		t.end(e, t.err)
		return false
	}
	st, err := t.schedule.Next()
	switch {
	case err != nil:
		return t.took(e, err)
	case st == nil:
		t.end(e, nil)
		return false
	}
	switch st.Kind {
	case coll.StepSend:
		t.send(e, st)
	case coll.StepRecv:
		t.receive(e, st)
	case coll.StepWait:
		if t.mustWait(st) {
			return false
		}
	case coll.StepCombine:
		if st.Op.OfProgram() {
			t.queued = true
			e.collectives.calls = append(e.collectives.calls, t)
			e.ring()
			return false
		}
		err = st.Do()
	default:
		err = st.Do()
	}
	return t.took(e, err)
}

// took ends a step; false if the task has failed. Data that there is no room for is noted (coll.Truncated).
func (t *Task) took(e *Engine, err error) bool {
	switch {
	case err == nil:
	case ofData(err):
		t.note(err)
	default:
		t.end(e, err)
		return false
	}
	t.schedule.Took()
	return true
}

func (t *Task) part(r coll.Req) *partState {
	for len(t.parts) <= int(r) {
		t.parts = append(t.parts, partUnderWay)
	}
	p := &t.parts[r]
	*p = partUnderWay
	return p
}

func (t *Task) send(e *Engine, st *coll.Step) {
	c := t.sides[st.Of].comm
	part, world := t.part(st.Req), c.group.World(int(st.Peer))
	t.longest = max(t.longest, st.A.Size())
	if e.sendShort(c.coll, st.A.Base, st.A.Count, st.A.Type, world, st.Tag) {
		*part = partDone
		return
	}
	e.start(e.newSend(c.coll, st.A.Base, st.A.Count, st.A.Type, world, st.Tag, modeStandard).join(t, int(st.Req)))
}

func (t *Task) receive(e *Engine, st *coll.Step) {
	c := t.sides[st.Of].comm
	t.part(st.Req)
	t.longest = max(t.longest, st.A.Size())
	if st.Exact || st.Length != nil {
		t.special = append(t.special, *st)
	}
	r := e.newRecv(c.coll, st.A.Base, st.A.Count, st.A.Type, int(st.Peer), st.Tag).join(t, int(st.Req))
	r.wire.Written = st.Written
	e.postRecv(r)
}

// mustWait reports whether messages are not done that a step waits for.
func (t *Task) mustWait(st *coll.Step) bool {
	t.missing = 0
	for _, r := range t.schedule.Waits(st) {
		if t.parts[r] != partDone {
			t.parts[r] = partAwaited
			t.missing++
		}
	}
	return t.missing > 0
}

// note notes the first error of an operation that goes on.
func (t *Task) note(err error) {
	if t.first == nil {
		t.first = err
	}
}

// partDone is told that a message is done.
func (t *Task) partDone(e *Engine, message *Request) {
	if t.over {
		return
	}
	p := &t.parts[message.part]
	awaited := *p == partAwaited
	*p = partDone
	if err := t.arrived(message); err != nil && t.err == nil {
		t.err = err
	}
	if !awaited {
		return
	}
	if t.missing--; t.missing == 0 || t.err != nil {
		t.ready(e)
	}
}

// arrived looks at a message that is done, and returns an error if the task cannot go on.
func (t *Task) arrived(message *Request) error {
	failed := message.failure()
	for i := range t.special {
		if st := &t.special[i]; int(st.Req) == message.part {
			if failed != nil {
				return failed
			}
			return st.Arrived(message.status.Bytes)
		}
	}
	if failed != nil && !ofData(failed) {
		return failed
	}
	if failed != nil {
		t.note(failed)
	}
	return nil
}

// ready notes that a task can go on.
func (t *Task) ready(e *Engine) {
	if !t.queued && !t.running {
		t.queued = true
		e.collectives.ready = append(e.collectives.ready, t)
	}
}

// end completes the request, if there is one already.
func (t *Task) end(e *Engine, err error) {
	t.over, t.err = true, err
	if t.routine > 0 {
		t.comm.ended(t.routine - 1)
	}
	if c := t.comm; c.takesTurns() {
		t.nextTurn(e, c)
	}
	r := t.request
	if r == nil {
		return
	}
	if err = cmp.Or(err, t.first); err != nil {
		r.status.Err = AsError(err)
	}
	e.complete(r)
}

// nextTurn lets the next task of a communicator begin.
func (t *Task) nextTurn(e *Engine, c *Comm) {
	turns := c.tasks.turns
	for i := range turns {
		if turns[i] == t {
			c.tasks.turns = append(turns[:i:i], turns[i+1:]...)
			break
		}
	}
	if len(c.tasks.turns) > 0 {
		c.tasks.turns[0].ready(e)
	}
}

// awaitTurn returns when the tasks of a communicator are done.
func (c *Comm) awaitTurn() {
	e := c.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(c.tasks.turns) > 0 {
		e.waitFor(func() bool { return len(c.tasks.turns) == 0 }, anyPeer, forMembers(c))
	}
}

// goOn takes the steps of tasks that are ready, and tells whether there were any. Engine lock held.
func (e *Engine) goOn() bool {
	if len(e.collectives.ready) == 0 {
		return false
	}
	for i := 0; i < len(e.collectives.ready); i++ { // it may grow
		t := e.collectives.ready[i]
		e.collectives.ready[i] = nil
		t.queued = false
		t.advance(e)
	}
	e.collectives.ready = e.collectives.ready[:0]
	return true
}

// callProgram calls functions of the program for tasks that need them, and tells whether there were any. It is for a
// thread of the program. Engine lock held, given up for the calls.
func (e *Engine) callProgram() bool {
	called := false
	for len(e.collectives.calls) > 0 {
		t := e.collectives.calls[0]
		e.collectives.calls = append(e.collectives.calls[:0], e.collectives.calls[1:]...)
		st, _ := t.schedule.Next()
		e.mu.Unlock()
		err := st.Do()
		e.mu.Lock()
		called, t.queued = true, false
		if t.took(e, err) {
			t.advance(e)
		}
	}
	return called
}

// look polls for a thread of the program that does not wait.
func (e *Engine) look() bool {
	did := e.pollAll()
	for e.callProgram() {
		did = e.pollAll() || did
	}
	return did
}
