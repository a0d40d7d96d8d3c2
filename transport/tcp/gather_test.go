package tcp

import (
	"fmt"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/wire"
)

// post begins the start of a send.
func (e *engine) post() {
	if e.paced {
		e.host.PostPaced()
	} else {
		e.host.Post()
	}
}

// start sends as the first step of an operation of the program's. The lock is held. It reports whether something has
// gathered.
func (e *engine) start(t testing.TB, h transport.Header, payload string) bool {
	t.Helper()
	h.Kind, h.Len, h.MsgLen = transport.Data, len(payload), uint64(len(payload))
	e.post()
	if !e.host.Send(&h, []byte(payload)) {
		t.Fatal("no room")
	}
	return e.host.Posted()
}

// starts sends n packets to process 2, with tags from on.
func (e *engine) starts(t testing.TB, from, n int) (gathered bool) {
	t.Helper()
	for tag := range n {
		gathered = e.start(t, transport.Header{Dst: 2, Tag: int32(from + tag)}, "abc")
	}
	return gathered
}

// wantTags reads n packets, with tags from on.
func (f *fake) wantTags(from, n int) {
	f.t.Helper()
	for tag := range n {
		if p := f.want(wire.PkData); int(p.Tag()) != from+tag {
			f.t.Fatalf("packet %d came as number %d", p.Tag(), from+tag)
		}
	}
}

// unhurried is a host whose bursts gather until something else than the timer sends them.
func unhurried(t testing.TB, tune func(*transport.Job), opts Options) (*engine, *fake) {
	e, f := against(t, tune, opts)
	e.host.linger, e.host.pace = 24*time.Hour, 24*time.Hour
	slow(e)
	return e, f
}

// ofBothKinds runs a test with bursts of sends that do not block, and with such of sends that do.
func ofBothKinds(t *testing.T, name string, test func(t *testing.T, paced bool)) {
	t.Run(name, func(t *testing.T) { test(t, false) })
	t.Run(name+", of sends that block", func(t *testing.T) { test(t, true) })
}

func wide(j *transport.Job) { j.AckMark, j.HiWater = 1000, 100000 }

func TestABurstLeavesTogetherButForItsFirstPackets(t *testing.T) {
	ofBothKinds(t, "a burst", testFirstPackets)
}

func testFirstPackets(t *testing.T, paced bool) {
	e, f := unhurried(t, wide, Options{})
	e.paced = paced
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.starts(t, 0, burstMin) {
		t.Error("the first packets of a burst have gathered")
	}
	f.wantTags(0, burstMin)
	if !e.starts(t, burstMin, burstMin) {
		t.Error("a long burst does not gather")
	}
	f.silent("before the program waits")
	e.host.Settle()
	f.wantTags(burstMin, burstMin)

	if e.starts(t, 0, 1) {
		t.Error("the first packet of a burst has gathered")
	}
	if !e.starts(t, 1, 1) {
		t.Error("a burst that follows a long one does not gather from its second packet on")
	}
	e.host.Settle()
	f.wantTags(0, 2)
	if e.starts(t, 0, burstMin) {
		t.Error("a burst that follows a short one gathers at once")
	}
}

// Whoever waits for each of its sends has no bursts.
func TestSendsThatAreWaitedForOneByOneDoNotGather(t *testing.T) {
	e, _ := unhurried(t, wide, Options{})
	e.mu.Lock()
	defer e.mu.Unlock()
	for range 10 * burstMin {
		if e.starts(t, 0, 1) {
			t.Fatal("one send has gathered")
		}
		e.host.Settle()
	}
	if e.host.watch.timer.Load() >= 0 {
		t.Error("a timer was needed")
	}
}

