package libimpi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// Jobs that are fault tolerant, and lose processes.

func faultTolerant(job *transport.Job) { job.FaultTolerant = true }

// inSurvivors runs a test in many worlds of a fault tolerant job of at least three processes.
func inSurvivors(t *testing.T, test func(t *testing.T, es []*Engine, seed uint64)) {
	for name, o := range jobShapes {
		for seed := range seeds() {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				o.Seed, o.Late = seed, int(seed)*3
				test(t, makeWorld(t, options{fake: &o, tune: faultTolerant}), seed)
			})
		}
	}
}

// dies ends the process of an engine.
func dies(e *Engine) { fakeOf(e).Kill(placeOf(e).index) }

// noticed returns when the loss of a process is known to an engine: a receive from it ends.
func noticed(t *testing.T, e *Engine, victim int) {
	t.Helper()
	wantClass(t, e.World().Recv(at(nil), 0, byteT, victim, 99, nil), abi.MPIX_ERR_PROC_FAILED)
}

// exchanged lets all survivors send a message around among themselves.
func exchanged(t *testing.T, e *Engine, c *Comm, victim, size int) {
	t.Helper()
	n, me := c.Size(), c.Rank()
	next, last := (me+1)%n, (me+n-1)%n
	if next == victim {
		next = (next + 1) % n
	}
	if last == victim {
		last = (last + n - 1) % n
	}
	in := make([]byte, size)
	n64 := int64(size)
	must(t, c.Sendrecv(at(pattern(size, me)), n64, byteT, next, 7, at(in), n64, byteT, last, 7, new(Status)))
	if !bytes.Equal(in, pattern(size, last)) {
		t.Errorf("rank %d: not what rank %d has sent", e.me, last)
	}
}

// What needs a process that has died ends with an error that names it; others go on, and so does the job.
func TestTheLossOfAProcessEndsWhatNeedsItInAFaultTolerantJob(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		victim := rand.New(rand.NewPCG(seed, 31)).IntN(len(es))
		together(t, es, func(e *Engine) {
			c := e.World()
			dup, err := c.Dup()
			must(t, err)
			if int(e.me) == victim {
				dies(e)
				return
			}
			buf := make([]byte, 5000)
			wantClass(t, c.Recv(at(buf), 5000, byteT, victim, 1, nil), abi.MPIX_ERR_PROC_FAILED) // while it dies
			for _, c := range []*Comm{c, dup} {
				wantClass(t, c.Send(at(buf), 5, byteT, victim, 1, Standard), abi.MPIX_ERR_PROC_FAILED)
				wantClass(t, c.Send(at(buf), 5000, byteT, victim, 1, Synchronous), abi.MPIX_ERR_PROC_FAILED)
				_, err = c.Iprobe(victim, 1, new(Status))
				wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
				wantClass(t, c.Barrier(), abi.MPIX_ERR_PROC_FAILED)
				exchanged(t, e, c, victim, 40)
				exchanged(t, e, c, victim, 70000)
				if f := c.Failed(); f.Size() != 1 || f.World(0) != int32(victim) {
					t.Errorf("rank %d: %v are lost, of whom rank %d has died", e.me, f.Worlds(), victim)
				}
			}
			wantClass(t, c.Send(at(buf), 5, byteT, victim, 1, Standard), abi.MPIX_ERR_PROC_FAILED)
			must(t, dup.Free())
			must(t, e.Finish())
		})
		for i, e := range es {
			if i != victim {
				must(t, e.failure())
				idle(t, e, 0)
			}
		}
	})
}

