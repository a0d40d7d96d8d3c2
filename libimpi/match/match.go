// Package match finds which receive takes which message.
//
// A Space is one message space of one process (a communicator has two: point-to-point and collective). It keeps the
// receives that wait for a message (posted) and the messages that wait for a receive (unexpected), each by source and
// in order. MPI's rule (MPI 5.0, 3.5): a message takes the receive posted first among those that fit; a receive takes
// the message that arrived first among those that fit, and messages of one source arrive in the order sent. Receives
// from any source stand in a list of their own; a posting number tells which of two candidates is older.
//
// These lists are searched from the front. Where a search has been long, everything that waits is indexed by source and
// tag as well (index.go), until nothing waits any more.
//
// Pure: no locks, no I/O, no allocation but for the growth of indexes. Places in queues are part of what waits: the
// caller's requests and messages hold a Receive or a Message each.
package match

const (
	AnySource = -1 // MPI_ANY_SOURCE
	AnyTag    = -2 // MPI_ANY_TAG
)

// Receive is the place of a receive R in a Space.
type Receive[R any] struct {
	Of *R // the receive

	source, tag int32
	waits       bool
	posted      uint64
	next, prev  *Receive[R]        // in its list
	place       *place[Receive[R]] // in the index, if there is one
}

// Waits reports whether the receive is posted and has not been matched.
func (r *Receive[R]) Waits() bool { return r.waits }

// Message is the place of a message M in a Space.
type Message[M any] struct {
	Of *M // the message

	source, tag        int32
	nextSame, prevSame *Message[M] // among those of its source
	nextAll, prevAll   *Message[M]
	exact, tagged      *place[Message[M]] // in the index, if there is one
}

// Space is one message space.
type Space[R, M any] struct {
	bySource []queues[R, M]
	anyRecv  receives[R] // from AnySource
	arrived  messages[M]
	posts    uint64 // numbers the receives, to find the older of two

	receives index[Receive[R]]
	messages index[Message[M]] // each under (source, tag) and (AnySource, tag)
	anyTags  int               // receives among them for any tag

	waiting *uint32 // counts posted receives and unexpected messages; own, or where Count says
	own     uint32
	kept    uint32 // unexpected messages
}

type queues[R, M any] struct {
	posted     receives[R]
	unexpected messages[M]
}

// Open empties the space and makes it one of n possible sources. Memory of a larger number is used again.
func (s *Space[R, M]) Open(n int) {
	q := s.bySource
	if cap(q) < n {
		q = make([]queues[R, M], n)
	} else {
		q = q[:n]
		clear(q)
	}
	*s = Space[R, M]{bySource: q}
	s.waiting = &s.own
}

// Sources is the number of possible sources, and Room the largest for which Open needs no memory.
func (s *Space[R, M]) Sources() int { return len(s.bySource) }

// Room is how many sources Open has room for.
func (s *Space[R, M]) Room() int { return cap(s.bySource) }

// Waiting is the number of posted receives and unexpected messages.
func (s *Space[R, M]) Waiting() uint32 { return *s.waiting }

// Kept is the number of unexpected messages.
func (s *Space[R, M]) Kept() int { return int(s.kept) }

// Posted is the number of posted receives.
func (s *Space[R, M]) Posted() int { return int(*s.waiting - s.kept) }

// Count makes the space keep that number at p, which the caller only reads; nil: in a place of its own again.
func (s *Space[R, M]) Count(p *uint32) {
	if p == nil {
		p = &s.own
	}
	if p != s.waiting {
		*p = *s.waiting
		s.waiting = p
	}
}

// receives is a FIFO of posted receives.
type receives[R any] struct{ head, tail *Receive[R] }

func (l *receives[R]) push(r *Receive[R]) {
	r.prev, r.next = l.tail, nil
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.next = r
	}
	l.tail = r
}

