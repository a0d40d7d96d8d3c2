package coll

import "testing"

// TestPiecesAreOfWholeUnits cuts vectors of all lengths: pieces follow each other, none is longer than said, and all
// but the last are multiples of a unit.
func TestPiecesAreOfWholeUnits(t *testing.T) {
	for unit := int64(0); unit <= 12; unit += 3 {
		for count := int64(1); count <= 150; count++ {
			for each := max(1, unit); each <= 40; each += max(1, unit) {
				k := cutAt(count, each)
				k.unit = unit
				if k.start(0) != 0 || k.start(k.n) != count || k.longest() > each {
					t.Fatalf("%d elements in units of %d: from %d to %d, the longest has %d of %d", count, unit, k.start(0),
						k.start(k.n), k.longest(), each)
				}
				for i := range k.n {
					n := k.start(i+1) - k.start(i)
					if n < 0 || n > each || i < k.n-1 && unit > 0 && n%unit != 0 {
						t.Fatalf("%d elements in units of %d: piece %d of %d has %d, at most %d", count, unit, i, k.n, n, each)
					}
				}
			}
		}
	}
}
