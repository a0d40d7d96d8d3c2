package unexpected

// Early is messages by the id of their context, which is not known yet. Those of one context wait in the order in which
// they came. The zero value is empty.
type Early[R any] struct{ byContext map[uint64]queue[R] }

// queue is linked through Message.next and Message.prev.
type queue[R any] struct{ head, tail *Message[R] }

// Contexts is how many contexts messages wait for.
func (e *Early[R]) Contexts() int { return len(e.byContext) }

// Each calls f for all messages, those of each context in the order in which they came.
func (e *Early[R]) Each(f func(*Message[R])) {
	for _, q := range e.byContext {
		for m := q.head; m != nil; m = m.next {
			f(m)
		}
	}
}

// First is the message that has waited longest for a context; nil: none does.
func (e *Early[R]) First(cid uint64) *Message[R] { return e.byContext[cid].head }

// Push makes a message the last that waits for a context.
func (e *Early[R]) Push(m *Message[R], cid uint64) {
	if e.byContext == nil {
		e.byContext = make(map[uint64]queue[R])
	}
	q := e.byContext[cid]
	m.Early, m.CID, m.prev, m.next = true, cid, q.tail, nil
	if q.tail == nil {
		q.head = m
	} else {
		q.tail.next = m
	}
	q.tail = m
	e.byContext[cid] = q
}

// Remove takes a message away from those that wait for a context.
func (e *Early[R]) Remove(m *Message[R]) {
	q := e.byContext[m.CID]
	if m.prev == nil {
		q.head = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		q.tail = m.prev
	} else {
		m.next.prev = m.prev
	}
	m.Early, m.prev, m.next = false, nil, nil
	if q.head != nil {
		e.byContext[m.CID] = q
	} else if delete(e.byContext, m.CID); len(e.byContext) == 0 {
		e.byContext = nil // a map keeps the room of the most it has had
	}
}
