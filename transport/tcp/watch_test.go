package tcp

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/libimpi/libimpi/transport"
)

// slow makes the watcher's timer so slow that it hides nothing.
func slow(es ...*engine) {
	for _, e := range es {
		e.host.watch.quietMin, e.host.watch.quietMax = 24*time.Hour, 24*time.Hour
	}
}

// A thread that polls in vain, arms and sleeps is woken by every packet, however the two race. A wake-up that
// is lost leaves both sides asleep, and the test fails at its deadline.
func TestNoWakeUpIsLost(t *testing.T) {
	const n = 5000
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	slow(es...)
	finished := make(chan int, 2)
	for me, e := range es {
		e.on = func(*transport.Header, []byte) { e.got = append(e.got[:0], received{}) }
		go func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			rng := rand.New(rand.NewPCG(1, uint64(me)))
			ping := transport.Header{Kind: transport.Data, Src: int32(me), Dst: int32(1 - me)}
			for i := range 2 * n {
				if i%2 == me {
					e.sleepUntil(func() bool { return e.host.Send(&ping, nil) })
					continue
				}
				for range rng.IntN(4) { // so that arming meets arrivals at every distance
					runtime.Gosched()
				}
				e.sleepUntil(func() bool { return len(e.got) > 0 })
				e.got = e.got[:0]
			}
			finished <- me
		}()
	}
	for range es {
		select {
		case <-finished:
		case <-time.After(patience):
			t.Fatal("a wake-up was lost")
		}
	}
}

// sleepUntil is what a blocking MPI call does once it has spun for long enough. The lock is held.
func (e *engine) sleepUntil(done func() bool) {
	for !done() {
		if e.host.Poll() {
			e.cond.Broadcast() // what has come may be another sleeper's
			continue
		}
		e.host.Arm()
		e.cond.Wait()
	}
}

// Several threads of one process sleep at a time: one arming serves them all.
func TestSleepersThatShareAnArmingAreAllWoken(t *testing.T) {
	const n, sleepers = 300, 4
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	slow(es[0])
	e := es[0]
	count := 0
	e.on = func(*transport.Header, []byte) { count++ }
	finished := make(chan bool, sleepers)
	for range sleepers {
		go func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			for i := 1; i <= n; i++ {
				e.sleepUntil(func() bool { return count >= i })
			}
			finished <- true
		}()
	}
	for range n {
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
	}
	for range sleepers {
		select {
		case <-finished:
		case <-time.After(patience):
			t.Fatal("a wake-up was lost")
		}
	}
}

// The program computes: nobody polls and nobody sleeps inside MPI. Packets are acknowledged all the same, or
// the sender would stop at the high-water mark.
func TestTrafficIsNoticedWhileTheProgramComputes(t *testing.T) {
	const n = 1000
	es := connect(t, layout{{1}, {1}}, marked(1, 2), Options{})
	es[0].mu.Lock()
	es[0].host.Poll() // the last for a long time
	es[0].mu.Unlock()
	for range n {
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
	}
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		es[0].mu.Lock()
		k := len(es[0].got)
		es[0].mu.Unlock()
		if k == n {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d packets noticed", k, n)
		}
	}
}

// Room in a socket that was full is an event, too.
func TestASleeperIsWokenByRoom(t *testing.T) {
	e, f := against(t, func(j *transport.Job) { j.HiWater = 1 << 20 }, Options{SendBuffer: 1})
	slow(e)
	body := make([]byte, 65536)
	h := transport.Header{Kind: transport.Data, Src: 0, Dst: 2, Len: len(body), MsgLen: uint64(len(body))}
	for e.try(h, string(body)) {
	}
	go func() {
		for {
			if _, err := f.c.Read(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}()
	done := make(chan bool)
	go func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for range 10 {
			e.sleepUntil(func() bool { return e.host.Send(&h, body) })
		}
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("no room, for ever")
	}
}

// An event that comes while the program polls is left to it, and does not arm again.
func TestAProgramThatPollsIsNotWoken(t *testing.T) {
	es := connect(t, layout{{1}, {1}}, nil, Options{})
	e := es[0]
	slow(e)
	woken := make(chan bool, 1000)
	e.host.watch.wake = func() { woken <- true }
	e.mu.Lock()
	e.host.Arm()
	e.host.Poll()
	e.mu.Unlock()
	for i := range 200 {
		es[1].put(t, transport.Header{Kind: transport.Data, Src: 1, Dst: 0}, "x")
		e.await(t, i+1)
	}
	for e.host.watch.armed.Load() { // until the watcher has seen that it was disarmed
		runtime.Gosched()
	}
	if len(woken) > 0 {
		t.Errorf("woken %d times", len(woken))
	}
}
