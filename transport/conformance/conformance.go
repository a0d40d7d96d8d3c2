// Package conformance is what every transport must pass: the contract of package transport as tests. The tests of a
// transport call Run with a function that makes a small world of it.
//
// The suite works all processes of a world from one goroutine, as their engines would: it sends, polls, and looks at
// what their receivers have got.
package conformance

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// World is some processes that a transport connects.
type World struct {
	Transports []transport.Transport // by world rank; nil: a process that the suite does not work
	Linked     func(a, b int32) bool // whether it connects two of them; nil: all
	Victim     int32                 // a process that Kill ends as if it had died
	Kill       func()
	Traitor    int32             // a process that sends what it must not
	Treason    map[string]func() // to process 0: ways to do so
	Together   bool              // a loss is the end for all
	Collective bool              // each is a transport.Collective, which adds numbers of 32 bits
	Between    func()            // lets other parts of the world go on; nil: they do so by themselves
}

// Make makes a world that delivers to the given receivers, one for each process, and ends it with the test. It has at
// least three processes, of which 0 is linked to all others it works.
type Make func(t *testing.T, rx []*Receiver) *World

// Processes is how many receivers Make gets.
const Processes = 3

// patience bounds the wait for what must come.
const patience = time.Minute

// Receiver is a process's engine: it checks what every packet must be, and keeps it.
type Receiver struct {
	rank int32
	t    *testing.T
	got  map[int32][]packet // by source
	lost map[int32]int
	into func(h *transport.Header) []byte // Place; nil: nowhere
	then func(h *transport.Header)        // called for each packet; nil: nothing
	back map[uint64]int                   // by id: calls of Released
}

type packet struct {
	h       transport.Header
	payload []byte
}

// Deliver implements transport.Receiver.
func (r *Receiver) Deliver(h *transport.Header, payload []byte) {
	switch {
	case h.Dst != r.rank, h.Len != len(payload), r.lost[h.Src] > 0, h.Kind > transport.Given,
		h.Kind == transport.ProtoAck, h.Kind == transport.Fini,
		h.Kind <= transport.DataSync && uint64(h.Len) > h.MsgLen:
		r.t.Errorf("process %d was given %+v with %d bytes", r.rank, *h, len(payload))
	}
	if r.then != nil {
		defer r.then(h)
	}
	all := r.got[h.Src]
	if n := len(all); n > 0 && continues(h) && all[n-1].h.SrqID == h.SrqID { // in pieces
		last := &all[n-1]
		last.payload = append(last.payload, payload...)
		last.h.Len += h.Len
		return
	}
	r.got[h.Src] = append(all, packet{*h, bytes.Clone(payload)})
}

func continues(h *transport.Header) bool { return h.Kind == transport.Data && uint64(h.Len) < h.MsgLen }

// Lost implements transport.Receiver.
func (r *Receiver) Lost(peer int32, err error) {
	if r.lost[peer]++; r.lost[peer] > 1 || err == nil {
		r.t.Errorf("process %d has lost %d for the %d. time: %v", r.rank, peer, r.lost[peer], err)
	}
}

// Place implements transport.Placer.
func (r *Receiver) Place(h *transport.Header) []byte {
	if r.into == nil {
		return nil
	}
	return r.into(h)
}

// Released implements transport.Releaser.
func (r *Receiver) Released(id uint64) { r.back[id]++ }

// Run runs the suite.
func Run(t *testing.T, make Make) {
	for name, test := range map[string]func(s *suite){
		"packets of each pair arrive in order, and as they were sent":  (*suite).order,
		"where there is no room nothing has been done, and comes room": (*suite).noRoom,
		"a packer is called for all of a payload, or not at all":       (*suite).packers,
		"long messages go in continuations, whole and in order":        (*suite).long,
		"the rest of a continuation comes before all else":             (*suite).rest,
		"what is offered goes when it is fetched, to where it belongs": (*suite).offers,
		"a loss is reported once, and disturbs nobody else":            (*suite).loss,
		"who takes a packet may send, and poll in vain":                (*suite).nested,
		"collective operations are over when they can be, and once":    (*suite).together,
	} {
		t.Run(name, func(t *testing.T) { test(begin(t, make)) })
	}
	var names []string
	t.Run("who breaks the rules is lost", func(t *testing.T) {
		for name := range begin(t, make).Treason {
			names = append(names, name)
		}
	})
	for _, name := range names {
		t.Run("who breaks the rules is lost: "+name, func(t *testing.T) { begin(t, make).treason(name) })
	}
}

