// Package simulate times collective algorithms on a virtual clock, for up to 10^5 ranks.
//
// A call of an operation is recorded at every rank (coll.Recorder); no data moves, and buffers are addresses without
// memory. Then the schedules of all ranks are carried out against each other, with costs from a Model:
//
//	call -> Record -> Schedules -> Run(model) -> time
//
// A rank takes its steps in order. A message is matched by source, destination and tag, in the order in which the two
// sides have started it. When it may leave it takes a port at each side, for a time that the model says. A rank that
// waits goes on when the last of its messages is done. The messages of one rank leave in the order in which it has
// started them. If two want the same port of a receiver, the one that was there first goes first, and the other one
// keeps its port of the sender meanwhile.
//
// Two runs of the same schedules give the same times, on any machine: all times are integers.
package simulate

import (
	"fmt"
	"slices"
)

// What done says of a message that is not.
const (
	underWay Time = -1 - iota
	awaited
)

type rank struct {
	program
	at      int
	started int32  // messages
	charged bool   // the overhead of the send that comes next has passed
	done    []Time // by message: when this side of it was complete
	pending int    // messages that the rank waits for, and does not know the end of
	until   Time   // the latest end of the others
	sends   []int32
	recvs   []int32 // messages started by this rank that have not been matched
}

type message struct {
	src, dst   int32
	sreq, rreq int32  // -1: that side is not there
	tag        uint32 // + 1; 0: any
	bytes      int64  // sent, or room of the receive as long as there is no send
	order      int64  // in which sends were started
	arrival    Time   // of a message that has left before its receive was there, else underWay
	outPort    int32
	route      Route
}

type run struct {
	model    Model
	ranks    []rank
	agenda   agenda
	messages []message
	free     []int32
	places   []place
	order    int64
	end      Time
	finished int
}

// Run carries the schedules out and returns when the last rank is done.
func (s *Schedules) Run(model Model) (Time, error) {
	m := &run{model: model, ranks: make([]rank, len(s.ranks)), agenda: agenda{moments: map[Time]*moment{}}}
	total := 0
	for i := range s.ranks {
		total += s.ranks[i].count
	}
	done := make([]Time, total)
	for i := range done {
		done[i] = underWay
	}
	for i := range s.ranks {
		n := s.ranks[i].count
		m.ranks[i].program, m.ranks[i].done, done = s.ranks[i], done[:n:n], done[n:]
		m.agenda.rank(0, int32(i))
	}
	for now := m.agenda.next(); now != nil; now = m.agenda.next() {
		for len(now.ranks) > 0 || len(now.places) > 0 {
			for i := 0; i < len(now.ranks); i++ {
				if err := m.resume(now.ranks[i]); err != nil {
					return 0, err
				}
			}
			now.ranks = now.ranks[:0]
			for i := 0; i < len(now.places); i++ {
				m.serve(now.places[i])
			}
			now.places = now.places[:0]
		}
	}
	return m.end, m.leftOver()
}

// resume has rank r take steps until one of them takes time.
func (m *run) resume(r int32) error {
	k := &m.ranks[r]
	now := m.agenda.now
	for k.at < len(k.steps) {
		st := &k.steps[k.at]
		var t Time
		switch st.what &^ tagMask {
		case send:
			route := m.model.Route(int(r), int(st.peer), st.bytes)
			if route.Overhead > 0 && !k.charged {
				k.charged = true
				m.agenda.rank(now+route.Overhead, r)
				return nil
			}
			k.charged = false
			if err := m.send(r, st, route); err != nil {
				return err
			}
			k.started++
		case recv:
			if err := m.recv(r, st); err != nil {
				return err
			}
			k.started++
		case wait:
			k.until = now
			for _, q := range k.waits[st.bytes : st.bytes+int64(st.peer)] {
				if t := k.done[q]; t >= 0 {
					k.until = max(k.until, t)
				} else {
					k.done[q] = awaited
					k.pending++
				}
			}
			if k.pending > 0 {
				k.at++
				return nil
			}
			t = k.until - now
		case copied:
			t = m.model.Copy(st.bytes)
		case combined:
			t = m.model.Combine(st.bytes)
		}
		k.at++
		if t > 0 {
			m.agenda.rank(now+t, r)
			return nil
		}
	}
	m.finished++
	m.end = max(m.end, now)
	return nil
}

