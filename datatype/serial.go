package datatype

import (
	"encoding/binary"
	"fmt"

	"github.com/libimpi/libimpi/abi"
)

// The serialized form of a type: what another process needs to lay data out and to compare signatures. It has
// no constructors' arguments: a type comes back with its data, bounds and signature, as made by the constructor of its
// general form.
//
//	version (1 byte), number of nodes, then each node; the last is the type. All numbers are varints, low
//	bits first; those that may be negative are zigzag (encoding/binary). A node refers to earlier ones by index:
//
//	named   handle
//	vector  count, blocklength, stride (bytes), old
//	equal   n, blocklength, n displacements, old      displacements are bytes, each from the one before
//	varied  n, n times blocklength and displacement, old
//	fields  n, n times blocklength, displacement and type
//	resized lower bound, extent, old                  an opaque type is a vector of bytes
//	lower, upper                                      the markers of MPI-1

const serialVersion = 1

const (
	serialNamed = iota
	serialVector
	serialEqual
	serialVaried
	serialFields
	serialResized
	serialLower
	serialUpper
)

// Limits of the serialized form: a message from elsewhere must not make us recurse without end.
const (
	maxSerialDepth = 256
	maxSerialNodes = 1 << 20
)

// Append appends the serialized form of t to b. It fails, with class MPI_ERR_TYPE, for a type of more than 256 levels
// or 2^20 different parts.
func (t *Type) Append(b []byte) ([]byte, error) {
	w := serializer{index: map[*Type]uint64{}}
	if _, err := w.node(t, 0); err != nil {
		return b, err
	}
	b = append(b, serialVersion)
	b = binary.AppendUvarint(b, uint64(len(w.depths)))
	return append(b, w.out...), nil
}

// serializer writes each part of a type once, however often it is used.
type serializer struct {
	out    []byte
	index  map[*Type]uint64
	depths []int // of each node: of the tree under it
}

// node writes t, which is so many levels below the root, and what it is made of.
func (w *serializer) node(t *Type, level int) (uint64, error) {
	for t.form == formWrap && t.combiner != abi.MPI_COMBINER_RESIZED {
		t = t.old
	}
	if i, ok := w.index[t]; ok {
		return i, nil
	}
	if level >= maxSerialDepth {
		return 0, errTooDeep
	}
	var parts []uint64
	depth := 0
	if t.handle == 0 {
		for _, old := range t.parts() {
			i, err := w.node(old, level+1)
			if err != nil {
				return 0, err
			}
			parts, depth = append(parts, i), max(depth, w.depths[i]+1)
		}
	}
	n := len(w.depths)
	if depth >= maxSerialDepth || n >= maxSerialNodes {
		return 0, errTooDeep
	}
	w.write(t, parts)
	w.index[t], w.depths = uint64(n), append(w.depths, depth)
	return uint64(n), nil
}

var errTooDeep = &Error{abi.MPI_ERR_TYPE, "datatype", -1, 0,
	"the datatype has too many levels or parts to be described to another process"}

// parts are the types of which t is made, one for each field.
func (t *Type) parts() []*Type {
	if t.opaque() {
		return []*Type{Named(abi.MPI_BYTE)}
	}
	if t.old != nil {
		return []*Type{t.old}
	}
	return t.olds
}

func (w *serializer) write(t *Type, parts []uint64) {
	switch {
	case t == LBMarker:
		w.unsigned(serialLower)
	case t == UBMarker:
		w.unsigned(serialUpper)
	case t.handle != 0:
		w.unsigned(serialNamed, uint64(t.handle))
	case t.opaque():
		w.unsigned(serialVector, 1, uint64(t.size))
		w.signed(0)
		w.unsigned(parts[0])
	case t.form == formVector:
		w.unsigned(serialVector, uint64(t.count), uint64(t.blocklen))
		w.signed(t.stride * t.scale)
		w.unsigned(parts[0])
	case t.form == formBlocks:
		w.blocks(t)
		w.unsigned(parts[0])
	case t.form == formFields:
		w.unsigned(serialFields, uint64(len(parts)))
		for i, p := range parts {
			w.unsigned(uint64(t.lens[i]))
			w.signed(t.disps[i])
			w.unsigned(p)
		}
	default:
		w.unsigned(serialResized)
		w.signed(t.lb)
		w.signed(t.extent())
		w.unsigned(parts[0])
	}
}

func (w *serializer) blocks(t *Type) {
	if t.lens == nil {
		w.unsigned(serialEqual, uint64(len(t.disps)), uint64(t.blocklen))
	} else {
		w.unsigned(serialVaried, uint64(len(t.disps)))
	}
	last := int64(0)
	for i, d := range t.disps {
		if t.lens != nil {
			w.unsigned(uint64(t.lens[i]))
		}
		w.signed(d*t.scale - last)
		last = d * t.scale
	}
}

