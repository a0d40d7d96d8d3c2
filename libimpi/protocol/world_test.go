package protocol

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/libimpi/direct"
	"github.com/libimpi/libimpi/libimpi/pressure"
	"github.com/libimpi/libimpi/transport"
)

var byteT = datatype.Named(abi.MPI_BYTE)

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// conditions are what two processes of a test live under.
type conditions struct {
	elsewhere bool // on two machines, between which continuations are not copied
	bare      bool // of long messages nothing goes in the first packet
	offers    bool // the first bytes of long messages are offered
	reads     bool // they can read and write each other's memory
	sealed    int  // of so many reads and writes one fails; 0: none does
	room      int  // packets under way from one to the other
	rand      *rand.Rand
	// note hears of each packet that has left; nil: nobody does.
	note func(h *transport.Header)
}

// world is two processes in memory, whose packets move when the test says so.
type world struct {
	conditions
	tb      testing.TB
	of      [2]*process
	wire    [2][]packet // to each
	words   map[[3]int]*uint64
	buffers [][]byte
	now     time.Time
	tick    time.Duration // how much later it is with each look at the clock
}

type packet struct {
	h       transport.Header
	payload []byte
}

// process is the engine of one of them: it matches messages by their tags.
type process struct {
	Machine
	w        *world
	peer     Peer
	bounds   pressure.Bounds
	queued   uint32
	requests []*request // by id, counted from 1
	posted   []*request
	kept     []packet // first packets without a receive
	withhold bool
	breaches []string
	offered  map[uint64]*offer // to it, and not fetched, by the name that the envelope has
	moving   []*offer          // by it
	released []uint64          // offers of its own, of which it does not know yet
}

// offer is the first bytes of a message on their way to its receiver.
type offer struct {
	bytes    []byte
	send     uint64
	early    bool // the sender has been told that they are gone
	into     []byte
	received uint64
}

type request struct {
	Transfer
	tag         int32
	synchronous bool
	done        int
}

func newWorld(tb testing.TB, c conditions) *world {
	w := &world{conditions: c, tb: tb, words: map[[3]int]*uint64{}, now: time.Unix(1000, 0)}
	for i := range w.of {
		p := &process{w: w}
		p.peer = Peer{Rank: int32(1 - i), Limits: transport.Limits{Eager: 256, Packet: 1024, Bare: c.bare},
			Near: !c.elsewhere, Elsewhere: c.elsewhere, Holds: true, Streams: c.elsewhere}
		if p.peer.Streams {
			p.peer.Longest = 3000
		}
		if c.offers {
			p.peer.Offers, p.offered = p, map[uint64]*offer{}
		}
		p.peer.Pressure.Rank = p.peer.Rank
		p.Machine = Machine{Do: p, Memory: p, Me: int32(i), Bounds: &p.bounds, Queued: &p.queued,
			Rules: direct.Rules{On: c.reads, Writes: c.reads}}
		w.of[i] = p
	}
	return w
}

func (p *process) request(tag int32, base datatype.Pointer, count int64, t *datatype.Type) *request {
	r := &request{tag: tag}
	p.requests = append(p.requests, r)
	r.ID = uint64(len(p.requests))
	data, n, flat := t.Span(base, count)
	if !flat {
		n = count * t.Size()
	}
	if r.Set(datatype.Native, n, flat, data); !flat {
		r.Cursor.Init(base, count, t, datatype.Native)
	}
	return r
}

// send starts a send of count elements.
func (p *process) send(tag int32, data []byte, count int64, t *datatype.Type, synchronous bool) *request {
	p.w.buffers = append(p.w.buffers, data)
	r := p.request(tag, startOf(data), count, t)
	r.synchronous = synchronous
	p.Begin(&r.Transfer, &p.peer)
	return r
}

// receive posts a receive of bytes.
func (p *process) receive(tag int32, in []byte) *request {
	p.w.buffers = append(p.w.buffers, in)
	r := p.request(tag, startOf(in), int64(len(in)), byteT)
	i := slices.IndexFunc(p.kept, func(k packet) bool { return k.h.Tag == tag })
	if i < 0 {
		p.posted = append(p.posted, r)
		return r
	}
	k := p.kept[i]
	p.kept = slices.Delete(p.kept, i, i+1)
	p.match(r, &k)
	return r
}

func (p *process) match(r *request, k *packet) {
	r.Match(&p.peer, int64(k.h.MsgLen))
	if k.h.Kind == transport.Data {
		r.Fill(k.payload)
		p.Done(&r.Transfer)
		return
	}
	p.Accept(&r.Transfer, k.h.SrqID, k.h.Addr, k.payload)
}

