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

// TestTheStringInstruction copies by it to all places of a page beside that of the source, where it is quick, and has
// it decline where it is slow.
func TestTheStringInstruction(t *testing.T) {
	if !canCopyString {
		t.Skip("no string instruction here")
	}
	const page, n, from = 4096, Least, 1000
	memory := make([]byte, from+2*n+2*page+1)
	src := memory[from:][:n]
	for i := range src {
		src[i] = byte(i*7) | 1
	}
	for behind := range page {
		at := from + (n+2*page-1)/page*page + behind
		dst, around := memory[at:][:n], []*byte{&memory[at-1], &memory[at+n]}
		clear(dst)
		took := copyString(&dst[0], &src[0], n)
		if slow := behind > 0 && behind < 32; took == slow {
			t.Errorf("%d bytes behind the source in its page: %t", behind, took)
		}
		if bytes.Equal(dst, src) != took {
			t.Errorf("%d bytes behind the source in its page: it says %t, which is not so", behind, took)
		}
		if Copy(dst, src) != n || !bytes.Equal(dst, src) {
			t.Errorf("%d bytes behind the source in its page: not copied", behind)
		}
		clear(dst)
		if *around[0] != 0 || *around[1] != 0 {
			t.Errorf("%d bytes behind the source in its page: more than the destination has been written", behind)
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	dst, src := make([]byte, 32<<10), make([]byte, 32<<10)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		Copy(dst, src)
	}
}