// A request for any message pends until the program has acknowledged the loss, and keeps its place: what comes is its
// own. A call without a request ends.
func TestReceivesFromAnySourcePendUntilALossIsAcknowledged(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		const receiver, victim, sender = 0, 1, 2
		together(t, es, func(e *Engine) {
			c := e.World()
			switch e.me {
			case victim:
				dies(e)
				return
			case sender:
				must(t, c.Recv(at(nil), 0, byteT, receiver, 5, nil))
				must(t, c.Send(at([]byte{1}), 1, byteT, receiver, 3, Standard))
				must(t, c.Send(at([]byte{2}), 1, byteT, receiver, 3, Standard))
			}
			if e.me != receiver {
				return
			}
			var first, second [1]byte
			anyone := c.Irecv(at(first[:]), 1, byteT, abi.MPI_ANY_SOURCE, 3)
			noticed(t, e, victim)
			kept := anyone
			wantClass(t, e.Wait(&anyone, nil), abi.MPIX_ERR_PROC_FAILED_PENDING)
			done, err := e.Test(&anyone, nil)
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED_PENDING)
			if done || anyone != kept {
				t.Errorf("request %#x has become %#x, done %v", kept, anyone, done)
			}
			_, err = e.WaitAny([]uint64{nullRequest, anyone}, nil)
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED_PENDING)
			st := make([]CStatus, 1)
			wantClass(t, e.WaitAll([]uint64{anyone}, st), abi.MPI_ERR_IN_STATUS)
			if st[0].Error != abi.MPIX_ERR_PROC_FAILED_PENDING {
				t.Errorf("the status has the error %d", st[0].Error)
			}
			wantClass(t, c.Recv(at(second[:]), 1, byteT, abi.MPI_ANY_SOURCE, 3, nil), abi.MPIX_ERR_PROC_FAILED)
			wantClass(t, c.Probe(abi.MPI_ANY_SOURCE, 3, new(Status)), abi.MPIX_ERR_PROC_FAILED)
			if n := c.AckFailed(0); n != 0 {
				t.Errorf("%d losses are acknowledged, of none", n)
			}
			if n := c.AckFailed(5); n != 1 || c.Acknowledged().World(0) != victim {
				t.Errorf("%d losses are acknowledged, of one", n)
			}
			must(t, c.Send(at(nil), 0, byteT, sender, 5, Standard))
			must(t, c.Recv(at(second[:]), 1, byteT, abi.MPI_ANY_SOURCE, 3, nil))
			must(t, e.Wait(&anyone, nil))
			if first != [1]byte{1} || second != [1]byte{2} {
				t.Errorf("messages %v and %v are received in another order than sent", first, second)
			}
			wantClass(t, c.Barrier(), abi.MPIX_ERR_PROC_FAILED)
		})
	})
}

// Whenever a process dies, in the middle of collective operations and long messages: who notices revokes, and all
// survivors leave the loop with an error, nobody waiting for ever.
func TestALossAndARevocationEndAllCollectiveOperations(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 78))
		victim, rounds := r.IntN(len(es)), r.IntN(5)
		together(t, es, func(e *Engine) {
			c, err := e.World().Dup()
			must(t, err)
			n := c.Size()
			for i := 0; ; i++ {
				if int(e.me) == victim && i == rounds {
					dies(e)
					return
				}
				in, out := make([]int32, 2000*n), make([]int32, 2000*n)
				err := c.Alltoall(perRankOf(out, n), perRankOf(in, n))
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
				if err == nil {
					continue
				}
				if class := AsError(err).Class; class != abi.MPIX_ERR_PROC_FAILED && class != abi.MPIX_ERR_REVOKED {
					t.Errorf("rank %d: %v", e.me, err)
				}
				c.Revoke()
				break
			}
			wantClass(t, c.Barrier(), abi.MPIX_ERR_REVOKED)
			c.Discard()
			exchanged(t, e, e.World(), victim, 3000)
			must(t, e.Finish())
		})
		for i, e := range es {
			if i != victim {
				must(t, e.failure())
			}
		}
	})
}

// A revoked communicator is of no use to anybody, whatever waits there ends, and all others go on.
func TestARevokedCommunicatorEndsWhatWaitsThere(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			c, err := e.World().Dup()
			must(t, err)
			n, me := c.Size(), c.Rank()
			buf := make([]byte, 70000)
			long := c.Isend(at(buf), 70000, byteT, (me+1)%n, 4, Synchronous) // nobody receives it
			own := c.Isend(at(buf), 70000, byteT, me, 4, Synchronous)
			if me == n-1 {
				for r := range n - 1 {
					must(t, e.World().Recv(at(nil), 0, byteT, r, 8, nil))
				}
				c.Revoke()
			} else {
				must(t, e.World().Send(at(nil), 0, byteT, n-1, 8, Standard))
				wantClass(t, c.Recv(at(buf), 1, byteT, abi.MPI_ANY_SOURCE, 1, nil), abi.MPIX_ERR_REVOKED)
			}
			wantClass(t, e.Wait(&long, nil), abi.MPIX_ERR_REVOKED)
			wantClass(t, e.Wait(&own, nil), abi.MPIX_ERR_REVOKED)
			for range 2 {
				wantClass(t, c.Send(at(buf), 1, byteT, (me+1)%n, 1, Standard), abi.MPIX_ERR_REVOKED)
				wantClass(t, c.Send(at(buf), 70000, byteT, (me+1)%n, 1, Standard), abi.MPIX_ERR_REVOKED)
				wantClass(t, c.Send(at(buf), 1, byteT, me, 1, Standard), abi.MPIX_ERR_REVOKED)
				wantClass(t, c.Recv(at(buf), 1, byteT, (me+1)%n, 1, nil), abi.MPIX_ERR_REVOKED)
				wantClass(t, c.Probe(abi.MPI_ANY_SOURCE, 1, new(Status)), abi.MPIX_ERR_REVOKED)
				wantClass(t, c.Barrier(), abi.MPIX_ERR_REVOKED)
			}
			if !c.Revoked() || e.World().Revoked() || c.Failed().Size() != 0 {
				t.Errorf("rank %d: revoked %v, the world %v", e.me, c.Revoked(), e.World().Revoked())
			}
			must(t, e.World().Barrier())
			c.Discard()
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
		for _, e := range es {
			idle(t, e, 0)
		}
	})
}

