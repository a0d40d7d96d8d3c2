package bulk

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
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

// TestStoreIsCopy stores all lengths around the one from which on the way matters, to the begins of lines and
// elsewhere, as if stores past the caches were quick, and not.
func TestStoreIsCopy(t *testing.T) {
	defer func(chosen func() bool) { Past = chosen }(Past)
	r := rand.New(rand.NewPCG(3, 4))
	const longest = 3 * Least
	src, memory := make([]byte, longest+64), make([]byte, longest+3*lineBytes)
	for !aligned(memory) {
		memory = memory[1:]
	}
	for i := range src {
		src[i] = byte(r.Uint32()) | 1
	}
	for i := range 2000 {
		Past = func() bool { return CanStorePast && i%4 > 0 }
		Crowded.Store(i%4 == 2)
		n, at := r.IntN(longest), r.IntN(2)*r.IntN(lineBytes)
		from := src[r.IntN(64):][:n]
		clear(memory)
		if got := Store(memory[at:at+n], from); got != n {
			t.Fatalf("%d of %d bytes stored", got, n)
		}
		if !bytes.Equal(memory[at:at+n], from) || len(bytes.Trim(memory[at+n:], "\x00")) != 0 {
			t.Fatalf("%d bytes stored at place %d are not those", n, at)
		}
	}
	Crowded.Store(false)
	if long := bytes.Repeat([]byte{7}, 3*Least); Store(memory[:2*Least], long) != 2*Least || memory[2*Least] == 7 {
		t.Error("stored beyond the end")
	}
}

// TestTheWaysAreToldByWhatTheyTake has lines forgotten before each copy, and takes the least time of each.
func TestTheWaysAreToldByWhatTheyTake(t *testing.T) {
	before, turns := 0, [2]int{}
	best := fastest(3, func() { before++ }, func() { turns[0]++ }, func() { turns[1]++ })
	if before != 6 || turns != [2]int{3, 3} || len(best) != 2 || best[0] < 0 || best[0] >= time.Second {
		t.Errorf("%d times before, %v, %v", before, turns, best)
	}
	memory := bytes.Repeat([]byte{3}, Least+2*lineBytes)
	for !aligned(memory) {
		memory = memory[1:]
	}
	want := bytes.Clone(memory)
	forget(&memory[0], Least)
	if !bytes.Equal(memory, want) {
		t.Error("to forget lines changes them")
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