// deliver does what an engine does with a packet.
func (p *process) deliver(k *packet) {
	switch h := &k.h; {
	case h.Kind == transport.Data && uint64(h.Len) == h.MsgLen, h.Kind == transport.DataSync:
		if i := slices.IndexFunc(p.posted, func(r *request) bool { return r.tag == h.Tag }); i >= 0 {
			r := p.posted[i]
			p.posted = slices.Delete(p.posted, i, i+1)
			p.match(r, k)
			return
		}
		p.kept = append(p.kept, *k)
	case h.Kind == transport.Cancel:
		kind := transport.CancelNo
		if i := slices.IndexFunc(p.kept, func(k packet) bool { return k.h.SrqID == h.SrqID }); i >= 0 {
			if h := &p.kept[i].h; p.w.offers && h.Addr != 0 {
				p.Fetch(h.Src, transport.Offer(h.Addr), nil, 0)
			}
			p.kept = slices.Delete(p.kept, i, i+1)
			kind = transport.CancelYes
		}
		answer := p.Packet(kind, h.Src)
		answer.SrqID = h.SrqID
		p.Machine.Control(&p.peer, answer)
	default:
		p.Step(h, k.payload)
	}
}

// step lets a process work once: at most so many packets, what waits for room, and what it may read. It reports whether
// it did anything.
func (p *process) step(packets int) bool {
	wire := &p.w.wire[p.Me]
	did := false
	for range packets {
		if len(*wire) == 0 {
			break
		}
		k := (*wire)[0]
		*wire = (*wire)[1:]
		if k.h.Kind == transport.Data && k.h.Len < int(k.h.MsgLen) {
			if to := p.Place(&k.h); to != nil {
				copy(to, k.payload)
				k.payload = to
			}
		}
		p.deliver(&k)
		did = true
	}
	moved := p.move()
	flushed := p.Waits() && p.Flush()
	return moved || flushed || p.Pulls() && p.Pull() || did
}

// move lets offers arrive, one in three times, and tells of those that have left.
func (p *process) move() (did bool) {
	moving, released := p.moving, p.released
	p.moving, p.released = nil, nil
	for _, o := range moving {
		did = true
		if p.w.rand != nil && p.w.rand.IntN(3) > 0 {
			p.moving = append(p.moving, o)
			continue
		}
		if other := p.w.of[1-p.Me]; !o.early {
			other.released = append(other.released, o.send)
		}
		if copy(o.into, o.bytes); o.received != 0 {
			p.Released(o.received)
		}
	}
	for _, id := range released {
		did = true
		p.Released(id)
	}
	return did
}

// Offers: some things are under way.
func (p *process) Offers(dst int32) int {
	if len(p.w.of[dst].offered) >= 3 {
		return 0
	}
	return mostOffered
}

const mostOffered = 2000

// Offer keeps what a message offers. A transport may have all of it at once.
func (p *process) Offer(h *transport.Header, payload []byte) bool {
	o := &offer{bytes: payload, send: h.SrqID}
	if p.w.rand != nil && p.w.rand.IntN(3) == 0 {
		o.bytes, o.early = slices.Clone(o.bytes), true
		p.released = append(p.released, h.SrqID)
	}
	if len(payload) == 0 || len(payload) > mostOffered || h.Len > 0 {
		p.w.tb.Errorf("%d bytes are offered, and %d sent", len(payload), h.Len)
	}
	other := p.w.of[h.Dst]
	other.offer(h, o)
	return p.put(h, nil)
}

// offer makes a packet to a process one with an offer.
func (p *process) offer(h *transport.Header, o *offer) {
	slot := 0
	for name := range p.offered {
		slot = max(slot, transport.Offer(name).Slot()+1)
	}
	h.Addr = uint64(transport.NewOffer(slot%256, int64(len(o.bytes))))
	p.offered[h.Addr] = o
}

func (p *process) Fetch(_ int32, name transport.Offer, into []byte, id uint64) {
	o := p.offered[uint64(name)]
	if into != nil && len(into) != len(o.bytes) {
		p.w.tb.Errorf("%d bytes are fetched, and %d offered", len(into), len(o.bytes))
	}
	delete(p.offered, uint64(name))
	o.into, o.received = into, id
	p.moving = append(p.moving, o)
}

// settle lets everything arrive.
func (w *world) settle() {
	for w.of[0].step(100) || w.of[1].step(100) {
	}
}

// put puts a packet on its way.
func (p *process) put(h *transport.Header, payload []byte) bool {
	wire := &p.w.wire[h.Dst]
	if len(*wire) >= p.w.room {
		return false
	}
	*wire = append(*wire, packet{*h, slices.Clone(payload)})
	if p.w.note != nil {
		p.w.note(h)
	}
	return true
}

