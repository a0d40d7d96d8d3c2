package libimpi

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/futex"
	"github.com/libimpi/libimpi/transport/kernel"
)

// A thread of the program sleeps on a condition that another thread, or the socket watcher, makes true. Each of
// these events must ring the bell, or it sleeps until the kernel's patience is over.
func TestWhateverAThreadSleepsForRingsTheBell(t *testing.T) {
	es := world(t, 2)
	a, b := es[0], es[1]
	c := a.World()
	buf := make([]byte, 256<<10)
	must(t, a.AttachBuffer(1<<20))
	must(t, a.FlushBuffer())

	rings := func(what string, event func()) {
		t.Helper()
		v := a.bell.Bell()
		if !a.bell.PrepareSleep(v) {
			t.Fatalf("%s: somebody rings already", what)
		}
		event()
		if a.bell.Bell() == v {
			t.Errorf("%s: nobody is woken", what)
			a.bell.DoneSleep(v)
		}
	}
	data := transport.Header{Kind: transport.Data, Src: 1, LSRank: 1}
	rings("a message for a probe", func() { a.deliver(data, []byte("x")) })
	recv := c.Irecv(at(buf), 1, byteT, 1, 0)
	must(t, a.Wait(&recv, nil))

	recv = c.Irecv(at(buf), 1, byteT, 1, 0)
	rings("a message for a receive", func() { a.deliver(data, []byte("x")) })
	must(t, a.Wait(&recv, nil))

	var self uint64
	rings("a short message to oneself for a probe", func() { self = c.Isend(at(buf), 1, byteT, 0, 1, Standard) })
	must(t, a.Wait(&self, nil))
	recv = c.Irecv(at(buf), 1, byteT, 0, 1)
	must(t, a.Wait(&recv, nil))
	rings("a synchronous message to oneself for a probe", func() { self = c.Isend(at(buf), 1, byteT, 0, 1, Synchronous) })
	rings("its receive, for the send", func() { recv = c.Irecv(at(buf), 1, byteT, 0, 1) })
	must(t, a.WaitAll([]uint64{self, recv}, nil))

	must(t, c.Bsend(at(buf), 200<<10, byteT, 1, 2))
	recv = b.World().Irecv(at(buf), 200<<10, byteT, 0, 2)
	settle(b)
	rings("the end of a buffered send, for who waits for the buffer", func() {
		settle(a)
		if a.predefined.buffer.used != 0 {
			t.Fatal("the message is not out")
		}
	})
	must(t, b.Wait(&recv, nil))

	var ids []uint64
	for len(a.protocol.Busy()) == 0 {
		ids = append(ids, c.Isend(at(buf), 16<<10, byteT, 1, 3, Standard))
	}
	a.FreeRequest(&ids[len(ids)-1])
	settle(b)
	rings("the end of the queues, for Finish", func() {
		settle(a)
		if len(a.protocol.Busy()) != 0 {
			t.Fatal("the queues are not empty")
		}
	})
	must(t, a.WaitAll(ids, nil))

	early, err := a.newComm(c.group, 8)
	must(t, err)
	must(t, early.Free())
	a.deliver(transport.Header{Kind: transport.Data, Src: 1, LSRank: 1, CID: 8}, nil)
	rings("a message that was there before its communicator", func() {
		_, err := a.newComm(c.group, 8)
		must(t, err)
	})
	rings("the loss of a peer", func() { a.Lost(1, errorf(abi.MPI_ERR_OTHER, "gone")) })
	a.loss.failed.Store(nil)
}

