package libimpi

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport/fake"
)

// Whole jobs of up to 16 ranks, in worlds that are late, short of room, cut packets in two and lose processes. A world
// follows from its seed alone, so that one that fails fails again: the seed is in the name of the subtest.

// jobShapes are the worlds: machines of one client, and machines of several.
var jobShapes = map[string]fake.Options{
	"one machine":              {Machines: []int{5}},
	"many on one machine":      {Machines: []int{4 * perQuarter}, Room: 2},
	"no memory is read":        {Machines: []int{4}, NoRead: true, Room: 3},
	"machines of one client":   {Machines: []int{2, 3, 1}, Room: 4},
	"one process each":         {Machines: []int{1, 1, 1, 1, 1}, Room: 1},
	"two clients":              {Machines: []int{3, 2}, Clients: []int32{0, 1}, Room: 4},
	"clients of some machines": {Machines: []int{2, 1, 2, 2}, Clients: []int32{0, 0, 1, 2}, Room: 3},
	"many in four clients": {Machines: []int{perQuarter, perQuarter, perQuarter, perQuarter},
		Clients: []int32{0, 1, 2, 3}, Room: 5},
	"transports without talent": {Machines: []int{3, 2, 1}, Plain: true, Room: 3},
}

// seeds is how many worlds of each shape a test runs in.
func seeds() uint64 {
	if raceOn {
		return 2
	}
	return 12
}

// inWorlds runs a test in many worlds of one job, and inMeetings in many of several jobs.
func inWorlds(t *testing.T, test func(t *testing.T, es []*Engine, seed uint64)) {
	inShapes(t, jobShapes, test)
}

func inMeetings(t *testing.T, test func(t *testing.T, es []*Engine, seed uint64)) {
	inShapes(t, meetingShapes, test)
}

func inShapes(t *testing.T, shapes map[string]fake.Options, test func(t *testing.T, es []*Engine, seed uint64)) {
	for name, o := range shapes {
		for seed := range seeds() {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				o.Seed, o.Late = seed, int(seed)*3
				test(t, makeWorld(t, options{fake: &o}), seed)
			})
		}
	}
}

// planned is one that a test sends.
type planned struct {
	from, to int
	tag      int32
	data     []byte
	kind     int
}

// The ways in which plan lets a message be sent.
const (
	byStandard = iota
	bySynchronous
	byBuffered
	byPersistent
	ways
)

// plan is some messages between n processes: of no bytes, of few, of more than a packet, of many packets.
func plan(n, messages int, seed uint64) (all []planned) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range messages {
		size := r.IntN([]int{1, 40, 300, 2000, 70000}[r.IntN(5)])
		all = append(all, planned{r.IntN(n), r.IntN(n), int32(r.IntN(3)), pattern(size, i), r.IntN(ways)})
	}
	return all
}

// begin starts the send of a message.
func (m *planned) begin(t *testing.T, e *Engine) uint64 { return m.beginOn(t, e.World()) }

func (m *planned) beginOn(t *testing.T, c *Comm) uint64 {
	e, n := c.engine, int64(len(m.data))
	switch m.kind {
	case bySynchronous:
		return c.Isend(at(m.data), n, byteT, m.to, m.tag, Synchronous)
	case byBuffered:
		id, err := c.Ibsend(at(m.data), n, byteT, m.to, m.tag)
		must(t, err)
		return id
	case byPersistent:
		id := c.SendInit(at(m.data), n, byteT, m.to, m.tag, Standard)
		if err := e.Start(id); err != nil {
			t.Error(err)
		}
		return id
	}
	return c.Isend(at(m.data), n, byteT, m.to, m.tag, Standard)
}

// finishSends waits for requests, and frees those that are persistent.
func finishSends(t *testing.T, e *Engine, ids []uint64) {
	for _, id := range ids {
		persistent := id
		must(t, e.Wait(&id, nil))
		if id == persistent && id != sentRequest {
			must(t, e.FreeRequest(&id))
		}
	}
}

