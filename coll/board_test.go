package coll_test

import (
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/board"
	"github.com/libimpi/libimpi/coll/choose"
	"github.com/libimpi/libimpi/coll/colltest"
)

// onBoards runs f for 1 to 9 ranks (4 under the race detector, which is slow), on boards with small slots, so that
// ranks that run ahead have to wait: turns are carried out at once, or one after the other as far as parts are there.
func onBoards(t *testing.T, f func(c *colltest.Comm, b *colltest.Board, p int) error) {
	t.Parallel()
	onBlockingBoards(t, f)
	onBoardsOf(t, 1<<14+64, false, f)
}

// onBlockingBoards is onBoards for operations that are never carried out turn by turn.
func onBlockingBoards(t *testing.T, f func(c *colltest.Comm, b *colltest.Board, p int) error) {
	onBoardsOf(t, 1<<14+64, true, f)
}

// onBoardsOf runs f on boards whose slots have so many bytes.
func onBoardsOf(t *testing.T, bytes int, blocks bool, f func(c *colltest.Comm, b *colltest.Board, p int) error) {
	for p := 1; p <= 9 && !(race && p > 4); p++ {
		boards := colltest.NewBoards(p, 3, bytes, blocks)
		if err := colltest.New(p).Run(func(c *colltest.Comm) error { return f(c, boards[c.Rank()], p) }); err != nil {
			t.Fatalf("p=%d, blocks=%v: %v", p, blocks, err)
		}
	}
}

// inOrder is memory for an operation that reproduces bits if the job does.
func inOrder() *board.Operation { return &board.Operation{InOrder: choose.Reproduces()} }

// allreduce is Allreduce in one operation.
func allreduce(b *colltest.Board, send, recv coll.Buf, op coll.Op) error {
	return b.Do(inOrder().Allreduce(b, send, recv, op))
}

func TestBoardsMoveData(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		for _, s := range []shape{{1, colltest.Int}, {3, colltest.Gapped},
			{2, colltest.SectionMixed}, {90, colltest.Section}} {
			n := s.count * s.typ.Size()
			for _, root := range roots(p) {
				err := colltest.First(
					colltest.TryBcast(c, root, s.count, s.typ, func(x coll.Buf) error {
						return b.Do(new(board.Operation).Bcast(b, x, root))
					}),
					colltest.TryGather(c, root, s.count, s.typ, func(out, in coll.Buf) error {
						return b.Do(new(board.Operation).Gather(b, out, in, root, n))
					}),
					colltest.TryScatter(c, root, s.count, s.typ, func(out, in coll.Buf) error {
						return b.Do(new(board.Operation).Scatter(b, out, in, root, n))
					}))
				if err != nil {
					return fmt.Errorf("root=%d: %w", root, err)
				}
			}
			if err := colltest.First(b.Do(new(board.Operation).Barrier(b)),
				colltest.TryAllgather(c, s.count, s.typ, func(out, in coll.Buf) error {
					return b.Do(new(board.Operation).Allgather(b, out, in))
				}),
				colltest.TryAlltoall(c, s.count, s.typ, func(out, in coll.Buf) error {
					return b.Do(new(board.Operation).Alltoall(b, out, in))
				}),
			); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestBoardsCombine(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		r := c.Rank()
		for _, v := range []vector{{1, colltest.Map, false}, {40, colltest.Map, true}, {400, colltest.Map, false}} {
			for _, inPlace := range []bool{false, true} {
				op := colltest.Affine{Commutes: v.commutes}
				send, _, recv := v.ends(v.count, r, inPlace)
				all := v.combined(v.count, 0, p)
				if err := colltest.First(allreduce(b, send, recv.Buf, op),
					recv.Expect("allreduce", 0, all)); err != nil {
					return err
				}
				for _, root := range roots(p) {
					send, _, recv := v.ends(v.count, r, inPlace && r == root)
					if err := b.Do(new(board.Operation).Reduce(b, send, recv.Buf, op, root)); err != nil {
						return err
					}
					if r == root {
						if err := recv.Expect("reduce", 0, all); err != nil {
							return err
						}
					}
				}
				send, _, recv = v.ends(v.count, r, inPlace)
				if err := colltest.First(b.Do(new(board.Operation).Scan(b, send, recv.Buf, op, false)),
					recv.Expect("scan", 0, v.combined(v.count, 0, r+1))); err != nil {
					return err
				}
				send, _, recv = v.ends(v.count, r, inPlace)
				want := recv.Get(0, v.count)
				if r > 0 {
					want = v.combined(v.count, 0, r)
				}
				if err := colltest.First(b.Do(new(board.Operation).Scan(b, send, recv.Buf, op, true)),
					recv.Expect("exscan", 0, want)); err != nil {
					return err
				}
				each := int64(7)
				total := each * int64(p)
				send, _, recv = v.ends(total, r, inPlace)
				part := recv.Of(each)
				mine := v.combined(total, 0, p)[int64(r)*each*8 : int64(r+1)*each*8]
				if err := colltest.First(b.Do(new(board.Operation).ReduceScatter(b, send, part, total, int64(r)*each, op)),
					recv.Expect("reduce_scatter", 0, mine)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// A part that is longer than what is expected is an error of the one who reads it, and the board goes on.
func TestBoardsNoticeTruncation(t *testing.T) {
	onBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		n := int64(4)
		if c.Rank() == 0 {
			n = 5
		}
		err := b.Do(new(board.Operation).Bcast(b, colltest.NewMem(n, colltest.Int).Buf, 0))
		if (err != nil) != (c.Rank() > 0) {
			return fmt.Errorf("rank %d: %v", c.Rank(), err)
		}
		return colltest.TryBcast(c, 0, 2, colltest.Int, func(x coll.Buf) error {
			return b.Do(new(board.Operation).Bcast(b, x, 0))
		})
	})
}
