package datatype

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/libimpi/libimpi/abi"
)

func TestBottomWithAbsoluteDisplacements(t *testing.T) {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	at := int64(uintptr(unsafe.Pointer(&page[0])))
	copy(page[100:], "head")
	copy(page[3000:], "tail")
	typ := ok(Hindexed([]int64{4, 4}, []int64{at + 100, at + 3000}, Named(abi.MPI_CHAR)))
	got := make([]byte, 8)
	var c Cursor
	c.Init(nil, 1, typ, Native)
	if c.Pack(got); string(got) != "headtail" {
		t.Errorf("packed %q", got)
	}
	c.Init(nil, 1, typ, External32)
	c.Unpack([]byte("HEADTAIL"))
	if string(page[100:104])+string(page[3000:3004]) != "HEADTAIL" {
		t.Error("unpacked elsewhere")
	}
	lone := ok(Hindexed([]int64{4}, []int64{at + 100}, Named(abi.MPI_CHAR)))
	if p, n, span := lone.Span(nil, 1); !span || n != 4 || p != unsafe.Pointer(&page[100]) {
		t.Errorf("span %v %d %v", p, n, span)
	}
}

func TestAStreamBeyondFourGigabytesIsReachedAnywhere(t *testing.T) {
	// Every element lies at the same place: 2^40 bytes of stream out of 8 of memory.
	memory := binary.NativeEndian.AppendUint64(nil, 0x0807060504030201)
	same := ok(Hvector(1<<37, 1, 0, testDouble))
	got := make([]byte, 20)
	var c Cursor
	c.Init(unsafe.Pointer(&memory[0]), 3, ok(Resized(same, 0, 0)), External32)
	c.SeekTo(3<<40 - 13)
	if n := c.Pack(got); n != 13 || !bytes.Equal(got[:13], []byte{5, 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("the last bytes are %x", got[:n])
	}
	if c.SeekTo(-5); c.Pos() != 0 {
		t.Errorf("position %d before the beginning", c.Pos())
	}
	if c.SeekTo(1 << 62); c.Pos() != c.Len() || c.Pack(got) != 0 {
		t.Errorf("position %d behind the end", c.Pos())
	}
}

func TestNothingIsAllocatedAfterCommit(t *testing.T) {
	memory, packed := make([]byte, 16<<20), make([]byte, 8<<20)
	for _, e := range benchCases() {
		for _, rep := range []Rep{Native, External32} {
			size := e.t.PackedSize(1, rep)
			e.t.program(rep)
			n := testing.AllocsPerRun(3, func() {
				var c Cursor
				c.Init(unsafe.Pointer(&memory[0]), 1, e.t, rep)
				c.Pack(packed[:size/3])
				c.Pack(packed[size/3 : size])
				c.SeekTo(1)
				c.Unpack(packed[1 : size/2])
				c.Unpack(packed[size/2 : size])
			})
			if n != 0 {
				t.Errorf("%s, representation %d: %v allocations", e.name, rep, n)
			}
		}
	}
	column := benchCases()[2].t
	if n := testing.AllocsPerRun(3, func() {
		Copy(unsafe.Pointer(&memory[8<<20]), 1, column, unsafe.Pointer(&memory[0]), 1, column)
		column.Span(unsafe.Pointer(&memory[0]), 1)
		column.PackedSize(7, External32)
		column.Elements(2000, Native)
	}); n != 0 {
		t.Errorf("copy and queries: %v allocations", n)
	}
}

func TestManyCursorsShareATypeNobodyUsedBefore(t *testing.T) {
	memory := make([]byte, 4096)
	for i := range memory {
		memory[i] = byte(i)
	}
	for range 20 {
		inner, _ := Vector(3, 1, 2, Named(abi.MPI_DOUBLE_INT))
		typ, _ := Contiguous(5, inner)
		typ.Commit()
		var streams [8][]byte
		var group sync.WaitGroup
		for i := range streams {
			group.Go(func() {
				var c Cursor
				c.Init(unsafe.Pointer(&memory[0]), 2, typ, External32)
				streams[i] = make([]byte, c.Len())
				c.Pack(streams[i])
			})
		}
		group.Wait()
		for _, s := range streams {
			if !bytes.Equal(s, streams[0]) || len(s) != 2*15*12 {
				t.Fatal("the streams differ")
			}
		}
	}
}

func TestATypeOverlappingItselfCanBeSent(t *testing.T) {
	memory := make([]byte, 64)
	for i := range 8 {
		binary.NativeEndian.PutUint64(memory[8*i:], uint64(i))
	}
	windows := ok(Hvector(6, 3, 8, Named(abi.MPI_INT64_T)))
	packed := make([]byte, windows.Size())
	var c Cursor
	c.Init(unsafe.Pointer(&memory[0]), 1, windows, Native)
	c.Pack(packed)
	for i := range 18 {
		if got := binary.NativeEndian.Uint64(packed[8*i:]); got != uint64(i/3+i%3) {
			t.Fatalf("element %d is %d", i, got)
		}
	}
}

func TestElementsThatOverlapInMemoryStayApartInExternal32(t *testing.T) {
	memory := []byte{7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0}
	typ := ok(Struct([]int64{1, 1}, []int64{0, 4}, []*Type{Named(abi.MPI_LONG), Named(abi.MPI_LONG)}))
	got := make([]byte, 8)
	var c Cursor
	c.Init(unsafe.Pointer(&memory[0]), 1, typ, External32)
	if c.Pack(got); !bigEndian && !bytes.Equal(got, []byte{0, 0, 0, 7, 0, 0, 0, 0}) || c.Err() == nil {
		t.Errorf("packed %x", got)
	}
}

func TestAnEmptyTypeHasAnEmptyStream(t *testing.T) {
	empty := ok(Struct(nil, nil, nil))
	none := ok(Vector(0, 3, 1, testDouble))
	for _, typ := range []*Type{empty, none, LBMarker, ok(Contiguous(4, empty)), ok(Resized(none, 0, 100))} {
		var c Cursor
		c.Init(nil, 7, typ, Native)
		if c.Len() != 0 || c.Pack(make([]byte, 9)) != 0 || typ.Count(0, Native) != 0 || typ.Count(8,
			Native) != abi.MPI_UNDEFINED {
			t.Errorf("%d bytes in the stream of nothing", c.Len())
		}
		if _, n, span := typ.Span(nil, 7); !span || n != 0 {
			t.Errorf("span of nothing: %d %v", n, span)
		}
	}
}

func TestPiecesAreWholeColumnsWhereColumnsLieSideBySide(t *testing.T) {
	double := Named(abi.MPI_DOUBLE)
	column := ok(Resized(ok(Vector(1024, 1, 1024, double)), 0, 8))
	for _, c := range []struct {
		name  string
		typ   *Type
		count int64
		want  int
	}{
		{"columns", ok(Contiguous(100, column)), 1, 7 * 8192},
		{"columns by count", column, 100, 7 * 8192},
		{"columns from the last", ok(Hvector(100, 1, -8, column)), 1, 7 * 8192},
		{"long columns", ok(Contiguous(4, ok(Resized(ok(Vector(9000, 1, 9000, double)), 0, 8)))), 1, 65472},
		{"rows", ok(Vector(1024, 16, 1024, double)), 1, 32768},
		{"one column", column, 1, 32768},
		{"a run", double, 100000, 32768},
		{"nothing", double, 0, 32768},
	} {
		var cur Cursor
		cur.Init(nil, c.count, c.typ, Native)
		if got := cur.Piece(32768, 65472); got != c.want {
			t.Errorf("%s: pieces of %d bytes, want %d", c.name, got, c.want)
		}
	}
}

func TestPiecesEndWherePartsDo(t *testing.T) {
	double := Named(abi.MPI_DOUBLE)
	cube := ok(Subarray([]int64{32, 32, 32, 32}, []int64{30, 30, 30, 30}, []int64{1, 1, 1, 1}, abi.MPI_ORDER_C, double))
	listed := ok(IndexedBlock(100, []int64{0, 101, 205, 300, 500, 700, 1000}, double))
	for _, c := range []struct {
		name     string
		typ      *Type
		pos, end int64
	}{
		{"planes of 7200", cube, 0, 28800},
		{"planes from within a row", cube, 16384, 43200},
		{"across cubes", cube, 28800 * 7, 28800 * 8},
		{"lists of 5600", ok(Contiguous(9, listed)), 100, 28000},
		{"listed blocks from within one", ok(Contiguous(10, ok(Resized(listed, 0, 8200)))), 900, 33600},
		{"the end", cube, 30*30*30*30*8 - 100, 30*30*30*30*8 + 28800},
	} {
		var cur Cursor
		cur.Init(nil, 1, c.typ, Native)
		cur.SeekTo(c.pos)
		n := cur.Piece(32768, 65472)
		if got := c.pos + int64(n); got != c.end {
			t.Errorf("%s: a piece from %d to %d, want %d", c.name, c.pos, got, c.end)
		}
	}
}

// Twelve loops around each other, none of which is one with its neighbour, are more than a nest of loops has levels.
func TestLoopsOfAnyDepthAreMoved(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	m := named(abi.MPI_SHORT)
	for depth := range 12 {
		stride, old := m.t.TrueExtent()+int64(1+depth%4), m
		if depth%3 == 2 {
			stride = -stride
		}
		m = &model{t: ok(Hvector(2, 1, stride, old.t))}
		m.block(old, 0, 1)
		m.block(old, stride, 1)
		entries := m.instances(1)
		from := newArena(reachOf(entries)).fill(r)
		if !disjoint(entries, from) {
			t.Fatalf("the data of %d loops overlaps", depth+1)
		}
		for _, rep := range []Rep{Native, External32} {
			want, _ := from.encode(entries, rep)
			var c Cursor
			c.Init(from.base(), 1, m.t, rep)
			got := make([]byte, len(want))
			if c.Pack(got); !bytes.Equal(got, want) {
				t.Fatalf("%d loops: packed %x, want %x", depth+1, got, want)
			}
			for range 4 {
				if err := packPieces(r, &c, want); err != nil {
					t.Fatalf("%d loops: %v", depth+1, err)
				}
			}
			to, expected := newArena(reachOf(entries)), newArena(reachOf(entries))
			expected.decode(entries, rep, want)
			c.Init(to.base(), 1, m.t, rep)
			if c.Unpack(want); !bytes.Equal(to.bytes, expected.bytes) {
				t.Fatalf("%d loops: unpacked\n%x, want\n%x", depth+1, to.bytes, expected.bytes)
			}
		}
		flat := &model{t: ok(Hvector(1<<(depth+1), 1, 5, Named(abi.MPI_SHORT)))}
		if err := copied(r, flat, m, 1, 1, from, newArena(0, 5<<(depth+1))); err != nil {
			t.Fatalf("%d loops to one: %v", depth+1, err)
		}
		if err := copied(r, m, flat, 1, 1, newArena(0, 5<<(depth+1)).fill(r), from.clone()); err != nil {
			t.Fatalf("one loop to %d: %v", depth+1, err)
		}
	}
}
