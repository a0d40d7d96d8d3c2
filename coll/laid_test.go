package coll_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/coll/colltest"
)

// twice makes a call, forgets what has arrived, and makes it again as C does, by what was noted of it. A rank of which
// that cannot be done makes the call itself.
func twice(b coll.Board, call func(l *coll.Laid) error) error {
	l := new(coll.Laid)
	if err := call(l); err != nil {
		return err
	}
	if l.Not {
		return call(nil)
	}
	for _, in := range l.In {
		if err := coll.Unpack(in.Buf, make([]byte, in.Size()), 0); err != nil {
			return err
		}
	}
	b.Begin(coll.AnyLength)
	if err := again(b, l); err != nil {
		return err
	}
	b.End()
	for r := 0; l.Stays && r < b.Size(); r++ {
		if _, err := b.(coll.Exposer).Ended(r); err != nil {
			return err
		}
	}
	return nil
}

// again shows and takes what has been noted.
func again(b coll.Board, l *coll.Laid) error {
	if l.Head != nil {
		mem, err := b.Put(int64(l.Used))
		if err != nil {
			return err
		}
		for i, word := range l.Head {
			binary.NativeEndian.PutUint64(mem[8*i:], word)
		}
		for _, o := range l.Out {
			if err := coll.Pack(mem[o.At:o.At+int(o.Size())], o.Buf, 0); err != nil {
				return err
			}
		}
		b.Publish(int64(l.Used))
	}
	for _, in := range l.In {
		if err := takeAgain(b, in); err != nil {
			return err
		}
	}
	return nil
}

func takeAgain(b coll.Board, in coll.LaidBlock) error {
	if in.From == b.Rank() {
		part := make([]byte, in.Own.Size())
		return colltest.First(coll.Pack(part, in.Own, 0), coll.Unpack(in.Buf, part, 0))
	}
	part, err := b.Get(in.From)
	if err != nil {
		return err
	}
	entry := binary.NativeEndian.Uint64(part[8+8*in.Entry:])
	at, n := entry>>16&0xffff, entry&0xffff
	switch n {
	case coll.ByMessage:
		return fmt.Errorf("rank %d sends the block", in.From)
	case coll.ByReading:
		where := binary.NativeEndian.Uint64(part[at:])
		block := make([]byte, binary.NativeEndian.Uint64(part[at+8:]))
		if _, err := b.(coll.Exposer).Read(in.From, where, block); err != nil {
			return err
		}
		return coll.Unpack(in.Buf, block, 0)
	}
	return coll.Unpack(in.Buf, part[at:at+n], 0)
}

func TestWhatWasNotedOfACallIsAllThatItNeeds(t *testing.T) {
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		var x coll.Exchange
		for _, s := range vShapes[:6] {
			root := p / 2
			if err := colltest.First(
				colltest.TryGatherv(c, root, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
					return twice(b, func(l *coll.Laid) error { return x.Begin(l).Gatherv(b, out, &in, root).Do(c, b) })
				}),
				colltest.TryScatterv(c, root, s.count, s.typ, func(out coll.VBuf, in coll.Buf) error {
					return twice(b, func(l *coll.Laid) error { return x.Begin(l).Scatterv(b, &out, in, root).Do(c, b) })
				}),
				colltest.TryAllgatherv(c, s.count, s.typ, func(out coll.Buf, in coll.VBuf) error {
					if longest(in) > 1<<14 {
						return coll.Allgatherv(c, out, in)
					}
					return twice(b, func(l *coll.Laid) error { return x.Begin(l).Allgatherv(b, out, &in).Do(c, b) })
				}),
				tryGraph(c, p, s, func(e *coll.Edges, send, recv *coll.Blocks) error {
					return twice(b, func(l *coll.Laid) error { return x.Begin(l).Neighbors(b, e, send, recv).Do(c, b) })
				})); err != nil {
				return fmt.Errorf("count=%d: %w", s.count, err)
			}
		}
		return nil
	})
}

