package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/pressure"
)

// pour starts sends of n bytes with rising tags, so many that the receiver shuts their sender out, and lets all arrive
// that can.
func pour(t *testing.T, es []*Engine, c *Comm, n int64, buf []byte) (ids []uint64) {
	t.Helper()
	many := int(10*es[1].pressure.RestrainAt/(n+pressure.Record)) + 100
	for i := range many {
		ids = append(ids, c.Isend(at(buf), n, byteT, 1, int32(i), Standard))
		step(es)
	}
	until(t, es, "the receiver to have enough", func() bool { step(es); return isShut(es[1], 0) })
	return ids
}

func isShut(e *Engine, rank int32) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.peers[rank].Pressure.IsShut()
}

func keptOf(e *Engine, rank int32) int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.peers[rank].Pressure.Kept()
}

// A process of another library, or one that does not listen, floods a receiver that waits for nothing: what is kept is
// bounded. As soon as anything is needed from there it comes, from behind the flood, too.
func TestAFloodFromElsewhereStopsUntilSomethingIsNeeded(t *testing.T) {
	const n = 8000
	world := func(t *testing.T) ([]*Engine, []byte) {
		es := makeWorld(t, options{clients: []int{1, 1}, tune: strangers})
		es[1].mu.Lock()                            // the watcher of sockets is at work
		es[1].pressure.RestrainAt = pressure.Least // as if there were many
		es[1].mu.Unlock()
		return es, make([]byte, n)
	}
	bound := func(e *Engine) int64 { return 2*e.pressure.RestrainAt + int64(e.job.HiWater+1)*(8192+pressure.Record) }

	t.Run("a receive of the last", func(t *testing.T) {
		es, buf := world(t)
		ids := pour(t, es, es[0].World(), n, buf)
		if kept := keptOf(es[1], 0); kept > bound(es[1]) {
			t.Errorf("%d bytes are kept, the bound is %d", kept, bound(es[1]))
		}
		in := make([]byte, n)
		for i := range ids {
			tag := (i + len(ids) - 1) % len(ids)
			id := es[1].World().Irecv(at(in), n, byteT, 0, int32(tag))
			finishAll(t, es, es[1], &id)
		}
		finishAll(t, es, es[0], pointers(ids)...)
		if keptOf(es[1], 0) != 0 || isShut(es[1], 0) {
			t.Error("all has been received, and the sender is still restrained")
		}
	})
	t.Run("a receive from anybody", func(t *testing.T) {
		es, buf := world(t)
		ids := pour(t, es, es[0].World(), n, buf)
		in := make([]byte, n)
		for i := len(ids) - 1; i >= 0; i-- {
			id := es[1].World().Irecv(at(in), n, byteT, abi.MPI_ANY_SOURCE, int32(i))
			finishAll(t, es, es[1], &id)
		}
		finishAll(t, es, es[0], pointers(ids)...)
	})
	t.Run("a probe", func(t *testing.T) {
		es, buf := world(t)
		ids := pour(t, es, es[0].World(), n, buf)
		var st Status
		until(t, es, "the last message to be seen", func() bool {
			step(es)
			seen, err := es[1].World().Iprobe(0, int32(len(ids)-1), &st)
			must(t, err)
			return seen
		})
		drain(t, es, ids, n)
	})
	t.Run("a probe that blocks", func(t *testing.T) {
		es, buf := world(t)
		ids := pour(t, es, es[0].World(), n, buf)
		seen := make(chan error)
		go func() {
			var st Status
			seen <- es[1].World().Probe(0, int32(len(ids)-1), &st)
		}()
		until(t, es[:1], "the last message to be seen", func() bool {
			select {
			case err := <-seen:
				must(t, err)
				return true
			default:
				return false
			}
		})
		drain(t, es, ids, n)
	})
	t.Run("the answer to a synchronous message", func(t *testing.T) {
		es, buf := world(t)
		ids := pour(t, es, es[0].World(), n, buf)
		in := make([]byte, n)
		ask := es[1].World().Isend(at(buf), n, byteT, 0, 1, Synchronous)
		got := es[0].World().Irecv(at(in), n, byteT, 1, 1)
		finishAll(t, es, es[0], &got)
		finishAll(t, es, es[1], &ask)
		drain(t, es, ids, n)
	})
	t.Run("the answer to a cancellation", func(t *testing.T) { // nothing is needed here: a lapse lets it through
		es, buf := world(t)
		asking := es[0].World().Isend(at(buf), n, byteT, 1, 1<<20, Synchronous)
		ids := pour(t, es, es[0].World(), n, buf)
		must(t, es[0].Cancel(asking))
		until(t, es, "the cancellation", func() bool { step(es); return es[0].requests.find(asking).state.done })
		drain(t, es, ids, n)
		finishAll(t, es, es[0], &asking)
	})
}

