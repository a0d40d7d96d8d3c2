package file

import "github.com/libimpi/libimpi/coll"

// Where says by which pointer an access finds its place.
type Where int

const (
	Explicit   Where = iota // an offset of the call
	Individual              // the pointer of this member
	Shared                  // the pointer of all members: of this call alone
	Ordered                 // the pointer of all members: in the order of ranks, collectively
)

// Access is a call of data access (MPI 5.0, 14.4).
type Access struct {
	Write      bool
	Collective bool // an Ordered one always is
	Where      Where
	Offset     int64 // Explicit: in etypes, from the beginning of the view
	Buf        coll.Buf
	// Refused is what is wrong with the arguments of the call. A collective access then moves nothing, at any member,
	// and each of them gets an error.
	Refused error
}
