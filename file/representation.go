package file

import (
	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// Representation is how basic elements stand in a file (MPI 5.0, 14.5). There are native, internal and external32, and
// those that the program has registered.
type Representation interface {
	Name() string
	// Layout is what t is in a file of this representation: a type of bytes in runs, with the extents and displacements
	// that the elements have there. Errors: MPI_ERR_UNSUPPORTED_DATAREP, MPI_ERR_CONVERSION.
	Layout(t *datatype.Type) (*datatype.Type, error)
	// Extent is the extent of t in the file (MPI_File_get_type_extent).
	Extent(t *datatype.Type) (int64, error)
	// Stream returns how a cursor converts between memory and the file; ok is false if it cannot: then the data is
	// staged with Encode and Decode.
	Stream() (rep datatype.Rep, ok bool)
	// Native is how many bytes of memory, in the stream of elements of t, so many bytes of the file are: those of the
	// elements that are whole there.
	Native(t *datatype.Type, bytes int64) (int64, error)
	// Encode converts b to bytes of the file, and Decode back. len(p) is the size of what b is in the file, or less for
	// Decode, where the file has ended: elements that are not whole stay as they are.
	Encode(p []byte, b coll.Buf) error
	Decode(b coll.Buf, p []byte) error
}

// Native is the representation of memory. So is Internal: all machines that libimpi runs on have the same.
var (
	Native   Representation = plain{"native"}
	Internal Representation = plain{"internal"}
)

// External32 is that of MPI 5.0, 14.5.2: big-endian, with fixed sizes. Elements need no alignment there, so that a
// structure has no padding but what its displacements and MPI_Type_create_resized say.
var External32 Representation = external32{}

// plain is a representation whose bytes are those of memory.
type plain struct{ name string }

func (p plain) Name() string                                        { return p.name }
func (p plain) Layout(t *datatype.Type) (*datatype.Type, error)     { return t, nil }
func (p plain) Extent(t *datatype.Type) (int64, error)              { return t.Extent(), nil }
func (p plain) Stream() (datatype.Rep, bool)                        { return datatype.Native, true }
func (p plain) Native(_ *datatype.Type, bytes int64) (int64, error) { return bytes, nil }
func (p plain) Encode(b []byte, from coll.Buf) error                { return coll.Pack(b, from, datatype.Native) }
func (p plain) Decode(to coll.Buf, b []byte) error                  { return coll.Unpack(to, b, datatype.Native) }

type external32 struct{}

func (external32) Name() string                 { return "external32" }
func (external32) Stream() (datatype.Rep, bool) { return datatype.External32, true }

func (external32) Layout(t *datatype.Type) (*datatype.Type, error) {
	return t.Substitute(func(basic *datatype.Type) (*datatype.Type, error) {
		switch size := basic.PackedSize(1, datatype.External32); {
		case pair(basic):
			return nil, nil
		case size == 1:
			return basic, nil
		default:
			return datatype.Opaque(size), nil
		}
	})
}

// pair tells whether a predefined type has two basic elements.
func pair(t *datatype.Type) bool {
	n, _ := t.WholeElements(t.Size(), datatype.Native)
	return n > 1
}

func (e external32) Extent(t *datatype.Type) (int64, error) {
	layout, err := e.Layout(t)
	if err != nil {
		return 0, err
	}
	return layout.Extent(), nil
}

func (external32) Native(t *datatype.Type, bytes int64) (int64, error) {
	n, _ := t.WholeElements(bytes, datatype.External32)
	return elements(t, n)
}

func (external32) Encode(p []byte, b coll.Buf) error {
	return converted(coll.Pack(p, b, datatype.External32))
}

func (external32) Decode(b coll.Buf, p []byte) error {
	_, rest := b.Type.WholeElements(int64(len(p)), datatype.External32)
	return converted(coll.Unpack(b, p[:int64(len(p))-rest], datatype.External32))
}

// converted is an error of a conversion as one of this package.
func converted(err error) error {
	if err == nil {
		return nil
	}
	return errorf(abi.MPI_ERR_CONVERSION, "%v", err)
}

// elements is how many bytes of memory n elements are.
func elements(t *datatype.Type, n int64) (int64, error) {
	bytes, ok := t.FirstBytes(n)
	if !ok {
		return 0, errorf(abi.MPI_ERR_VALUE_TOO_LARGE, "%d elements are more than 2^63-1 bytes", n)
	}
	return bytes, nil
}
