package file_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
	"github.com/libimpi/libimpi/file"
	"github.com/libimpi/libimpi/file/filetest"
)

// tripled is a representation that a program could register: three bytes for each, the first of which is the byte.
func tripled() file.Representation {
	convert := func(write bool) file.Conversion {
		return func(user datatype.Pointer, t *datatype.Type, count int64, p []byte, position int64) int {
			from, _ := t.FirstBytes(position)
			to, _ := t.FirstBytes(position + count)
			var c datatype.Cursor
			c.Init(user, to/t.Size()+1, t, datatype.Native)
			c.SeekTo(from)
			one := make([]byte, 1)
			for i := range to - from {
				if write {
					c.Pack(one)
					p[3*i] = one[0]
				} else {
					one[0] = p[3*i]
					c.Unpack(one)
				}
			}
			return abi.MPI_SUCCESS
		}
	}
	var known file.Representations
	if err := known.Register("tripled", convert(false), convert(true), func(t *datatype.Type) (int64, int) {
		return 3 * t.Size(), abi.MPI_SUCCESS
	}); err != nil {
		panic(err)
	}
	rep, err := known.Find("tripled")
	if err != nil {
		panic(err)
	}
	return rep
}

// encoded is a C long in a file.
func encoded(rep file.Representation, v int64) []byte {
	native := binary.NativeEndian.AppendUint64(nil, uint64(v))
	switch rep.Name() {
	case "external32":
		return binary.BigEndian.AppendUint32(nil, uint32(v))
	case "tripled":
		var p []byte
		for _, b := range native {
			p = append(p, b, 0, 0)
		}
		return p
	}
	return native
}

// Members deal the elements of a file among themselves, one after the other, write all of it and read it again, in each
// representation: byte for byte it is what the slow way makes of it, and counts are those of memory.
func TestElementsOfEveryRepresentation(t *testing.T) {
	long := datatype.Named(abi.MPI_LONG)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		rep := []file.Representation{file.Native, file.Internal, file.External32, tripled()}[seed%4]
		p := 1 + r.IntN(4)
		n, disp := int64(1+r.IntN(300)), r.Int64N(20)
		machines := make([]int, p)
		machines[p-1] = r.IntN(2) * min(p-1, 1)
		world, disk := filetest.New(machines), filetest.NewDisk()
		want := make([]byte, disp)
		values := make([]int64, n*int64(p))
		for i := range values {
			values[i] = int64(int32(r.Uint32()))
			want = append(want, encoded(rep, values[i])...)
		}
		cut := r.Int64N(40)
		collective, gap := seed%3 == 0, int64(1+r.IntN(2))
		err := world.Run(func(m file.Members) error {
			f, err := file.Open(m, disk, name, abi.MPI_MODE_CREATE|abi.MPI_MODE_RDWR, hints(seed))
			if err != nil {
				return err
			}
			me := int64(m.Rank())
			view, err := datatype.Subarray([]int64{int64(p)}, []int64{1}, []int64{me}, abi.MPI_ORDER_C, long)
			if err != nil {
				return err
			}
			if err := f.SetView(disp, long, view, rep, nil); err != nil {
				return err
			}
			kind, err := datatype.Vector(n, 1, gap, long)
			if err != nil {
				return err
			}
			kind.Commit()
			memory := make([]int64, n*gap)
			for i := range n {
				memory[i*gap] = values[i*int64(p)+me]
			}
			buf := coll.Buf{Base: unsafe.Pointer(&memory[0]), Count: 1, Type: kind}
			if moved, err := do(f, file.Access{Write: true, Collective: collective, Buf: buf}); moved != 8*n || err != nil {
				return fmt.Errorf("wrote %d bytes of %d: %w", moved, 8*n, err)
			}
			if err := m.Barrier(); err != nil {
				return err
			}
			if got := disk.Bytes(name); m.Rank() == 0 && !bytes.Equal(got, want) {
				return fmt.Errorf("the file has %x, want %x", got, want)
			}
			if err := m.Barrier(); err != nil {
				return err
			}
			size := max(int64(len(want))-cut, 0)
			if err := f.SetSize(size); err != nil {
				return err
			}
			clear(memory)
			whole := n
			for each := int64(len(encoded(rep, 0))); whole > 0 && disp+((whole-1)*int64(p)+me+1)*each > size; {
				whole--
			}
			moved, err := do(f, file.Access{Collective: collective, Buf: buf})
			if err != nil || moved < 8*whole || moved >= 8*whole+8 {
				return fmt.Errorf("read %d bytes, want %d: %w", moved, 8*whole, err)
			}
			for i := range whole {
				if memory[i*gap] != values[i*int64(p)+me] {
					return fmt.Errorf("element %d is %d, want %d", i, memory[i*gap], values[i*int64(p)+me])
				}
			}
			return f.Close()
		})
		if err != nil {
			t.Fatalf("seed %d, %s, machines %v: %v", seed, rep.Name(), machines, err)
		}
	}
}

func do(f *file.File, a file.Access) (int64, error) {
	op, err := f.Prepare(a)
	if err != nil {
		return 0, err
	}
	return op.Run()
}
