package libimpi

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// alone polls one engine only, until the request is done.
func alone(t *testing.T, e *Engine, id *uint64) CStatus {
	t.Helper()
	var st CStatus
	until(t, nil, "a request, with nobody else at work", func() bool {
		done, err := e.Test(id, &st)
		if err != nil {
			t.Fatal(err)
		}
		return done
	})
	return st
}

func TestAReceiverReadsWhatTheSenderDoesNotStream(t *testing.T) {
	for _, n := range []int{17 << 10, direct.Section, 16<<10 + direct.Section, 16<<10 + direct.Section + 1, 300<<10 + 5} {
		for looks := range 8 { // how often the sender looks before it computes, by either way
			streamed, direct := looks/2, looks%2 == 1
			for _, room := range []int{n + 10, n, n - 7, 16<<10 + 5, 3} {
				t.Run(fmt.Sprintf("%d bytes into %d, %d looks, %v", n, room, streamed, direct), func(t *testing.T) {
					es := makeWorld(t, options{clients: []int{2}, direct: direct})
					a, b := es[0], es[1]
					data, in := pattern(n, 1), bytes.Repeat([]byte{gapByte}, room+1)
					recv := b.World().Irecv(at(in), int64(room), byteT, 0, 0)
					send := a.World().Isend(at(data), int64(n), byteT, 1, 0, Standard)
					step(es[1:])
					for range streamed {
						step(es)
					}
					if id := recv; room < n {
						until(t, nil, "the receive", func() bool { done, err := b.Test(&id, nil); return done || err != nil })
					} else if st := alone(t, b, &recv); st.Bytes() != int64(n) {
						t.Errorf("%d bytes", st.Bytes())
					}
					if k := min(n, room); !bytes.Equal(in[:k], data[:k]) {
						t.Error("wrong data")
					}
					if in[room] != gapByte {
						t.Error("a byte behind the buffer was written")
					}
					alone(t, a, &send)
					for _, e := range es {
						idle(t, e, 0)
					}
				})
			}
		}
	}
}

// counts wraps what a transport can do with memory, to see how much of a message goes that way.
type counts struct {
	transport.Reader
	transport.Writer
	read, written int
}

func (c *counts) Read(src int32, addr uint64, dst []byte) bool {
	c.read += len(dst)
	return c.Reader.Read(src, addr, dst)
}

func (c *counts) Write(dst int32, addr uint64, src []byte) bool {
	c.written += len(src)
	return c.Writer.Write(dst, addr, src)
}

func (e *Engine) countCopies() *counts {
	c := &counts{Reader: e.ways.local.reader, Writer: e.ways.local.writer}
	e.ways.local.writer = c
	for i := range e.peers {
		if e.peers[i].direct != nil {
			e.peers[i].direct = c
		}
	}
	return c
}

func TestBothSidesCopyAtOnceWhereThatIsQuick(t *testing.T) {
	for _, n := range []int{2 * direct.Section, 300<<10 + 5, 2 << 20} {
		es := makeWorld(t, options{clients: []int{2}, direct: true})
		a, b := es[0], es[1]
		sender, receiver := a.countCopies(), b.countCopies()
		data, in := pattern(n, 1), bytes.Repeat([]byte{gapByte}, n+1)
		recv := b.World().Irecv(at(in), int64(n), byteT, 0, 0)
		send := a.World().Isend(at(data), int64(n), byteT, 1, 0, Standard)
		finishAll(t, es, b, &recv)
		finishAll(t, es, a, &send)
		if !bytes.Equal(in[:n], data) || in[n] != gapByte {
			t.Errorf("%d bytes: wrong data", n)
		}
		if sender.written+receiver.read != n || sender.written == 0 || receiver.read == 0 {
			t.Errorf("%d bytes: %d written by the sender, %d read by the receiver", n, sender.written, receiver.read)
		}
		for _, e := range es {
			idle(t, e, 0)
		}
	}
}

