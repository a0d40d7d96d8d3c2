package libimpi

import (
	"bytes"
	stdcontext "context"
	"errors"
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/onesided"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

var errTest = errors.New("as the test wants it")

// Whatever fails in whom, at either side, all of both sides get an error, nothing is left of the meeting, and the next
// one goes well.
func TestAFailureInAMeetingReachesAllOfBothSides(t *testing.T) {
	for name, o := range meetingShapes {
		if len(jobsIn(o)) != 2 {
			continue
		}
		for _, step := range []string{fake.AtBegin, fake.AtCard, fake.AtJoin, fake.AtLine, "root"} {
			o.Seed = 3
			t.Run(name+", "+step, func(t *testing.T) {
				es := makeWorld(t, options{fake: &o})
				g, w := gather(es), fakeOf(es[0])
				first := g.jobs[0]
				victim := first[len(first)-1] // of job 0, whose leader is its first
				if step == fake.AtLine {
					victim = es[0]
				}
				var failed error
				if step == "root" {
					failed = errorf(abi.MPI_ERR_PORT, "%v", errTest)
				} else {
					w.Fail(placeOf(victim).index, step, errTest)
				}
				again := gather(es)
				together(t, es, func(e *Engine) {
					var err error
					if jobNumber(g.jobs, e) == 0 {
						_, err = e.World().Meet(stdcontext.Background(), g.lines[0][0], 0, failed)
					} else {
						_, err = e.World().Meet(stdcontext.Background(), g.lines[0][1], e.World().Size()-1, nil)
					}
					if err == nil {
						t.Errorf("job %d, rank %d: no error", jobNumber(g.jobs, e), e.me)
					} else if step != fake.AtLine && step != fake.AtJoin && !strings.Contains(err.Error(), errTest.Error()) {
						t.Errorf("job %d, rank %d: %v", jobNumber(g.jobs, e), e.me, err)
					}
					if step == "root" {
						wantClass(t, err, abi.MPI_ERR_PORT)
					}
					must(t, e.World().Barrier())
				})
				forgotten(t, es)
				w.Fail(placeOf(victim).index, step, nil)
				together(t, es, func(e *Engine) {
					if c := again.all(t, e); c != nil {
						work(t, c, 1)
						must(t, c.Disconnect())
					}
				})
				forgotten(t, es)
			})
		}
	}
}

func jobsIn(o fake.Options) map[int]bool {
	jobs := map[int]bool{}
	for _, j := range o.Jobs {
		jobs[j] = true
	}
	return jobs
}

// A hundred meetings of the same processes leave nothing but the numbers that they have used.
func TestMeetingsLeaveNothing(t *testing.T) {
	o := meetingShapes["one and one"]
	es := makeWorld(t, options{fake: &o})
	for range 100 {
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			if n := len(e.guests.here); n != 1 {
				t.Errorf("%d guests are looked at where one is here", n)
			}
			must(t, c.Disconnect())
		})
	}
	forgotten(t, es)
	for _, e := range es {
		if n := len(*e.guests.list.Load()); n != 100 {
			t.Errorf("%d numbers for 100 guests", n)
		}
		if n := cap(e.guests.here); n > 4 {
			t.Errorf("a list of %d guests, of whom one was here at a time", n)
		}
		if n := len(e.contexts.high); n > 2 {
			t.Errorf("%d contexts", n)
		}
	}
}

