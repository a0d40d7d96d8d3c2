package libimpi

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/transport"
)

// Packets that no peer of ours sends. They are delivered as a transport would: Src is a peer, Len is right, and
// Len <= MsgLen where there is payload; everything else may be anything.

func (e *Engine) deliver(h transport.Header, payload []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Len = len(payload)
	if h.Kind <= transport.DataSync {
		h.MsgLen = max(h.MsgLen, uint64(h.Len))
	}
	e.Deliver(&h, payload)
}

// wantBreach checks that the peer's mistake has been reported as its loss, and forgets it.
func wantBreach(t *testing.T, e *Engine, peer, what string) {
	t.Helper()
	err := e.loss.failed.Swap(nil)
	if err == nil {
		t.Errorf("%s: not reported", what)
	} else if err.Class != abi.MPI_ERR_PROC_ABORTED || !strings.Contains(err.Text, "rank "+peer+" ") ||
		!strings.Contains(err.Text, "protocol error") {
		t.Errorf("%s: reported as %v", what, err)
	}
}

func TestAnswersThatAreNotDueAreBreaches(t *testing.T) {
	es := world(t, 3)
	e, c := es[0], es[0].World()
	buf := make([]byte, 1<<20)
	big := int64(len(buf))

	free := c.Irecv(nil, 0, byteT, abi.MPI_PROC_NULL, 0) // done; its slot is free after Wait
	id := free
	must(t, e.Wait(&id, nil))
	unused := uint64(1<<32 | requestChunk) // a slot that nobody has had
	persistent := c.SendInit(at(buf), 1, byteT, 1, 0, Standard)
	posted := c.Irecv(at(buf), 0, byteT, 1, 5)
	acked := c.Isend(at(buf), big, byteT, 1, 0, Standard)
	e.deliver(transport.Header{Kind: transport.SyncAck, Src: 1, SrqID: acked, DrqID: 9}, nil)
	if e.failure() != nil || !only(&e.peers[1], e.requests.find(acked)) {
		t.Fatalf("the control case: %v", e.failure())
	}
	theirs := c.Isend(at(buf), 1, byteT, 2, 0, Synchronous)

	for name, id := range map[string]uint64{
		"no request": 0, "stale": free, "complete": sentRequest, "slot not in use": unused, "no slot": 1<<32 | 1<<30,
		"inactive": persistent,
		"receive":  posted, "answered": acked, "of another": theirs,
	} {
		for _, kind := range []transport.Kind{transport.SyncAck, transport.Taken, transport.CancelYes, transport.CancelNo} {
			e.deliver(transport.Header{Kind: kind, Src: 1, SrqID: id}, nil)
			wantBreach(t, e, "1", name)
		}
		e.deliver(transport.Header{Kind: transport.Data, Src: 1, DrqID: id, MsgLen: 1}, nil)
		wantBreach(t, e, "1", "continuation of: "+name)
	}
	if !only(&e.peers[1], e.requests.find(acked)) {
		t.Error("the stream has been disturbed")
	}
	if !e.requests.find(posted).isPosted() {
		t.Error("the receive has been disturbed")
	}
}

func TestAQueuedSendListensToNobody(t *testing.T) {
	es := world(t, 2)
	e, c := es[0], es[0].World()
	buf := make([]byte, 32<<10)
	var ids []uint64
	for e.peers[1].Passable() { // until the ring is full
		ids = append(ids, c.Isend(at(buf), 16<<10, byteT, 1, 0, Standard))
	}
	queued := c.Isend(at(buf), 16<<10, byteT, 1, 0, Synchronous)
	behind := c.Isend(at(buf), 16<<10, byteT, 1, 0, Standard)
	for _, kind := range []transport.Kind{transport.SyncAck, transport.Taken} {
		e.deliver(transport.Header{Kind: kind, Src: 1, SrqID: queued}, nil)
		wantBreach(t, e, "1", "answer to a queued send")
	}
	for range len(ids) + 2 {
		id := es[1].World().Irecv(at(buf), 32<<10, byteT, 0, 0)
		finishAll(t, es, es[1], &id)
	}
	finishAll(t, es, e, &queued, &behind)
	for i := range ids {
		finishAll(t, es, e, &ids[i])
	}
	idle(t, e, 0)
}

