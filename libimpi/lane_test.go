package libimpi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/transport"
	"github.com/libimpi/libimpi/transport/shm"
)

// kept makes a persistent operation.
func kept(t *testing.T, c *Comm, operation func(v Collectives) error) uint64 {
	t.Helper()
	task, err := c.Later(coll.Persistent)
	must(t, err)
	must(t, operation(task.Operations()))
	return task.Keep()
}

// keptAllgather is a persistent operation to which each member contributes as many bytes.
type keptAllgather struct {
	id      uint64
	in, out []byte
}

func newKeptAllgather(t *testing.T, c *Comm, n int) *keptAllgather {
	k := &keptAllgather{in: make([]byte, n), out: make([]byte, n*c.Size())}
	k.id = kept(t, c, func(v Collectives) error {
		return v.Allgather(coll.Bytes(k.in), coll.Bytes(k.out[:n]))
	})
	return k
}

func (k *keptAllgather) start(t *testing.T, e *Engine, round int) {
	copy(k.in, pattern(len(k.in), int(e.Me())+round))
	clear(k.out)
	if err := e.Start(k.id); err != nil {
		t.Error(err)
	}
}

func (k *keptAllgather) wait(t *testing.T, e *Engine, round int) {
	must(t, e.Wait(&k.id, nil))
	n := len(k.in)
	for r := range len(k.out) / n {
		if got := k.out[n*r : n*r+n]; !bytes.Equal(got, pattern(n, r+round)) {
			t.Errorf("start %d: rank %d got other %d bytes of rank %d, as %v", round, e.Me(), n, r, got[:min(n, 8)])
		}
	}
}

