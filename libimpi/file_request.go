package libimpi

import (
	"time"

	"github.com/libimpi/libimpi/file"
)

// Access to files that is under way while the program goes on. A system call of a file system blocks the thread that
// makes it, and there is no call for those of the page cache that does not: so goroutines make them.

// fileTask is such an access.
type fileTask struct {
	nothing
	file       *File
	run        func() (int64, error)
	collective bool
	request    *Request // nil: of a split collective operation

	// Results, of which the engine's lock guards done.
	done  bool
	bytes int64
	err   error
}

// fileTasks are those of independent accesses. The engine's lock guards them.
type fileTasks struct {
	waiting  []*fileTask
	threads  int // goroutines that carry them out
	underWay int // all, and collective ones, too
}

// mostFileThreads bounds the goroutines, and with them the threads, that carry out independent accesses. None of these
// waits for another.
const mostFileThreads = 4

// Short accesses are carried out at once, as long as the last of them was: in the page cache they take less time than
// it takes to wake a thread.
const (
	shortAccess = 64 << 10 // bytes
	longTime    = 100 * time.Microsecond
)

// short reports whether an access is one of those.
func (f *File) short(a file.Access) bool {
	return !a.Collective && a.Buf.Size() <= shortAccess && !f.Atomic()
}

// timed carries out a short access, and notes whether the next had better have a thread.
func (f *File) timed(run func() (int64, error)) (int64, error) {
	began := time.Now()
	n, err := run()
	f.slow.Store(time.Since(began) > longTime)
	return n, err
}

// complete returns a request for an access that is done.
func (f *File) complete(n int64, err error) uint64 {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t := f.newTask(file.Access{}, nil)
	t.bytes, t.err = n, err
	e.files.underWay++
	t.end(e)
	return t.request.id
}

// newTask takes the request of an access. Engine lock held.
func (f *File) newTask(a file.Access, run func() (int64, error)) *fileTask {
	t := &fileTask{file: f, run: run, collective: a.Collective, request: f.engine.requests.get(nil)}
	r := t.request
	r.kind, r.state.active, r.of, r.env.peer = compoundRequest, true, t, noPeer
	r.status = emptyStatus
	return t
}

// begin starts an access with a request.
func (f *File) begin(a file.Access, run func() (int64, error)) *fileTask {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t := f.newTask(a, run)
	if a.Collective {
		f.add(t)
		return t
	}
	q := &e.files
	f.own++
	q.underWay++
	q.waiting = append(q.waiting, t)
	if q.threads < mostFileThreads {
		q.threads++
		go e.accessFiles()
	}
	return t
}

// accessFiles carries out independent accesses until none is left.
func (e *Engine) accessFiles() {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := &e.files
	for len(q.waiting) > 0 {
		t := q.waiting[0]
		q.waiting[0], q.waiting = nil, q.waiting[1:]
		e.mu.Unlock()
		t.bytes, t.err = t.run()
		e.mu.Lock()
		t.file.own--
		t.end(e)
	}
	q.waiting = nil
	q.threads--
	e.ring() // for who closes a file
}

// enqueue starts a collective access without a request.
func (f *File) enqueue(run func() (int64, error)) *fileTask {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	t := &fileTask{file: f, run: run, collective: true}
	f.add(t)
	return t
}

// quiet says that nothing of the file is under way, and, if nothing of others is either, that no goroutine is left.
// Engine lock held.
func (f *File) quiet() bool {
	q := &f.engine.files
	return f.own == 0 && !f.busy && (q.underWay > 0 || q.threads == 0)
}

// add puts a collective access behind those that are under way. Engine lock held.
func (f *File) add(t *fileTask) {
	f.queue = append(f.queue, t)
	f.engine.files.underWay++
	f.goOn()
}

// goOn sees to it that the first of the queue is carried out. Engine lock held.
func (f *File) goOn() {
	if !f.busy && len(f.queue) > 0 {
		f.busy = true
		go f.accessTogether()
	}
}

// accessTogether carries out collective accesses until none is left.
func (f *File) accessTogether() {
	e := f.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	for len(f.queue) > 0 {
		t := f.queue[0]
		f.queue[0], f.queue = nil, f.queue[1:]
		e.mu.Unlock()
		t.bytes, t.err = t.run()
		e.mu.Lock()
		t.end(e)
	}
	f.queue, f.busy = nil, false
	e.ring() // for who waits for its turn
}

// end completes an access. Engine lock held.
func (t *fileTask) end(e *Engine) {
	t.done = true
	e.files.underWay--
	if r := t.request; r != nil {
		r.status.Bytes = t.bytes
		if t.err != nil {
			failed := *AsError(t.err)
			failed.File = t.file
			r.status.Err = &failed
		}
		if r.state.done = true; r.state.detached {
			e.discard(r)
		}
	}
	e.ring()
}

// inTurn carries out a collective operation when those before it are done.
func (f *File) inTurn(do func() error) error {
	e := f.engine
	e.mu.Lock()
	if err := f.await(func() bool { return !f.busy }); err != nil {
		e.mu.Unlock()
		return err
	}
	f.busy = true
	e.mu.Unlock()
	err := do()
	e.mu.Lock()
	f.busy = false
	f.goOn() // what another thread has started meanwhile
	e.mu.Unlock()
	return err
}

// await returns when cond, which is called under the lock, says so. Engine lock held, given up while waiting.
func (f *File) await(cond func() bool) error {
	e := f.engine
	if !cond() {
		e.waitFor(cond, anyPeer)
	}
	if !cond() {
		return e.failure()
	}
	return nil
}
