package datatype

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"

	"github.com/libimpi/libimpi/abi"
)

// wide draws a type with repetition counts large enough for every kernel and every order of loops.
func wide(r *rand.Rand) *model {
	handles := []int{abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_C_DOUBLE_COMPLEX, abi.MPI_LONG,
		abi.MPI_FLOAT, abi.MPI_DOUBLE_INT, abi.MPI_WCHAR, abi.MPI_C_BOOL, abi.MPI_LONG_DOUBLE, abi.MPI_INTEGER16,
		abi.MPI_C_FLOAT_COMPLEX}
	m := named(handles[r.Intn(len(handles))])
	if r.Intn(3) == 0 {
		m = wideStruct(r, m)
	}
	m = wideLevel(r, m, 1+r.Intn(20), 1+r.Intn(9))
	m = wideLevel(r, m, 1+r.Intn(20), 1)
	return m
}

func wideStruct(r *rand.Rand, old *model) *model {
	m := new(model)
	b := int64(1 + r.Intn(3))
	m.block(named(abi.MPI_INT), 4, 1)
	m.block(old, 16, b)
	_, end := m.bounds()
	m.block(named(abi.MPI_CHAR), end+3, 2)
	m.t = ok(Struct([]int64{1, b, 2}, []int64{4, 16, end + 3}, []*Type{Named(abi.MPI_INT), old.t, Named(abi.MPI_CHAR)}))
	return m
}

// wideLevel repeats old n times in blocks of b: close together and resized to interleave, in reverse, or at random
// places.
func wideLevel(r *rand.Rand, old *model, n, b int) *model {
	m := new(model)
	_, hi := reachOf(old.entries)
	pitch := hi*int64(b) + int64(r.Intn(30))
	switch r.Intn(5) {
	case 0: // interleaved with its neighbour
		first := old.entries[0].basic.size
		lb, _ := old.bounds()
		m.lbs, m.ubs = []int64{lb}, []int64{lb + first}
		tight := ok(Resized(old.t, lb, first))
		whole := &model{entries: old.entries, lbs: m.lbs, ubs: m.ubs}
		m.lbs, m.ubs = nil, nil
		m.block(whole, 0, int64(n))
		m.t = ok(Contiguous(int64(n), tight))
	case 1:
		for i := range n {
			m.block(old, -int64(i)*pitch, int64(b))
		}
		m.t = ok(Hvector(int64(n), int64(b), -pitch, old.t))
	case 2, 3:
		disps, lens := make([]int64, n), make([]int64, n)
		for i, p := range r.Perm(n) {
			disps[i], lens[i] = int64(p)*pitch, int64(1+r.Intn(b))
			m.block(old, disps[i], lens[i])
		}
		m.t = ok(Hindexed(lens, disps, old.t))
	default:
		for i := range n {
			m.block(old, int64(i)*pitch, int64(b))
		}
		m.t = ok(Hvector(int64(n), int64(b), pitch, old.t))
	}
	return m
}

func ok(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	t.Commit()
	return t
}

func TestLargeRepetitionsGoThroughEveryKernel(t *testing.T) {
	seeds := 900
	if race {
		seeds = 200
	}
	for seed := range seeds {
		r := rand.New(rand.NewSource(int64(seed)))
		m := wide(r)
		count := int64(1 + r.Intn(12))
		entries := m.instances(count)
		if len(entries) > 6000 {
			continue
		}
		for _, rep := range []Rep{Native, External32} {
			if err := roundTrip(r, m, entries, count, rep); err != nil {
				t.Fatalf("seed %d, representation %d: %v", seed, rep, err)
			}
		}
	}
}

func roundTrip(r *rand.Rand, m *model, entries []entry, count int64, rep Rep) error {
	mem := newArena(reachOf(entries)).fill(r)
	want, _ := mem.encode(entries, rep)
	var c Cursor
	c.Init(mem.base(), count, m.t, rep)
	got := make([]byte, len(want))
	if n := c.Pack(got); n != len(want) || !bytes.Equal(got, want) {
		return fmt.Errorf("pack of %d bytes differs", len(want))
	}
	lo := r.Intn(len(want))
	hi := lo + 1 + r.Intn(len(want)-lo)
	c.SeekTo(int64(lo))
	if c.Pack(got[:hi-lo]); !bytes.Equal(got[:hi-lo], want[lo:hi]) {
		return fmt.Errorf("bytes %d to %d of %d differ", lo, hi, len(want))
	}
	if !disjoint(entries, mem) {
		return nil
	}
	expect := newArena(reachOf(entries)).fill(r)
	out := expect.clone()
	expect.decode(entries, rep, want)
	c.Init(out.base(), count, m.t, rep)
	c.Unpack(want[:lo])
	c.Unpack(want[lo:hi])
	c.Unpack(want[hi:])
	if !bytes.Equal(out.bytes, expect.bytes) {
		return fmt.Errorf("memory differs after unpack, cut at %d and %d of %d", lo, hi, len(want))
	}
	return nil
}
