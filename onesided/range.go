package onesided

import (
	"math/bits"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Part is the memory that one process contributes to a window: Size bytes, addressed in units of Unit bytes.
type Part struct {
	Size, Unit int64
}

// Offset answers where, in bytes from the beginning of the part, count elements of t at displacement disp are relative
// to. Errors: they reach beyond the part; the displacement is negative.
func (p Part) Offset(target int, disp, count int64, t *datatype.Type) (int64, *Error) {
	if disp < 0 {
		return 0, errorf(abi.MPI_ERR_DISP, "argument target_disp is negative: %d", disp)
	}
	hi, at := bits.Mul64(uint64(disp), uint64(p.Unit))
	if count == 0 || t.Size() == 0 {
		return int64(at), nil
	}
	lo, up := Reach(count, t)
	if hi != 0 || at > uint64(p.Size) || int64(at)+lo < 0 || up > p.Size-int64(at) {
		return 0, errorf(abi.MPI_ERR_RMA_RANGE, "argument target_disp is %d, in units of %d bytes, and %d elements there "+
			"reach from byte %d to %d; rank %d has a window of %d bytes", disp, p.Unit, count, int64(at)+lo, int64(at)+up,
			target, p.Size)
	}
	return int64(at), nil
}

// Reach is where the data of count elements, at least one, begins and ends, relative to their address.
func Reach(count int64, t *datatype.Type) (lo, hi int64) {
	lo, hi = t.TrueLB(), t.TrueUB()
	if last := (count - 1) * t.Extent(); last < 0 {
		lo += last
	} else {
		hi += last
	}
	return lo, hi
}