// wantMessages compares what a process has received with what was sent, which may be shorter.
func wantMessages(t *testing.T, me int, bufs, want [][]byte) {
	t.Helper()
	for i, buf := range bufs {
		if !bytes.Equal(buf[:len(want[i])], want[i]) {
			t.Errorf("rank %d: message %d is not what was sent", me, i)
		}
	}
}

// Messages of one sender with one tag are received in the order sent, in every way of sending, whether the receive is
// early or late, and whole.
func TestMessagesOfAllKindsArrive(t *testing.T) {
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		all := plan(len(es), 20*len(es), seed)
		together(t, es, func(e *Engine) {
			me := int(e.me)
			r := rand.New(rand.NewPCG(seed, uint64(me)+2))
			must(t, e.AttachBuffer(1<<24))
			var sends, recvs []uint64
			var bufs, want [][]byte
			for i := range all {
				m := &all[i]
				if m.from == me {
					sends = append(sends, m.begin(t, e))
				}
				if m.to == me {
					buf := make([]byte, len(m.data)+r.IntN(2))
					bufs, want = append(bufs, buf), append(want, m.data)
					recvs = append(recvs, e.World().Irecv(at(buf), int64(len(buf)), byteT, m.from, m.tag))
				}
				if r.IntN(6) == 0 && len(recvs) > 0 {
					_, err := e.TestAll(recvs[:1+r.IntN(len(recvs))], nil)
					must(t, err)
				}
			}
			must(t, e.WaitAll(recvs, nil))
			finishSends(t, e, sends)
			wantMessages(t, me, bufs, want)
			must(t, e.DetachBuffer())
			must(t, e.World().Barrier())
		})
		for _, e := range es {
			idle(t, e, 0)
		}
	})
}

// Whoever asks for any message gets those of each sender in order, whether it probes first, takes them out of
// matching, or just receives.
func TestProbesSeeEachSendersMessagesInOrder(t *testing.T) {
	const each = 15
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			c, r := e.World(), rand.New(rand.NewPCG(seed, uint64(e.me)))
			if e.me != 0 {
				for i := range each {
					data := pattern(r.IntN(3000), int(e.me)*each+i)
					must(t, c.Send(at(data), int64(len(data)), byteT, 0, int32(i), []SendMode{Standard, Synchronous}[r.IntN(2)]))
				}
				return
			}
			next := make([]int32, len(es))
			for range (len(es) - 1) * each {
				var st Status
				buf := make([]byte, 3000)
				switch r.IntN(3) {
				case 0:
					must(t, c.Probe(abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st))
					must(t, c.Recv(at(buf), st.Bytes, byteT, int(st.Source), st.Tag, &st))
				case 1:
					m, err := c.Mprobe(abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st)
					if err != nil {
						t.Error(err)
						return
					}
					id := m.Imrecv(at(buf), 3000, byteT)
					must(t, e.Wait(&id, nil))
				default:
					for found := false; !found; {
						var err error
						if found, err = c.Iprobe(abi.MPI_ANY_SOURCE, abi.MPI_ANY_TAG, &st); err != nil {
							t.Error(err)
							return
						} else if !found {
							fakeOf(e).Yield(0)
						}
					}
					must(t, c.Recv(at(buf), 3000, byteT, int(st.Source), st.Tag, &st))
				}
				if st.Tag != next[st.Source] {
					t.Errorf("message %d of rank %d comes after %d others", st.Tag, st.Source, next[st.Source])
				}
				next[st.Source]++
				if !bytes.Equal(buf[:st.Bytes], pattern(int(st.Bytes), int(st.Source)*each+int(st.Tag))) {
					t.Errorf("message %d of rank %d is not what was sent", st.Tag, st.Source)
				}
			}
		})
		for _, e := range es {
			idle(t, e, 0)
		}
	})
}

