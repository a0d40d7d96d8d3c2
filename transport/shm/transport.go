package shm

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/libimpi/libimpi/transport"
)

// Sizes chosen by measurement (bench_test.go).
const (
	maxEager  = 16 << 10
	maxPacket = 64 << 10

	batch = 32 // records taken from one ring before the next has its turn
)

// Transport carries packets between this rank and the others of its segment. The engine's lock serialises all
// calls but those of the Segment.
type Transport struct {
	seg    *Segment
	rx     transport.Receiver
	limits transport.Limits
	ring   uint64 // bytes
	mask   uint64
	max    uint64 // largest payload

	world []int32 // by local rank, and index of a guest
	first int32   // smallest world rank here
	local []int32 // by world rank - first; -1: not here

	peers []peer // of seg
	fence uint32 // of seg's private memory

	me      int32
	links   []link   // by local rank; guests have their own
	aside   []byte   // where a piece for a distant peer is packed first
	senders []int32  // local ranks whose rings to us are open, in the order they appeared
	turn    int      // where the next Poll begins
	inbound []uint64 // of the segment: whose rings to us are open
	seen    []uint64 // of them
	mourn   int      // links that are broken and not yet reported, and guests in leaving
	deaths  uint32   // that have been looked into
	inside  bool
	leaving []*guest         // that have been parted with meanwhile
	hdr     transport.Header // the packet being delivered
	copier  copier

	guests atomic.Pointer[map[int32]*guest] // by number
	looked uint64                           // when we looked for their deaths, and with whom to begin next
	look   int
	void   uint64 // claims of nobody's messages
	noRead bool
}

var (
	_ transport.Transport = (*Transport)(nil)
	_ transport.Reader    = (*Transport)(nil)
	_ transport.Writer    = (*Transport)(nil)
	_ transport.Holder    = (*Transport)(nil)
	_ transport.Spinner   = (*Transport)(nil)
	_ transport.Examiner  = (*Transport)(nil)
	_ transport.Loop      = (*Transport)(nil)
	_ transport.Bell      = (*Segment)(nil)
	_ transport.Attention = (*Segment)(nil)
	_ transport.Boards    = (*Segment)(nil)
	_ transport.Memory    = (*Segment)(nil)
)

// link is what Go alone knows of a peer.
type link struct {
	err      error
	reported bool
	readable int8 // of the peer's memory: 0 not tried yet, 1 yes, -1 no
	pid      int
}

// Config says how to make a Transport.
type Config struct {
	Segment  *Segment
	World    []int32 // world rank of each local rank; all different, not negative
	Receiver transport.Receiver
	NoRead   bool // never read other processes' memory: Read answers false
}

// New makes the transport of a rank to the others in its segment.
func New(c Config) (*Transport, error) {
	s := c.Segment
	t := &Transport{seg: s, rx: c.Receiver, ring: uint64(s.ringBytes), mask: uint64(s.ringBytes - 1),
		max: uint64(maxPayload(s.ringBytes)), world: slices.Clip(c.World), peers: s.peers, fence: s.priv.fence,
		links: make([]link, s.n), senders: make([]int32, 0, s.n)}
	t.limits = transport.Limits{Eager: min(maxEager, int(t.max)), Packet: min(maxPacket, int(t.max))}
	t.inbound = s.inbound(s.rank)
	t.seen = make([]uint64, len(t.inbound))
	if err := t.tabulate(); err != nil {
		return nil, err
	}
	t.me = t.world[s.rank]
	if t.noRead = c.NoRead; t.noRead {
		for i := range t.links {
			t.links[i].readable = -1
		}
	}
	return t, nil
}

// tabulate inverts the table of world ranks. They are neighbors as a rule, so that the inverse is small.
func (t *Transport) tabulate() error {
	if len(t.world) != t.seg.n {
		return fmt.Errorf("shm: world ranks of %d processes for a segment of %d", len(t.world), t.seg.n)
	}
	lo, hi := t.world[0], t.world[0]
	for _, w := range t.world {
		lo, hi = min(lo, w), max(hi, w)
	}
	if lo < 0 {
		return fmt.Errorf("shm: world rank %d", lo)
	}
	t.first, t.local = lo, make([]int32, int(hi)-int(lo)+1)
	for i := range t.local {
		t.local[i] = -1
	}
	for i, w := range t.world {
		if t.local[w-lo] >= 0 {
			return fmt.Errorf("shm: world rank %d twice in one segment", w)
		}
		t.local[w-lo] = int32(i)
	}
	return nil
}