// Blocks that are read where they lie, those that stand in pieces, and both.
func TestWhatWasNotedOfBlocksThatAreReadIsAllThatTheyNeed(t *testing.T) {
	onBoardsOf(t, 1<<15, true, func(c *colltest.Comm, b *colltest.Board, p int) error {
		var x coll.Exchange
		on := coll.Seating{Part: 1 << 15, Crowded: true, Reads: coll.ReadsQuickly}
		for _, s := range []shape{{20, colltest.Double}, {2000, colltest.Double}, {4200, colltest.Double}} {
			root, noted, read := p-1, 0, 0
			try := func(is func(x *coll.Exchange) *coll.Exchange) error {
				return twice(b, func(l *coll.Laid) error {
					err := is(x.Begin(l).On(on, p)).Do(c, b)
					if l != nil && !l.Not {
						noted++
					}
					if l != nil && l.Waits {
						read++
					}
					return err
				})
			}
			if err := colltest.First(
				colltest.TryScatterv(c, root, s.count, s.typ, func(out coll.VBuf, in coll.Buf) error {
					return try(func(x *coll.Exchange) *coll.Exchange { return x.Scatterv(b, &out, in, root) })
				}),
				colltest.TryScatter(c, root, s.count, s.typ, func(out, in coll.Buf) error {
					return try(func(x *coll.Exchange) *coll.Exchange { return x.Scatter(b, out, in, root) })
				}),
				colltest.TryAlltoall(c, s.count, s.typ, func(out, in coll.Buf) error {
					if out.IsInPlace() {
						return coll.Alltoall(c, out, in)
					}
					return try(func(x *coll.Exchange) *coll.Exchange { return x.Alltoall(b, out, in) })
				})); err != nil {
				return fmt.Errorf("count=%d: %w", s.count, err)
			}
			if noted == 0 || s.count == 20 && read > 0 || s.count == 4200 && p > 1 && read == 0 {
				return fmt.Errorf("p=%d count=%d: %d calls were noted, %d with blocks that are read", p, s.count, noted, read)
			}
		}
		return nil
	})
}

// longest is how many bytes the longest block has.
func longest(in coll.VBuf) (n int64) {
	for _, count := range in.Counts {
		n = max(n, count*in.Type.Size())
	}
	return n
}

func TestNeighborsInARingExchangeAgain(t *testing.T) {
	onBlockingBoards(t, func(c *colltest.Comm, b *colltest.Board, p int) error {
		left, right := (c.Rank()-1+p)%p, (c.Rank()+1)%p
		around := []int32{int32(left), int32(right)}
		e, err := coll.NewEdges(c.Rank(), around, around, true)
		if err != nil {
			return err
		}
		var x coll.Exchange
		for _, n := range []int64{1, 5, 500} {
			send, recv := colltest.NewMem(2*n, colltest.Double), colltest.NewMem(2*n, colltest.Double)
			send.Put(0, colltest.Pattern(n, colltest.Double, c.Rank(), 1))
			send.Put(n, colltest.Pattern(n, colltest.Double, c.Rank(), 2))
			out, in := coll.Even(send.Of(n)), coll.Even(recv.Of(n))
			noted := false
			if err := colltest.First(twice(b, func(l *coll.Laid) error {
				defer func() { noted = noted || l != nil && !l.Not && len(l.In) == 2 }()
				return x.Begin(l).Neighbors(b, e, &out, &in).Do(c, b)
			}),
				recv.Expect("from the left", 0, colltest.Pattern(n, colltest.Double, left, 2)),
				recv.Expect("from the right", n, colltest.Pattern(n, colltest.Double, right, 1))); err != nil {
				return fmt.Errorf("p=%d: %w", p, err)
			}
			if !noted {
				return fmt.Errorf("p=%d: the call was not noted", p)
			}
		}
		return nil
	})
}
