package shm

import "testing"

func TestSizesOfSegmentsAreBounded(t *testing.T) {
	for n := 1; n <= MaxLocal; n++ {
		if segmentBytes(n) > 1<<46 {
			t.Fatalf("%d ranks: a segment of %d bytes has no place in a process's addresses", n, segmentBytes(n))
		}
		r := ringSize(n)
		if r&(r-1) != 0 || r < minRingBytes || r > maxRingBytes {
			t.Fatalf("%d ranks: rings of %d bytes", n, r)
		}
		if max := maxPayload(r); recordBytes(formFull, uint64(max)) != uint64(r/4) {
			t.Fatalf("%d ranks: the largest record is %d bytes of %d", n, recordBytes(formFull, uint64(max)), r)
		}
		if ringOffset(n)%pageBytes != 0 || ringOffset(n) < positionOffset(n)+n*n*lineBytes {
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
		{formShort, 0, 64}, {formShort, 40, 64}, {formShort, 41, 128}, {formShort, 64, 128}, {formShort, 65, 192},
		{formFull, 0, 64}, {formFull, 1, 128}, {formFull, 64, 128}, {formFull, 65, 192},
	} {
		if got := recordBytes(c.form, c.n); got != c.want {
			t.Errorf("form %d, %d bytes: %d, want %d", c.form, c.n, got, c.want)
		}
	}
}