func TestASenderWritesAllWhileItsReceiverComputes(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, direct: true})
	a, b := es[0], es[1]
	const n = 300<<10 + 5
	data, in := pattern(n, 1), make([]byte, n)
	send := a.World().Isend(at(data), n, byteT, 1, 0, Standard)
	settle(a)
	b.mu.Lock()
	b.ways.local.Poll() // the first packet is here; nothing is read yet
	b.mu.Unlock()
	recv := b.World().Irecv(at(in), n, byteT, 0, 0)
	alone(t, a, &send)
	if !bytes.Equal(in, data) {
		t.Error("the sender is done, and not all of its message is there")
	}
	finishAll(t, es, b, &recv)
}

func TestAMessageOfWhichNothingIsLeftMakesWayForTheNext(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, direct: true})
	a, b := es[0], es[1]
	const n = 300 << 10
	var recv [2]*Request
	for i := range recv {
		id := b.World().Irecv(at(make([]byte, n)), n, byteT, 0, int32(i))
		recv[i] = b.requests.find(id)
		a.World().Isend(at(pattern(n, i)), n, byteT, 1, int32(i), Standard)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ways.local.Poll()
	*b.peers[0].direct.Claims(0, false, 0) |= 1<<24 - 1 // of the first message the sender has claimed all
	for b.pollAll() {
	}
	if recv[0].state.done || !recv[1].state.done {
		t.Errorf("done: %v and %v, and want the second only", recv[0].state.done, recv[1].state.done)
	}
}

func TestMemoryThatCannotBeReachedGoesThroughTheRing(t *testing.T) {
	for _, n := range []int{17 << 10, 2 * direct.Section, 300<<10 + 5} {
		for _, quick := range []bool{false, true} {
			es := makeWorld(t, options{clients: []int{2}, direct: quick, fake: &fake.Options{Seed: 1, Sealed: true}})
			const messages = 2 * transport.ClaimSlots
			var send, recv [messages]uint64
			var data, in [messages][]byte
			for i := range messages {
				data[i], in[i] = pattern(n, i), make([]byte, n)
				recv[i] = es[1].World().Irecv(at(in[i]), int64(n), byteT, 0, 0)
				send[i] = es[0].World().Isend(at(data[i]), int64(n), byteT, 1, 0, Standard)
			}
			for i := range messages {
				finishAll(t, es, es[1], &recv[i])
				finishAll(t, es, es[0], &send[i])
				if !bytes.Equal(in[i], data[i]) {
					t.Errorf("%d bytes, quick %v: message %d is wrong", n, quick, i)
				}
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		}
	}
}

func TestProcessesThatSendEachOtherAsMuchReadAllOfIt(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, direct: true})
	const n = 200 << 10
	var data, in [2][]byte
	var send, recv [2]uint64
	var copied [2]*counts
	for i, e := range es {
		copied[i] = e.countCopies()
		data[i], in[i] = pattern(n, i), make([]byte, n)
		send[i] = e.World().Isend(at(data[i]), n, byteT, 1-i, 0, Standard)
	}
	for i, e := range es {
		recv[i] = e.World().Irecv(at(in[i]), n, byteT, 1-i, 0)
	}
	for i, e := range es {
		finishAll(t, es, e, &recv[i], &send[i])
		if !bytes.Equal(in[i], data[1-i]) {
			t.Errorf("rank %d: wrong data", i)
		}
	}
	for i, c := range copied {
		if c.read != n || c.written != 0 {
			t.Errorf("rank %d: %d bytes read, %d written", i, c.read, c.written)
		}
		idle(t, es[i], 0)
	}
}

