package datatype

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"

	"github.com/libimpi/libimpi/abi"
)

// external32Examples: a value in memory (little-endian, LP64, x86) and its external32 form, written by hand from
// MPI 5.0, table 14.2.
var external32Examples = []struct {
	handle       int
	memory, wire string
}{
	{abi.MPI_PACKED, "a1", "a1"},
	{abi.MPI_BYTE, "ff", "ff"},
	{abi.MPI_CHAR, "41", "41"},
	{abi.MPI_SIGNED_CHAR, "fe", "fe"},
	{abi.MPI_UNSIGNED_CHAR, "fe", "fe"},
	{abi.MPI_CHARACTER, "7a", "7a"},
	{abi.MPI_INT8_T, "80", "80"},
	{abi.MPI_UINT8_T, "80", "80"},
	{abi.MPI_INTEGER1, "80", "80"},
	{abi.MPI_LOGICAL1, "01", "01"},
	{abi.MPI_C_BOOL, "01", "01"},
	{abi.MPI_CXX_BOOL, "00", "00"},
	{abi.MPI_WCHAR, "ac200000", "20ac"},
	{abi.MPI_SHORT, "feff", "fffe"},
	{abi.MPI_UNSIGNED_SHORT, "0201", "0102"},
	{abi.MPI_INT16_T, "0201", "0102"},
	{abi.MPI_UINT16_T, "0201", "0102"},
	{abi.MPI_INTEGER2, "0201", "0102"},
	{abi.MPI_LOGICAL2, "0100", "0001"},
	{abi.MPI_REAL2, "003c", "3c00"},
	{abi.MPI_INT, "04030201", "01020304"},
	{abi.MPI_UNSIGNED, "04030201", "01020304"},
	{abi.MPI_INT32_T, "04030201", "01020304"},
	{abi.MPI_UINT32_T, "04030201", "01020304"},
	{abi.MPI_INTEGER, "04030201", "01020304"},
	{abi.MPI_INTEGER4, "04030201", "01020304"},
	{abi.MPI_LOGICAL, "01000000", "00000001"},
	{abi.MPI_LOGICAL4, "01000000", "00000001"},
	{abi.MPI_FLOAT, "0000803f", "3f800000"},
	{abi.MPI_REAL, "0000803f", "3f800000"},
	{abi.MPI_REAL4, "0000803f", "3f800000"},
	{abi.MPI_LONG, "feffffffffffffff", "fffffffe"},
	{abi.MPI_UNSIGNED_LONG, "feffffff00000000", "fffffffe"},
	{abi.MPI_LONG_LONG, "0807060504030201", "0102030405060708"},
	{abi.MPI_UNSIGNED_LONG_LONG, "0807060504030201", "0102030405060708"},
	{abi.MPI_INT64_T, "0807060504030201", "0102030405060708"},
	{abi.MPI_UINT64_T, "0807060504030201", "0102030405060708"},
	{abi.MPI_INTEGER8, "0807060504030201", "0102030405060708"},
	{abi.MPI_LOGICAL8, "0100000000000000", "0000000000000001"},
	{abi.MPI_AINT, "0807060504030201", "0102030405060708"},
	{abi.MPI_COUNT, "0807060504030201", "0102030405060708"},
	{abi.MPI_OFFSET, "0807060504030201", "0102030405060708"},
	{abi.MPI_DOUBLE, "000000000000f03f", "3ff0000000000000"},
	{abi.MPI_DOUBLE_PRECISION, "000000000000f03f", "3ff0000000000000"},
	{abi.MPI_REAL8, "000000000000f03f", "3ff0000000000000"},
	{abi.MPI_COMPLEX4, "003c00bc", "3c00bc00"},
	{abi.MPI_C_FLOAT_COMPLEX, "0000803f000000c0", "3f800000c0000000"},
	{abi.MPI_CXX_FLOAT_COMPLEX, "0000803f000000c0", "3f800000c0000000"},
	{abi.MPI_COMPLEX, "0000803f000000c0", "3f800000c0000000"},
	{abi.MPI_COMPLEX8, "0000803f000000c0", "3f800000c0000000"},
	{abi.MPI_C_DOUBLE_COMPLEX, "000000000000f03f00000000000000c0", "3ff0000000000000c000000000000000"},
	{abi.MPI_CXX_DOUBLE_COMPLEX, "000000000000f03f00000000000000c0", "3ff0000000000000c000000000000000"},
	{abi.MPI_DOUBLE_COMPLEX, "000000000000f03f00000000000000c0", "3ff0000000000000c000000000000000"},
	{abi.MPI_COMPLEX16, "000000000000f03f00000000000000c0", "3ff0000000000000c000000000000000"},
	{abi.MPI_INTEGER16, "100f0e0d0c0b0a090807060504030201", "0102030405060708090a0b0c0d0e0f10"},
	{abi.MPI_LOGICAL16, "01000000000000000000000000000000", "00000000000000000000000000000001"},
	{abi.MPI_REAL16, "0000000000000000000000000000ff3f", "3fff0000000000000000000000000000"},
	{abi.MPI_COMPLEX32, "0000000000000000000000000000ff3f000000000000000000000000000000c0",
		"3fff0000000000000000000000000000c0000000000000000000000000000000"},
	{abi.MPI_LONG_DOUBLE, "00000000000000c0ff3f000000000000", "3fff8000000000000000000000000000"},
	{abi.MPI_C_LONG_DOUBLE_COMPLEX, "00000000000000c0ff3f00000000000000000000000000800040000000000000",
		"3fff800000000000000000000000000040000000000000000000000000000000"},
	{abi.MPI_CXX_LONG_DOUBLE_COMPLEX, "00000000000000c0ff3f00000000000000000000000000800040000000000000",
		"3fff800000000000000000000000000040000000000000000000000000000000"},
	{abi.MPI_FLOAT_INT, "0000803f04030201", "3f80000001020304"},
	{abi.MPI_DOUBLE_INT, "000000000000f03f04030201 00000000", "3ff000000000000001020304"},
	{abi.MPI_LONG_INT, "feffffffffffffff04030201 00000000", "fffffffe01020304"},
	{abi.MPI_2INT, "0807060504030201", "0506070801020304"},
	{abi.MPI_SHORT_INT, "02010000 04030201", "010201020304"},
	{abi.MPI_LONG_DOUBLE_INT, "00000000000000c0ff3f000000000000 04030201 000000000000000000000000",
		"3fff800000000000000000000000000001020304"},
	{abi.MPI_2REAL, "0000803f000000c0", "3f800000c0000000"},
	{abi.MPI_2DOUBLE_PRECISION, "000000000000f03f00000000000000c0", "3ff0000000000000c000000000000000"},
	{abi.MPI_2INTEGER, "0807060504030201", "0506070801020304"},
	{TwoInteger8, "08070605040302011817161514131211", "01020304050607081112131415161718"},
}