// All kinds of waits, in threads that do sleep, since the other side is slow to act: the test ends only if they wake.
func TestSleepersWake(t *testing.T) {
	for name, build := range worlds {
		if name == "self" {
			continue
		}
		for _, patient := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				es := build(t)
				for _, e := range es {
					e.waiting.patient.Store(patient)
				}
				var asleep atomic.Int32
				together(t, es, func(e *Engine) {
					c := e.World()
					buf := make([]byte, 300<<10)
					for round := range 5 {
						asleep.Store(0)
						must(t, c.Barrier())
						if e.me == 1 {
							asleep.Store(1)
							var st Status
							switch round {
							case 0:
								must(t, c.Recv(at(buf), 8, byteT, 0, 1, &st))
							case 1:
								must(t, c.Probe(abi.MPI_ANY_SOURCE, 1, &st))
								must(t, c.Recv(at(buf), 8, byteT, 0, 1, &st))
							case 2:
								must(t, c.Recv(at(buf), int64(len(buf)), byteT, 0, 1, &st))
							case 3:
								id := c.Irecv(at(buf), 8, byteT, 0, 1)
								_, err := e.WaitAny([]uint64{nullRequest, id}, nil)
								must(t, err)
							case 4:
								must(t, c.Send(at(buf), int64(len(buf)), byteT, 0, 1, Standard))
							}
							continue
						}
						sleepUntil(es[1], &asleep)
						switch round {
						case 2:
							must(t, c.Send(at(buf), int64(len(buf)), byteT, 1, 1, Standard))
						case 4:
							must(t, c.Recv(at(buf), int64(len(buf)), byteT, 1, 1, nil))
						default:
							must(t, c.Send(at(buf), 8, byteT, 1, 1, Standard))
						}
					}
				})
				for _, e := range es {
					idle(t, e, 0)
				}
			})
		}
	}
}

// sleepUntil returns when a thread of e, which has set started, polls no more: it has announced that it sleeps.
func sleepUntil(e *Engine, started *atomic.Int32) {
	for started.Load() == 0 || segmentOf(e).Sleepers() == 0 {
		runtime.Gosched()
		kernel.Yield()
	}
}

// A thread probes for what another thread of the process brings.
func TestAProbeWakesForAMessageOfAnotherThread(t *testing.T) {
	es := world(t, 1)
	e, c := es[0], es[0].World()
	var started atomic.Int32
	together(t, []*Engine{e, e}, func(e *Engine) {
		if started.Add(1) == 1 {
			var st Status
			must(t, c.Probe(0, 9, &st))
			must(t, c.Recv(nil, 0, byteT, 0, 9, &st))
			return
		}
		sleepUntil(e, &started)
		must(t, c.Send(nil, 0, byteT, 0, 9, Standard))
	})
	idle(t, e, 0)
}

func TestTheWatcherStaysOutAfterTheEnd(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	together(t, es, func(e *Engine) { must(t, e.Finish()) })
	for _, e := range es {
		e.mu = futex.On(nil) // as if the segment were closed
		e.progress()
		e.mu = futex.On(e.home.Lock)
	}
}

func TestAbortDoesNotDisturbAThreadThatPolls(t *testing.T) {
	es := makeWorld(t, options{clients: []int{1, 1}})
	var aborted atomic.Bool
	buf := make([]byte, 8)
	id := es[1].World().Irecv(at(buf), 8, byteT, 0, 0)
	together(t, []*Engine{es[0], es[1], es[1]}, func() func(e *Engine) {
		var first atomic.Bool
		return func(e *Engine) {
			switch {
			case e == es[0]:
				wantClass(t, e.World().Recv(at(make([]byte, 1)), 1, byteT, 1, 0, nil), abi.MPI_ERR_PROC_ABORTED)
			case first.CompareAndSwap(false, true):
				for !aborted.Load() {
					if done, _ := e.Test(&id, nil); done {
						t.Error("nothing was sent")
					}
				}
			default:
				for range 100 {
					kernel.Yield()
				}
				e.Abort()
				e.Abort()
				aborted.Store(true)
			}
		}
	}())
}

