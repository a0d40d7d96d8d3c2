package tcp

import (
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// busy lets a program poll for packets until the socket that they come on stands apart.
func busy(t *testing.T, from, to *engine) {
	t.Helper()
	for end := time.Now().Add(patience); to.host.watch.apart.Load() < 0; {
		from.put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
		to.mu.Lock()
		to.host.Poll()
		to.mu.Unlock()
		if time.Now().After(end) {
			t.Fatal("the socket of a busy link stays in the watcher's epoll")
		}
	}
}

// A thread that sleeps is woken by a packet of a link that was busy before.
func TestASocketThatStandsApartIsBackBeforeASleep(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	slow(es...)
	e := es[0]
	count := 0
	e.on = func(*transport.Header, []byte) { count++ }
	for range 50 {
		busy(t, es[1], e)
		goal, done := 0, make(chan bool)
		e.mu.Lock()
		for e.host.Poll() {
		}
		goal = count + 1
		e.mu.Unlock()
		go func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.sleepUntil(func() bool { return count >= goal })
			close(done)
		}()
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
		select {
		case <-done:
		case <-time.After(patience):
			t.Fatal("a wake-up was lost")
		}
	}
}

// A program that was busy goes off to compute without a word: what comes then is noticed all the same.
func TestASocketThatStandsApartIsWatchedWhenThePollingEnds(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	busy(t, es[1], es[0])
	before := func() int {
		es[0].mu.Lock()
		defer es[0].mu.Unlock()
		return len(es[0].got)
	}
	n := before() + 100
	for range 100 {
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
	}
	for end := time.Now().Add(patience); before() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d packets noticed", before(), n)
		}
	}
}

// Nor are other links forgotten while one is busy.
func TestABusyLinkKeepsNoOtherWaiting(t *testing.T) {
	es := connect(t, layout{{1}, {1}, {1}}, nil, Options{})
	e := es[0]
	slow(e)
	others := 0
	e.on = func(h *transport.Header, _ []byte) {
		if h.Src == 2 {
			others++
		}
	}
	busy(t, es[1], e)
	es[2].put(t, transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "y")
	for end := time.Now().Add(patience); ; {
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
		e.mu.Lock()
		e.host.Poll()
		n := others
		e.mu.Unlock()
		if n == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the other link is never read")
		}
	}
}

// A socket that stands apart can fill, and tells when it has room again.
func TestASocketThatStandsApartTellsOfRoom(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { j.AckMark, j.HiWater = 1<<20, 1<<20 }, Options{SendBuffer: 1})
	slow(e)
	for end := time.Now().Add(patience); e.host.watch.apart.Load() < 0; {
		f.send(transport.Header{Kind: transport.Data, Src: 2, Dst: 0}, "x")
		e.mu.Lock()
		e.host.Poll()
		e.mu.Unlock()
		if time.Now().After(end) {
			t.Fatal("the socket of a busy link stays in the watcher's epoll")
		}
	}
	body := make([]byte, 65536)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Len: len(body), MsgLen: uint64(len(body))}
	for e.try(h, string(body)) {
	}
	if e.host.watch.apart.Load() >= 0 {
		t.Error("nobody asks for room")
	}
	go func() {
		b := make([]byte, 1<<20)
		for {
			if _, err := f.c.Read(b); err != nil {
				return
			}
		}
	}()
	done := make(chan bool)
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.sleepUntil(func() bool { return e.host.Send(&h, body) })
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("no room, for ever")
	}
}
