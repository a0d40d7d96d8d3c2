package datatype

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
)

// array is memory with a section in it, and where each byte of the section's virtual memory is, one by one.
type array struct {
	mem     []byte
	base    unsafe.Pointer
	section Section
	place   func(o int64) int64 // from the beginning of mem
	dims    []Side
	size    int64
}

// anySection draws a section of up to seven dimensions: every index of an array in steps, from the end on or not.
func anySection(r *rand.Rand) *array {
	elems := []int64{1, 2, 4, 4, 8, 8, 16, 24, 48}
	a := &array{size: elems[r.Intn(len(elems))]}
	stride, first, elem := a.size, int64(0), a.size
	for rank := 1 + r.Intn(7); len(a.dims) < rank; {
		n, step, before := int64(1+r.Intn(4)), int64(1+r.Intn(2)), int64(r.Intn(2))
		if r.Intn(rank) == 0 {
			n += int64(r.Intn(9))
		}
		length := before + n*step
		d := Side{n, stride * step}
		first += before * stride
		if r.Intn(3) == 0 {
			first, d.Stride = first+(n-1)*d.Stride, -d.Stride
		}
		a.dims = append(a.dims, d)
		stride *= length
	}
	const around = 1 << 12
	a.mem = make([]byte, stride+2*around)
	r.Read(a.mem)
	a.base = unsafe.Pointer(&a.mem[first+around])
	a.section = Sectioned(elem, a.dims)
	a.place = func(o int64) int64 {
		at, i := first+around, o/elem
		for _, d := range a.dims {
			at += i % d.N * d.Stride
			i /= d.N
		}
		return at + o%elem
	}
	return a
}

func (a *array) bytes() int64 {
	n := a.size
	for _, d := range a.dims {
		n *= d.N
	}
	return n
}

// gather is what count elements of m from element i on are, by their type map; false: they are not all in the section.
func (a *array) gather(m *model, i, count int64, each func(at, n int64)) bool {
	lb, ub := m.bounds()
	for e := i; e < i+count; e++ {
		for _, b := range m.entries {
			at := e*(ub-lb) + b.at
			if at < 0 || at+b.basic.size > a.bytes() {
				return false
			}
			for k := range b.basic.size {
				each(a.place(at+k), 1)
			}
		}
	}
	return true
}

// checkViews runs f on random types that can be laid over random sections.
func checkViews(t *testing.T, rounds int, f func(r *rand.Rand, a *array, m *model, view *Type, i, count int64) error) {
	t.Helper()
	laid, apart := 0, 0
	for seed := range rounds {
		r := rand.New(rand.NewSource(int64(seed)))
		a := anySection(r)
		fits := []int{abi.MPI_BYTE, abi.MPI_BYTE, abi.MPI_INT, abi.MPI_DOUBLE, abi.MPI_2INT, abi.MPI_SHORT, abi.MPI_REAL}
		leaf = func(int) *model { return named(fits[r.Intn(len(fits))]) }
		m := anyType(r, r.Intn(4))
		leaf = named
		m.t.Commit()
		view, err := View(a.section, m.t)
		if err != nil || len(m.entries) > 2000 {
			continue
		}
		most := int64(1)
		if extent := m.t.Extent(); extent > 0 {
			most = min(a.bytes()/extent+1, 400)
		}
		for range 3 {
			count := r.Int63n(most + 1)
			i := r.Int63n(most - min(count, most-1))
			if !a.gather(m, i, count, func(int64, int64) {}) {
				continue
			}
			laid++
			if len(a.section.Dims) > 0 {
				apart++
			}
			if err := f(r, a, m, view, i, count); err != nil {
				t.Fatalf("seed %d: %d from %d: %v", seed, count, i, err)
			}
		}
	}
	if laid < rounds/8 || apart < rounds/16 {
		t.Errorf("of %d random types only %d were laid over sections, %d of these not over one run", rounds, laid, apart)
	}
}

func TestViewsMoveWhatTheTypeMapHasInTheSection(t *testing.T) {
	checkViews(t, 6000, func(r *rand.Rand, a *array, m *model, view *Type, i, count int64) error {
		var want []byte
		a.gather(m, i, count, func(at, n int64) { want = append(want, a.mem[at:at+n]...) })
		base, typ := view.At(a.base, i)
		var c Cursor
		c.Init(base, count, typ, Native)
		if c.Len() != int64(len(want)) {
			return fmt.Errorf("%d bytes instead of %d", c.Len(), len(want))
		}
		got := make([]byte, len(want))
		for n := 0; n < len(got); {
			n += c.Pack(got[n:min(len(got), n+1+r.Intn(len(got)))])
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("packed wrong bytes")
		}
		wantMem := bytes.Clone(a.mem)
		r.Read(got)
		n := 0
		a.gather(m, i, count, func(at, k int64) { n += copy(wantMem[at:at+k], got[n:]) })
		if c.Init(base, count, typ, Native); len(got) > 0 && m.overlaps() {
			return nil
		}
		c.Unpack(got)
		if !bytes.Equal(a.mem, wantMem) {
			return fmt.Errorf("unpacked to wrong places")
		}
		return nil
	})
}

// overlaps reports whether elements share bytes, so that it matters who is unpacked last.
func (m *model) overlaps() bool {
	lb, ub := m.bounds()
	seen := map[int64]bool{}
	for e := range int64(8) {
		for _, b := range m.entries {
			for k := range b.basic.size {
				at := e*(ub-lb) + b.at + k
				if seen[at] {
					return true
				}
				seen[at] = true
			}
		}
	}
	return false
}

