package shm

import "testing"

func TestSizesOfSegmentsAreBounded(t *testing.T) {
	for n := 1; n <= MaxLocal; n++ {
		if segmentBytes(n) > 1<<46 {
			t.Fatalf("%d ranks: a segment of %d bytes has no place in a process's addresses", n, segmentBytes(n))
		}
		r := RingBytes(n)
		if r&(r-1) != 0 || r < minRingBytes || r > maxRingBytes {
			t.Fatalf("%d ranks: rings of %d bytes", n, r)
		}
		if max := maxPayload(r); recordBytes(FormFull, uint64(max)) != uint64(r/4) {
			t.Fatalf("%d ranks: the largest record is %d bytes of %d", n, recordBytes(FormFull, uint64(max)), r)
		}
		if ringOffset(n)%pageBytes != 0 || ringOffset(n) < positionOffset(n)+n*n*LineBytes {
			t.Fatalf("%d ranks: rings at %d", n, ringOffset(n))
		}
	}
}

func TestRoomOfARecord(t *testing.T) {
	for _, c := range []struct {
		form uint32
		n    uint64
		want uint64
	}{
		{FormShort, 0, 64}, {FormShort, 40, 64}, {FormShort, 41, 128}, {FormShort, 64, 128}, {FormShort, 65, 192},
		{FormFull, 0, 64}, {FormFull, 1, 128}, {FormFull, 64, 128}, {FormFull, 65, 192},
	} {
		if got := recordBytes(c.form, c.n); got != c.want {
			t.Errorf("form %d, %d bytes: %d, want %d", c.form, c.n, got, c.want)
		}
	}
}
