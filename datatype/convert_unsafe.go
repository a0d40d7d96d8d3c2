package datatype

import (
	"math/bits"
	"runtime"
	"unsafe"
)

// Kernels for external32 (MPI 5.0, 14.5.2): conversion fused with gather and scatter. Byte swaps are their own inverse,
// so one kernel serves both directions, as in kernel_unsafe.go; the others come in two.

const bigEndian = runtime.GOARCH == "s390x" || runtime.GOARCH == "ppc64" || runtime.GOARCH == "mips" ||
	runtime.GOARCH == "mips64"

func be16(x uint16) uint16 {
	if bigEndian {
		return x
	}
	return bits.ReverseBytes16(x)
}

func be32(x uint32) uint32 {
	if bigEndian {
		return x
	}
	return bits.ReverseBytes32(x)
}

func be64(x uint64) uint64 {
	if bigEndian {
		return x
	}
	return bits.ReverseBytes64(x)
}

// be128 is a 16-byte word in memory order.
func be128(x [2]uint64) [2]uint64 {
	if bigEndian {
		return x
	}
	return [2]uint64{bits.ReverseBytes64(x[1]), bits.ReverseBytes64(x[0])}
}

// convertBlocks moves n blocks of so many units of kind k.
func (m *mover) convertBlocks(k kind, units, at, ms, to, bs, n int64) {
	mem, packed := k.mem(), k.packed()
	switch {
	case units == 1:
		m.convert(k, at, ms, to, bs, n)
	case n == 1:
		m.convert(k, at, mem, to, packed, units)
	case ms == units*mem && bs == units*packed:
		m.convert(k, at, mem, to, packed, units*n)
	case units < 8 && n > units:
		m.inReach(n, ms, bs, func(i, n int64) {
			for u := range units {
				m.convert(k, at+i*ms+u*mem, ms, to+i*bs+u*packed, bs, n)
			}
		})
	default:
		for i := range n {
			m.convert(k, at+i*ms, mem, to+i*bs, packed, units)
		}
	}
}

// convert moves n units, ms bytes apart in memory and bs bytes apart in the buffer.
func (m *mover) convert(k kind, at, ms, to, bs, n int64) {
	dst, d, ds, src, s, ss := m.buf, to, bs, m.mem, at, ms
	if m.unpack {
		dst, d, ds, src, s, ss = src, s, ss, dst, d, ds
	}
	switch k {
	case kindRaw:
		copyBlocks(dst, d, ds, src, s, ss, 1, n)
	case kindSwap2:
		swap2(dst, d, ds, src, s, ss, n)
	case kindSwap4:
		swap4(dst, d, ds, src, s, ss, n)
	case kindSwap8:
		swap8(dst, d, ds, src, s, ss, n)
	case kindSwap16:
		swap16(dst, d, ds, src, s, ss, n)
	case kindBool:
		normaliseBools(dst, d, ds, src, s, ss, n)
	case kindLong, kindULong:
		m.longs(k, dst, d, ds, src, s, ss, n)
	case kindWchar:
		m.wchars(dst, d, ds, src, s, ss, n)
	case kindX87:
		m.longDoubles(dst, d, ds, src, s, ss, n)
	}
}

func swap2(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n > 0; n-- {
		store(dst, d, be16(load[uint16](src, s)))
		d, s = d+ds, s+ss
	}
}

func swap4(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	if ds == 4 && ss == 4 && !bigEndian { // two at once
		for ; n >= 2; n -= 2 {
			store(dst, d, bits.RotateLeft64(be64(load[uint64](src, s)), 32))
			d, s = d+8, s+8
		}
	}
	for ; n > 0; n-- {
		store(dst, d, be32(load[uint32](src, s)))
		d, s = d+ds, s+ss
	}
}

func swap8(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n >= 4; n -= 4 {
		v0 := be64(load[uint64](src, s))
		v1 := be64(load[uint64](src, s+ss))
		v2 := be64(load[uint64](src, s+2*ss))
		v3 := be64(load[uint64](src, s+3*ss))
		store(dst, d, v0)
		store(dst, d+ds, v1)
		store(dst, d+2*ds, v2)
		store(dst, d+3*ds, v3)
		d, s = d+4*ds, s+4*ss
	}
	for ; n > 0; n-- {
		store(dst, d, be64(load[uint64](src, s)))
		d, s = d+ds, s+ss
	}
}

