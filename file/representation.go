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
