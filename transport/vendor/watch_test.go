package vendor

import (
	"sync"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// Whoever sleeps is woken: the watcher has the engine poll for as long as anybody does.
func TestTheWatcherPollsWhileSomebodySleepsAndNotLonger(t *testing.T) {
	w := newWorld(2, 1<<30, 0)
	var rx [2]sink
	a := make1(t, w, 0, &rx[0], nil)
	woken, heard := make(chan bool), make(chan bool, 1)
	var mu sync.Mutex // the engine's
	var b *Transport
	b = make1(t, w, 1, &rx[1], func() {
		select {
		case woken <- true:
		case <-b.watch.ended:
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if b.Poll() {
			heard <- true
		}
	})
	b.Arm()
	for range 3 { // in vain
		<-woken
	}
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 1, Len: 1, MsgLen: 1}
	a.Send(&h, []byte("x"))
	for done := false; !done; {
		select {
		case <-woken:
		case done = <-heard:
		}
	}
	<-woken // the thread may sleep still
	b.Rest()
	for runs := true; runs; {
		select {
		case <-woken:
		default:
			b.watch.mu.Lock()
			runs = b.watch.runs
			b.watch.mu.Unlock()
		}
	}
	b.Arm()
	<-woken
	mu.Lock()
	b.Abort()
	mu.Unlock()
	b.Arm()
	b.watch.mu.Lock()
	defer b.watch.mu.Unlock()
	if !b.watch.over {
		t.Error("the watcher goes on after the end")
	}
}

// A library sends what it could not send at once when it is called, so it is, though nobody waits, and not longer.
func TestTheWatcherPollsWhileTheLibraryHasNotSentAll(t *testing.T) {
	w := newWorld(2, 0, 3)
	var mu sync.Mutex // the engine's
	var rx sink
	var a *Transport
	woken := make(chan bool)
	a = make1(t, w, 0, &sink{}, func() {
		mu.Lock()
		a.Poll()
		mu.Unlock()
		select {
		case woken <- true:
		case <-a.watch.ended:
		}
	})
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		a.Abort()
	}()
	b := make1(t, w, 1, &rx, nil)
	mu.Lock()
	fill(a, 1)
	mu.Unlock()
	<-woken
	a.Rest() // nobody waits
	for range 3 {
		<-woken
	}
	for rx.packets < window {
		b.Poll()
	}
	for runs := true; runs; {
		select {
		case <-woken:
		default:
			a.watch.mu.Lock()
			runs = a.watch.runs
			a.watch.mu.Unlock()
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(a.sending) > 0 {
		t.Error("nobody looks after what has not been sent")
	}
}

func TestANapIsAFractionOfTheTimeForWhichSomethingIsAwaited(t *testing.T) {
	for waited, most := range map[time.Duration]time.Duration{0: shortNap, 80 * time.Millisecond: 10 * time.Millisecond,
		time.Second: longNap} {
		w := watch{since: time.Now().Add(-waited), waits: true}
		if nap, ok := w.next(); !ok || nap < most/2 || nap > longNap || waited == 0 && nap > time.Millisecond {
			t.Errorf("after %v: %v, %v", waited, nap, ok)
		}
	}
	for _, w := range []*watch{{since: time.Now(), waits: true, left: true, over: true}, {since: time.Now()}} {
		if _, ok := w.next(); ok {
			t.Error("the watcher goes on where nobody waits")
		}
	}
}

// What waits to be sent is mostly sent by the next poll of a thread, which needs the core.
func TestWhatIsOnlyToBeSentIsLookedAfterMoreSeldom(t *testing.T) {
	w := watch{since: time.Now(), left: true}
	if nap, ok := w.next(); !ok || nap < timerNap {
		t.Errorf("%v, %v", nap, ok)
	}
}

// A short nap is the kernel's, and ends by itself; a new wait cuts a long one short.
func TestANewWaitEndsALongNap(t *testing.T) {
	w := watch{kick: make(chan struct{}, 1)}
	timer := time.NewTimer(time.Hour)
	w.kick <- struct{}{}
	if !w.sleep(shortNap, timer) || len(w.kick) != 1 {
		t.Error("a short nap ends by a kick")
	}
	if w.sleep(time.Hour, timer) {
		t.Error("a long nap was not cut short")
	}
}