func (m *mover) gatherSwapped8(offs []int64, scale, at, to int64) {
	for i, off := range offs {
		if d := to + 8*int64(i); m.unpack {
			store(m.mem, at+off*scale, be64(load[uint64](m.buf, d)))
		} else {
			store(m.buf, d, be64(load[uint64](m.mem, at+off*scale)))
		}
	}
}

func (m *mover) gatherSwapped4(offs []int64, scale, at, to int64) {
	for i, off := range offs {
		if d := to + 4*int64(i); m.unpack {
			store(m.mem, at+off*scale, be32(load[uint32](m.buf, d)))
		} else {
			store(m.buf, d, be32(load[uint32](m.mem, at+off*scale)))
		}
	}
}

func swap16(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n > 0; n-- {
		store(dst, d, be128(load[[2]uint64](src, s)))
		d, s = d+ds, s+ss
	}
}

func normaliseBools(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n > 0; n-- {
		v := byte(0)
		if load[byte](src, s) != 0 {
			v = 1
		}
		store(dst, d, v)
		d, s = d+ds, s+ss
	}
}

// longs converts between C long and 4 bytes. A value that needs more loses its upper half and sets bad.
func (m *mover) longs(k kind, dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	var lost uint64
	for ; n > 0; n-- {
		switch {
		case !m.unpack && k == kindLong:
			v := load[int64](src, s)
			lost |= uint64(v - int64(int32(v)))
			store(dst, d, be32(uint32(v)))
		case !m.unpack:
			v := load[uint64](src, s)
			lost |= v >> 32
			store(dst, d, be32(uint32(v)))
		case k == kindLong:
			store(dst, d, int64(int32(be32(load[uint32](src, s)))))
		default:
			store(dst, d, uint64(be32(load[uint32](src, s))))
		}
		d, s = d+ds, s+ss
	}
	m.bad = m.bad || lost != 0
}

// wchars converts between wchar_t and a 16-bit Unicode unit.
func (m *mover) wchars(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	var lost uint32
	for ; n > 0; n-- {
		if m.unpack {
			store(dst, d, uint32(be16(load[uint16](src, s))))
		} else {
			v := load[uint32](src, s)
			lost |= v >> 16
			store(dst, d, be16(uint16(v)))
		}
		d, s = d+ds, s+ss
	}
	m.bad = m.bad || lost != 0
}

// longDoubles converts between the 80-bit format (mantissa, then sign and exponent, then 6 bytes of nothing) and
// binary128.
func (m *mover) longDoubles(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n > 0; n-- {
		if m.unpack {
			v := load[[2]uint64](src, s)
			signExp, mantissa := quadToExtended(be64(v[0]), be64(v[1]))
			store(dst, d, [2]uint64{mantissa, uint64(signExp)})
		} else {
			v := load[[2]uint64](src, s)
			high, low := extendedToQuad(uint16(v[1]), v[0])
			store(dst, d, [2]uint64{be64(high), be64(low)})
		}
		d, s = d+ds, s+ss
	}
}

// partUnit moves packed bytes a to b of the unit at memory offset at.
func (m *mover) partUnit(k kind, at, a, b, to int64) {
	switch {
	case !m.unpack:
		var unit [maxUnit]byte
		whole := mover{mem: m.mem, buf: unsafe.Pointer(&unit)}
		whole.convert(k, at, 0, 0, 0, 1)
		m.bad = m.bad || whole.bad
		copyRun(m.buf, to, unsafe.Pointer(&unit), a, b-a)
	case k <= kindSwap16:
		m.partSwapped(k.packed(), at, a, b, to)
	default:
		copyRun(m.mem, at+a, m.buf, to, b-a)
		if b == k.packed() {
			var unit [maxUnit]byte
			copyRun(unsafe.Pointer(&unit), 0, m.mem, at, b)
			whole := mover{mem: m.mem, buf: unsafe.Pointer(&unit), unpack: true}
			whole.convert(k, at, 0, 0, 0, 1)
		}
	}
}

// partSwapped stores packed bytes a to b of a unit where they belong at the end.
func (m *mover) partSwapped(size, at, a, b, to int64) {
	for i := a; i < b; i++ {
		place := size - 1 - i
		if bigEndian {
			place = i
		}
		store(m.mem, at+place, load[byte](m.buf, to+i-a))
	}
}
