package libimpi

import (
	"bytes"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
)

func TestWaitsCompleteOneAnySomeAndAll(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			in := make([][]byte, 6)
			post := func() []uint64 {
				ids := []uint64{nullRequest}
				for i := range in {
					in[i] = make([]byte, 8)
					ids = append(ids, b.World().Irecv(at(in[i]), 8, byteT, source, int32(i)))
				}
				return ids
			}
			send := func(tags ...int) {
				for _, tag := range tags {
					must(t, a.World().Send(at(pattern(8, tag)), int64(tag), byteT, dest, int32(tag), Standard))
				}
			}
			check := func(what string, i int, st CStatus) {
				t.Helper()
				if i < 1 || st.Tag != int32(i-1) || st.Bytes() != int64(i-1) || !bytes.Equal(in[i-1][:i-1], pattern(8, i-1)[:i-1]) {
					t.Errorf("%s: request %d has status %+v", what, i, st)
				}
			}
			var st CStatus
			all := make([]CStatus, 7)
			at := make([]int32, 7)

			ids := post()
			if i, flag, err := b.TestAny(ids, &st); i != abi.MPI_UNDEFINED || flag || err != nil {
				t.Errorf("testany: %d %t %v", i, flag, err)
			}
			if n, err := b.TestSome(ids, at, all); n != 0 || err != nil {
				t.Errorf("testsome: %d %v", n, err)
			}
			if done, err := b.TestAll(ids, all); done || err != nil {
				t.Errorf("testall: %t %v", done, err)
			}
			send(3)
			i, err := b.WaitAny(ids, &st)
			must(t, err)
			check("waitany", i, st)
			if ids[i] != nullRequest {
				t.Error("waitany leaves the request")
			}
			send(1, 5)
			settle(es...)
			until(t, es, "two messages", func() bool {
				one, _ := b.GetStatus(ids[2], nil)
				two, _ := b.GetStatus(ids[6], nil)
				return one && two
			})
			n, err := b.WaitSome(ids, at, all)
			must(t, err)
			if !slices.Equal(at[:n], []int32{2, 6}) {
				t.Errorf("waitsome: %v", at[:n])
			}
			check("waitsome", 2, all[0])
			check("waitsome", 6, all[1])
			if done, err := b.GetStatus(ids[1], &st); done || err != nil {
				t.Errorf("get_status: %t %v", done, err)
			}
			send(0, 2, 4)
			must(t, b.WaitAll(ids, all))
			for _, i := range []int{1, 3, 5} {
				check("waitall", i, all[i])
			}
			if all[0].Source != abi.MPI_ANY_SOURCE || all[0].Tag != abi.MPI_ANY_TAG || all[0].Bytes() != 0 || all[2] != all[0] {
				t.Errorf("waitall: null requests have status %+v and %+v", all[0], all[2])
			}
			// Nothing active: all answer at once.
			if i, err := b.WaitAny(ids, &st); i != abi.MPI_UNDEFINED || err != nil || st != all[0] {
				t.Errorf("waitany of null requests: %d %v %+v", i, err, st)
			}
			if i, flag, err := b.TestAny(ids, &st); i != abi.MPI_UNDEFINED || !flag || err != nil {
				t.Errorf("testany of null requests: %d %t %v", i, flag, err)
			}
			if n, err := b.WaitSome(ids, at, all); n != abi.MPI_UNDEFINED || err != nil {
				t.Errorf("waitsome of null requests: %d %v", n, err)
			}
			if n, err := b.TestSome(nil, nil, nil); n != abi.MPI_UNDEFINED || err != nil {
				t.Errorf("testsome of nothing: %d %v", n, err)
			}
			if done, err := b.TestAll(ids, nil); !done || err != nil {
				t.Errorf("testall of null requests: %t %v", done, err)
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestFailuresOfSeveralStandInTheirStatuses(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	in := make([]byte, 4)
	for _, some := range []bool{false, true} {
		ids := []uint64{
			b.World().Irecv(at(in), 4, byteT, 0, 0), b.World().Irecv(at(in), 4, byteT, 0, 1),
			b.World().Irecv(at(in), 4, byteT, 0, 2),
		}
		st := make([]CStatus, 3)
		for i := range st {
			st[i].Error = 77
		}
		for tag, n := range []int64{4, 5, 3} {
			must(t, a.World().Send(at(make([]byte, 8)), n, byteT, 1, int32(tag), Standard))
		}
		settle(es...)
		var err error
		if some {
			var n int
			if n, err = b.WaitSome(ids, make([]int32, 3), st); n != 3 {
				t.Errorf("%d complete", n)
			}
		} else {
			err = b.WaitAll(ids, st)
		}
		wantClass(t, err, abi.MPI_ERR_IN_STATUS)
		if AsError(err).Comm != b.World() {
			t.Error("the error names no communicator")
		}
		if st[0].Error != abi.MPI_SUCCESS || st[1].Error != abi.MPI_ERR_TRUNCATE || st[2].Error != abi.MPI_SUCCESS {
			t.Errorf("errors %d, %d, %d", st[0].Error, st[1].Error, st[2].Error)
		}
	}
	idle(t, b, 0)
}

func TestPersistentRequestsStartAgain(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			must(t, a.AttachBuffer(1<<20))
			for _, mode := range []SendMode{Standard, Synchronous, Ready, Buffered} {
				for _, n := range []int{8, 100 << 10} {
					out, in := make([]byte, n), make([]byte, n)
					send := a.World().SendInit(at(out), int64(n), byteT, dest, 3, mode)
					recv := b.World().RecvInit(at(in), int64(n), byteT, source, 3)
					keep := recv
					var st CStatus
					if done, err := b.Test(&recv, &st); !done || err != nil || st.Source != abi.MPI_ANY_SOURCE {
						t.Errorf("inactive: %t, %v, %+v", done, err, st)
					}
					for round := range 3 {
						copy(out, pattern(n, round))
						if err := b.Start(recv); err != nil {
							t.Fatal(err)
						}
						if err := b.Start(recv); err == nil || err.Class != abi.MPI_ERR_REQUEST {
							t.Errorf("started twice: %v", err)
						}
						if err := a.Start(send); err != nil {
							t.Fatal(err)
						}
						st := finishAll(t, es, b, &recv)[0]
						finishAll(t, es, a, &send)
						if !bytes.Equal(in, pattern(n, round)) || st.Bytes() != int64(n) || recv != keep {
							t.Errorf("mode %d, %d bytes, round %d: %+v, or wrong data", mode, n, round, st)
						}
					}
					// A cancelled one starts again, too.
					if err := b.Start(recv); err != nil {
						t.Fatal(err)
					}
					must(t, b.Cancel(recv))
					if st := finishAll(t, es, b, &recv)[0]; !st.Cancelled() {
						t.Error("not cancelled")
					}
					must(t, b.FreeRequest(&recv))
					must(t, a.FreeRequest(&send))
					if _, err := b.Test(&keep, nil); err == nil {
						t.Error("a freed request is one")
					}
				}
			}
			must(t, a.DetachBuffer())
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestFreedRequestsGoOn(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, n := range []int{1, 8, 30 << 10, 200 << 10} {
				for _, persistent := range []bool{false, true} {
					out, in, last := pattern(n, n), make([]byte, n), make([]byte, 1)
					var send, recv uint64
					if persistent {
						send, recv = a.World().SendInit(at(out), int64(n), byteT, dest, 1, Synchronous), b.World().RecvInit(at(in),
							int64(n), byteT, source, 1)
						a.Start(send)
						b.Start(recv)
					} else {
						send, recv = a.World().Isend(at(out), int64(n), byteT, dest, 1, Synchronous), b.World().Irecv(at(in), int64(n),
							byteT, source, 1)
					}
					old := recv
					// Who has only one process has both: the receive is done already.
					must(t, a.FreeRequest(&send))
					must(t, b.FreeRequest(&recv))
					if send != nullRequest || recv != nullRequest {
						t.Error("the requests are still there")
					}
					_, err := b.Test(&old, nil)
					wantClass(t, err, abi.MPI_ERR_REQUEST)
					until(t, es, "the data", func() bool {
						b.mu.Lock() // the watcher may be storing it
						defer b.mu.Unlock()
						return bytes.Equal(in, out)
					})
					// The last word comes after all of it.
					id, end := b.World().Irecv(at(last), 1, byteT, source, 2), a.World().Isend(at(out), 1, byteT, dest, 2, Synchronous)
					finishAll(t, es, b, &id)
					finishAll(t, es, a, &end)
					for _, e := range es {
						idle(t, e, 0)
					}
				}
			}
			var null uint64 = nullRequest
			wantClass(t, a.FreeRequest(&null), abi.MPI_ERR_REQUEST)
		})
	}
}