// Members start more persistent operations than a board has lanes, each in its own order, and make blocking and
// nonblocking ones among them.
func TestPersistentOperationsAreStartedInAnyOrderOnABoard(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c := crowdedBoards(e)
		must(t, c.Barrier()) // opens the board
		var all []*keptAllgather
		for i := range 20 {
			all = append(all, newKeptAllgather(t, c, 56-i), newKeptAllgather(t, c, 57<<i%500))
		}
		part := c.seating().Part
		for given := -1; given != c.board.LaneBytes(); {
			given = c.board.LaneBytes()
			all = append(all, newKeptAllgather(t, c, int(part)+len(all))) // two turns, and the last one by messages
		}
		for _, n := range []int{longestOnBoard, 8, longestOnBoard + 1, 1000} { // some by messages
			all = append(all, newKeptAllgather(t, c, n), newKeptAllgather(t, c, n))
		}
		random := rand.New(rand.NewPCG(uint64(e.Me()), 1))
		for round := range often(80) {
			for _, i := range random.Perm(len(all)) {
				all[i].start(t, e, round+i)
			}
			task, err := c.Later(coll.Nonblocking)
			must(t, err)
			must(t, task.Operations().Barrier())
			id := task.Start()
			if round%3 == 0 {
				must(t, c.Barrier())
			}
			for _, i := range random.Perm(len(all)) {
				all[i].wait(t, e, round+i)
			}
			must(t, e.Wait(&id, nil))
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// A program makes operations and frees them for as long as it likes, each member as late as it likes: those made after
// the room for lanes is used up go by messages, at all members alike.
func TestOperationsWithoutALaneGoByMessages(t *testing.T) {
	const rounds, inUse, late = 150, 3, 2
	lengths := []int{8, 300, 5000, longestOnBoard, 20_000, 40_000}
	without := make([][]int, 3)
	es := world(t, len(without))
	together(t, es, func(e *Engine) {
		c := crowdedBoards(e)
		must(t, c.Barrier())
		drawn, own := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, uint64(e.Me())))
		var all, left []*keptAllgather
		for round := range rounds {
			k := newKeptAllgather(t, c, lengths[drawn.IntN(len(lengths))])
			if e.requests.find(k.id).of.(*Task).board == nil {
				without[e.Me()] = append(without[e.Me()], round)
			}
			all = append(all, k)
			for range 2 {
				for _, i := range own.Perm(len(all)) {
					all[i].start(t, e, round+i)
				}
				for _, i := range own.Perm(len(all)) {
					all[i].wait(t, e, round+i)
				}
			}
			if i := drawn.IntN(len(all)); len(all) == inUse {
				left, all = append(left, all[i]), slices.Delete(all, i, i+1)
			}
			for n := own.IntN(late + 1); len(left) > n; left = left[1:] {
				if err := e.FreeRequest(&left[0].id); err != nil {
					t.Error(err)
				}
			}
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	for me, rounds := range without {
		if len(rounds) == 0 || rounds[0] == 0 || !slices.Equal(rounds, without[0]) {
			t.Errorf("rank %d has no lane in rounds %v, and rank 0 in rounds %v", me, rounds, without[0])
		}
	}
	noFailure(t, es)
}

// A program may make nothing but persistent operations: the first short one opens the board, as a blocking one does.
func TestAPersistentOperationOpensTheBoard(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		for range 3 {
			k := newKeptAllgather(t, c, 8)
			k.start(t, e, 1)
			k.wait(t, e, 1)
		}
		if c.board.LaneBytes() == 0 {
			t.Error("no lane was given")
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// Members whose part nobody needs, or that need nobody's, run ahead of the others as far as the lane lets them.
func TestMembersOfALaneRunAhead(t *testing.T) {
	for _, n := range []int{8, 1000, 16 << 10} {
		t.Run(fmt.Sprintf("%d bytes", n), func(t *testing.T) { runAhead(t, n) })
	}
}

func runAhead(t *testing.T, n int) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		must(t, c.Barrier())
		data, sum, all := make([]byte, n), make([]byte, n), make([]byte, 3*n)
		bcast := kept(t, c, func(v Collectives) error { return v.Bcast(coll.Bytes(data), 1) })
		gather := kept(t, c, func(v Collectives) error { return v.Gather(coll.Bytes(data), coll.Bytes(all[:n]), 2) })
		reduce := kept(t, c, func(v Collectives) error {
			return v.Reduce(coll.Bytes(data), coll.Bytes(sum), op.Predefined(abi.MPI_BOR), 0)
		})
		for round := range 500 {
			if me == 1 {
				copy(data, pattern(n, round))
			}
			for _, id := range []uint64{bcast, gather, reduce} {
				if err := e.Start(id); err != nil {
					t.Error(err)
				}
				must(t, e.Wait(&id, nil))
			}
			want := pattern(n, round)
			if !bytes.Equal(data, want) || me == 0 && !bytes.Equal(sum, want) ||
				me == 2 && !bytes.Equal(all, bytes.Repeat(want, 3)) {
				t.Errorf("start %d: rank %d has %v, %v, %v", round, me, data, sum, all)
			}
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// A lane belongs to the requests that have it: a communicator that is freed keeps its board until they are gone.
func TestABoardIsThereAsLongAsItsLanes(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		world := onBoards(e)
		for round := range shm.Boards + 1 {
			c, err := world.Dup()
			must(t, err)
			c.Bridge = e
			must(t, c.Barrier())
			k := newKeptAllgather(t, c, 8)
			if c.board.LaneBytes() == 0 {
				t.Fatalf("communicator %d has no lane in use", round)
			}
			k.start(t, e, 1)
			c.NoBoard()
			must(t, c.Free())
			k.wait(t, e, 1)
			for i := range 5 {
				k.start(t, e, i)
				k.wait(t, e, i)
			}
			if c.board.shared == nil {
				t.Error("the board is gone, and the request is not")
			}
			if err := e.FreeRequest(&k.id); err != nil {
				t.Error(err)
			}
			if c.board.shared != nil {
				t.Error("the request is gone, and the board is not")
			}
			must(t, world.Barrier())
		}
	})
	noFailure(t, es)
}

// A part that is too long is an error of one start, at the member that gets it.
func TestALaneSurvivesAnError(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		must(t, c.Barrier())
		data := make([]byte, 8+8*(1-me))
		id := kept(t, c, func(v Collectives) error { return v.Bcast(coll.Bytes(data), 0) })
		for range 5 {
			if err := e.Start(id); err != nil {
				t.Error(err)
			}
			err := e.Wait(&id, nil)
			if truncated := err != nil && AsError(err).Class == abi.MPI_ERR_TRUNCATE; truncated != (me == 1) {
				t.Errorf("rank %d: %v", me, err)
			}
		}
		if err := e.FreeRequest(&id); err != nil {
			t.Error(err)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// Who waits for a lost member is told.
func TestALostPeerEndsTheWaitInALane(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		must(t, c.Barrier())
		k := newKeptAllgather(t, c, 8)
		if e.Me() != 0 {
			return
		}
		if err := e.Start(k.id); err != nil {
			t.Error(err)
		}
		e.loss.failed.Store(errorf(abi.MPI_ERR_PROC_ABORTED, "a peer is lost"))
		if e.Wait(&k.id, nil) == nil {
			t.Error("no error")
		}
		e.loss.failed.Store(nil)
	})
	noFailure(t, es)
}

// C starts an operation in a lane if it is short, and all there is to do: not if the root has its own block to copy.
func TestCStartsWhatHasNoStepsBesides(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		laid := 0
		onBoards(e)
		e.collectives.openBoard = func(c *Comm) error {
			b, err := c.OpenBoard(true)
			if b != nil {
				c.UseBoard(NewBoardCounters(b), func(transport.Lane, *board.Operation) LaneInC {
					laid++
					return LaneInC{}
				})
			}
			return err
		}
		c := e.World()
		for _, n := range []int64{8, 20_000, 6000} { // the long one is an operation in a piece, and a copy
			in, out := make([]byte, 2*n), make([]byte, n)
			_ = kept(t, c, func(v Collectives) error { return v.Scatter(coll.Bytes(in).Slice(0, n), coll.Bytes(out), 0) })
		}
		if want := 2; laid != want {
			t.Errorf("rank %d: C starts %d operations, and not %d", e.Me(), laid, want)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

func TestStartsOfALaneAllocateNothing(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c := onBoards(e)
		must(t, c.Barrier())
		k := newKeptAllgather(t, c, 8)
		blocks := coll.VBuf{Base: startOf(k.out), Type: byteType, Counts: []int64{8, 8}, Displs: []int64{0, 8}}
		uneven := kept(t, c, func(v Collectives) error { return v.Allgatherv(coll.Bytes(k.in), blocks) })
		start := func() {
			for _, id := range []uint64{k.id, uneven} {
				_ = e.Start(id)
				_ = e.Wait(&id, nil)
			}
		}
		if me := e.Me(); me == 0 {
			if n := testing.AllocsPerRun(1000, start); n >= 1 {
				t.Errorf("%v allocations a start", n)
			}
		} else {
			for range 1001 {
				start()
			}
		}
	})
	noFailure(t, es)
}