// suite is a world under test.
type suite struct {
	*World
	t   *testing.T
	rx  []*Receiver
	rng *rand.Rand
}

func begin(t *testing.T, make Make) *suite {
	s := &suite{t: t, rng: rand.New(rand.NewPCG(1, 2))}
	for i := range int32(Processes) {
		s.rx = append(s.rx, &Receiver{rank: i, t: t, got: map[int32][]packet{}, lost: map[int32]int{},
			back: map[uint64]int{}})
	}
	s.World = make(t, s.rx)
	return s
}

// linked reports whether the suite can send from a to b.
func (s *suite) linked(a, b int32) bool {
	return a != b && s.Transports[a] != nil && s.Transports[b] != nil && (s.Linked == nil || s.Linked(a, b))
}

// pairs are all that are linked.
func (s *suite) pairs() (all [][2]int32) {
	for a := range int32(Processes) {
		for b := range int32(Processes) {
			if s.linked(a, b) {
				all = append(all, [2]int32{a, b})
			}
		}
	}
	return all
}

// step polls each process but those given.
func (s *suite) step(but ...int32) {
	for i, tr := range s.Transports {
		if tr == nil || len(but) > 0 && int32(i) == but[0] {
			continue
		}
		tr.Poll()
		if x, ok := tr.(transport.Examiner); ok {
			x.CheckPeers()
		}
	}
	if s.Between != nil {
		s.Between()
	}
	runtime.Gosched()
}

