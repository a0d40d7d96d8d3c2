package datatype

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
)

// check runs f on random types; a failure names the seed that repeats it.
func check(t *testing.T, rounds int, f func(r *rand.Rand, m *model) error) {
	t.Helper()
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		m := anyType(r, r.Intn(5))
		if len(m.entries) > 8*maxEntries {
			continue
		}
		if r.Intn(4) > 0 {
			m.t.Commit()
		}
		if err := f(r, m); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestSizesAndBoundsAreThoseOfTheTypeMap(t *testing.T) {
	check(t, 4000, func(r *rand.Rand, m *model) error {
		lb, ub := m.bounds()
		type sums struct{ size, size32, lb, ub, trueLB, trueUB, elems int64 }
		want := sums{m.size(Native), m.size(External32), lb, ub, 0, 0, int64(len(m.entries))}
		for i, e := range m.entries {
			if i == 0 || e.at < want.trueLB {
				want.trueLB = e.at
			}
			if i == 0 || e.at+e.basic.size > want.trueUB {
				want.trueUB = e.at + e.basic.size
			}
		}
		got := sums{m.t.Size(), m.t.PackedSize(1, External32), m.t.LB(), m.t.UB(), m.t.TrueLB(), m.t.TrueUB(), m.t.elems}
		if got != want {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
		if m.t.Extent() != ub-lb || m.t.TrueExtent() != want.trueUB-want.trueLB {
			return fmt.Errorf("extent %d, true extent %d", m.t.Extent(), m.t.TrueExtent())
		}
		return nil
	})
}

func TestSignatureIsThatOfTheTypeMap(t *testing.T) {
	check(t, 1000, func(r *rand.Rand, m *model) error {
		flat := m.flattened(r)
		h1, n1 := m.t.Signature()
		h2, n2 := flat.Signature()
		if h1 != h2 || n1 != n2 {
			return fmt.Errorf("signature %x %d of the type, %x %d of its type map", h1, n1, h2, n2)
		}
		return nil
	})
}

// flattened is a struct of the basic elements of m in order, at random places that do not overlap.
func (m *model) flattened(r *rand.Rand) *Type {
	var lens, disps []int64
	var types []*Type
	at := int64(0)
	for _, e := range m.entries {
		at += int64(r.Intn(3)) * int64(r.Intn(9))
		lens, disps, types = append(lens, 1), append(disps, at), append(types, e.basic)
		at += e.basic.size
	}
	t, err := Struct(lens, disps, types)
	if err != nil {
		panic(err)
	}
	return t
}

func TestPackProducesTheStreamOfTheTypeMapHoweverItIsCut(t *testing.T) {
	for _, rep := range []Rep{Native, External32} {
		check(t, 3000, func(r *rand.Rand, m *model) error {
			count := int64(r.Intn(4))
			entries := m.instances(count)
			mem := newArena(reachOf(entries)).fill(r)
			if r.Intn(2) == 0 {
				mem.tame(entries)
			}
			want, lost := mem.encode(entries, rep)
			var c Cursor
			c.Init(mem.base(), count, m.t, rep)
			if c.Len() != int64(len(want)) || m.t.PackedSize(count, rep) != c.Len() {
				return fmt.Errorf("stream of %d bytes, want %d", c.Len(), len(want))
			}
			got := make([]byte, len(want)+3)
			if n := c.Pack(got); n != len(want) || !bytes.Equal(got[:n], want) || (rep == External32 &&
				lost != (c.Err() != nil)) {
				return fmt.Errorf("whole: %d bytes %x, want %x, lost %v", n, got, want, lost)
			}
			if c.Pack(got) != 0 {
				return fmt.Errorf("packed beyond the end")
			}
			for range 8 {
				if err := packPieces(r, &c, want); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// packPieces starts anywhere and goes on in pieces of random size.
func packPieces(r *rand.Rand, c *Cursor, want []byte) error {
	pos := r.Intn(len(want) + 1)
	c.SeekTo(int64(pos))
	top := 1 + r.Intn(1+r.Intn(60))
	for pos < len(want) {
		piece := make([]byte, 1+r.Intn(top))
		n := c.Pack(piece)
		if n == 0 || !bytes.Equal(piece[:n], want[pos:pos+n]) {
			return fmt.Errorf("at %d: %x, want %x", pos, piece[:n], want[pos:pos+n])
		}
		pos += n
		if c.Pos() != int64(pos) {
			return fmt.Errorf("position %d, want %d", c.Pos(), pos)
		}
	}
	return nil
}

func TestUnpackStoresTheStreamAndNothingElse(t *testing.T) {
	for _, rep := range []Rep{Native, External32} {
		check(t, 3000, func(r *rand.Rand, m *model) error {
			count := int64(r.Intn(4))
			entries := m.instances(count)
			mem := newArena(reachOf(entries)).fill(r)
			if !disjoint(entries, mem) {
				return nil
			}
			stream, _ := newArena(reachOf(entries)).fill(r).encode(entries, rep)
			want := mem.clone()
			want.decode(entries, rep, stream)
			for top := range 4 {
				got := mem.clone()
				var c Cursor
				c.Init(got.base(), count, m.t, rep)
				for rest := stream; len(rest) > 0; {
					n := len(rest)
					if top > 0 {
						n = min(n, 1+r.Intn(top*top*3))
					}
					if c.Unpack(rest[:n]) != n {
						return fmt.Errorf("refused bytes of its own stream")
					}
					rest = rest[n:]
				}
				if c.Pos() != c.Len() || c.Unpack([]byte{1}) != 0 || !bytes.Equal(got.bytes, want.bytes) {
					return fmt.Errorf("pieces %d: memory\n%x, want\n%x", top, got.bytes, want.bytes)
				}
			}
			return nil
		})
	}
}

func TestEverySplitOfAStreamIsTheSame(t *testing.T) {
	rounds := 300
	if race { // which looks at pointers here, and not at threads
		rounds = 60
	}
	for _, rep := range []Rep{Native, External32} {
		check(t, rounds, func(r *rand.Rand, m *model) error {
			entries := m.instances(1)
			mem := newArena(reachOf(entries)).fill(r)
			want, _ := mem.encode(entries, rep)
			if len(want) > 300 {
				return nil
			}
			var c Cursor
			c.Init(mem.base(), 1, m.t, rep)
			got := make([]byte, len(want))
			for lo := range want {
				for hi := lo + 1; hi <= len(want); hi++ {
					c.SeekTo(int64(lo))
					if n := c.Pack(got[:hi-lo]); n != hi-lo || !bytes.Equal(got[:n], want[lo:hi]) {
						return fmt.Errorf("bytes %d to %d: %x, want %x", lo, hi, got[:n], want[lo:hi])
					}
				}
			}
			return nil
		})
	}
}

func TestCopyMatchesBasicElementsInOrder(t *testing.T) {
	check(t, 3000, func(r *rand.Rand, m *model) error {
		count := int64(1 + r.Intn(3))
		entries := m.instances(count)
		src := newArena(reachOf(entries)).fill(r)
		want, _ := src.encode(entries, Native)
		room := count - int64(r.Intn(2))
		flat := m.flattened(r)
		if r.Intn(2) == 0 {
			flat.Commit()
		}
		dst := newArena(0, count*max(flat.Extent(), 1))
		n, truncated := Copy(dst.base(), room, flat, src.base(), count, m.t)
		whole := min(int64(len(want)), room*flat.Size())
		if n != whole || truncated != (whole < int64(len(want))) {
			return fmt.Errorf("copied %d of %d, truncated %v", n, len(want), truncated)
		}
		var c Cursor
		c.Init(dst.base(), room, flat, Native)
		got := make([]byte, n)
		c.Pack(got)
		if !bytes.Equal(got, want[:n]) {
			return fmt.Errorf("copy %x, want %x", got, want[:n])
		}
		return nil
	})
}

func TestSpanIsWhereTheStreamLies(t *testing.T) {
	spans := 0
	check(t, 2000, func(r *rand.Rand, m *model) error {
		count := int64(r.Intn(4))
		entries := m.instances(count)
		mem := newArena(reachOf(entries)).fill(r)
		want, _ := mem.encode(entries, Native)
		p, n, ok := m.t.Span(mem.base(), count)
		if !ok {
			next := int64(0)
			for i, e := range entries {
				if i > 0 && e.at != next {
					return nil
				}
				next = e.at + e.basic.size
			}
			if m.t.Committed() && m.t.program(Native).root.op == opRun {
				return fmt.Errorf("one run is not a span")
			}
			return nil
		}
		spans++
		if n != int64(len(want)) || !bytes.Equal(unsafe.Slice((*byte)(p), n), want) {
			return fmt.Errorf("span of %d bytes, want %d", n, len(want))
		}
		return nil
	})
	if spans < 100 {
		t.Errorf("only %d spans among the random types", spans)
	}
}

func TestElementsCountsTheTypeMapByteForByte(t *testing.T) {
	for _, rep := range []Rep{Native, External32} {
		check(t, 600, func(r *rand.Rand, m *model) error {
			whole := map[int64]int64{}
			end := int64(0)
			for i, e := range m.instances(2) {
				end += e.basic.packed(rep)
				whole[end] = int64(i + 1)
			}
			floor, last := int64(0), int64(0)
			for b := int64(1); b <= min(end, 2000); b++ {
				want, ok := whole[b]
				if !ok {
					want = abi.MPI_UNDEFINED
				}
				if got := m.t.Elements(b, rep); got != want {
					return fmt.Errorf("%d bytes are %d elements, want %d", b, got, want)
				}
				if ok {
					floor, last = want, b
				}
				if n, rest := m.t.WholeElements(b, rep); n != floor || rest != b-last {
					return fmt.Errorf("%d bytes hold %d elements and %d bytes, want %d and %d", b, n, rest, floor, b-last)
				}
				if ok && rep == Native {
					if got, _ := m.t.FirstBytes(want); got != b {
						return fmt.Errorf("%d elements are %d bytes, want %d", want, got, b)
					}
				}
				count := int64(abi.MPI_UNDEFINED)
				if size := m.size(rep); b%size == 0 {
					count = b / size
				}
				if got := m.t.Count(b, rep); got != count {
					return fmt.Errorf("%d bytes are count %d, want %d", b, got, count)
				}
			}
			return nil
		})
	}
}

func TestUniformIsTheOneTypeOfAllData(t *testing.T) {
	check(t, 2000, func(r *rand.Rand, m *model) error {
		u := m.t.Uniform()
		var parts []*Type
		if u != nil {
			if u.Handle() == 0 {
				return fmt.Errorf("uniform of no predefined type")
			}
			for _, e := range named(u.Handle()).entries {
				parts = append(parts, e.basic)
			}
		}
		for i, e := range m.entries {
			if u != nil && e.basic != parts[i%len(parts)] {
				return fmt.Errorf("%s in a type uniform of %s", e.basic.Name(), u.Name())
			}
		}
		if u == nil && len(m.entries) > 0 {
			for _, e := range m.entries {
				if e.basic != m.entries[0].basic {
					return nil
				}
			}
			if !holdsPair(m.t) {
				return fmt.Errorf("all is %s, but it is not uniform", m.entries[0].basic.Name())
			}
		}
		return nil
	})
}

// holdsPair tells whether a pair type is among the parts: MPI_2INT beside MPI_INT is not uniform.
func holdsPair(t *Type) bool {
	if t.handle != 0 {
		return t.form == formFields
	}
	for _, old := range append(t.olds[:len(t.olds):len(t.olds)], t.old) {
		if old != nil && holdsPair(old) {
			return true
		}
	}
	return false
}
