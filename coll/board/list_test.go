package board

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/coll/buffer"
)

// A list asks for as much room as it uses, whatever blocks it has, as long as they are not too long; and its entries
// say where they are.
func TestAListHasTheRoomThatItAsksFor(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		blocks := make([]block, random.IntN(9))
		for i := range blocks {
			blocks[i] = block{Buf: buffer.Bytes(make([]byte, random.IntN(1<<random.IntN(12)))), peer: int32(i)}
		}
		most := int64(random.IntN(2) * 64 << 10)
		mem := make([]byte, room(blocks, LongBlock, most))
		var l list
		l.begin(mem, len(blocks))
		for i := range blocks {
			into, at := l.place(blocks[i].Size())
			if into == nil {
				t.Fatalf("%d bytes have no room for block %d of %d", len(mem), i, len(blocks))
			}
			if into[:0:0] != nil && at < (1+len(blocks))*entryBytes {
				t.Fatalf("block %d begins in the list, at %d", i, at)
			}
			l.add(newEntry(i, at, len(into)))
		}
		for i := range blocks {
			e := entryOf(mem, i)
			if e.to() != uint64(i) || int64(e.bytes()) != blocks[i].Size() || e.at()+e.bytes() > len(mem) {
				t.Fatalf("entry %d is for %d, %d bytes at %d", i, e.to(), e.bytes(), e.at())
			}
		}
	}
}

// Blocks of a share find room in a long slot, and what is a byte longer does not.
func TestASharesBlocksFindRoom(t *testing.T) {
	const most = 64 << 10
	for n := 2; n < 40; n++ {
		share := Share(most, n, n)
		blocks := make([]block, n)
		for i := range blocks {
			blocks[i].Buf = buffer.Bytes(make([]byte, share))
		}
		used := (1 + n) * entryBytes
		for i := range blocks {
			used = behind(beginning(used, blocks[i].Size()), blocks[i].Size())
		}
		if used > most || used < most-2*n*blockAlign {
			t.Errorf("%d blocks of %d bytes use %d", n, share, used)
		}
	}
}

// What another process wrote is not believed: a list ends with its contribution.
func TestAListOfAnotherProcessIsBounded(t *testing.T) {
	for _, c := range []struct {
		part []uint64
		want int
	}{{nil, 0}, {[]uint64{1}, 0}, {[]uint64{^uint64(0)}, 0}, {[]uint64{1 << 63, 0}, 1}, {[]uint64{1, 0, 0}, 1},
		{[]uint64{9, 0, 0}, 2}} {
		var part []byte
		for _, word := range c.part {
			part = binary.NativeEndian.AppendUint64(part, word)
		}
		if got := entries(part); got != c.want {
			t.Errorf("%v: %d entries, and not %d", c.part, got, c.want)
		}
		if got := nthFor(part, 1, 0); got != c.want {
			t.Errorf("%v: entry %d is for rank 1, which has none", c.part, got)
		}
	}
}

func TestEntriesOfARankAreFoundByTheirNumber(t *testing.T) {
	var l list
	mem := make([]byte, 100)
	l.begin(mem, 5)
	for i, to := range []int{2, -1, 1, 2, 2} {
		l.add(newEntry(to, i, i))
	}
	for _, c := range []struct{ rank, nth, want int }{{2, 0, 0}, {2, 1, 3}, {2, 2, 4}, {2, 3, 5}, {1, 0, 2}, {1, 1, 5}} {
		if got := nthFor(mem, c.rank, c.nth); got != c.want {
			t.Errorf("number %d for rank %d is entry %d, and not %d", c.nth, c.rank, got, c.want)
		}
	}
}
