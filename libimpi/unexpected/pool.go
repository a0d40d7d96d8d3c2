package unexpected

import "math/bits"

// Pools for unexpected messages: their records, and memory for their payload in sizes that are powers of two, so that a
// program whose messages keep arriving early settles to no allocation.

const (
	leastClass     = 6  // logarithm of the smallest size, in bytes
	mostClass      = 16 // and of the largest
	payloadClasses = mostClass - leastClass + 1
)

const (
	idlePayloads = 1 << 20 // bytes of free payload memory that a class keeps
	idleMessages = 1 << 14 // free records that are kept
)

// Pool has memory for messages.
type Pool[R any] struct {
	idle     *Message[R] // linked through next
	idles    int
	payloads [payloadClasses][][]byte
}

// Get returns a message with room for n bytes.
func (p *Pool[R]) Get(n int) *Message[R] {
	m := p.idle
	if m == nil {
		m = new(Message[R])
	} else {
		p.idle = m.next
		p.idles--
		*m = Message[R]{}
	}
	m.Payload = p.payload(n)
	return m
}

// classOf is the class of the smallest size that holds n bytes; payloadClasses or more if none does.
func classOf(n int) int { return max(bits.Len(uint(n-1)), leastClass) - leastClass }

func (p *Pool[R]) payload(n int) []byte {
	if n == 0 {
		return nil
	}
	c := classOf(n)
	if c >= payloadClasses {
		return make([]byte, n)
	}
	if k := len(p.payloads[c]); k > 0 {
		b := p.payloads[c][k-1]
		p.payloads[c] = p.payloads[c][:k-1]
		return b[:n]
	}
	return make([]byte, n, 1<<(c+leastClass))
}

// Put takes back one that is needed no more.
func (p *Pool[R]) Put(m *Message[R]) {
	if size := cap(m.Payload); size > 0 {
		if c := classOf(size); c < payloadClasses && size == 1<<(c+leastClass) &&
			len(p.payloads[c]) < max(idlePayloads/size, 4) {
			p.payloads[c] = append(p.payloads[c], m.Payload[:0])
		}
	}
	if p.idles < idleMessages {
		*m = Message[R]{next: p.idle}
		p.idle = m
		p.idles++
	}
}
