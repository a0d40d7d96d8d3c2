package vendor

import (
	"fmt"
	"slices"
)

// Receives of packets are posted ahead for the first Posts processes of which some have come, one for each: the library
// matches a packet when it arrives, and one Test of all of these receives both polls and completes. Each names its
// process, because MPICH 5.0 over TCP loses messages if receives from any are posted. Packets of the other processes
// are probed for, one call in probeEvery while there are such receives.
const (
	Posts      = 8
	probeEvery = 4
)

// post is a receive that is posted, or is to be before the next look.
type post struct {
	from   *peer
	buffer packet // nil: it is not posted
}

// next takes a packet that has come, and reports whether there was one.
func (t *Transport) next() bool {
	if t.spent >= 0 && !t.repost() {
		return false
	}
	if len(t.posts) > 0 {
		at, n, ok, err := t.mpi.Testany(len(t.posts))
		if err != nil {
			t.broken(err)
			return false
		}
		if ok {
			t.met(at, n)
			return true
		}
	}
	t.looks++
	return t.unposted > 0 && (len(t.posts) == 0 || t.looks%probeEvery == 0) && t.probe()
}

// met takes the packet that a posted receive has met. Its buffer goes with it; the receive gets another one, which is
// the same if it is free again by then.
func (t *Transport) met(at, n int) {
	s := &t.posts[at]
	b := s.buffer[:n]
	s.buffer, t.spent = nil, at
	t.taken++
	p := s.from
	if !p.awaits {
		t.accept(p, b, Done)
		return
	}
	p.awaits = false
	a := &p.arriving[slices.IndexFunc(p.arriving, func(a arrival) bool { return a.stage == inPost })]
	a.stage, a.buffer = inPacket, b
}

// await keeps a place before a packet that was probed for: the library has matched an earlier one of its process with
// the posted receive, and not said so yet.
func (t *Transport) await(p *peer) {
	if p.awaits || !slices.ContainsFunc(t.posts, func(s post) bool { return s.from == p && s.buffer != nil }) {
		return
	}
	p.awaits = true
	t.queue(p, arrival{stage: inPost})
}

// repost posts the receive again whose packet came last: when the program has its message, which it waits for.
func (t *Transport) repost() bool {
	s := &t.posts[t.spent]
	s.buffer = t.buffer()
	if err := t.mpi.Post(t.spent, s.buffer, s.from.rank, tagPacket); err != nil {
		t.broken(err)
		return false
	}
	t.spent = -1
	return true
}

// probe takes a packet for which no receive was posted. Its process gets one, if there is one left: behind this packet,
// which the library has matched.
func (t *Transport) probe() bool {
	m, ok, err := t.mpi.Improbe(Any, tagPacket)
	if err != nil {
		t.broken(err)
	}
	if err != nil || !ok {
		return false
	}
	t.taken++
	p := t.peers[m.From]
	if m.Len < headerLen || m.Len > bufferLen {
		t.fail(p, fmt.Errorf("vendor: world rank %d has sent a packet of %d bytes", p.world, m.Len))
		return true
	}
	b := t.buffer()[:m.Len]
	r, err := t.mpi.Imrecv(m, b)
	if err != nil {
		t.broken(err)
		return false
	}
	t.await(p)
	t.accept(p, b, r)
	if !p.posted && !p.silent && len(t.posts) < Posts && !t.finishing {
		p.posted = true
		t.unposted--
		t.posts = append(t.posts, post{from: p})
		t.spent = len(t.posts) - 1
	}
	return true
}

// withdraw cancels the receives that are posted, when nothing comes any more.
func (t *Transport) withdraw() error {
	for at := range t.posts {
		s := &t.posts[at]
		if s.buffer == nil {
			continue
		}
		if err := t.mpi.Withdraw(at); err != nil {
			return fmt.Errorf("vendor: %w", err)
		}
		s.buffer = nil
	}
	t.posts = nil
	return nil
}
