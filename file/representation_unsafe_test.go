package file

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
	"github.com/libimpi/libimpi/coll"
	"github.com/libimpi/libimpi/datatype"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func wantClass(t *testing.T, err error, class int, parts ...string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Class != class {
		t.Fatalf("error %v, want one of class %d", err, class)
	}
	for _, part := range parts {
		if !strings.Contains(e.Text, part) {
			t.Errorf("%q lacks %q", e.Text, part)
		}
	}
}

var (
	double  = datatype.Named(abi.MPI_DOUBLE)
	long    = datatype.Named(abi.MPI_LONG)
	integer = datatype.Named(abi.MPI_INT)
	char    = datatype.Named(abi.MPI_CHAR)
)

// record has elements whose sizes in a file differ from those in memory, with gaps.
func record() *datatype.Type {
	return must(datatype.Struct([]int64{1, 2, 1, 1}, []int64{4, 16, 40, 48},
		[]*datatype.Type{integer, long, char, datatype.Named(abi.MPI_DOUBLE_INT)}))
}

func TestExternal32HasTheExtentsOfTheStandard(t *testing.T) {
	for _, c := range []struct {
		t      *datatype.Type
		extent int64
	}{
		{char, 1}, {datatype.Named(abi.MPI_SHORT), 2}, {integer, 4}, {datatype.Named(abi.MPI_FLOAT), 4}, {double, 8},
		{long, 4}, {datatype.Named(abi.MPI_LONG_LONG), 8}, {datatype.Named(abi.MPI_LONG_DOUBLE), 16},
		{datatype.Named(abi.MPI_WCHAR), 2}, {datatype.Named(abi.MPI_C_BOOL), 1}, {datatype.Named(abi.MPI_INTEGER16), 16},
		{datatype.Named(abi.MPI_C_DOUBLE_COMPLEX), 16}, {datatype.Named(abi.MPI_AINT), 8},
		{datatype.Named(abi.MPI_DOUBLE_INT), 12}, {datatype.Named(abi.MPI_LONG_INT), 8},
		{datatype.Named(abi.MPI_SHORT_INT), 6}, {datatype.Named(abi.MPI_LONG_DOUBLE_INT), 20},
		{must(datatype.Vector(3, 1, 2, long)), 20},
		{must(datatype.Hvector(3, 1, 16, long)), 36},
		{must(datatype.Resized(long, 0, 24)), 24},
		{must(datatype.Struct([]int64{1, 1}, []int64{0, 8}, []*datatype.Type{double, integer})), 12},
		{must(datatype.Subarray([]int64{4, 6}, []int64{2, 3}, []int64{1, 2}, abi.MPI_ORDER_C, long)), 96},
	} {
		if got, err := External32.Extent(c.t); got != c.extent || err != nil {
			t.Errorf("%s has an extent of %d, want %d: %v", c.t.Name(), got, c.extent, err)
		}
	}
	if got, err := Internal.Extent(long); got != 8 || err != nil || Internal.Name() != "internal" {
		t.Error(got, err)
	}
}

func TestALayoutHasTheBytesThatAreInTheFile(t *testing.T) {
	for _, c := range []*datatype.Type{record(), must(datatype.Contiguous(7, record())), long,
		must(datatype.Indexed([]int64{2, 0, 1}, []int64{0, 9, 5}, record()))} {
		layout := must(External32.Layout(c))
		if want := c.PackedSize(1, datatype.External32); layout.Size() != want {
			t.Errorf("%d bytes, want %d", layout.Size(), want)
		}
		if same := must(Native.Layout(c)); same != c {
			t.Error("the native layout is another one")
		}
	}
}

