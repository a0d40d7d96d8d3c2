package datatype

import "unsafe"

// Kernels for native data. A block is b bytes; there are n, ds bytes apart from dst+d on and ss bytes apart from src+s
// on. The same kernel packs and unpacks: only the roles of memory and buffer change. Source and destination do not
// overlap, except in copies of one run.

func load[T any](p unsafe.Pointer, off int64) T     { return *(*T)(unsafe.Add(p, off)) }
func store[T any](p unsafe.Pointer, off int64, v T) { *(*T)(unsafe.Add(p, off)) = v }

func copyRun(dst unsafe.Pointer, d int64, src unsafe.Pointer, s, n int64) {
	copy(unsafe.Slice((*byte)(unsafe.Add(dst, d)), n), unsafe.Slice((*byte)(unsafe.Add(src, s)), n))
}

func copyBlocks(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, b, n int64) {
	if n == 1 || (b == ds && b == ss) {
		copyRun(dst, d, src, s, b*n)
		return
	}
	switch {
	case b == 8:
		copyStrided[uint64](dst, d, ds, src, s, ss, n)
	case b == 4:
		copyStrided[uint32](dst, d, ds, src, s, ss, n)
	case b == 16:
		copyStrided[[2]uint64](dst, d, ds, src, s, ss, n)
	case b == 2:
		copyStrided[uint16](dst, d, ds, src, s, ss, n)
	case b == 1:
		copyStrided[byte](dst, d, ds, src, s, ss, n)
	case b == 3:
		copyEnds[uint16](dst, d, ds, src, s, ss, 1, n)
	case b < 8:
		copyEnds[uint32](dst, d, ds, src, s, ss, b-4, n)
	case b < 16:
		copyEnds[uint64](dst, d, ds, src, s, ss, b-8, n)
	case b <= 64:
		copyWords(dst, d, ds, src, s, ss, b, n)
	default:
		for ; n > 0; n-- {
			copyRun(dst, d, src, s, b)
			d, s = d+ds, s+ss
		}
	}
}

// copyStrided copies blocks of one word.
func copyStrided[T any](dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, n int64) {
	for ; n >= 4; n -= 4 {
		v0 := load[T](src, s)
		v1 := load[T](src, s+ss)
		v2 := load[T](src, s+2*ss)
		v3 := load[T](src, s+3*ss)
		store(dst, d, v0)
		store(dst, d+ds, v1)
		store(dst, d+2*ds, v2)
		store(dst, d+3*ds, v3)
		d, s = d+4*ds, s+4*ss
	}
	for ; n > 0; n-- {
		store(dst, d, load[T](src, s))
		d, s = d+ds, s+ss
	}
}

// copyEnds copies blocks of up to two words, as a first and a last word that may overlap; the last begins at byte last.
func copyEnds[T any](dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, last, n int64) {
	for ; n > 0; n-- {
		v0, v1 := load[T](src, s), load[T](src, s+last)
		store(dst, d, v0)
		store(dst, d+last, v1)
		d, s = d+ds, s+ss
	}
}

// copyWords copies blocks of 16 to 64 bytes as words of 8, the last of which may overlap the one before.
func copyWords(dst unsafe.Pointer, d, ds int64, src unsafe.Pointer, s, ss, b, n int64) {
	for ; n > 0; n-- {
		for k := int64(0); k < b-8; k += 8 {
			store(dst, d+k, load[uint64](src, s+k))
		}
		store(dst, d+b-8, load[uint64](src, s+b-8))
		d, s = d+ds, s+ss
	}
}