func (l *receives[R]) remove(r *Receive[R]) {
	if r.prev == nil {
		l.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.prev, r.next = nil, nil
}

// first finds the oldest receive of a list that takes tag.
func (s *Space[R, M]) first(l *receives[R], tag int32) *Receive[R] {
	passed := 0
	r := l.head
	for r != nil && r.tag != tag && r.tag != AnyTag {
		r = r.next
		passed++
	}
	if passed > longScan {
		s.indexReceives()
	}
	return r
}

// messages is a FIFO of unexpected messages; a message stands in two: its source's and the space's.
type messages[M any] struct{ head, tail *Message[M] }

// Arrive takes the receive that a message from rank source with this tag belongs to out of the posted queues; nil if
// there is none yet.
func (s *Space[R, M]) Arrive(source, tag int32) *R {
	var r *Receive[R]
	if s.receives.on {
		r = s.indexed(source, tag)
	} else {
		r = s.first(&s.bySource[source].posted, tag)
		if s.anyRecv.head != nil {
			r = older(r, s.first(&s.anyRecv, tag))
		}
	}
	if r == nil {
		return nil
	}
	s.Withdraw(r)
	return r.Of
}

// indexed finds the oldest receive that takes a message in the index.
func (s *Space[R, M]) indexed(source, tag int32) *Receive[R] {
	r := s.receives.oldest(source, tag)
	if s.anyTags > 0 {
		r = older(r, s.receives.oldest(source, AnyTag))
	}
	if s.anyRecv.head == nil {
		return r
	}
	r = older(r, s.receives.oldest(AnySource, tag))
	if s.anyTags > 0 {
		r = older(r, s.receives.oldest(AnySource, AnyTag))
	}
	return r
}

// older returns the receive that was posted first; either may be nil.
func older[R any](a, b *Receive[R]) *Receive[R] {
	if a == nil || b != nil && b.posted < a.posted {
		return b
	}
	return a
}

func (s *Space[R, M]) indexReceives() {
	if s.receives.on {
		return
	}
	s.receives.on = true
	for i := range s.bySource {
		s.indexList(&s.bySource[i].posted)
	}
	s.indexList(&s.anyRecv)
}

func (s *Space[R, M]) indexList(l *receives[R]) {
	for r := l.head; r != nil; r = r.next {
		s.place(r)
	}
}

func (s *Space[R, M]) place(r *Receive[R]) {
	r.place = s.receives.add(r, r.source, r.tag)
	if r.tag == AnyTag {
		s.anyTags++
	}
}

// Post adds a receive that found no message.
func (s *Space[R, M]) Post(r *Receive[R], source, tag int32) {
	s.posts++
	r.source, r.tag, r.posted, r.waits = source, tag, s.posts, true
	s.list(r).push(r)
	if s.receives.on {
		s.place(r)
	}
	*s.waiting++
}

// Withdraw takes a receive out of the posted queues: it has been matched, or is taken back.
func (s *Space[R, M]) Withdraw(r *Receive[R]) {
	r.waits = false
	s.list(r).remove(r)
	if r.place != nil {
		s.receives.remove(r.place)
		r.place = nil
		if r.tag == AnyTag {
			s.anyTags--
		}
	}
	*s.waiting--
}

func (s *Space[R, M]) list(r *Receive[R]) *receives[R] {
	if r.source == AnySource {
		return &s.anyRecv
	}
	return &s.bySource[r.source].posted
}

// Awaits reports whether a receive is posted that a message from rank source may match, whatever its tag.
func (s *Space[R, M]) Awaits(source int32) bool {
	return s.anyRecv.head != nil || s.bySource[source].posted.head != nil
}

// Find returns the oldest unexpected message that a receive for (source, tag) takes, and leaves it there.
func (s *Space[R, M]) Find(source, tag int32) *M {
	if m := s.find(source, tag); m != nil {
		return m.Of
	}
	return nil
}

func (s *Space[R, M]) find(source, tag int32) *Message[M] {
	if s.messages.on && tag != AnyTag {
		return s.messages.oldest(source, tag)
	}
	passed := 0
	var m *Message[M]
	if source == AnySource {
		for m = s.arrived.head; m != nil && tag != AnyTag && m.tag != tag; m = m.nextAll {
			passed++
		}
	} else {
		for m = s.bySource[source].unexpected.head; m != nil && tag != AnyTag && m.tag != tag; m = m.nextSame {
			passed++
		}
	}
	if passed > longScan {
		s.indexMessages()
	}
	return m
}

func (s *Space[R, M]) indexMessages() {
	s.messages.on = true
	for m := s.arrived.head; m != nil; m = m.nextAll {
		s.index(m)
	}
}

func (s *Space[R, M]) index(m *Message[M]) {
	m.exact = s.messages.add(m, m.source, m.tag)
	m.tagged = s.messages.add(m, AnySource, m.tag)
}

// Keep adds a message that found no receive.
func (s *Space[R, M]) Keep(m *Message[M], source, tag int32) {
	m.source, m.tag = source, tag
	*s.waiting++
	s.kept++
	same := &s.bySource[source].unexpected
	m.prevSame, m.nextSame = same.tail, nil
	if same.tail == nil {
		same.head = m
	} else {
		same.tail.nextSame = m
	}
	same.tail = m

	m.prevAll, m.nextAll = s.arrived.tail, nil
	if s.arrived.tail == nil {
		s.arrived.head = m
	} else {
		s.arrived.tail.nextAll = m
	}
	s.arrived.tail = m
	if s.messages.on {
		s.index(m)
	}
}

// Take removes an unexpected message.
func (s *Space[R, M]) Take(m *Message[M]) {
	*s.waiting--
	s.kept--
	if m.exact != nil {
		s.messages.remove(m.exact)
		s.messages.remove(m.tagged)
		m.exact, m.tagged = nil, nil
	}
	same := &s.bySource[m.source].unexpected
	if m.prevSame == nil {
		same.head = m.nextSame
	} else {
		m.prevSame.nextSame = m.nextSame
	}
	if m.nextSame == nil {
		same.tail = m.prevSame
	} else {
		m.nextSame.prevSame = m.prevSame
	}
	if m.prevAll == nil {
		s.arrived.head = m.nextAll
	} else {
		m.prevAll.nextAll = m.nextAll
	}
	if m.nextAll == nil {
		s.arrived.tail = m.prevAll
	} else {
		m.nextAll.prevAll = m.prevAll
	}
	m.nextSame, m.prevSame, m.nextAll, m.prevAll = nil, nil, nil, nil
}

// Oldest returns the unexpected message that arrived first; nil: there is none.
func (s *Space[R, M]) Oldest() *M {
	if s.arrived.head == nil {
		return nil
	}
	return s.arrived.head.Of
}

// Newest returns the unexpected message that arrived last among those that are wanted; nil: there is none.
func (s *Space[R, M]) Newest(wanted func(*M) bool) *M {
	for m := s.arrived.tail; m != nil; m = m.prevAll {
		if wanted(m.Of) {
			return m.Of
		}
	}
	return nil
}

// Each calls the functions for all that waits.
func (s *Space[R, M]) Each(receive func(*R), message func(*M)) {
	for i := range s.bySource {
		s.bySource[i].posted.each(receive)
	}
	s.anyRecv.each(receive)
	for m := s.arrived.head; m != nil; m = m.nextAll {
		message(m.Of)
	}
}

func (l *receives[R]) each(receive func(*R)) {
	for r := l.head; r != nil; r = r.next {
		receive(r.Of)
	}
}