// memory is a buffer of elements with random bytes, and the C longs small enough for 4 bytes.
func random(r *rand.Rand, t *datatype.Type, count int64) ([]byte, coll.Buf) {
	p := make([]byte, t.Extent()*count+64)
	r.Read(p)
	for i := 0; i+8 <= len(p); i += 8 {
		copy(p[i+2:], make([]byte, 6)) // little-endian longs of 16 bits
	}
	return p, coll.Buf{Base: unsafe.Pointer(&p[0]), Count: count, Type: t}
}

func TestExternal32ComesBackAsItWas(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	_, from := random(r, record(), 5)
	want := make([]byte, 5*record().Size())
	if err := coll.Pack(want, from, datatype.Native); err != nil {
		t.Fatal(err)
	}
	file := make([]byte, from.Type.PackedSize(5, datatype.External32))
	if err := External32.Encode(file, from); err != nil {
		t.Fatal(err)
	}
	back, to := random(r, record(), 5)
	before := slices.Clone(back)
	if err := External32.Decode(to, file); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(want))
	if err := coll.Pack(got, to, datatype.Native); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x: %v", got, want, err)
	}
	copy(back, before)
	if err := External32.Decode(to, file[:6]); err != nil { // an int and half of a long
		t.Fatal(err)
	}
	if copy(before[4:], want[:4]); !bytes.Equal(back, before) {
		t.Error("an element that is not whole was stored")
	}
	p, huge := random(r, long, 1)
	for i := range p {
		p[i] = 0x77
	}
	wantClass(t, External32.Encode(file, huge), abi.MPI_ERR_CONVERSION, "MPI_LONG")
}

func TestBytesOfTheFileAreBytesOfMemoryByWholeElements(t *testing.T) {
	wide := new(Representations)
	if err := wide.Register("wide", convertBy(false), convertBy(true), tripled); err != nil {
		t.Fatal(err)
	}
	basics := []int64{4, 8, 8, 1, 8, 4} // of a record, in memory
	for _, c := range []struct {
		rep   Representation
		sizes []int64
	}{
		{External32, []int64{4, 4, 4, 1, 8, 4}},
		{must(wide.Find("wide")), []int64{12, 24, 24, 3, 24, 12}},
		{Native, slices.Repeat([]int64{1}, 33)},
	} {
		native := basics
		if c.rep == Native {
			native = c.sizes
		}
		var inFile, inMemory int64
		for range 3 {
			for i, n := range c.sizes {
				for part := range n {
					if got := must(c.rep.Native(record(), inFile+part)); got != inMemory {
						t.Errorf("%s: %d bytes are %d in memory, want %d", c.rep.Name(), inFile+part, got, inMemory)
					}
				}
				inFile, inMemory = inFile+n, inMemory+native[i]
			}
		}
	}
}

// tripled is a file extent of three times the size.
func tripled(t *datatype.Type) (int64, int) { return 3 * t.Size(), abi.MPI_SUCCESS }

// conversions counts those of conversion functions, and the most elements of one.
var conversions, largest int64

// convertBy is a conversion in which each byte stands in the file three times. It finds its elements by their position
// in the type map alone.
func convertBy(write bool) Conversion {
	return func(user datatype.Pointer, t *datatype.Type, count int64, file []byte, position int64) int {
		conversions, largest = conversions+1, max(largest, count)
		from, _ := t.FirstBytes(position)
		to, _ := t.FirstBytes(position + count)
		var c datatype.Cursor
		c.Init(user, to/t.Size()+1, t, datatype.Native)
		c.SeekTo(from)
		p := make([]byte, to-from)
		if int64(len(file)) != 3*(to-from) {
			return abi.MPI_ERR_ARG
		}
		if write {
			c.Pack(p)
		}
		for i := range file {
			if write {
				file[i] = p[i/3]
			} else {
				p[i/3] = file[i]
			}
		}
		if !write {
			c.Unpack(p)
		}
		return abi.MPI_SUCCESS
	}
}

