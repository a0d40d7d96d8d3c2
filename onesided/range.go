package onesided

import (
	"math"
	"math/bits"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// Part is the memory that one process contributes to a window: Size bytes, addressed in units of Unit bytes.
type Part struct {
	Size, Unit int64
}

// Offset returns where, in bytes from the beginning of the part, count elements of t at displacement disp are relative
// to. Errors: they reach beyond the part; the displacement is negative.
func (p Part) Offset(target int, disp, count int64, t *datatype.Type) (int64, *Error) {
	if disp < 0 {
		return 0, errorf(abi.MPI_ERR_DISP, "argument target_disp is negative: %d", disp)
	}
	hi, at := bits.Mul64(uint64(disp), uint64(p.Unit))
	if count == 0 || t.Size() == 0 {
		return int64(at), nil
	}
	lo, up, ok := Reach(count, t)
	if !ok {
		return 0, errorf(abi.MPI_ERR_RMA_RANGE, "%d elements of the target's type, whose extent is %d, reach further than "+
			"63 bits can say; rank %d has a window of %d bytes", count, t.Extent(), target, p.Size)
	}
	if hi != 0 || at > uint64(p.Size) || int64(at)+lo < 0 || up > p.Size-int64(at) {
		return 0, errorf(abi.MPI_ERR_RMA_RANGE, "argument target_disp is %d, in units of %d bytes, and %d elements there "+
			"reach from byte %d to %d; rank %d has a window of %d bytes", disp, p.Unit, count, int64(at)+lo, int64(at)+up,
			target, p.Size)
	}
	return int64(at), nil
}

// Reach is where the data of count elements, at least one, begins and ends, relative to their address. False: these are
// not numbers of 63 bits, nor is what lies between them.
func Reach(count int64, t *datatype.Type) (lo, hi int64, ok bool) {
	lo, hi = t.TrueLB(), t.TrueUB()
	extent := t.Extent()
	over, last := bits.Mul64(uint64(count-1), magnitude(extent))
	if over != 0 || last > math.MaxInt64 {
		return 0, 0, false
	}
	if extent < 0 {
		lo -= int64(last)
		ok = lo <= t.TrueLB()
	} else {
		hi += int64(last)
		ok = hi >= t.TrueUB()
	}
	return lo, hi, ok && hi-lo >= 0
}

// magnitude is the absolute value of n, which 64 bits hold for each n.
func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}