// In the second half of an allreduce between two ranks each writes to memory that it has just read.
func TestWhatASenderHasJustReadItWritesAlone(t *testing.T) {
	const n = 100 << 10 // int32, of which each rank reads one half, and writes the other
	for form := range 3 {
		es := makeWorld(t, options{clients: []int{2}, direct: true})
		var copied [2]*counts
		for i, e := range es {
			e.waiting.patient.Store(false)
			copied[i] = e.countCopies()
		}
		together(t, es, func(e *Engine) {
			mine, sum := make([]int32, n), make([]int32, n)
			for k := range mine {
				mine[k] = int32((k + 1) * int(e.me+1))
			}
			v := e.World().Collectives
			var task *Task
			if form > 0 {
				var err error
				task, err = e.World().Later([]coll.Form{coll.Nonblocking, coll.Persistent}[form-1])
				must(t, err)
				v = task.Operations()
			}
			must(t, v.Allreduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)))
			switch form {
			case 1:
				id := task.Start()
				must(t, e.Wait(&id, nil))
			case 2:
				id := task.Keep()
				wantStarted(t, e, id)
				must(t, e.Wait(&id, nil))
				must(t, e.FreeRequest(&id))
			}
			for k := range sum {
				if sum[k] != int32(3*(k+1)) {
					t.Errorf("form %d, rank %d: element %d is %d", form, e.me, k, sum[k])
					break
				}
			}
		})
		for i, c := range copied {
			if c.read != 2*n || c.written != 2*n {
				t.Errorf("form %d, rank %d: %d bytes read, %d written, and %d expected of both", form, i, c.read, c.written, 2*n)
			}
		}
	}
}

// broken is memory of others that can be read, and not be written.
type broken struct{ transport.Writer }

func (broken) Write(int32, uint64, []byte) bool { return false }

// What two send each other is read in one go up to some length, a shorter one if nobody waits, and else shared.
func TestMessagesLeftToTheirSendersArrive(t *testing.T) {
	for _, n := range []int{1, 16 << 10, 17 << 10, 300 << 10, 2 << 20, (4 << 20), (4 << 20) + 1} {
		for way := range 4 {
			writable, early := way&1 != 0, way&2 != 0 // early: the message, before its receive
			es := makeWorld(t, options{clients: []int{2}, direct: true})
			a, b := es[0], es[1]
			b.waiting.patient.Store(false)
			sender, receiver := a.countCopies(), b.countCopies()
			if !writable {
				sender.Writer = broken{sender.Writer}
			}
			data, in := pattern(n, 1), bytes.Repeat([]byte{gapByte}, n+1)
			var send, recv coll.Req
			var err error
			post := func() {
				recv, err = (&collective{c: b.World()}).IrecvWritten(coll.Bytes(in[:n]), 0, 3)
				must(t, err)
			}
			if !early {
				post()
			}
			send, err = (&collective{c: a.World()}).Isend(coll.Bytes(data), 1, 3)
			must(t, err)
			if early {
				settle(es...)
				post()
			}
			finishAll(t, es, b, (*uint64)(&recv))
			finishAll(t, es, a, (*uint64)(&send))
			if !bytes.Equal(in[:n], data) || in[n] != gapByte {
				t.Errorf("%d bytes, writable %v, early %v: wrong data", n, writable, early)
			}
			if long := n > 16<<10 && n <= (4<<20); long && receiver.read > 0 || writable && long && sender.written != n {
				t.Errorf("%d bytes, writable %v, early %v: %d read by the receiver, %d written by the sender", n, writable,
					early, receiver.read, sender.written)
			}
			for _, e := range es {
				idle(t, e, 0)
			}
		}
	}
}

func TestPartsThatNobodyAskedForAreBreaches(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2}, direct: true})
	a, b := es[0], es[1]
	const n = 100 << 10
	data, in := pattern(n, 1), make([]byte, n)
	b.deliver(transport.Header{Kind: transport.Given, Src: 0, DrqID: 77, MsgLen: 1}, nil)
	wantBreach(t, b, "0", "of no message")
	recv := b.World().Irecv(at(in), n, byteT, 0, 0)
	send := a.World().Isend(at(data), n, byteT, 1, 0, Standard)
	b.mu.Lock()
	b.ways.local.Poll()
	b.mu.Unlock()
	for _, bytes := range []uint64{n + 1, 1 << 63, 1<<64 - 1} {
		b.deliver(transport.Header{Kind: transport.Given, Src: 0, DrqID: recv, MsgLen: bytes}, nil)
		wantBreach(t, b, "0", "of more than is left")
	}
	a.deliver(transport.Header{Kind: transport.Taken, Src: 1, SrqID: send, Tag: 1}, nil)
	wantBreach(t, a, "1", "returns sections never claimed")
}

