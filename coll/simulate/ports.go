package simulate

import (
	"math"
	"slices"
)

// place is a rank, or what several ranks share, with its ports in both directions.
type place struct {
	out, in side
}

// side are the ports of a place in one direction, and the messages that wait for one.
type side struct {
	freeAt  []Time  // by port; never: a message holds it that waits for a port of its receiver
	waiting []int32 // from head on; out: in the order in which the sends were started; in: first come, first served
	head    int
	calls   Time // when the place looks next because of this side; underWay: never
}

const never Time = math.MaxInt64

// ready has a message ask for its ports.
func (m *run) ready(id int32) {
	e := &m.messages[id]
	if e.route.Ports == 0 {
		m.leaves(id)
		return
	}
	out := &m.place(e.route.Out, e.route.Ports).out
	at := len(out.waiting)
	for at > out.head && m.messages[out.waiting[at-1]].order > e.order {
		at--
	}
	out.waiting = slices.Insert(out.waiting, at, id)
	m.call(int32(e.route.Out), out)
}

// place returns a place, which it makes with the given number of ports if it is new.
func (m *run) place(at, ports int) *place {
	for len(m.places) <= at {
		m.places = append(m.places, place{})
	}
	p := &m.places[at]
	if p.out.freeAt == nil {
		both := make([]Time, 2*ports)
		p.out = side{freeAt: both[:ports:ports], calls: underWay}
		p.in = side{freeAt: both[ports:], calls: underWay}
	}
	return p
}

// call has a place look after its ports when the first one of a side is free, if somebody waits for it.
func (m *run) call(at int32, s *side) {
	if s.empty() {
		return
	}
	t := max(s.freeAt[s.first()], m.agenda.now)
	if t == never || s.calls >= m.agenda.now && s.calls <= t {
		return
	}
	s.calls = t
	m.agenda.place(t, at)
}

// first is the port that is free first.
func (s *side) first() int {
	at := 0
	for i, t := range s.freeAt {
		if t < s.freeAt[at] {
			at = i
		}
	}
	return at
}

func (s *side) empty() bool { return s.head == len(s.waiting) }

func (s *side) pop() int32 {
	id := s.waiting[s.head]
	if s.head++; s.head == len(s.waiting) {
		s.waiting, s.head = s.waiting[:0], 0
	}
	return id
}

// serve gives the free ports of a place to messages.
func (m *run) serve(at int32) {
	now := m.agenda.now
	p := &m.places[at]
	for _, s := range []*side{&p.in, &p.out} {
		if s.calls == now {
			s.calls = underWay
		}
	}
	for !p.in.empty() {
		port := p.in.first()
		if p.in.freeAt[port] > now {
			break
		}
		m.pass(p.in.pop(), p, port)
	}
	m.call(at, &p.in)
	for !p.out.empty() {
		port := p.out.first()
		if p.out.freeAt[port] > now {
			break
		}
		id := p.out.pop()
		e := &m.messages[id]
		e.outPort, p.out.freeAt[port] = int32(port), never
		m.place(e.route.In, e.route.Ports)
		p = &m.places[at] // which may have moved
		to := &m.places[e.route.In]
		if free := to.in.first(); to.in.empty() && to.in.freeAt[free] <= now {
			m.pass(id, to, free)
			continue
		}
		to.in.waiting = append(to.in.waiting, id)
		m.call(int32(e.route.In), &to.in)
	}
	m.call(at, &p.out)
}

// pass has a message go that holds a port of its sender and gets one of its receiver, at place to.
func (m *run) pass(id int32, to *place, port int) {
	e := &m.messages[id]
	from, until := &m.places[e.route.Out].out, m.agenda.now+e.route.Occupied
	to.in.freeAt[port] = until
	from.freeAt[e.outPort] = until
	m.call(int32(e.route.Out), from)
	m.leaves(id)
}