// until polls until cond holds.
func (s *suite) until(what string, cond func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); !cond(); s.step() {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// packet makes the n-th packet of a pair, of one of the kinds that travel everywhere. What identifies it is its request
// id, which all of them have.
func (s *suite) packet(a, b int32, n, size int) packet {
	h := transport.Header{Src: a, Dst: b, SrqID: uint64(n)}
	most := s.Transports[a].Limits().Packet
	switch kind := s.rng.IntN(8); kind {
	case 0, 1, 2: // a whole message
		h.Kind, h.Tag, h.CID, h.LSRank = transport.Data, int32(s.rng.Uint32()>>1), s.rng.Uint64()>>1, a
		h.Len = min(size, most)
		h.MsgLen = uint64(h.Len)
	case 3:
		h.Kind, h.Tag, h.CID, h.LSRank = transport.DataSync, int32(s.rng.Uint32()>>1), s.rng.Uint64()>>1, a
		h.Len = min(size, most)
		h.MsgLen = uint64(h.Len) + s.rng.Uint64()>>2
	case 4: // a continuation
		h.Kind, h.DrqID = transport.Data, s.rng.Uint64()
		h.Len = min(size+1, most)
		h.MsgLen = uint64(h.Len) + 1 + s.rng.Uint64()>>2
	case 5:
		h.Kind, h.DrqID = transport.SyncAck, s.rng.Uint64()
	default:
		h.Kind = []transport.Kind{transport.Cancel, transport.CancelYes, transport.CancelNo}[n%3]
	}
	p := packet{h, make([]byte, h.Len)}
	for i := range p.payload {
		p.payload[i] = byte(n*31 + i*7 + int(a)*3 + int(b))
	}
	return p
}

// pieces packs a payload, and counts the calls.
type pieces struct {
	rest  []byte
	calls int
}

func (p *pieces) Pack(dst []byte) {
	p.calls++
	p.rest = p.rest[copy(dst, p.rest):]
}

// send sends a packet in one of two ways.
func (s *suite) send(p *packet) bool {
	tr := s.Transports[p.h.Src]
	if s.rng.IntN(2) == 0 {
		return tr.Send(&p.h, p.payload)
	}
	from := pieces{rest: p.payload}
	ok := tr.SendFrom(&p.h, &from)
	if packed := len(p.payload) - len(from.rest); ok && packed != p.h.Len || !ok && from.calls > 0 {
		s.t.Errorf("SendFrom answers %v and has packed %d of %d bytes in %d calls", ok, packed, p.h.Len, from.calls)
	}
	return ok
}

// mustSend sends a packet as soon as there is room.
func (s *suite) mustSend(p packet) {
	s.t.Helper()
	s.until("room", func() bool { return s.send(&p) })
}

// want checks what has come from a to b.
func (s *suite) want(a, b int32, sent []packet) {
	s.t.Helper()
	got := s.rx[b].got[a]
	for i := range min(len(got), len(sent)) {
		g, w := got[i].h, sent[i].h
		if w.Kind > transport.DataSync { // other packets have no more than this
			g = transport.Header{Kind: g.Kind, Src: g.Src, Dst: g.Dst, SrqID: g.SrqID, DrqID: g.DrqID, Len: g.Len}
			if w.Kind != transport.SyncAck {
				g.DrqID = w.DrqID
			}
		} else if continues(&w) {
			g.Tag, g.CID, g.LSRank = w.Tag, w.CID, w.LSRank
		}
		g.Seq, g.Count, g.Dtype = 0, 0, 0
		if g != w || !bytes.Equal(got[i].payload, sent[i].payload) {
			s.t.Fatalf("packet %d from %d to %d is %+v with %d bytes, was sent as %+v", i, a, b, g, len(got[i].payload), w)
		}
	}
	if len(got) != len(sent) {
		s.t.Fatalf("%d packets from %d to %d, %d were sent", len(got), a, b, len(sent))
	}
}

func (s *suite) order() {
	sent := map[[2]int32][]packet{}
	all := s.pairs()
	for range 600 {
		pair := all[s.rng.IntN(len(all))]
		n := len(sent[pair])
		p := s.packet(pair[0], pair[1], n+1, s.rng.IntN([]int{2, 60, 2000, 1 << 20}[s.rng.IntN(4)]))
		s.mustSend(p)
		sent[pair] = append(sent[pair], p)
	}
	for _, pair := range all {
		s.until(fmt.Sprint("packets of ", pair), func() bool { return s.whole(pair[0], pair[1], sent[pair]) })
		s.want(pair[0], pair[1], sent[pair])
	}
}

// whole reports whether all packets have come from a to b, and all of the last one.
func (s *suite) whole(a, b int32, sent []packet) bool {
	got := s.rx[b].got[a]
	n := len(sent)
	return n == 0 || len(got) > n || len(got) == n && len(got[n-1].payload) >= len(sent[n-1].payload)
}

// tooMany is more packets than any transport takes without a receiver.
const tooMany = 1 << 20

func (s *suite) noRoom() {
	for _, pair := range s.pairs() {
		var sent []packet
		refused := 0
		for n := 0; refused < 3; {
			if n > tooMany {
				s.t.Fatalf("%d packets, and still there is room", n)
			}
			p := s.packet(pair[0], pair[1], n+1, 500)
			if !s.send(&p) {
				refused++
				continue
			}
			sent = append(sent, p)
			n++
		}
		p := s.packet(pair[0], pair[1], len(sent)+1, 100)
		s.mustSend(p)
		sent = append(sent, p)
		s.until("what was sent", func() bool { return s.whole(pair[0], pair[1], sent) })
		for range 20 {
			s.step()
		}
		s.want(pair[0], pair[1], sent)
	}
}

func (s *suite) packers() {
	pair := s.pairs()[0]
	most := s.Transports[pair[0]].Limits().Packet
	for i, size := range []int{0, 1, 7, most / 2, most} {
		p := packet{transport.Header{Kind: transport.Data, Src: pair[0], Dst: pair[1], SrqID: uint64(i),
			Len: size, MsgLen: uint64(size)}, bytes.Repeat([]byte{byte(i)}, size)}
		from := pieces{rest: p.payload}
		s.until("room", func() bool { return s.Transports[pair[0]].SendFrom(&p.h, &from) })
		if len(from.rest) > 0 || size == 0 && from.calls > 0 {
			s.t.Errorf("%d bytes: %d are left after %d calls", size, len(from.rest), from.calls)
		}
		s.until("the packet", func() bool { return len(s.rx[pair[1]].got[pair[0]]) > i })
		if got := s.rx[pair[1]].got[pair[0]][i]; !bytes.Equal(got.payload, p.payload) {
			s.t.Errorf("%d bytes arrive otherwise", size)
		}
	}
}

// A long message has so many bytes, which is more than any buffer, but not more than so many packets.
const (
	longMessage = 12 << 20
	manyPackets = 4000
)

// long sends a long message in one direction and one in the other at the same time, once to memory that the receiver
// names and once not.
func (s *suite) long() {
	pair := s.pairs()[0]
	for _, placed := range []bool{false, true} {
		s.longBothWays(pair[0], pair[1], placed)
	}
}

// stream is the sender of a long message.
type stream struct {
	s        *suite
	a, b     int32
	message  []byte
	at, owed int
	longest  int
	streamer transport.Streamer
}

func (s *suite) stream(a, b int32, message []byte) *stream {
	x := &stream{s: s, a: a, b: b, message: message, longest: s.Transports[a].Limits().Packet}
	if x.streamer, _ = s.Transports[a].(transport.Streamer); x.streamer != nil {
		x.longest = max(x.longest, x.streamer.Stream(b))
	}
	return x
}

// next sends what there is room for, and reports whether all has left.
func (x *stream) next() bool {
	if x.owed > 0 {
		n := x.streamer.SendRest(x.b, x.message[x.at:x.at+x.owed])
		if n < 0 || n > x.owed {
			x.s.t.Fatalf("SendRest has taken %d of %d bytes", n, x.owed)
		}
		x.at, x.owed = x.at+n, x.owed-n
		return x.at == len(x.message)
	}
	h := transport.Header{Kind: transport.Data, Src: x.a, Dst: x.b, SrqID: 5, DrqID: 6, MsgLen: 1 << 40}
	h.Len = min(x.longest, len(x.message)-x.at)
	piece := x.message[x.at : x.at+h.Len]
	if x.streamer == nil {
		if x.s.Transports[x.a].Send(&h, piece) {
			x.at += h.Len
		}
	} else if taken, ok := x.streamer.SendLong(&h, piece); ok {
		x.at, x.owed = x.at+taken, h.Len-taken
	}
	return x.at == len(x.message)
}

func (s *suite) longBothWays(a, b int32, placed bool) {
	var out, in [2][]byte
	var streams [2]*stream
	ends := [2]int32{a, b}
	length := min(longMessage, manyPackets*min(s.stream(a, b, nil).longest, s.stream(b, a, nil).longest))
	for i := range out {
		out[i], in[i] = make([]byte, length), make([]byte, length)
		for k := range out[i] {
			out[i][k] = byte(k*k>>9 + k + i)
		}
		streams[i] = s.stream(ends[i], ends[1-i], out[i])
		at := 0
		s.rx[ends[1-i]].got = map[int32][]packet{}
		s.rx[ends[1-i]].into = nil
		if placed {
			s.rx[ends[1-i]].into = func(h *transport.Header) []byte {
				to := in[i][at : at+h.Len]
				at += h.Len
				return to
			}
		}
	}
	var left [2]bool
	s.until("long messages", func() bool {
		for i, x := range streams {
			left[i] = left[i] || x.next()
		}
		arrived := 0
		for i := range ends {
			if got := s.rx[ends[1-i]].got[ends[i]]; len(got) == 1 && len(got[0].payload) == length {
				arrived++
			}
		}
		return arrived == 2 && left[0] && left[1] // a sender may hear later that all has gone
	})
	for i := range ends {
		got := s.rx[ends[1-i]].got[ends[i]][0]
		if !bytes.Equal(got.payload, out[i]) || got.h.MsgLen != 1<<40 || got.h.DrqID != 6 {
			s.t.Errorf("a long message has changed on its way, placed: %v", placed)
		}
	}
}

// rest looks at what may be sent while a continuation has left in part.
func (s *suite) rest() {
	for _, pair := range s.pairs() {
		a, b := pair[0], pair[1]
		x := s.stream(a, b, bytes.Repeat([]byte("rest of it "), longMessage/11))
		if x.streamer == nil || x.longest <= s.Transports[a].Limits().Packet {
			return // nothing of what is sent is ever owed
		}
		for idle := 0; x.owed == 0 && x.at < len(x.message) && idle < 1000; idle++ {
			before := x.at
			if x.next(); x.at > before {
				idle = 0
			}
			s.step(b) // it does not read
		}
		if x.owed == 0 {
			continue // it takes all or nothing
		}
		other := packet{transport.Header{Kind: transport.Cancel, Src: a, Dst: b, SrqID: 99}, nil}
		if s.send(&other) {
			s.t.Fatalf("a packet is taken while %d bytes of the last one are owed", x.owed)
		}
		x.message = x.message[:x.at+x.owed]
		s.until("the rest", func() bool { return x.owed == 0 || x.next() })
		s.mustSend(other)
		s.until("what follows", func() bool { return len(s.rx[b].got[a]) == 2 })
		if got := s.rx[b].got[a]; !bytes.Equal(got[0].payload, x.message) || got[1].h.SrqID != 99 {
			s.t.Errorf("%d bytes arrived of %d", len(got[0].payload), len(x.message))
		}
	}
}

func (s *suite) loss() {
	v := s.Victim
	var sent []packet
	if s.linked(v, 0) {
		for n := range 5 {
			p := s.packet(v, 0, n+1, 200)
			s.mustSend(p)
			sent = append(sent, p)
		}
		s.until("what the victim has sent", func() bool { return s.whole(v, 0, sent) })
	}
	s.Kill()
	s.Transports[v] = nil
	s.until("the loss", func() bool { return s.rx[0].lost[v] == 1 })
	s.afterwards(v)
	if sent != nil {
		s.want(v, 0, sent)
	}
}

// afterwards looks at a world that has lost a process.
func (s *suite) afterwards(v int32) {
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: v, Len: 3, MsgLen: 3}
	if !s.Transports[0].Send(&h, []byte("for")) || !s.Transports[0].SendFrom(&h, &pieces{rest: []byte("you")}) {
		s.t.Error("a packet to a lost process is not dropped, but to be sent again")
	}
	for range 50 {
		s.step()
	}
	if s.Together {
		return
	}
	for r, n := range s.rx[0].lost {
		if r != v && n > 0 {
			s.t.Errorf("process %d is lost, too", r)
		}
	}
	for _, pair := range s.pairs() {
		if pair[0] != v && pair[1] != v {
			before := len(s.rx[pair[1]].got[pair[0]])
			s.mustSend(packet{transport.Header{Kind: transport.Cancel, Src: pair[0], Dst: pair[1], SrqID: 3}, nil})
			s.until("packets of others", func() bool { return len(s.rx[pair[1]].got[pair[0]]) > before })
		}
	}
}

