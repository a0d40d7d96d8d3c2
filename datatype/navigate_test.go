package datatype

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// ascending draws a type whose data lies in the order of its stream, with gaps, and expands it alongside.
func ascending(r *rand.Rand, depth int) *model {
	if depth == 0 {
		return named([]int{abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_LONG, abi.MPI_WCHAR,
			abi.MPI_LONG_DOUBLE}[r.Intn(7)])
	}
	old := ascending(r, depth-1)
	lb, ub := old.bounds()
	lo, hi := reachOf(old.entries)
	m := new(model)
	n := int64(1 + r.Intn(4))
	if len(old.entries) > maxEntries/4 {
		n = 1
	}
	switch pitch := max(ub-lb, hi-lo); r.Intn(4) {
	case 0:
		stride := pitch + int64(r.Intn(20))
		for i := range n {
			m.block(old, i*stride, 1)
		}
		m.t = ok(Hvector(n, 1, stride, old.t))
	case 1, 2:
		one := ok(Resized(old.t, lo, pitch))
		spaced := &model{t: one, entries: old.entries, lbs: []int64{lo}, ubs: []int64{lo + pitch}}
		lens, disps, at := make([]int64, n), make([]int64, n), int64(r.Intn(100)-50)
		for i := range lens {
			lens[i], disps[i] = int64(1+r.Intn(2)*r.Intn(3)), at
			at += lens[i]*pitch + int64(r.Intn(3)*r.Intn(30))
			m.block(spaced, disps[i], lens[i])
		}
		m.t = ok(Hindexed(lens, disps, one))
	case 3:
		var lens, disps []int64
		var olds []*Type
		at := int64(r.Intn(50))
		for range n {
			part := old
			if r.Intn(2) == 0 {
				part = ascending(r, 0)
			}
			lo, hi := reachOf(part.entries)
			at += int64(r.Intn(3) * r.Intn(9))
			lens, disps, olds = append(lens, 1), append(disps, at-lo), append(olds, part.t)
			m.block(part, at-lo, 1)
			at += hi - lo
		}
		m.t = ok(Struct(lens, disps, olds))
	}
	return m
}

// bytesOf are the packed bytes of some elements: where the unit of each is in memory, and the end of that.
func bytesOf(entries []entry, rep Rep) (at, end []int64) {
	for _, e := range entries {
		kind, units := kindRaw, e.basic.size
		if rep == External32 {
			kind, units = e.basic.kind, e.basic.units
		}
		for u := range units {
			for range kind.packed() {
				at, end = append(at, e.at+u*kind.mem()), append(end, e.at+(u+1)*kind.mem())
			}
		}
	}
	return at, end
}

func inOrder(entries []entry) bool {
	for i := 1; i < len(entries); i++ {
		if entries[i].at < entries[i-1].at+entries[i-1].basic.size {
			return false
		}
	}
	return true
}

func TestNavigationIsThatOfTheTypeMap(t *testing.T) {
	for seed := range 1500 {
		r := rand.New(rand.NewSource(int64(seed)))
		m, rep, count := ascending(r, r.Intn(4)), Rep(r.Intn(2)), int64(1+r.Intn(3))
		entries := m.instances(count)
		var c Cursor
		c.Init(nil, count, m.t, rep)
		if got := c.Ordered(); got != inOrder(entries) {
			t.Fatalf("seed %d: ordered %v", seed, got)
		}
		if !inOrder(entries) {
			continue
		}
		at, end := bytesOf(entries, rep)
		for range 60 {
			lo := r.Intn(len(at))
			n := 1 + r.Intn(len(at)-lo)
			if got, want := c.Extent(int64(lo), int64(n)), end[lo+n-1]-at[lo]; got != want {
				t.Fatalf("seed %d: %d bytes from %d have an extent of %d, want %d", seed, n, lo, got, want)
			}
			reach, within := int64(1+r.Intn(int(end[len(end)-1]-at[lo])+9)), int64(0)
			for _, a := range at[lo:] {
				if a < at[lo]+reach {
					within++
				}
			}
			if got := c.Within(int64(lo), reach); got != within {
				t.Fatalf("seed %d: %d bytes of memory from byte %d on hold %d, want %d", seed, reach, lo, got, within)
			}
		}
		if all := int64(len(at)); c.Extent(0, all+7) != c.Extent(0, all) || c.Extent(all, 1) != 0 || c.Extent(3, 0) != 0 ||
			c.Extent(0, -1) != 0 ||
			c.Within(0, math.MaxInt64) != all || c.Within(all-1, math.MaxInt64) != 1 || c.Within(all, 100) != 0 || c.Within(0,
			0) != 0 || c.Within(0, -4) != 0 || c.Pos() != 0 {
			t.Fatalf("seed %d: beyond the ends", seed)
		}
	}
}

func TestOrderedIsOnlyWhatIsInOrder(t *testing.T) {
	in, out := 0, 0
	check(t, 4000, func(r *rand.Rand, m *model) error {
		count := int64(r.Intn(3))
		entries := m.instances(count)
		var c Cursor
		c.Init(nil, count, m.t, Native)
		if got := c.Ordered(); got != inOrder(entries) {
			return fmt.Errorf("ordered %v", got)
		} else if got {
			in++
		} else {
			out++
		}
		for range 8 { // whatever it is, the answers are numbers
			pos := r.Int63n(c.Len()*2+2) - c.Len()/2
			c.Extent(pos, r.Int63n(c.Len()+2))
			if n := c.Within(pos, r.Int63n(1<<r.Intn(63))); n < 0 || n > c.Len() {
				return fmt.Errorf("%d of %d bytes within", n, c.Len())
			}
		}
		return nil
	})
	if in < 500 || out < 500 {
		t.Errorf("%d in order, %d not", in, out)
	}
}

func TestNavigationAllocatesNothing(t *testing.T) {
	var c Cursor
	c.Init(nil, 3, ok(Hindexed([]int64{3, 1, 2}, []int64{0, 80, 200}, testDouble)), Native)
	if n := testing.AllocsPerRun(10, func() {
		c.Extent(5, 30)
		c.Within(5, 300)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
