package libimpi

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/transport/shm"
)

func TestCommunicatorsOfOneMachineMayHaveABoard(t *testing.T) {
	es := makeWorld(t, options{clients: []int{3, 1}})
	together(t, es, func(e *Engine) {
		if e.World().MayHaveBoard() || e.Self().MayHaveBoard() {
			t.Error("a communicator of two machines, or of one process, may have a board")
		}
		c, err := e.World().Split(int32(e.Job().Procs[e.Me()].Client), 0)
		must(t, err)
		if got, want := c.MayHaveBoard(), e.Me() < 3; got != want {
			t.Errorf("rank %d: %v, want %v", e.Me(), got, want)
		}
		must(t, c.Free())
	})
	noFailure(t, es)
}

func TestLargeCommunicatorsHaveNoBoard(t *testing.T) {
	es := world(t, shm.BoardMembers+1)
	for _, e := range es {
		if e.World().MayHaveBoard() {
			t.Fatal("a communicator of more than 32 processes may have a board")
		}
	}
	noFailure(t, es)
}

func TestAFreedCommunicatorLeavesItsBoard(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		for i := range 2*shm.Boards + 1 {
			c, err := e.World().Dup()
			must(t, err)
			b, err := c.OpenBoard(true)
			if must(t, err); b == nil {
				t.Errorf("communicator %d found all boards taken", i)
			}
			must(t, c.Barrier()) // else the next is opened before the last has left this one, and boards run out
			must(t, c.Free())
			must(t, e.World().Barrier())
		}
	})
	noFailure(t, es)
}

func TestWithoutAFreeBoardThereIsNone(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		var all []*Comm
		for i := range shm.Boards + 2 {
			c, err := e.World().Dup()
			must(t, err)
			b, err := c.OpenBoard(true)
			if must(t, err); (b != nil) != (i < shm.Boards) {
				t.Errorf("communicator %d: %v", i, b)
			}
			all = append(all, c)
		}
		for _, c := range all {
			must(t, c.Free())
		}
	})
	noFailure(t, es)
}

// A rank that waits for a word sleeps in the end, and is woken by who raises it.
func TestAWordIsAwaited(t *testing.T) {
	es := world(t, 2)
	var words [2]uint64
	together(t, es, func(e *Engine) {
		me := int(e.Me())
		for i := uint64(1); i < 200; i++ {
			if i%50 == 0 && me == 0 { // the other one finds nothing for so long that it sleeps
				for segmentOf(es[1]).Sleepers() == 0 {
					runtime.Gosched()
				}
			}
			atomic.StoreUint64(&words[me], i)
			segmentOf(e).Ring(1 - me)
			must(t, e.World().awaitWord(&words[1-me], i, cause{}, e.World().failure))
		}
	})
	noFailure(t, es)
}

func TestWhoWaitsForAWordMakesProgress(t *testing.T) {
	es := world(t, 2)
	var word uint64
	together(t, es, func(e *Engine) {
		c := e.World()
		if e.Me() == 0 {
			in := make([]byte, 1<<20)
			id := c.Irecv(startOf(in), int64(len(in)), byteT, 1, 5)
			must(t, c.awaitWord(&word, 1, cause{}, c.failure)) // which rank 1 raises when it has been able to send
			must(t, e.Wait(&id, nil))
			return
		}
		out := pattern(1<<20, 3)
		must(t, c.Send(startOf(out), int64(len(out)), byteT, 0, 5, modeStandard))
		atomic.StoreUint64(&word, 1)
		segmentOf(e).Ring(0)
	})
	noFailure(t, es)
}

func TestALostPeerEndsTheWaitForAWord(t *testing.T) {
	es := world(t, 2)
	var word uint64
	e := es[0]
	e.loss.failed.Store(errorf(1, "a peer is lost"))
	if err := e.World().awaitWord(&word, 1, cause{}, e.World().failure); err == nil {
		t.Error("no error")
	}
	word = 1
	must(t, e.World().awaitWord(&word, 1, cause{}, e.World().failure))
	e.loss.failed.Store(nil)
	noFailure(t, es)
}

// onBoards lets a rank's world have a board.
func onBoards(e *Engine) *Comm {
	e.collectives.openBoard = func(c *Comm) error {
		b, err := c.OpenBoard(true)
		if b == nil {
			return err
		}
		c.UseBoard(NewBoardCounters(b), nil)
		return nil
	}
	e.World().Bridge = e
	return e.World()
}

