package libimpi

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// crowdedBoards is onBoards for ranks that outnumber their cores.
func crowdedBoards(e *Engine) *Comm {
	c := onBoards(e)
	c.seats.crowded = true
	return c
}

// numbers are n 64-bit integers, of which the first is `first`.
func numbers(n, first int) (b []byte) {
	for i := range n {
		b = binary.NativeEndian.AppendUint64(b, uint64(first+i))
	}
	return b
}

// sums are those of numbers(n, first+r) of ranks 0 to p-1.
func sums(n, first, p int) (b []byte) {
	for i := range n {
		b = binary.NativeEndian.AppendUint64(b, uint64(p*(first+i)+p*(p-1)/2))
	}
	return b
}

func integers(b []byte) coll.Buf {
	return coll.Buf{Base: startOf(b), Count: int64(len(b) / 8), Type: datatype.Named(abi.MPI_INT64_T)}
}

// blockCounts are the counts of blocks, one for each rank.
type blockCounts []int64

// growing are counts of 0, n, 2 n and so on.
func growing(n, p int) (counts blockCounts) {
	for r := range p {
		counts = append(counts, int64(r*n))
	}
	return counts
}

// before is how many elements the blocks before that of rank r have.
func (b blockCounts) before(r int) (n int64) {
	for _, count := range b[:r] {
		n += count
	}
	return n
}

// longOperation is one of several kinds, of n integers a rank, that begin with `first`, and what it makes.
func longOperation(t *testing.T, v Collectives, kind, n, first, me, p int) (got, want []byte) {
	sum, own := op.Predefined(abi.MPI_SUM), numbers(n, first+me)
	got = make([]byte, 8*n)
	switch kind {
	case 0:
		root := first % p
		if want = numbers(n, first+root); me == root {
			copy(got, want)
		}
		must(t, v.Bcast(integers(got), root))
	case 1:
		want = sums(n, first, p)
		must(t, v.Allreduce(integers(own), integers(got), sum))
	case 2:
		if want = got; me == 1 {
			want = sums(n, first, p)
		}
		must(t, v.Reduce(integers(own), integers(got), sum, 1))
	case 3:
		want = sums(n, first, me+1)
		must(t, v.Scan(integers(own), integers(got), sum))
	case 4:
		if want = got; me > 0 {
			want = sums(n, first, me)
		}
		must(t, v.Exscan(integers(own), integers(got), sum))
	case 5:
		got = make([]byte, p*8*n)
		for r := range p {
			want = append(want, numbers(n, first+r)...)
		}
		must(t, v.Allgather(integers(own), integers(got[:8*n])))
	case 6:
		n = max(1, n/8) // of a block
		got = make([]byte, p*8*n)
		own = nil
		for r := range p {
			own = append(own, numbers(n, first+me*p+r)...)
			want = append(want, numbers(n, first+r*p+me)...)
		}
		must(t, v.Alltoall(integers(own).Slice(0, int64(n)), integers(got).Slice(0, int64(n))))
	case 7:
		n = max(1, n/4) // of a block
		got, want = make([]byte, 8*n), sums(p*n, first, p)[8*n*me:8*n*(me+1)]
		must(t, v.ReduceScatterBlock(integers(numbers(p*n, first+me)), integers(got), sum))
	case 8: // blocks of 0, n/4, n/2, ...
		counts := growing(n/4, p)
		at, mine, total := counts.before(me), counts[me], counts.before(p)
		got, want = make([]byte, 8*mine), sums(int(total), first, p)[8*at:8*(at+mine)]
		must(t, v.ReduceScatter(integers(numbers(int(total), first+me)), integers(got), counts, sum))
	case 9:
		n = max(1, n/4) // of a block
		if own = nil; me == 1 {
			own = numbers(p*n, first)
		}
		got, want = make([]byte, 8*n), numbers(p*n, first)[8*n*me:8*n*(me+1)]
		must(t, v.Scatter(integers(own).Slice(0, int64(n)), integers(got), 1))
	}
	return got, want
}

const longKinds = 10

