package bulk

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// TestAPieceIsTheSameNearAndFar carries pieces of all lengths, past the caches and not, by the string instruction and
// not.
func TestAPieceIsTheSameNearAndFar(t *testing.T) {
	defer func(chosen func() bool) { Strings = chosen }(Strings)
	const most = 64 << 10
	r := rand.New(rand.NewPCG(1, 2))
	to, src := make([]byte, most+2*lineBytes), make([]byte, most+100)
	for !aligned(to) {
		to = to[1:]
	}
	for i := range src {
		src[i] = byte(r.Uint32()) | 1
	}
	for i := range 1500 {
		Strings = func() bool { return canCopyString && i%2 > 0 }
		n := lookBytes + r.IntN(most-lookBytes)
		from := src[r.IntN(100):][:n]
		d := Distance{Looks: int32(i % (2*pastLooks + 1))}
		clear(to)
		if d.Carry(to[:n], from, i%3 == 0); !bytes.Equal(to[:n], from) || len(bytes.Trim(to[n:], "\x00")) != 0 {
			t.Fatalf("%d bytes carried with %+v are not those", n, d)
		}
	}
}

func TestOneOfSomeLongPiecesIsLookedAt(t *testing.T) {
	var d Distance
	looks := 0
	for range 3 * looksEvery {
		if d.Due(lookBytes) {
			looks++
		}
		if d.Due(lookBytes - 1) {
			t.Fatal("a short piece is looked at")
		}
	}
	if looks != 3 {
		t.Errorf("%d looks of %d pieces", looks, 3*looksEvery)
	}
}

func TestSomeLooksChangeTheWay(t *testing.T) {
	var d Distance
	d.note(apartTime+1, apartTime)
	if d.Apart() {
		t.Error("far after one look")
	}
	for range 100 {
		d.note(apartTime+1, apartTime)
	}
	if !d.Apart() {
		t.Error("near after many looks that found it far")
	}
	for range 2*pastLooks - pastLooks + 1 {
		d.note(apartTime, apartTime)
	}
	if d.Apart() {
		t.Errorf("still far: %+v", d)
	}
	for range 100 {
		d.note(0, apartTime)
	}
	d.note(apartTime+1, apartTime)
	d.note(apartTime+1, apartTime)
	if !d.Apart() {
		t.Errorf("looks are forgotten too slowly: %+v", d)
	}
}

// TestALookStoresAllAndFollowsItsReader looks with pieces of all lengths, and takes times as of near and far readers.
func TestALookStoresAllAndFollowsItsReader(t *testing.T) {
	to, src := make([]byte, 3*Least+lineBytes), make([]byte, 3*Least+100)
	for !aligned(to) {
		to = to[1:]
	}
	for i := range src {
		src[i] = byte(i*7) | 1
	}
	for n := LeastApart; n <= 3*Least; n += 1 + n/9 {
		clear(to)
		if past := Look(to[:n], src[n%100:][:n]); past != Least && past != LeastApart {
			t.Errorf("%d bytes: past the caches from %d on", n, past)
		}
		if !bytes.Equal(to[:n], src[n%100:][:n]) || len(bytes.Trim(to[n:], "\x00")) != 0 {
			t.Fatalf("%d bytes of a look are not those", n)
		}
	}
	var d Distance
	const near, far = Least, LeastApart
	for i, want := range []int{near, far, far, far, far, far, far, near} {
		took := apartLine * LeastApart / lineBytes
		if i < 5 {
			took++
		}
		if got := d.looked(LeastApart, took); got != want {
			t.Errorf("after look %d past the caches from %d on, want %d", i, got, want)
		}
	}
	Crowded.Store(true)
	defer Crowded.Store(false)
	if got := d.looked(Least, 0); got != math.MaxInt {
		t.Errorf("past the caches from %d on to readers of this core", got)
	}
	d.looked(Least, time.Second)
	if got := d.looked(Least, time.Second); got != Least {
		t.Errorf("past the caches from %d on to readers that are apart, in part", got)
	}
}
