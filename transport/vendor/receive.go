package vendor

import (
	"fmt"

	"github.com/libimpi/libimpi/transport"
)

// arrival is a packet that is coming. Those of a process are delivered in order, each when it is complete; a long one
// is complete when its payload is there.
type arrival struct {
	buffer  packet // as long as the packet
	request Request
	stage   stage
	header  transport.Header // of a long one
	into    []byte           // where its payload goes
}

type stage uint8

const (
	inPost    stage = iota // the posted receive is to be done first
	inPacket               // request is that of the packet
	inAwait                // the payload has not been taken yet
	inPayload              // request is that of the payload
)

// Poll implements transport.Transport.
func (t *Transport) Poll() bool {
	if t.inside || t.over {
		return false
	}
	t.polls.Add(1)
	t.inside = true
	did := t.turn()
	t.inside = false
	if did {
		t.worked.Add(1)
	}
	return did
}

func (t *Transport) turn() bool {
	did := len(t.together) > 0 && t.goOn()
	did = len(t.sending) > 0 && t.reap() || did
	did = t.next() || did // one: the program may be waiting for it, and another look takes system calls
	did = len(t.arriving) > 0 && t.advance() || did
	did = len(t.moving) > 0 && t.moved() || did
	did = t.acknowledge() || did
	return t.report() || did
}

// accept takes a packet that has come, whose request may be under way, and delivers it if it is the first of its
// process and all there.
func (t *Transport) accept(p *peer, b packet, r Request) {
	a := &t.first
	*a = arrival{stage: inPacket, buffer: b, request: r}
	if len(p.arriving) > 0 || !t.progress(p, a) {
		t.queue(p, *a)
	}
}

// queue keeps what is not complete, or comes after such.
func (t *Transport) queue(p *peer, a arrival) {
	if len(p.arriving) == 0 {
		t.arriving = append(t.arriving, p)
	}
	p.arriving = append(p.arriving, a)
}

// advance goes on with what is not complete.
func (t *Transport) advance() (did bool) {
	kept := t.arriving[:0]
	for _, p := range t.arriving {
		n := 0
		for n < len(p.arriving) && t.progress(p, &p.arriving[n]) {
			n, did = n+1, true
		}
		p.arriving = append(p.arriving[:0], p.arriving[n:]...)
		if len(p.arriving) > 0 {
			kept = append(kept, p)
		}
	}
	clear(t.arriving[len(kept):])
	t.arriving = kept
	return did
}

// progress goes on with the first arrival of a process, and reports whether that is over.
func (t *Transport) progress(p *peer, a *arrival) bool {
	if a.request != Done {
		done, err := t.mpi.Test(a.request)
		if err != nil {
			t.broken(err)
		}
		if !done {
			return false
		}
		a.request = Done
	}
	switch a.stage {
	case inPost:
		return false
	case inPacket:
		return t.read(p, a)
	case inAwait:
		return t.fetch(p, a)
	}
	return t.deliver(p, a)
}

// read takes a packet that is there. A long one it goes on with.
func (t *Transport) read(p *peer, a *arrival) bool {
	if p.err != nil {
		t.release(a.buffer)
		return true
	}
	h := &t.header
	*h = transport.Header{Src: p.world, Dst: t.me}
	err := a.buffer.get(h)
	if acked := a.buffer.acked(); err == nil && acked-p.acked > p.sent-p.acked {
		err = fmt.Errorf("%d packets are acknowledged, and %d have been sent", acked, p.sent)
	}
	if err == nil && h.Kind != transport.ProtoAck && p.came-p.told >= window {
		err = fmt.Errorf("more than %d packets are under way", window)
	}
	if err == nil {
		err = p.note(a.buffer.fetched(), transport.Offer(h.Addr))
	}
	if err != nil {
		t.release(a.buffer)
		t.fail(p, fmt.Errorf("vendor: world rank %d has broken the protocol: %w", p.world, err))
		return true
	}
	p.acked, p.held = a.buffer.acked(), a.buffer.flags()&flagHold != 0
	if h.Kind == transport.ProtoAck {
		t.release(a.buffer)
		return true
	}
	t.counts.Received++
	if a.buffer.flags()&flagLong == 0 {
		t.hear(p, h, a.buffer[headerLen:])
		t.release(a.buffer)
		return true
	}
	t.release(a.buffer)
	a.header, a.stage, a.buffer = *h, inAwait, nil
	if t.placer != nil && !t.finishing {
		a.into = t.placer.Place(&a.header)
	}
	if a.into == nil {
		a.into = make([]byte, h.Len)
	}
	return t.fetch(p, a)
}

// fetch receives the payload of a long packet, if it has come.
func (t *Transport) fetch(p *peer, a *arrival) bool {
	if p.err != nil {
		return true
	}
	m, ok, err := t.mpi.Improbe(p.rank, tagLong)
	if err == nil && ok {
		t.taken++
		if m.Len != len(a.into) {
			t.fail(p, fmt.Errorf("vendor: world rank %d has announced %d bytes and sent %d", p.world, len(a.into), m.Len))
			return true
		}
		a.stage = inPayload
		a.request, err = t.mpi.Imrecv(m, a.into)
	}
	if err != nil {
		t.broken(err)
		return false
	}
	return ok && a.request == Done && t.deliver(p, a)
}

func (t *Transport) deliver(p *peer, a *arrival) bool {
	if p.err == nil {
		t.hear(p, &a.header, a.into)
	}
	return true
}

// hear delivers a packet, and sees whether that is to be acknowledged.
func (t *Transport) hear(p *peer, h *transport.Header, payload []byte) {
	p.came++
	if !t.finishing {
		t.rx.Deliver(h, payload)
	}
	if p.came-p.told >= ackEvery {
		t.owe(p)
	}
}