func TestEveryPredefinedTypeHasItsExternal32Form(t *testing.T) {
	if !x87 {
		t.Skip("the examples show the memory of an x86-64 machine")
	}
	seen := map[int]bool{}
	for _, e := range external32Examples {
		typ := Named(e.handle)
		if typ == nil {
			t.Errorf("type %#x does not exist", e.handle)
			continue
		}
		seen[e.handle] = true
		memory, wire := unhex(e.memory), unhex(e.wire)
		if typ.Extent() != int64(len(memory)) || typ.PackedSize(1, External32) != int64(len(wire)) {
			t.Errorf("%s: extent %d, external32 size %d", typ.Name(), typ.Extent(), typ.PackedSize(1, External32))
			continue
		}
		for piece := 1; piece <= len(wire); piece++ {
			var c Cursor
			c.Init(unsafe.Pointer(&memory[0]), 1, typ, External32)
			got := make([]byte, len(wire))
			for at := 0; at < len(wire); at += piece {
				c.Pack(got[at:min(at+piece, len(wire))])
			}
			if string(got) != string(wire) || c.Err() != nil {
				t.Errorf("%s in pieces of %d: packed %x, want %x, %v", typ.Name(), piece, got, wire, c.Err())
			}
			back := make([]byte, len(memory))
			c.Init(unsafe.Pointer(&back[0]), 1, typ, External32)
			for at := 0; at < len(wire); at += piece {
				c.Unpack(wire[at:min(at+piece, len(wire))])
			}
			if string(back) != string(memory) {
				t.Errorf("%s in pieces of %d: unpacked %x, want %x", typ.Name(), piece, back, memory)
			}
		}
	}
	for h := firstHandle; h < firstHandle+len(predefined); h++ {
		if Named(h) != nil && !seen[h] {
			t.Errorf("%s has no example", Named(h).Name())
		}
		if Named(h) != nil && (Named(h).Handle() != h || !Named(h).Committed() || Named(h).Uniform() != Named(h)) {
			t.Errorf("%s is not itself", Named(h).Name())
		}
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func TestHandlesWithoutATypeAreNil(t *testing.T) {
	for _, h := range []int{-1, 0, 1, abi.MPI_DATATYPE_NULL, 0x1ff, 0x23f, 0x3ff, 0x400, 1 << 40} {
		if Named(h) != nil {
			t.Errorf("Named(%#x) is %s", h, Named(h).Name())
		}
	}
}

func TestValuesThatExternal32CannotCarryAreReported(t *testing.T) {
	for _, e := range []struct {
		handle int
		value  uint64
		lost   bool
	}{
		{abi.MPI_LONG, 0x7fffffff, false}, {abi.MPI_LONG, 0x80000000, true},
		{abi.MPI_LONG, 0xffffffff_80000000, false}, {abi.MPI_LONG, 0xffffffff_7fffffff, true},
		{abi.MPI_LONG, 0x80000000_00000000, true}, {abi.MPI_UNSIGNED_LONG, 0xffffffff, false},
		{abi.MPI_UNSIGNED_LONG, 1 << 32, true}, {abi.MPI_WCHAR, 0xffff, false}, {abi.MPI_WCHAR, 0x10000, true},
	} {
		memory := binary.NativeEndian.AppendUint64(nil, e.value)
		if e.handle == abi.MPI_WCHAR {
			memory = binary.NativeEndian.AppendUint32(nil, uint32(e.value))
		}
		var c Cursor
		c.Init(unsafe.Pointer(&memory[0]), 1, Named(e.handle), External32)
		var whole [8]byte
		c.Pack(whole[:])
		err, _ := c.Err().(*Error)
		if (err != nil) != e.lost || err != nil && err.Class != abi.MPI_ERR_CONVERSION {
			t.Errorf("%s %#x: %v", Named(e.handle).Name(), e.value, c.Err())
		}
	}
}

func TestAnyNonZeroByteIsTrue(t *testing.T) {
	memory, wire := []byte{0, 1, 2, 0x80, 0xff}, make([]byte, 5)
	var c Cursor
	c.Init(unsafe.Pointer(&memory[0]), 5, Named(abi.MPI_C_BOOL), External32)
	c.Pack(wire)
	if string(wire) != "\x00\x01\x01\x01\x01" {
		t.Errorf("packed %x", wire)
	}
}

func TestPairsAndSizedTypesAreFoundByTheirParts(t *testing.T) {
	if ValueIndex(Named(abi.MPI_DOUBLE), Named(abi.MPI_INT)) != Named(abi.MPI_DOUBLE_INT) ||
		ValueIndex(Named(abi.MPI_INT), Named(abi.MPI_DOUBLE)) != nil {
		t.Error("ValueIndex")
	}
	if MatchSize(abi.MPI_TYPECLASS_REAL, 8) != Named(abi.MPI_REAL8) || MatchSize(abi.MPI_TYPECLASS_INTEGER, 3) != nil ||
		MatchSize(0, 4) != nil {
		t.Error("MatchSize")
	}
	for _, e := range []struct {
		got  func() (*Type, error)
		size int64
	}{
		{func() (*Type, error) { return F90Real(6, 37) }, 4}, {func() (*Type, error) { return F90Real(7, 30) }, 8},
		{func() (*Type, error) { return F90Complex(abi.MPI_UNDEFINED, 300) }, 16},
		{func() (*Type, error) { return F90Integer(10) }, 8},
		{func() (*Type, error) { return F90Real(40, 30) }, 0}, {func() (*Type, error) { return F90Integer(39) }, 0},
	} {
		typ, err := e.got()
		if (err != nil) != (e.size == 0) || err == nil && (typ.Size() != e.size || len(typ.Contents().Types) != 0) {
			t.Errorf("parametric type %v, %v; want size %d", typ, err, e.size)
		}
	}
}
