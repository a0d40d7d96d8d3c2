package libimpi

import (
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// A sender that floods a communicator which the receiver has not made yet is held as on any other: what is kept is
// bounded, and all arrives in order once the communicator is there. Meanwhile messages on other communicators pass.
func TestAFloodOfEarlyMessagesIsHeldBack(t *testing.T) {
	for name, o := range map[string]options{
		"read directly": {clients: []int{2}},
		"through rings": {clients: []int{2}, noRead: true},
		"by IMPI":       {clients: []int{1, 1}},
		"to another":    {clients: []int{1, 1}, tune: strangers},
	} {
		t.Run(name, func(t *testing.T) {
			const cid, n, more = 70, 1000, 300
			es := makeWorld(t, o)
			a, b := es[0], es[1]
			buf := make([]byte, n)
			c := agreed(t, a, cid)
			ids := flood(t, es, c, n, buf, more)
			early := func() int {
				b.mu.Lock()
				defer b.mu.Unlock()
				return b.contexts.earlyFor(cid)
			}
			until(t, es, "the envelopes", func() bool { return early() == len(ids) })
			if kept := keptOf(b, 0); kept > 2*pressure.Most+more*(n+pressure.Record+512) {
				t.Errorf("%d bytes are kept", kept)
			}
			pass(t, es, 8)
			pass(t, es, 20000)
			d := agreed(t, b, cid)
			if early() != 0 {
				t.Errorf("%d messages are still early", early())
			}
			in := make([]byte, n)
			for i := range ids {
				id := d.Irecv(at(in), n, byteT, 0, int32(i))
				finishAll(t, es, b, &id)
			}
			finishAll(t, es, a, pointers(ids)...)
			b.mu.Lock()
			if p := &b.peers[0]; p.Pressure.Kept() != 0 || p.Pressure.Held() {
				t.Errorf("%d bytes are still kept, held: %t", p.Pressure.Kept(), p.Pressure.Held())
			}
			b.mu.Unlock()
			noFailure(t, es)
		})
	}
}

// A process of another library that floods a communicator which is not made yet, and minds nothing, is not acknowledged
// any more, until a receive waits for something from there.
func TestAFloodOfEarlyMessagesFromElsewhereStops(t *testing.T) {
	const cid, n = 70, 8000
	es := makeWorld(t, options{clients: []int{1, 1}, tune: strangers})
	es[1].mu.Lock()
	es[1].pressure.RestrainAt = pressure.Least
	es[1].mu.Unlock()
	buf := make([]byte, n)
	ids := pour(t, es, agreed(t, es[0], cid), n, buf)
	if kept, bound := keptOf(es[1], 0), 2*pressure.Least+int64(es[1].job.HiWater+1)*(8192+pressure.Record); kept > bound {
		t.Errorf("%d bytes are kept, the bound is %d", kept, bound)
	}
	pass(t, es, 8) // what the receiver may need to make it
	d := agreed(t, es[1], cid)
	for i := range ids {
		id := d.Irecv(at(buf), n, byteT, 0, int32(i))
		finishAll(t, es, es[1], &id)
	}
	finishAll(t, es, es[0], pointers(ids)...)
	if keptOf(es[1], 0) != 0 || isShut(es[1], 0) {
		t.Error("all has been received, and the sender is still restrained")
	}
}

// The same between jobs; and a guest of this machine, which nothing but that it is held can stop, is held no longer
// than until its messages have been received.
func TestAGuestIsHeldAndReleased(t *testing.T) {
	for _, name := range []string{"one and one", "two and three, far"} {
		for _, early := range []bool{false, true} {
			o := meetingShapes[name]
			o.Seed = 5
			const cid, n, many = 1 << 40, 200, 4000
			es := makeWorld(t, options{fake: &o})
			last := es[len(es)-1]
			acrossJobs(t, es, func(e *Engine, all *Comm) {
				buf := make([]byte, n)
				on := all
				switch {
				case e == es[0]:
					e.pressure.RestrainAt = pressure.Least
					must(t, all.Barrier())
					must(t, all.Recv(at(buf), 0, byteT, all.Size()-1, 1<<20, nil)) // behind the flood
					p := e.peer(all.group.World(all.Size() - 1))
					if !p.Pressure.Held() || p.Pressure.Kept() > 2*pressure.Least+many*pressure.Record {
						t.Errorf("%s: held: %t, %d bytes are kept", name, p.Pressure.Held(), p.Pressure.Kept())
					}
					if early {
						on = agreedOn(t, all, cid)
					}
					for i := range many {
						must(t, on.Recv(at(buf), n, byteT, all.Size()-1, int32(i), nil))
					}
					if p.Pressure.Held() || p.Pressure.Kept() != 0 {
						t.Errorf("%s: all has been received; held: %t, %d bytes are kept", name, p.Pressure.Held(), p.Pressure.Kept())
					}
				case e == last:
					must(t, all.Barrier())
					if early {
						on = agreedOn(t, all, cid)
					}
					var ids []uint64
					for i := range many {
						ids = append(ids, on.Isend(at(buf), n, byteT, 0, int32(i), Standard))
					}
					must(t, all.Send(at(buf), 0, byteT, 0, 1<<20, Standard))
					must(t, e.WaitAll(ids, nil))
				default:
					must(t, all.Barrier())
				}
				must(t, all.Barrier())
				if on != all {
					on.Discard()
				}
				must(t, all.Disconnect())
			})
			forgotten(t, es)
		}
	}
}

// agreedOn makes a communicator of all members of another without a word between them.
func agreedOn(t *testing.T, c *Comm, cid uint64) *Comm {
	t.Helper()
	made, err := c.engine.newComm(c.group, cid)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A process of this machine that goes on sending after it has been held is lost before it has filled the memory, and
// one that sends envelopes is not, whatever their number.
func TestAHeldProcessThatDoesNotCareIsLost(t *testing.T) {
	for name, tt := range map[string]struct {
		h      transport.Header
		n      int
		breach bool
	}{
		"data of a communicator":  {transport.Header{Kind: transport.Data}, 4000, true},
		"data of no communicator": {transport.Header{Kind: transport.Data, CID: 1 << 40}, 4000, true},
		"nothing, as data":        {transport.Header{Kind: transport.Data, CID: 1 << 40}, 0, true},
		"synchronous data":        {transport.Header{Kind: transport.DataSync, CID: 1 << 40}, 4000, true},
		"envelopes":               {transport.Header{Kind: transport.DataSync, CID: 1 << 40, MsgLen: 4000}, 0, false},
		"short synchronous data":  {transport.Header{Kind: transport.DataSync, CID: 1 << 40}, pressure.Short, false},
	} {
		es := world(t, 2)
		e := es[0]
		e.pressure.HeldAt = pressure.Least // as if there were many
		tt.h.Src, tt.h.LSRank = 1, 1
		payload := make([]byte, tt.n)
		for i := 0; i < 75000 && e.failure() == nil; i++ {
			h := tt.h
			if h.CID != 0 {
				h.CID += uint64(i % 3)
			}
			e.deliver(h, payload)
		}
		if most := e.pressure.HeldAt + pressure.Ignored + 16<<10; tt.breach && e.peers[1].Pressure.Kept() > most {
			t.Errorf("%s: %d bytes are kept, the bound is %d", name, e.peers[1].Pressure.Kept(), most)
		}
		if tt.breach {
			wantBreach(t, e, "1", name)
		}
		must(t, e.failure())
		soundEarly(t, e)
	}
}

// What a CANCEL means is found among many: the newest message of its sender with that id that has not been matched.
func TestACancellationFindsTheNewestMessage(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}, fake: &fake.Options{Seed: 9}})
	e := es[0]
	type kept struct {
		peer int32
		id   uint64
		tag  int32
	}
	var all []kept // the oracle, the oldest first
	r := rand.New(rand.NewPCG(7, 7))
	c := e.World()
	indexed := 0
	for tag := range int32(20000) {
		k := kept{1 + r.Int32N(2), uint64(r.IntN(1 + r.IntN(300))), tag}
		switch x := r.IntN(100); {
		case x < 40: // for a communicator that is there, or one that is not
			all = append(all, k)
			e.deliver(transport.Header{Kind: transport.DataSync, Src: k.peer, LSRank: k.peer, Tag: tag, SrqID: k.id,
				CID: uint64(r.IntN(2)) * (1<<40 + uint64(r.IntN(3)))}, nil)
		case x < 43 && len(all) > 0: // matched, some by a probe
			if m := c.p2p.space.Oldest(); m != nil {
				all = remove(all, func(k kept) bool { return k.tag == m.Tag })
				if x == 42 {
					got, err := c.Mprobe(int(m.Source), m.Tag, &Status{})
					must(t, err)
					defer func() { id := got.Imrecv(nil, 0, byteT); must(t, e.Wait(&id, nil)) }()
				} else {
					id := c.Irecv(nil, 0, byteT, int(m.Source), m.Tag)
					must(t, e.Wait(&id, nil))
				}
			}
		default:
			before := len(all)
			all = remove(all, func(x kept) bool { return x.peer == k.peer && x.id == k.id })
			m := e.peers[k.peer].unmatched.NewestOf(k.id)
			if (m != nil) != (len(all) < before) {
				t.Fatalf("step %d: found %v, in vain: %t", tag, m, len(all) == before)
			}
			e.deliver(transport.Header{Kind: transport.Cancel, Src: k.peer, SrqID: k.id}, nil)
			settle(es...)
		}
		if e.peers[1].unmatched.Indexed() {
			indexed++
		}
	}
	if indexed == 0 || indexed == 20000 {
		t.Errorf("there was an index in %d of 20000 steps", indexed)
	}
	must(t, e.failure())
}

// remove removes the last element of a list of which f is true.
func remove[T any](list []T, f func(T) bool) []T {
	for i := len(list) - 1; i >= 0; i-- {
		if f(list[i]) {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}
