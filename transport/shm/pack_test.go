package shm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/libimpi/libimpi/transport/bulk"
)

// filler packs a pattern.
type filler struct{ n int }

func (f *filler) Pack(dst []byte) {
	f.n++
	for i := range dst {
		dst[i] = byte(i*7 + i>>8)
	}
}

// TestAPackedPieceIsTheSameOnEachWay packs pieces of all lengths into a ring, past the caches and not, also where ranks
// outnumber cores.
func TestAPackedPieceIsTheSameOnEachWay(t *testing.T) {
	defer func(chosen func() bool) { bulk.Past = chosen }(bulk.Past)
	defer bulk.Crowded.Store(false)
	r := rand.New(rand.NewPCG(1, 2))
	ring := make([]byte, 2*maxPacket)
	base := 0
	for uintptrOf(ring[base:])%lineBytes != 0 {
		base++
	}
	ring = ring[base : base+maxPacket+lineBytes]
	var tr Transport
	for i := range 1500 {
		bulk.Past = func() bool { return bulk.CanStorePast && i%3 > 0 }
		bulk.Crowded.Store(i%3 == 1)
		n := min(bulk.Least-2+r.IntN(maxPacket), maxPacket)
		f, want := &filler{}, make([]byte, n)
		(&filler{}).Pack(want)
		clear(ring)
		tr.pack(ring[:n], f)
		if f.n != 1 || !bytes.Equal(ring[:n], want) || len(bytes.Trim(ring[n:], "\x00")) != 0 {
			t.Fatalf("%d bytes packed %d times are not those", n, f.n)
		}
	}
	if (tr.aside != nil) != bulk.CanStorePast {
		t.Error("no piece was packed aside")
	}
}