func TestAReceiveIsCancelledUnlessItHasItsMessage(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, from := range []int{source, abi.MPI_ANY_SOURCE} {
				in := make([]byte, 64<<10)
				first, second := b.World().Irecv(at(in), 8, byteT, from, 1), b.World().Irecv(at(in), 8, byteT, from, 1)
				must(t, b.Cancel(first))
				must(t, b.Cancel(first))
				if st := finishAll(t, es, b, &first)[0]; !st.Cancelled() {
					t.Error("not cancelled")
				}
				send := a.World().Isend(at(pattern(8, 1)), 8, byteT, dest, 1, Synchronous)
				finishAll(t, es, a, &send)
				must(t, b.Cancel(second))
				if st := finishAll(t, es, b, &second)[0]; st.Cancelled() || !bytes.Equal(in[:8], pattern(8, 1)) {
					t.Errorf("%+v, or wrong data", st)
				}
			}
			var null uint64 = nullRequest
			wantClass(t, b.Cancel(null), abi.MPI_ERR_REQUEST)
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestASendIsCancelledUnlessItWasReceived(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			for _, n := range []int{0, 8, 200 << 10} {
				out, in := pattern(n, n), make([]byte, n)
				send := a.World().Isend(at(out), int64(n), byteT, dest, 1, Synchronous)
				must(t, a.Cancel(send))
				must(t, a.Cancel(send))
				if st := finishAll(t, es, a, &send)[0]; !st.Cancelled() {
					t.Errorf("%d bytes: not cancelled", n)
				}
				if found, err := b.World().Iprobe(source, 1, &Status{}); found || err != nil {
					t.Errorf("%d bytes: a cancelled message is there (%v)", n, err)
				}

				// CANCEL and SYNCACK cross.
				send = a.World().Isend(at(out), int64(n), byteT, dest, 1, Synchronous)
				recv := b.World().Irecv(at(in), int64(n), byteT, source, 1)
				must(t, a.Cancel(send))
				st := finishAll(t, es, a, &send)[0]
				if st.Cancelled() {
					if len(es) > 1 {
						must(t, b.Cancel(recv))
					}
				}
				if got := finishAll(t, es, b, &recv)[0]; got.Cancelled() != st.Cancelled() || !st.Cancelled() && !bytes.Equal(in,
					out) {
					t.Errorf("%d bytes: sender says cancelled %t, receiver %t", n, st.Cancelled(), got.Cancelled())
				}

				// Freed while the answer to CANCEL is on its way.
				send = a.World().Isend(at(out), int64(n), byteT, dest, 1, Synchronous)
				must(t, a.Cancel(send))
				if done, _ := a.GetStatus(send, nil); done {
					must(t, a.Wait(&send, nil))
				} else {
					must(t, a.FreeRequest(&send))
				}
				until(t, es, "the answer", func() bool { return len(a.requests.idle) == len(a.requests.slots)-1 })
			}
			for _, e := range es {
				idle(t, e, 0)
			}
			noFailure(t, es)
		})
	}
}