func TestACancellationAfterTheAnswerIsABreach(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	buf := make([]byte, 1<<20)
	id := e.World().Isend(at(buf), int64(len(buf)), byteT, 1, 0, Standard)
	must(t, e.Cancel(id))
	e.deliver(transport.Header{Kind: transport.SyncAck, Src: 1, SrqID: id}, nil)
	e.deliver(transport.Header{Kind: transport.CancelYes, Src: 1, SrqID: id}, nil)
	wantBreach(t, e, "1", "CANCELYES after SYNCACK")
	if r := e.requests.find(id); r.state.done || !only(&e.peers[1], r) {
		t.Error("the send was ended while it stands in a queue")
	}
}

func TestContinuationsBeyondTheirMessageAreBreaches(t *testing.T) {
	es := world(t, 3)
	e := es[0]
	guard := bytes.Repeat([]byte{gapByte}, 64)
	recv := e.World().Irecv(at(guard), 16, byteT, 1, 0)
	e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, MsgLen: 12, SrqID: 7}, []byte("abcd"))
	if e.failure() != nil {
		t.Fatal(e.failure())
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 2, MsgLen: 12, DrqID: recv}, []byte("x"))
	wantBreach(t, e, "2", "continuation by another process")
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 12, DrqID: recv}, nil)
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 12, DrqID: recv}, []byte("efghijk"))
	if e.failure() != nil {
		t.Fatal(e.failure())
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 12, DrqID: recv}, []byte("lm"))
	wantBreach(t, e, "1", "one byte too many")
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 12, DrqID: recv}, []byte("l"))
	id := recv
	var st CStatus
	must(t, e.Wait(&id, &st))
	if string(guard[:12]) != "abcdefghijkl" || guard[12] != gapByte || st.Bytes() != 12 {
		t.Errorf("got %q, %d bytes", guard[:13], st.Bytes())
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 12, DrqID: recv}, nil)
	wantBreach(t, e, "1", "continuation of a complete message")
}

func TestLengthsBeyondAllMemoryAreBreaches(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, MsgLen: math.MaxInt64 + 1}, nil)
	wantBreach(t, e, "1", "2^63 bytes")
	e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, MsgLen: math.MaxInt64}, []byte("ab"))
	in := make([]byte, 8)
	id := e.World().Irecv(at(in), 1, byteT, 1, 0)
	if done, err := e.Test(&id, nil); done || err != nil {
		t.Errorf("a message of 2^63-1 bytes is complete: %v", err)
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: math.MaxInt64, DrqID: id}, []byte("cd"))
	if e.failure() != nil || !bytes.Equal(in, []byte("a\x00\x00\x00\x00\x00\x00\x00")) {
		t.Errorf("%v, %q", e.failure(), in)
	}
}

func TestTheSenderIsTheProcessItIs(t *testing.T) {
	es := world(t, 3)
	e := es[0]
	for lsrank, want := range map[int32]int32{1: 1, 0: 1, 2: 1, -1: 1, 3: 1, math.MinInt32: 1, math.MaxInt32: 1} {
		e.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: lsrank, Tag: 5}, []byte("x"))
		var st Status
		in := make([]byte, 1)
		must(t, e.World().Recv(at(in), 1, byteT, abi.MPI_ANY_SOURCE, 5, &st))
		if st.Source != want {
			t.Errorf("rank %d in the packet: received as from %d", lsrank, st.Source)
		}
	}
	e.deliver(transport.Header{Kind: transport.Data, Src: 2, CID: contexts.Self}, []byte("x"))
	wantBreach(t, e, "2", "message for MPI_COMM_SELF")
	idle(t, e, 0)
}

func TestAnAddressThatCannotBeReadIsNotRead(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	for name, typ := range shapes(40) {
		in := typ()
		id := e.World().Irecv(in.base, in.count, in.typ, 1, 0)
		// The first piece, and an address where nothing is.
		e.deliver(transport.Header{Kind: transport.DataSync, Src: 1, LSRank: 1, MsgLen: 40, Addr: 8}, pattern(40, 1)[:10])
		e.deliver(transport.Header{Kind: transport.Data, Src: 1, MsgLen: 40, DrqID: id}, pattern(40, 1)[10:])
		finishAll(t, es[:1], e, &id)
		if !bytes.Equal(in.get(), pattern(40, 1)) {
			t.Errorf("%s: wrong data", name)
		}
	}
	must(t, e.failure())
}