func TestManyMessagesOfAnAbsentSenderArrive(t *testing.T) {
	for _, direct := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{2}, direct: direct})
		a, b := es[0], es[1]
		const messages, n = 3 * transport.ClaimSlots, 300 << 10
		var send, recv [messages]uint64
		data, in := make([][]byte, messages), make([][]byte, messages)
		for i := range messages {
			data[i], in[i] = pattern(n, i), make([]byte, n)
			send[i] = a.World().Isend(at(data[i]), n, byteT, 1, int32(i), Standard)
		}
		settle(es...)
		for i := range messages {
			recv[i] = b.World().Irecv(at(in[i]), n, byteT, 0, int32(i))
		}
		arrive := messages
		if !direct {
			arrive = transport.ClaimSlots // those that can be shared at once
		}
		for i := range arrive {
			alone(t, b, &recv[i])
		}
		for i := range messages {
			finishAll(t, es, b, &recv[i])
			finishAll(t, es, a, &send[i])
			if !bytes.Equal(in[i], data[i]) {
				t.Errorf("direct %v: message %d is wrong", direct, i)
			}
		}
		for _, e := range es {
			idle(t, e, 0)
		}
	}
}

func TestClaimsThatNobodyGaveAreBreaches(t *testing.T) {
	es := world(t, 2)
	e, c := es[0], es[0].World()
	buf := make([]byte, 1<<20)
	spaced := strided(100 << 10)
	gaps := newVector(1, spaced)
	for what, h := range map[string]transport.Header{
		"no slot": {Tag: 0x100}, "slot out of range": {Tag: transport.ClaimSlots + 1}, "negative": {Tag: -1}, "too large": {
			Tag: 1<<24 | 1},
	} {
		id := c.Isend(at(buf), int64(len(buf)), byteT, 1, 0, Standard)
		h.Kind, h.Src, h.SrqID = transport.SyncAck, 1, id
		e.deliver(h, nil)
		wantBreach(t, e, "1", what)
	}
	id := c.Isend(gaps.base, gaps.count, gaps.typ, 1, 0, Standard)
	e.deliver(transport.Header{Kind: transport.SyncAck, Src: 1, SrqID: id, Tag: 1}, nil)
	wantBreach(t, e, "1", "of a message that is not one run of bytes")
}

func TestASharedSendTakesNoOtherAnswer(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	buf := make([]byte, 1<<20)
	id := e.World().Isend(at(buf), int64(len(buf)), byteT, 1, 0, Standard)
	*e.peers[1].direct.Claims(1, true, 0) = 5 << 48
	must(t, e.Cancel(id))
	e.deliver(transport.Header{Kind: transport.SyncAck, Src: 1, SrqID: id, Tag: 5<<8 | 1}, nil)
	must(t, e.failure())
	for _, kind := range []transport.Kind{transport.SyncAck, transport.CancelYes} {
		e.deliver(transport.Header{Kind: kind, Src: 1, SrqID: id}, nil)
		wantBreach(t, e, "1", "a second answer")
	}
	if r := e.requests.find(id); r.state.done || !only(&e.peers[1], r) {
		t.Error("the stream has been disturbed")
	}
}

func TestAWordFullOfNonsenseClaimsNothingTwice(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	data, in := pattern(1<<20, 1), make([]byte, 1<<20)
	recv := b.World().Irecv(at(in), 1<<20, byteT, 0, 0)
	a.World().Isend(at(data), 1<<20, byteT, 1, 0, Standard) // may wait for ever: the word is nonsense to it, too
	step(es[1:])
	r := b.requests.find(recv)
	word := b.peers[0].direct.Claims(0, false, 0)
	use := *word >> 48 << 48
	until(t, nil, "all sections", func() bool {
		*word = use // as if nobody had claimed anything
		b.mu.Lock()
		defer b.mu.Unlock()
		b.pollAll()
		return r.state.done
	})
	if !bytes.Equal(in, data) {
		t.Error("wrong data")
	}
	alone(t, b, &recv)
}