// The answer to CANCEL may come when all else is over: before it, after the data, and with the receiver's own
// message in the way.
func TestCancelCrossesTheAnswer(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, noRead: true})
	a, b := es[0], es[1]
	for _, n := range []int{8, 200 << 10} {
		out, in := pattern(n, 1), make([]byte, n)
		recv := b.World().Irecv(at(in), int64(n), byteT, 0, 1)
		send := a.World().Isend(at(out), int64(n), byteT, 1, 1, Synchronous)
		settle(b) // has matched and answered
		must(t, a.Cancel(send))
		settle(a)
		if done, _ := a.GetStatus(send, nil); done {
			t.Errorf("%d bytes: done before the answer to CANCEL", n)
		}
		st := finishAll(t, es, a, &send)[0]
		finishAll(t, es, b, &recv)
		if st.Cancelled() || !bytes.Equal(in, out) {
			t.Errorf("%d bytes: cancelled %t, or wrong data", n, st.Cancelled())
		}
	}
	for _, e := range es {
		idle(t, e, 0)
	}
	noFailure(t, es)
}

func TestAQueuedSendIsCancelledHere(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	buf := make([]byte, 16<<10)
	var ids []*uint64
	for a.peers[1].Passable() {
		id := a.World().Isend(at(buf), 16<<10, byteT, 1, 0, Standard)
		ids = append(ids, &id)
	}
	var queued [4]uint64
	for i := range queued {
		queued[i] = a.World().Isend(at(buf), 8, byteT, 1, int32(10+i), Standard)
	}
	for _, i := range []int{1, 3} { // in the middle, at the end
		must(t, a.Cancel(queued[i]))
		var st CStatus
		if done, err := a.Test(&queued[i], &st); !done || err != nil || !st.Cancelled() {
			t.Errorf("queued send %d: done %t, %v, cancelled %t", i, done, err, st.Cancelled())
		}
	}
	for range ids {
		id := b.World().Irecv(at(buf), 16<<10, byteT, 0, 0)
		finishAll(t, es, b, &id)
	}
	for _, tag := range []int32{10, 12} {
		id := b.World().Irecv(at(buf), 8, byteT, 0, abi.MPI_ANY_TAG)
		if st := finishAll(t, es, b, &id)[0]; st.Tag != tag {
			t.Errorf("message %d arrived, want %d", st.Tag, tag)
		}
	}
	finishAll(t, es, a, append(ids, &queued[0], &queued[2])...)
	for _, e := range es {
		idle(t, e, 0)
	}
}