func TestCancellationsWithoutEndAreABreach(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	n := 0
	for ; e.failure() == nil && n < 1<<18; n++ {
		e.deliver(transport.Header{Kind: transport.Cancel, Src: 1, SrqID: 1}, nil)
	}
	wantBreach(t, e, "1", "a peer that asks and does not read")
	if e.peers[1].Controls() > maxReplies {
		t.Errorf("%d answers are waiting", e.peers[1].Controls())
	}
}

func TestIdsOfRequestsThatAreNotInUseAreErrors(t *testing.T) {
	es := world(t, 1)
	e := es[0]
	sent := e.World().Isend(nil, 0, byteT, 0, 0, Standard)
	id := sent
	must(t, e.Wait(&id, nil))
	recv := e.World().Irecv(nil, 0, byteT, 0, 0)
	id = recv
	must(t, e.Wait(&id, nil))
	free := e.requests.idle[0].id
	for _, bad := range []uint64{sent, free, 1, 77 << 32, math.MaxUint64} {
		id := bad
		wantClass(t, e.Wait(&id, nil), abi.MPI_ERR_REQUEST)
		_, err := e.Test(&id, nil)
		wantClass(t, err, abi.MPI_ERR_REQUEST)
		wantClass(t, e.WaitAll([]uint64{nullRequest, bad}, nil), abi.MPI_ERR_REQUEST)
		_, err = e.WaitAny([]uint64{bad}, nil)
		wantClass(t, err, abi.MPI_ERR_REQUEST)
		_, err = e.WaitSome([]uint64{bad}, make([]int32, 1), nil)
		wantClass(t, err, abi.MPI_ERR_REQUEST)
		_, err = e.GetStatus(id, nil)
		wantClass(t, err, abi.MPI_ERR_REQUEST)
		wantClass(t, e.FreeRequest(&id), abi.MPI_ERR_REQUEST)
		wantClass(t, e.Cancel(id), abi.MPI_ERR_REQUEST)
		if err := e.Start(id); err == nil || err.Class != abi.MPI_ERR_REQUEST {
			t.Errorf("start: %v", err)
		}
		if id != bad {
			t.Errorf("request %#x was changed", bad)
		}
	}
	if got := e.RequestBySlot(uint32(free)); got != nullRequest {
		t.Errorf("a free slot is request %#x", got)
	}
	live := e.World().Irecv(nil, 0, byteT, 0, 1)
	if got := e.RequestBySlot(uint32(live)); got != live {
		t.Errorf("request %#x by its slot is %#x", live, got)
	}
	for _, slot := range []uint32{0, 65, math.MaxUint32} {
		if got := e.RequestBySlot(slot); got != nullRequest {
			t.Errorf("slot %d is request %#x", slot, got)
		}
	}
	must(t, e.Cancel(live))
	must(t, e.Wait(&live, nil))
	idle(t, e, 0)
}

// A request that stands twice in an array is the program's mistake, and must not be more than an error.
func TestARequestTwiceInAnArray(t *testing.T) {
	es := world(t, 1)
	e := es[0]
	two := func() []uint64 {
		id := e.World().Irecv(nil, 0, byteT, abi.MPI_PROC_NULL, 0)
		return []uint64{id, id}
	}
	st := make([]CStatus, 2)
	wantClass(t, e.WaitAll(two(), st), abi.MPI_ERR_IN_STATUS)
	if st[0].Error != abi.MPI_SUCCESS || st[1].Error != abi.MPI_ERR_REQUEST {
		t.Errorf("errors %d and %d", st[0].Error, st[1].Error)
	}
	if done, err := e.TestAll(two(), st); !done {
		t.Error("not done")
	} else {
		wantClass(t, err, abi.MPI_ERR_IN_STATUS)
	}
	ids, at := two(), make([]int32, 2)
	if n, err := e.WaitSome(ids, at, st); n != 1 || err != nil {
		t.Errorf("waitsome: %d, %v", n, err)
	}
	idle(t, e, 0)
}

