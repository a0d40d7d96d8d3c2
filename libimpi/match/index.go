package match

// An index finds the oldest receive or message of a key (source, tag) among many. A space makes one when it has
// searched a long list and gives it up when the last receive or message has left, so that a program which keeps few
// of them waiting never pays for it. Keys are exact: a receive with a wildcard has the wildcard in its key.
//
// Memory is pooled: a program that fills and empties the index again and again settles to no allocation.

// longScan is how many elements a search may pass before an index is made.
const longScan = 32

// keptPlaces is how many free places an index that has been given up keeps.
const keptPlaces = 1 << 15

// place is where one receive or message stands in the queue of a key.
type place[T any] struct {
	of         *T
	in         *keyQueue[T]
	next, prev *place[T]
}

// keyQueue is a FIFO of all that have one key.
type keyQueue[T any] struct {
	source, tag int32
	head, tail  *place[T]
	next        *keyQueue[T] // in the same bucket
}

type index[T any] struct {
	on      bool // everything that waits is here
	waiting int
	keys    int
	buckets []*keyQueue[T] // a power of two
	shift   uint           // 64 less its logarithm

	idlePlaces *place[T]    // linked through next
	idleKeys   *keyQueue[T] // linked through next
	idle       int          // places among them
}

func (x *index[T]) bucket(source, tag int32) **keyQueue[T] {
	key := uint64(uint32(source))<<32 | uint64(uint32(tag))
	return &x.buckets[key*0x9e3779b97f4a7c15>>x.shift]
}

// oldest returns what has waited longest under a key; nil if there is nothing.
func (x *index[T]) oldest(source, tag int32) *T {
	for q := *x.bucket(source, tag); q != nil; q = q.next {
		if q.source == source && q.tag == tag {
			return q.head.of
		}
	}
	return nil
}

// add puts t at the end of a key's queue.
func (x *index[T]) add(t *T, source, tag int32) *place[T] {
	q := x.queue(source, tag)
	p := x.idlePlaces
	if p == nil {
		p = new(place[T])
	} else {
		x.idlePlaces = p.next
		x.idle--
	}
	*p = place[T]{of: t, in: q, prev: q.tail}
	if q.tail == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
	x.waiting++
	return p
}

// queue finds the queue of a key, or makes it.
func (x *index[T]) queue(source, tag int32) *keyQueue[T] {
	if x.keys >= len(x.buckets) {
		x.grow()
	}
	b := x.bucket(source, tag)
	for q := *b; q != nil; q = q.next {
		if q.source == source && q.tag == tag {
			return q
		}
	}
	q := x.idleKeys
	if q == nil {
		q = new(keyQueue[T])
	} else {
		x.idleKeys = q.next
	}
	*q = keyQueue[T]{source: source, tag: tag, next: *b}
	*b = q
	x.keys++
	return q
}

// grow doubles the number of buckets.
func (x *index[T]) grow() {
	old := x.buckets
	if len(old) == 0 {
		x.buckets, x.shift = make([]*keyQueue[T], 256), 64-8
		return
	}
	x.buckets = make([]*keyQueue[T], 2*len(old))
	x.shift--
	for _, q := range old {
		for q != nil {
			next := q.next
			b := x.bucket(q.source, q.tag)
			q.next, *b = *b, q
			q = next
		}
	}
}

// remove takes a place out of its queue, and the queue out of the index if it was the last one.
func (x *index[T]) remove(p *place[T]) {
	q := p.in
	if p.prev == nil {
		q.head = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		q.tail = p.prev
	} else {
		p.next.prev = p.prev
	}
	if q.head == nil {
		x.drop(q)
	}
	*p = place[T]{next: x.idlePlaces}
	x.idlePlaces = p
	x.idle++
	if x.waiting--; x.waiting == 0 {
		x.giveUp()
	}
}

func (x *index[T]) drop(q *keyQueue[T]) {
	b := x.bucket(q.source, q.tag)
	for *b != q {
		b = &(*b).next
	}
	*b = q.next
	*q = keyQueue[T]{next: x.idleKeys}
	x.idleKeys = q
	x.keys--
}

// giveUp ends the use of the index. Much memory is given back.
func (x *index[T]) giveUp() {
	if x.idle > keptPlaces {
		*x = index[T]{}
	}
	x.on = false
}
