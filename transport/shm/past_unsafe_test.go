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

// TestAPieceIsTheSameNearAndFar carries pieces of all lengths at all places, past the caches and not, by the string
// instruction and not.
func TestAPieceIsTheSameNearAndFar(t *testing.T) {
	defer func(chosen func() bool) { pastIfApart = chosen }(pastIfApart)
	for _, quick := range []bool{false, true} {
		pastIfApart = func() bool { return !quick && bulk.CanStorePast }
		pieces(t)
	}
}

func pieces(t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	ring, src := make([]byte, 2*maxPacket), make([]byte, 2*maxPacket)
	base := 0
	for uintptrOf(ring[base:])%lineBytes != 0 {
		base++
	}
	ring = ring[base : base+maxPacket+lineBytes]
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	var aside []byte
	for _, looks := range []int32{0, 2, 4} { // apart from 2 on
		for i := range 500 {
			n := min(pastBytes-2+r.IntN(maxPacket), maxPacket)
			from := src[r.IntN(100):][:n]
			d := distance{bulk.Distance{Pieces: uint32(i), Looks: looks}}
			clear(ring)
			d.store(ring[:n], from)
			if !bytes.Equal(ring[:n], from) || len(bytes.Trim(ring[n:], "\x00")) != 0 {
				t.Fatalf("%d bytes stored with %+v are not those", n, d)
			}
			f, want := &filler{}, make([]byte, n)
			clear(ring)
			d.pack(ring[:n], f, &aside)
			(&filler{}).Pack(want)
			if f.n != 1 || !bytes.Equal(ring[:n], want) || len(bytes.Trim(ring[n:], "\x00")) != 0 {
				t.Fatalf("%d bytes packed %d times with %+v are not those", n, f.n, d)
			}
		}
	}
}
