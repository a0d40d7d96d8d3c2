package op

import (
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

// ApplyRuns is Apply where elements of inout lie in runs: run i has lens[i] bytes and begins offs[i] bytes from inout,
// and those of in follow each other. Runs may be short: what depends on the type alone is looked up once.
func ApplyRuns(o coll.Op, in, inout unsafe.Pointer, offs, lens []int64, t *datatype.Type) error {
	p, is := o.(*predefined)
	size, c := t.Size(), classify(t)
	plain := is && c.group&p.groups != 0 && p.handle != abi.MPI_REPLACE && p.handle != abi.MPI_NO_OP
	for i, off := range offs {
		n, at := lens[i], unsafe.Add(inout, off)
		if count := n / size; plain && count < longVector {
			p.kernels[c.kind](in, at, count)
		} else if err := o.Apply(in, at, count, t); err != nil {
			return err
		}
		in = unsafe.Add(in, n)
	}
	return nil
}
