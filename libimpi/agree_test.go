package libimpi

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/libimpi/contexts"
	"github.com/libimpi/libimpi/libimpi/survive"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/fake"
)

// What agreements of survivors say, on communicators of all kinds. That they come to an end whoever dies whenever is
// tested in survivors_test.go.

// Members get the same flag and the same error: while a loss is not acknowledged by all of them, whoever has.
func TestAgreementsRaiseUntilAllHaveAcknowledgedALoss(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		victim := int(seed) % len(es)
		together(t, es, func(e *Engine) {
			c := e.World()
			flag, err := c.Agree(-1)
			must(t, err)
			if flag != -1 {
				t.Errorf("rank %d: %#x, want what all have said", e.me, flag)
			}
			if int(e.me) == victim {
				diesLast(t, e.World())
				return
			}
			lets(t, e.World(), victim)
			noticed(t, e, victim)
			if int(e.me)%2 == 0 {
				c.AckFailed(1)
			}
			flag, err = c.Agree(^(1 << e.me))
			wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			c.AckFailed(1)
			again, err := c.Agree(^(1 << e.me))
			must(t, err)
			if want := ^(1<<len(es) - 1) | 1<<victim; flag != int32(want) || again != flag {
				t.Errorf("rank %d: %#x and %#x, want %#x", e.me, flag, again, want)
			}
			must(t, e.Finish())
		})
	})
}

// diesLast ends a process when all others let it die.
func diesLast(t *testing.T, c *Comm) {
	for range c.Size() - 1 {
		must(t, c.Recv(at(nil), 0, byteT, abi.MPI_ANY_SOURCE, 8, nil))
	}
	dies(c.engine)
}

func lets(t *testing.T, c *Comm, victim int) {
	must(t, c.Send(at(nil), 0, byteT, victim, 8, Standard))
}

// Operations that do not block take place in the order of their calls, whenever they are waited for.
func TestAgreementsAndShrinksThatDoNotBlock(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		victim := int(seed) % len(es)
		together(t, es, func(e *Engine) {
			c := e.World()
			if int(e.me) == victim {
				dies(e)
				return
			}
			c.Revoke()
			var left [2]*Comm
			flag := int32(0)
			ids := []uint64{
				c.Ishrink(func(made *Comm) { left[0] = made }),
				c.Iagree(6|1<<(e.me%2), func(all int32) { flag = all }),
				c.Ishrink(func(made *Comm) { left[1] = made }),
			}
			wantClass(t, e.Cancel(ids[0]), abi.MPI_ERR_REQUEST)
			freed := ids[1]
			wantClass(t, e.FreeRequest(&freed), abi.MPI_ERR_REQUEST)
			must(t, e.Wait(&ids[2], nil))
			wantClass(t, e.Wait(&ids[1], nil), abi.MPIX_ERR_PROC_FAILED)
			must(t, e.Wait(&ids[0], nil))
			if flag != 6 {
				t.Errorf("rank %d: the flag is %d", e.me, flag)
			}
			for _, c := range left {
				if c.Size() != len(es)-1 || c.Failed().Size() != 0 {
					t.Errorf("rank %d: %v are left", e.me, c.Group().Worlds())
				}
				must(t, c.Barrier())
				d, err := c.Dup() // with ids of the block that was agreed on
				must(t, err)
				must(t, d.Barrier())
				must(t, d.Free())
				must(t, c.Free())
			}
			must(t, e.Finish())
		})
		for i, e := range es {
			if i != victim {
				idle(t, e, 0)
			}
		}
	})
}

