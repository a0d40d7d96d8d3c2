package libimpi

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/libimpi/counters"
)

// In every world, whatever the messages are like: what is counted is what was sent, at both ends, by class of peer, and
// each operation of the program is told to be over once.
func TestWhatIsCountedIsWhatWasSent(t *testing.T) {
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		all := plan(len(es), 10*len(es), seed)
		var completed atomic.Int64
		together(t, es, func(e *Engine) {
			e.Watch(true)
			e.Observe(1<<RequestCompleted, func(what Happening, c *Comm, numbers [5]int64) {
				if what != RequestCompleted || c != e.predefined.world || numbers[3] != 0 {
					t.Errorf("%d on %v: %v", what, c, numbers)
				}
				completed.Add(1)
			})
			var ids []uint64
			var bufs, want [][]byte
			must(t, e.AttachBuffer(1<<24))
			for i := range all {
				m := &all[i]
				if m.to == int(e.me) {
					buf := make([]byte, len(m.data)+1)
					bufs, want = append(bufs, buf), append(want, m.data)
					ids = append(ids, e.World().Irecv(at(buf), int64(len(buf)), byteT, m.from, m.tag))
				}
				if m.from == int(e.me) {
					if m.kind == byPersistent {
						m.kind = byStandard
					}
					ids = append(ids, m.begin(t, e))
				}
			}
			must(t, e.WaitAll(ids, nil))
			must(t, e.DetachBuffer())
			for i, buf := range bufs {
				if !bytes.Equal(buf[:len(want[i])], want[i]) {
					t.Errorf("rank %d: message %d is not what was sent", e.me, i)
				}
			}
			e.Watch(false)
			must(t, e.World().Barrier()) // the others may need this process
		})
		var sent, received, wantSent, wantReceived [counters.Classes]counters.Traffic
		onSent, onReceived, matches, started := counters.Traffic{}, counters.Traffic{}, uint64(0), uint64(0)
		for i := range all {
			m := &all[i]
			wantSent[es[m.from].class(&es[m.from].peers[m.to])].Add(int64(len(m.data)))
			wantReceived[es[m.to].class(&es[m.to].peers[m.from])].Add(int64(len(m.data)))
		}
		for _, e := range es {
			c, w := e.Counters(), e.World().Counters()
			for i := range sent {
				sent[i].Messages += c.Sent[i].Messages
				sent[i].Bytes += c.Sent[i].Bytes
				received[i].Messages += c.Received[i].Messages
				received[i].Bytes += c.Received[i].Bytes
			}
			onSent.Messages += w.Sent.Messages
			onSent.Bytes += w.Sent.Bytes
			onReceived.Messages += w.Received.Messages
			onReceived.Bytes += w.Received.Bytes
			matches += c.Matches
			started += c.Eager + c.Rendezvous
		}
		if sent != wantSent || received != wantReceived {
			t.Errorf("sent %v, want %v; received %v, want %v", sent, wantSent, received, wantReceived)
		}
		if n := uint64(len(all)); onSent != onReceived || onSent.Messages != n || matches != n || started != n {
			t.Errorf("%v sent and %v received on the world, %d matches, %d sends, want %d", onSent, onReceived, matches,
				started, n)
		}
		if n := completed.Load(); n != int64(2*len(all)) {
			t.Errorf("%d operations are over, want %d", n, 2*len(all))
		}
	})
}

func TestNothingIsCountedUnlessTheEngineIsWatched(t *testing.T) {
	es := world(t, 1)
	e := es[0]
	exchange := func() {
		in, out := make([]byte, 4), pattern(4, 1)
		id := e.World().Irecv(at(in), 4, byteT, 0, 1)
		must(t, e.World().Send(at(out), 4, byteT, 0, 1, Standard))
		must(t, e.Wait(&id, nil))
	}
	exchange()
	if c := e.Counters(); c != (counters.Counters{}) {
		t.Errorf("not watched: %+v", c)
	}
	e.Watch(true)
	exchange()
	e.Watch(false)
	exchange()
	once := counters.Traffic{Messages: 1, Bytes: 4}
	if c := e.Counters(); c.Sent[counters.Self] != once || c.Received[counters.Self] != once || c.Matches != 1 {
		t.Errorf("watched once: %+v", c)
	}
}

func TestLevelsAndPeaksFollowTheQueues(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	b.Watch(true)
	var peak, late counters.Peak
	b.Follow(&peak, true)
	for i := range 5 {
		must(t, a.World().Send(at(pattern(8, i)), 8, byteT, 1, int32(i), Standard))
	}
	if l := b.World().Levels(true); l.Unexpected != 5 || l.Posted != 0 {
		t.Errorf("after five messages: %+v", l)
	}
	b.Follow(&late, true)
	in := make([]byte, 8)
	for i := range 3 {
		must(t, b.World().Recv(at(in), 8, byteT, 0, int32(i), nil))
	}
	ids := []uint64{b.World().Irecv(at(in), 8, byteT, 0, 77), b.World().Irecv(at(in), 8, byteT, 0, 78)}
	if l := b.World().Levels(true); l.Unexpected != 2 || l.Posted != 2 {
		t.Errorf("after three receives and two that wait: %+v", l)
	}
	if l := b.Levels(true); l.Unexpected != 2 || l.Posted != 2 || l.Active != 2 || l.UnexpectedBytes == 0 {
		t.Errorf("of all communicators: %+v", l)
	}
	if n := b.Peak(&peak, false); n != 5 || b.Peak(&late, true) != 5 || b.Peak(&late, false) != 2 {
		t.Errorf("peaks %d, and then %d", n, b.Peak(&late, false))
	}
	b.Unfollow(&late)
	for i := range 4 {
		must(t, a.World().Send(at(pattern(8, i)), 8, byteT, 1, int32(10+i), Standard))
	}
	settle(b)
	if n := b.Peak(&peak, false); n != 6 || b.Peak(&late, false) != 2 {
		t.Errorf("peaks %d and %d after four more", n, b.Peak(&late, false))
	}
	for i := range ids {
		must(t, a.World().Send(at(in), 8, byteT, 1, int32(77+i), Standard))
	}
	must(t, b.WaitAll(ids, nil))
	if c := b.Counters(); c.Unexpected != 9 {
		t.Errorf("%d messages came before their receive, want 9", c.Unexpected)
	}
}

func TestALostPeerIsTold(t *testing.T) {
	es := world(t, 2)
	told := []int64{}
	es[0].Observe(1<<PeerLost, func(what Happening, c *Comm, numbers [5]int64) { told = append(told, numbers[0]) })
	es[0].mu.Lock()
	es[0].breach(1, "a test")
	es[0].breach(1, "another test")
	es[0].mu.Unlock()
	if len(told) != 1 || told[0] != 1 {
		t.Errorf("lost %v, want rank 1 once", told)
	}
}