func (s *suite) treason(name string) {
	s.Treason[name]()
	s.until("the loss of "+fmt.Sprint(s.Traitor), func() bool { return s.rx[0].lost[s.Traitor] == 1 })
	if n := len(s.rx[0].got[s.Traitor]); n > 0 {
		s.t.Errorf("%d packets were delivered", n)
	}
	s.Transports[s.Traitor] = nil
	s.afterwards(s.Traitor)
}

// nested answers each packet from within its delivery, and polls there.
func (s *suite) nested() {
	a, b := s.pairs()[0][0], s.pairs()[0][1]
	inside := false
	var answers, sent []packet
	s.rx[b].then = func(h *transport.Header) {
		if inside {
			s.t.Fatal("Deliver is called within Deliver")
		}
		inside = true
		s.Transports[b].Poll()
		p := packet{transport.Header{Kind: transport.SyncAck, Src: b, Dst: a, SrqID: h.SrqID, DrqID: 1}, []byte{}}
		if s.Transports[b].Send(&p.h, nil) {
			answers = append(answers, p)
		}
		inside = false
	}
	for n := range 30 {
		p := packet{transport.Header{Kind: transport.DataSync, Src: a, Dst: b, SrqID: uint64(n), Len: 8, MsgLen: 99},
			[]byte("question")}
		s.mustSend(p)
		sent = append(sent, p)
	}
	s.until("questions", func() bool { return s.whole(a, b, sent) })
	s.until("answers", func() bool { return len(s.rx[a].got[b]) == len(answers) })
	s.want(a, b, sent)
	s.want(b, a, answers)
	if len(answers) == 0 {
		s.t.Error("nothing could be sent from within Deliver")
	}
}