// Local is the local rank of a world rank, the index of a guest by its number, and -1 for all others. Any thread may
// call it.
func (t *Transport) Local(peer int32) int {
	if i := uint64(int64(peer) - int64(t.first)); i < uint64(len(t.local)) && t.local[i] >= 0 {
		return int(t.local[i])
	}
	return t.indexOf(peer)
}

// link is what Go knows of a peer that has an index.
func (t *Transport) link(i int) *link {
	if i < len(t.links) {
		return &t.links[i]
	}
	return &t.seg.guests[i-len(t.links)].link
}

// name is a peer in the text of an error.
func (t *Transport) name(i int) string {
	if i < len(t.links) {
		return fmt.Sprintf("world rank %d", t.world[i])
	}
	g := t.seg.guests[i-len(t.links)]
	return fmt.Sprintf("local rank %d of another job, number %d here", g.rank, g.number)
}

// Limits of this transport: they depend on the number of local ranks only, so all ranks have the same.
func (t *Transport) Limits() transport.Limits { return t.limits }

// CheckPeers looks for peers whose processes have ended without Close, delivers what they still sent, and
// reports them by Lost. It is for a Wait that has timed out, and costs nothing as a rule: the ranks of a segment take
// turns to look after each other. It reports whether it delivered or reported anything.
func (t *Transport) CheckPeers() bool {
	if t.inside {
		return false
	}
	did := t.checkRanks()
	did = t.checkGuests() || did
	return t.report() || did
}

// checkRanks looks for those of the segment, and reports whether it has delivered anything.
func (t *Transport) checkRanks() bool {
	if t.seg.takeLook() {
		t.seg.look()
	}
	deaths := t.seg.deaths()
	if deaths == t.deaths {
		return false
	}
	t.deaths = deaths
	did := false
	for i := range t.links {
		if i == t.seg.rank || t.links[i].err != nil || !t.seg.foundDead(i) {
			continue
		}
		t.discover()
		for t.drain(i) {
			did = true
		}
		t.fail(i, fmt.Errorf("shm: process %d of world rank %d on this machine has ended",
			atomic.LoadUint32(&t.seg.control(i).pid), t.world[i]))
	}
	return did
}

// fail breaks the link to a peer. It is reported by the next Poll: Send must not call the Receiver.
func (t *Transport) fail(i int, err error) {
	l := t.link(i)
	if l.err != nil {
		return
	}
	l.err = err
	t.mourn++
	if i >= len(t.links) {
		t.seg.leave(t.seg.guests[i-len(t.links)], leftBroken)
	}
	t.shut(i)
}

// shut closes the rings to and from a peer.
func (t *Transport) shut(i int) {
	p := &t.seg.peers[i]
	p.out.ring = nil
	t.seg.closeIn(&p.in)
	for k, s := range t.senders {
		if int(s) == i {
			t.senders = append(t.senders[:k], t.senders[k+1:]...)
			break
		}
	}
}

func (t *Transport) report() bool {
	if t.mourn == 0 || t.inside {
		return false
	}
	did := false
	t.inside = true
	for i := range t.links {
		did = t.reportOne(i, &t.links[i]) || did
	}
	for _, g := range t.seg.guests {
		did = g != nil && t.reportOne(g.at, &g.link) || did
	}
	t.inside = false
	for _, g := range t.leaving {
		t.mourn--
		t.seg.dismiss(g)
	}
	t.leaving = t.leaving[:0]
	return did
}

func (t *Transport) reportOne(i int, l *link) bool {
	if l.err == nil || l.reported {
		return false
	}
	l.reported = true
	t.mourn--
	t.rx.Lost(t.world[i], l.err)
	return true
}
