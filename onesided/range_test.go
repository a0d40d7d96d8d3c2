package onesided

import (
	"strings"
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

func TestAnErrorOfRangeSaysDisplacementUnitAndSize(t *testing.T) {
	long := datatype.Named(abi.MPI_INT64_T)
	backward, err := datatype.Hvector(2, 1, -16, long)
	if err != nil {
		t.Fatal(err)
	}
	long2, err := datatype.Hindexed([]int64{1}, []int64{1 << 62}, long)
	if err != nil {
		t.Fatal(err)
	}
	far, err := datatype.Resized(long2, 0, 1<<61)
	if err != nil {
		t.Fatal(err)
	}
	part := Part{Size: 80, Unit: 8}
	for _, c := range []struct {
		disp, count int64
		of          *datatype.Type
		at          int64
		class       int
		says        string
	}{
		{9, 1, long, 72, 0, ""},
		{10, 0, long, 80, 0, ""},
		{2, 1, backward, 16, 0, ""},
		{10, 1, long, 0, abi.MPI_ERR_RMA_RANGE, "target_disp is 10, in units of 8 bytes, and 1 elements there reach from " +
			"byte 80 to 88; rank 3 has a window of 80 bytes"},
		{8, 3, long, 0, abi.MPI_ERR_RMA_RANGE, "reach from byte 64 to 88"},
		{1, 1, backward, 0, abi.MPI_ERR_RMA_RANGE, "reach from byte -8 to 16"},
		{0, 3, far, 0, abi.MPI_ERR_RMA_RANGE, "3 elements of the target's type, whose extent is 2305843009213693952, reach " +
			"further than 63 bits can say"},
		{1 << 61, 1, long, 0, abi.MPI_ERR_RMA_RANGE, "2305843009213693952, in units of 8 bytes"},
		{-1, 1, long, 0, abi.MPI_ERR_DISP, "target_disp is negative: -1"},
	} {
		at, err := part.Offset(3, c.disp, c.count, c.of)
		switch {
		case c.class == 0 && (err != nil || at != c.at):
			t.Errorf("displacement %d: byte %d, %v; want %d", c.disp, at, err, c.at)
		case c.class != 0 && (err == nil || err.Class != c.class || !strings.Contains(err.Text, c.says)):
			t.Errorf("displacement %d: %v, which is not of class %d or does not say %q", c.disp, err, c.class, c.says)
		}
	}
}
