package datatype

import (
	"encoding/binary"
	"math/rand"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
)

// arena is memory around an address that offsets of either sign are relative to.
type arena struct {
	bytes  []byte
	origin int64
}

func newArena(lo, hi int64) *arena {
	lo, hi = min(lo, 0)-16, max(hi, 0)+32
	return &arena{make([]byte, hi-lo), -lo}
}

func (a *arena) base() unsafe.Pointer     { return unsafe.Pointer(&a.bytes[a.origin]) }
func (a *arena) at(off, n int64) []byte   { return a.bytes[a.origin+off:][:n] }
func (a *arena) clone() *arena            { return &arena{append([]byte(nil), a.bytes...), a.origin} }
func (a *arena) fill(r *rand.Rand) *arena { r.Read(a.bytes); return a }

// instances expands count elements of m.
func (m *model) instances(count int64) []entry {
	lb, ub := m.bounds()
	var all []entry
	for i := range count {
		for _, e := range m.entries {
			all = append(all, entry{e.at + i*(ub-lb), e.basic})
		}
	}
	return all
}

func reachOf(entries []entry) (lo, hi int64) {
	for _, e := range entries {
		lo, hi = min(lo, e.at), max(hi, e.at+e.basic.size)
	}
	return lo, hi
}

func disjoint(entries []entry, a *arena) bool {
	taken := make([]bool, len(a.bytes))
	for _, e := range entries {
		for i := range e.basic.size {
			if at := a.origin + e.at + i; taken[at] {
				return false
			} else {
				taken[at] = true
			}
		}
	}
	return true
}

// tame makes every value one that external32 can carry.
func (a *arena) tame(entries []entry) {
	for _, e := range entries {
		b := a.at(e.at, e.basic.size)
		switch e.basic.handle {
		case abi.MPI_LONG:
			binary.NativeEndian.PutUint64(b, uint64(int64(int32(binary.NativeEndian.Uint32(b)))))
		case abi.MPI_UNSIGNED_LONG:
			binary.NativeEndian.PutUint64(b, uint64(binary.NativeEndian.Uint32(b)))
		case abi.MPI_WCHAR:
			binary.NativeEndian.PutUint32(b, uint32(binary.NativeEndian.Uint16(b)))
		}
	}
}

// encode is the stream of the entries, element by element, and whether a value did not fit.
func (a *arena) encode(entries []entry, rep Rep) (stream []byte, lost bool) {
	for _, e := range entries {
		b := a.at(e.at, e.basic.size)
		if rep == Native {
			stream = append(stream, b...)
			continue
		}
		unit := e.basic.size / e.basic.units
		for u := range e.basic.units {
			enc, bad := encodeUnit(e.basic, b[u*unit:][:unit])
			stream, lost = append(stream, enc...), lost || bad
		}
	}
	return stream, lost
}

func encodeUnit(t *Type, b []byte) (enc []byte, lost bool) {
	be := binary.BigEndian
	switch t.handle {
	case abi.MPI_LONG:
		v := int64(binary.NativeEndian.Uint64(b))
		return be.AppendUint32(nil, uint32(v)), v < -1<<31 || v >= 1<<31
	case abi.MPI_UNSIGNED_LONG:
		v := binary.NativeEndian.Uint64(b)
		return be.AppendUint32(nil, uint32(v)), v >= 1<<32
	case abi.MPI_WCHAR:
		v := binary.NativeEndian.Uint32(b)
		return be.AppendUint16(nil, uint16(v)), v >= 1<<16
	case abi.MPI_C_BOOL:
		if b[0] == 0 {
			return []byte{0}, false
		}
		return []byte{1}, false
	case abi.MPI_LONG_DOUBLE:
		if x87 {
			high, low := extendedToQuad(binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint64(b))
			return be.AppendUint64(be.AppendUint64(nil, high), low), false
		}
	}
	enc = append(enc, b...)
	if !bigEndian {
		for i, j := 0, len(enc)-1; i < j; i, j = i+1, j-1 {
			enc[i], enc[j] = enc[j], enc[i]
		}
	}
	return enc, false
}

// decode stores a stream element by element.
func (a *arena) decode(entries []entry, rep Rep, stream []byte) {
	for _, e := range entries {
		n := e.basic.packed(rep)
		if rep == Native {
			copy(a.at(e.at, n), stream)
			stream = stream[n:]
			continue
		}
		unit, wire := e.basic.size/e.basic.units, n/e.basic.units
		for u := range e.basic.units {
			decodeUnit(e.basic, a.at(e.at+u*unit, unit), stream[:wire])
			stream = stream[wire:]
		}
	}
}

func decodeUnit(t *Type, b, enc []byte) {
	be := binary.BigEndian
	switch t.handle {
	case abi.MPI_LONG:
		binary.NativeEndian.PutUint64(b, uint64(int64(int32(be.Uint32(enc)))))
		return
	case abi.MPI_UNSIGNED_LONG:
		binary.NativeEndian.PutUint64(b, uint64(be.Uint32(enc)))
		return
	case abi.MPI_WCHAR:
		binary.NativeEndian.PutUint32(b, uint32(be.Uint16(enc)))
		return
	case abi.MPI_LONG_DOUBLE:
		if x87 {
			signExp, mantissa := quadToExtended(be.Uint64(enc), be.Uint64(enc[8:]))
			binary.LittleEndian.PutUint64(b, mantissa)
			binary.LittleEndian.PutUint64(b[8:], uint64(signExp))
			return
		}
	}
	for i := range b {
		if bigEndian {
			b[i] = enc[i]
		} else {
			b[i] = enc[len(enc)-1-i]
		}
	}
}
