package onesided

import (
	"testing"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll/op"
	"github.com/libimpi/libimpi/datatype"
)

// BenchmarkColumn accumulates a column of a matrix of doubles into another one.
func BenchmarkColumn(b *testing.B) {
	double := datatype.Named(abi.MPI_DOUBLE)
	column, err := datatype.Vector(512, 1, 512, double)
	if err != nil {
		b.Fatal(err)
	}
	column.Commit()
	from, to := make([]float64, 512*512), make([]float64, 512*512)
	for b.Loop() {
		a := Accumulation{Origin: buf(from, 1, column), Target: buf(to, 1, column), Element: double,
			Op: op.Predefined(abi.MPI_SUM)}
		if err := a.Do(); err != nil {
			b.Fatal(err)
		}
	}
}