// Ranks begin more operations than a board has slots, short and long ones, wait for them from the last to the first,
// and make blocking ones and messages among them.
func TestManyNonblockingOperationsAreUnderWayOnABoard(t *testing.T) {
	const many = 3 * 32
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		must(t, c.Barrier()) // opens the board
		for round := range 20 {
			var requests [many]uint64
			in, out := make([][]byte, many), make([][]byte, many)
			for i := range requests {
				n := []int{8, 56, 64, 4096}[i%4]
				in[i], out[i] = pattern(n, me+i), make([]byte, 3*n)
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				v := task.Operations()
				if i%2 == 0 {
					must(t, v.Allgather(coll.Bytes(in[i]), coll.Bytes(out[i][:n])))
				} else {
					out[i] = out[i][:n]
					if me == i%3 {
						copy(out[i], in[i])
					}
					must(t, v.Bcast(coll.Bytes(out[i]), i%3))
				}
				requests[i] = task.Start()
				if (i+round)%40 == 0 {
					must(t, c.Barrier())
				}
			}
			for i := many - 1; i >= 0; i-- {
				must(t, e.Wait(&requests[i], nil))
				n := len(in[i])
				for r := range len(out[i]) / n {
					from := r
					if i%2 != 0 {
						from = i % 3
					}
					if !bytes.Equal(out[i][r*n:(r+1)*n], pattern(n, from+i)) {
						t.Errorf("round %d, operation %d: rank %d got something else of rank %d", round, i, me, from)
					}
				}
			}
		}
		if c.board.Begun == nil || *c.board.Begun < 20*many || *c.board.Tasks != 0 {
			t.Errorf("rank %d has begun %v operations on its board", me, c.board.Begun)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// A nonblocking operation does not open a board.
func TestOnlyBlockingOperationsOpenBoards(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		for range 2 {
			task, err := c.Later(coll.Nonblocking)
			must(t, err)
			must(t, task.Operations().Barrier())
			id := task.Start()
			must(t, e.Wait(&id, nil))
			if opened := c.board.Begun != nil; opened && *c.board.Begun != 2 {
				t.Errorf("rank %d has begun %d operations", e.Me(), *c.board.Begun)
			}
			must(t, c.Barrier())
		}
		if *c.board.Begun != 3 {
			t.Errorf("rank %d has begun %d operations, want 3", e.Me(), *c.board.Begun)
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// A receive of a collective operation that turns out not to be needed does not take the message of a later one.
func TestAReceiveThatIsWithdrawnTakesNoMessage(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c, text, first, second := &e.World().ops, []byte("later"), make([]byte, 5), make([]byte, 5)
		if e.Me() == 1 {
			must(t, c.Recv(coll.Bytes(first[:0]), 0, 5)) // rank 0 has withdrawn its receive
			must(t, c.Send(coll.Bytes(text), 0, 5))
			return
		}
		r, err := c.Irecv(coll.Bytes(first), 1, 5)
		must(t, err)
		if !c.Withdraw(r) {
			t.Error("a receive without a message is not withdrawn")
		}
		must(t, c.Send(coll.Bytes(nil), 1, 5))
		r, err = c.Irecv(coll.Bytes(second), 1, 5)
		must(t, err)
		done := func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.requests.find(uint64(r)).state.done
		}
		for !done() {
			e.Turn()
		}
		if c.Withdraw(r) {
			t.Error("a receive that has got its message is withdrawn")
		}
		if must(t, c.Wait(r)); string(second) != "later" || first[0] != 0 {
			t.Errorf("got %q and %q", first, second)
		}
	})
	noFailure(t, es)
}

// How many processes this machine has changes while threads wait: a guest joins, or parts. What follows from that is
// looked at without the engine's lock.
func TestGuestsComeAndGoWhileThreadsWait(t *testing.T) {
	es := world(t, 2)
	done := make(chan struct{})
	var counting sync.WaitGroup
	for _, e := range es {
		counting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				e.mu.Lock()
				e.countGuests()
				e.mu.Unlock()
				e.AvoidBoards(false)
				e.SetChecks(0)
			}
		})
	}
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		for range 200 {
			must(t, c.Barrier())
			must(t, exchangeInts(e))
			_, _ = e.Crowded(), e.Verifies()
		}
		c.NoBoard()
	})
	close(done)
	counting.Wait()
	noFailure(t, es)
}

// exchangeInts has each process send the next one a message, and wait for one.
func exchangeInts(e *Engine) error {
	c := e.World()
	me, p := int(e.Me()), c.Size()
	var st Status
	out, in := []byte{1}, []byte{0}
	return c.Sendrecv(startOf(out), 1, byteType, (me+1)%p, 1, startOf(in), 1, byteType, (me+p-1)%p, 1, &st)
}
