package op

import "github.com/libimpi/libimpi/datatype"

// NumberKind is how the processor computes with the elements of a datatype.
type NumberKind byte

const (
	NoNumber NumberKind = iota
	Signed
	Unsigned
	Float
)

// Number reports whether the elements of a datatype are numbers of the processor's, and of how many bytes. Operations
// that accept two types of the same kind and size do the same with both.
func Number(t *datatype.Type) (kind NumberKind, bytes int) {
	switch k := classify(t).kind; k {
	case i8, i16, i32, i64:
		return Signed, 1 << (k - i8)
	case u8, u16, u32, u64:
		return Unsigned, 1 << (k - u8)
	case f32, f64:
		return Float, 4 << (k - f32)
	}
	return NoNumber, 0
}