func TestTheFunctionsOfTheProgramConvertPieceByPiece(t *testing.T) {
	known := new(Representations)
	if err := known.Register("wide", convertBy(false), convertBy(true), tripled); err != nil {
		t.Fatal(err)
	}
	rep := must(known.Find("wide"))
	if _, ok := rep.Stream(); ok || rep.Name() != "wide" || must(rep.Extent(record())) != 48+36-4 {
		t.Errorf("extent %d", must(rep.Extent(record())))
	}
	r := rand.New(rand.NewSource(2))
	for _, kind := range []*datatype.Type{record(), must(datatype.Vector(3, 2, 5, double)), char} {
		for _, count := range []int64{0, 1, 30, 50001} {
			_, from := random(r, kind, count)
			want := make([]byte, count*kind.Size())
			if err := coll.Pack(want, from, datatype.Native); err != nil {
				t.Fatal(err)
			}
			file := make([]byte, must(rep.Layout(kind)).Size()*count)
			conversions, largest = 0, 0
			if err := rep.Encode(file, from); err != nil {
				t.Fatal(err)
			}
			if int64(len(file)) != 3*int64(len(want)) || largest > convertElements ||
				conversions > int64(len(file)/convertBytes+1) {
				t.Errorf("%d bytes, %d calls of at most %d elements", len(file), conversions, largest)
			}
			for i := range file {
				if file[i] != want[i/3] {
					t.Fatalf("byte %d of the file is %x, want %x", i, file[i], want[i/3])
				}
			}
			short := int64(len(file)) - int64(r.Intn(20))
			back, to := random(r, kind, count)
			before := slices.Clone(back)
			if err := rep.Decode(to, file[:max(short, 0)]); err != nil {
				t.Fatal(err)
			}
			whole := must(rep.Native(kind, short))
			if count > 0 {
				copyFirst(before, kind, count, want[:whole])
			}
			if !bytes.Equal(back, before) {
				t.Errorf("%d elements of which %d bytes are in the file came back wrong", count, short)
			}
		}
	}
}

// copyFirst stores the first bytes of a stream.
func copyFirst(p []byte, t *datatype.Type, count int64, stream []byte) {
	var c datatype.Cursor
	c.Init(unsafe.Pointer(&p[0]), count, t, datatype.Native)
	c.Unpack(stream)
}

func TestElementsWithoutBytesAreConvertedInBoundedPieces(t *testing.T) {
	known := new(Representations)
	none := func(user datatype.Pointer, t *datatype.Type, count int64, file []byte, position int64) int {
		conversions, largest = conversions+1, max(largest, count)
		return abi.MPI_SUCCESS
	}
	extent := func(t *datatype.Type) (int64, int) {
		if t == char {
			return 0, abi.MPI_SUCCESS
		}
		return 8 << 20, abi.MPI_SUCCESS
	}
	if err := known.Register("sparse", none, none, extent); err != nil {
		t.Fatal(err)
	}
	rep := must(known.Find("sparse"))
	kind := must(datatype.Struct([]int64{3 << 20, 1}, []int64{0, 4 << 20}, []*datatype.Type{char, double}))
	p := make([]byte, kind.Extent())
	conversions, largest = 0, 0
	if err := rep.Encode(make([]byte, 8<<20), coll.Buf{Base: unsafe.Pointer(&p[0]), Count: 1, Type: kind}); err != nil {
		t.Fatal(err)
	}
	if conversions < 4 || largest != convertElements {
		t.Errorf("%d calls of at most %d elements", conversions, largest)
	}
}

