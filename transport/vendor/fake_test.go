package vendor

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
)

// world is another MPI library in memory: a message of up to eager bytes leaves at once, a longer one when it is
// received; what is done shows in Test some calls later, at random.
type world struct {
	mu       sync.Mutex
	rng      *rand.Rand
	eager    int
	late     int // the most calls of Test in vain
	procs    []*proc
	dead     bool
	arrivals int // at the barrier
	sums     []int32
	summed   int
}

// proc is a process of it, and its MPI.
type proc struct {
	w     *world
	rank  int
	queue []*sent // to it, in the order sent
	open  map[Request]*operation
	taken map[uintptr]*sent
	last  uintptr
}

type sent struct {
	from, tag int
	b         []byte
	received  bool
}

type operation struct {
	is    func() bool
	then  func()
	delay int
}

var errDead = errors.New("a process of the other library has died")

func newWorld(n, eager, late int) *world {
	w := &world{rng: rand.New(rand.NewPCG(3, uint64(eager))), eager: eager, late: late, sums: make([]int32, n)}
	for r := range n {
		w.procs = append(w.procs, &proc{w: w, rank: r, open: map[Request]*operation{}, taken: map[uintptr]*sent{}})
	}
	return w
}

// kill ends a process: the library of all others answers errors.
func (w *world) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dead = true
}

// use locks the library, and answers an error if it has failed.
func (p *proc) use() (unlock func(), err error) {
	p.w.mu.Lock()
	if p.w.dead {
		err = errDead
	}
	return p.w.mu.Unlock, err
}

// begin makes a request of what is under way.
func (p *proc) begin(is func() bool, then func()) Request {
	o := &operation{is: is, then: then}
	if p.w.late > 0 {
		o.delay = p.w.rng.IntN(p.w.late + 1)
	}
	if o.delay == 0 && is() {
		if then != nil {
			then()
		}
		return Done
	}
	p.last++
	p.open[Request(p.last)] = o
	return Request(p.last)
}

func (p *proc) Isend(b []byte, to, tag int) (Request, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Done, err
	}
	m := &sent{from: p.rank, tag: tag, b: b, received: len(b) <= p.w.eager}
	if m.received {
		m.b = bytes.Clone(b)
	}
	p.w.procs[to].queue = append(p.w.procs[to].queue, m)
	return p.begin(func() bool { return m.received }, nil), nil
}

func (p *proc) Improbe(from, tag int) (Message, bool, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Message{}, false, err
	}
	for i, m := range p.queue {
		if m.tag == tag && (from == Any || m.from == from) {
			p.queue = append(p.queue[:i], p.queue[i+1:]...)
			p.last++
			p.taken[p.last] = m
			return Message{Handle: p.last, From: m.from, Len: len(m.b)}, true, nil
		}
	}
	return Message{}, false, nil
}

func (p *proc) Imrecv(m Message, b []byte) (Request, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Done, err
	}
	s := p.taken[m.Handle]
	if s == nil || len(b) != len(s.b) {
		return Done, errors.New("received as it was not sent")
	}
	delete(p.taken, m.Handle)
	return p.begin(func() bool { return true }, func() { copy(b, s.b); s.received = true }), nil
}

func (p *proc) Test(r Request) (bool, error) {
	unlock, err := p.use()
	defer unlock()
	o := p.open[r]
	switch {
	case err != nil:
		return false, err
	case o == nil:
		return false, errors.New("a request that is not under way")
	case o.delay > 0:
		o.delay--
		return false, nil
	case !o.is():
		return false, nil
	}
	if o.then != nil {
		o.then()
	}
	delete(p.open, r)
	return true, nil
}

func (p *proc) Ibarrier() (Request, error) {
	unlock, err := p.use()
	defer unlock()
	p.w.arrivals++
	return p.begin(func() bool { return p.w.arrivals == len(p.w.procs) }, nil), err
}

func (p *proc) Isum(numbers []int32, mine *int32) (Request, error) {
	unlock, err := p.use()
	defer unlock()
	for r, n := range numbers {
		p.w.sums[r] += n
	}
	p.w.summed++
	return p.begin(func() bool { return p.w.summed == len(p.w.procs) }, func() { *mine = p.w.sums[p.rank] }), err
}

// left says what is not done, or not received.
func (w *world) left() (messages, requests int) {
	for _, p := range w.procs {
		messages += len(p.queue) + len(p.taken)
		requests += len(p.open)
	}
	return messages, requests
}