func TestWhatGathersLeavesInTime(t *testing.T) {
	const n = 2 * burstMin
	for _, tt := range []struct {
		name string
		tune func(*transport.Job)
		then func(e *engine)
		more int // packets besides the burst
	}{
		{"with Settle", wide, func(e *engine) { e.host.Settle() }, 0},
		{"with Poll", wide, func(e *engine) { e.host.Poll() }, 0},
		{"with Poll in a batch, at its end", wide, func(e *engine) {
			e.host.Cork()
			e.host.Poll()
			e.host.Uncork()
		}, 0},
		{"before a packet that does not gather", wide, func(e *engine) {
			e.host.Send(&transport.Header{Kind: transport.DataSync, Dst: 2, Tag: n}, nil)
		}, 1},
		{"before a long packet", wide, func(e *engine) {
			h := transport.Header{Dst: 2, Tag: n, Len: gatherMax + 1, MsgLen: gatherMax + 1}
			e.post()
			e.host.Send(&h, make([]byte, h.Len))
			e.host.Posted()
		}, 1},
		{"before a continuation", wide, func(e *engine) {
			h := transport.Header{Dst: 2, Tag: n, Len: 5, MsgLen: 6, DrqID: 1}
			e.host.SendLong(&h, make([]byte, h.Len))
		}, 1},
		{"with packets that are packed in place", wide, func(e *engine) {
			e.post()
			from := plain("abc")
			e.host.SendFrom(&transport.Header{Dst: 2, Tag: n, Len: 3, MsgLen: 3}, &from)
			e.host.Posted()
			e.host.Settle()
		}, 1},
		{"when the window closes", marked(n, n), func(e *engine) {
			e.post()
			e.host.Send(&transport.Header{Dst: 2}, nil)
			e.host.Posted()
		}, 0},
		{"when it is enough", wide, func(e *engine) {
			for tag := range 2*burstMax/(wire.PacketSize+4096) + 1 {
				e.post()
				e.host.Send(&transport.Header{Dst: 2, Tag: int32(n + tag), Len: 4096, MsgLen: 4096}, make([]byte, 4096))
				e.host.Posted()
			}
		}, burstMax/(wire.PacketSize+4096) + 1},
		{"when a thread is going to sleep", wide, func(e *engine) {
			e.host.Arm()
			e.host.Poll()
		}, 0},
	} {
		ofBothKinds(t, tt.name, func(t *testing.T, paced bool) {
			e, f := unhurried(t, tt.tune, Options{})
			e.paced = paced
			e.mu.Lock()
			defer e.mu.Unlock()
			if !e.starts(t, 0, n) {
				t.Fatal("the burst has not gathered")
			}
			tt.then(e)
			for tag := range n + tt.more {
				if p, _ := f.hear(); int(p.Tag()) != tag {
					t.Fatalf("packet %d came as number %d", p.Tag(), tag)
				}
			}
		})
	}
}

// No call follows the burst: the watcher sends it.
func TestABurstLeavesWhileTheProgramComputes(t *testing.T) {
	ofBothKinds(t, "a burst", testThatItLeavesByItself)
}

func testThatItLeavesByItself(t *testing.T, paced bool) {
	e, f := against(t, wide, Options{})
	e.host.pace, e.paced = 24*time.Hour, paced
	for range 20 {
		e.mu.Lock()
		e.starts(t, 0, 3*burstMin)
		e.mu.Unlock()
		f.wantTags(0, 3*burstMin)
	}
}

// A program that computes between its blocking sends has each of them leave at once.
func TestABlockingSendAfterAPauseLeavesAtOnce(t *testing.T) {
	e, f := unhurried(t, wide, Options{})
	e.paced, e.host.pace = true, -1
	e.mu.Lock()
	defer e.mu.Unlock()
	for tag := range 10 * burstMin {
		if e.starts(t, tag, 1) {
			t.Fatal("a blocking send has gathered")
		}
		f.wantTags(tag, 1)
	}
	if e.host.watch.timer.Load() >= 0 {
		t.Error("a timer was needed")
	}
}