// drain receives all messages in the order sent.
func drain(t *testing.T, es []*Engine, ids []uint64, n int64) {
	t.Helper()
	in := make([]byte, n)
	for range ids {
		id := es[1].World().Irecv(at(in), n, byteT, 0, anyTag)
		finishAll(t, es, es[1], &id)
	}
	finishAll(t, es, es[0], pointers(ids)...)
	if kept := keptOf(es[1], 0); kept != 0 {
		t.Errorf("%d bytes are still kept", kept)
	}
}

// What two processes need of each other is counted exactly: nothing is due once all is done.
func TestNothingIsDueOnceAllIsDone(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	for _, n := range []int64{0, 8, 9000, 64 << 10, 64<<10 + 1, 3 << 20} {
		pass(t, es, n)
		out, in := make([]byte, n), make([]byte, n)
		s := es[0].World().Isend(at(out), n, byteT, 1, 0, Synchronous)
		r := es[1].World().Irecv(at(in), n, byteT, 0, 0)
		finishAll(t, es, es[1], &r)
		finishAll(t, es, es[0], &s)
		for _, received := range []bool{false, true} {
			s := es[0].World().Isend(at(out), n, byteT, 1, 0, Synchronous)
			until(t, es, "the message", func() bool { step(es); return waiting(es[1]) == 1 })
			if received {
				r := es[1].World().Irecv(at(in), n, byteT, 0, 0)
				must(t, es[0].Cancel(s))
				finishAll(t, es, es[1], &r)
			} else {
				must(t, es[0].Cancel(s))
			}
			finishAll(t, es, es[0], &s)
		}
	}
	for i, e := range es {
		for rank := range e.peers {
			if owes := e.peers[rank].Pressure.Due(); owes != 0 {
				t.Errorf("rank %d awaits %d packets of rank %d", i, owes, rank)
			}
		}
	}
}

// A sender of this library that is told so sends envelopes without data, whatever it has to send, and all arrives.
func TestAToldSenderSendsEnvelopes(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	es[1].mu.Lock()
	es[1].ways.network.holder.Hold(1, 0, true)
	es[1].mu.Unlock()
	for range es[0].job.AckMark {
		pass(t, es, 8)
	}
	until(t, es, "the word", func() bool { step(es); return es[0].withhold(&es[0].peers[1], es[0].World().p2p) })
	for i, n := range []int64{1, 256, 257, 5000, 5000, 64 << 10, 64<<10 + 1, 1 << 20, 3 << 20} {
		mode := []SendMode{Standard, Synchronous}[i%2]
		out, in := make([]byte, n), make([]byte, n)
		for i := range out {
			out[i] = byte(i * 7)
		}
		s := es[0].World().Isend(at(out), n, byteT, 1, 5, mode)
		until(t, es, "the envelope", func() bool { step(es); return waiting(es[1]) == 1 })
		if kept := keptOf(es[1], 0); kept > 2*pressure.Record {
			t.Errorf("%d bytes of a message of %d have come", kept, n)
		}
		r := es[1].World().Irecv(at(in), n, byteT, 0, 5)
		finishAll(t, es, es[1], &r)
		finishAll(t, es, es[0], &s)
		if string(in) != string(out) {
			t.Errorf("a message of %d bytes has not arrived as it was sent", n)
		}
	}
}
