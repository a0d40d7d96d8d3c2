package libimpi

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// The table of receives that C posts, against an oracle: fakeC does on it what gobridge/executor/fast_recv.c does, and
// the engine takes over at random. Whoever did the matching, each message belongs to the receive that was posted first
// among those that fit.

// fakeC posts, fills and completes receives as the bridge does. The engine's lock is held in each of its functions.
type fakeC struct {
	e *Engine
	q *Quick
}

func newFakeC(e *Engine) *fakeC {
	f := &fakeC{e, new(Quick)}
	f.q.open()
	e.requests.quick = f.q
	return f
}

// at is where C keeps the receives of a source: the last one is where a process of another job could be.
func (f *fakeC) at(source int32) int32 {
	if int(source) == len(f.e.home.World)-1 {
		return int32(len(f.q.From)) - 1
	}
	return int32(f.e.peers[source].local)
}

// post is MPI_Irecv in C; 0 if Go has to do it.
func (f *fakeC) post(ctx *context, buf datatype.Pointer, count int32, source, tag int32) uint64 {
	n := f.q.Idle
	if ctx.space.Waiting() != 0 || n == 0 {
		return 0
	}
	s := &f.q.Slots[n-1]
	f.q.Idle, s.Next = s.Next, 0
	s.Source, s.Tag, s.CID = source, tag, ctx.cid
	s.Local = f.at(source)
	s.Buf, s.Bytes = buf, uint32(count)
	s.State = quickPosted
	q := &f.q.From[s.Local]
	if q.Tail != 0 {
		f.q.Slots[q.Tail-1].Next = n
	} else {
		q.Head = n
	}
	q.Tail = n
	f.q.Posted++
	return uint64(s.Generation)<<32 | quickBit | uint64(n-1)
}

// arrive gives a message to the receive of C that wants it, and reports whether there is one that has room for it.
func (f *fakeC) arrive(cid uint64, source, tag int32, payload []byte) bool {
	q := &f.q.From[f.at(source)]
	before := uint32(0)
	for n := q.Head; n != 0; before, n = n, f.q.Slots[n-1].Next {
		s := &f.q.Slots[n-1]
		if s.CID != cid || s.Source != source || s.Tag != tag && s.Tag != anyTag {
			continue
		}
		if len(payload) > int(s.Bytes) {
			return false
		}
		if before != 0 {
			f.q.Slots[before-1].Next = s.Next
		} else {
			q.Head = s.Next
		}
		if s.Next == 0 {
			q.Tail = before
		}
		f.q.Posted--
		copy(bytesAt(s.Buf, int64(s.Bytes)), payload)
		s.Tag, s.Bytes, s.State = tag, uint32(len(payload)), quickDone
		return true
	}
	return false
}

// test is MPI_Test in C: the status of a receive that is done here, and its slot is free again.
func (f *fakeC) test(id uint64, st *Status) bool {
	if id&quickBit == 0 {
		return false
	}
	n := uint32(id)&^quickBit + 1
	s := &f.q.Slots[n-1]
	if s.Generation != uint32(id>>32) || s.State != quickDone {
		return false
	}
	*st = Status{Source: s.Source, Tag: s.Tag, Bytes: int64(s.Bytes)}
	f.q.put(n)
	return true
}

// wish is a receive as the oracle sees it.
type wish struct {
	id          uint64
	ctx         int
	source, tag int32
	buf         []byte
	got         *parcel // nil: none yet
}

type parcel struct {
	ctx         int
	source, tag int32
	payload     []byte
}

func (w *wish) fits(p *parcel) bool {
	return w.ctx == p.ctx && (w.source == p.source || w.source == anySource) && (w.tag == p.tag || w.tag == anyTag)
}

// quickGame is one random run.
type quickGame struct {
	t      *testing.T
	rnd    *rand.Rand
	e      *Engine
	c      *fakeC
	comms  []*Comm
	wishes []*wish   // that the program has not completed, in the order of their posting
	kept   []*parcel // that no receive has wanted
	sent   uint32
	byC    int // messages that C has given to receives
	stale  []uint64
}

const (
	quickTags = 3
	quickRoom = 16 // bytes of each receive
)

func (g *quickGame) post() {
	source, tag := int32(1+g.rnd.IntN(2)), int32(g.rnd.IntN(quickTags))
	if g.rnd.IntN(5) == 0 {
		tag = anyTag
	}
	if g.rnd.IntN(20) == 0 {
		source = anySource
	}
	w := &wish{ctx: g.rnd.IntN(len(g.comms)), source: source, tag: tag, buf: make([]byte, quickRoom)}
	if len(g.kept) > 0 && g.rnd.IntN(2) == 0 {
		w.ctx, w.source, w.tag = g.kept[0].ctx, g.kept[0].source, g.kept[0].tag
		source, tag = w.source, w.tag
	}
	comm := g.comms[w.ctx]
	if source != anySource && g.rnd.IntN(6) != 0 {
		g.e.mu.Lock()
		w.id = g.c.post(comm.p2p, at(w.buf), quickRoom, source, tag)
		g.e.mu.Unlock()
	}
	if w.id == 0 {
		w.id = comm.Irecv(at(w.buf), quickRoom, byteT, int(source), tag)
	}
	for i, p := range g.kept {
		if w.fits(p) {
			w.got, g.kept = p, slices.Delete(g.kept, i, i+1)
			break
		}
	}
	g.wishes = append(g.wishes, w)
}