// A to B and B to C: A and C get to know each other when an intercommunicator joins them, by leaders in a communicator
// of B's, or when a communicator does.
func TestProcessesThatDoNotKnowEachOtherMeet(t *testing.T) {
	for name, o := range meetingShapes {
		if len(jobsIn(o)) < 3 {
			continue
		}
		for seed := range seeds() {
			o.Seed, o.Late = seed, int(seed)*3
			t.Run(name, func(t *testing.T) {
				es := makeWorld(t, options{fake: &o})
				jobs, w := jobsOf(es), fakeOf(es[0])
				a, b, c := jobs[0], jobs[1], jobs[2]
				ab1, ab2 := w.Line(placeOf(a[0]).index, placeOf(b[0]).index)
				bc1, bc2 := w.Line(placeOf(b[0]).index, placeOf(c[0]).index)
				together(t, es, func(e *Engine) {
					var ab, bc *Comm
					var err error
					meet := func(line int, side int) *Comm {
						lines := [2][2]transport.Line{{ab1, ab2}, {bc1, bc2}}
						made, err := e.World().Meet(stdcontext.Background(), lines[line][side], 0, nil)
						if err != nil {
							t.Errorf("rank %d: %v", e.me, err)
						}
						return made
					}
					job := jobNumber(jobs, e)
					if job > 2 {
						return
					}
					if job < 2 {
						if ab = meet(0, job); ab == nil {
							return
						}
					}
					if job > 0 {
						if bc = meet(1, job-1); bc == nil {
							return
						}
					}
					if job == 0 || job == 1 {
						high := job == 1
						merged, err := ab.Merge(high) // A and B
						must(t, err)
						must(t, ab.Free())
						ab = merged
					}
					// The group of A and B with that of C; the leaders are a process of B and one of C.
					var all *Comm
					switch job {
					case 0, 1:
						all, err = ab.CreateInter(len(a), bcOr(bc, ab), 0, 5)
					case 2:
						all, err = e.World().CreateInter(0, bc, 0, 5)
					}
					if err != nil {
						t.Errorf("job %d, rank %d: %v", job, e.me, err)
						return
					}
					whole, err := all.Merge(job == 2)
					must(t, err)
					if whole.Size() != len(a)+len(b)+len(c) {
						t.Errorf("%d processes", whole.Size())
					}
					work(t, whole, seed)
					compareAcross(t, whole, len(a), len(b))
					must(t, all.Free())
					if ab != nil {
						must(t, ab.Free())
					}
					if bc != nil {
						must(t, bc.Free())
					}
					work(t, whole, seed)
					must(t, whole.Disconnect())
				})
				forgotten(t, es)
			})
		}
	}
}

func bcOr(bc, ab *Comm) *Comm {
	if bc != nil {
		return bc
	}
	return ab // not the leader's: not looked at
}

// compareAcross makes communicators of groups of processes of several jobs.
func compareAcross(t *testing.T, whole *Comm, a, b int) {
	e, g := whole.engine, whole.Group()
	back, err := g.RangeIncl([]Range{{First: g.Size() - 1, Last: 0, Stride: -1}})
	must(t, err)
	if got := g.Compare(back); got != abi.MPI_SIMILAR && g.Size() > 1 {
		t.Errorf("a group turned round compares as %d", got)
	}
	c, err := e.CreateFromGroup(back, "back")
	must(t, err)
	if err != nil {
		return
	}
	if c.Rank() != g.Size()-1-whole.Rank() {
		t.Errorf("rank %d", c.Rank())
	}
	work(t, c, 1)
	must(t, c.Free())
	first, err := g.RangeIncl([]Range{{First: 0, Last: a + b - 1, Stride: 1}})
	must(t, err)
	last := g.Difference(first)
	mine, theirs := first, last
	if first.Rank(e.me) == abi.MPI_UNDEFINED {
		mine, theirs = last, first
	}
	inter, err := e.CreateInterFromGroups(mine, mine.Size()-1, theirs, theirs.Size()-1, "halves")
	if err != nil {
		t.Error(err)
		return
	}
	if inter.RemoteGroup().Compare(theirs) != abi.MPI_IDENT {
		t.Errorf("the remote group is not the other half")
	}
	must(t, inter.Barrier())
	half, err := inter.Create(mine)
	must(t, err)
	must(t, half.Barrier())
	must(t, half.Free())
	split, err := inter.Split(0, int32(-inter.Rank()))
	must(t, err)
	must(t, split.Barrier())
	must(t, split.Free())
	must(t, inter.Free())
}

