package external

import (
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Buffers and blocks in external32, in memory of the call. What is that already, such as bytes, is not copied.

// packedBuf is a buffer in external32. Its memory is nil if the buffer itself is that.
type packedBuf struct {
	coll.Buf
	of     coll.Buf
	packed []byte
}

// room makes the packed form of a buffer, without the data.
func (x *Call) room(b coll.Buf) (f packedBuf, err error) {
	f = packedBuf{Buf: b, of: b}
	if b.IsInPlace() || b.Count == 0 || b.Type.Portable() {
		return f, nil
	}
	if f.packed, err = x.memory.Alloc(b.Type.PackedSize(b.Count, datatype.External32)); err == nil {
		f.Buf = coll.Bytes(f.packed)
	}
	return f, err
}

// pack makes the packed form of a buffer.
func (x *Call) pack(b coll.Buf) (f packedBuf, err error) {
	if f, err = x.room(b); err == nil && f.packed != nil {
		err = x.on.Pack(f.packed, b, datatype.External32)
	}
	return f, err
}

// unpack puts what has come where it belongs.
func (x *Call) unpack(f packedBuf) error {
	if f.packed == nil {
		return nil
	}
	return x.on.Unpack(f.of, f.packed, datatype.External32)
}

// packedBlocks are a block for each rank, in external32, one after the other. They are the buffer itself if at is nil.
type packedBlocks struct {
	of     coll.Blocks
	packed []byte
	at     []int64 // where the blocks begin, and the last one ends
}

// blocks makes room for n blocks, of which those for which it is told to are left out.
func (x *Call) blocks(of coll.Blocks, n int, leftOut func(i int) bool) (b packedBlocks, err error) {
	b.of = of
	at, portable := make([]int64, n+1), true
	for i := range n {
		at[i+1] = at[i]
		if leftOut != nil && leftOut(i) {
			continue
		}
		if block := of.At(i); block.Count > 0 {
			at[i+1] += block.Type.PackedSize(block.Count, datatype.External32)
			portable = portable && block.Type.Portable()
		}
	}
	if portable {
		return b, nil
	}
	b.at = at
	b.packed, err = x.memory.Alloc(at[n])
	return b, err
}

// packBlock packs a block, and unpackBlock puts one where it belongs.
func (x *Call) packBlock(b *packedBlocks, i int) error {
	if b.at == nil || b.at[i] == b.at[i+1] {
		return nil
	}
	return x.on.Pack(b.packed[b.at[i]:b.at[i+1]], b.of.At(i), datatype.External32)
}

func (x *Call) unpackBlock(b *packedBlocks, i int) error {
	if b.at == nil || b.at[i] == b.at[i+1] {
		return nil
	}
	return x.on.Unpack(b.of.At(i), b.packed[b.at[i]:b.at[i+1]], datatype.External32)
}

// each calls one of these for all blocks.
func (b *packedBlocks) each(f func(b *packedBlocks, i int) error) error {
	for i := range max(0, len(b.at)-1) {
		if err := f(b, i); err != nil {
			return err
		}
	}
	return nil
}

// even, varying and differing are the blocks as a buffer of the kind that they have been made of.
func (b *packedBlocks) even(buf coll.Buf) coll.Buf {
	if b.at == nil {
		return buf
	}
	whole := coll.Bytes(b.packed)
	whole.Count = b.at[1]
	return whole
}

func (b *packedBlocks) varying(v coll.VBuf) coll.VBuf {
	if b.at == nil {
		return v
	}
	sizes := make([]int64, len(b.at)-1)
	for i := range sizes {
		sizes[i] = b.at[i+1] - b.at[i]
	}
	whole := coll.Bytes(b.packed)
	return coll.VBuf{Base: whole.Base, Counts: sizes, Displs: b.at[:len(sizes)], Type: whole.Type}
}

func (b *packedBlocks) differing(w coll.WBuf) coll.WBuf {
	if b.at == nil {
		return w
	}
	v := b.varying(coll.VBuf{})
	types := make([]*datatype.Type, len(v.Counts))
	for i := range types {
		types[i] = v.Type
	}
	return coll.WBuf{Base: v.Base, Counts: v.Counts, Displs: v.Displs, Types: types}
}
