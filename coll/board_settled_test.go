package coll_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
	"github.com/libimpi/libimpi/coll/op"
)

const settledStarts = 4

// settled settles an exchange, and carries it out several times, each of which finds its places empty. If the part of a
// rank is too long it is carried out once, with messages.
func settled(c *colltest.Comm, b *colltest.Board, x *coll.Exchange) error {
	s := x.Settle()
	own, most := []int64{int64(s.Used)}, []int64{0}
	if err := coll.Allreduce(c, coll.Numbers(own), coll.Numbers(most), op.Predefined(abi.MPI_MAX)); err != nil {
		return err
	}
	if most[0] > 1<<14 {
		return exchange(c, b, x)
	}
	if err := b.Blocking(func() error { return s.Agree(x, c, b, most[0]) }); err != nil {
		return err
	}
	for range settledStarts {
		for _, in := range s.In {
			if err := coll.Unpack(in.Buf, make([]byte, in.Size()), 0); err != nil {
				return err
			}
		}
		s.Begin()
		if err := b.Repeat(coll.AnyLength, func() (bool, error) { return s.Run(b) }, nothing); err != nil {
			return err
		}
	}
	return nil
}

// nothing is done for those who read this rank's memory: nobody does.
func nothing() (bool, error) { return true, nil }

func TestSettledExchangesMoveUnevenBlocks(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		return tryUneven(c, b, p, coll.Seating{}, settled)
	})
}

func TestSettledNeighborsInARing(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		left, right := (c.Rank()-1+p)%p, (c.Rank()+1)%p
		around := []int32{int32(left), int32(right)}
		e, err := coll.NewEdges(c.Rank(), around, around, true)
		if err != nil {
			return err
		}
		for _, n := range []int64{0, 1, 5, 500} {
			send, recv := colltest.NewMem(2*n, colltest.Double), colltest.NewMem(2*n, colltest.Double)
			send.Put(0, colltest.Pattern(n, colltest.Double, c.Rank(), 1))
			send.Put(n, colltest.Pattern(n, colltest.Double, c.Rank(), 2))
			out, in := coll.Even(send.Of(n)), coll.Even(recv.Of(n))
			if err := colltest.First(settled(c, b, new(coll.Exchange).Begin(nil).Neighbors(b, e, &out, &in)),
				recv.Expect("from the left", 0, colltest.Pattern(n, colltest.Double, left, 2)),
				recv.Expect("from the right", n, colltest.Pattern(n, colltest.Double, right, 1))); err != nil {
				return fmt.Errorf("p=%d: %w", p, err)
			}
		}
		return nil
	})
}

// Rank 0 has less room than the others give, or more; it gets its own block, and at each start an error or the blocks.
func TestSettledBlocksMayDifferFromTheirRoom(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		for _, sizes := range [][2]int64{{3, 5}, {5, 3}, {100, 200}, {200, 100}, {0, 1}, {1, 0}} {
			has, room := sizes[0], sizes[1]
			counts, displs := make([]int64, p), make([]int64, p)
			for i := range p {
				counts[i], displs[i] = room, int64(i)*room
			}
			counts[0] = min(has, room)
			send, recv := colltest.NewMem(has, colltest.Int), colltest.NewMem(int64(p)*room, colltest.Int)
			send.Put(0, colltest.Pattern(has, colltest.Int, c.Rank(), 0))
			mine, in := send.Buf, recv.V(counts, displs)
			if c.Rank() == 0 {
				mine.Count = counts[0]
			}
			x := new(coll.Exchange).Begin(nil).Gatherv(b, mine, &in, 0)
			s := x.Settle()
			if err := b.Blocking(func() error { return s.Agree(x, c, b, 1<<14) }); err != nil {
				return err
			}
			if differs := c.Rank() == 0 && p > 1; s.Not != differs {
				return fmt.Errorf("p=%d: %d elements into %d: left to others: %v", p, has, room, s.Not)
			}
			for range settledStarts {
				s.Begin()
				err := b.Repeat(coll.AnyLength, func() (bool, error) { return s.Run(b) }, nothing)
				var failed *coll.Error
				truncated := errors.As(err, &failed) && failed.Class == abi.MPI_ERR_TRUNCATE
				if truncated != (has > room && c.Rank() == 0 && p > 1) {
					return fmt.Errorf("p=%d: %d elements into %d: %v", p, has, room, err)
				}
			}
			for i := 0; c.Rank() == 0 && i < p && (has <= room || i == 0); i++ {
				n := min(has, room)
				if err := recv.Expect("gatherv", displs[i], colltest.Pattern(n, colltest.Int, i, 0)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// What others say of their parts is not believed unchecked.
func TestBlocksThatEndBeyondTheirPartAreNotSettled(t *testing.T) {
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		recv := colltest.NewMem(int64(4*p), colltest.Int)
		counts, displs := make([]int64, p), make([]int64, p)
		for i := range p {
			counts[i], displs[i] = 4, int64(4*i)
		}
		in := recv.V(counts, displs)
		x := new(coll.Exchange).Begin(nil).Allgatherv(b, colltest.NewMem(4, colltest.Int).Buf, &in)
		if err := x.Settle().Agree(x, c, b, 8); (err != nil) != (p > 1) {
			return fmt.Errorf("p=%d: %v", p, err)
		}
		return nil
	})
}