// A send that is cancelled is received or cancelled, and both sides agree which.
func TestACancelledMessageIsReceivedOrGone(t *testing.T) {
	const messages = 12
	outcomes := [2]int{}
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		gone := make([][messages]bool, len(es))
		got := make([][messages]bool, len(es))
		together(t, es, func(e *Engine) {
			c, r, me := e.World(), rand.New(rand.NewPCG(seed, uint64(e.me))), int(e.me)
			n := c.Size()
			to, from := (me+1)%n, (me+n-1)%n
			buf := pattern(2000, me)
			var sends []uint64
			var recvs [messages]uint64
			var in [messages][]byte
			for i := range messages {
				id := c.Isend(at(buf), int64(r.IntN(2000)), byteT, to, int32(i), Synchronous)
				sends = append(sends, id)
				if r.IntN(2) == 0 {
					fakeOf(e).Yield(me)
				}
				if r.IntN(2) == 0 {
					must(t, e.Cancel(id))
				}
				in[i] = make([]byte, 2000)
				recvs[i] = c.Irecv(at(in[i]), 2000, byteT, from, int32(i))
			}
			for i := range sends {
				var st CStatus
				must(t, e.Wait(&sends[i], &st))
				gone[me][i] = st.Cancelled()
			}
			must(t, c.Barrier()) // all fates are known
			for i := range recvs {
				if gone[from][i] {
					must(t, e.Cancel(recvs[i]))
				}
				var st CStatus
				must(t, e.Wait(&recvs[i], &st))
				got[me][i] = !st.Cancelled()
			}
		})
		for me := range es {
			for i, left := range gone[me] {
				if to := (me + 1) % len(es); left == got[to][i] {
					t.Errorf("message %d of rank %d: cancelled %v, received %v", i, me, left, got[to][i])
				}
				if left {
					outcomes[1]++
				} else {
					outcomes[0]++
				}
			}
		}
		for _, e := range es {
			idle(t, e, 0)
		}
	})
	if outcomes[0] == 0 || outcomes[1] == 0 {
		t.Errorf("%d messages received and %d cancelled: one of the two has not been tried", outcomes[0], outcomes[1])
	}
}

// Collective operations of all shapes of data flow, of short and long vectors, one after the other and without a
// barrier.
func TestCollectiveOperationsOfWholeJobs(t *testing.T) {
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			c, r, me := e.World(), rand.New(rand.NewPCG(seed, 9)), e.me // the same numbers at all ranks
			n := int32(c.Size())
			for range 6 {
				count, root := 1+r.IntN([]int{3, 200, 3000}[r.IntN(3)]), r.IntN(int(n))
				mine, sum := make([]int32, count), make([]int32, count)
				for i := range mine {
					mine[i] = me*1000 + int32(i)
				}
				must(t, c.Allreduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)))
				check := func(what string, i int, got, want int32) {
					if got != want {
						t.Errorf("rank %d: element %d of %s is %d, want %d", me, i, what, got, want)
					}
				}
				last := count - 1
				check("Allreduce", last, sum[last], n*(n-1)/2*1000+n*int32(last))
				must(t, c.Reduce(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_MAX), root))
				if int(me) == root {
					check("Reduce", last, sum[last], (n-1)*1000+int32(last))
				}
				must(t, c.Scan(intBuf(mine), intBuf(sum), op.Predefined(abi.MPI_SUM)))
				check("Scan", last, sum[last], (me+1)*me/2*1000+(me+1)*int32(last))
				if int(me) == root {
					copy(sum, mine)
				}
				must(t, c.Bcast(intBuf(sum), root))
				check("Bcast", last, sum[last], int32(root)*1000+int32(last))
				all := make([]int32, int(n)*count)
				part := func(b []int32) coll.Buf {
					x := intBuf(b)
					x.Count = int64(count)
					return x
				}
				must(t, c.Allgather(intBuf(mine), part(all)))
				check("Allgather", len(all)-1, all[len(all)-1], (n-1)*1000+int32(last))
				for i := range all {
					all[i] = me*100 + int32(i/count)
				}
				turned := make([]int32, len(all))
				must(t, c.Alltoall(part(all), part(turned)))
				for i := range turned {
					check("Alltoall", i, turned[i], int32(i/count)*100+me)
				}
			}
			must(t, c.Barrier())
		})
		noFailure(t, es)
		for _, e := range es {
			idle(t, e, 0)
		}
	})
}