// Members of both groups agree, and what is left of an intercommunicator is one.
func TestIntercommunicatorsAreShrunk(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		n := int32(len(es))
		half, victim := n/2, int32(seed)%n
		last := es[0].World().group.Rank(n-1) == int(victim) && n-half == 1
		together(t, es, func(e *Engine) {
			w := e.World()
			side := min(e.me/half, 1)
			home, err := w.Split(side, 0)
			must(t, err)
			inter, err := home.CreateInter(0, w, int([]int32{half, 0}[side]), 5)
			must(t, err)
			if e.me == victim {
				diesLast(t, e.World())
				return
			}
			lets(t, e.World(), int(victim))
			if e.me == (victim+1)%n {
				inter.Revoke()
			}
			wantLossOrRevocation(t, inter.Barrier())
			flag, err := inter.Agree(^(1 << e.me))
			if err != nil {
				wantClass(t, err, abi.MPIX_ERR_PROC_FAILED)
			}
			if side == 0 && flag&(1<<(half)) != 0 && half != victim {
				t.Errorf("rank %d: the other group is not in the flag %#x", e.me, flag)
			}
			left, err := inter.Shrink()
			must(t, err)
			must(t, inter.Free())
			if left == nil {
				if !last && half > 1 && n-half > 1 {
					t.Errorf("rank %d: nobody is left", e.me)
				}
				return
			}
			if left.Size()+left.Ranks() != len(es)-1 || !left.Inter() {
				t.Errorf("rank %d: %d and %d are left", e.me, left.Size(), left.Ranks())
			}
			must(t, left.Barrier())
			must(t, left.Free())
		})
	})
}

// wantLossOrRevocation checks an operation that a loss or a revocation has ended.
func wantLossOrRevocation(t *testing.T, err error) {
	t.Helper()
	if err == nil || !isLoss(AsError(err)) {
		t.Errorf("%v, want a loss or a revocation", err)
	}
}

// A receive from any process of the other group does not care about losses in the own one.
func TestAReceiveFromTheOtherGroupCaresForThatGroup(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{4}, Seed: 7}, tune: faultTolerant})
	together(t, es, func(e *Engine) {
		_, inter := meet(t, e)
		if e.me == 1 {
			diesLast(t, e.World())
			return
		}
		lets(t, e.World(), 1)
		switch e.me {
		case 0:
			noticed(t, e, 1)
			must(t, inter.Recv(at(nil), 0, byteT, abi.MPI_ANY_SOURCE, 1, nil))
			must(t, e.World().Send(at(nil), 0, byteT, 2, 2, Standard))
		case 2:
			must(t, inter.Send(at(nil), 0, byteT, 0, 1, Standard))
			noticed(t, e, 1)
			wantClass(t, inter.Recv(at(nil), 0, byteT, abi.MPI_ANY_SOURCE, 1, nil), abi.MPIX_ERR_PROC_FAILED)
			must(t, e.World().Recv(at(nil), 0, byteT, 0, 2, nil))
		}
	})
}

// Processes of several jobs agree, and vote on the ids of what is left.
func TestProcessesOfSeveralJobsShrink(t *testing.T) {
	for name, o := range meetingShapes {
		if name == "one and one" {
			continue
		}
		for seed := range min(seeds(), 4) {
			o.Seed, o.Late = seed, int(seed)*3
			es := makeWorld(t, options{fake: &o, tune: faultTolerant})
			acrossJobs(t, es, func(e *Engine, c *Comm) {
				n := c.Size()
				victim := int(seed+1) % n
				if c.Rank() == victim {
					diesLast(t, c)
					return
				}
				lets(t, c, victim)
				wantLossOrRevocation(t, c.Recv(at(nil), 0, byteT, victim, 9, nil))
				if c.Rank() == (victim+1)%n {
					c.Revoke()
				}
				wantLossOrRevocation(t, c.Barrier())
				left, err := c.Shrink()
				must(t, err)
				c.Discard()
				if left.Size() != n-1 {
					t.Errorf("%s, seed %d: %d are left of %d", name, seed, left.Size(), n)
				}
				must(t, left.Barrier())
				again := left.Ishrink(func(same *Comm) {
					must(t, same.Barrier())
					must(t, same.Free())
				})
				must(t, e.Wait(&again, nil))
				if flag, err := left.Agree(int32(left.Rank()) | 64); err != nil || flag != 64 {
					t.Errorf("%s, seed %d: %d, %v", name, seed, flag, err)
				}
				must(t, left.Free())
			})
		}
	}
}