// And so does what has gathered before it, in order.
func TestAPauseEndsABurstOfBlockingSends(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(e *engine)
	}{
		{"a pause", func(e *engine) { e.host.pace = -1 }},
		{"a long time", func(e *engine) { e.host.pacedLast -= 48 * time.Hour }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, f := unhurried(t, wide, Options{})
			e.paced = true
			e.mu.Lock()
			defer e.mu.Unlock()
			if !e.starts(t, 0, 2*burstMin) {
				t.Fatal("the burst has not gathered")
			}
			f.wantTags(0, burstMin)
			f.silent("while the burst goes on")
			tt.then(e)
			if e.starts(t, 2*burstMin, 1) {
				t.Error("something has gathered that is to leave")
			}
			f.wantTags(burstMin, burstMin+1)
		})
	}
}

// A blocking send does not prolong a burst of nonblocking ones, whose last may be long ago.
func TestABlockingSendEndsABurstOfNonblockingOnes(t *testing.T) {
	e, f := unhurried(t, wide, Options{})
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.starts(t, 0, 2*burstMin) {
		t.Fatal("the burst has not gathered")
	}
	e.paced = true
	if e.starts(t, 2*burstMin, 1) {
		t.Error("the blocking send has gathered")
	}
	f.wantTags(0, 2*burstMin+1)
}

func TestPacketsOfLongBurstsGatherLonger(t *testing.T) {
	for _, tt := range []struct{ linger, since, want time.Duration }{
		{burstTime, 0, 2 * burstTime},
		{burstTime, burstTime - 1, 2 * burstTime},
		{burstTime, burstTime, burstTime},
		{4 * burstTime, burstTime, burstTimeMax},
		{burstTimeMax, 0, burstTimeMax},
		{burstTimeMax, burstTimeMax, burstTime},
	} {
		if got := relinger(tt.linger, tt.since); got != tt.want {
			t.Errorf("%v, and nothing for %v: %v, want %v", tt.linger, tt.since, got, tt.want)
		}
	}
}

// After the timer, the program goes on with the burst.
func TestABurstThatOutlastsTheTimer(t *testing.T) {
	e, f := against(t, wide, Options{})
	slow(e)
	e.mu.Lock()
	e.host.linger = 1
	e.starts(t, 0, 2*burstMin)
	e.mu.Unlock()
	f.wantTags(0, 2*burstMin)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.host.expired.IsZero() {
		t.Fatal("the timer has run out, and nobody knows")
	}
	e.host.expired = time.Now().Add(time.Hour) // so that whatever comes now is soon
	e.starts(t, 0, burstMin)
	if e.host.linger != 2 {
		t.Errorf("packets gather for %v, want 2ns", e.host.linger)
	}
}

// The same for a host whose watcher is armed, and for one that has been polled before.
func TestABurstLeavesWhateverTheWatcherDoes(t *testing.T) {
	for _, how := range []string{"armed", "polled"} {
		t.Run(how, func(t *testing.T) {
			e, f := against(t, wide, Options{})
			slow(e)
			for range 20 {
				e.mu.Lock()
				if e.host.Poll(); how == "armed" {
					e.host.Arm()
				}
				e.starts(t, 0, 3*burstMin)
				e.mu.Unlock()
				f.wantTags(0, 3*burstMin)
			}
		})
	}
}

func TestPacketsOfABurstKeepTheirOrder(t *testing.T) {
	ofBothKinds(t, "a burst", testOrder)
}

func testOrder(t *testing.T, paced bool) {
	es := connect(t, layout{{1}, {1}}, wide, Options{SendBuffer: 1})
	es[0].paced, es[0].host.pace = paced, time.Hour
	next, wrong := 0, 0
	es[1].on = func(h *transport.Header, p []byte) {
		if int(h.Tag) != next || h.Len != size(next) {
			wrong++
		}
		next++
	}
	const n = 3000
	for tag := range n {
		h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Tag: int32(tag), Len: size(tag),
			MsgLen: uint64(size(tag))}
		payload := make([]byte, h.Len)
		es[0].until(t, "room", func() bool {
			if tag%7 > 0 {
				es[0].post()
			}
			sent := es[0].host.Send(&h, payload)
			if tag%7 > 0 {
				es[0].host.Posted()
			}
			return sent
		})
		es[1].step(func() bool { return true })
	}
	es[1].until(t, "packets", func() bool { return next == n })
	if wrong > 0 {
		t.Errorf("%d packets are out of order", wrong)
	}
}