// In a job that is not fault tolerant nothing changes: its first loss ends it.
func TestALossEndsAJobThatIsNotFaultTolerant(t *testing.T) {
	o := fake.Options{Machines: []int{3}, Seed: 4, Late: 5}
	es := makeWorld(t, options{fake: &o})
	together(t, es, func(e *Engine) {
		if e.me == 2 {
			dies(e)
			return
		}
		wantClass(t, e.World().Recv(at(nil), 0, byteT, int(1-e.me), 1, nil), abi.MPI_ERR_PROC_ABORTED)
		if e.LostPeer() == nil || e.World().Failed().Size() != 0 {
			t.Error("the job goes on")
		}
	})
}

// Operations on a board end, blocking ones, others and persistent ones, when a member is lost or the communicator is
// revoked. A member that has given up lets nobody think that it has done its part.
func TestOperationsOnABoardEndWithALossOrARevocation(t *testing.T) {
	ends := map[int]func(e *Engine){
		abi.MPIX_ERR_PROC_FAILED: func(e *Engine) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.Lost(2, errTest)
		},
		abi.MPIX_ERR_REVOKED: func(e *Engine) { e.World().Revoke() },
	}
	for class, end := range ends {
		es := makeWorld(t, options{clients: []int{3}, tune: faultTolerant})
		begun, given := make(chan bool, 2), make(chan bool)
		together(t, es, func(e *Engine) {
			c := onBoards(e)
			must(t, c.Barrier()) // opens the board
			in, out := []int32{1}, []int32{0}
			sum := func(form coll.Form) *Task {
				task, err := c.Later(form)
				must(t, err)
				must(t, task.Operations().Allreduce(intBuf(in), intBuf(out), op.Predefined(abi.MPI_SUM)))
				return task
			}
			kept := sum(coll.Persistent).Keep()
			if e.me == 2 {
				<-begun
				<-begun
				end(es[0])
				<-given
				end(es[1])
				return
			}
			once := sum(coll.Nonblocking).Start()
			start := func() {
				if err := e.Start(kept); err != nil {
					t.Error(err)
				}
			}
			start()
			begun <- true
			wantClass(t, c.Barrier(), class)
			wantClass(t, e.Wait(&once, nil), class)
			wantClass(t, e.Wait(&kept, nil), class)
			start()
			wantClass(t, e.Wait(&kept, nil), class)
			must(t, e.FreeRequest(&kept))
			wantClass(t, c.Bcast(intBuf(out), 1), class)
			if e.me == 0 {
				close(given)
			}
		})
		noFailure(t, es)
		for _, e := range es[:2] {
			idle(t, e, 0)
		}
	}
}

// A communicator that is made when a member is lost already, or has been revoked by who was quicker, is none that
// anybody waits on.
func TestCommunicatorsMadeAfterALossOrARevocation(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{2, 2}, Seed: 3, Late: 9}, tune: faultTolerant})
	together(t, es, func(e *Engine) {
		c := e.World()
		if e.me == 3 {
			dies(e)
			return
		}
		noticed(t, e, 3)
		with, err := e.newComm(c.Group(), 1000)
		must(t, err)
		wantClass(t, with.Barrier(), abi.MPIX_ERR_PROC_FAILED)
		wantClass(t, with.Recv(at(nil), 0, byteT, abi.MPI_ANY_SOURCE, 0, nil), abi.MPIX_ERR_PROC_FAILED)
		without, err := e.newComm(NewGroup([]int32{0, 1, 2}), 1002)
		must(t, err)
		must(t, without.Barrier())
		if without.Failed().Size() != 0 || with.Failed().Size() != 1 {
			t.Errorf("rank %d: %d and %d members are lost", e.me, without.Failed().Size(), with.Failed().Size())
		}
		e.deliver(transport.Header{Kind: transport.Data, Src: (e.me + 1) % 3, CID: contexts.Survivors | 1004,
			Tag: tagRevocation}, nil)
		revoked, err := e.newComm(NewGroup([]int32{0, 1, 2}), 1004)
		must(t, err)
		wantClass(t, revoked.Barrier(), abi.MPIX_ERR_REVOKED)
		for _, c := range []*Comm{with, without, revoked} {
			c.Discard()
		}
		must(t, e.Finish())
	})
}