// Who shares the machine's cores: as the hosts say on which machine they are, or else as their addresses tell.
func TestProcessesOfAllClientsOnTheMachineAreCounted(t *testing.T) {
	e := world(t, 1)[0]
	type host struct {
		machine uint64
		others  uint32
		address byte
		n       int32
	}
	for _, tt := range []struct {
		hosts  []host
		agents int
		want   int
	}{
		{[]host{{0, 0, 1, 1}}, 0, 1},
		{[]host{{0, 0, 1, 1}, {0, 0, 1, 1}, {0, 0, 2, 4}}, 0, 2},               // by their addresses
		{[]host{{0, 0, 1, 3}, {0, 0, 1, 2}}, 1, 6},                             // and our agent
		{[]host{{7, 0, 1, 1}, {7, 0, 2, 1}, {8, 0, 1, 4}}, 0, 2},               // by what they say
		{[]host{{7, 1, 1, 3}, {7, 1, 2, 2}, {8, 1, 3, 5}, {0, 0, 4, 9}}, 1, 7}, // all agents here
		{[]host{{7, 0, 1, 1}, {0, 0, 1, 2}, {0, 0, 2, 2}}, 0, 3},               // one that does not say
	} {
		job := transport.Job{Clients: int32(len(tt.hosts))}
		for i, h := range tt.hosts {
			first := int32(len(job.Procs))
			job.Hosts = append(job.Hosts, transport.Host{Client: int32(i), First: first, NProcs: h.n,
				Machine: h.machine, Others: h.others})
			for range h.n {
				job.Procs = append(job.Procs, transport.Proc{HostID: [16]byte{h.address}, Host: int32(i), Client: int32(i)})
			}
		}
		was := e.job
		e.job, e.position.others = &job, tt.agents
		if n := e.cohabitants(); n != tt.want {
			t.Errorf("%+v: %d, want %d", tt.hosts, n, tt.want)
		}
		e.job, e.position.others = was, 0
	}
}

func TestANapTakesAsLongOnEveryMachine(t *testing.T) {
	for _, tt := range []struct {
		rounds uint32
		took   time.Duration
		want   uint32
	}{
		{100, 100 * napTime, 1},
		{100, 5 * napTime, 20},
		{100, 2 * napTime, 50},
		{100, napTime, 100},
		{100, napTime / 20, napMax},
		{100, 0, napMax},      // the clock has not moved
		{100, time.Second, 1}, // the core was taken away
	} {
		if got := naps(tt.rounds, tt.took); got != tt.want {
			t.Errorf("%d rounds in %v: a nap is of %d, want %d", tt.rounds, tt.took, got, tt.want)
		}
	}
}

// Pipes and rings cost no system call: only who waits for sockets leaves them alone for a moment.
func TestOnlyWhoWaitsForSocketsNaps(t *testing.T) {
	for _, e := range world(t, 2) {
		if e.waiting.nap != 0 {
			t.Error("a process without sockets naps")
		}
	}
	for _, e := range makeWorld(t, tcpWorld) {
		if e.waiting.nap == 0 {
			t.Error("a process with sockets does not nap")
		}
	}
}

func TestACoreIsOfferedMoreOftenToWhoGivesItBack(t *testing.T) {
	for _, tt := range []struct {
		polls uint32
		took  time.Duration
		want  uint32
	}{
		{offersFew, 400 * time.Nanosecond, offersFew},      // nobody wants it
		{offersFew, 20 * time.Microsecond, offersMany},     // a rank that waits, too
		{offersMany, 20 * time.Microsecond, offersMany},    // and still does
		{offersMany, 400 * time.Nanosecond, 2},             // not at this moment
		{64, 400 * time.Nanosecond, offersFew},             // no more
		{offersMany, 3 * time.Millisecond, offersFew},      // a program that computes
		{offersFew / 2, 300 * time.Microsecond, offersFew}, // as good as one
	} {
		if got := offersAfter(tt.polls, tt.took); got != tt.want {
			t.Errorf("%d polls and an offer of %v: then %d, want %d", tt.polls, tt.took, got, tt.want)
		}
	}
}
