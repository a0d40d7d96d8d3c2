package bulk

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestCopyIsCopy copies all lengths around the one from which on the way matters, from and to all places.
func TestCopyIsCopy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const longest = 3 * Least
	src, dst := make([]byte, longest+64), make([]byte, longest+128)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	for range 2000 {
		n := r.IntN(longest)
		from := src[r.IntN(64):][:n]
		at := r.IntN(64)
		clear(dst)
		if got := Copy(dst[at:at+n], from); got != n {
			t.Fatalf("%d of %d bytes copied", got, n)
		}
		if !bytes.Equal(dst[at:at+n], from) || len(bytes.Trim(dst[:at], "\x00"))+len(bytes.Trim(dst[at+n:], "\x00")) != 0 {
			t.Fatalf("%d bytes copied to place %d are not those", n, at)
		}
	}
}

func TestTheShorterSideCounts(t *testing.T) {
	long, short := make([]byte, 3*Least), bytes.Repeat([]byte{7}, 2*Least)
	if n := Copy(long, short); n != len(short) || long[n-1] != 7 || long[n] != 0 {
		t.Errorf("%d bytes copied of %d", n, len(short))
	}
	if n := Copy(short[:Least], long[Least:]); n != Least || short[Least-1] != 7 || short[Least] != 7 {
		t.Errorf("%d bytes copied into %d", n, Least)
	}
	if n := Copy(nil, long) + Copy(long, nil); n != 0 {
		t.Errorf("%d bytes copied of none", n)
	}
}

// TestTheStringInstructionIsCopyWhereItIsNotChosen holds the instruction itself to copy.
func TestTheStringInstructionIsCopyWhereItIsNotChosen(t *testing.T) {
	if !canCopyString {
		t.Skip("no string instruction here")
	}
	src, dst := []byte("0123456789"), make([]byte, 10)
	copyString(&dst[1], &src[2], 7)
	if want := "\x002345678\x00\x00"; string(dst) != want {
		t.Errorf("copied %q, want %q", dst, want)
	}
}

func BenchmarkCopy(b *testing.B) {
	dst, src := make([]byte, 32<<10), make([]byte, 32<<10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Copy(dst, src)
	}
}
