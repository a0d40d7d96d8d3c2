package vendor

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
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
	meetings [Communicators][]*meeting
}

// proc is a process of it, and its MPI.
type proc struct {
	w     *world
	rank  int
	queue []*sent // to it, in the order sent; not those that have met a posted receive
	posts [Posts]*posted
	begun []*posted // by Irecv, that have met no message
	looks int       // calls of Improbe
	open  map[Request]*operation
	taken map[uintptr]*sent
	last  uintptr
	meets [Communicators]int // collective operations
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
	w := &world{rng: rand.New(rand.NewPCG(3, uint64(eager))), eager: eager, late: late}
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

// use locks the library, and returns an error if it has failed.
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
	p.w.procs[to].arrive(m)
	return p.begin(func() bool { return m.received }, nil), nil
}

// posted is a receive that is posted.
type posted struct {
	b         []byte
	from, tag int
	m         *sent // that it has met
	delay     int
}

// arrive lets a message meet a posted receive, or queues it.
func (p *proc) arrive(m *sent) {
	for _, r := range p.posts {
		if r != nil && r.m == nil && r.from == m.from && r.tag == m.tag {
			r.m = m
			return
		}
	}
	for i, r := range p.begun {
		if r.from == m.from && r.tag == m.tag {
			r.m = m
			p.begun = slices.Delete(p.begun, i, i+1)
			return
		}
	}
	p.queue = append(p.queue, m)
}

// meet gives a receive the first message in the queue that it takes, and reports whether there is one.
func (p *proc) meet(r *posted) bool {
	i := slices.IndexFunc(p.queue, func(m *sent) bool { return m.tag == r.tag && m.from == r.from })
	if i >= 0 {
		r.m = p.queue[i]
		p.queue = slices.Delete(p.queue, i, i+1)
	}
	return i >= 0
}

func (p *proc) Irecv(b []byte, from, tag int) (Request, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Done, err
	}
	r := &posted{b: b, from: from, tag: tag}
	if !p.meet(r) {
		p.begun = append(p.begun, r)
	}
	return p.begin(func() bool { return r.m != nil }, func() {
		if copy(b, r.m.b) != len(b) {
			panic("a message of another length")
		}
		r.m.received = true
	}), nil
}

func (p *proc) Post(at int, b []byte, from, tag int) error {
	unlock, err := p.use()
	defer unlock()
	if err != nil || p.posts[at] != nil {
		return errors.Join(err, errors.New("a receive that is posted already"))
	}
	r := &posted{b: b, from: from, tag: tag}
	if p.w.late > 0 {
		r.delay = p.w.rng.IntN(p.w.late + 1)
	}
	p.posts[at] = r
	p.meet(r)
	return nil
}

func (p *proc) Testany(n int) (at, bytes int, ok bool, err error) {
	unlock, err := p.use()
	defer unlock()
	for at, r := range p.posts[:n] {
		switch {
		case err != nil:
			return 0, 0, false, err
		case r == nil || r.m == nil:
		case r.delay > 0:
			r.delay--
		case len(r.m.b) > len(r.b):
			return 0, 0, false, errTruncated
		default:
			p.posts[at], r.m.received = nil, true
			return at, copy(r.b, r.m.b), true, nil
		}
	}
	return 0, 0, false, err
}

func (p *proc) Withdraw(at int) error {
	unlock, err := p.use()
	defer unlock()
	if r := p.posts[at]; err == nil && (r == nil || r.m != nil) {
		err = errors.New("a receive that is not posted, or has met a message")
	}
	p.posts[at] = nil
	return err
}

var errTruncated = errors.New("a message is longer than the receive that it meets")

func (p *proc) Improbe(from, tag int) (Message, bool, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Message{}, false, err
	}
	p.looks++
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

// meeting is a collective operation of all processes.
type meeting struct {
	begun  int
	root   []byte // the message of a broadcast, once its root has begun
	result []byte // of a reduction: what those have that have begun, combined
}

// next is the operation that a process begins next on a communicator.
func (p *proc) next(communicator int) *meeting {
	n := p.meets[communicator]
	p.meets[communicator]++
	all := p.w.meetings[communicator]
	if n == len(all) {
		all = append(all, &meeting{})
		p.w.meetings[communicator] = all
	}
	return all[n]
}

// Begin adds numbers of 32 bits, and knows no other reduction.
func (p *proc) Begin(communicator int, o *transport.Operation) (Request, error) {
	unlock, err := p.use()
	defer unlock()
	if err != nil {
		return Done, err
	}
	m := p.next(communicator)
	m.begun++
	everybody := func() bool { return m.begun == len(p.w.procs) }
	switch {
	case o.Kind == transport.Bcast && o.Root == p.rank:
		m.root = bytes.Clone(o.Recv)
		return Done, nil
	case o.Kind == transport.Bcast:
		return p.begin(func() bool { return m.root != nil }, func() { copy(o.Recv, m.root) }), nil
	case o.Kind == transport.Barrier:
		return p.begin(everybody, nil), nil
	case o.Type != abi.MPI_UINT32_T || o.Op != abi.MPI_SUM:
		return Done, errRefused
	}
	mine := o.Send
	if mine == nil {
		mine = o.Recv
	}
	if m.result == nil {
		m.result = make([]byte, 4*o.Count)
	}
	for i := 0; i < len(m.result); i += 4 {
		order := binary.NativeEndian
		order.PutUint32(m.result[i:], order.Uint32(m.result[i:])+order.Uint32(mine[i:]))
	}
	if o.Kind == transport.Reduce && o.Root != p.rank {
		return Done, nil
	}
	return p.begin(everybody, func() { copy(o.Recv, m.result) }), nil
}

var errRefused = errors.New("the other library does not know this reduction")

// left returns what is not done, or not received.
func (w *world) left() (messages, requests int) {
	for _, p := range w.procs {
		for _, r := range p.posts {
			if r != nil {
				requests++
			}
		}
		messages += len(p.queue) + len(p.taken)
		requests += len(p.begun)
		requests += len(p.open)
	}
	return messages, requests
}
