package datatype

import (
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

func TestSumsKnowWhetherTheyFit(t *testing.T) {
	edges := []int64{0, 1, -1, 2, -2, 3, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1,
		math.MaxInt64 / 2, math.MinInt64 / 2,
		math.MaxInt64/2 + 1, math.MaxInt32, math.MinInt32, math.MaxInt32 + 1, math.MinInt32 - 1, 1 << 32, -1 << 32,
		3037000499, 3037000500}
	r := rand.New(rand.NewSource(1))
	for range 40 {
		edges = append(edges, int64(r.Uint64())>>r.Intn(64))
	}
	for _, a := range edges {
		for _, b := range edges {
			x, y := big.NewInt(a), big.NewInt(b)
			for name, e := range map[string]struct {
				want *big.Int
				f    func(m *safeMath) int64
			}{
				"+": {new(big.Int).Add(x, y), func(m *safeMath) int64 { return m.add(a, b) }},
				"-": {new(big.Int).Sub(x, y), func(m *safeMath) int64 { return m.sub(a, b) }},
				"*": {new(big.Int).Mul(x, y), func(m *safeMath) int64 { return m.mul(a, b) }},
			} {
				var m safeMath
				got := e.f(&m)
				if m.overflow == e.want.IsInt64() || !m.overflow && got != e.want.Int64() {
					t.Fatalf("%d %s %d = %d, overflow %v; it is %v", a, name, b, got, m.overflow, e.want)
				}
			}
			if a >= 0 && b >= 0 {
				want := int64(math.MaxInt64)
				if p := new(big.Int).Mul(x, y); p.IsInt64() {
					want = p.Int64()
				}
				if got := saturatingMul(a, b); got != want {
					t.Fatalf("%d * %d = %d, want %d", a, b, got, want)
				}
			}
		}
	}
}

// Elements that go backwards: every constructor finds the lowest and the highest.
func TestBoundsOfNegativeExtents(t *testing.T) {
	back := &model{t: ok(Resized(testInt, 2, -12)), entries: []entry{{0, testInt}}, lbs: []int64{2}, ubs: []int64{-10}}
	made := func(typ *Type, err error, blocks ...[2]int64) *model { // a place and a number of elements for each block
		m := &model{t: ok(typ, err)}
		for _, b := range blocks {
			m.block(back, b[0], b[1])
		}
		return m
	}
	contiguous, err := Contiguous(5, back.t)
	cases := map[string]*model{"contiguous": made(contiguous, err, [2]int64{0, 5})}
	vector, err := Vector(3, 2, 4, back.t)
	cases["vector"] = made(vector, err, [2]int64{0, 2}, [2]int64{-48, 2}, [2]int64{-96, 2})
	hvector, err := Hvector(2, 3, 7, back.t)
	cases["hvector"] = made(hvector, err, [2]int64{0, 3}, [2]int64{7, 3})
	indexed, err := Indexed([]int64{3, 1}, []int64{0, -1}, back.t)
	cases["indexed"] = made(indexed, err, [2]int64{0, 3}, [2]int64{12, 1})
	first, err := Indexed([]int64{0, 4}, []int64{9, 2}, back.t)
	cases["one block"] = made(first, err, [2]int64{-24, 4})
	hindexed, err := Hindexed([]int64{1, 6}, []int64{100, 50}, back.t)
	cases["hindexed"] = made(hindexed, err, [2]int64{100, 1}, [2]int64{50, 6})
	block, err := IndexedBlock(3, []int64{0, 1, -2}, back.t)
	cases["indexed block"] = made(block, err, [2]int64{0, 3}, [2]int64{-12, 3}, [2]int64{24, 3})
	hblock, err := HindexedBlock(2, []int64{40, 3}, back.t)
	cases["hindexed block"] = made(hblock, err, [2]int64{40, 2}, [2]int64{3, 2})
	fields, err := Struct([]int64{4, 2}, []int64{0, 90}, []*Type{back.t, back.t})
	cases["struct"] = made(fields, err, [2]int64{0, 4}, [2]int64{90, 2})
	for name, m := range cases {
		lb, ub := m.bounds()
		lo, hi := m.entries[0].at, m.entries[0].at+4
		for _, e := range m.entries {
			lo, hi = min(lo, e.at), max(hi, e.at+4)
		}
		if m.t.LB() != lb || m.t.UB() != ub || m.t.TrueLB() != lo || m.t.TrueUB() != hi {
			t.Errorf("%s: bounds %d %d, true %d %d, want %d %d, %d %d", name, m.t.LB(), m.t.UB(), m.t.TrueLB(), m.t.TrueUB(),
				lb, ub, lo, hi)
		}
	}
	if typ := ok(Contiguous(3, ok(Resized(Named(abi.MPI_CHAR), 0, -1)))); typ.Extent() != 1 || typ.LB() != -2 ||
		typ.UB() != -1 {
		t.Errorf("chars backwards: bounds %d to %d", typ.LB(), typ.UB())
	}
}

// A part that is placed against its alignment keeps its padding, as those of MPICH and Open MPI do.
func TestPartsKeepTheirPadding(t *testing.T) {
	char, double := Named(abi.MPI_CHAR), Named(abi.MPI_DOUBLE)
	padded := ok(Struct([]int64{1, 1}, []int64{0, 8}, []*Type{double, char})) // 9 bytes of 16
	apart := ok(Hvector(3, 4, 25, testInt))                                   // 66 of 68
	for name, c := range map[string]struct {
		typ         *Type
		ub, trueEnd int64
	}{
		"where it belongs":         {ok(Hindexed([]int64{1}, []int64{16}, padded)), 32, 25},
		"beside it":                {ok(Hindexed([]int64{1, 1}, []int64{0, 17}, padded)), 40, 26},
		"between chars":            {ok(Struct([]int64{1, 1}, []int64{0, 1}, []*Type{char, padded})), 24, 10},
		"under another":            {ok(Struct([]int64{1, 1}, []int64{0, 11}, []*Type{padded, char})), 16, 12},
		"padded, and padded again": {ok(Hvector(2, 3, 273, apart)), 480, 475},
		"next to each other":       {ok(Contiguous(3, apart)), 3 * 68, 2*68 + 66},
		"of one that was resized":  {ok(Contiguous(3, ok(Resized(padded, 0, 9)))), 27, 27},
		"resized":                  {ok(Resized(ok(Hvector(2, 3, 273, apart)), 0, 475)), 475, 475},
		"none of nothing":          {ok(Struct([]int64{1, 0}, []int64{0, 1}, []*Type{char, padded})), 1, 1},
	} {
		if c.typ.UB() != c.ub || c.typ.TrueUB() != c.trueEnd {
			t.Errorf("%s: upper bounds %d, true %d, want %d, %d", name, c.typ.UB(), c.typ.TrueUB(), c.ub, c.trueEnd)
		}
	}
}