// size is the length of a packet of TestPacketsOfABurstKeepTheirOrder.
func size(tag int) int { return []int{0, 8, 300, 5000, gatherMax, 20000}[tag*tag%6] }

// What cannot leave at once, since the other end does not read, leaves in order when it does.
func TestABurstThatTheSocketDoesNotTake(t *testing.T) {
	e, f := unhurried(t, wide, Options{SendBuffer: 1})
	e.mu.Lock()
	sent, body := 0, make([]byte, 4096)
	for ; ; sent++ {
		e.host.Post()
		ok := e.host.Send(&transport.Header{Dst: 2, Tag: int32(sent), Len: len(body), MsgLen: uint64(len(body))}, body)
		if e.host.Posted(); !ok {
			break
		}
	}
	e.mu.Unlock()
	heard := make(chan error)
	go func() {
		for tag := range sent {
			if p, _ := f.hear(); int(p.Tag()) != tag {
				heard <- fmt.Errorf("packet %d came as number %d", p.Tag(), tag)
				return
			}
		}
		heard <- nil
	}()
	var err error
	e.until(t, "the burst", func() bool {
		select {
		case err = <-heard:
			return true
		default:
			return false
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// The other end is gone when the burst leaves: that is a lost process, and what is sent from then on is dropped.
func TestABurstToAHostThatIsGone(t *testing.T) {
	for _, how := range []string{"with the program's next call", "with the timer"} {
		t.Run(how, func(t *testing.T) {
			e, f := against(t, wide, Options{})
			if how == "with the program's next call" {
				e.host.linger = 24 * time.Hour
			}
			e.mu.Lock()
			e.starts(t, 0, burstMin)
			e.mu.Unlock()
			f.wantTags(0, burstMin)
			e.mu.Lock()
			f.c.SetLinger(0)
			f.c.Close()
			e.starts(t, 0, 3*burstMin)
			e.mu.Unlock()
			e.until(t, "the loss", func() bool { return len(e.lost) == 2 })
			e.mu.Lock()
			defer e.mu.Unlock()
			if e.starts(t, 0, 3*burstMin) {
				t.Error("packets gather for a host that is lost")
			}
		})
	}
}

// FINI follows what has gathered.
func TestABurstBeforeTheEnd(t *testing.T) {
	ofBothKinds(t, "a burst", testTheEnd)
}

func testTheEnd(t *testing.T, paced bool) {
	e, f := unhurried(t, wide, Options{})
	e.paced = paced
	done := make(chan error)
	e.mu.Lock()
	e.starts(t, 0, 2*burstMin)
	go func() {
		defer e.mu.Unlock()
		done <- e.host.Finish(time.Now().Add(patience))
	}()
	f.wantTags(0, 2*burstMin)
	f.want(wire.PkFini)
	f.send(transport.Header{Kind: transport.Fini}, "")
	f.c.CloseWrite()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestABurstDoesNotAllocate(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, wide, Options{})
	slow(es...)
	a, b := es[0], es[1]
	came := 0
	b.on = func(*transport.Header, []byte) { came++ }
	payload := []byte("12345678")
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: 8, MsgLen: 8}
	const n = 4 * burstMin
	a.host.pace = time.Hour
	volley := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		for range n {
			a.post()
			a.host.Send(&h, payload)
			a.host.Posted()
		}
		a.host.Settle()
		b.mu.Lock()
		defer b.mu.Unlock()
		for came = 0; came < n; {
			b.host.Poll()
		}
		a.host.Poll()
	}
	for _, a.paced = range []bool{false, true} {
		volley()
		volley()
		if n := testing.AllocsPerRun(50, volley); n != 0 {
			t.Errorf("%v allocations a burst", n)
		}
	}
}
