package outbox

import "github.com/libimpi/libimpi/transport"

// control is a FIFO of packets without payload. Those that have left stay at its front until they are as many as
// those that wait: a peer may have thousands of answers waiting, and take a few at a time.
type control struct {
	packets []transport.Header
	left    int
}

func (q *control) waiting() []transport.Header { return q.packets[q.left:] }

// sent notes that the first n that wait have left.
func (q *control) sent(n int) {
	if q.left += n; 2*q.left >= len(q.packets) {
		q.packets = q.packets[:copy(q.packets, q.waiting())]
		q.left = 0
	}
}

// queue is a FIFO of messages.
type queue[R any] struct{ head, tail *Link[R] }

func (q *queue[R]) push(l *Link[R]) {
	l.next = nil
	if q.tail == nil {
		q.head = l
	} else {
		q.tail.next = l
	}
	q.tail = l
}

func (q *queue[R]) pushFront(l *Link[R]) {
	l.next = q.head
	if q.head = l; q.tail == nil {
		q.tail = l
	}
}

func (q *queue[R]) pop() *Link[R] {
	l := q.head
	q.head = l.next
	if q.head == nil {
		q.tail = nil
	}
	l.next = nil
	return l
}

// remove takes l out of the queue and reports whether it was there.
func (q *queue[R]) remove(l *Link[R]) bool {
	var before *Link[R]
	for x := q.head; x != nil; before, x = x, x.next {
		if x != l {
			continue
		}
		if before == nil {
			q.head = l.next
		} else {
			before.next = l.next
		}
		if q.tail == l {
			q.tail = before
		}
		l.next = nil
		return true
	}
	return false
}