// The death of a guest ends what needs it with an error that names it, and nothing else.
func TestTheLossOfAGuestEndsWhatNeedsIt(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		if fakeOf(es[0]) == nil || len(jobsOf(es)[0]) < 2 || len(jobsOf(es)) != 2 || len(jobsOf(es)[1]) != 1 &&
			len(jobsOf(es)[1]) != 2 {
			return
		}
		jobs := jobsOf(es)
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			n, me := c.Size(), c.Rank()
			if me != n-1 {
				must(t, c.Send(at(nil), 0, byteT, n-1, 8, Standard))
			}
			if jobNumber(jobs, e) == 1 {
				if me == n-1 { // when all others are through with what is before
					for r := range n - 1 {
						must(t, c.Recv(at(nil), 0, byteT, r, 8, nil))
					}
					fakeOf(e).Kill(placeOf(e).index)
				}
				return // of the others of its job, which ends
			}
			buf := make([]byte, 5000)
			err := c.Recv(at(buf), 5000, byteT, n-1, 1, nil) // while it dies
			wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
			if err != nil && !strings.Contains(err.Error(), "of job") {
				t.Errorf("%v: no job is named", err)
			}
			for range 2 { // at once
				wantClass(t, c.Send(at(buf), 5, byteT, n-1, 1, Standard), abi.MPI_ERR_PROC_ABORTED)
				wantClass(t, c.Send(at(buf), 5000, byteT, n-1, 1, Standard), abi.MPI_ERR_PROC_ABORTED)
				wantClass(t, c.Recv(at(buf), 5000, byteT, abi.MPI_ANY_SOURCE, 1, nil), abi.MPI_ERR_PROC_ABORTED)
				wantClass(t, c.Probe(abi.MPI_ANY_SOURCE, 1, new(Status)), abi.MPI_ERR_PROC_ABORTED)
				_, err := c.Iprobe(n-1, 1, new(Status))
				wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
				wantClass(t, c.Barrier(), abi.MPI_ERR_PROC_ABORTED)
			}
			// Those of the own job go on, there and in MPI_COMM_WORLD.
			own := len(jobs[0])
			out, in := pattern(5000, me), make([]byte, 5000)
			must(t, c.Sendrecv(at(out), 5000, byteT, (me+1)%own, 2, at(in), 5000, byteT, (me+own-1)%own, 2, new(Status)))
			if !bytes.Equal(in, pattern(5000, (me+own-1)%own)) {
				t.Error("not what was sent")
			}
			work(t, e.World(), seed)
			wantClass(t, c.Disconnect(), abi.MPI_ERR_PROC_ABORTED)
			must(t, e.World().Barrier())
		})
		for _, e := range jobs[0] {
			must(t, e.failure())
			if len(e.guests.here) != 0 && len(jobs[1]) == 1 {
				t.Errorf("rank %d: %d guests", e.me, len(e.guests.here))
			}
		}
	})
}

// Whenever a guest dies, in the middle of collective operations and long messages: nobody waits for ever, and the other
// job can go on with its own.
func TestALossWheneverItComesEndsAllThatNeedsIt(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		jobs := jobsOf(es)
		if len(jobs[len(jobs)-1]) != 1 {
			return // all of a job end with the first
		}
		rounds := 1 + int(seed)%6
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			n, me := c.Size(), c.Rank()
			for i := 0; ; i++ {
				if me == n-1 && i == rounds {
					fakeOf(e).Kill(placeOf(e).index)
					return
				}
				in, out := make([]int32, 2000*n), make([]int32, 2000*n)
				err := c.Alltoall(perRankOf(out, n), perRankOf(in, n))
				if err == nil {
					err = c.Allgather(intBuf(out[:2000]), perRankOf(in, n))
				}
				if err == nil {
					var task *Task
					if task, err = c.Later(coll.Nonblocking); err == nil {
						must(t, task.Operations().Allreduce(intBuf(out), intBuf(in), op.Predefined(abi.MPI_SUM)))
						id := task.Start()
						err = e.Wait(&id, nil)
					}
				}
				if err == nil {
					err = c.Barrier()
				}
				if err != nil {
					wantClass(t, err, abi.MPI_ERR_PROC_ABORTED)
					break
				}
				if i > rounds {
					t.Errorf("rank %d has passed a barrier without rank %d", me, n-1)
					return
				}
			}
			c.Discard()
			work(t, e.World(), seed)
			must(t, e.Finish())
		})
		for _, e := range es[:len(es)-1] {
			must(t, e.failure())
		}
	})
}

