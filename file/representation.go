package file

import (
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
	// Stream says how a cursor converts between memory and the file; ok is false if it cannot: then the data is staged
	// with Encode and Decode.
	Stream() (rep datatype.Rep, ok bool)
	// Encode converts b to bytes of the file, and Decode back. len(p) is the size of what b is in the file, or less for
	// Decode, where the file has ended.
	Encode(p []byte, b coll.Buf) error
	Decode(b coll.Buf, p []byte) error
}

// Native is the representation of memory. So is Internal: all machines that libimpi runs on have the same.
var (
	Native   Representation = plain{"native"}
	Internal Representation = plain{"internal"}
)

// plain is a representation whose bytes are those of memory.
type plain struct{ name string }

func (p plain) Name() string                                    { return p.name }
func (p plain) Layout(t *datatype.Type) (*datatype.Type, error) { return t, nil }
func (p plain) Extent(t *datatype.Type) (int64, error)          { return t.Extent(), nil }
func (p plain) Stream() (datatype.Rep, bool)                    { return datatype.Native, true }
func (p plain) Encode(b []byte, from coll.Buf) error            { return coll.Pack(b, from, datatype.Native) }
func (p plain) Decode(to coll.Buf, b []byte) error              { return coll.Unpack(to, b, datatype.Native) }
