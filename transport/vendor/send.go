package vendor

import (
	"fmt"

	"github.com/libimpi/libimpi/transport"
)

// Send implements transport.Transport.
func (t *Transport) Send(h *transport.Header, payload []byte) bool {
	p := t.to(h)
	if p.err != nil || t.over {
		return true
	}
	if !t.room(p) {
		return false
	}
	b := t.buffer()
	copy(b[headerLen:], payload)
	t.post(p, b[:headerLen+h.Len], h, 0)
	return true
}

// SendFrom implements transport.Transport.
func (t *Transport) SendFrom(h *transport.Header, from transport.Packer) bool {
	p := t.to(h)
	if p.err != nil || t.over {
		return true
	}
	if !t.room(p) {
		return false
	}
	b := t.buffer()
	if h.Len > 0 {
		from.Pack(b[headerLen : headerLen+h.Len])
	}
	t.post(p, b[:headerLen+h.Len], h, 0)
	return true
}

// to is the process that a packet goes to.
func (t *Transport) to(h *transport.Header) *peer {
	p := t.index[h.Dst]
	if p == nil || h.Src != t.me || h.Len > maxStream {
		panic(fmt.Sprintf("vendor: process %d sends what this transport does not carry: %+v", t.me, *h))
	}
	return p
}

// room reports whether a packet can go to a process now.
func (t *Transport) room(p *peer) bool {
	if p.long == Done && p.sent-p.acked < window && p.unsent < maxUnsent {
		p.stuck = false
		return true
	}
	if !p.stuck {
		p.stuck = true
		t.counts.Waits++
	}
	return false
}

// post sends a packet, whose payload is in b already.
func (t *Transport) post(p *peer, b packet, h *transport.Header, flags uint8) {
	b.put(h, flags, 0)
	t.count(p, b)
}

// count hands over a packet that counts for flow control.
func (t *Transport) count(p *peer, b packet) {
	p.sent++
	t.counts.Sent++
	t.hand(p, b, false)
}

// hand gives a packet to the library, with the acknowledgement that is due.
func (t *Transport) hand(p *peer, b packet, ack bool) {
	flags := b.flags()
	if p.hold {
		flags |= flagHold
	}
	if !p.shut {
		p.told = p.came
	}
	b.acknowledge(flags, p.told, p.fetched)
	p.news = false
	r, err := t.mpi.Isend(b, p.rank, tagPacket)
	if err != nil {
		t.release(b)
		t.broken(err)
		return
	}
	t.posted[p.rank]++
	if r == Done {
		t.release(b)
		return
	}
	if len(p.sending) == 0 {
		if t.sending = append(t.sending, p); len(t.sending) == 1 {
			t.leave(true)
		}
	}
	p.sending = append(p.sending, outgoing{r, b, ack})
	p.unsent += len(b)
	p.ack = p.ack || ack
}

// reap takes back the buffers of what the library has sent.
func (t *Transport) reap() (did bool) {
	kept := t.sending[:0]
	for _, p := range t.sending {
		n := 0
		for ; n < len(p.sending); n++ {
			o := &p.sending[n]
			done, err := t.mpi.Test(o.request)
			if err != nil {
				t.broken(err)
			}
			if !done {
				break
			}
			p.unsent -= len(o.buffer)
			t.release(o.buffer)
			p.ack = p.ack && !o.ack
			did = true
		}
		p.sending = append(p.sending[:0], p.sending[n:]...)
		if len(p.sending) > 0 {
			kept = append(kept, p)
		}
	}
	clear(t.sending[len(kept):])
	if t.sending = kept; len(kept) == 0 {
		t.leave(false)
	}
	return did
}

// Stream implements transport.Streamer.
func (t *Transport) Stream(int32) int { return maxStream }

// SendLong implements transport.Streamer. The library has the user's memory until SendRest says that all is gone.
func (t *Transport) SendLong(h *transport.Header, payload []byte) (taken int, ok bool) {
	if h.Len <= maxPacket {
		return h.Len, t.Send(h, payload)
	}
	p := t.to(h)
	if p.err != nil || t.over {
		return h.Len, true
	}
	if !t.room(p) {
		return 0, false
	}
	t.post(p, t.buffer()[:headerLen], h, flagLong)
	if p.err != nil {
		return h.Len, true
	}
	r, err := t.mpi.Isend(payload, p.rank, tagLong)
	if err != nil {
		t.broken(err)
		return h.Len, true
	}
	t.posted[p.rank]++
	if r == Done {
		return h.Len, true
	}
	p.long = r
	return 0, true
}

// SendRest implements transport.Streamer: all of it, or nothing yet.
func (t *Transport) SendRest(dst int32, payload []byte) int {
	p := t.index[dst]
	if p.err != nil || t.over || p.long == Done {
		return len(payload)
	}
	done, err := t.mpi.Test(p.long)
	if err != nil {
		t.broken(err)
		return len(payload)
	}
	if !done {
		return 0
	}
	p.long = Done
	return len(payload)
}

// Hold implements transport.Holder.
func (t *Transport) Hold(_, number int32, on bool) {
	if p := t.index[number]; p != nil && p.came > 0 && p.hold != on {
		p.hold, p.news = on, true
		t.owe(p)
	}
}

// Held implements transport.Holder.
func (t *Transport) Held(_, number int32) bool {
	p := t.index[number]
	return p != nil && p.held
}

// Shut implements transport.Shutter.
func (t *Transport) Shut(_, number int32, on bool) {
	if p := t.index[number]; p != nil && p.shut != on {
		p.shut, p.news = on, !on
		t.owe(p)
	}
}

// owe has the next Poll see whether a process is to be told what has come.
func (t *Transport) owe(p *peer) {
	if !p.owes {
		p.owes = true
		t.owing = append(t.owing, p)
	}
}

// acknowledge sends the acknowledgements that are due.
func (t *Transport) acknowledge() (did bool) {
	if len(t.owing) == 0 || t.silent {
		return false
	}
	kept := t.owing[:0]
	for _, p := range t.owing {
		due := p.err == nil && (p.news || !p.shut && p.came-p.told >= ackEvery)
		if due && p.ack { // the last one has not left
			kept = append(kept, p)
			continue
		}
		p.owes = false
		if due {
			b := packet(t.buffer()[:headerLen])
			b.put(&transport.Header{Kind: transport.ProtoAck}, 0, 0)
			t.hand(p, b, true)
			did = true
		}
	}
	clear(t.owing[len(kept):])
	t.owing = kept
	return did
}