// FuzzDeliver feeds an engine, busy with everything a packet could be about, a series of packets.
func FuzzDeliver(f *testing.F) {
	for kind := range byte(9) {
		for id := range byte(6) {
			f.Add([]byte{kind, 1, id, id, 0, 5, 4, 4, kind, 2, id, id, 1, 0, 0, 8})
		}
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		es := world(t, 3)
		e, c := es[0], es[0].World()
		buf := make([]byte, 100<<10)
		guarded := bytes.Repeat([]byte{gapByte}, 96)
		vec := newVector(4, strided(2))
		ids := []uint64{
			0, c.Isend(at(buf), 100<<10, byteT, 1, 0, Standard), c.Isend(at(buf), 4, byteT, 2, 0, Synchronous),
			c.Irecv(at(guarded[32:]), 32, byteT, 1, 5), c.Irecv(vec.base, vec.count, vec.typ, abi.MPI_ANY_SOURCE,
				abi.MPI_ANY_TAG),
			c.SendInit(at(buf), 8, byteT, 1, 0, Standard), c.Isend(at(buf), 4, byteT, 1, 0, Standard),
			c.RecvInit(at(guarded[32:]), 8, byteT, 1, 0), c.Isend(at(buf), 90<<10, byteT, 1, 0, Standard),
		}
		must(t, e.Cancel(ids[2]))
		must(t, e.FreeRequest(&[]uint64{ids[8]}[0]))
		number := func(b byte) uint64 {
			if int(b) < len(ids) {
				return ids[b]
			}
			return uint64(b) << (b % 64)
		}
		for ; len(script) >= 8; script = script[8:] {
			h := transport.Header{Kind: transport.Kind(script[0] % 9), Src: 1 + int32(script[1]%2)}
			if h.Kind == transport.ProtoAck || h.Kind == transport.Fini {
				continue // no transport passes them on
			}
			h.SrqID, h.DrqID = number(script[2]), number(script[3])
			h.CID, h.Tag, h.MsgLen = number(script[4]), int32(int8(script[5])), number(script[6])
			h.LSRank, h.Addr = h.Src-int32(script[4]%2), uint64(script[6]%2)*addressOf(buf)
			e.deliver(h, pattern(int(script[7]), 1))
		}
		settle(es...)
		// Whatever the peers did, the engine's own lists are sound and nothing was written out of bounds.
		if !bytes.Equal(guarded[:32], guarded[64:]) || guarded[0] != gapByte {
			t.Error("bytes outside of the receive buffer were written")
		}
		for i, x := range vec.mem { // blocks of 4 and gaps of 4: two blocks an element, whose extent ends with the second
			if gap := i%12 >= 4 && i%12 < 8 || i == len(vec.mem)-1; gap && x != gapByte {
				t.Fatalf("byte %d, in a gap, was written", i)
			}
		}
		sound(t, e)
	})
}

// sound checks that no request is in two places.
func sound(tb testing.TB, e *Engine) {
	tb.Helper()
	where := map[*Request]string{}
	put := func(r *Request, place string) {
		if where[r] != "" {
			tb.Fatalf("request %#x is in %s and in %s", r.id, where[r], place)
		}
		where[r] = place
	}
	for _, r := range e.requests.idle {
		put(r, "the pool")
		if r.kind != noRequest || r.state.done || r.wire.Expects() || r.state.detached {
			tb.Fatalf("request %#x in the pool is not blank", r.id)
		}
	}
	for i := range e.peers {
		for t := range e.peers[i].Messages() {
			put(e.requests.find(t.ID), "an outbox")
		}
	}
	underWay := uint32(0)
	for _, r := range e.requests.slots {
		if r.kind != noRequest && !r.state.done && (r.state.active || !r.state.persistent) {
			underWay++
		}
	}
	if got, want := *e.shared, (Shared{UnderWay: underWay, Queued: uint32(len(e.protocol.Busy()))}); got != want {
		tb.Fatalf("counted for the fast path: %+v, want %+v", got, want)
	}
	for _, c := range e.contexts.low {
		if c == nil {
			continue
		}
		n := uint32(0)
		c.space.Each(func(r *Request) {
			put(r, "posted")
			n++
			if r.wire.Expects() || r.state.done {
				tb.Fatalf("posted receive %#x: expects %t, done %t", r.id, r.wire.Expects(), r.state.done)
			}
		}, func(*message) { n++ })
		if got := c.space.Waiting(); got != n {
			tb.Fatalf("%d receives and messages in context %d are counted as %d", n, c.cid, got)
		}
	}
	soundEarly(tb, e)
}

