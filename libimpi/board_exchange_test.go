package libimpi

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/libimpi/topo"
)

// Blocks of these exchanges are in a line, in a wide slot, in both that and a message since one of two has no room any
// more, in messages that are sent at once, and in long ones. Several are under way, among blocking ones.
func TestExchangesWithNeighborsGoByTheBoardAmongOthers(t *testing.T) {
	const many = 40
	sizes := []int{8, 300, 8192, 9000, 70000, 20, 0, 4000}
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		ring, err := topo.NewCart([]int32{3}, []bool{true}, 3)
		must(t, err)
		c.neighborhood.topology = ring
		must(t, c.Barrier()) // opens the board
		left, right := (me+2)%3, (me+1)%3
		for round := range 5 {
			var requests [many]uint64
			out := make([][]byte, many)
			for i := range requests {
				n := sizes[(i+round)%len(sizes)]
				in := append(pattern(n, me+10*i), pattern(n, me+10*i+5)...)
				out[i] = make([]byte, 2*n)
				send, recv := coll.Even(coll.Bytes(in).Slice(0, int64(n))), coll.Even(coll.Bytes(out[i]).Slice(0, int64(n)))
				if i%2 == 1 {
					must(t, c.Neighbors("MPI_Neighbor_alltoallw", send, recv))
					continue
				}
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				must(t, task.Operations().Neighbors("MPI_Neighbor_alltoallw", send, recv))
				requests[i] = task.Start()
			}
			for i := many - 1; i >= 0; i-- {
				if requests[i] != 0 {
					must(t, e.Wait(&requests[i], nil))
				}
				n := len(out[i]) / 2
				if !bytes.Equal(out[i][:n], pattern(n, left+10*i+5)) || !bytes.Equal(out[i][n:], pattern(n, right+10*i)) {
					t.Errorf("round %d: exchange %d, of %d bytes: rank %d got something else", round, i, n, me)
				}
			}
		}
		if *c.board.Begun < 5*many/2 || *c.board.Tasks != 0 {
			t.Errorf("rank %d has begun %d operations on its board, and %d are under way", me, *c.board.Begun, *c.board.Tasks)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// uneven is an operation of blocks of n(from, to) bytes, as a member sees it.
type uneven struct {
	kind, root int
	n          func(from, to int) int
	turn       int // on which what blocks hold depends
	in, out    []byte
	gives      coll.VBuf
}

const unevenKinds = 4

// newUneven draws an operation of blocks of some of these lengths, which all members draw alike.
func newUneven(random *rand.Rand, p int, lengths []int) *uneven {
	seed, most := random.Uint64(), 1+random.IntN(len(lengths))
	return &uneven{kind: random.IntN(unevenKinds), root: random.IntN(p), n: func(from, to int) int {
		return lengths[rand.New(rand.NewPCG(seed, uint64(64*from+to))).IntN(most)]
	}}
}

// begin lays the blocks of rank me of p out, and begins the operation.
func (u *uneven) begin(v Collectives, me, p int) error {
	lay := func(n func(r int) int) (all coll.VBuf, mem []byte) {
		all.Type = byteType
		end := 0
		for r := range p {
			all.Counts, all.Displs = append(all.Counts, int64(n(r))), append(all.Displs, int64(end))
			end += n(r)
		}
		mem = make([]byte, end)
		all.Base = startOf(mem)
		return all, mem
	}
	gets, out := lay(func(r int) int { return u.length(r, me, p) })
	gives, in := lay(func(r int) int { return u.length(me, r, p) })
	u.gives, u.in, u.out = gives, in, out
	u.fill(me, u.turn)
	switch u.kind {
	case 0:
		return v.Gatherv(gives.Block(u.root), gets, u.root)
	case 1:
		return v.Scatterv(gives, gets.Block(u.root), u.root)
	case 2:
		return v.Allgatherv(gives.Block(0), gets)
	}
	return v.Alltoallv(gives, gets)
}

// fill writes what the blocks of a turn hold, and forgets what has arrived.
func (u *uneven) fill(me, turn int) {
	u.turn = turn
	for r, at := range u.gives.Displs {
		copy(u.in[at:], pattern(int(u.gives.Counts[r]), me+3*u.target(r)+turn))
	}
	clear(u.out)
}

// length is how many bytes go from one rank to another: nothing where the operation moves nothing.
func (u *uneven) length(from, to, p int) int {
	if u.kind == 0 && to != u.root || u.kind == 1 && from != u.root {
		return 0
	}
	return u.n(from, u.target(to))
}

// target is the rank on which a block's length and content depend.
func (u *uneven) target(to int) int {
	if u.kind == 2 {
		return 0
	}
	return to
}

func (u *uneven) expect(t *testing.T, name string, me, p int) {
	t.Helper()
	var want []byte
	for r := range p {
		want = append(want, pattern(u.length(r, me, p), r+3*u.target(me)+u.turn)...)
	}
	if !bytes.Equal(u.out, want) {
		t.Errorf("%s: kind %d with root %d: rank %d got something else", name, u.kind, u.root, me)
	}
}

// Ranks begin many exchanges of uneven blocks, wait for them from the last to the first, and make blocking ones among
// them: also ranks that outnumber their cores, whose long blocks stand in slots for pieces.
func TestUnevenBlocksGoByTheBoardAmongOthers(t *testing.T) {
	const many = 40
	lengths := []int{0, 8, 40, 300, 8192, 9000, 16 << 10, 20000, 65000, 70000}
	for _, w := range []struct {
		p  int
		on func(e *Engine) *Comm
	}{{2, onBoards}, {3, onBoards}, {3, crowdedBoards}, {5, onBoards}, {5, crowdedBoards}} {
		p := w.p
		es := world(t, p)
		together(t, es, func(e *Engine) {
			c, me := w.on(e), int(e.Me())
			must(t, c.Barrier()) // opens the board
			for round := range 5 {
				var requests [many]uint64
				var all [many]*uneven
				random := rand.New(rand.NewPCG(uint64(round), uint64(p)))
				late := random.IntN(many * p)
				for i := range all {
					all[i] = newUneven(random, p, lengths)
					if late == i*p+me {
						time.Sleep(time.Millisecond)
					}
					if i%2 == 1 {
						must(t, all[i].begin(c.Collectives, me, p))
						continue
					}
					task, err := c.Later(coll.Nonblocking)
					must(t, err)
					must(t, all[i].begin(task.Operations(), me, p))
					requests[i] = task.Start()
				}
				for i := many - 1; i >= 0; i-- {
					if requests[i] != 0 {
						must(t, e.Wait(&requests[i], nil))
					}
					all[i].expect(t, fmt.Sprintf("%d ranks, round %d, operation %d", p, round, i), me, p)
				}
			}
			if *c.board.Begun < many || *c.board.Tasks != 0 {
				t.Errorf("rank %d has begun %d operations on its board, and %d are under way", me, *c.board.Begun,
					*c.board.Tasks)
			}
			must(t, c.Barrier())
			c.NoBoard()
		})
		noFailure(t, es)
	}
}

// A block that is too long, on the board or as a message, is an error of the member that gets it; one that is shorter
// than its room arrives, also where the room is so large that a message was expected. What is begun next finds
// everything as it should be.
func TestBlocksUnderWayOnABoardMayBeShorterThanTheirRoom(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		must(t, c.Barrier())
		for round := range 3 {
			for _, trial := range []struct{ has, room int }{{8, 16}, {16, 8}, {300, 200}, {40, 9000}, {8192, 70000}, {8, 8},
				{9000, 8500}, {70000, 9000}, {100, 100}} {
				in, out := pattern(trial.has, me+round), make([]byte, 3*trial.room)
				all := coll.VBuf{Base: startOf(out), Type: byteType}
				for r := range 3 {
					all.Counts, all.Displs = append(all.Counts, int64(trial.room)), append(all.Displs, int64(r*trial.room))
				}
				same := coll.VBuf{Base: startOf(in), Type: byteType, Displs: make([]int64, 3)}
				for range 3 {
					same.Counts = append(same.Counts, int64(trial.has))
				}
				same.Counts[me], all.Counts[me] = 0, 0
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				must(t, task.Operations().Alltoallv(same, all))
				id := task.Start()
				err = e.Wait(&id, nil)
				if truncated := err != nil && AsError(err).Class == abi.MPI_ERR_TRUNCATE; truncated != (trial.has > trial.room) {
					t.Errorf("rank %d: %d bytes into %d: %v", me, trial.has, trial.room, err)
				}
				for r := 0; r < 3 && err == nil; r++ {
					got := out[r*trial.room:][:trial.has]
					if r != me && !bytes.Equal(got, pattern(trial.has, r+round)) {
						t.Errorf("rank %d: %d bytes into %d: got something else of rank %d", me, trial.has, trial.room, r)
					}
				}
				must(t, c.Barrier())
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// The same for blocks that stand in slots for pieces.
func TestPiecesMayBeShorterThanTheirRoom(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := crowdedBoards(e), int(e.Me())
		must(t, c.Barrier())
		for i, trial := range []struct{ has, room int }{{20000, 20000}, {20000, 60000}, {40000, 20000}, {40000, 10000},
			{40000, 50}, {9000, 60000}, {70000, 60000}, {60000, 70000}, {16384, 16384}, {16385, 16384}, {100, 100}} {
			in, out := pattern(trial.has, me+i), make([]byte, 3*trial.room)
			all := coll.VBuf{Base: startOf(out), Type: byteType}
			for r := range 3 {
				all.Counts, all.Displs = append(all.Counts, int64(trial.room)), append(all.Displs, int64(r*trial.room))
			}
			all.Counts[0] = 0
			for later := range 2 {
				mine := coll.Bytes(in)
				if me == 0 {
					mine.Count = 0
				}
				clear(out)
				var err error
				if later > 0 {
					task, failed := c.Later(coll.Nonblocking)
					must(t, failed)
					must(t, task.Operations().Gatherv(mine, all, 0))
					id := task.Start()
					err = e.Wait(&id, nil)
				} else {
					err = c.Gatherv(mine, all, 0)
				}
				truncated := err != nil && AsError(err).Class == abi.MPI_ERR_TRUNCATE
				if truncated != (me == 0 && trial.has > trial.room) {
					t.Errorf("rank %d: %d bytes into %d: %v", me, trial.has, trial.room, err)
				}
				for r := 1; r < 3 && me == 0 && err == nil; r++ {
					if !bytes.Equal(out[r*trial.room:][:trial.has], pattern(trial.has, r+i)) {
						t.Errorf("%d bytes into %d: got something else of rank %d", trial.has, trial.room, r)
					}
				}
				must(t, c.Barrier())
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// Members make many persistent operations of uneven blocks, and start them each in its own order, one of them late now
// and then, with blocking and nonblocking ones, which have a board, among them.
func TestPersistentUnevenBlocksAreStartedInAnyOrder(t *testing.T) {
	const many = 50
	lengths := []int{0, 8, 3, 20, 56, 300, 4000, 9000, 20000}
	for _, p := range []int{2, 3, 5} {
		es := world(t, p)
		together(t, es, func(e *Engine) {
			c, me := onBoards(e), int(e.Me())
			drawn := rand.New(rand.NewPCG(3, uint64(p)))
			var all [many]*uneven
			var requests [many]uint64
			for i := range all {
				all[i] = newUneven(drawn, p, lengths)
				requests[i] = kept(t, c, func(v Collectives) error { return all[i].begin(v, me, p) })
			}
			random := rand.New(rand.NewPCG(uint64(me), 1))
			for round := range 20 {
				for _, i := range random.Perm(many) {
					all[i].fill(me, round+i)
					if random.IntN(400) == 0 {
						time.Sleep(time.Millisecond)
					}
					if err := e.Start(requests[i]); err != nil {
						t.Error(err)
					}
				}
				once := newUneven(drawn, p, lengths)
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				must(t, once.begin(task.Operations(), me, p))
				id := task.Start()
				if round%3 == 0 {
					must(t, newUneven(drawn, p, lengths).begin(c.Collectives, me, p))
				}
				for _, i := range random.Perm(many) {
					must(t, e.Wait(&requests[i], nil))
					all[i].expect(t, fmt.Sprintf("%d ranks, round %d, operation %d", p, round, i), me, p)
				}
				must(t, e.Wait(&id, nil))
				once.expect(t, "once", me, p)
			}
			must(t, c.Barrier())
			c.NoBoard()
		})
		noFailure(t, es)
	}
}

// Neighbors on a torus, where a rank may be its own one, exchange blocks again and again.
func TestPersistentNeighborsExchangeBlocks(t *testing.T) {
	for _, dims := range [][]int32{{1, 3}, {2, 2}, {5, 1}} {
		p := int(dims[0] * dims[1])
		es := world(t, p)
		together(t, es, func(e *Engine) {
			c, me := onBoards(e), int(e.Me())
			torus, err := topo.NewCart(dims, []bool{true, true}, p)
			must(t, err)
			c.neighborhood.topology = torus
			edges, err := c.edges()
			must(t, err)
			sizes := []int{1, 8, 56, 300, 4000, 5000}
			in, out, requests := make([][]byte, len(sizes)), make([][]byte, len(sizes)), make([]uint64, len(sizes))
			for i, n := range sizes {
				in[i], out[i] = make([]byte, 4*n), make([]byte, 4*n)
				block := int64(n)
				requests[i] = kept(t, c, func(v Collectives) error {
					return v.Neighbors("MPI_Neighbor_alltoall", coll.Even(coll.Bytes(in[i]).Slice(0, block)),
						coll.Even(coll.Bytes(out[i]).Slice(0, block)))
				})
			}
			for round := range 30 {
				for i, n := range sizes {
					for k := range 4 {
						copy(in[i][k*n:], pattern(n, 4*me+k+round))
					}
					clear(out[i])
				}
				for i := range sizes {
					if err := e.Start(requests[(i+me)%len(sizes)]); err != nil {
						t.Error(err)
					}
				}
				for i, n := range sizes {
					must(t, e.Wait(&requests[i], nil))
					for k := range 4 {
						if got := out[i][k*n:][:n]; !bytes.Equal(got, pattern(n, 4*int(edges.In[k])+(k^1)+round)) {
							t.Errorf("torus %v, round %d: rank %d has something else of neighbor %d, %d bytes", dims, round, me, k, n)
						}
					}
				}
			}
			must(t, c.Barrier())
			c.NoBoard()
		})
		noFailure(t, es)
	}
}

// A block that is too long is an error of each start, at the member that gets it. What else that member gets arrives.
func TestAPersistentGathervSurvivesAnError(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := onBoards(e), int(e.Me())
		for _, n := range []int{8, 1000} {
			in, out := make([]byte, n+me), make([]byte, 3*n)
			all := coll.VBuf{Base: startOf(out), Type: byteType, Counts: []int64{int64(n), int64(n), int64(n)},
				Displs: []int64{0, int64(n), int64(2 * n)}}
			if me == 1 {
				in = in[:n] // of rank 2 alone there is too much
			}
			id := kept(t, c, func(v Collectives) error { return v.Gatherv(coll.Bytes(in), all, 0) })
			for round := range 5 {
				copy(in, pattern(n, me+round))
				clear(out)
				if err := e.Start(id); err != nil {
					t.Error(err)
				}
				err := e.Wait(&id, nil)
				if truncated := err != nil && AsError(err).Class == abi.MPI_ERR_TRUNCATE; truncated != (me == 0) {
					t.Errorf("rank %d: %v", me, err)
				}
				if me == 0 && !bytes.Equal(out[:2*n], append(pattern(n, round), pattern(n, 1+round)...)) {
					t.Errorf("start %d: got something else", round)
				}
			}
			if err := e.FreeRequest(&id); err != nil {
				t.Error(err)
			}
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}