func TestRegisteringIsCheckedAndNamesAreUnique(t *testing.T) {
	known := new(Representations)
	for _, name := range []string{"", strings.Repeat("x", abi.MPI_MAX_DATAREP_STRING)} {
		wantClass(t, known.Register(name, nil, nil, tripled), abi.MPI_ERR_ARG, "datarep", fmt.Sprint(len(name)))
	}
	wantClass(t, known.Register("a", nil, nil, nil), abi.MPI_ERR_ARG, "dtype_file_extent_fn")
	longest := strings.Repeat("x", abi.MPI_MAX_DATAREP_STRING-1)
	if err := known.Register(longest, nil, nil, tripled); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"native", "internal", "external32", longest} {
		wantClass(t, known.Register(name, nil, nil, tripled), abi.MPI_ERR_DUP_DATAREP, name)
		if rep := must(known.Find(name)); rep.Name() != name {
			t.Errorf("%s is called %s", name, rep.Name())
		}
	}
	_, err := known.Find("Native")
	wantClass(t, err, abi.MPI_ERR_UNSUPPORTED_DATAREP, `"Native"`, "external32")
}

func TestWithoutFunctionsTheDataStaysAsItIs(t *testing.T) {
	known := new(Representations)
	for name, err := range map[string]error{
		"none":  known.Register("none", nil, nil, tripled),
		"reads": known.Register("reads", convertBy(false), nil, tripled),
		"same":  known.Register("same", nil, convertBy(true), func(t *datatype.Type) (int64, int) { return t.Size(), 0 }),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	r := rand.New(rand.NewSource(3))
	_, from := random(r, record(), 4)
	want := make([]byte, 4*record().Size())
	if err := coll.Pack(want, from, datatype.Native); err != nil {
		t.Fatal(err)
	}
	none := must(known.Find("none"))
	if rep, ok := none.Stream(); rep != datatype.Native || !ok || must(none.Layout(long)) != long ||
		must(none.Extent(long)) != 24 || must(none.Native(record(), 77)) != 77 {
		t.Error("a representation that never converts is no native one")
	}
	got := make([]byte, len(want))
	if err := none.Encode(got, from); err != nil || !bytes.Equal(got, want) {
		t.Error(err)
	}
	back, to := random(r, record(), 4)
	if err := must(known.Find("same")).Decode(to, want); err != nil {
		t.Error(err)
	}
	expected := slices.Clone(back)
	if copyFirst(expected, record(), 4, want); !bytes.Equal(back, expected) {
		t.Error("read something else")
	}
	wantClass(t, must(known.Find("reads")).Encode(make([]byte, 3*len(want)), from), abi.MPI_ERR_CONVERSION, "reads",
		"write_conversion_fn")
}

func TestFailuresOfTheProgramsFunctionsAreReported(t *testing.T) {
	known := new(Representations)
	fails := func(datatype.Pointer, *datatype.Type, int64, []byte, int64) int { return 77 }
	for name, err := range map[string]error{
		"fails":  known.Register("fails", fails, fails, tripled),
		"extent": known.Register("extent", fails, fails, func(*datatype.Type) (int64, int) { return 8, 33 }),
		"below":  known.Register("below", fails, fails, func(*datatype.Type) (int64, int) { return -8, 0 }),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	_, b := random(rand.New(rand.NewSource(4)), double, 3)
	p := make([]byte, 72)
	rep := must(known.Find("fails"))
	wantClass(t, rep.Encode(p, b), abi.MPI_ERR_CONVERSION, "write_conversion_fn", `"fails"`, "77")
	wantClass(t, rep.Decode(b, p), abi.MPI_ERR_CONVERSION, "read_conversion_fn", `"fails"`, "77")
	for name, part := range map[string]string{"extent": "error 33 for MPI_DOUBLE", "below": "MPI_DOUBLE has -8 bytes"} {
		rep := must(known.Find(name))
		_, err := rep.Layout(double)
		wantClass(t, err, abi.MPI_ERR_CONVERSION, part)
		_, err = rep.Extent(double)
		wantClass(t, err, abi.MPI_ERR_CONVERSION, part)
		_, err = rep.Native(double, 10)
		wantClass(t, err, abi.MPI_ERR_CONVERSION, part)
		wantClass(t, rep.Encode(p, b), abi.MPI_ERR_CONVERSION, part)
	}
}
