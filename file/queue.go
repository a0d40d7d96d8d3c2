package file

import "github.com/libimpi/libimpi/abi"

// Accesses that are under way while the program goes on. A system call of a file system blocks the thread that makes
// it, and there is no call for those of the page cache that does not: so goroutines make them.
//
//	independent -> the process's pool: any of a few goroutines -> the request is complete
//	collective  -> the file's queue: one at a time, in the order of calls, on a goroutine of the file's
//
// Blocking collective operations run on the calling thread, when those before them are done (inTurn).

// task is an access under way.
type task struct {
	queue   *Queue
	run     func() (int64, error)
	request uint64 // noRequest: of a split collective operation

	// Results, of which the engine's lock guards done.
	done  bool
	bytes int64
	err   error
}

// noRequest stands for no request.
const noRequest = abi.MPI_REQUEST_NULL

// Pool is the independent accesses of a process. The engine's lock guards it.
type Pool struct {
	waiting  []*task
	threads  int // goroutines that carry them out
	underWay int // all accesses, collective ones too
}

// Busy reports whether any access of the process is under way. Engine lock held.
func (p *Pool) Busy() bool { return p.underWay > 0 }

// mostThreads bounds the goroutines, and with them the threads, that carry out independent accesses. None of these
// waits for another.
const mostThreads = 4

// Queue is the accesses to a file that are under way.
type Queue struct {
	engine Engine
	pool   *Pool

	// Guarded by the engine's lock.
	waiting []*task // collective ones that have not begun
	busy    bool    // one is carried out
	own     int     // independent ones under way
}

// complete returns a request for an access that is done.
func (q *Queue) complete(n int64, err error) uint64 {
	q.engine.Lock()
	defer q.engine.Unlock()
	t := &task{queue: q, request: q.engine.NewRequest(false), bytes: n, err: err}
	q.pool.underWay++
	t.end()
	return t.request
}

// begin starts an access with a request.
func (q *Queue) begin(collective bool, run func() (int64, error)) uint64 {
	q.engine.Lock()
	defer q.engine.Unlock()
	t := &task{queue: q, run: run, request: q.engine.NewRequest(collective)}
	if collective {
		q.add(t)
		return t.request
	}
	p := q.pool
	q.own++
	p.underWay++
	p.waiting = append(p.waiting, t)
	if p.threads < mostThreads {
		p.threads++
		go p.carryOut(q.engine)
	}
	return t.request
}

// carryOut carries out independent accesses until none is left.
func (p *Pool) carryOut(e Engine) {
	e.Lock()
	defer e.Unlock()
	for len(p.waiting) > 0 {
		t := p.waiting[0]
		p.waiting[0], p.waiting = nil, p.waiting[1:]
		e.Unlock()
		t.bytes, t.err = t.run()
		e.Lock()
		t.queue.own--
		t.end()
	}
	p.waiting = nil
	p.threads--
	e.Ring() // for a thread that closes a file
}

// enqueue starts a collective access without a request.
func (q *Queue) enqueue(run func() (int64, error)) *task {
	q.engine.Lock()
	defer q.engine.Unlock()
	t := &task{queue: q, run: run, request: noRequest}
	q.add(t)
	return t
}

// add puts a collective access behind those that are under way. Engine lock held.
func (q *Queue) add(t *task) {
	q.waiting = append(q.waiting, t)
	q.pool.underWay++
	q.goOn()
}

// goOn starts a goroutine for the first that waits, unless a collective operation is carried out. Engine lock held.
func (q *Queue) goOn() {
	if !q.busy && len(q.waiting) > 0 {
		q.busy = true
		go q.carryOut()
	}
}

// carryOut carries out collective accesses until none is left.
func (q *Queue) carryOut() {
	q.engine.Lock()
	defer q.engine.Unlock()
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting[0], q.waiting = nil, q.waiting[1:]
		q.engine.Unlock()
		t.bytes, t.err = t.run()
		q.engine.Lock()
		t.end()
	}
	q.waiting, q.busy = nil, false
	q.engine.Ring() // for a thread that waits for its turn
}

// end completes an access. Engine lock held.
func (t *task) end() {
	t.done = true
	t.queue.pool.underWay--
	if t.request != noRequest {
		t.queue.engine.Complete(t.request, t.bytes, t.err)
	}
	t.queue.engine.Ring()
}

// inTurn carries out a collective operation when those before it are done.
func (q *Queue) inTurn(do func() error) error {
	q.engine.Lock()
	if err := q.engine.WaitFor(func() bool { return !q.busy }); err != nil {
		q.engine.Unlock()
		return err
	}
	q.busy = true
	q.engine.Unlock()
	err := do()
	q.engine.Lock()
	q.busy = false
	q.goOn() // what another thread has started meanwhile
	q.engine.Unlock()
	return err
}

// rest returns when no access to the file is under way, nor, if none to other files is either, any goroutine.
func (q *Queue) rest() error {
	q.engine.Lock()
	defer q.engine.Unlock()
	p := q.pool
	return q.engine.WaitFor(func() bool { return q.own == 0 && !q.busy && (p.underWay > 0 || p.threads == 0) })
}

// result waits for an access without a request, and returns how many bytes it has moved.
func (q *Queue) result(t *task) (int64, error) {
	q.engine.Lock()
	defer q.engine.Unlock()
	if err := q.engine.WaitFor(func() bool { return t.done }); err != nil {
		return 0, err
	}
	return t.bytes, t.err
}