func TestLongOperationsOfCrowdedRanksGoByTheBoard(t *testing.T) {
	es := world(t, 3)
	together(t, es, func(e *Engine) {
		c, me := crowdedBoards(e), int(e.Me())
		for kind := range longKinds - 1 { // the first one opens the board; the last one goes by messages here
			before := uint64(0)
			if c.board.Begun != nil {
				before = *c.board.Begun
			}
			n := 50_000 + kind
			got, want := longOperation(t, c.Collectives, kind, n, 7*kind, me, 3)
			if !bytes.Equal(got, want) {
				t.Errorf("kind %d: rank %d got something else", kind, me)
			}
			if turns, n := *c.board.Begun-before, min(8*n, len(got)); turns < uint64(n)>>16 {
				t.Errorf("kind %d: %d turns for %d bytes", kind, turns, n)
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// The result is where some of the vector was: of each rank somewhere else.
func TestLongReduceScatterInPlaceOnABoard(t *testing.T) {
	es := world(t, 4)
	together(t, es, func(e *Engine) {
		c, me, sum := crowdedBoards(e), int(e.Me()), op.Predefined(abi.MPI_SUM)
		must(t, c.Barrier()) // opens the board
		for _, n := range []int{1000, 20_000} {
			for _, counts := range []blockCounts{growing(n, 4), {int64(n), int64(3 * n), 0, int64(n)}, {3, 5, int64(n), 7}} {
				at, total := counts.before(me), counts.before(4)
				data := numbers(int(total), 9+me)
				recv := integers(data)
				recv.Count = counts[me]
				must(t, c.ReduceScatter(coll.InPlace(), recv, counts, sum))
				if got, want := data[:8*counts[me]], sums(int(total), 9, 4)[8*at:8*(at+counts[me])]; !bytes.Equal(got, want) {
					t.Errorf("rank %d got something else of %d", me, counts)
				}
			}
		}
		c.NoBoard()
	})
	noFailure(t, es)
}

// Long operations and short ones, blocking and not, are under way at the same time. Ranks wait from the last to the
// first.
func TestNonblockingLongOperationsAreUnderWayOnABoard(t *testing.T) {
	const many = 4 * longKinds
	es := world(t, 4)
	together(t, es, func(e *Engine) {
		c, me := crowdedBoards(e), int(e.Me())
		must(t, c.Barrier()) // opens the board
		for round := range 3 {
			var requests [many]uint64
			var got, want [many][]byte
			for i := range requests {
				task, err := c.Later(coll.Nonblocking)
				must(t, err)
				n := []int{1, 3000, 40_000, 9000}[(i+round)%4]
				got[i], want[i] = longOperation(t, task.Operations(), i%longKinds, n, i, me, 4)
				requests[i] = task.Start()
				if (i+round)%7 == 0 {
					if got, want := longOperation(t, c.Collectives, i%longKinds, 5000, i, me, 4); !bytes.Equal(got, want) {
						t.Errorf("round %d, rank %d, blocking operation %d", round, me, i)
					}
				}
			}
			for i := many - 1; i >= 0; i-- {
				must(t, e.Wait(&requests[i], nil))
				if !bytes.Equal(got[i], want[i]) {
					t.Errorf("round %d, rank %d, operation %d", round, me, i)
				}
			}
		}
		if *c.board.Tasks != 0 {
			t.Errorf("%d tasks are left", *c.board.Tasks)
		}
		must(t, c.Barrier())
		c.NoBoard()
	})
	noFailure(t, es)
}

// Members start long persistent operations in different orders, each several times, and some are late. All are pieces
// in lanes.
func TestLongPersistentOperationsTakeTheirTurnsInLanes(t *testing.T) {
	for _, p := range []int{3, 5, 8} {
		es := world(t, p)
		together(t, es, func(e *Engine) {
			c, me := crowdedBoards(e), int(e.Me())
			requests := make([]uint64, longKinds+2)
			got, want := make([][]byte, len(requests)), make([][]byte, len(requests))
			for i := range requests {
				requests[i] = kept(t, c, func(v Collectives) error {
					got[i], want[i] = longOperation(t, v, i%longKinds, []int{40_000, 4_000, 9_000}[i%3], i, me, p)
					return nil
				})
			}
			begun := *c.board.Begun
			if least := len(requests) * p * 65536; c.board.LaneBytes() < least {
				t.Errorf("rank %d of %d has given %d bytes to lanes, not %d", me, p, c.board.LaneBytes(), least)
			}
			for round := range often(10) {
				for i := range got {
					if root := i % p; i%longKinds != 0 || me != root {
						clear(got[i])
					}
				}
				for i := range requests {
					if me == (round+i)%(3*p) {
						time.Sleep(300 * time.Microsecond)
					}
					if err := e.Start(requests[(i+me)%len(requests)]); err != nil {
						t.Error(err)
					}
				}
				for i := range requests {
					must(t, e.Wait(&requests[i], nil))
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("round %d: rank %d of %d, operation %d", round, me, p, i)
					}
				}
			}
			if *c.board.Begun != begun {
				t.Errorf("rank %d has begun %d operations besides", me, *c.board.Begun-begun)
			}
			must(t, c.Barrier())
			c.NoBoard()
		})
		noFailure(t, es)
	}
}

// fractions are n doubles whose sums depend on the order in which they are added.
func fractions(n, first int) (b []byte) {
	for i := range n {
		b = binary.NativeEndian.AppendUint64(b, math.Float64bits(math.Pow(-1.7, float64((31*i+17*first)%90))))
	}
	return b
}

// Allreduces by slices, of ranks with a core each, are under way several at once among others, while members are late.
// They have the bits of blocking ones, and so has a persistent one.
func TestNonblockingAllreducesBySlicesAreUnderWayOnABoard(t *testing.T) {
	doubles := func(b []byte) coll.Buf {
		return coll.Buf{Base: startOf(b), Count: int64(len(b) / 8), Type: datatype.Named(abi.MPI_DOUBLE)}
	}
	sum, lengths := op.Predefined(abi.MPI_SUM), []int{128, 7, 1000, 2048, 131}
	for p := 1; p <= 8; p++ {
		es := world(t, p)
		together(t, es, func(e *Engine) {
			c, me := onBoards(e), int(e.Me())
			c.seats.crowded = false
			must(t, c.Barrier()) // opens the board
			const many = 6
			keptGot := make([]byte, 8*1500)
			id := kept(t, c, func(v Collectives) error { return v.Allreduce(coll.InPlace(), doubles(keptGot), sum) })
			for round := range often(20) {
				var requests [many]uint64
				var got, want [many][]byte
				copy(keptGot, fractions(1500, me+round))
				keptWant := make([]byte, len(keptGot))
				must(t, c.Allreduce(doubles(slices.Clone(keptGot)), doubles(keptWant), sum))
				for i := range requests {
					own := fractions(lengths[(i+round)%len(lengths)], me+i)
					want[i], got[i] = make([]byte, len(own)), slices.Clone(own)
					must(t, c.Allreduce(doubles(own), doubles(want[i]), sum))
				}
				if me == round%p {
					time.Sleep(200 * time.Microsecond)
				}
				var begun uint64
				if p > 1 {
					begun = *c.board.Begun
				}
				for i := range requests {
					task, err := c.Later(coll.Nonblocking)
					must(t, err)
					must(t, task.Operations().Allreduce(coll.InPlace(), doubles(got[i]), sum))
					requests[i] = task.Start()
				}
				if p > 2 && *c.board.Begun-begun < many+many/2 {
					t.Errorf("rank %d of %d has begun %d operations on its board", me, p, *c.board.Begun-begun)
				}
				if err := e.Start(id); err != nil {
					t.Error(err)
				}
				must(t, e.Wait(&id, nil))
				if !bytes.Equal(keptGot, keptWant) {
					t.Errorf("round %d: rank %d of %d has other bits in the persistent operation", round, me, p)
				}
				for i := many - 1; i >= 0; i-- {
					must(t, e.Wait(&requests[i], nil))
					if !bytes.Equal(got[i], want[i]) {
						t.Errorf("round %d: rank %d of %d has other bits in operation %d", round, me, p, i)
					}
				}
			}
			must(t, c.Barrier())
			c.NoBoard()
		})
		noFailure(t, es)
	}
}
