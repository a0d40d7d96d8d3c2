package libimpi

import "testing"

func TestPartsOfAGraphAreCheckedAsTheyArrive(t *testing.T) {
	for _, good := range [][]int32{{0, 0, 0}, {0, 1, 1, 2, 0}, {1, 1, 1, 2, 5, 0, 7}, {0, 1, 0, 2, 0}, {1, 0, 0}} {
		if readPart(good, 3) == nil {
			t.Errorf("%v was refused", good)
		}
	}
	for _, bad := range [][]int32{
		{0, -1, 0}, {0, 1, 0}, {0, 1, 1, 2}, {0, 1, 0, 3}, {0, 1, 0, -1}, {1, 1, 0, 2}, {1, 1, 0, 2, -5}, {0, 2147483647, 2147483647, 1}, {0, 0, 0, 1},
	} {
		if p := readPart(bad, 3); p != nil {
			t.Errorf("%v was taken as %+v", bad, p)
		}
	}
	p := readPart([]int32{1, 1, 2, 9, 90, 3, 4, 30, 40}, 10)
	if p == nil || p.Sources[0] != 9 || p.SourceWeights[0] != 90 || p.Destinations[1] != 4 || p.DestWeights[1] != 40 {
		t.Errorf("%+v", p)
	}
}
