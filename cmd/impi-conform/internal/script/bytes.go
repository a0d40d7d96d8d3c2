package script

import (
	"bytes"
	"encoding/hex"
	"math"
	"reflect"
	"slices"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/codec"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
	"github.com/libimpi/libimpi/transport/wire"
)

func byteFunctions() []function {
	return []function{
		{"u32(*numbers)", "unsigned ints of 32 bits as they travel: 4 bytes each, the highest first", codec.U32},
		{"i32(*numbers)", "the same of ints of 32 bits", codec.I32},
		{"u64(*numbers)", "unsigned ints of 64 bits: 8 bytes each", codec.U64},
		{"get_u32(b, at = 0)", "the unsigned int in the 4 bytes at an offset",
			func(b []byte, at int) uint32 { return codec.GetU32(b[at:]) }},
		{"get_i32(b, at = 0)", "the int in the 4 bytes at an offset",
			func(b []byte, at int) int32 { return int32(codec.GetU32(b[at:])) }},
		{"get_u64(b, at = 0)", "the unsigned int in the 8 bytes at an offset",
			func(b []byte, at int) uint64 { return codec.GetU64(b[at:]) }},
		{"zeros(size)", "so many bytes that are 0", func(n size) []byte { return make([]byte, n) }},
		{"repeat(b, times)", "bytes, so many times", repeatBytes},
		{"unhex(text)", "the bytes that a text in hexadecimal says", func(text string) ([]byte, error) {
			b, err := hex.DecodeString(text)
			return b, err
		}},
		{"command(cmd, data = b\"\")", "a command with its payload (2.3.2): CMD_AUTH ... CMD_FINI, or any other int",
			func(cmd int32, data []byte) []byte { return codec.Cmd{Cmd: cmd, Data: data}.Bytes() }},
		{"auth(*masks)", "AUTH with masks of methods (2.3.3)", codec.Auth},
		{"impi(n)", "IMPI with a rank, or with the number of clients (2.3.4)", codec.Impi},
		{"coll(label, data = b\"\")", "a client's COLL: a label, and what it contributes (2.3.5)", codec.Coll},
		{"broadcast(label, mask, data = b\"\")",
			"the server's COLL: bit r of the mask says that client r contributes; data are the contributions in ascending " +
				"rank (2.3.5)", codec.Broadcast},
		{"hello(rank)", "everything that a client with the right key says up to IMPI: AUTH, the key, IMPI", peer.Hello},
		{"label_name(label)", "the name of a label", func(l uint32) string { return wire.Label(l).String() }},
		{"pattern(tag, size)", "what the player sends with a tag: byte i is (tag + 7 i) mod 251",
			func(tag int, n size) []byte {
				return peer.Pattern(tag, int(n))
			}},
		{"row(rank, n)", "what a rank has in the player's collectives: n ints of 32 bits, element i is 1000 rank + i",
			func(rank int, n elements) []byte {
				return sums([]int{rank}, n)
			}},
		{"sums(ranks, n)", "their sum over ranks: n ints of 32 bits", sums},
		{"cell(src, dst, n)",
			"what the player's alltoall sends from a rank to another: n ints of 32 bits, element i is 10000 src + 100 dst + i",
			func(p, q int, n elements) []byte {
				return numbers(n, func(i int) int { return 10000*p + 100*q + i })
			}},
		{"affine(rank, n)",
			"what a rank has for the player's operation that does not commute: n pairs 2 rank + 3, 1000 rank + i",
			affine},
		{"composed(rank, n)", "the composition of the pairs of ranks 0 to rank", composed},
		{"minloc(ranks, size, n)",
			"the player's MPI_MINLOC over ranks: n pairs of a double and an int; rank r of size has 1000 ((r + 1) mod size) " +
				"+ i, and r", minloc},
	}
}

// repeatBytes holds itself to maxBytes.
func repeatBytes(b []byte, times size) ([]byte, error) {
	if len(b) > 0 && int(times) > maxBytes/len(b) {
		return nil, errTooLong
	}
	return bytes.Repeat(b, int(times)), nil
}

func numbers(n elements, element func(i int) int) []byte {
	v := make([]int32, max(n, 0))
	for i := range v {
		v[i] = int32(element(i))
	}
	return codec.I32(v...)
}

func sums(ranks []int, n elements) []byte {
	all := 0
	for _, r := range ranks {
		all += r
	}
	return numbers(n, func(i int) int { return 1000*all + i*len(ranks) })
}

func affine(rank int, n elements) (b []byte) {
	for i := range n {
		b = append(b, codec.U32(uint32(2*rank+3), uint32(1000*rank+int(i)))...)
	}
	return b
}

func composed(rank int, n elements) (b []byte) {
	for i := range n {
		x, y := uint32(1), uint32(0)
		for r := range rank + 1 {
			y = uint32(1000*r+int(i)) + uint32(2*r+3)*y
			x *= uint32(2*r + 3)
		}
		b = append(b, codec.U32(x, y)...)
	}
	return b
}

func minloc(ranks []int, size int, n elements) (b []byte) {
	at := slices.MinFunc(ranks, func(p, q int) int { return (p+1)%size - (q+1)%size })
	for i := range n {
		b = append(b, codec.U64(math.Float64bits(float64(1000*((at+1)%size)+int(i))))...)
		b = append(b, codec.I32(int32(at))...)
	}
	return b
}

func commandKind() *kind {
	return &kind{Name: "command", About: "A command that has come (2.3.2).", of: reflect.TypeFor[codec.Cmd](),
		Attributes: []attribute{
			{Name: "cmd", About: "which: CMD_AUTH ... CMD_FINI, or another int",
				get: func(c codec.Cmd) int32 { return c.Cmd }},
			{Name: "data", About: "its payload, bytes", get: func(c codec.Cmd) []byte { return c.Data }},
		}}
}