func (g *quickGame) arrive() {
	g.sent++
	p := &parcel{ctx: g.rnd.IntN(len(g.comms)), source: int32(1 + g.rnd.IntN(2)), tag: int32(g.rnd.IntN(quickTags))}
	if g.rnd.IntN(16) != 0 { // wanted, as a rule
		i := slices.IndexFunc(g.wishes, func(w *wish) bool { return w.got == nil })
		if i < 0 {
			return
		}
		w := g.wishes[i]
		p.ctx = w.ctx
		if w.source != anySource {
			p.source = w.source
		}
		if w.tag != anyTag {
			p.tag = w.tag
		}
	}
	p.payload = binary.LittleEndian.AppendUint32(nil, g.sent)
	if g.rnd.IntN(10) == 0 {
		p.payload = append(p.payload, make([]byte, quickRoom)...) // longer than any receive
	}
	cid := g.comms[p.ctx].p2p.cid
	g.e.mu.Lock()
	if g.rnd.IntN(16) == 0 || !g.c.arrive(cid, p.source, p.tag, p.payload) {
		n := len(p.payload)
		g.e.Deliver(&transport.Header{Kind: transport.Data, Src: p.source, LSRank: p.source, Tag: p.tag, CID: cid,
			MsgLen: uint64(n), Len: n}, p.payload)
	} else {
		g.byC++
	}
	g.e.mu.Unlock()
	for _, w := range g.wishes {
		if w.got == nil && w.fits(p) {
			w.got = p
			return
		}
	}
	g.kept = append(g.kept, p)
}

// complete asks for one request in one of many ways, and compares.
func (g *quickGame) complete() {
	if len(g.wishes) == 0 {
		return
	}
	i := g.rnd.IntN(len(g.wishes))
	w := g.wishes[i]
	before := w.id
	var st CStatus
	done, failed := false, error(nil)
	switch g.rnd.IntN(16) {
	case 0:
		done, failed = g.e.Test(&w.id, &st)
	case 1:
		ids := []uint64{nullRequest, w.id}
		_, done, failed = g.e.TestAny(ids, &st)
		w.id = ids[1]
	case 2:
		done, failed = g.e.GetStatus(w.id, &st)
		if done != (w.got != nil) || failed != nil {
			g.t.Fatalf("get_status of %+v: %v, %v", *w, done, failed)
		}
		return
	case 3:
		if id := g.e.RequestBySlot(uint32(w.id)); id != w.id {
			g.t.Fatalf("request %#x found as %#x", w.id, id)
		}
		return
	default:
		var s Status
		g.e.mu.Lock()
		done = g.c.test(w.id, &s)
		g.e.mu.Unlock()
		st.Set(&s)
		if !done {
			return // the engine's, or not there yet
		}
		w.id = nullRequest
	}
	if done != (w.got != nil) {
		g.t.Fatalf("%+v: done is %v", *w, done)
	}
	if done {
		g.compare(w, &st, failed)
		g.wishes = slices.Delete(g.wishes, i, i+1)
		g.stale = append(g.stale, before)
	}
}

func (g *quickGame) compare(w *wish, st *CStatus, failed error) {
	want := w.got
	long := len(want.payload) > quickRoom
	n := min(len(want.payload), quickRoom)
	if st.Source != want.source || st.Tag != want.tag || st.Bytes() != int64(n) || w.id != nullRequest ||
		long != (failed != nil) || string(w.buf[:n]) != string(want.payload[:n]) {
		g.t.Fatalf("receive %+v got source %d, tag %d, %d bytes, % x, %v; want %+v", *w, st.Source, st.Tag, st.Bytes(),
			w.buf, failed, *want)
	}
	if long && AsError(failed).Class != abi.MPI_ERR_TRUNCATE {
		g.t.Fatal(failed)
	}
}

func (g *quickGame) cancel() {
	if len(g.wishes) == 0 {
		return
	}
	i := g.rnd.IntN(len(g.wishes))
	w := g.wishes[i]
	if err := g.e.Cancel(w.id); err != nil {
		g.t.Fatal(err)
	}
	var st CStatus
	before := w.id
	done, failed := g.e.Test(&w.id, &st)
	if !done || st.Cancelled() != (w.got == nil) {
		g.t.Fatalf("cancelling %+v: done %v, cancelled %v", *w, done, st.Cancelled())
	}
	if w.got != nil {
		g.compare(w, &st, failed)
	}
	g.wishes = slices.Delete(g.wishes, i, i+1)
	g.stale = append(g.stale, before)
}

