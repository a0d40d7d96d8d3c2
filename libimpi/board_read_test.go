package libimpi

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// readingBoards is crowdedBoards for ranks that read each other's memory, however quick the kernel is.
func readingBoards(t *testing.T, e *Engine) *Comm {
	e.SetReadAll(true)
	c := crowdedBoards(e)
	must(t, c.Barrier()) // opens the board
	if c.board.reads != coll.ReadsQuickly {
		t.Fatal("memory is not read")
	}
	return c
}

// turnsOf is how many operations on its board a call takes.
func turnsOf(c *Comm, call func()) uint64 {
	before := *c.board.Begun
	call()
	return *c.board.Begun - before
}

func TestCrowdedRanksReadLongBlocksWhereTheyLie(t *testing.T) {
	es := world(t, 4)
	together(t, es, func(e *Engine) {
		c, me := readingBoards(t, e), int(e.Me())
		for _, kind := range []int{5, 6} {
			for _, n := range []int{100_000, 150_000} {
				var got, want []byte
				if turns := turnsOf(c, func() { got, want = longOperation(t, c.Collectives, kind, n, 3, me, 4) }); turns != 1 {
					t.Errorf("kind %d: %d turns for %d integers", kind, turns, n)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("kind %d: rank %d got something else", kind, me)
				}
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// Two ranks do so, too, though each has a core.
func TestTwoRanksReadLongBlocksWhereTheyLie(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		e.SetReadAll(true)
		c, me := onBoards(e), int(e.Me())
		c.crowded = false
		must(t, c.Barrier()) // opens the board
		for _, kind := range []int{5, 6} {
			n := 300_000 // 16 blocks of an Alltoall
			if kind == 5 {
				n = 20_000
			}
			var got, want []byte
			if turns := turnsOf(c, func() { got, want = longOperation(t, c.Collectives, kind, n, 3, me, 2) }); turns != 1 {
				t.Errorf("kind %d: %d turns", kind, turns)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("kind %d: rank %d got something else", kind, me)
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// A persistent operation, which members may make and start in other orders than those of other communicators, opens a
// board without the agreement; the first long operation that blocks finds it.
func TestMembersAgreeOnReadingInAnOperationThatBlocks(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		e.SetReadAll(true)
		c, me := crowdedBoards(e), int(e.Me())
		id := kept(t, c, func(v Collectives) error { return v.Barrier() })
		if err := e.Start(id); err != nil {
			t.Error(err)
		}
		must(t, e.Wait(&id, nil))
		if c.board.Begun == nil || c.board.agreed || *c.board.Begun != 0 {
			t.Error("a persistent operation has not opened the board, or waited for an agreement")
		}
		must(t, c.Barrier())
		if c.board.agreed {
			t.Error("a short operation, which C may carry out, has waited for an agreement")
		}
		for range 2 {
			if got, want := longOperation(t, c.Collectives, 5, 100_000, 3, me, 3); !bytes.Equal(got, want) {
				t.Errorf("rank %d got something else", me)
			}
		}
		if !c.board.agreed || c.board.reads != coll.ReadsQuickly {
			t.Errorf("agreed %v, reads %v", c.board.agreed, c.board.reads)
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

func TestExtentsGrowAndAreForgotten(t *testing.T) {
	var s extents
	s.add(extent{100, 200})
	s.add(extent{300, 400})
	for _, x := range []extent{{100, 200}, {150, 160}, {300, 301}} {
		if !s.has(x) {
			t.Errorf("%v is not there", x)
		}
	}
	for _, x := range []extent{{99, 101}, {150, 201}, {200, 300}, {150, 350}} {
		if s.has(x) {
			t.Errorf("%v is there", x)
		}
	}
	if s.add(extent{200, 250}); !s.has(extent{100, 250}) || s.has(extent{100, 251}) {
		t.Errorf("one that touches another does not lengthen it: %v", s)
	}
	for i := range uint64(len(s.known)) {
		s.add(extent{1000 * (i + 1), 1000*(i+1) + 1})
	}
	if s.has(extent{100, 200}) || !s.has(extent{1000, 1001}) {
		t.Errorf("the oldest ones are not forgotten first: %v", s)
	}
}

// Several are under way at the same time, with others. Ranks wait from the last to the first, and free the communicator
// before all have read their memory.
func TestNonblockingOperationsReadLongBlocks(t *testing.T) {
	const many = 6
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := readingBoards(t, e), int(e.Me())
		for range 3 {
			var requests [many]uint64
			var got, want [many][]byte
			for i := range requests {
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				got[i], want[i] = longOperation(t, task.Operations(), 5+i%2, []int{80_000, 100, 120_000}[i%3], i, me, 3)
				requests[i] = task.Start()
			}
			for i := many - 1; i > 0; i-- {
				must(t, e.Wait(&requests[i], nil))
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("rank %d, operation %d", me, i)
				}
			}
			out, right := longOperation(t, c.Collectives, 6, 90_000, 1, me, 3)
			if !bytes.Equal(out, right) {
				t.Errorf("rank %d, blocking operation", me)
			}
			must(t, e.Wait(&requests[0], nil))
		}
		if *c.board.Tasks != 0 {
			t.Errorf("%d tasks are left", *c.board.Tasks)
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// secretMemory is memory which the kernel refuses to read for others, as it does a device's: at an address, or, if that
// is nil, anywhere.
func secretMemory(t *testing.T, at datatype.Pointer, n int) []byte {
	t.Helper()
	fd, err := unix.MemfdSecret(0)
	if err != nil {
		t.Skipf("no secret memory: %v", err)
	}
	defer unix.Close(fd)
	must(t, unix.Ftruncate(fd, int64(n)))
	flags := unix.MAP_SHARED
	if at != nil {
		flags |= unix.MAP_FIXED
	}
	mem, err := unix.MmapPtr(fd, 0, at, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Skipf("no secret memory: %v", err)
	}
	return bytesAt(mem, int64(n))
}

// What members have read once may be something else later, at the same address. They get it all the same: in operations
// that block and in others, if all of them ask each other, and if it becomes readable again.
func TestMemoryThatOthersCannotReadAnyMoreIsSent(t *testing.T) {
	const block = 1 << 18
	own := make([][]byte, 3)
	for r := range own {
		at, err := unix.MmapPtr(-1, 0, nil, block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		must(t, err)
		defer unix.MunmapPtr(at, block)
		own[r] = bytesAt(at, block)
	}
	es := world(t, len(own))
	together(t, es, func(e *Engine) {
		c, me := readingBoards(t, e), int(e.Me())
		exchange := func(round int, v Collectives, then func()) {
			copy(own[me], pattern(block, 3*round+me))
			all := make([]byte, len(own)*block)
			if turns := turnsOf(c, func() { must(t, v.Allgather(coll.Bytes(own[me]), coll.Bytes(all[:block]))) }); turns > 1 {
				t.Errorf("%d turns", turns)
			}
			then()
			for r := range own {
				if !bytes.Equal(all[r*block:(r+1)*block], pattern(block, 3*round+r)) {
					t.Errorf("round %d: rank %d got something else of rank %d", round, me, r)
				}
			}
		}
		for round, blocks := range []bool{true, true, true, false, true, false} {
			if round == 1 || round == 3 {
				must(t, c.Barrier())
				secretMemory(t, startOf(own[me]), block)
				if round == 3 { // as if nobody had found that out so far
					c.board.doubts.Store(false)
				}
			}
			if blocks {
				exchange(round, c.Collectives, func() {})
				continue
			}
			task, err := c.Later(coll.Nonblocking)
			must(t, err)
			exchange(round, task.Operations(), func() {
				id := task.Start()
				must(t, e.Wait(&id, nil))
			})
		}
		if !c.board.doubts.Load() {
			t.Error("all could be read")
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

func TestMemoryThatOthersCannotReadIsCopied(t *testing.T) {
	const block = 1 << 20
	secret := secretMemory(t, nil, block)
	defer unix.Munmap(secret)
	copy(secret, pattern(block, 0))
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := readingBoards(t, e), int(e.Me())
		own := secret
		if me > 0 {
			own = pattern(block, me)
		}
		all := make([]byte, 3*block)
		if turns := turnsOf(c, func() { must(t, c.Allgather(coll.Bytes(own), coll.Bytes(all[:block]))) }); turns != 1 {
			t.Errorf("%d turns", turns)
		}
		for r := range 3 {
			if !bytes.Equal(all[r*block:(r+1)*block], pattern(block, r)) {
				t.Errorf("rank %d got something else of rank %d", me, r)
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

func TestMemoryThatIsNotThereIsAnError(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c := readingBoards(t, e)
		n, err := c.board.blocking.Read(1-int(e.Me()), 8, make([]byte, 100))
		if n != 0 || AsError(err) == nil || AsError(err).Class != abi.MPI_ERR_OTHER {
			t.Errorf("%d bytes, %v", n, err)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

func TestWhoCannotReadMemoryKeepsAllFromIt(t *testing.T) {
	es := world(t, 3)
	es[1].local.writer = nil
	together(t, es, func(e *Engine) {
		e.SetReadAll(true)
		c := crowdedBoards(e)
		must(t, c.Barrier())
		got, want := longOperation(t, c.Collectives, 5, 100_000, 3, int(e.Me()), 3)
		if c.board.reads != coll.ReadsNot || !bytes.Equal(got, want) {
			t.Errorf("rank %d: memory is read: %v", e.Me(), c.board.reads)
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// Who answers those that cannot read its memory takes no other messages, which wait and are counted as before.
func TestMessagesOfCollectivesWaitBesideABoardThatReads(t *testing.T) {
	es := world(t, 2)
	together(t, es, func(e *Engine) {
		c, in := readingBoards(t, e), make([]byte, 3)
		if e.Me() == 1 {
			must(t, c.send(c.coll, at([]byte("abc")), 3, byteT, 0, 7, modeStandard))
			must(t, c.Barrier())
		} else {
			for e.Levels(true).Unexpected == 0 {
				e.Turn()
			}
			must(t, c.recv(c.coll, at(in), 3, byteT, 1, 7, nil))
			must(t, c.Barrier())
			if string(in) != "abc" {
				t.Errorf("%q has come", in)
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}