// soundEarly checks that what is kept of each peer is counted exactly, and that what is early is in its queue.
func soundEarly(tb testing.TB, e *Engine) {
	tb.Helper()
	early, err := e.contexts.early.Check()
	must(tb, err)
	for i := range e.peers {
		p := &e.peers[i]
		var kept int64
		all, err := p.unmatched.Check()
		must(tb, err)
		for _, m := range all {
			if kept += sizeOf(m); m.Peer != p.Rank || m.Early != early[m] {
				tb.Fatalf("rank %d: %+v is not in its place", i, *m)
			}
			delete(early, m)
		}
		if kept != p.Pressure.Kept() {
			tb.Fatalf("rank %d: %d bytes are kept and counted as %d", i, kept, p.Pressure.Kept())
		}
	}
	if len(early) > 0 {
		tb.Fatalf("%d early messages are nobody's", len(early))
	}
}

// Random packets beyond the fuzzer's seeds, the same ones each time.
func TestRandomPacketsDoNoHarm(t *testing.T) {
	es := world(t, 3)
	e, c := es[0], es[0].World()
	buf := make([]byte, 40<<10)
	x := uint64(88172645463325252)
	next := func(n uint64) uint64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return x % n
	}
	kinds := []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Cancel,
		transport.CancelYes, transport.CancelNo, transport.Taken}
	live := make([]uint64, 32)
	for i := range 20000 {
		slot := next(32)
		if done, _ := e.GetStatus(live[slot], nil); done {
			if live[slot] != nullRequest {
				e.Wait(&live[slot], nil)
			}
			if next(2) == 0 {
				live[slot] = c.Irecv(at(buf), int64(next(40<<10)), byteT, int(next(4))-1, int32(next(4))-1)
			} else {
				live[slot] = c.Isend(at(buf), int64(next(40<<10)), byteT, int(next(3)), int32(next(3)), SendMode(next(2)))
			}
		} else if next(4) == 0 {
			e.Cancel(live[slot])
		}
		h := transport.Header{Kind: kinds[next(7)], Src: int32(1 + next(2)), Tag: int32(next(4)) - 1,
			LSRank: int32(next(4)) - 1,
			CID:    next(3), SrqID: live[next(32)], DrqID: live[next(32)], MsgLen: next(3) * next(60<<10)}
		if next(8) == 0 {
			h.MsgLen = next(math.MaxUint64)
		}
		e.deliver(h, pattern(int(next(200)), i))
		if i%100 == 0 {
			e.loss.failed.Store(nil)
			sound(t, e)
			settle(es...)
			es[1].loss.failed.Store(nil)
			es[2].loss.failed.Store(nil)
		}
	}
	sound(t, e)
}

func TestFieldsOfAHeaderAreNotTrustedTogether(t *testing.T) {
	// The same header for every kind, built from one pattern of bits.
	es := world(t, 2)
	for _, bits := range []uint64{0, 1, 1 << 31, 1 << 32, 1 << 63, math.MaxUint64} {
		for _, kind := range []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Cancel,
			transport.CancelYes, transport.CancelNo, transport.Taken} {
			h := transport.Header{Kind: kind, Src: 1, LSRank: int32(bits), Tag: int32(bits), CID: bits, MsgLen: bits,
				SrqID: bits, DrqID: bits, Addr: bits}
			es[0].deliver(h, binary.BigEndian.AppendUint64(nil, bits)[:min(bits, 8)])
			es[0].loss.failed.Store(nil)
			sound(t, es[0])
		}
	}
}