// gatherWord moves runs that are one word of 1, 2, 4, 8 or 16 bytes, or one byte-swapped word of 4 or 8; it answers
// false, having done nothing, for others.
func (m *mover) gatherWord(k kind, n int64, offs []int64, scale, at, to int64) bool {
	switch {
	case k == kindSwap8 && n == 1:
		m.gatherSwapped8(offs, scale, at, to)
	case k == kindSwap4 && n == 1:
		m.gatherSwapped4(offs, scale, at, to)
	case k != kindRaw:
		return false
	case n == 1:
		gatherWords[byte](m, offs, scale, at, to)
	case n == 2:
		gatherWords[uint16](m, offs, scale, at, to)
	case n == 4:
		gatherWords[uint32](m, offs, scale, at, to)
	case n == 8:
		gatherWords[uint64](m, offs, scale, at, to)
	case n == 16:
		gatherWords[[2]uint64](m, offs, scale, at, to)
	default:
		return false
	}
	return true
}

func gatherWords[T any](m *mover, offs []int64, scale, at, to int64) {
	var word T
	b, mem, buf := int64(unsafe.Sizeof(word)), m.mem, m.buf
	if m.unpack {
		for _, off := range offs {
			store(mem, at+off*scale, load[T](buf, to))
			to += b
		}
		return
	}
	for _, off := range offs {
		store(buf, to, load[T](mem, at+off*scale))
		to += b
	}
}

// maxTile is the largest block that tiles takes.
const maxTile = 16

// tiles moves a grid of blocks whose neighbours in memory are distant in the buffer: a transposition. It goes
// by tiles of a few cache lines on either side.
func (m *mover) tiles(b, at, to int64, outer, inner Dim) {
	const side = 8
	for j := int64(0); j < inner.N; j += side {
		for i := int64(0); i < outer.N; i += side {
			m.tile(b, at+i*outer.Mem+j*inner.Mem, to+i*outer.Buf+j*inner.Buf, outer, inner,
				min(side, outer.N-i), min(side, inner.N-j))
		}
	}
}

func (m *mover) tile(b, at, to int64, outer, inner Dim, n1, n2 int64) {
	dst, d, ds1, ds2 := m.buf, to, outer.Buf, inner.Buf
	src, s, ss1, ss2 := m.mem, at, outer.Mem, inner.Mem
	if m.unpack {
		dst, d, ds1, ds2, src, s, ss1, ss2 = src, s, ss1, ss2, dst, d, ds1, ds2
	}
	switch b {
	case 8:
		copyTile[uint64](dst, d, ds1, ds2, src, s, ss1, ss2, n1, n2)
	case 4:
		copyTile[uint32](dst, d, ds1, ds2, src, s, ss1, ss2, n1, n2)
	case 16:
		copyTile[[2]uint64](dst, d, ds1, ds2, src, s, ss1, ss2, n1, n2)
	case 2:
		copyTile[uint16](dst, d, ds1, ds2, src, s, ss1, ss2, n1, n2)
	case 1:
		copyTile[byte](dst, d, ds1, ds2, src, s, ss1, ss2, n1, n2)
	default:
		for i := range n1 {
			copyBlocks(dst, d+i*ds1, ds2, src, s+i*ss1, ss2, b, n2)
		}
	}
}

func copyTile[T any](dst unsafe.Pointer, d, ds1, ds2 int64, src unsafe.Pointer, s, ss1, ss2, n1, n2 int64) {
	if n2 != 8 {
		for i := range n1 {
			copyStrided[T](dst, d+i*ds1, ds2, src, s+i*ss1, ss2, n2)
		}
		return
	}
	for ; n1 > 0; n1-- {
		v0 := load[T](src, s)
		v1 := load[T](src, s+ss2)
		v2 := load[T](src, s+2*ss2)
		v3 := load[T](src, s+3*ss2)
		v4 := load[T](src, s+4*ss2)
		v5 := load[T](src, s+5*ss2)
		v6 := load[T](src, s+6*ss2)
		v7 := load[T](src, s+7*ss2)
		store(dst, d, v0)
		store(dst, d+ds2, v1)
		store(dst, d+2*ds2, v2)
		store(dst, d+3*ds2, v3)
		store(dst, d+4*ds2, v4)
		store(dst, d+5*ds2, v5)
		store(dst, d+6*ds2, v6)
		store(dst, d+7*ds2, v7)
		d, s = d+ds1, s+ss1
	}
}