func TestViewsHaveTheSignatureAndTheExternalFormOfTheirType(t *testing.T) {
	checkViews(t, 2000, func(_ *rand.Rand, a *array, m *model, view *Type, i, count int64) error {
		base, typ := view.At(a.base, i)
		laid, n := typ.Laid(count)
		if got, want := laid.SignatureOf(n), m.t.SignatureOf(count); got != want {
			return fmt.Errorf("signature %x instead of %x", got, want)
		}
		if got, want := laid.PackedSize(n, External32), m.t.PackedSize(count, External32); got != want {
			return fmt.Errorf("%d bytes of external32 instead of %d", got, want)
		}
		var flat []byte
		for o := range a.bytes() {
			flat = append(flat, a.mem[a.place(o)])
		}
		if len(flat) == 0 || count == 0 {
			return nil
		}
		var c, w Cursor
		c.Init(base, count, typ, External32)
		w.Init(unsafe.Pointer(&flat[0]), count, m.t, External32)
		w.base = unsafe.Add(w.base, i*m.t.Extent())
		got, want := make([]byte, c.Len()), make([]byte, w.Len())
		c.Pack(got)
		w.Pack(want)
		if !bytes.Equal(got, want) {
			return fmt.Errorf("external32 differs")
		}
		return nil
	})
}

func TestCopiesBetweenSectionsAreThoseOfTheirElements(t *testing.T) {
	checkViews(t, 3000, func(r *rand.Rand, a *array, m *model, view *Type, i, count int64) error {
		b := anySection(r)
		other, err := View(b.section, Named(abi.MPI_BYTE))
		size := m.t.Size() * count
		if err != nil || size > b.bytes() {
			return nil
		}
		var want []byte
		a.gather(m, i, count, func(at, n int64) { want = append(want, a.mem[at:at+n]...) })
		base, typ := view.At(a.base, i)
		if n, cut := Copy(b.base, size, other, base, count, typ); n != size || cut {
			return fmt.Errorf("%d bytes, cut %v", n, cut)
		}
		for o, v := range want {
			if b.mem[b.place(int64(o))] != v {
				return fmt.Errorf("byte %d differs", o)
			}
		}
		return nil
	})
}

// Even must find all elements, one after the other, and say of each where it is.
func TestEvenElementsAreWhereTheSectionHasThem(t *testing.T) {
	checkViews(t, 3000, func(_ *rand.Rand, a *array, m *model, view *Type, i, count int64) error {
		base, typ := view.At(a.base, i)
		from := int64(uintptr(base) - uintptr(unsafe.Pointer(&a.mem[0])))
		lb, ub := m.bounds()
		for e := int64(0); e < count; {
			at, step, n := typ.Even(e, count-e)
			if n < 0 || n > count-e {
				return fmt.Errorf("%d elements from %d on", n, e)
			}
			for k := range n {
				for _, b := range m.entries {
					o := (i+e+k)*(ub-lb) + b.at
					if got := from + at + k*step + b.at; got != a.place(o) {
						return fmt.Errorf("element %d at %d, not %d", e+k, got, a.place(o))
					}
				}
			}
			e += max(n, 1)
		}
		return nil
	})
}

func TestSectionsOfOneRunNeedNoView(t *testing.T) {
	s := Sectioned(8, []Side{{10, 8}, {1, 999}, {5, 80}})
	if len(s.Dims) != 0 || s.Elem != 400 {
		t.Errorf("%+v", s)
	}
	if v, err := View(s, Named(abi.MPI_DOUBLE)); err != nil || v != Named(abi.MPI_DOUBLE) {
		t.Errorf("%v, %v", v, err)
	}
}

func TestLoopsStayLoops(t *testing.T) {
	for _, c := range []struct {
		name  string
		dims  []Side
		count int64
		runs  int
	}{
		{"a column of every other row", []Side{{500, 16}}, 500, 0},
		{"the interior of a block", []Side{{98, 8}, {98, 800}, {98, 80000}}, 98 * 98 * 98, 0},
		{"reversed", []Side{{10, -8}, {20, -160}, {30, 6400}}, 6000, 0},
		{"two and a half columns", []Side{{100, 16}, {100, 3200}}, 250, 2},
	} {
		v, err := View(Sectioned(8, c.dims), Named(abi.MPI_DOUBLE))
		if err != nil {
			t.Fatal(err)
		}
		p, ok := func() (Plan, bool) { l, _ := v.Laid(c.count); return l.Plan() }()
		if c.runs == 0 && (!ok || p.Offs != nil) {
			t.Errorf("%s is not a nest of loops: %v, %+v", c.name, ok, p)
		}
		if l, _ := v.Laid(c.count); c.runs > 0 && len(l.program(Native).root.kids) != c.runs {
			t.Errorf("%s: %+v", c.name, l.program(Native).root)
		}
	}
}

func TestABasicElementInSeveralElementsOfTheSectionIsRefused(t *testing.T) {
	_, err := View(Sectioned(4, []Side{{10, 8}}), Named(abi.MPI_DOUBLE))
	if e, ok := err.(*Error); !ok || e.Class != abi.MPI_ERR_BUFFER {
		t.Errorf("%v", err)
	}
	if _, err := View(Sectioned(4, []Side{{10, 8}}), Named(abi.MPI_2INTEGER)); err != nil {
		t.Errorf("a pair is two elements: %v", err)
	}
}