// send starts a message of rank r.
func (m *run) send(r int32, st *step, route Route) error {
	k, peer := &m.ranks[r], &m.ranks[st.peer]
	tag := st.what & tagMask
	m.order++
	for i, id := range peer.recvs {
		e := &m.messages[id]
		if e.src != r || e.tag != tag && e.tag != 0 {
			continue
		}
		peer.recvs = slices.Delete(peer.recvs, i, i+1)
		if st.bytes > e.bytes {
			return tooLong(r, st.peer, st.bytes, e.bytes)
		}
		e.sreq, e.bytes, e.order, e.route = k.started, st.bytes, m.order, route
		m.ready(id)
		return nil
	}
	id := m.take()
	m.messages[id] = message{src: r, dst: st.peer, sreq: k.started, rreq: -1, tag: tag, bytes: st.bytes, order: m.order,
		arrival: underWay, route: route}
	k.sends = append(k.sends, id)
	if !route.Rendezvous {
		m.ready(id)
	}
	return nil
}

// recv starts to receive a message at rank r.
func (m *run) recv(r int32, st *step) error {
	k, peer := &m.ranks[r], &m.ranks[st.peer]
	tag := st.what & tagMask
	for i, id := range peer.sends {
		e := &m.messages[id]
		if e.dst != r || e.tag != tag && tag != 0 {
			continue
		}
		peer.sends = slices.Delete(peer.sends, i, i+1)
		if e.bytes > st.bytes {
			return tooLong(st.peer, r, e.bytes, st.bytes)
		}
		e.rreq = k.started
		switch {
		case e.route.Rendezvous:
			m.ready(id)
		case e.arrival != underWay:
			m.complete(r, e.rreq, max(m.agenda.now, e.arrival))
			m.free = append(m.free, id)
		}
		return nil
	}
	id := m.take()
	m.messages[id] = message{src: st.peer, dst: r, sreq: -1, rreq: k.started, tag: tag, bytes: st.bytes,
		arrival: underWay}
	k.recvs = append(k.recvs, id)
	return nil
}

func tooLong(src, dst int32, n, room int64) error {
	return fmt.Errorf("rank %d sends %d bytes to rank %d, which has room for %d", src, n, dst, room)
}

func (m *run) take() int32 {
	if n := len(m.free); n > 0 {
		id := m.free[n-1]
		m.free = m.free[:n-1]
		return id
	}
	m.messages = append(m.messages, message{})
	return int32(len(m.messages) - 1)
}

// leaves has a message, which has its ports, go now.
func (m *run) leaves(id int32) {
	e := &m.messages[id]
	now := m.agenda.now
	m.complete(e.src, e.sreq, now+e.route.Occupied)
	e.arrival = now + e.route.Transit
	if e.rreq >= 0 {
		m.complete(e.dst, e.rreq, e.arrival)
		m.free = append(m.free, id)
	}
}

// complete notes when one side of a message is complete.
func (m *run) complete(r, req int32, at Time) {
	k := &m.ranks[r]
	waits := k.done[req] == awaited
	k.done[req] = at
	if !waits {
		return
	}
	k.until = max(k.until, at)
	if k.pending--; k.pending == 0 {
		m.agenda.rank(k.until, r)
	}
}

// leftOver returns what is wrong when nothing happens any more.
func (m *run) leftOver() error {
	for r := range m.ranks {
		k := &m.ranks[r]
		for _, id := range append(k.sends, k.recvs...) {
			e := &m.messages[id]
			if e.sreq < 0 {
				return fmt.Errorf("rank %d waits for a message from rank %d that is never sent", e.dst, e.src)
			}
			return fmt.Errorf("rank %d sends a message to rank %d that is never received", e.src, e.dst)
		}
	}
	if m.finished < len(m.ranks) {
		return fmt.Errorf("%d of %d ranks wait for ever", len(m.ranks)-m.finished, len(m.ranks))
	}
	return nil
}