// A call that waits for all of some requests does not wait for others when one pends. It completes those that are done.
func TestWaitAllLeavesWhatIsNotDoneWhenAReceivePends(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		const receiver, victim, sender = 0, 1, 2
		together(t, es, func(e *Engine) {
			c := e.World()
			switch e.me {
			case victim:
				dies(e)
				return
			case sender:
				must(t, c.Send(at([]byte{1}), 1, byteT, receiver, 1, Standard))
				must(t, c.Send(at(nil), 0, byteT, receiver, 9, Standard))
				must(t, c.Recv(at(nil), 0, byteT, receiver, 5, nil))
				must(t, c.Send(at([]byte{2}), 1, byteT, receiver, 2, Standard))
				must(t, c.Send(at([]byte{3}), 1, byteT, receiver, 3, Standard))
			}
			if e.me != receiver {
				return
			}
			in := make([][1]byte, 3)
			ids := []uint64{
				c.Irecv(at(in[0][:]), 1, byteT, sender, 1), c.Irecv(at(in[1][:]), 1, byteT, abi.MPI_ANY_SOURCE, 2),
				c.Irecv(at(in[2][:]), 1, byteT, sender, 3),
			}
			noticed(t, e, victim)
			must(t, c.Recv(at(nil), 0, byteT, sender, 9, nil)) // behind the first
			st := make([]CStatus, 3)
			err := e.WaitAll(ids, st)
			wantClass(t, err, abi.MPI_ERR_IN_STATUS)
			wantClass(t, AsError(err).First, abi.MPIX_ERR_PROC_FAILED_PENDING)
			for i, want := range []int32{abi.MPI_SUCCESS, abi.MPIX_ERR_PROC_FAILED_PENDING, abi.MPI_ERR_PENDING} {
				if st[i].Error != want {
					t.Errorf("request %d has the error %d, want %d", i, st[i].Error, want)
				}
			}
			c.AckFailed(1)
			must(t, c.Send(at(nil), 0, byteT, sender, 5, Standard))
			must(t, e.WaitAll(ids, nil))
			if in[0] != [1]byte{1} || in[1] != [1]byte{2} || in[2] != [1]byte{3} {
				t.Errorf("received %v", in)
			}
		})
	})
}

// Communicators are made of communicators that have lost a member by those who know the loss to be none of theirs; for
// others that raises, and nobody waits.
func TestMakingCommunicatorsAfterALossRaisesOrWorks(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		victim := int(seed) % len(es)
		together(t, es, func(e *Engine) {
			c := e.World()
			if int(e.me) == victim {
				dies(e)
				return
			}
			left, err := c.Group().Excl([]int{victim})
			must(t, err)
			if d, err := c.CreateGroup(c.Group(), 3); err == nil { // while it dies: some may not notice
				d.Discard()
			} else {
				wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			}
			noticed(t, e, victim)
			_, err = c.Dup()
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			_, err = c.Split(0, 0)
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			_, err = c.Create(left)
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			id := c.Idup(c.Unopened(), func() { t.Error("opened") })
			wantClass(t, e.Wait(&id, nil), abi.MPIX_ERR_PROC_FAILED)
			_, err = e.CreateFromGroup(c.Group(), "all")
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			for _, create := range []func() (*Comm, error){
				func() (*Comm, error) { return c.CreateGroup(left, 3) },
				func() (*Comm, error) { return e.CreateFromGroup(left, "left") },
			} {
				d, err := create()
				must(t, err)
				must(t, d.Barrier())
				must(t, d.Free())
			}
			must(t, e.Finish())
		})
	})
}

// Who frees a communicator that spans clients waits for the others, as IMPI asks for: not for those that have left to
// recover from a loss elsewhere.
func TestACommunicatorIsFreedThoughOthersHaveLeftAfterALoss(t *testing.T) {
	for _, early := range []bool{false, true} {
		three := fake.Options{Machines: []int{1, 1, 1}, Clients: []int32{0, 1, 2}, Seed: 3, Late: 9}
		es := makeWorld(t, options{fake: &three, tune: faultTolerant})
		together(t, es, func(e *Engine) {
			if e.me == 2 {
				dies(e)
				return
			}
			pair, err := e.newComm(NewGroup([]int32{0, 1}), 1000)
			must(t, err)
			if e.me == 1 || early {
				noticed(t, e, 2)
			}
			if e.me == 0 {
				must(t, pair.Free())
			}
		})
	}
}

// What a file's members send each other is of collective operations: who has heard of a loss sends no more.
func TestMessagesOfFilesEndWithTheLossOfAnyMember(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{1, 1, 1}}, tune: faultTolerant})
	together(t, es, func(e *Engine) {
		own, err := fileParent{e.World()}.Duplicate()
		must(t, err)
		c := own.(*fileComm)
		if e.me == 2 {
			dies(e)
			return
		}
		req, err := c.Irecv(make([]byte, 8), int(1-e.me), 1)
		must(t, err)
		wantClass(t, c.Wait(req), abi.MPIX_ERR_PROC_FAILED)
	})
}
