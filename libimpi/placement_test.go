package libimpi

import (
	"testing"

	"github.com/libimpi/libimpi/transport"
)

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

func TestClientsOfOtherLibrariesKeepTheOrderOfATopology(t *testing.T) {
	for _, kin := range []bool{false, true} {
		es := makeWorld(t, options{clients: []int{2, 2}, tune: func(j *transport.Job) {
			for h := range j.Hosts {
				j.Hosts[h].Kin = kin
			}
		}})
		together(t, es, func(e *Engine) {
			inTurn, err := e.World().Split(0, e.me%2*2+e.me/2) // the clients' processes by turns
			must(t, err)
			line, err := NewCart([]int32{4}, []bool{false}, 4)
			must(t, err)
			made, err := inTurn.CreateCart(line, true)
			must(t, err)
			kept := 0
			for r := range 4 {
				if made.group.World(r) == inTurn.group.World(r) {
					kept++
				}
			}
			if (kept == 4) == kin || inTurn.MapCart(line) != made.Rank() {
				t.Errorf("kin %v: %d of 4 ranks are kept; mapped to %d, and is %d", kin, kept, inTurn.MapCart(line), made.Rank())
			}
			must(t, e.World().Barrier())
		})
		noFailure(t, es)
	}
}