func (w *serializer) unsigned(values ...uint64) {
	for _, v := range values {
		w.out = binary.AppendUvarint(w.out, v)
	}
}

func (w *serializer) signed(v int64) { w.out = binary.AppendVarint(w.out, v) }

// Decode is the type of a serialized form, not yet committed. It takes memory in proportion to the length of b.
// Anything but a whole serialized form of a type whose sums fit 63 bits is refused with an error of class MPI_ERR_TYPE.
func Decode(b []byte) (*Type, error) {
	r := deserializer{rest: b}
	if len(b) == 0 || b[0] != serialVersion {
		return nil, r.broken("version")
	}
	r.rest = b[1:]
	n := r.length(maxSerialNodes, 1)
	for range n {
		t, depth, err := r.node()
		if err != nil {
			return nil, err
		}
		r.types, r.depths = append(r.types, t), append(r.depths, depth)
	}
	if r.bad || n == 0 || len(r.rest) > 0 {
		return nil, r.broken("length")
	}
	return r.types[n-1], nil
}

// deserializer reads nodes. The first number that is not there or not allowed makes it bad; numbers are 0 after that.
type deserializer struct {
	rest   []byte
	bad    bool
	types  []*Type
	depths []int
}

func (r *deserializer) broken(what string) error {
	return &Error{abi.MPI_ERR_TYPE, "datatype", -1, int64(len(r.rest)),
		fmt.Sprintf("the serialized form of a datatype is broken: %s, %d bytes before its end", what, len(r.rest))}
}

// node reads one node; its depth is that of the tree under it.
func (r *deserializer) node() (t *Type, depth int, err error) {
	switch r.number() {
	case serialNamed:
		if t = Named(int(r.number())); t == nil {
			r.bad = true
		}
	case serialLower:
		t = LBMarker
	case serialUpper:
		t = UBMarker
	case serialVector:
		count, blocklength, stride := r.number(), r.number(), r.signed()
		old := r.part(&depth)
		if !r.bad {
			t, err = Hvector(count, blocklength, stride, old)
		}
	case serialEqual:
		n := r.length(len(r.rest), 1)
		blocklength := r.number()
		disps, _ := r.blocks(n, false)
		old := r.part(&depth)
		if !r.bad {
			t, err = HindexedBlock(blocklength, disps, old)
		}
	case serialVaried:
		n := r.length(len(r.rest), 2)
		disps, lens := r.blocks(n, true)
		old := r.part(&depth)
		if !r.bad {
			t, err = Hindexed(lens, disps, old)
		}
	case serialFields:
		t, err = r.fields(&depth)
	case serialResized:
		lb, extent := r.signed(), r.signed()
		old := r.part(&depth)
		if !r.bad {
			t, err = Resized(old, lb, extent)
		}
	default:
		r.bad = true
	}
	if err == nil && r.bad {
		err = r.broken("node")
	}
	if err != nil {
		return nil, 0, &Error{abi.MPI_ERR_TYPE, "datatype", -1, int64(len(r.types)), err.Error()}
	}
	return t, depth, nil
}

func (r *deserializer) fields(depth *int) (*Type, error) {
	n := r.length(len(r.rest), 3)
	lens, disps, olds := make([]int64, n), make([]int64, n), make([]*Type, n)
	for i := range n {
		lens[i], disps[i], olds[i] = r.number(), r.signed(), r.part(depth)
	}
	if r.bad {
		return nil, nil
	}
	return Struct(lens, disps, olds)
}

func (r *deserializer) blocks(n int, varied bool) (disps, lens []int64) {
	disps = make([]int64, n)
	if varied {
		lens = make([]int64, n)
	}
	var m safeMath
	last := int64(0)
	for i := range n {
		if varied {
			lens[i] = r.number()
		}
		last = m.add(last, r.signed())
		disps[i] = last
	}
	r.bad = r.bad || m.overflow
	return disps, lens
}

// part reads the index of an earlier node and raises the depth of this one above it.
func (r *deserializer) part(depth *int) *Type {
	i := r.number()
	if i >= int64(len(r.types)) {
		r.bad = true
	}
	if r.bad {
		return nil
	}
	if *depth = max(*depth, r.depths[i]+1); *depth >= maxSerialDepth {
		r.bad = true
	}
	return r.types[i]
}

// length reads how many entries follow, each of which takes so many bytes at least.
func (r *deserializer) length(most, bytes int) int {
	n := r.number()
	if n > int64(most) || n > int64(len(r.rest)/bytes) {
		r.bad = true
		return 0
	}
	return int(n)
}

// number reads what must not be negative, and signed what may be.
func (r *deserializer) number() int64 {
	v, n := binary.Uvarint(r.rest)
	if v > 1<<63-1 {
		n = 0
	}
	return r.took(int64(v), n)
}

func (r *deserializer) signed() int64 { return r.took(binary.Varint(r.rest)) }

func (r *deserializer) took(v int64, n int) int64 {
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}
