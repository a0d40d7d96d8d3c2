package onesided

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

func classOf(err error) int {
	if e, ok := err.(*Error); ok {
		return e.Class
	}
	return abi.MPI_SUCCESS
}

func TestRegionsAreAttachedAndDetached(t *testing.T) {
	var list Regions
	for _, c := range []struct {
		base  uint64
		size  int64
		class int
	}{
		{1000, 100, 0},
		{1100, 100, 0}, // it touches
		{900, 100, 0},
		{1000, 0, 0}, // nothing overlaps nothing
		{1199, 1, abi.MPI_ERR_RMA_ATTACH},
		{899, 2, abi.MPI_ERR_RMA_ATTACH},
		{0, 10000, abi.MPI_ERR_RMA_ATTACH},
		{math.MaxInt64 - 9, 9, 0},
		{math.MaxInt64 - 9, 10, abi.MPI_ERR_SIZE},
		{2000, math.MaxInt64, abi.MPI_ERR_SIZE},
		{math.MaxUint64 - 9, 100, abi.MPI_ERR_SIZE}, // it would end before it begins
	} {
		more, err := list.Attach(c.base, c.size)
		if got := classOf(err); got != c.class {
			t.Errorf("%d bytes at %d are attached with class %d, not %d: %v", c.size, c.base, got, c.class, err)
		}
		if err == nil {
			list = more
		}
	}
	joined := list.Joined()
	if len(joined) != 2 || joined[0] != (Region{900, 300}) {
		t.Errorf("joined: %v", joined)
	}
	less, err := list.Detach(1000)
	if err != nil || len(less) != len(list)-1 {
		t.Errorf("detached: %v, %v", less, err)
	}
	if _, err = list.Detach(1001); classOf(err) != abi.MPI_ERR_RMA_ATTACH {
		t.Errorf("detached from the middle: %v", err)
	}
}

// randomLayout is a type whose data lies within some tens of bytes of its address, before it or behind it.
func randomLayout(rng *rand.Rand) (*datatype.Type, error) {
	old := datatype.Named([]int{abi.MPI_BYTE, abi.MPI_INT16_T}[rng.IntN(2)])
	for range rng.IntN(3) {
		var t *datatype.Type
		var err error
		switch rng.IntN(3) {
		case 0:
			t, err = datatype.Hvector(rng.Int64N(4), rng.Int64N(3), rng.Int64N(13)-6, old)
		case 1:
			lengths, displs := []int64{rng.Int64N(3), rng.Int64N(3)}, []int64{rng.Int64N(20) - 5, rng.Int64N(20) - 5}
			t, err = datatype.Hindexed(lengths, displs, old)
		case 2:
			t, err = datatype.Resized(old, 0, rng.Int64N(9)-3)
		}
		if err != nil {
			return nil, err
		}
		old = t
	}
	old.Commit()
	return old, nil
}

func TestDataIsHeldIfEachOfItsBytesIsAttached(t *testing.T) {
	const memory, base = 128, 1 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	found := map[Held]int{}
	for range 20000 {
		var list Regions
		var attached [memory]bool
		for range 1 + rng.IntN(5) {
			at, n := rng.Int64N(memory), rng.Int64N(memory/2)
			n = min(n, memory-at)
			more, err := list.Attach(base+uint64(at), n)
			if err != nil {
				continue
			}
			list = more
			for i := at; i < at+n; i++ {
				attached[i] = true
			}
		}
		typ, err := randomLayout(rng)
		if err != nil {
			t.Fatal(err)
		}
		b := coll.Buf{Count: 1 + rng.Int64N(5), Type: typ}
		if b.Size() == 0 {
			continue
		}
		at, first := rng.Int64N(memory), int64(0)
		end := b.Size()
		if rng.IntN(2) == 0 {
			first = rng.Int64N(end)
			end = first + 1 + rng.Int64N(end-first)
		}
		want := HeldAll
		var c datatype.Cursor
		var runs datatype.Runs
		c.Init(nil, b.Count, b.Type, datatype.Native)
		for pos := first; pos < end; {
			pos = c.List(&runs, pos, end)
			for k := range runs.N {
				for i := at + runs.Off[k]; i < at+runs.Off[k]+runs.Len[k]; i++ {
					if i < 0 || i >= memory || !attached[i] {
						want = HeldNot
					}
				}
			}
		}
		got := list.Joined().Hold(base+at, b, first, end, math.MaxInt64)
		if got != want {
			t.Fatalf("bytes %d to %d of %d elements at %d: %v, not %v; regions %v", first, end, b.Count, at, got, want, list)
		}
		found[got]++
	}
	if found[HeldAll] < 1000 || found[HeldNot] < 1000 {
		t.Errorf("found %v: neither is rare", found)
	}
}

// TestAListOfAnotherProcessMayBeAnything looks for data in what no process of ours publishes.
func TestAListOfAnotherProcessMayBeAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	numbers := []int64{0, 1, -1, 4096, math.MaxInt64, math.MinInt64, 1 << 62}
	b := coll.Buf{Count: 3, Type: datatype.Named(abi.MPI_INT64_T)}
	for range 2000 {
		list := make(Regions, rng.IntN(6))
		for i := range list {
			list[i] = Region{uint64(numbers[rng.IntN(len(numbers))]), numbers[rng.IntN(len(numbers))]}
		}
		list.Hold(numbers[rng.IntN(len(numbers))], b, 0, b.Size(), 100)
	}
	if held := (Regions{{0, -8}, {4096, -1}}).Hold(4096, b, 0, b.Size(), 100); held != HeldNot {
		t.Errorf("data lies in a region of less than no bytes: %v", held)
	}
}

// TestManyElementsAreHeldSoon looks at 2^40 bytes, 16 bytes apart, in two regions with a gap between.
func TestManyElementsAreHeldSoon(t *testing.T) {
	const n, base = 1 << 40, 1 << 20
	wide, err := datatype.Resized(datatype.Named(abi.MPI_BYTE), 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	wide.Commit()
	b := coll.Buf{Count: n, Type: wide}
	half := int64(16 * n / 2) // from the first region's base to the byte in the middle
	for gap, want := range map[int64]Held{15: HeldAll, 16: HeldNot} {
		list := Regions{{base, half - 15}, {uint64(base + half - 15 + gap), half}}
		if held := list.Hold(base, b, 0, n, 1000); held != want {
			t.Errorf("a gap of %d bytes: %v, not %v", gap, held, want)
		}
	}
}
