package colltest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Mem is a user's buffer in a test: room for elements of a type, with known bytes in the gaps and around.
type Mem struct {
	coll.Buf
	mem  []byte
	room int64 // elements
}

const gap = 0xEE

// NewMem is room for n elements of t (n may be 0), all bytes gap.
func NewMem(n int64, t *datatype.Type) *Mem {
	lo := min(0, t.TrueLB(), t.TrueLB()+(n-1)*t.Extent()) - 32
	hi := max(0, t.TrueUB(), t.TrueUB()+(n-1)*t.Extent()) + 32
	if t.IsView() {
		laid, _ := t.Laid(n)
		lo, hi = laid.TrueLB()-32, laid.TrueUB()+32
	}
	m := &Mem{mem: bytes.Repeat([]byte{gap}, int(hi-lo)), room: n}
	m.Buf = coll.Buf{Base: unsafe.Add(unsafe.Pointer(unsafe.SliceData(m.mem)), -lo), Count: n, Type: t}
	return m
}

// Of is the buffer with count elements for its count.
func (m *Mem) Of(count int64) coll.Buf {
	b := m.Buf
	b.Count = count
	return b
}

// V is the buffer as that of a v-variant.
func (m *Mem) V(counts, displs []int64) coll.VBuf {
	return coll.VBuf{Base: m.Base, Counts: counts, Displs: displs, Type: m.Type}
}

// Put writes the elements from at on from packed bytes.
func (m *Mem) Put(at int64, packed []byte) {
	n := int64(len(packed)) / m.Type.Size()
	if err := coll.Unpack(m.Slice(at, n), packed, datatype.Native); err != nil {
		panic(err)
	}
}

// Get is n elements from at on, packed.
func (m *Mem) Get(at, n int64) []byte {
	p := make([]byte, n*m.Type.Size())
	if err := coll.Pack(p, m.Slice(at, n), datatype.Native); err != nil {
		panic(err)
	}
	return p
}

// Expect checks n elements from at on.
func (m *Mem) Expect(what string, at int64, want []byte) error {
	if got := m.Get(at, int64(len(want))/m.Type.Size()); !bytes.Equal(got, want) {
		return fmt.Errorf("%s: elements from %d on are\n%x, want\n%x", what, at, got, want)
	}
	return nil
}

// ExpectGaps checks that nothing but the elements has been written.
func (m *Mem) ExpectGaps() error {
	same := NewMem(m.room, m.Type)
	same.Put(0, m.Get(0, m.room))
	if !bytes.Equal(same.mem, m.mem) {
		return fmt.Errorf("bytes outside of the elements were written")
	}
	return nil
}

// Pattern is n elements of t, packed, that tell who made them for whom.
func Pattern(n int64, t *datatype.Type, from, to int) []byte {
	first := int64(from*ranks + to)
	size := t.Size()
	return bytes.Clone(elements(first+n, t)[first*size : (first+n)*size])
}

// ranks bounds the ranks that Pattern tells apart.
const ranks = 64

// series holds, for each type that Pattern has been asked for, the longest series of its elements so far, packed.
var series struct {
	sync.Mutex
	of map[*datatype.Type][]byte
}

// elements is a series of n elements of t at least, packed: always the same. They are made from external32, so that
// every value survives the way there and back.
func elements(n int64, t *datatype.Type) []byte {
	series.Lock()
	defer series.Unlock()
	if p := series.of[t]; int64(len(p)) >= n*t.Size() {
		return p
	}
	n = max(2*n, ranks*ranks)
	p := make([]byte, t.PackedSize(n, datatype.External32))
	seed := uint32(1)
	for i := range p {
		seed = seed*1664525 + 1013904223
		p[i] = byte(seed>>24) & 0x3f
	}
	m := NewMem(n, t)
	if err := coll.Unpack(m.Buf, p, datatype.External32); err != nil {
		panic(err)
	}
	if series.of == nil {
		series.of = map[*datatype.Type][]byte{}
	}
	series.of[t] = m.Get(0, n)
	return series.of[t]
}

// Affine composes maps x -> a*x+b over 32-bit words: an operation that does not commute, on elements that begin
// with a and b, wherever the type says that they lie.
type Affine struct{ Commutes bool }

// Commutative and Apply make Affine a coll.Op.
func (o Affine) Commutative() bool { return o.Commutes }

// OfProgram implements coll.Op.
func (o Affine) OfProgram() bool { return false }

func (o Affine) Apply(in, inout unsafe.Pointer, count int64, t *datatype.Type) error {
	for i := range count {
		at := i*t.Extent() + t.TrueLB()
		x, y := (*[2]uint32)(unsafe.Add(in, at)), (*[2]uint32)(unsafe.Add(inout, at))
		*y = Compose(*x, *y)
	}
	return nil
}

// Compose is the map that applies x after y.
func Compose(x, y [2]uint32) [2]uint32 { return [2]uint32{x[0] * y[0], x[0]*y[1] + x[1]} }

// Maps is n maps of rank r as packed elements.
func Maps(n int64, r int) []byte {
	var p []byte
	for i := range n {
		p = binary.NativeEndian.AppendUint32(p, uint32(2*r+3+int(i)))
		p = binary.NativeEndian.AppendUint32(p, uint32(r*r+7*int(i)+1))
	}
	return p
}

func two(p []byte) [2]uint32 {
	return [2]uint32{binary.NativeEndian.Uint32(p), binary.NativeEndian.Uint32(p[4:])}
}

// ComposePacked composes packed maps one by one.
func ComposePacked(x, y []byte) []byte {
	z := make([]byte, 0, len(x))
	for i := 0; i < len(x); i += 8 {
		c := Compose(two(x[i:]), two(y[i:]))
		z = binary.NativeEndian.AppendUint32(z, c[0])
		z = binary.NativeEndian.AppendUint32(z, c[1])
	}
	return z
}

// Thirds is n doubles of rank r whose sum depends on the order.
func Thirds(n int64, r int) []byte {
	var p []byte
	for i := range n {
		p = binary.NativeEndian.AppendUint64(p, math.Float64bits(1/float64(3*r+int(i)+1)))
	}
	return p
}