// perRankOf is a buffer of as many integers for each of n ranks.
func perRankOf(values []int32, n int) coll.Buf {
	b := intBuf(values)
	b.Count = int64(len(values) / n)
	return b
}

// At the end links end in order, whether communicators have been freed or not.
func TestTheEndPartsFromAllGuests(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		g := gather(es)
		together(t, es, func(e *Engine) {
			if c := g.all(t, e); c != nil {
				work(t, c, seed)
			}
			must(t, e.Finish())
		})
		for _, e := range es {
			must(t, e.failure())
		}
	})
}

// A window of processes of several jobs: nobody shares memory with another job's.
func TestWindowsOfSeveralJobs(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			n, me := c.Size(), c.Rank()
			mine := make([]int32, n)
			w, err := c.NewWindow(onesided.Config{Flavor: abi.MPI_WIN_FLAVOR_CREATE, Base: intBuf(mine).Base,
				Size: int64(4 * n), Unit: 4})
			if err != nil {
				t.Error(err)
				return
			}
			must(t, w.Fence(0))
			for r := range n {
				one := []int32{int32(me + 1)}
				_, err := w.Put(intBuf(one), onesided.Place{Target: r, Disp: int64(me), Count: 1, Type: intT}, false)
				must(t, err)
			}
			must(t, w.Fence(0))
			for r, got := range mine {
				if got != int32(r+1) {
					t.Errorf("rank %d: %d from rank %d", me, got, r)
				}
			}
			must(t, w.Free())
			must(t, c.Disconnect())
		})
		forgotten(t, es)
	})
}

// Partitioned messages, and where processes are.
func TestPartitionedMessagesAndMachinesOfSeveralJobs(t *testing.T) {
	inMeetings(t, func(t *testing.T, es []*Engine, seed uint64) {
		acrossJobs(t, es, func(e *Engine, c *Comm) {
			n, me := c.Size(), c.Rank()
			out, in := pattern(4000, me), make([]byte, 4000)
			recv := c.PrecvInit(at(in), 2, 2000, byteT, (me+n-1)%n, 4)
			send := c.PsendInit(at(out), 4, 1000, byteT, (me+1)%n, 4)
			for range 2 {
				if err := e.Start(recv); err != nil {
					t.Error(err)
				}
				if err := e.Start(send); err != nil {
					t.Error(err)
				}
				for p := range int32(4) {
					if err := e.Pready(send, p, p); err != nil {
						t.Error(err)
					}
				}
				must(t, e.WaitAll([]uint64{send, recv}, nil))
				if !bytes.Equal(in, pattern(4000, (me+n-1)%n)) {
					t.Error("not what was sent")
				}
				clear(in)
				must(t, c.Barrier())
			}
			must(t, e.FreeRequest(&send))
			must(t, e.FreeRequest(&recv))
			near, err := c.Split(c.MachineColor(), 0)
			must(t, err)
			if near.Size() != len(e.home.World) || near.severalJobs() {
				t.Errorf("rank %d: %d processes share memory, and %d do", me, near.Size(), len(e.home.World))
			}
			must(t, near.Free())
			must(t, c.Disconnect())
		})
		forgotten(t, es)
	})
}