func TestProbesSeeMessagesInOrder(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			var st Status
			if found, err := b.World().Iprobe(source, 1, &st); found || err != nil {
				t.Errorf("something is there: %v", err)
			}
			if m, err := b.World().Improbe(source, 1, &st); m != nil || err != nil {
				t.Errorf("something is there: %v", err)
			}
			lengths := []int{8, 100 << 10, 0, 200 << 10}
			var sends []*uint64
			for i, n := range lengths {
				id := a.World().Isend(at(pattern(n, i)), int64(n), byteT, dest, int32(i), Standard)
				sends = append(sends, &id)
			}
			must(t, b.World().Probe(abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
			if st.Tag != 0 || st.Bytes != 8 || st.Source != int32(source) {
				t.Errorf("probe: %+v", st)
			}
			// Matched probes take them out one by one; what was taken is seen by nobody.
			var taken []*Matched
			for i, n := range lengths {
				var m *Matched
				var err error
				if i%2 == 0 {
					m, err = b.World().Mprobe(source, abi.MPI_ANY_TAG, &st)
				} else {
					until(t, es, "a message", func() bool {
						m, err = b.World().Improbe(abi.MPI_ANY_SOURCE, int32(i), &st)
						return m != nil
					})
				}
				must(t, err)
				if m.Comm() != b.World() || st.Tag != int32(i) || st.Bytes != int64(n) {
					t.Errorf("matched probe %d: %+v", i, st)
				}
				taken = append(taken, m)
			}
			if found, err := b.World().Iprobe(source, abi.MPI_ANY_TAG, &st); found || err != nil {
				t.Errorf("a message that was taken is seen: %+v", st)
			}
			// A sender that is told no, because its message has been taken.
			must(t, a.Cancel(*sends[3]))
			for i := len(lengths) - 1; i >= 0; i-- {
				in := make([]byte, lengths[i])
				id := taken[i].Imrecv(at(in), int64(len(in)), byteT)
				cs := finishAll(t, es, b, &id)[0]
				if cs.Tag != int32(i) || cs.Bytes() != int64(len(in)) || !bytes.Equal(in, pattern(len(in), i)) {
					t.Errorf("matched receive %d: %+v, or wrong data", i, cs)
				}
			}
			for i, st := range finishAll(t, es, a, sends...) {
				if st.Cancelled() {
					t.Errorf("message %d was received and cancelled", i)
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestBufferedSendsNeedRoom(t *testing.T) {
	for name, build := range worlds {
		t.Run(name, func(t *testing.T) {
			es := build(t)
			a, b, dest, source := ends(es)
			c := a.World()
			out := pattern(200<<10, 5)
			bsend := func(n int64) error { return c.Bsend(at(out), n, byteT, dest, 6) }
			wantClass(t, bsend(1), abi.MPI_ERR_BUFFER)
			wantClass(t, a.DetachBuffer(), abi.MPI_ERR_BUFFER)
			must(t, a.AttachBuffer(100<<10))
			wantClass(t, a.AttachBuffer(1), abi.MPI_ERR_BUFFER)
			wantClass(t, bsend(100<<10), abi.MPI_ERR_BUFFER)
			wantClass(t, c.Bsend(at(out), 1<<62, intT, dest, 6), abi.MPI_ERR_BUFFER) // more than a number holds
			wantClass(t, c.Bsend(at(out), 1<<63-1, byteT, dest, 6), abi.MPI_ERR_BUFFER)
			const n = 100<<10 - bsendOverhead
			must(t, bsend(n))
			wantClass(t, bsend(1), abi.MPI_ERR_BUFFER)
			for i := range out {
				out[i] = 0 // the program may write: a copy is on its way
			}
			in := make([]byte, n)
			id := b.World().Irecv(at(in), n, byteT, source, 6)
			finishAll(t, es, b, &id)
			if !bytes.Equal(in, pattern(n, 5)) {
				t.Error("wrong data")
			}
			until(t, es, "the buffer", func() bool {
				a.mu.Lock()
				defer a.mu.Unlock()
				return a.predefined.buffer.used == 0
			})
			must(t, a.FlushBuffer())
			req, err := c.Ibsend(at(out), 8, byteT, dest, 6)
			must(t, err)
			if done, err := a.Test(&req, nil); !done || err != nil {
				t.Errorf("ibsend: %t %v", done, err)
			}
			id = b.World().Irecv(at(in), 8, byteT, source, 6)
			finishAll(t, es, b, &id)
			must(t, a.DetachBuffer())
			wantClass(t, bsend(1), abi.MPI_ERR_BUFFER)
			for _, e := range es {
				idle(t, e, 0)
			}
		})
	}
}

func TestWaitsEndWhenAPeerIsLost(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	buf := make([]byte, 100<<10)
	ids := []uint64{
		e.World().Irecv(at(buf), 8, byteT, 1, 0), e.World().Isend(at(buf), 8, byteT, 1, 0, Synchronous),
		e.World().Irecv(at(buf), 8, byteT, abi.MPI_PROC_NULL, 0),
	}
	persistent := e.World().RecvInit(at(buf), 8, byteT, 1, 0)
	e.Start(persistent)
	reported := make(chan *Error, 1)
	e.loss.onLost = func(err *Error) { reported <- err }
	var started atomic.Int32
	together(t, es, func(me *Engine) {
		if me == e {
			started.Store(1)
			wantClass(t, e.World().Recv(at(buf), 8, byteT, 1, 7, nil), abi.MPI_ERR_PROC_ABORTED)
			return
		}
		sleepUntil(e, &started)
		e.mu.Lock()
		e.Lost(1, errorf(abi.MPI_ERR_OTHER, "gone"))
		e.Lost(1, errorf(abi.MPI_ERR_OTHER, "gone again"))
		e.mu.Unlock()
	})
	if err := <-reported; err != e.loss.failed.Load() {
		t.Errorf("reported %v", err)
	}
	st := make([]CStatus, 3)
	wantClass(t, e.WaitAll(ids, st), abi.MPI_ERR_IN_STATUS)
	if st[0].Error != abi.MPI_ERR_PROC_ABORTED || st[1].Error != abi.MPI_ERR_PROC_ABORTED ||
		st[2].Error != abi.MPI_SUCCESS {
		t.Errorf("errors %d, %d, %d", st[0].Error, st[1].Error, st[2].Error)
	}
	for range 2 {
		wantClass(t, e.Wait(&persistent, nil), abi.MPI_ERR_PROC_ABORTED)
	}
	wantClass(t, e.World().Probe(1, 1, &Status{}), abi.MPI_ERR_PROC_ABORTED)
	_, err := e.World().Mprobe(1, 1, &Status{})
	wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	_, err = e.World().Iprobe(1, 1, &Status{})
	wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	_, err = e.Test(&persistent, nil)
	wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	_, err = e.WaitAny([]uint64{persistent}, nil)
	wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	_, err = e.WaitSome([]uint64{persistent}, make([]int32, 1), nil)
	wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	wantClass(t, e.World().Barrier(), abi.MPI_ERR_PROC_ABORTED)
	wantClass(t, e.Finish(), abi.MPI_ERR_PROC_ABORTED)
	// What still comes for the requests that were given up is no error and ends them.
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, Tag: 0}, []byte("12345678"))
	sound(t, e)
}

// Persistent requests that are all done are answered in turn: one that is done again each time does not keep the others
// waiting.
func TestWaitAnyAnswersPersistentRequestsInTurn(t *testing.T) {
	es := world(t, 2)
	word := make([]byte, 1)
	const n = 5
	ids := make([]uint64, n)
	again := func(i int) {
		must(t, es[1].World().Send(at(word), 1, byteT, 0, int32(i), Standard))
		must(t, asError(es[0].Start(ids[i])))
		settle(es...)
	}
	for i := range ids {
		ids[i] = es[0].World().RecvInit(at(word), 1, byteT, 1, int32(i))
		again(i)
	}
	seen := map[int]int{}
	for range 3 * n {
		i, err := es[0].WaitAny(ids, nil)
		must(t, err)
		seen[i]++
		again(i)
	}
	for i := range ids {
		if seen[i] != 3 {
			t.Errorf("request %d was answered %d times in three turns", i, seen[i])
		}
	}
	must(t, es[0].WaitAll(ids, nil))
}

// Of an array in which nothing stands that was completed before, the first request that is done is answered, whatever
// another array has had.
func TestWaitAnyAnswersTheFirstOfAFreshArray(t *testing.T) {
	e := world(t, 2)[0]
	word := make([]byte, 1)
	for range 3 {
		ids := make([]uint64, 4)
		for i := range ids {
			ids[i] = e.World().Isend(at(word), 1, byteT, 1, 0, Standard)
		}
		for want := range ids {
			i, err := e.WaitAny(ids, nil)
			if must(t, err); i != want {
				t.Errorf("request %d was answered, not %d", i, want)
			}
			if i, flag, err := e.TestAny(ids[:want+1], nil); i != abi.MPI_UNDEFINED || !flag || err != nil {
				t.Errorf("of null requests: %d %t %v", i, flag, err)
			}
		}
	}
}
