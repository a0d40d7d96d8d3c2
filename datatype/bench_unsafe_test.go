package datatype

import (
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
)

// benchCases are the layouts of the vec group of the benchmark: an 8 MiB matrix of doubles and what is sent of it.
func benchCases() []struct {
	name string
	t    *Type
} {
	const n = 1024
	double := Named(abi.MPI_DOUBLE)
	column := ok(Vector(n, 1, n, double))
	at := make([]int64, n*16)
	for i := range at {
		at[i] = int64(i)*8 + int64(uint32(i)*2654435761>>29)
	}
	record := ok(Struct([]int64{1, 3, 1}, []int64{0, 8, 40}, []*Type{Named(abi.MPI_INT), double, Named(abi.MPI_CHAR)}))
	return []struct {
		name string
		t    *Type
	}{
		{"contiguous-4M", ok(Contiguous(n*n/2, double))},
		{"vector-1of2", ok(Vector(n*n/2, 1, 2, double))},
		{"column", column},
		{"panel-16", ok(Vector(n, 16, n, double))},
		{"transpose", ok(Contiguous(n/2, ok(Resized(column, 0, 8))))},
		{"subarray-face", ok(Subarray([]int64{64, 128, 128}, []int64{62, 2, 126}, []int64{1, 1, 1},
			abi.MPI_ORDER_C, double))},
		{"indexed-block", ok(IndexedBlock(1, at, double))},
		{"struct-of-3", ok(Contiguous(65536, ok(Resized(record, 0, 48))))},
	}
}

func BenchmarkMove(b *testing.B) {
	memory := make([]byte, 16<<20)
	packed := make([]byte, 8<<20)
	for i := range memory {
		memory[i] = byte(i)
	}
	for _, c := range benchCases() {
		for _, rep := range []Rep{Native, External32} {
			name := c.name + map[Rep]string{Native: "/native", External32: "/external32"}[rep]
			size := c.t.PackedSize(1, rep)
			run := func(name string, piece int64, move func(*Cursor, []byte) int) {
				b.Run(name, func(b *testing.B) {
					b.SetBytes(size)
					for b.Loop() {
						var cur Cursor
						cur.Init(unsafe.Pointer(&memory[0]), 1, c.t, rep)
						for pos := int64(0); pos < size; pos += piece {
							move(&cur, packed[pos:min(pos+piece, size)])
						}
					}
				})
			}
			run(name+"/pack", size, (*Cursor).Pack)
			run(name+"/unpack", size, (*Cursor).Unpack)
			if rep == Native {
				run(name+"/pack-16K-pieces", 16<<10, (*Cursor).Pack)
			}
		}
	}
}

func BenchmarkCreateAndCommit(b *testing.B) {
	double := Named(abi.MPI_DOUBLE)
	disps := make([]int64, 1000)
	for i := range disps {
		disps[i] = int64(i)*8 + int64(uint32(i)*2654435761>>29)
	}
	for name, create := range map[string]func() (*Type, error){
		"contiguous":    func() (*Type, error) { return Contiguous(100, double) },
		"vector":        func() (*Type, error) { return Vector(100, 2, 5, double) },
		"indexed block": func() (*Type, error) { return IndexedBlock(1, disps, double) },
		"subarray": func() (*Type, error) {
			return Subarray([]int64{64, 128, 128}, []int64{62, 2, 126}, []int64{1, 1, 1}, abi.MPI_ORDER_C, double)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ok(create())
			}
		})
	}
}