// Members of another implementation know nothing of agreements. Who knows tells others of a revocation.
func TestNobodyAgreesWithAnotherImplementation(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3, 1}, tune: func(j *transport.Job) {
		foreign(j)
		faultTolerant(j)
	}})
	together(t, es[:3], func(e *Engine) {
		c := e.World()
		_, err := c.Agree(1)
		wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_OPERATION)
		_, err = c.Shrink()
		wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_OPERATION)
		id := c.Ishrink(func(*Comm) { t.Error("shrunk") })
		wantClass(t, e.Wait(&id, nil), abi.MPI_ERR_UNSUPPORTED_OPERATION)
		if e.me == 1 {
			c.Revoke()
		}
		wantClass(t, c.Recv(at(nil), 0, byteT, 3, 1, nil), abi.MPIX_ERR_REVOKED)
	})
}

// A job need not be fault tolerant for a program that is.
func TestProgramsThatCouldSurviveRunInAnyJob(t *testing.T) {
	es := makeWorld(t, options{clients: []int{2, 2}})
	together(t, es, func(e *Engine) {
		c, err := e.World().Dup()
		must(t, err)
		if flag, err := c.Agree(12 | 1<<(e.me%2)); err != nil || flag != 12 {
			t.Errorf("rank %d: %d, %v", e.me, flag, err)
		}
		if e.me == 3 {
			c.Revoke()
		}
		wantClass(t, c.Recv(at(nil), 0, byteT, 0, 1, nil), abi.MPIX_ERR_REVOKED)
		left, err := c.Shrink()
		must(t, err)
		must(t, left.Barrier())
		alone, err := e.Self().Shrink()
		must(t, err)
		must(t, alone.Barrier())
		for _, c := range []*Comm{c, left, alone} {
			c.Discard()
		}
	})
	noFailure(t, es)
}

// wordTo delivers a message of an agreement.
func wordTo(e *Engine, from int32, m survive.Message) {
	e.deliver(transport.Header{Kind: transport.Data, Src: from, LSRank: from, CID: contexts.Survivors,
		Tag: tagAgreement}, m.Append(nil))
}

// Who sends what is no message of an agreement is lost, and condemned. Who is lost for others ends.
func TestMembersThatBreakTheRulesOfAgreementsAreCondemned(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{4}}, tune: faultTolerant})
	e := es[0]
	condemned := make(chan int32, 4)
	e.loss.condemn = func(world int32, _ bool, _ error) { condemned <- world }
	wordTo(e, 1, survive.Message{Kind: survive.Down, Number: 3})
	wantLost(t, e, condemned, 1)
	e.deliver(transport.Header{Kind: transport.Data, Src: 2, LSRank: 2, CID: contexts.Survivors}, []byte{1})
	wantLost(t, e, condemned, 2)
	must(t, e.failure())
	wordTo(e, 3, survive.Message{Kind: survive.Up, Value: survive.Value{Failed: survive.Of(0)}})
	if world := <-condemned; world != 0 || e.failure() == nil {
		t.Errorf("%d is condemned, and goes on: %v", world, e.failure())
	}
}

func wantLost(t *testing.T, e *Engine, condemned chan int32, victim int32) {
	t.Helper()
	if world := <-condemned; world != victim || e.peer(victim).lost == nil {
		t.Errorf("%d is condemned, and %d is lost: %v", world, victim, e.peer(victim).lost)
	}
}

// Words about communicators that are not here take little room, however many one process sends, and say nothing about
// its other messages.
func TestEarlyWordsOfRevocationsAreBounded(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{3}}, tune: faultTolerant})
	e := es[0]
	tell := func(from int32, cid uint64) {
		e.deliver(transport.Header{Kind: transport.Data, Src: from, CID: contexts.Survivors | cid, Tag: tagRevocation}, nil)
	}
	tell(2, 1000)
	for i := range uint64(3 * survive.MostEarly) {
		tell(1, 2000+2*i)
	}
	if n := len(e.loss.early[1]); n != survive.MostEarly || e.contexts.early.Contexts() != 0 {
		t.Errorf("%d words, and messages of %d contexts", n, e.contexts.early.Contexts())
	}
	for cid, want := range map[uint64]bool{1000: true, 2000: false, 2000 + 2*(3*survive.MostEarly-1): true} {
		if c := agreed(t, e, cid); c.Revoked() != want {
			t.Errorf("communicator %d is revoked: %v", cid, c.Revoked())
		}
	}
}