// Communicators are made, used at once, so that messages overtake their making, and freed; those of split halves meet
// again as an intercommunicator.
func TestCommunicatorsOfWholeJobs(t *testing.T) {
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			w, r := e.World(), rand.New(rand.NewPCG(seed, 5))
			ring := func(c *Comm) {
				n, me := c.Size(), c.Rank()
				in := make([]int32, 400)
				out := slices.Repeat([]int32{int32(me)}, 400)
				var st Status
				must(t, c.Sendrecv(intBuf(out).Base, 400, intT, (me+1)%n, 3, intBuf(in).Base, 400, intT, (me+n-1)%n, 3, &st))
				if in[399] != int32((me+n-1)%n) {
					t.Errorf("rank %d of %s received from %d", me, c, in[399])
				}
			}
			for range 3 {
				d, err := w.Dup()
				must(t, err)
				ring(d)
				color := int32(int(e.me)*7+r.IntN(5)) % 2
				half, err := d.Split(color, -e.me)
				must(t, err)
				ring(half)
				leader := int32(slices.IndexFunc(es, func(x *Engine) bool { return int32(int(x.me)*7)%2 != int32(int(e.me)*7)%2 }))
				inter, err := half.CreateInter(half.Size()-1, d, int(leader), 11)
				must(t, err)
				both, err := inter.Merge(color == 1)
				must(t, err)
				ring(both)
				must(t, both.Barrier())
				for _, c := range []*Comm{both, inter, half, d} {
					must(t, c.Free())
				}
			}
		})
		noFailure(t, es)
		for _, e := range es {
			idle(t, e, 0)
		}
	})
}

// Whoever dies, and whatever the others are doing, their calls end with an error of that class; nobody waits for ever.
func TestTheLossOfAProcessEndsAllCalls(t *testing.T) {
	inWorlds(t, func(t *testing.T, es []*Engine, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 77))
		victim, rounds := r.IntN(len(es)), r.IntN(20)
		together(t, es, func(e *Engine) {
			c, me, n := e.World(), int(e.me), len(es)
			for i := 0; ; i++ {
				if me == victim && i == rounds {
					fakeOf(e).Kill(me)
					return
				}
				in, out := make([]byte, 5000), pattern(5000, i)
				var st Status
				err := c.Sendrecv(at(out), 5000, byteT, (me+1)%n, 1, at(in), 5000, byteT, (me+n-1)%n, 1, &st)
				if err == nil {
					err = c.Barrier()
				}
				if err != nil {
					wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
					return
				}
				if i > rounds {
					t.Errorf("rank %d has passed a barrier without rank %d", me, victim)
					return
				}
			}
		})
	})
}

// A world is the same each time: the same turns, the same packets.
func TestAJobOnTheFakeIsTheSameEachTime(t *testing.T) {
	run := func(seed uint64) uint64 {
		o := fake.Options{Machines: []int{4, 3}, Seed: seed, Late: 9, Room: 3}
		es := makeWorld(t, options{fake: &o})
		all := plan(7, 100, 3)
		together(t, es, func(e *Engine) {
			must(t, e.AttachBuffer(1<<24))
			var ids []uint64
			for i := range all {
				if m := &all[i]; m.from == int(e.me) {
					ids = append(ids, m.begin(t, e))
				}
				if m := &all[i]; m.to == int(e.me) {
					ids = append(ids, e.World().Irecv(at(make([]byte, len(m.data))), int64(len(m.data)), byteT, m.from, m.tag))
				}
			}
			must(t, e.WaitAll(ids, nil))
			must(t, e.World().Barrier())
		})
		return fakeOf(es[0]).Digest()
	}
	first := run(1)
	for range 3 {
		if again := run(1); again != first {
			t.Fatalf("a run with the same seed has the digest %x, the first had %x", again, first)
		}
	}
	if run(2) == first {
		t.Error("another seed makes no difference")
	}
}

// A job whose ranks wait for each other is found out, and its calls end.
func TestAJobThatIsStuckEnds(t *testing.T) {
	es := late(t, 3, 1)
	err := fakeOf(es[0]).Run(func(rank int) {
		err := es[rank].World().Recv(at(make([]byte, 4)), 4, byteT, (rank+1)%3, 0, nil)
		wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
	})
	if !errors.Is(err, fake.ErrStuck) {
		t.Errorf("%v, want %v", err, fake.ErrStuck)
	}
}
