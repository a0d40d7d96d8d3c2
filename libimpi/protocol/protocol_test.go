package protocol

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/transport"
)

// TestRandomMessagesArrive sends messages of all kinds in both directions, steps the two processes in random order with
// little room, and looks at what has come.
func TestRandomMessagesArrive(t *testing.T) {
	for name, c := range map[string]conditions{
		"machine":         {reads: true},
		"machine, sealed": {reads: true, sealed: 3},
		"machine-no-read": {},
		"clients":         {elsewhere: true},
		"bare":            {elsewhere: true, bare: true},
		"vendor":          {elsewhere: true, bare: true, offers: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				c.rand, c.room = rand.New(rand.NewPCG(seed, 0)), 1+int(seed%7)
				play(newWorld(t, c))
			}
		})
	}
}

// exchanged is a message of such a test.
type exchanged struct {
	send, recv *request
	want, in   []byte
	cancelled  bool
}

func play(w *world) {
	w.tb.Helper()
	w.tick = 10 * time.Microsecond
	var all []*exchanged
	for tag := range int32(12) {
		all = append(all, w.randomMessage(tag))
		w.randomSteps(3)
		if x := all[w.rand.IntN(len(all))]; w.rand.IntN(6) == 0 && x.send.done == 0 && !x.send.Cancelling() && !x.cancelled {
			x.cancelled = w.of[x.send.Peer.Rank^1].Machine.Cancel(&x.send.Transfer)
		}
	}
	for range 20000 {
		if w.randomSteps(10); w.over(all) {
			break
		}
	}
	w.settle()
	for tag, x := range all {
		if dropped := x.cancelled || x.send.Cancelled; dropped == (x.recv.done == 1) || x.cancelled != (x.send.done == 0) {
			w.tb.Fatalf("message %d of %d bytes: dropped %v, send done %d times, receive %d times", tag, len(x.want), dropped,
				x.send.done, x.recv.done)
		} else if !dropped && !bytes.Equal(x.in, x.want[:len(x.in)]) {
			w.tb.Fatalf("message %d of %d bytes into %d: wrong data", tag, len(x.want), len(x.in))
		}
	}
	w.idle()
}

// randomMessage starts a message and its receive, in random order.
func (w *world) randomMessage(tag int32) *exchanged {
	from := w.rand.IntN(2)
	n := []int{0, 1, 100, 256, 257, 1000, 1025, 5000, 40000, 300000}[w.rand.IntN(10)]
	x := &exchanged{want: pattern(n, int(tag)), in: make([]byte, max(0, n-w.rand.IntN(2)*w.rand.IntN(n/2+1)))}
	data, count, typ := x.want, int64(n), byteT
	if w.rand.IntN(3) == 0 && n%100 == 0 && n > 0 { // rows of 100 bytes with gaps of as many
		rows, err := datatype.Vector(int64(n/100), 100, 200, byteT)
		must(w.tb, err)
		rows.Commit()
		data = make([]byte, 2*n)
		for at := 0; at < n; at += 100 {
			copy(data[2*at:], x.want[at:at+100])
		}
		count, typ = 1, rows
	}
	send := func() { x.send = w.of[from].send(tag, data, count, typ, w.rand.IntN(3) == 0) }
	recv := func() { x.recv = w.of[1-from].receive(tag, x.in); x.recv.Written = w.rand.IntN(3) == 0 }
	if w.of[from].withhold = w.rand.IntN(5) == 0; w.rand.IntN(2) == 0 {
		send()
		w.randomSteps(5)
		recv()
	} else {
		recv()
		send()
	}
	return x
}

func (w *world) randomSteps(n int) {
	for range n {
		w.of[w.rand.IntN(2)].step(w.rand.IntN(3))
	}
}

// over reports whether all messages are.
func (w *world) over(all []*exchanged) bool {
	for _, x := range all {
		if dropped := x.cancelled || x.send.Cancelled; x.send.done == 0 && !x.cancelled || x.recv.done == 0 && !dropped {
			return false
		}
	}
	return true
}

// TestSendsBeforeTheirFirstPacketAreTakenBack fills the room first.
func TestSendsBeforeTheirFirstPacketAreTakenBack(t *testing.T) {
	w := newWorld(t, conditions{room: 1})
	p := w.of[0]
	first := p.send(1, pattern(10, 1), 10, byteT, false)
	second := p.send(2, pattern(10, 1), 10, byteT, false)
	if first.done != 1 || second.done != 0 || !p.Machine.Cancel(&second.Transfer) || p.Machine.Cancel(&second.Transfer) {
		t.Error("the second send is not taken back, once")
	}
	if w.of[1].receive(1, make([]byte, 10)); !w.of[1].step(1) {
		t.Error("the first message does not come")
	}
	w.settle()
	w.idle()
}