// bytes are the next n bytes of a transfer.
func (p *process) bytes(t *Transfer, n int) []byte {
	if t.Flat {
		return t.Bytes(int64(n))
	}
	b := make([]byte, n)
	t.Cursor.Pack(b)
	return b
}

func (p *process) full(dst int32) bool { return len(p.w.wire[dst]) >= p.w.room }

func (p *process) of(t *Transfer) *request { return p.requests[t.ID-1] }

func (p *process) First(t *Transfer) bool {
	r := p.of(t)
	if p.full(t.Peer.Rank) {
		return false
	}
	h := p.Packet(transport.Data, t.Peer.Rank)
	h.Tag, h.MsgLen, h.SrqID, h.Len = r.tag, uint64(t.Total), t.ID, int(t.Total)
	p.Open(t, h, r.synchronous, p.withhold)
	if offered := t.Offered(); offered != nil {
		p.Offer(h, offered)
	} else {
		p.put(h, p.bytes(t, h.Len))
	}
	if t.Moved = int64(h.Len); h.Kind == transport.Data {
		p.Done(t)
	} else {
		p.Opened(t)
	}
	return true
}

func (p *process) Push(t *Transfer, h *transport.Header) (int64, bool) {
	if p.full(h.Dst) {
		return 0, false
	}
	h.Tag, h.SrqID = p.of(t).tag, t.ID
	n := int64(h.Len)
	whole := p.bytes(t, h.Len)
	p.put(h, whole)
	if !t.Flat || !t.Peer.Streams || p.w.rand == nil {
		return n, true
	}
	return p.w.rand.Int64N(n + 1), true // the rest is read later, and is the same
}

func (p *process) Rest(t *Transfer, payload []byte) int64 {
	return p.w.rand.Int64N(int64(len(payload)) + 1)
}

func (p *process) Control(h *transport.Header) bool { return p.put(h, nil) }

func (p *process) Find(id uint64) *Transfer {
	if id == 0 || id > uint64(len(p.requests)) {
		return nil
	}
	return &p.requests[id-1].Transfer
}

func (p *process) Done(t *Transfer) {
	if t.Ends() {
		p.of(t).done++
	}
}

func (p *process) Breach(rank int32, what string) { p.breaches = append(p.breaches, what) }

// at is n bytes of memory that some process has named; nil: there is none there.
func (w *world) at(addr uint64, n int) []byte {
	for _, b := range w.buffers {
		if len(b) > 0 {
			if from := addressAt(startOf(b)); addr >= from && addr+uint64(n) <= from+uint64(len(b)) {
				return b[addr-from:][:n]
			}
		}
	}
	return nil
}

func (w *world) fails() bool { return w.sealed > 0 && w.rand.IntN(w.sealed) == 0 }

func (p *process) CanRead(int32) bool { return p.w.reads }

func (p *process) Read(_ int32, addr uint64, dst []byte) bool {
	from := p.w.at(addr, len(dst))
	return from != nil && !p.w.fails() && copy(dst, from) == len(dst)
}

func (p *process) Write(_ int32, addr uint64, src []byte) bool {
	to := p.w.at(addr, len(src))
	return to != nil && !p.w.fails() && copy(to, src) == len(src)
}

func (p *process) Claims(rank int32, out bool, slot int) *uint64 {
	from := int(rank)
	if out {
		from = int(p.Me)
	}
	key := [3]int{from, 0, slot}
	if p.w.words[key] == nil {
		p.w.words[key] = new(uint64)
	}
	return p.w.words[key]
}

func (p *process) Busy() (crowded, waiting bool) { return false, false }

func (p *process) Now() time.Time {
	p.w.now = p.w.now.Add(p.w.tick)
	return p.w.now
}

// idle checks that nothing is left under way.
func (w *world) idle() {
	w.tb.Helper()
	for i, p := range w.of {
		if wrong := p.Idle(&p.peer); wrong != "" || p.queued != 0 || len(w.wire[i]) > 0 || p.peer.Pressure.Due() != 0 {
			w.tb.Errorf("process %d: %s; %d peers queued, %d packets on their way, %d due", i, wrong, p.queued,
				len(w.wire[i]), p.peer.Pressure.Due())
		}
		if n := len(p.moving) + len(p.released); n > 0 || len(p.offered) > 0 {
			w.tb.Errorf("process %d: %d offers are not over, or some not fetched", i, n)
		}
		if len(p.breaches) > 0 {
			w.tb.Errorf("process %d: %q", i, p.breaches)
		}
	}
}

func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8*13 + seed)
	}
	return b
}
