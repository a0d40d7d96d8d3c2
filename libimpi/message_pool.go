package libimpi

// Pools for unexpected messages: their records, and memory for their payload in a few sizes, so that a
// program whose messages keep arriving early settles to no allocation.

var payloadClasses = [...]int{64, 512, 4 << 10, 16 << 10, 64 << 10}

// idlePayloads is how many bytes of free payload memory a class keeps.
const idlePayloads = 1 << 20

type messagePool struct {
	idle     *message // linked through nextAll
	payloads [len(payloadClasses)][][]byte
}

func (p *messagePool) get(n int) *message {
	m := p.idle
	if m == nil {
		m = new(message)
	} else {
		p.idle = m.nextAll
		*m = message{}
	}
	m.payload = p.payload(n)
	return m
}

func (p *messagePool) payload(n int) []byte {
	if n == 0 {
		return nil
	}
	for i, size := range payloadClasses {
		if n <= size {
			if k := len(p.payloads[i]); k > 0 {
				b := p.payloads[i][k-1]
				p.payloads[i] = p.payloads[i][:k-1]
				return b[:n]
			}
			return make([]byte, n, size)
		}
	}
	return make([]byte, n)
}

func (p *messagePool) put(m *message) {
	for i, size := range payloadClasses {
		if cap(m.payload) == size && len(p.payloads[i]) < max(idlePayloads/size, 4) {
			p.payloads[i] = append(p.payloads[i], m.payload[:0])
			break
		}
	}
	*m = message{nextAll: p.idle}
	p.idle = m
}