// TestWhatIsDroppedIsGone drops messages at several points.
func TestWhatIsDroppedIsGone(t *testing.T) {
	for _, c := range []conditions{{reads: true, room: 4}, {room: 4}, {elsewhere: true, room: 4},
		{elsewhere: true, offers: true, room: 4}} {
		for steps := range 6 {
			w := newWorld(t, c)
			send := w.of[0].send(1, pattern(300000, 1), 300000, byteT, false)
			recv := w.of[1].receive(1, make([]byte, 300000))
			for i := range steps {
				w.of[(i+1)%2].step(1)
			}
			w.of[0].Drop(&send.Transfer)
			w.of[1].Drop(&recv.Transfer)
			for _, p := range w.of {
				p.peer.DropControls()
				p.Flush()
				if wrong := p.Idle(); wrong != "" || p.queued != 0 || send.Expects() || recv.Expects() {
					t.Errorf("%+v after %d steps: %s, %d peers queued", c, steps, wrong, p.queued)
				}
			}
		}
	}
}

// TestPacketsThatAreNotDueAreBreaches hands each kind of packet to a process that expects none.
func TestPacketsThatAreNotDueAreBreaches(t *testing.T) {
	for _, kind := range []transport.Kind{transport.Data, transport.SyncAck, transport.Taken, transport.Given,
		transport.CancelYes, transport.CancelNo} {
		w := newWorld(t, conditions{reads: true, room: 4})
		p := w.of[0]
		done := p.send(1, pattern(10, 1), 10, byteT, false)
		posted := p.receive(2, make([]byte, 10))
		for _, id := range []uint64{0, done.ID, posted.ID, 9} {
			p.breaches = nil
			p.Step(&transport.Header{Kind: kind, Src: 1, SrqID: id, DrqID: id, MsgLen: 4}, nil)
			if len(p.breaches) != 1 || done.done != 1 || posted.done != 0 {
				t.Errorf("kind %d about request %d: %q", kind, id, p.breaches)
			}
		}
	}
}

// FuzzStep hands a process that has messages under way whatever packets a hostile one may send: it may find them
// breaches, but completes nothing twice, and stores nothing outside its buffers.
func FuzzStep(f *testing.F) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		var script []byte
		for range 200 {
			script = append(script, byte(r.IntN(256)))
		}
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, c := range []conditions{{reads: true, room: 4}, {elsewhere: true, room: 4},
			{elsewhere: true, offers: true, room: 4}} {
			hostile(t, c, bytes.NewReader(script))
		}
	})
}

// forge makes a packet one that a transport with offers delivers, and perhaps an offer.
func (p *process) forge(h *transport.Header) {
	h.Addr = 0
	if h.Kind == transport.DataSync && h.MsgLen > 0 && h.Len == 0 {
		p.offer(h, &offer{bytes: make([]byte, min(h.MsgLen, 5000)), early: true})
	}
}

func hostile(t *testing.T, c conditions, script *bytes.Reader) {
	c.rand = rand.New(rand.NewPCG(uint64(script.Len()), 2))
	w := newWorld(t, c)
	p := w.of[0]
	next := func(n int) int {
		b, _ := script.ReadByte()
		return int(b) % n
	}
	var all []*request
	var guarded [][]byte
	for tag := range int32(4) {
		all = append(all, p.send(tag, pattern(100000, 1), 100000, byteT, true))
		room := make([]byte, 100000+64)
		guarded = append(guarded, room)
		all = append(all, p.receive(tag, room[:100000]))
	}
	for script.Len() > 0 && len(p.breaches) == 0 {
		h := transport.Header{Kind: []transport.Kind{transport.Data, transport.DataSync, transport.SyncAck, transport.Taken,
			transport.Given, transport.CancelYes, transport.CancelNo, transport.Cancel}[next(8)], Src: 1,
			Tag: int32(next(6)), SrqID: uint64(next(10)), DrqID: uint64(next(10)), MsgLen: uint64(next(8)) * 30000}
		if next(2) == 0 {
			h.Addr = addressAt(startOf(guarded[next(4)]))
		}
		if h.Tag == 5 {
			h.Tag = int32(next(8))<<8 | int32(next(8))
		}
		if h.Kind <= transport.DataSync {
			h.Len = min(next(5)*256, int(h.MsgLen))
		}
		if c.offers {
			p.forge(&h)
		}
		for _, word := range w.words {
			*word ^= uint64(next(256)) << (8 * next(8))
		}
		p.deliver(&packet{h, make([]byte, h.Len)})
		w.wire[1] = nil // it reads all that it gets
		p.step(0)
	}
	for _, r := range all {
		if r.done > 1 || r.Moved > max(r.Total, r.Length) {
			t.Fatalf("a message is done %d times, with %d of %d bytes moved", r.done, r.Moved, r.Total)
		}
	}
	for _, room := range guarded {
		if !bytes.Equal(room[100000:], make([]byte, 64)) {
			t.Fatal("bytes behind a buffer were written")
		}
	}
}
