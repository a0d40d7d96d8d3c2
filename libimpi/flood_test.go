package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

// flood starts sends of n bytes with rising tags until the sender finds itself withheld, and some more.
func flood(t *testing.T, es []*Engine, c *Comm, n int64, buf []byte, more int) (ids []uint64) {
	t.Helper()
	left := -1
	for i := 0; left != 0; i++ {
		if i > 1<<20 {
			t.Fatal("a million messages, and nobody minds")
		}
		ids = append(ids, c.Isend(at(buf), n, byteT, 1, int32(i), Standard))
		step(es)
		es[0].mu.Lock()
		if left < 0 && es[0].withhold(&es[0].peers[1], c.p2p) {
			left = more
		}
		es[0].mu.Unlock()
		left--
		if left < 0 {
			left = -1
		}
	}
	return ids
}

// floodSizes are the lengths of the messages.
func floodSizes() []int64 {
	if raceOn {
		return []int64{8, 9000}
	}
	return []int64{8, 1000, 9000}
}

// A receiver that takes nothing keeps a bounded amount; the sends beyond it wait, and yet a receive of the last message
// is served at once, and all the others in any order.
func TestAFloodIsHeldBackAndOvertakesNothing(t *testing.T) {
	for name, o := range map[string]options{
		"read directly": {clients: []int{2}},
		"through rings": {clients: []int{2}, noRead: true},
		"by IMPI":       {clients: []int{1, 1}},
		"to another":    {clients: []int{1, 1}, tune: strangers},
	} {
		for _, n := range floodSizes() {
			es := makeWorld(t, o)
			buf := make([]byte, n)
			const more = 300
			ids := flood(t, es, es[0].World(), n, buf, more)
			until(t, es, "the envelopes to arrive", func() bool { step(es); return waiting(es[1]) == len(ids) })
			es[1].mu.Lock()
			kept := es[1].peers[0].Pressure.Kept()
			es[1].mu.Unlock()
			if kept > 2*pressure.Most+more*(n+pressure.Record+512) {
				t.Errorf("%s: %d bytes of messages of %d are kept", name, kept, n)
			}
			blocked := 0
			es[0].mu.Lock()
			for _, id := range ids {
				if id != sentRequest && !es[0].requests.find(id).state.done {
					blocked++
				}
			}
			es[0].mu.Unlock()
			if blocked < more/2 && o.clients[0] == 2 || blocked == 0 {
				t.Errorf("%s: %d of the last %d messages of %d bytes wait for their receiver", name, blocked, more, n)
			}
			in := make([]byte, n)
			for i := range ids { // the last one first, and the rest from the front
				tag := (i + len(ids) - 1) % len(ids)
				id := es[1].World().Irecv(at(in), n, byteT, 0, int32(tag))
				finishAll(t, es, es[1], &id)
			}
			finishAll(t, es, es[0], pointers(ids)...)
			es[1].mu.Lock()
			p := &es[1].peers[0]
			if p.Pressure.Kept() != 0 || p.Pressure.Held() {
				t.Errorf("%s: %d bytes are still kept, held: %t", name, p.Pressure.Kept(), p.Pressure.Held())
			}
			es[1].mu.Unlock()
			if name == "by IMPI" { // an acknowledgement says that all is well again
				for range es[0].job.AckMark {
					pass(t, es, 8)
				}
			}
			es[0].mu.Lock()
			if es[0].withhold(&es[0].peers[1], es[0].World().p2p) {
				t.Errorf("%s: the sender is withheld by a receiver that has taken everything", name)
			}
			es[0].mu.Unlock()
		}
	}
}

// strangers makes all clients of a job libraries of another make.
func strangers(j *transport.Job) {
	for i := range j.Hosts {
		j.Hosts[i].SameImpl = false
	}
}

// pass sends a message of n bytes from the first engine to the second.
func pass(t *testing.T, es []*Engine, n int64) {
	t.Helper()
	out, in := make([]byte, n), make([]byte, n)
	s := es[0].World().Isend(at(out), n, byteT, 1, 0, Standard)
	r := es[1].World().Irecv(at(in), n, byteT, 0, 0)
	finishAll(t, es, es[1], &r)
	finishAll(t, es, es[0], &s)
}

func waiting(e *Engine) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return int(e.World().p2p.space.Waiting())
}

func pointers(ids []uint64) (p []*uint64) {
	for i := range ids {
		p = append(p, &ids[i])
	}
	return p
}

// A synchronous message that asks for all before it and is cancelled does not leave the sender waiting.
func TestACancelledQuestionIsAnswered(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}, tune: strangers})
	buf := make([]byte, 9000)
	ids := flood(t, es, es[0].World(), 9000, buf, 3)
	p := &es[0].peers[1]
	asking := p.Pressure.Asking()
	if asking == 0 {
		t.Fatal("nothing asks")
	}
	must(t, es[0].Cancel(asking))
	until(t, es, "the cancellation", func() bool { step(es); return es[0].requests.find(asking).state.done })
	if p.Pressure.Asking() == asking {
		t.Error("the cancelled message is still to be answered")
	}
	in := make([]byte, 9000)
	for range len(ids) - 1 {
		id := es[1].World().Irecv(at(in), 9000, byteT, 0, anyTag)
		finishAll(t, es, es[1], &id)
	}
	finishAll(t, es, es[0], pointers(ids)...)
}