// old asks for what is over.
func (g *quickGame) old() {
	for _, id := range g.stale {
		if done, err := g.e.Test(&id, nil); done || err == nil {
			g.t.Fatalf("request %#x, which is over: %v, %v", id, done, err)
		}
	}
	g.stale = g.stale[:0]
}

func TestReceivesPostedInCGetWhatTheOracleGives(t *testing.T) {
	es := world(t, 3)
	e := es[0]
	c := newFakeC(e)
	played := 0
	for seed := range uint64(40) {
		g := &quickGame{t: t, rnd: rand.New(rand.NewPCG(seed, 1)), e: e, c: c}
		for i := range uint64(2) {
			comm, err := e.newComm(e.World().Group(), 1000+4*seed+2*i)
			must(t, err)
			g.comms = append(g.comms, comm)
		}
		for range 600 {
			switch k := g.rnd.IntN(16); {
			case k < 4 && len(g.wishes) < 10:
				g.post()
			case k < 8:
				g.arrive()
			case k < 15:
				g.complete()
			case g.rnd.IntN(4) == 0:
				g.cancel()
			}
			g.old()
		}
		played += g.byC
		freed := g.rnd.IntN(2) == 0 // before what was posted on them is completed
		if freed {
			e.AdoptQuick()
			for _, comm := range g.comms {
				comm.Discard()
			}
		}
		for len(g.wishes) > 0 {
			g.cancel()
		}
		if !freed {
			for _, p := range g.kept {
				must(t, g.comms[p.ctx].Recv(at(make([]byte, 64)), 64, byteT, int(p.source), p.tag, nil))
			}
			for _, comm := range g.comms {
				comm.Discard()
			}
		}
		c.empty(t, fmt.Sprintf("seed %d", seed))
	}
	if played < 400 {
		t.Errorf("C gave only %d messages to receives", played)
	}
	idle(t, e, 0)
}

// empty says that all slots are free, each once.
func (f *fakeC) empty(t *testing.T, when string) {
	t.Helper()
	n := 0
	for at := f.q.Idle; at != 0 && n <= quickSlots; at = f.q.Slots[at-1].Next {
		if f.q.Slots[at-1].State != quickFree {
			t.Fatalf("%s: slot %d stands among the free and is in state %d", when, at, f.q.Slots[at-1].State)
		}
		n++
	}
	if n != quickSlots || f.q.Posted != 0 {
		t.Fatalf("%s: %d slots are free, %d posted", when, n, f.q.Posted)
	}
}

func TestSlotsRunOutAndComeBack(t *testing.T) {
	es := world(t, 2)
	e := es[0]
	c := newFakeC(e)
	buf := make([]byte, quickSlots+10)
	var ids []uint64
	for i := range quickSlots + 10 {
		e.mu.Lock()
		id := c.post(e.World().p2p, at(buf[i:]), 1, 1, 5)
		e.mu.Unlock()
		if (id == 0) != (i >= quickSlots) {
			t.Fatalf("receive %d: id %#x", i, id)
		}
		if id == 0 {
			id = e.World().Irecv(at(buf[i:]), 1, byteT, 1, 5)
		}
		ids = append(ids, id)
	}
	for i := range ids {
		e.mu.Lock()
		e.Deliver(&transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, Tag: 5, CID: e.World().CID(),
			MsgLen: 1, Len: 1}, []byte{byte(i)})
		e.mu.Unlock()
	}
	must(t, e.WaitAll(ids, nil))
	for i := range ids {
		if buf[i] != byte(i) {
			t.Fatalf("receive %d got message %d", i, buf[i])
		}
	}
	c.empty(t, "at the end")
	idle(t, e, 0)
}

// Ids that no slot has, or no longer has.
func TestIdsOfSlotsThatNobodyPosted(t *testing.T) {
	e := world(t, 2)[0]
	newFakeC(e)
	for _, id := range []uint64{quickBit, 1<<32 | quickBit, 2<<32 | quickBit, 1<<32 | quickBit | quickSlots,
		1<<32 | quickBit | 1<<29, 1<<32 | 1<<31 | quickBit} {
		if done, err := e.Test(&id, nil); done || err == nil || AsError(err).Class != abi.MPI_ERR_REQUEST {
			t.Errorf("request %#x: %v, %v", id, done, err)
		}
	}
	for _, slot := range []uint32{quickBit, quickBit | quickSlots, quickBit | 1<<29} {
		if id := e.RequestBySlot(slot); id != nullRequest {
			t.Errorf("slot %#x has request %#x", slot, id)
		}
	}
}