// What members of communicators that have been freed have agreed on is remembered until all can have heard it.
func TestFreedCommunicatorsAreRememberedForAWhile(t *testing.T) {
	es := makeWorld(t, options{fake: &fake.Options{Machines: []int{3}, Seed: 2}, tune: faultTolerant})
	together(t, es, func(e *Engine) {
		some := func(n int) {
			for range n {
				c, err := e.World().Dup()
				must(t, err)
				_, err = c.Agree(1)
				must(t, err)
				c.Discard()
			}
		}
		remembered := func(want int) {
			t.Helper()
			if n := len(e.loss.retired); n != want {
				t.Errorf("rank %d remembers %d communicators, want %d", e.me, n, want)
			}
		}
		some(3)
		remembered(1) // each shows that all have heard the one before
		c, err := e.World().Dup()
		must(t, err)
		var id uint64
		agree := func() { id = c.Iagree(1, func(int32) {}) }
		if e.me != 2 {
			agree()
		}
		some(mostRetired + 40) // while two wait for another one, and may have to be told
		remembered(mostRetired)
		if e.me == 2 {
			agree()
		}
		must(t, e.Wait(&id, nil))
		_, err = e.World().Agree(1)
		must(t, err)
		remembered(0)
		if n := len(e.loss.survivors); n != 2 {
			t.Errorf("rank %d: survivors of %d communicators", e.me, n)
		}
		must(t, e.World().Barrier())
	})
}

// Nobody waits for ever at the end for one who cannot tell that he has heard, if others are lost.
func TestTheEndDoesNotWaitForStragglers(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3}, tune: faultTolerant})
	for _, e := range es[:2] {
		e.mu.Lock()
		e.Lost(2, errTest)
		e.mu.Unlock()
	}
	es[1].mu.Lock()
	must(t, es[1].World().begin(&settlement{}, func(s *survivors) *survive.Operation {
		return s.agreements.Confirmed(survive.Value{})
	}))
	es[1].mu.Unlock() // and no poll
	now := time.Now()
	es[0].now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	must(t, es[0].Finish())
	if op := es[0].World().losses.survivors.underWay; len(op) != 1 || op[0].op.Rounds() != 1 {
		t.Error("the second agreement has ended, or the first has not")
	}
	if slices.Contains(es[0].World().Failed().Worlds(), 1) {
		t.Error("a straggler is taken for lost")
	}
}

// Messages that a revocation finds under way hold up nobody at the end: who receives no more of them may have departed.
func TestTheEndDoesNotWaitForMessagesGivenUp(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			c, err := e.World().Dup()
			must(t, err)
			n, me := c.Size(), c.Rank()
			in, out := make([]byte, 70000), make([]byte, 70000)
			c.Irecv(at(in), 70000, byteT, (me+n-1)%n, 4)
			send := c.Isend(at(out), 70000, byteT, (me+1)%n, 4, Standard)
			for range seed {
				_, err := e.Test(&send, nil)
				must(t, err)
			}
			if me == int(seed)%n {
				c.Revoke()
			}
			must(t, e.Finish())
		})
		noFailure(t, es)
	})
}

// Who has heard of nothing goes to the end with those who have, and look at who has departed.
func TestTheEndIsOfAllThoughOnlySomeKnowOfARevocation(t *testing.T) {
	inSurvivors(t, func(t *testing.T, es []*Engine, seed uint64) {
		together(t, es, func(e *Engine) {
			third := (e.me + int32(seed)) % 3
			c, err := e.World().Split(third, 0)
			must(t, err)
			if third != 1 {
				c.Revoke()
			}
			must(t, e.Finish())
		})
		noFailure(t, es)
	})
}

// A job that is not fault tolerant ends in order, too, when its program has revoked MPI_COMM_WORLD.
func TestAJobWhoseWorldIsRevokedEnds(t *testing.T) {
	for name, o := range jobShapes {
		for seed := range seeds() {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				o.Seed, o.Late = seed, int(seed)*3
				es := makeWorld(t, options{fake: &o})
				together(t, es, func(e *Engine) {
					if int(e.me) == int(seed)%len(es) {
						e.World().Revoke()
					}
					must(t, e.Finish())
				})
				noFailure(t, es)
			})
		}
	}
}
