package libimpi

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

type messagePool struct {
	idle     *message // linked through next
	idles    int
	payloads [payloadClasses][][]byte
}

func (p *messagePool) get(n int) *message {
	m := p.idle
	if m == nil {
		m = new(message)
	} else {
		p.idle = m.next
		p.idles--
		*m = message{}
	}
	m.payload = p.payload(n)
	return m
}

// classOf is the class of the smallest size that holds n bytes; payloadClasses or more if none does.
func classOf(n int) int { return max(bits.Len(uint(n-1)), leastClass) - leastClass }

func (p *messagePool) payload(n int) []byte {
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

func (p *messagePool) put(m *message) {
	if size := cap(m.payload); size > 0 {
		if c := classOf(size); c < payloadClasses && size == 1<<(c+leastClass) &&
			len(p.payloads[c]) < max(idlePayloads/size, 4) {
			p.payloads[c] = append(p.payloads[c], m.payload[:0])
		}
	}
	if p.idles < idleMessages {
		*m = message{next: p.idle}
		p.idle = m
		p.idles++
	}
}
