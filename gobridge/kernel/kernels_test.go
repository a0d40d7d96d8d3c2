package kernel

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/datatype"
)

// layout draws a type of some kilobytes that reaches one of the kernels, and the memory it needs.
func layout(r *rand.Rand) *datatype.Type {
	must := func(t *datatype.Type, err error) *datatype.Type {
		if err != nil {
			panic(err)
		}
		t.Commit()
		return t
	}
	handles := []int{abi.MPI_CHAR, abi.MPI_SHORT, abi.MPI_INT, abi.MPI_FLOAT, abi.MPI_DOUBLE, abi.MPI_C_DOUBLE_COMPLEX,
		abi.MPI_REAL16, abi.MPI_LONG}
	basic := datatype.Named(handles[r.Intn(len(handles))])
	b := int64(1 + r.Intn([]int{1, 3, 9, 80, 700}[r.Intn(5)]))
	block := must(datatype.Contiguous(b, basic))
	size := block.Extent()
	n := 8 + 6000/size + int64(r.Intn(100))
	gap := []int64{size, 2 * size, size + int64(r.Intn(40)), -size - int64(r.Intn(9))}[r.Intn(4)]
	switch r.Intn(6) {
	case 0: // one level
		return must(datatype.Hvector(n, 1, gap, block))
	case 1: // levels with small and large counts
		inner := must(datatype.Hvector(1+int64(r.Intn(12)), 1, size+int64(r.Intn(3))*8, block))
		middle := must(datatype.Hvector(1+n/8, 1, inner.TrueExtent()+int64(r.Intn(64)), inner))
		return must(datatype.Hvector(1+int64(r.Intn(3)), 1, middle.TrueExtent()+8, middle))
	case 2: // rows become columns
		column := must(datatype.Resized(must(datatype.Hvector(8+int64(r.Intn(30)), 1, 80*size, block)), 0, size))
		return must(datatype.Contiguous(2+int64(r.Intn(38)), column))
	case 3: // blocks a page apart
		return must(datatype.Hvector(16, 1, 4096, block))
	case 4:
		disps := make([]int64, n)
		for i, p := range r.Perm(int(n)) {
			disps[i] = int64(p)*size*2 - 8
		}
		return must(datatype.HindexedBlock(1, disps, block))
	}
	disps, lens, end := make([]int64, n), make([]int64, n), int64(0)
	most := 1 + r.Intn(5)
	for i := range disps {
		disps[i], lens[i] = end+int64(r.Intn(5)), int64(1+r.Intn(most))
		end = disps[i] + lens[i]
	}
	return must(datatype.Indexed(lens, disps, block))
}

func TestKernelsInCDoWhatThoseInGoDo(t *testing.T) {
	defer datatype.SetKernels(nil)
	calls := map[string]int{}
	counting := datatype.Kernels{
		Nest: func(mem, buf unsafe.Pointer, at, to int64, nest datatype.Nest) {
			calls[fmt.Sprint("nest of depth ", nest.Depth)]++
			moveNest(mem, buf, at, to, nest)
		},
		Listed: func(mem, buf unsafe.Pointer, at, to int64, offs []int64, scale, block int64, unpack bool) {
			calls["listed"]++
			moveListed(mem, buf, at, to, offs, scale, block, unpack)
		},
		Varied: func(mem, buf unsafe.Pointer, at, to int64, offs, lens []int64, scale, unit, least, most int64, unpack bool) {
			calls["varied"]++
			moveVaried(mem, buf, at, to, offs, lens, scale, unit, least, most, unpack)
		},
	}
	seeds := 400
	if testing.Short() {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewSource(int64(seed)))
		typ := layout(r)
		count := int64(1 + r.Intn(2))
		last := (count - 1) * typ.Extent()
		low, high := min(0, typ.TrueLB(), typ.TrueLB()+last), max(typ.TrueUB(), typ.TrueUB()+last)
		memory := make([]byte, high-low+1)
		r.Read(memory)
		base := unsafe.Pointer(&memory[-low])
		for _, rep := range []datatype.Rep{datatype.Native, datatype.External32} {
			cut := r.Int63n(typ.PackedSize(count, rep))
			move := func(k *datatype.Kernels, unpack []byte) []byte {
				datatype.SetKernels(k)
				var c datatype.Cursor
				c.Init(base, count, typ, rep)
				if unpack != nil {
					c.Unpack(unpack[:cut])
					c.Unpack(unpack[cut:])
					return bytes.Clone(memory)
				}
				stream := make([]byte, c.Len())
				c.Pack(stream[:cut])
				c.Pack(stream[cut:])
				return stream
			}
			stream := move(nil, nil)
			if !bytes.Equal(stream, move(&counting, nil)) {
				t.Fatalf("seed %d, representation %d: packed another stream", seed, rep)
			}
			before := bytes.Clone(memory)
			r.Read(stream)
			want := move(nil, stream)
			copy(memory, before)
			if !bytes.Equal(want, move(&counting, stream)) {
				t.Fatalf("seed %d, representation %d: unpacked to another memory", seed, rep)
			}
			copy(memory, before)
		}
	}
	for _, name := range []string{"nest of depth 0", "nest of depth 1", "nest of depth 2", "nest of depth 3", "listed",
		"varied"} {
		if calls[name] < seeds/40 {
			t.Errorf("%s: called %d times", name, calls[name])
		}
	}
}

// The words of a column of a matrix, with rows of a page, or some, or of none, go to one of another.
func TestColumnsArePutIntoColumns(t *testing.T) {
	const most = 40
	for _, block := range []int64{1, 2, 4, 8, 16} {
		for _, pitch := range []struct{ mem, buf int64 }{{4096, 4096}, {8192, 4096}, {-4096, -4096}, {4160, 4160},
			{4096, block}, {block, 8192}} {
			for n := int64(8); n <= most; n++ {
				mem, buf := make([]byte, (2*most+1)*8192), make([]byte, (2*most+1)*8192)
				rand.New(rand.NewSource(n)).Read(mem)
				from, to := unsafe.Pointer(&mem[most*8192]), unsafe.Pointer(&buf[most*8192])
				want := bytes.Clone(buf)
				for i := range n {
					copy(want[most*8192+i*pitch.buf:][:block], mem[most*8192+i*pitch.mem:])
				}
				nest := datatype.Nest{Depth: 1, Block: block}
				nest.Dims[0] = datatype.Dim{N: n, Mem: pitch.mem, Buf: pitch.buf}
				Kernels.Nest(from, to, 0, 0, nest)
				if !bytes.Equal(buf, want) {
					t.Fatalf("%d words of %d bytes, %d and %d apart", n, block, pitch.mem, pitch.buf)
				}
			}
		}
	}
}
